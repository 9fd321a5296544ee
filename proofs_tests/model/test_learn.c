// test_learn.c: what every mixer sees of earlier rows reaches the head, and its gradient comes back: each
// learns running sums at once, with the settings it comes with. The target of row t is
// (x_1 + ... + x_t) / sqrt(t), of which the row itself explains 1/t: no model without a mixer, whatever its
// weights and positions, has an R^2 above (1 + 1/2 + ... + 1/L) / L, 0.127 at length 32.
#include "proofs_tests/support/check.h"

#include "model/mixers/mixer.h"
#include <seqmix/run.h>

enum { L = 32 };

static double learnt(const char *mixer, int steps) {
    char config[192];
    smx_error e = {0};
    smx_evaluation v;
    snprintf(config, sizeof config,
             "mixer=%s&task=cumsum&length=%d&width=16&batch=8&rate=0.01&warmup=5&steps=%d", mixer, L, steps);
    smx_run *r = smx_run_open(config, &e);
    if (!r || smx_run_step(r, (size_t)steps, &e) || smx_run_evaluate(r, 64, 0, &v, &e))
        fail_msg("%s: %s", config, e.message);
    print_message("%-14s R^2 %.3f after %d steps\n", mixer, v.r2, steps);
    smx_run_close(r);
    return v.r2;
}
static void sums(void **state) {
    (void)state;
    double alone = 0;
    for (int t = 1; t <= L; t++) alone += 1.0 / t / L;
    size_t tried = 0;
    for (size_t i = 0; mixers[i]; i++, tried++) {
        // Most have it at once; hgrn2 and mlstm need longer.
        const double r2 = learnt(mixers[i]->name, 120);
        if (!(r2 > alone + 0.1) && !(learnt(mixers[i]->name, 300) > alone + 0.1))
            fail_msg(
                "%s: R^2 %.3f after 120 steps, and no more than %.3f after 300; the row alone gives %.3f",
                mixers[i]->name, r2, alone + 0.1, alone);
    }
    assert_true(tried > 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sums)};
    return cmocka_run_group_tests_name("learn", tests, NULL, NULL);
}
