// test_user_data.c: the caller's batches: the bits that the task's own samples train to, smaller last
// batches, confusions, and what is refused.
#include "proofs_tests/support/check.h"

#include <seqmix/run.h>

static smx_run *open_run(const char *config) {
    smx_error e = {0};
    smx_run *r = smx_run_open(config, &e);
    if (!r) fail_msg("%s: %s", config, e.message);
    return r;
}
static void step(smx_run *r, size_t n) {
    smx_error e = {0};
    if (smx_run_step(r, n, &e)) fail_msg("step: %s", e.message);
}

typedef struct {
    smx_batch_form form;
    int32_t tokens[2048], targets[2048];
    float values[2048], target_values[2048];
    smx_batch batch;
} own;

// Samples first.. of the task's stream, through looking at each.
static own *own_batch(smx_run *r, int stream, uint64_t first) {
    own *o = test_calloc(1, sizeof *o);
    smx_error e = {0};
    smx_run_batch(r, &o->form);
    const size_t L = o->form.length, T = o->form.targets, C = o->form.channels;
    assert_true(o->form.sequences * L * (C ? C : 1) <= 2048);
    for (size_t b = 0; b < o->form.sequences; b++) {
        smx_sample s;
        if (smx_run_look(r, stream, first + b, 0, &s, &e)) fail_msg("look: %s", e.message);
        if (s.tokens) memcpy(o->tokens + b * L, s.tokens, L * sizeof *s.tokens);
        if (s.values) memcpy(o->values + b * L * C, s.values, L * C * sizeof *s.values);
        if (s.targets) memcpy(o->targets + b * T, s.targets, T * sizeof *s.targets);
        if (s.target_values) memcpy(o->target_values + b * T, s.target_values, T * sizeof *s.target_values);
    }
    o->batch = (smx_batch){.tokens = C ? NULL : o->tokens,
                           .values = C ? o->values : NULL,
                           .targets = o->form.classes ? o->targets : NULL,
                           .target_values = o->form.classes ? NULL : o->target_values};
    return o;
}

static size_t sequences(const smx_run *r) {
    smx_batch_form form;
    smx_run_batch(r, &form);
    return form.sequences;
}

static const char *const own_tasks[] = {
    "mixer=cat&task=mqar&vocab=16&length=16&pairs=2&width=16&batch=3", // tokens, classes of rows
    "mixer=las&task=cumsum&length=16&width=16&batch=3",                // numbers, numbers
    "mixer=focus&task=select&length=24&picks=3&width=16&batch=2",      // rows of two numbers, few targets
    "mixer=cat&task=smnist&data=digits&width=16&blocks=1&batch=2",     // rows of 28, one class
    // every form of task own
    "mixer=cat&task=own&channels=3&classes=4&answers=one&length=16&width=16&batch=2",
    "mixer=las&task=own&channels=2&classes=5&answers=rows&length=16&width=16&batch=2",
    "mixer=chela&task=own&channels=2&classes=0&answers=one&length=16&width=16&batch=2",
    "mixer=focus&task=own&channels=1&classes=0&answers=rows&length=16&width=16&batch=2",
    "mixer=cat&task=own&channels=0&vocab=9&classes=4&answers=one&length=16&width=16&batch=2",
    "mixer=las&task=own&channels=0&vocab=9&classes=3&answers=rows&length=16&width=16&batch=2",
    "mixer=attention&task=own&channels=0&vocab=9&classes=0&answers=one&length=16&width=16&batch=2",
    "mixer=cat&task=own&channels=0&vocab=9&classes=0&answers=rows&length=16&width=16&batch=2",
};

// A copy of the confusions, which name every target once and every right answer on the diagonal;
// NULL: regression.
static uint64_t *confusion_of(const smx_run *r, const smx_evaluation *ev) {
    size_t V;
    const uint64_t *counts = smx_run_confusion(r, &V);
    if (!counts) return NULL;
    uint64_t *copy = test_malloc(V * V * sizeof *copy), all = 0, right = 0;
    memcpy(copy, counts, V * V * sizeof *copy);
    for (size_t i = 0; i < V * V; i++) all += counts[i];
    for (size_t i = 0; i < V; i++) right += counts[i * V + i];
    assert_true(all == ev->targets);
    assert_true((double)right == round(ev->accuracy * (double)ev->targets));
    return copy;
}

