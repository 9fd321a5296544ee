// eval_stream.c: see eval_stream.h.
#include "eval_stream.h"

#include <stdlib.h>

#include <seqmix/smx.h>
#include <seqmix/state.h>

#include "kernels/core/philox.h"
#include "model/base/error.h"
#include "model/run/language/language.h"
#include "tasks/task.h"

enum { ROWS = 256 }; // pushed at a time

typedef struct {
    smx_task_instance task;
    smx_task_sample sample;
    size_t channels, answers;
    float *logits; // [ROWS][answers]
    uint64_t targets, right, whole;
    double loss;
} reading;

static void judge(reading *r, const float *logits, int32_t target, int *all_right) {
    float loss, stats[2];
    int32_t best;
    smx_cross_entropy_fwd(&loss, stats, logits, &target, 1, r->answers);
    smx_argmax(&best, logits, 1, r->answers);
    r->targets++;
    r->loss += (double)loss;
    r->right += best == target;
    *all_right &= best == target;
}

// The sample through a new state.
static int read_sample(reading *r, smx_run *run, smx_error *error) {
    const size_t length = r->task.length;
    smx_state_form form;
    smx_run_state *state = smx_state_open(run, 1, 0, error);
    if (!state) state = smx_state_open(run, 1, length, error);
    if (!state) return -1;
    smx_state_look(state, &form);
    if (!r->logits) r->logits = malloc(ROWS * form.answers * sizeof *r->logits);
    r->answers = form.answers;
    int status = r->logits ? 0 : error_say(error, "out of memory"), all_right = 1;
    for (size_t t = 0, n; !status && t < length; t += n) {
        n = length - t < ROWS ? length - t : ROWS;
        status = smx_state_push(state, form.vocab ? r->sample.tokens + t : NULL,
                                form.vocab ? NULL : r->sample.values + t * r->channels, n, r->logits, error);
        for (size_t i = 0; !status && r->task.per_position && i < n; i++)
            if (r->sample.targets[t + i] >= 0)
                judge(r, r->logits + i * form.answers, r->sample.targets[t + i], &all_right);
    }
    if (!status && !r->task.per_position)
        judge(r, smx_state_answers(state), r->sample.targets[0], &all_right);
    r->whole += !status && all_right;
    smx_state_close(state);
    return status;
}

static int read_all(reading *r, smx_run *run, const config *c, size_t count, smx_error *error) {
    const size_t length = c->common.length;
    if (r->task.task->open(&r->task, c, length, error)) return -1;
    if (!r->task.classes)
        return error_say(error, "--stream judges classes, and this task answers with numbers");
    r->channels = r->task.channels;
    r->sample.tokens = malloc(length * sizeof *r->sample.tokens);
    r->sample.values = malloc((length * r->channels + 1) * sizeof *r->sample.values);
    r->sample.targets = malloc(length * sizeof *r->sample.targets);
    if (!r->sample.tokens || !r->sample.values || !r->sample.targets)
        return error_say(error, "out of memory");
    for (size_t i = 0; i < count; i++) {
        r->task.task->generate(&r->task, c->common.seed, RNG_EVAL, i, &r->sample);
        if (read_sample(r, run, error)) return -1;
    }
    return 0;
}

int eval_stream(smx_run *run, size_t count, const char *changes, smx_evaluation *result, smx_error *error) {
    config *was = config_parse(smx_run_config(run), 0, error), *c = NULL;
    if (was) c = config_change(smx_run_config(run), changes, error);
    reading r = {.task.task = c ? smx_task_of(c) : NULL};
    const int status = !c || config_same_model(was, c, error) ? -1 : read_all(&r, run, c, count, error);
    const double per_target = r.targets ? 1.0 / (double)r.targets : 0.0,
                 per_sequence = count ? 1.0 / (double)count : 0.0;
    if (!status)
        *result = (smx_evaluation){.loss = r.loss * per_target,
                                   .accuracy = (double)r.right * per_target,
                                   .sequence_accuracy = (double)r.whole * per_sequence,
                                   .free_accuracy = (double)r.right * per_target,
                                   .free_sequence_accuracy = (double)r.whole * per_sequence,
                                   .targets = r.targets,
                                   .sequences = count,
                                   .text = r.task.task->bytes};
    if (r.task.release) r.task.release(r.task.data);
    free(r.sample.tokens);
    free(r.sample.values);
    free(r.sample.targets);
    free(r.logits);
    config_free(c);
    config_free(was);
    return status;
}
