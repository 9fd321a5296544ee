// test_elementwise.c: bias, add, mul, scale, axpy, exp, log, sincos against the oracle, at sizes around the
// group of 16.
#include "proofs_tests/support/check.h"
#include <seqmix/ref.h>

static const size_t sizes[] = {0, 1, 2, 7, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 255, 256, 257, 1000};
// One rounding for add, mul and scale, two for axpy: half an ULP is 6e-8 of the largest value met.
#define ROUNDING 6e-8

// y = f(a, b), also where all three are one.
static void binary(const char *name, void (*kernel)(float *, const float *, const float *, size_t),
                   void (*oracle)(double *, const double *, const double *, size_t)) {
    CHECK_EACH_ISA(isa) {
        for (size_t k = 0; k < CHECK_COUNT(sizes); k++) {
            const size_t n = sizes[k];
            check_trying("%s n=%zu", name, n);
            float *a = check_random(n, -2, 2), *b = check_random(n, -2, 2), *y = check_floats(n);
            double *want = check_doubles(n);
            oracle(want, check_widen(a, n), check_widen(b, n), n);
            kernel(y, a, b, n);
            check_close("y", y, want, n, ROUNDING, 4);
            float *both = check_copy(a, n), *twice = check_floats(n);
            kernel(twice, a, a, n);
            kernel(both, both, both, n);
            check_same("y in the place of a = b", both, twice, n);
            check_done();
        }
    }
}
static void add(void **state) { (void)state, binary("add", smx_add, ref_add); }
static void mul(void **state) { (void)state, binary("mul", smx_mul, ref_mul); }

static void scale(void **state) {
    (void)state;
    CHECK_EACH_ISA(isa) {
        for (size_t k = 0; k < CHECK_COUNT(sizes); k++) {
            const size_t n = sizes[k];
            check_trying("scale n=%zu", n);
            float *x = check_random(n, -2, 2), *y = check_floats(n);
            double *want = check_doubles(n);
            ref_scale(want, check_widen(x, n), -0.375, n);
            smx_scale(y, x, -0.375f, n);
            check_close("y", y, want, n, ROUNDING, -1);
            check_done();
        }
    }
}

static void axpy(void **state) {
    (void)state;
    CHECK_EACH_ISA(isa) {
        for (size_t k = 0; k < CHECK_COUNT(sizes); k++) {
            const size_t n = sizes[k];
            check_trying("axpy n=%zu", n);
            const float s = 0.7f;
            float *x = check_random(n, -2, 2), *y = check_random(n, -2, 2);
            double *want = check_widen(y, n);
            ref_axpy(want, check_widen(x, n), s, n);
            smx_axpy(y, x, s, n);
            check_close("y", y, want, n, 2 * ROUNDING, 4);
            check_done();
        }
    }
}

// exp and log at random points; test_vmath.c holds the bounds.
static void unary(const char *name, void (*kernel)(float *, const float *, size_t),
                  void (*oracle)(double *, const double *, size_t), double low, double high) {
    CHECK_EACH_ISA(isa) {
        for (size_t k = 0; k < CHECK_COUNT(sizes); k++) {
            const size_t n = sizes[k];
            check_trying("%s n=%zu", name, n);
            float *x = check_random(n, low, high), *y = check_floats(n);
            double *want = check_doubles(n);
            oracle(want, check_widen(x, n), n);
            kernel(y, x, n);
            check_close("y", y, want, n, 1.2e-7, -1);
            check_done();
        }
    }
}
static void exponential(void **state) { (void)state, unary("exp", smx_exp_fwd, ref_exp_fwd, -80, 80); }
static void logarithm(void **state) { (void)state, unary("log", smx_log_fwd, ref_log_fwd, 0.001, 1000); }

