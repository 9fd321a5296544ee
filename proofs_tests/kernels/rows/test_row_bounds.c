// test_row_bounds.c: rows of softmax, of softmax attention, of the unit norm, of RMSNorm and of layer norm
// against the bounds that rocq/SoftmaxRow.v and rocq/NormRow.v prove of their floats, on every instruction
// set; what was reached of each bound is printed. And the bounds themselves: a fault of a few units in the
// last place is past them, and where a premise fails there is none.
#include "bound_judge.h"

static void softmax(void **state) {
    (void)state;
    bound_judge("softmax, a weight");
}
static void attention(void **state) {
    (void)state;
    bound_judge("softmax attention, an output");
}
static void norms(void **state) {
    (void)state;
    bound_judge("unit norm");
    bound_judge("RMSNorm");
}
static void layer_norm(void **state) {
    (void)state;
    bound_judge("layer norm");
}

// Of a row whose numbers are all in use: the bound in units of 2^-24 of the number.
static double units(double exact, double bound) { return bound / (fabs(exact) * 0x1p-24); }
static void faults_are_past_the_bounds(void **state) {
    (void)state;
    enum { N = 12, LEAST = 3, MOST = 12 };
    double x[N], y[N], other[N], bound[N], unused[N];
    check_trying("row bounds");
    for (int i = 0; i < N; i++) x[i] = 1 + i / 8.0;
    const float eps = 1e-5f, finer = 1e-6f;
    ref_bound_rms_norm(y, bound, x, NULL, N, eps);
    ref_bound_rms_norm(other, unused, x, NULL, N, finer); // another eps: off by 9e-6 of 2 W
    for (int i = 0; i < N; i++) {
        const double is = units(y[i], bound[i]);
        if (!(is >= LEAST && is <= MOST)) check_fail("RMSNorm's bound is %g units", is);
        if (!(fabs(other[i] - y[i]) > bound[i])) check_fail("RMSNorm with another eps is within its bound");
    }
    ref_bound_unit_norm(y, bound, x, N);
    for (int i = 0; i < N; i++)
        if (!(units(y[i], bound[i]) >= 3 && units(y[i], bound[i]) <= MOST))
            check_fail("the unit norm's bound is %g units", units(y[i], bound[i]));
}

static void no_premise_no_bound(void **state) {
    (void)state;
    double x[2] = {1, 2}, y[2], bound[2], weights[2];
    const double zeros[2] = {0, 0};
    const float eps = 1e-5f;
    check_trying("row bounds");
    const struct {
        const char *why;
        double first, eps;
    } cases[] = {{"an input is no float32", 1 + 0x1p-30, eps},
                 {"eps is no float32", 1, 1e-5},
                 {"the squares overflow", 0x1p64, eps},
                 {"an input is infinite", INFINITY, eps},
                 {"an input is NaN", NAN, eps}};
    for (size_t i = 0; i < CHECK_COUNT(cases); i++) {
        x[0] = cases[i].first;
        ref_bound_rms_norm(y, bound, x, NULL, 2, cases[i].eps);
        if (bound[1] != INFINITY) check_fail("RMSNorm, %s: %g", cases[i].why, bound[1]);
        ref_bound_layer_norm(y, bound, x, NULL, zeros, 2, cases[i].eps);
        if (bound[1] != INFINITY) check_fail("layer norm, %s: %g", cases[i].why, bound[1]);
        if (i == 1) continue;
        ref_bound_unit_norm(y, bound, x, 2);
        if (bound[1] != INFINITY) check_fail("unit norm, %s: %g", cases[i].why, bound[1]);
        if (i == 2) continue;
        ref_bound_softmax(y, bound, x, 2);
        if (bound[1] != INFINITY) check_fail("softmax, %s: %g", cases[i].why, bound[1]);
        ref_bound_attention(y, bound, x, x, x, weights, &(ref_bound_heads){2, 0, 1, 1, 1, 1, 1});
        if (bound[0] != INFINITY) check_fail("attention, %s: %g", cases[i].why, bound[0]);
    }
    ref_bound_unit_norm(y, bound, zeros, 2);
    if (bound[0] != INFINITY) check_fail("unit norm of zeros: %g", bound[0]);
    ref_bound_layer_norm(y, bound, (double[]){1, 1}, NULL, zeros, 2, 0x1p-50);
    if (bound[0] != INFINITY) check_fail("layer norm of a flat row: %g", bound[0]);
    // scores of which float32 knows nothing
    ref_bound_attention(y, bound, (double[]){0x1p60}, (double[]){0x1p70, 1}, zeros, weights,
                        &(ref_bound_heads){2, 0, 1, 1, 1, 1, 1});
    if (bound[0] != INFINITY) check_fail("attention whose scores overflow: %g", bound[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(softmax),
        cmocka_unit_test(attention),
        cmocka_unit_test(norms),
        cmocka_unit_test(layer_norm),
        cmocka_unit_test(faults_are_past_the_bounds),
        cmocka_unit_test(no_premise_no_bound),
    };
    return cmocka_run_group_tests_name("row_bounds", tests, NULL, NULL);
}
