// test_lengths.c: every mixer in every mode at the edges of length: one row, fewer rows than its window,
// filter, block, chunk or tile, a last part that is not whole. Each trains with finite losses, changes its
// weights and is evaluated at another length, or is refused in one sentence that names the divisor. Keys
// that nobody gave follow the length.
#include "proofs_tests/support/check.h"

#include "model/audit/audit.h"
#include "model/run/language/language.h"
#include "model/mixers/mixer.h"
#include <seqmix/run.h>

// A refusal of lengths that bins or chunks do not divide is the only one there is.
static int refused_by_divisor(const smx_error *e) {
    const int named = !strcmp(e->key, "bins") || !strcmp(e->key, "chunks");
    return named && (strstr(e->message, "a divisor of length=") || strstr(e->message, "must divide them"));
}

static void trains(const char *text, size_t *trained, size_t *refused) {
    smx_error e = {0};
    check_trying("%s", text);
    smx_run *r = smx_run_open(text, &e);
    if (!r) {
        if (!refused_by_divisor(&e)) check_fail("%s", e.message);
        (*refused)++;
        return;
    }
    const uint64_t before = smx_run_digest(r);
    if (smx_run_step(r, 2, &e)) check_fail("%s", e.message);
    if (smx_run_digest(r) == before) check_fail("two steps changed no weight");
    size_t n;
    const float *loss = smx_run_losses(r, &n);
    for (size_t i = 0; i < n; i++)
        if (!isfinite(loss[i])) check_fail("loss %zu is %g", i, (double)loss[i]);
    static const size_t others[] = {1, 2, 9, 50};
    for (size_t i = 0; i < CHECK_COUNT(others); i++) {
        smx_evaluation v;
        if (smx_run_evaluate(r, 2, others[i], &v, &e)) {
            if (!refused_by_divisor(&e)) check_fail("at length %zu: %s", others[i], e.message);
        } else if (!isfinite(v.loss) || v.targets != 2 * others[i]) {
            check_fail("at length %zu: loss %g over %llu targets", others[i], v.loss,
                       (unsigned long long)v.targets);
        }
    }
    smx_run_close(r);
    (*trained)++;
}

static void every_mode(void **state) {
    (void)state;
    static const size_t lengths[] = {1, 2, 3, 7, 17};
    size_t trained = 0, refused = 0, modes = 0;
    for (size_t k = 0; mixers[k]; k++) {
        char mode[1024], text[1280];
        for (size_t i = 0; audit_mode(mode, sizeof mode, mixers[k]->name, i); i++, modes++)
            for (size_t l = 0; l < CHECK_COUNT(lengths); l++) {
                snprintf(text, sizeof text, "%s&task=cumsum&batch=2&steps=2&warmup=0&length=%zu", mode,
                         lengths[l]);
                trains(text, &trained, &refused);
            }
    }
    print_message("%zu modes at %zu lengths: %zu train, %zu are refused\n", modes, CHECK_COUNT(lengths),
                  trained, refused);
    assert_true(modes > 50 && trained > 4 * modes && refused > 0);
}

// A bare mixer and task at any length that the task takes: no default stands in the way.
static void defaults_follow(void **state) {
    (void)state;
    static const char *const tasks[] = {"mqar&pairs=3", "sc&signals=3", "sc_unique&signals=3", "ar",
                                        "cumsum"};
    static const size_t lengths[] = {26, 62, 64, 100};
    for (size_t k = 0; mixers[k]; k++)
        for (size_t t = 0; t < CHECK_COUNT(tasks); t++)
            for (size_t l = 0; l < CHECK_COUNT(lengths); l++) {
                char text[256];
                smx_error e = {0};
                snprintf(text, sizeof text, "mixer=%s&task=%s&length=%zu&batch=1&steps=1", mixers[k]->name,
                         tasks[t], lengths[l]);
                check_trying("%s", text);
                smx_run *r = smx_run_open(text, &e);
                if (!r) check_fail("%s", e.message);
                smx_run_close(r);
            }
}

// Focus's bins keep their usual length where it divides the sequence, else the nearest that does;
// what was given stays.
static void bins(void **state) {
    (void)state;
    static const struct {
        const char *config;
        int64_t bins; // 0: refused
    } cases[] = {
        {"task=mqar", 64},              // the recipe: one row a bin
        {"task=mqar&length=128", 128},  // still one row
        {"task=sc", 8},                 // the recipe: 8 rows a bin
        {"task=sc&length=128", 16},     // 8 rows
        {"task=sc&length=60", 10},      // 6 and 10 rows divide 60, 7 to 9 do not
        {"task=sc&length=63", 9},       // 7 and 9 do: the smaller
        {"task=sc&length=51", 17},      // 3, as 8 to 16 do not
        {"task=sc&length=61", 61},      // a prime
        {"task=smnist&length=196", 49}, // 4 rows, as for 28
        {"task=ar&length=1&bins=1", 1},
        {"task=cumsum&length=1", 1},
        {"task=cumsum&length=5", 1}, // shorter than a usual bin of 8: one bin
        {"task=mqar&length=128&bins=64", 64},
        {"task=mqar&length=62&bins=64", 0},
    };
    for (size_t i = 0; i < CHECK_COUNT(cases); i++) {
        char text[128];
        smx_error e = {0};
        snprintf(text, sizeof text, "mixer=focus&%s", cases[i].config);
        check_trying("%s", text);
        config *c = config_parse(text, 0, &e);
        if (!c) check_fail("%s", e.message);
        const size_t L = c->common.length;
        const int bad = mixer_find("focus")->check(c, L, &e);
        if (!cases[i].bins && (!bad || !refused_by_divisor(&e))) check_fail("is not refused");
        if (cases[i].bins && bad) check_fail("%s", e.message);
        const char *bins = config_get(c, "bins");
        if (cases[i].bins && atoi(bins) != cases[i].bins) check_fail("%s bins", bins);
        config_free(c);
    }
}

