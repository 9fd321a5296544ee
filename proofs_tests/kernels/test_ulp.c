// test_ulp.c: the ceilings of docs/ACCURACY.md: every kernel's largest error against the oracle on random,
// adversarial and edge inputs, in units of the last place of its scale (ulp_cases.h); and that no kernel is
// missing from that list.
#include "ulp_cases.h"

static void under_the_ceilings(void **state) {
    (void)state;
    int above = 0;
    for (size_t i = 0; i < CHECK_COUNT(ulp_cases); i++)
        for (int kind = 0; kind < ULP_KINDS; kind++) {
            const double worst = ulp_measure(&ulp_cases[i], kind, 2);
            if (worst <= ulp_cases[i].ceiling[kind]) continue;
            print_message(
                "%s, %s inputs: %.4g ULP of its scale (%s), the ceiling is %.4g (`ulp` of its row in kernels/kernels.txt)\n",
                ulp_cases[i].name, ulp_kind_names[kind], worst, ulp_cases[i].scale,
                ulp_cases[i].ceiling[kind]);
            above++;
        }
    assert_int_equal(above, 0);
}

#define SMX_KERNEL(result, name, parameters, arguments) #name,
#define SMX_KERNEL_PUSH(...) // the words of another
static const char *const names[] = {
#include "build/kernels.def"
};
static void every_kernel_is_listed(void **state) {
    (void)state;
    assert_int_equal(CHECK_COUNT(names), CHECK_COUNT(ulp_cases));
    for (size_t i = 0; i < CHECK_COUNT(names); i++)
        if (strcmp(names[i], ulp_cases[i].name))
            fail_msg("kernel %zu is %s, the list has %s", i, names[i], ulp_cases[i].name);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_kernel_is_listed),
                                       cmocka_unit_test(under_the_ceilings)};
    return cmocka_run_group_tests_name("ulp", tests, NULL, NULL);
}
