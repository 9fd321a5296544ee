// test_reduce.c: sum and dot against the oracle, and against the canonical order of reduce.h written out in
// plain C.
#include "proofs_tests/support/check.h"
#include <seqmix/ref.h>

static const size_t sizes[] = {0,  1,  2,  3,  4,  7,  8,   9,   15,  16,  17,
                               31, 32, 33, 47, 48, 49, 100, 255, 256, 257, 4099};

// Element i to lane i mod 16, then 16 -> 8 -> 4 -> 2 -> 1.
static float canonical(const float *terms, size_t n) {
    float lane[16] = {0};
    for (size_t i = 0; i < n; i++) lane[i % 16] += terms[i];
    for (size_t half = 8; half; half /= 2)
        for (size_t i = 0; i < half; i++) lane[i] += lane[i + half];
    return lane[0];
}

static void sum(void **state) {
    (void)state;
    CHECK_EACH_ISA(isa) {
        for (size_t k = 0; k < CHECK_COUNT(sizes); k++) {
            const size_t n = sizes[k];
            check_trying("sum n=%zu", n);
            float *x = check_random(n, -1, 1);
            const float got = smx_sum(x, n), order = canonical(x, n);
            const double want = ref_sum(check_widen(x, n), n);
            check_same("sum", &got, &order, 1);
            check_close("sum", &got, &want, 1, 6e-8 * (5 + (double)n / 16), sqrt((double)n + 1));
            check_done();
        }
    }
}

static void dot(void **state) {
    (void)state;
    CHECK_EACH_ISA(isa) {
        for (size_t k = 0; k < CHECK_COUNT(sizes); k++) {
            const size_t n = sizes[k];
            check_trying("dot n=%zu", n);
            float *x = check_random(n, -1, 1), *y = check_random(n, -1, 1), *products = check_floats(n);
            for (size_t i = 0; i < n; i++) products[i] = x[i] * y[i];
            const float got = smx_dot(x, y, n), order = canonical(products, n);
            const double want = ref_dot(check_widen(x, n), check_widen(y, n), n);
            check_same("dot", &got, &order, 1);
            check_close("dot", &got, &want, 1, 6e-8 * (6 + (double)n / 16), sqrt((double)n + 1));
            check_done();
        }
    }
}

// The order matters to the last bit: in any other grouping these terms give another sum.
static void order_is_seen(void **state) {
    (void)state;
    CHECK_EACH_ISA(isa) {
        check_trying("sum of large and small");
        float x[32] = {0};
        x[0] = 0x1p24f, x[16] = -0x1p24f; // one lane: gone before
        x[1] = 1.0f, x[9] = 1.0f;         // these meet
        if (smx_sum(x, 32) != 2.0f) check_fail("%g, expected 2", smx_sum(x, 32));
        x[16] = 0.0f, x[24] = -0x1p24f; // other lanes, met at 16 -> 8
        if (smx_sum(x, 32) != 2.0f) check_fail("%g, expected 2", smx_sum(x, 32));
        x[24] = 0.0f, x[4] = -0x1p24f; // met at 8 -> 4
        if (smx_sum(x, 32) != 2.0f) check_fail("%g, expected 2", smx_sum(x, 32));
        x[4] = 0.0f, x[15] = -0x1p24f; // met last: 2^24 + 1 + 1 rounds away one by one, not together
        const float got = smx_sum(x, 32), want = canonical(x, 32);
        check_same("sum", &got, &want, 1);
    }
}

static void specials(void **state) {
    (void)state;
    CHECK_EACH_ISA(isa) {
        check_trying("sum of specials");
        float x[17] = {0};
        x[16] = INFINITY;
        if (smx_sum(x, 17) != INFINITY) check_fail("infinity was lost");
        if (smx_sum(x, 16) != 0.0f) check_fail("element 16 of 16 was read");
        x[3] = -INFINITY;
        if (!isnan(smx_sum(x, 17))) check_fail("infinity - infinity is no NaN");
        const float denormal[2] = {0x1p-149f, 0x1p-149f};
        if (smx_sum(denormal, 2) != 0x1p-148f) check_fail("denormals were flushed");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sum),
        cmocka_unit_test(dot),
        cmocka_unit_test(order_is_seen),
        cmocka_unit_test(specials),
    };
    return cmocka_run_group_tests_name("reduce", tests, NULL, NULL);
}
