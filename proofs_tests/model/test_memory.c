// test_memory.c: memory that runs out anywhere. The i-th allocation of a whole experiment fails, for every i:
// each time a call says so in a sentence, nothing crashes, nothing leaks, and what was answered without an
// error is right. And what a run says it will hold is what it holds.
#include "proofs_tests/support/allocations.h"
#include "proofs_tests/support/check.h"

#include "model/audit/invariances.h"
#include "model/mixers/mixer.h"
#include "kernels/core/hash.h"
#include <seqmix/run.h>
#include <seqmix/state.h>

static void one_by_one(void *pool, size_t n, smx_piece piece, void *context) {
    (void)pool;
    for (size_t i = 0; i < n; i++) piece(context, i);
}

// Opens, trains with a pool, evaluates, looks, saves, loads, completes: 0, or -1 with the sentence.
// `whole` to 0: opens and trains only.
static int experiment(const char *text, int whole, smx_error *e) {
    size_t size = 0;
    smx_evaluation evaluation;
    smx_sample sample;
    smx_run *again = NULL, *r = smx_run_open(text, e);
    if (!r) return -1;
    void *bytes = NULL;
    char *full = NULL;
    smx_run_parallel(r, one_by_one, NULL);
    int status = smx_run_step(r, 1, e);
    if (!status && whole) {
        status = smx_run_evaluate(r, 4, 0, &evaluation, e) ||
                 smx_run_look(r, SMX_STREAM_EVAL, 0, 0, &sample, e) || !(bytes = smx_run_save(r, &size, e)) ||
                 !(again = smx_run_load(bytes, size, "steps=5", e)) || !(full = smx_config_complete(text, e));
        size_t classes;
        if (!status && sample.classes && !smx_run_confusion(r, &classes))
            check_fail("no confusion matrix, and no error");
        if (!status && smx_run_digest(again) != smx_run_digest(r))
            check_fail("what was saved is not what was loaded");
    }
    free(bytes);
    free(full);
    smx_run_close(again);
    smx_run_close(r);
    return status ? -1 : 0;
}

static size_t every_failure(const char *text, int whole) {
    for (long i = 0;; i++) {
        smx_error e = {0};
        check_trying("%s, allocation %ld", text, i);
        const long before = held;
        until_failure = i;
        const int status = experiment(text, whole, &e);
        const int reached = until_failure < 0;
        until_failure = -1;
        if (held != before) check_fail("%ld allocations are left", held - before);
        if (!reached && status) check_fail("%s", e.message); // no allocation failed: the config is wrong
        if (!reached) return (size_t)i;
        if (!status) check_fail("nothing is said");
        if (!e.message[0]) check_fail("no sentence");
    }
}

#define SMALL "&width=8&heads=1&blocks=1&batch=2&warmup=0&steps=4"
static void a_whole_experiment(void **state) {
    (void)state;
    size_t tried = every_failure("mixer=cat&task=mqar&length=16&vocab=8&pairs=2&position=rope" SMALL, 1);
    tried += every_failure("mixer=las&task=cumsum&length=8&position=learned&norm=layer&mlp=1" SMALL, 1);
    // so many rows that a pool has the graph planned anew
    tried += every_failure("mixer=ema&task=cumsum&length=48" SMALL "&batch=96", 0);
    print_message("%zu allocations failed one at a time\n", tried);
    assert_true(tried > 200);
}
static void every_mixer(void **state) {
    (void)state;
    size_t tried = 0;
    for (size_t i = 0; mixers[i]; i++) {
        char text[256];
        snprintf(text, sizeof text, "mixer=%s&task=cumsum&length=8%s" SMALL "&heads=2", mixers[i]->name,
                 !strcmp(mixers[i]->name, "focus") || !strcmp(mixers[i]->name, "focus_h") ? "&bins=2" : "");
        tried += every_failure(text, 0);
    }
    tried += every_failure("mixer=cat&filter_kind=maps&task=cumsum&length=8" SMALL "&heads=2", 0);
    tried +=
        every_failure("mixer=focus&iir=literal&hyper=joint&task=cumsum&length=8&bins=2" SMALL "&heads=2", 0);
    print_message("%zu allocations failed one at a time\n", tried);
    assert_true(tried > 1000);
}

