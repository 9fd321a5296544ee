// test_learn.c: every mixer learns something at once: on recall and on copying, with the settings that a bare
// config gives, the mean loss of steps 41 to 50 lies at least 5 % below that of steps 1 to 10.
#include "proofs_tests/support/check.h"

#include "model/mixers/mixer.h"
#include <seqmix/run.h>

static double mean(const float *x, size_t from, size_t to) {
    double sum = 0;
    for (size_t i = from; i < to; i++) sum += x[i];
    return sum / (double)(to - from);
}

static void falls(const char *task) {
    for (size_t i = 0; mixers[i]; i++) {
        char config[128];
        smx_error e = {0};
        size_t n;
        snprintf(config, sizeof config, "mixer=%s&task=%s", mixers[i]->name, task);
        smx_run *r = smx_run_open(config, &e);
        if (!r || smx_run_step(r, 50, &e)) fail_msg("%s: %s", config, e.message);
        const float *loss = smx_run_losses(r, &n);
        const double start = mean(loss, 0, 10), end = mean(loss, 40, 50);
        print_message("%-10s %s: %.4f -> %.4f (%.1f %%)\n", mixers[i]->name, task, start, end,
                      100 * (end / start - 1));
        if (!(end < 0.95 * start)) fail_msg("%s: the loss went from %.4f to %.4f", config, start, end);
        smx_run_close(r);
    }
}
static void recall(void **state) {
    (void)state;
    falls("mqar");
}
static void copy(void **state) {
    (void)state;
    falls("sc");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(recall), cmocka_unit_test(copy)};
    return cmocka_run_group_tests_name("learn", tests, NULL, NULL);
}
