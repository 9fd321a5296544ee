// test_training.c: every mixer trains on recall (mqar) and on selective copying (sc): the mean loss of steps
// 41 to 50 is at least 5 % below that of steps 1 to 10, with the settings it comes with.
#include "proofs_tests/support/check.h"

#include "model/mixers/mixer.h"
#include <seqmix/run.h>

static void trains_on(const char *task) {
    for (size_t m = 0; mixers[m]; m++) {
        char text[256];
        smx_error e = {0};
        snprintf(text, sizeof text, "mixer=%s&task=%s&steps=50", mixers[m]->name, task);
        check_trying("%s", text);
        smx_run *run = smx_run_open(text, &e);
        if (!run || smx_run_step(run, 50, &e)) check_fail("%s", e.message);
        size_t n;
        const float *loss = smx_run_losses(run, &n);
        assert_int_equal(n, 50);
        double first = 0, last = 0;
        for (size_t i = 0; i < 10; i++) {
            first += (double)loss[i] / 10;
            last += (double)loss[40 + i] / 10;
        }
        if (!(last <= 0.95 * first)) check_fail("the loss went from %.4f to %.4f", first, last);
        smx_run_close(run);
    }
}
static void mqar(void **state) {
    (void)state;
    trains_on("mqar");
}
static void sc(void **state) {
    (void)state;
    trains_on("sc");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(mqar), cmocka_unit_test(sc)};
    return cmocka_run_group_tests_name("training", tests, NULL, NULL);
}
