// test_activation.c: GELU, SiLU, sigmoid and tanh forward and backward against the oracle, at the ends of the
// float range, and by directional differences.
#include "proofs_tests/support/check.h"
#include <seqmix/ref.h>

static const size_t sizes[] = {0, 1, 2, 15, 16, 17, 31, 32, 33, 64, 65, 257, 1000};

typedef void kernel_fwd(float *, const float *, size_t);
typedef void kernel_bwd(float *, const float *, const float *, size_t);
typedef void oracle_fwd(double *, const double *, size_t);
typedef void oracle_bwd(double *, const double *, const double *, size_t);
typedef struct {
    const char *name;
    kernel_fwd *fwd;
    kernel_bwd *bwd;
    oracle_fwd *ref_fwd;
    oracle_bwd *ref_bwd;
    int from_output; // backward takes y
    // Relative to max(|x|, 1) forward; absolute per unit of dy backward. 2u of GELU is rounded at up to 142,
    // so that its sigma carries 142 eps of itself where it matters least; elsewhere a few roundings.
    double forward, backward;
} activation;
static const activation activations[] = {
    {"gelu", smx_gelu_fwd, smx_gelu_bwd, ref_gelu_fwd, ref_gelu_bwd, 0, 3e-7, 1e-6},
    {"silu", smx_silu_fwd, smx_silu_bwd, ref_silu_fwd, ref_silu_bwd, 0, 3e-7, 1e-6},
    {"sigmoid", smx_sigmoid_fwd, smx_sigmoid_bwd, ref_sigmoid_fwd, ref_sigmoid_bwd, 1, 2e-7, 2e-7},
    {"tanh", smx_tanh_fwd, smx_tanh_bwd, ref_tanh_fwd, ref_tanh_bwd, 1, 2e-7, 2e-7},
};

static void forward(void **state) {
    (void)state;
    CHECK_EACH_ISA(isa) {
        for (const activation *a = activations; a < activations + CHECK_COUNT(activations); a++)
            for (size_t k = 0; k < CHECK_COUNT(sizes); k++) {
                const size_t n = sizes[k];
                check_trying("%s_fwd n=%zu", a->name, n);
                float *x = check_random(n, -8, 8), *y = check_floats(n);
                double *want = check_doubles(n);
                a->ref_fwd(want, check_widen(x, n), n);
                a->fwd(y, x, n);
                for (size_t i = 0; i < n; i++)
                    check_close("y", y + i, want + i, 1, a->forward, fmax(1, fabs(x[i])));
                check_done();
            }
    }
}

static void backward(void **state) {
    (void)state;
    CHECK_EACH_ISA(isa) {
        for (const activation *a = activations; a < activations + CHECK_COUNT(activations); a++)
            for (size_t k = 0; k < CHECK_COUNT(sizes); k++) {
                const size_t n = sizes[k];
                check_trying("%s_bwd n=%zu", a->name, n);
                float *x = check_random(n, -8, 8), *dy = check_random(n, -1, 1), *dx = check_floats(n);
                if (a->from_output) a->fwd(x, x, n);
                double *want = check_doubles(n);
                a->ref_bwd(want, check_widen(dy, n), check_widen(x, n), n);
                a->bwd(dx, dy, x, n);
                check_close("dx", dx, want, n, a->backward, 1);
                check_done();
            }
    }
}

// Where the functions have long reached 0, 1 or x: no NaN out of 0 times infinity.
static void far_out(void **state) {
    (void)state;
    static const float at[] = {-INFINITY, -3e38f, -1e20f, -1e4f, -200.0f,
                               200.0f,    1e4f,   1e20f,  3e38f, INFINITY};
    enum { N = CHECK_COUNT(at) };
    CHECK_EACH_ISA(isa) {
        for (const activation *a = activations; a < activations + CHECK_COUNT(activations); a++) {
            const int odd = !strcmp(a->name, "tanh"), linear = !a->from_output;
            float y[N], dx[N];
            const float ones[N] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
            a->fwd(y, at, N);
            a->bwd(dx, ones, a->from_output ? y : at, N);
            for (size_t i = 0; i < N; i++) {
                check_trying("%s at %g", a->name, at[i]);
                const float low = odd ? -1.0f : linear ? -0.0f : 0.0f, high = linear ? at[i] : 1.0f;
                check_same("y", y + i, at[i] < 0 ? &low : &high, 1);
                const float slope = at[i] > 0 && linear ? 1.0f : 0.0f;
                if (!(fabsf(dx[i] - slope) <= 1e-30f)) check_fail("slope %g, expected %g", dx[i], slope);
            }
            float nan_in = NAN, nan_out, nan_slope;
            a->fwd(&nan_out, &nan_in, 1);
            a->bwd(&nan_slope, ones, &nan_in, 1);
            check_trying("%s at NaN", a->name);
            if (!isnan(nan_out) || !isnan(nan_slope)) check_fail("gave %g, slope %g", nan_out, nan_slope);
        }
    }
}

typedef struct {
    const activation *a;
    double *y, *weights;
    size_t n;
} context;
static double loss(const double *x, void *p) {
    context *c = p;
    c->a->ref_fwd(c->y, x, c->n);
    return check_inner(c->weights, c->y, c->n);
}
static void direction(void **state) {
    (void)state;
    const size_t n = 53;
    CHECK_EACH_ISA(isa) {
        for (const activation *a = activations; a < activations + CHECK_COUNT(activations); a++) {
            check_trying("%s direction", a->name);
            float *x = check_random(n, -3, 3), *dy = check_random(n, -1, 1), *dx = check_floats(n),
                  *y = check_floats(n);
            a->fwd(y, x, n);
            a->bwd(dx, dy, a->from_output ? y : x, n);
            context c = {a, check_doubles(n), check_widen(dy, n), n};
            check_direction("dx", loss, &c, x, dx, n, 1e-6);
            check_done();
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forward),
        cmocka_unit_test(backward),
        cmocka_unit_test(far_out),
        cmocka_unit_test(direction),
    };
    return cmocka_run_group_tests_name("activation", tests, NULL, NULL);
}