// A model evaluated at another length is the model of that length with the same weights: the same loss to
// the word, whatever says where a token stands. (A table of positions that was made for the shorter
// length, and read past its end, is another model.) Learned positions end where they were trained.
static void positions_go_on(void **state) {
    (void)state;
    static const char *const positions[] = {"none", "sinusoidal", "rope", "alibi", "alibi_scaled"};
    static const size_t lengths[] = {5, 33, 64, 700};
    size_t differ = 0;
    for (size_t p = 0; p < CHECK_COUNT(positions); p++) {
        char text[256];
        smx_error e = {0};
        snprintf(
            text, sizeof text,
            "mixer=attention&task=cumsum&length=20&batch=2&width=16&blocks=2&steps=9&warmup=0&position=%s",
            positions[p]);
        check_trying("%s", text);
        smx_run *r = smx_run_open(text, &e);
        if (!r || smx_run_step(r, 3, &e)) check_fail("%s", e.message);
        size_t bytes;
        void *file = smx_run_save(r, &bytes, &e);
        double before = 0;
        for (size_t l = 0; l < CHECK_COUNT(lengths); l++) {
            char change[32];
            smx_evaluation here, there;
            check_trying("%s evaluated at %zu", text, lengths[l]);
            snprintf(change, sizeof change, "length=%zu", lengths[l]);
            smx_run *longer = smx_run_load(file, bytes, change, &e);
            if (!longer) check_fail("%s", e.message);
            if (smx_run_evaluate(r, 3, lengths[l], &here, &e) || smx_run_evaluate(longer, 3, 0, &there, &e))
                check_fail("%s", e.message);
            assert_true(here.targets == 3 * lengths[l] && there.targets == here.targets);
            if (memcmp(&here.loss, &there.loss, sizeof here.loss))
                check_fail("the loss is %.9g, and %.9g where the run has that length", here.loss, there.loss);
            differ += here.loss != before;
            before = here.loss;
            smx_run_close(longer);
        }
        free(file);
        smx_run_close(r);
    }
    assert_true(differ == CHECK_COUNT(positions) * CHECK_COUNT(lengths));
}

static smx_run *trained(const char *text) {
    smx_error e = {0};
    check_trying("%s", text);
    smx_run *r = smx_run_open(text, &e);
    if (!r || smx_run_step(r, 3, &e)) check_fail("%s", e.message);
    return r;
}
static double loss_at(smx_run *r, size_t length) {
    smx_error e = {0};
    smx_evaluation v;
    if (smx_run_evaluate(r, 3, length, &v, &e)) check_fail("at length %zu: %s", length, e.message);
    return v.loss;
}
// Learned positions of fewer rows than were trained are the first ones of the table: the loss is that of a
// run of that length with the same weights.
static void learned_positions_are_the_first(void **state) {
    (void)state;
#define LEARNED "mixer=attention&task=cumsum&batch=2&width=16&blocks=2&warmup=0&position=learned&length=%zu"
    char text[256];
    smx_error e = {0};
    snprintf(text, sizeof text, LEARNED, (size_t)20);
    smx_run *r = trained(text);
    for (size_t L = 1; L <= 20; L += L < 18 ? 4 : 1) {
        snprintf(text, sizeof text, LEARNED, L);
        smx_run *shorter = trained(text);
        for (size_t i = 0; i < smx_run_tensor_count(shorter); i++) {
            smx_tensor to, from;
            size_t n = 1;
            assert_int_equal(smx_run_tensor_at(shorter, i, &to), 0);
            for (uint32_t d = 0; d < to.rank; d++) n *= to.shape[d];
            if (to.is_weight && (smx_run_tensor(r, to.name, &from, &e) ||
                                 smx_run_set_weight(shorter, to.name, from.data, n, &e)))
                check_fail("%s: %s", to.name, e.message);
        }
        const double here = loss_at(r, L), there = loss_at(shorter, 0);
        if (here != there)
            check_fail("the loss is %.9g, and %.9g where the run has that length", here, there);
        smx_run_close(shorter);
    }
    smx_run_close(r);
}
// In a text `length` is the length of the config, whatever length is read.
static void length_in_a_text(void **state) {
    (void)state;
#define TEXT                                                                                                 \
    "mixer=equations&task=cumsum&batch=2&width=16&blocks=2&warmup=0&length=20&eq=y = x @ w * (3 / %s)"
    char text[256];
    snprintf(text, sizeof text, TEXT, "length");
    smx_run *r = trained(text);
    snprintf(text, sizeof text, TEXT, "20");
    smx_run *told = trained(text);
    static const size_t lengths[] = {20, 5, 33, 700};
    for (size_t i = 0; i < CHECK_COUNT(lengths); i++)
        if (loss_at(r, lengths[i]) != loss_at(told, lengths[i]))
            check_fail("at length %zu the loss is %.9g, and %.9g where 20 stands for it", lengths[i],
                       loss_at(r, lengths[i]), loss_at(told, lengths[i]));
    smx_run_close(r);
    smx_run_close(told);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_mode),
                                       cmocka_unit_test(defaults_follow),
                                       cmocka_unit_test(positions_go_on),
                                       cmocka_unit_test(bins),
                                       cmocka_unit_test(learned_positions_are_the_first),
                                       cmocka_unit_test(length_in_a_text)};
    return cmocka_run_group_tests_name("lengths", tests, NULL, NULL);
}