// What a run says before its first step is what training holds (a tenth more: samples, tables of positions),
// and an evaluation takes as much again at most.
static void what_is_said_is_held(void **state) {
    (void)state;
    double worst = 1.0, worst_evaluation = 0.0;
    for (size_t i = 0; mixers[i]; i++)
        for (size_t batch = 1; batch <= 3; batch += 2) {
            char text[256];
            smx_error e = {0};
            smx_metrics m;
            smx_evaluation evaluation;
            snprintf(text, sizeof text, "mixer=%s&task=cumsum&length=2048&width=32&heads=2&batch=%zu",
                     mixers[i]->name, batch);
            check_trying("%s", text);
            const long before = most_bytes = bytes;
            smx_run *r = smx_run_open(text, &e);
            if (!r) check_fail("%s", e.message);
            smx_run_metrics(r, &m);
            if (smx_run_step(r, 2, &e)) check_fail("%s", e.message);
            const double said = (double)m.bytes, training = (double)(most_bytes - before);
            if (training < said || training > 1.1 * said)
                check_fail("%.0f bytes are said, %.0f held", said, training);
            if (smx_run_evaluate(r, 40, 0, &evaluation, &e)) check_fail("%s", e.message);
            const double all = (double)(most_bytes - before);
            if (all > 2.0 * training)
                check_fail("training holds %.0f bytes, with evaluation %.0f", training, all);
            if (training / said > worst) worst = training / said;
            if (all / training > worst_evaluation) worst_evaluation = all / training;
            smx_run_close(r);
            if (bytes != before) check_fail("%ld bytes are left", bytes - before);
        }
    print_message("at most %.3f of what is said, with an evaluation %.2f\n", worst, worst_evaluation);
}

// An audit of what a mixer's answers depend on gives back what it took, whichever allocation fails.
// Without memory for its list a tensor is not "none of that name", and the next call has it.
static void a_tensor_is_asked_for_again(void **state) {
    (void)state;
    smx_error e = {0};
    smx_run *r = smx_run_open("mixer=cat&task=mqar&length=16&vocab=8&pairs=2" SMALL, &e);
    if (!r) check_fail("%s", e.message);
    for (long i = 0; i < 2; i++) {
        smx_tensor t;
        until_failure = i;
        const int status = smx_run_tensor(r, "embedding", &t, &e), reached = until_failure < 0;
        until_failure = -1;
        if (!reached || !status || strcmp(e.message, "out of memory")) check_fail("%ld: %s", i, e.message);
        if (i && smx_run_tensor(r, "embedding", &t, &e)) check_fail("%s", e.message);
    }
    smx_run_close(r);
}

static void an_audit_gives_back_its_memory(void **state) {
    (void)state;
    const char *row;
    char config[8000];
    size_t i = 0, failed = 0;
    while (invariance_config(config, sizeof config, i, &row) && strcmp(row, "scan in a text")) i++;
    const size_t configs[] = {0, i};
    for (size_t k = 0; k < CHECK_COUNT(configs); k++) {
        assert_non_null(invariance_config(config, sizeof config, configs[k], &row));
        for (int n = 0, reached = 1; reached; n = 2 * n + 1) {
            invariances found = {0};
            smx_error e = {0};
            check_trying("%s, allocation %d", row, n);
            const long before = held;
            until_failure = n;
            const int status = invariances_measure(&found, config, one_by_one, (void *[1]){NULL}, 1, &e);
            reached = until_failure < 0;
            until_failure = -1;
            if (held != before) check_fail("%ld allocations are left", held - before);
            if ((status != 0) != reached) check_fail("%s", status ? e.message : "nothing is said");
            failed += (size_t)reached;
        }
    }
    assert_true(failed > 10);
}

// 300 bytes that speak of 64 million rows are refused before memory for those is asked for.
static void a_states_file_asks_for_no_more_than_it_holds(void **state) {
    (void)state;
    enum { MOST = 8 + 3 * 8 }; // in the file: letters, version, model, sequences
    smx_error e = {0};
    smx_run *r = smx_run_open("mixer=attention&task=mqar", &e);
    smx_run_state *s = r ? smx_state_open(r, 1, 4, &e) : NULL;
    size_t size = 0;
    unsigned char *file = s ? smx_state_save(s, &size, &e) : NULL;
    if (!file) check_fail("%s", e.message);
    smx_state_close(s);
    file[MOST] = 0;
    file[MOST + 3] = 4; // 2^26
    const uint64_t sum = hash_bytes(HASH_START, file, size - 8);
    for (int i = 0; i < 8; i++) file[size - 8 + (size_t)i] = (unsigned char)(sum >> 8 * i);
    const long before = most_bytes = bytes;
    assert_null(smx_state_load(r, file, size, &e));
    assert_non_null(strstr(e.message, "numbers, and"));
    if (most_bytes - before > 1 << 24) check_fail("it asked for %ld bytes", most_bytes - before);
    assert_int_equal(bytes, before);
    free(file);
    smx_run_close(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_whole_experiment),
                                       cmocka_unit_test(every_mixer),
                                       cmocka_unit_test(what_is_said_is_held),
                                       cmocka_unit_test(a_tensor_is_asked_for_again),
                                       cmocka_unit_test(an_audit_gives_back_its_memory),
                                       cmocka_unit_test(a_states_file_asks_for_no_more_than_it_holds)};
    return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
