// evaluate.c: how good a run is on sequences it was not trained on, also at other lengths,
// and on its own answers.
#include "run_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/core/philox.h"
#include "model/run/language/language.h"
#include "model/base/error.h"
#include "tally.h"
#include "user_data.h"

enum { EVAL_BATCH = 32, EVAL_ROWS = 2048, MOST_CONFUSED = 256 };

void evaluation_close(evaluation *e) {
    batch_graph_close(&e->graph);
    config_free(e->c);
    free(e->changes);
    free(e->confusion);
    memset(e, 0, sizeof *e);
}

// Sequences at a time. Long ones come in smaller batches: no more rows than a training step has (or
// EVAL_ROWS), so that an evaluation takes no more memory than training. No figure depends on it.
static size_t batch_of(const smx_run *r, size_t L) {
    const size_t trained = r->train.B * r->train.L, fit = (trained > EVAL_ROWS ? trained : EVAL_ROWS) / L;
    return fit < 1 ? 1 : fit < EVAL_BATCH ? fit : EVAL_BATCH;
}

// The graph for these changes; the one that is open if it fits.
static int prepare(smx_run *r, const char *changes, smx_error *error) {
    evaluation *e = &r->evaluation;
    if (e->graph.g && !strcmp(e->changes, changes)) return 0;
    evaluation_close(e);
    e->changes = malloc(strlen(changes) + 1);
    if (!e->changes) return config_fail(error, r->c, "length", "smaller: out of memory");
    strcpy(e->changes, changes);
    e->c = config_change(r->text, changes, error);
    if (!e->c || config_same_model(r->c, e->c, error)) return -1;
    const size_t L = e->c->common.length;
    if (batch_graph_open(&e->graph, GRAPH_EVAL, &r->weights, r->c, e->c, batch_of(r, L), L, error) ||
        batch_graph_plan(&e->graph, error))
        return -1;
    return 0;
}

// All zeros, for answers of this many classes.
static int open_confusion(evaluation *e, size_t V, smx_error *error) {
    if (!V || V > MOST_CONFUSED) return 0;
    if (e->classes != V) {
        free(e->confusion);
        e->classes = 0;
        e->confusion = malloc(V * V * sizeof *e->confusion);
        if (!e->confusion) return error_say(error, "out of memory");
        e->classes = V;
    }
    memset(e->confusion, 0, V * V * sizeof *e->confusion);
    return 0;
}

// One target after the other: the answer to each becomes the next row's input, as if nobody knew better.
// Afterwards the answers are in s->best.
static void run_free(batch_graph *s) {
    const size_t per = s->rows / s->B;
    float loss;
    for (size_t k = 0; k < per; k++) {
        batch_graph_forward(s, &loss);
        batch_graph_right(s, NULL);
        for (size_t b = 0; b < s->B && k + 1 < per; b++) {
            const size_t i = b * per + k;
            if (s->g->rows[i] >= 0 && s->g->rows[i + 1] == s->g->rows[i] + 1)
                s->g->tokens[s->g->rows[i + 1]] = s->best[i];
        }
    }
}

static void count_confusion(evaluation *e, const batch_graph *s) {
    for (size_t i = 0; e->confusion && i < s->rows; i++)
        if (s->row_targets[i] >= 0)
            e->confusion[(size_t)s->row_targets[i] * e->classes + (size_t)s->best[i]]++;
}

static int evaluate(smx_run *r, uint64_t first, size_t count, const char *changes, smx_evaluation *result,
                    smx_error *error) {
    evaluation *e = &r->evaluation;
    if (own_samples_check(&r->train, r->c, error)) return -1;
    if (prepare(r, changes, error) || open_confusion(e, e->graph.task.classes, error)) {
        evaluation_close(e);
        return -1;
    }
    batch_graph *s = &e->graph;
    run_lend_pool(r, s);
    tally all = {0};
    uint64_t free_right = 0, free_sequences = 0;
    for (size_t at = 0; at < count; at += s->B) {
        if (run_stopped(r, error)) {
            evaluation_close(e); // its confusion is half counted
            return -1;
        }
        size_t n = count - at < s->B ? count - at : s->B, good;
        batch_graph_fill(s, run_seed(r), RNG_EVAL, first + at, n);
        tally_batch(&all, s);
        count_confusion(e, s);
        if (!s->task.emits) continue;
        run_free(s);
        free_right += batch_graph_right(s, &good);
        free_sequences += good;
    }
    tally_result(&all, count, result);
    if (s->task.emits) {
        result->free_running = 1;
        result->free_accuracy = all.targets ? (double)free_right * (1.0 / (double)all.targets) : 0.0;
        result->free_sequence_accuracy = count ? (double)free_sequences * (1.0 / (double)count) : 0.0;
    }
    return 0;
}

int smx_run_evaluate_as(smx_run *r, size_t count, const char *changes, smx_evaluation *result,
                        smx_error *error) {
    const run_mode before = run_enter_overridden(r);
    int status = evaluate(r, 0, count, changes ? changes : "", result, error);
    run_leave_overridden(r, before);
    return status;
}

int run_evaluate_from(smx_run *r, uint64_t first, size_t count, smx_evaluation *result, smx_error *error) {
    const run_mode before = run_enter(r);
    int status = evaluate(r, first, count, "", result, error);
    run_leave(before);
    return status;
}

int smx_run_evaluate(smx_run *r, size_t count, size_t length, smx_evaluation *result, smx_error *error) {
    char changes[32] = "";
    if (length) snprintf(changes, sizeof changes, "length=%zu", length);
    return smx_run_evaluate_as(r, count, changes, result, error);
}

int smx_run_evaluate_on(smx_run *r, const smx_batch *batch, smx_evaluation *result, smx_error *error) {
    const run_mode before = run_enter_overridden(r);
    run_lend_pool(r, &r->train);
    tally all = {0};
    int status = user_batch_check(&r->train, batch, error);
    if (!status) status = open_confusion(&r->evaluation, r->train.task.classes, error);
    if (!status) {
        const size_t sequences = user_batch_count(&r->train, batch);
        batch_graph_give(&r->train, batch, sequences);
        tally_batch(&all, &r->train);
        count_confusion(&r->evaluation, &r->train);
        tally_result(&all, sequences, result);
    }
    run_leave_overridden(r, before);
    return status;
}

const uint64_t *smx_run_confusion(const smx_run *r, size_t *classes) {
    *classes = r->evaluation.classes;
    return r->evaluation.confusion;
}
