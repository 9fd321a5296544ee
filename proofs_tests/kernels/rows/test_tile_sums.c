// test_tile_sums.c: products and dot products against the bounds that rocq/TileSums.v proves of their floats,
// on every instruction set. Exact sums in long double. What was reached of each bound is printed.
#include "proofs_tests/support/check.h"

// The largest error as a part of its bound.
static double part;
// (1 + u)^roundings (A + n eta) - A, A the sum of the terms' sizes
static void within(const char *what, size_t i, double got, const float *x, size_t each, const float *y,
                   size_t stride, size_t n, size_t roundings) {
    long double exact = 0, sizes = 0, factor = 1;
    for (size_t t = 0; t < n; t++) {
        const long double term = (long double)x[t * each] * y[t * stride];
        exact += term, sizes += fabsl(term);
    }
    for (size_t k = 0; k < roundings; k++) factor *= 1 + 0x1p-24L;
    const long double bound = factor * (sizes + (long double)n * 0x1p-150L) - sizes;
    const long double error = fabsl((long double)got - exact);
    if (!(error <= bound)) check_fail("%s[%zu] is off by %Lg, proved %Lg", what, i, error, bound);
    if (error > 0) part = fmax(part, (double)(error / bound));
}
static void shown(const char *what) {
    printf("%s: at most %.3g of the proved bound\n", what, part);
    if (!(part >= 0.3)) check_fail("%s: at most %g of the bound: it says too little", what, part);
    part = 0;
}
static const size_t terms[] = {1, 2, 3, 16, 17, 255, 256, 257, 513, 700};
static const double magnitudes[] = {1, 1e-22}; // products below the normal numbers, too

static void product(void **state) {
    (void)state;
    enum { M = 5, N = 18 };
    CHECK_EACH_ISA(isa) {
        for (size_t i = 0; i < CHECK_COUNT(terms); i++)
            for (size_t s = 0; s < CHECK_COUNT(magnitudes); s++) {
                const size_t n = terms[i], roundings = (n < 256 ? n : 256) + (n - 1) / 256;
                const double size = magnitudes[s];
                check_trying("product n=%zu size=%g", n, size);
                float *a = check_random(M * n, -size, size), *b = check_random(n * N, -size, size);
                float *c = check_floats((size_t)M * N);
                smx_gemm(c, a, b, check_scratch(smx_gemm_scratch_bytes(M, N, n)), M, N, n, n, N, N, 0);
                for (size_t at = 0; at < (size_t)M * N; at++)
                    within("c", at, c[at], a + at / N * n, 1, b + at % N, N, n, roundings);
                check_done();
            }
        shown("product");
    }
}

static void dot(void **state) {
    (void)state;
    CHECK_EACH_ISA(isa) {
        for (size_t i = 0; i < CHECK_COUNT(terms); i++)
            for (size_t s = 0; s < CHECK_COUNT(magnitudes); s++)
                for (size_t draw = 0; draw < 50; draw++) {
                    const size_t n = terms[i];
                    const double size = magnitudes[s];
                    check_trying("dot n=%zu size=%g", n, size);
                    float *x = check_random(n, -size, size), *y = check_random(n, -size, size);
                    within("dot", draw, smx_dot(x, y, n), x, 1, y, 1, n, (n + 15) / 16 + 4);
                    check_done();
                }
        shown("dot");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(product),
        cmocka_unit_test(dot),
    };
    return cmocka_run_group_tests_name("tile_sums", tests, NULL, NULL);
}