// The task's own samples handed over train to the bits that the task does, and are judged to them.
static void own_batches(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof own_tasks / sizeof *own_tasks; k++) {
        smx_error e = {0};
        smx_run *r = open_run(own_tasks[k]), *same = open_run(own_tasks[k]);
        const int has_samples = !strstr(own_tasks[k], "task=own");
        uint64_t start = smx_run_digest(r);
        if (!has_samples) { // noise is nothing to train on, or to be judged by
            smx_evaluation none;
            assert_int_equal(smx_run_step(r, 1, &e), -1);
            assert_string_equal(e.key, "task");
            assert_non_null(strstr(e.message, "handed over"));
            assert_int_equal(smx_run_evaluate(r, 8, 0, &none, &e), -1);
            assert_string_equal(e.key, "task");
            assert_true(smx_run_digest(r) == start);
        }
        for (size_t i = 0; i < 3; i++) {
            smx_metrics m;
            smx_run_metrics(r, &m);
            own *o = own_batch(r, SMX_STREAM_TRAIN, m.step * sequences(r));
            if (smx_run_step_on(r, &o->batch, &e)) fail_msg("%s: %s", own_tasks[k], e.message);
            if (has_samples)
                step(same, 1);
            else if (smx_run_step_on(same, &o->batch, &e))
                fail_msg("%s: %s", own_tasks[k], e.message);
            assert_true(smx_run_digest(r) == smx_run_digest(same));
            test_free(o);
        }
        assert_true(smx_run_digest(r) != start);

        own *o = own_batch(r, SMX_STREAM_EVAL, 0);
        smx_evaluation got, wanted;
        uint64_t before = smx_run_digest(r);
        if (smx_run_evaluate_on(r, &o->batch, &got, &e)) fail_msg("%s: %s", own_tasks[k], e.message);
        uint64_t *confused = confusion_of(r, &got);
        if (has_samples ? smx_run_evaluate(r, o->form.sequences, 0, &wanted, &e)
                        : smx_run_evaluate_on(r, &o->batch, &wanted, &e))
            fail_msg("%s: %s", own_tasks[k], e.message);
        if (confused) {
            uint64_t *others = confusion_of(r, &wanted);
            assert_memory_equal(confused, others, o->form.classes * o->form.classes * sizeof *confused);
            test_free(confused);
            test_free(others);
        }
        assert_true(got.loss == wanted.loss && got.accuracy == wanted.accuracy && got.r2 == wanted.r2);
        assert_true(got.sequence_accuracy == wanted.sequence_accuracy &&
                    got.free_accuracy == wanted.free_accuracy);
        assert_true(got.targets == wanted.targets && got.sequences == wanted.sequences && got.targets > 0);
        assert_true(got.loss > 0 && smx_run_digest(r) == before);
        if (has_samples) { // and training goes on as if nothing had been asked
            step(r, 1), step(same, 1);
            assert_true(smx_run_digest(r) == smx_run_digest(same));
        }

        smx_sample seen, given;
        if (smx_run_look(r, SMX_STREAM_EVAL, 0, 0, &seen, &e)) fail_msg("look: %s", e.message);
        const float first = seen.confidence[seen.target_count - 1];
        if (o->form.channels ? smx_run_predict_values(r, o->values, o->form.length, &given, &e)
                             : smx_run_predict(r, o->tokens, o->form.length, &given, &e))
            fail_msg("%s: %s", own_tasks[k], e.message);
        assert_true(given.confidence[given.target_count - 1] == first);
        test_free(o);
        smx_run_close(r), smx_run_close(same);
    }
}

// A last batch that is not full trains, and is judged, as one whose other sequences ask for nothing;
// those are not looked at.
static void smaller_batches(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof own_tasks / sizeof *own_tasks; k++) {
        smx_error e = {0};
        check_trying("%s", own_tasks[k]);
        smx_run *r = open_run(own_tasks[k]), *padded = open_run(own_tasks[k]);
        own *some = own_batch(r, SMX_STREAM_TRAIN, 0), *all = own_batch(r, SMX_STREAM_TRAIN, 0);
        const size_t B = some->form.sequences, L = some->form.length, T = some->form.targets,
                     C = some->form.channels;
        some->batch.sequences = B - 1;
        for (size_t i = (B - 1) * T; i < B * T; i++) { // what is not part of the batch may be anything
            some->targets[i] = 1 << 30;
            some->target_values[i] = (float)INFINITY;
            all->targets[i] = -1;
            all->target_values[i] = (float)NAN;
        }
        for (size_t i = (B - 1) * L; i < B * L; i++) some->tokens[i] = -5, all->tokens[i] = 0;
        for (size_t i = (B - 1) * L * C; i < B * L * C; i++) some->values[i] = (float)NAN, all->values[i] = 0;
        for (int i = 0; i < 2; i++) {
            smx_evaluation few, many;
            if (smx_run_step_on(r, &some->batch, &e) || smx_run_step_on(padded, &all->batch, &e) ||
                smx_run_evaluate_on(r, &some->batch, &few, &e) ||
                smx_run_evaluate_on(padded, &all->batch, &many, &e))
                check_fail("%s", e.message);
            if (smx_run_digest(r) != smx_run_digest(padded)) check_fail("other weights");
            assert_true(few.loss == many.loss && few.targets == many.targets &&
                        few.accuracy == many.accuracy);
            assert_int_equal(few.sequences, B - 1);
            assert_int_equal(many.sequences, B);
        }
        some->batch.sequences = B + 1;
        assert_int_equal(smx_run_step_on(r, &some->batch, &e), -1);
        assert_string_equal(e.key, "sequences");
        test_free(some), test_free(all);
        smx_run_close(r), smx_run_close(padded);
    }
}