static void sincos_test(void **state) {
    (void)state;
    CHECK_EACH_ISA(isa) {
        for (size_t k = 0; k < CHECK_COUNT(sizes); k++) {
            const size_t n = sizes[k];
            check_trying("sincos n=%zu", n);
            float *x = check_random(n, -8192, 8192), *s = check_floats(n), *c = check_floats(n);
            double *sine = check_doubles(n), *cosine = check_doubles(n);
            ref_sincos_fwd(sine, cosine, check_widen(x, n), n);
            smx_sincos_fwd(s, c, x, n);
            check_close("sine", s, sine, n, 8e-8, 1);
            check_close("cosine", c, cosine, n, 8e-8, 1);
            check_done();
        }
    }
}

static const struct {
    size_t N, D;
} shapes[] = {{0, 5},    {5, 0},    {1, 1},     {3, 7},    {2, 16},   {5, 17},   {9, 31},
              {4, 32},   {7, 33},   {3, 48},    {255, 20}, {256, 16}, {257, 40}, {600, 3},
              {300, 65}, {2100, 3}, {4200, 17}, {37, 2},   {11, 4},   {5, 8}};

static void bias_forward(void **state) {
    (void)state;
    CHECK_EACH_ISA(isa) {
        for (size_t k = 0; k < CHECK_COUNT(shapes); k++) {
            const size_t N = shapes[k].N, D = shapes[k].D, n = N * D;
            check_trying("bias_fwd N=%zu D=%zu", N, D);
            float *x = check_random(n, -2, 2), *bias = check_random(D, -2, 2), *y = check_floats(n);
            double *want = check_doubles(n);
            ref_bias_fwd(want, check_widen(x, n), check_widen(bias, D), N, D);
            smx_bias_fwd(y, x, bias, N, D);
            check_close("y", y, want, n, ROUNDING, 4);
            check_done();
        }
    }
}

static void bias_backward(void **state) {
    (void)state;
    CHECK_EACH_ISA(isa) {
        for (size_t k = 0; k < CHECK_COUNT(shapes); k++) {
            const size_t N = shapes[k].N, D = shapes[k].D, n = N * D;
            check_trying("bias_bwd N=%zu D=%zu", N, D);
            float *dy = check_random(n, -1, 1),
                  *dbias = check_random(D, -1, 1); // what stands there is added to
            double *want = check_widen(dbias, D);
            ref_bias_bwd(want, check_widen(dy, n), N, D);
            smx_bias_bwd(dbias, dy, N, D);
            // 256 roundings of partial sums within blocks of 256, that stay under about 3 sqrt(256) = 50
            check_close("dbias", dbias, want, D, 256 * ROUNDING, 10);
            check_done();
        }
    }
}

// The order of smx.h, spelled out: rows within blocks of SMX_KC, then blocks.
static void bias_backward_order(void **state) {
    (void)state;
    enum { N = 3 * SMX_KC + 11, D = 37 };
    check_trying("bias_bwd order");
    float *dy = check_random(N * D, -1, 1), *want = check_filled(D, 0.25f);
    for (size_t c = 0; c < D; c++)
        for (size_t first = 0; first < N; first += SMX_KC) {
            float sum = 0.0f;
            for (size_t i = first; i < N && i < first + SMX_KC; i++) sum += dy[i * D + c];
            want[c] += sum;
        }
    CHECK_EACH_ISA(isa) {
        float *dbias = check_filled(D, 0.25f);
        smx_bias_bwd(dbias, dy, N, D);
        check_same("dbias", dbias, want, D);
    }
    check_done();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(add),           cmocka_unit_test(mul),
        cmocka_unit_test(scale),         cmocka_unit_test(axpy),
        cmocka_unit_test(exponential),   cmocka_unit_test(logarithm),
        cmocka_unit_test(sincos_test),   cmocka_unit_test(bias_forward),
        cmocka_unit_test(bias_backward), cmocka_unit_test(bias_backward_order),
    };
    return cmocka_run_group_tests_name("elementwise", tests, NULL, NULL);
}
