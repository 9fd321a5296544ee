// test_tile_sums.c: products and dot products against the bounds that rocq/TileSums.v proves of their floats,
// on every instruction set. What was reached of each bound is printed.
#include "bound_judge.h"

static void product(void **state) {
    (void)state;
    bound_judge("product of matrices");
}
static void dot(void **state) {
    (void)state;
    bound_judge("dot product");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(product),
        cmocka_unit_test(dot),
    };
    return cmocka_run_group_tests_name("tile_sums", tests, NULL, NULL);
}