// `change` to a good batch is refused with these words, and leaves no trace.
#define REFUSED(change, of, words)                                                                           \
    do {                                                                                                     \
        own *o = own_batch(r, SMX_STREAM_TRAIN, 0);                                                          \
        change;                                                                                              \
        e = (smx_error){0};                                                                                  \
        smx_evaluation ev;                                                                                   \
        assert_int_equal(smx_run_step_on(r, &o->batch, &e), -1);                                             \
        assert_string_equal(e.key, of);                                                                      \
        if (!strstr(e.message, words)) fail_msg("%s", e.message);                                            \
        assert_int_equal(smx_run_evaluate_on(r, &o->batch, &ev, &e), -1);                                    \
        test_free(o);                                                                                        \
    } while (0)

static void own_batches_refused(void **state) {
    (void)state;
    smx_error e;
    const float nan = (float)NAN, inf = (float)INFINITY;
    smx_run *r = open_run(own_tasks[0]);
    uint64_t before = smx_run_digest(r);
    REFUSED(o->tokens[9] = 16, "tokens", "token 9 is 16; allowed: 0 to 15, as task=mqar has it");
    REFUSED(o->tokens[47] = -1, "tokens", "token 47 is -1");
    REFUSED(o->targets[3] = -2, "targets", "target 3 is -2; allowed: 0 to 15, or -1 for none");
    REFUSED(o->targets[47] = 16, "targets", "target 47 is 16");
    REFUSED(for (int i = 0; i < 16; i++) o->targets[16 + i] = 1, "targets",
            "target 31 is one of 16 in sequence 1; allowed: at most 2");
    REFUSED(o->batch.tokens = NULL, "inputs", "allowed: tokens");
    REFUSED(o->batch.values = o->values, "inputs", "allowed: tokens");
    REFUSED(o->batch.targets = NULL, "targets", "allowed: classes");
    REFUSED(o->batch.target_values = o->target_values, "targets", "allowed: classes");
    smx_sample s;
    assert_int_equal(smx_run_predict_values(r, (float[16]){0}, 16, &s, &e), -1);
    assert_true(smx_run_digest(r) == before);
    smx_run_close(r);

    r = open_run(own_tasks[2]);
    before = smx_run_digest(r);
    REFUSED(o->values[95] = nan, "values", "value 95 is NaN; allowed: finite numbers");
    REFUSED(o->values[0] = -inf, "values", "value 0 is -Infinity");
    REFUSED(o->target_values[47] = inf, "targets", "target 47 is Infinity; allowed: finite numbers");
    REFUSED(o->target_values[0] = 0, "targets",
            "target 23 is one of 4 in sequence 0; allowed: at most 3, as task=select has it");
    REFUSED(o->batch.values = NULL, "inputs", "allowed: real numbers");
    REFUSED(o->batch.tokens = o->tokens, "inputs", "allowed: real numbers");
    REFUSED(o->batch.target_values = NULL, "targets", "allowed: real numbers");
    assert_int_equal(smx_run_predict(r, (int32_t[24]){0}, 24, &s, &e), -1);
    assert_int_equal(smx_run_predict_values(r, (float[48]){[7] = nan}, 24, &s, &e), -1);
    assert_non_null(strstr(e.message, "value 7 is NaN"));
    assert_true(smx_run_digest(r) == before);
    smx_run_close(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(own_batches), cmocka_unit_test(smaller_batches),
                                       cmocka_unit_test(own_batches_refused)};
    return cmocka_run_group_tests_name("user_data", tests, NULL, NULL);
}
