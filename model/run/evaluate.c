// evaluate.c: how good a run is on sequences it was not trained on, also at other lengths, and on its own answers.
#include "run_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/settings/keys.h"
#include "kernels/philox.h"

enum { EVAL_BATCH = 32, EVAL_ROWS = 2048, MOST_CONFUSED = 256 };

void evaluation_close(smx_run *r) {
    stage_close(&r->eval);
    config_free(r->eval_config);
    free(r->eval_text);
    free(r->confusion);
    r->eval_config = NULL;
    r->eval_text = NULL;
    r->confusion = NULL;
    r->confusion_classes = 0;
}

// Only what the task reads may differ: the model is what it was trained to be.
static int same_keys(const config_key *k, const config *was, const config *is, smx_error *error) {
    for (; k && k->name; k++)
        if (strcmp(k->group, "task") && !config_is(was, k->name, config_word(is, k->name)))
            return config_fail(error, is, k->name,
                               "%s as in training: an evaluation changes keys of the task only",
                               config_word(was, k->name));
    return 0;
}
static int same_model(const config *was, const config *is, smx_error *error) {
    if (same_keys(common_keys, was, is, error) ||
        same_keys(mixer_find(config_word(was, "mixer"))->keys, was, is, error))
        return -1;
    if (!config_is(was, "task", config_word(is, "task")))
        return config_fail(error, is, "task", "%s as in training", config_word(was, "task"));
    return 0;
}

// Sequences at a time. Long ones come in smaller batches: no more rows than a training step has (or EVAL_ROWS), so that an
// evaluation takes no more memory than training. No figure depends on it.
static size_t batch_of(const smx_run *r, size_t L) {
    const size_t trained = r->train.B * r->train.L, fit = (trained > EVAL_ROWS ? trained : EVAL_ROWS) / L;
    return fit < 1 ? 1 : fit < EVAL_BATCH ? fit : EVAL_BATCH;
}

// The evaluation stage for these changes; the one that is open if it fits.
static int prepare(smx_run *r, const char *changes, smx_error *error) {
    if (r->eval.g && !strcmp(r->eval_text, changes)) return 0;
    evaluation_close(r);
    size_t n = strlen(r->text) + strlen(changes) + 2;
    char *text = malloc(n);
    r->eval_text = malloc(strlen(changes) + 1);
    if (!text || !r->eval_text) {
        free(text);
        return config_fail(error, r->c, "length", "smaller: out of memory");
    }
    strcpy(r->eval_text, changes);
    snprintf(text, n, "%s&%s", r->text, changes);
    r->eval_config = config_parse(text, 0, error);
    free(text);
    if (!r->eval_config || same_model(r->c, r->eval_config, error)) return -1;
    size_t L = (size_t)config_int(r->eval_config, "length");
    if (stage_open(&r->eval, GRAPH_EVAL, &r->weights, r->c, r->eval_config, batch_of(r, L), L, error))
        return -1;
    if (stage_plan(&r->eval, error)) {
        stage_close(&r->eval);
        return -1;
    }
    const size_t V = r->eval.task.classes;
    if (V && V <= MOST_CONFUSED) {
        r->confusion = calloc(V * V, sizeof *r->confusion);
        if (!r->confusion) return config_fail(error, r->c, "length", "smaller: out of memory");
        r->confusion_classes = V;
    }
    return 0;
}

// One target after the other: the answer to each becomes the next row's input, as if nobody knew better. Afterwards the
// answers are in s->best.
static void run_free(stage *s) {
    const size_t per = s->rows / s->B;
    float loss;
    for (size_t k = 0; k < per; k++) {
        stage_forward(s, &loss);
        stage_right(s, NULL);
        for (size_t b = 0; b < s->B && k + 1 < per; b++) {
            const size_t i = b * per + k;
            if (s->g->rows[i] >= 0 && s->g->rows[i + 1] == s->g->rows[i] + 1)
                s->g->tokens[s->g->rows[i + 1]] = s->best[i];
        }
    }
}

static void count_confusion(smx_run *r) {
    const stage *s = &r->eval;
    for (size_t i = 0; r->confusion && i < s->rows; i++)
        if (s->row_targets[i] >= 0)
            r->confusion[(size_t)s->row_targets[i] * r->confusion_classes + (size_t)s->best[i]]++;
}

void tally_batch(tally *t, stage *s) {
    size_t good;
    float mean;
    t->targets += stage_forward(s, &mean);
    t->regression = !s->task.classes;
    t->text = s->task.task->bytes;
    for (size_t i = 0; i < s->rows; i++) {
        const double value = (double)s->row_values[i];
        t->loss += (double)s->row_loss[i];
        if (s->task.classes || value != value) continue;
        t->sum += value;
        t->squares += value * value;
    }
    t->right += stage_right(s, &good);
    t->sequences += good;
}

void tally_result(const tally *t, uint64_t sequences, smx_evaluation *result) {
    const double per_target = t->targets ? 1.0 / (double)t->targets : 0.0,
                 per_sequence = sequences ? 1.0 / (double)sequences : 0.0;
    const double spread = t->squares - t->sum * t->sum * per_target, // of the targets about their mean
        accuracy = (double)t->right * per_target, sequence_accuracy = (double)t->sequences * per_sequence;
    *result = (smx_evaluation){.loss = t->loss * per_target,
                               .accuracy = accuracy,
                               .sequence_accuracy = sequence_accuracy,
                               .r2 = spread > 0.0 ? 1.0 - t->loss / spread : 0.0,
                               .free_accuracy = accuracy,
                               .free_sequence_accuracy = sequence_accuracy,
                               .targets = t->targets,
                               .sequences = sequences,
                               .regression = t->regression,
                               .text = t->text};
}

static int evaluate(smx_run *r, size_t count, const char *changes, smx_evaluation *result, smx_error *error) {
    if (prepare(r, changes, error)) {
        evaluation_close(r);
        return -1;
    }
    stage *s = &r->eval;
    run_lend_pool(r, s);
    if (r->confusion)
        memset(r->confusion, 0, r->confusion_classes * r->confusion_classes * sizeof *r->confusion);
    tally all = {0};
    uint64_t free_right = 0, free_sequences = 0;
    for (size_t at = 0; at < count; at += s->B) {
        size_t n = count - at < s->B ? count - at : s->B, good;
        stage_fill(s, run_seed(r), RNG_EVAL, at, n);
        tally_batch(&all, s);
        count_confusion(r);
        if (!s->task.emits) continue;
        run_free(s);
        free_right += stage_right(s, &good);
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
    const run_mode before = run_enter(r);
    int status = evaluate(r, count, changes ? changes : "", result, error);
    run_leave(before);
    return status;
}

int smx_run_evaluate(smx_run *r, size_t count, size_t length, smx_evaluation *result, smx_error *error) {
    char changes[32] = "";
    if (length) snprintf(changes, sizeof changes, "length=%zu", length);
    return smx_run_evaluate_as(r, count, changes, result, error);
}

const uint64_t *smx_run_confusion(const smx_run *r, size_t *classes) {
    *classes = r->confusion_classes;
    return r->confusion;
}
