// batch_graph.c: samples in, loss out.
#include "batch_graph.h"

#include <stdlib.h>
#include <string.h>

static int open_share(batch_graph *s, enum graph_mode mode, params *p, const config *c, const config *of_task,
                      share of, size_t B, size_t L, smx_error *error) {
    memset(s, 0, sizeof *s);
    const smx_task *task = smx_task_of(c);
    if (task->open(&s->task, of_task, L, error)) return -1;
    s->task.task = task;
    s->B = B;
    s->L = s->task.length;
    if (model_check(c, s->L, error) || model_check_pooling(c, &s->task, error)) goto fail;
    if ((uint64_t)B * s->L > (1 << 28) / sizeof(float)) { // also keeps N * 4 and its like inside 32 bits
        config_fail(error, c, "length", "so that batch * length stays below 67,108,864");
        goto fail;
    }
    const size_t N = B * s->L;
    s->targets_per = s->task.per_position ? s->L : 1;
    s->rows = !s->task.per_position ? B : mode == GRAPH_LOOK ? N : B * s->task.max_targets;
    const size_t n_targets = B * s->targets_per, n_values = N * s->task.channels;
    const size_t rows_in_all = s->rows / B * of.all;
    const uint64_t words = 2 * (uint64_t)N + (uint64_t)N * s->task.channels + 2 * (uint64_t)n_targets +
                           6 * (uint64_t)s->rows + rows_in_all;
    s->memory = words < SIZE_MAX / 4 ? calloc((size_t)words + 1, 4) : NULL;
    s->g = of.ranks ? graph_new_share(p, of, B, s->L) : graph_new(mode, p, B, s->L);
    if (!s->memory || !s->g) {
        config_fail(error, c, "length", "smaller: there is no memory for %llu bytes of samples",
                    (unsigned long long)words * 4);
        goto fail;
    }
    float *at = s->memory;
    s->g->tokens = (int32_t *)at, at += N;
    s->g->rows = (int32_t *)at, at += N;
    s->g->values = at, at += n_values;
    s->targets = (int32_t *)at, at += n_targets;
    s->target_values = at, at += n_targets;
    s->row_targets = (int32_t *)at, at += s->rows;
    s->row_values = at, at += s->rows;
    s->row_loss = at, at += rows_in_all;
    s->row_stats = at, at += 2 * s->rows;
    s->best = (int32_t *)at;
    s->g->rows_n = s->rows;
    s->model = model_build(s->g, c, &s->task, mode == GRAPH_LOOK);
    if (s->g->failed) {
        if (error) *error = s->g->error;
        goto fail;
    }
    return 0;
fail:
    batch_graph_close(s);
    return -1;
}

int batch_graph_open(batch_graph *s, enum graph_mode mode, params *p, const config *c, const config *of_task,
                     size_t B, size_t L, smx_error *error) {
    return open_share(s, mode, p, c, of_task, share_of(B, NULL, 0), B, L, error);
}
int batch_graph_open_share(batch_graph *s, params *p, const config *c, share of, smx_error *error) {
    const size_t next = of.piece + of.pieces,
                 end = next == shard_count(of.all) ? of.all : shard_start(of.all, next);
    return open_share(s, GRAPH_TRAIN, p, c, c, of, end - of.first, c->common.length, error);
}

int batch_graph_plan(batch_graph *s, smx_error *error) {
    return graph_plan(s->g, s->g->mode == GRAPH_TRAIN ? s->model.logits : NULL, error);
}

void batch_graph_close(batch_graph *s) {
    graph_free(s->g);
    free(s->memory);
    if (s->task.release) s->task.release(s->task.data);
    memset(s, 0, sizeof *s);
}

typedef struct {
    batch_graph *s;
    uint64_t seed, first;
    uint32_t stream;
    size_t count;
} filling;

// A place without a sample: no targets.
static void leave_empty(batch_graph *s, size_t b) {
    if (s->task.vocab) memset(s->g->tokens + b * s->L, 0, s->L * sizeof *s->g->tokens);
    const size_t n = s->L * s->task.channels;
    if (n) memset(s->g->values + b * n, 0, n * sizeof *s->g->values);
    for (size_t i = b * s->targets_per; i < (b + 1) * s->targets_per; i++) {
        s->targets[i] = -1;
        s->target_values[i] = __builtin_nanf("");
    }
}

static void fill_one(void *arg, size_t b) {
    const filling *f = arg;
    batch_graph *s = f->s;
    const smx_task_instance *t = &s->task;
    smx_task_sample sample = {t->vocab ? s->g->tokens + b * s->L : NULL,
                              t->channels ? s->g->values + b * s->L * t->channels : NULL,
                              s->targets + b * s->targets_per, s->target_values + b * s->targets_per};
    if (b < f->count)
        t->task->generate(t, f->seed, f->stream, f->first + b, &sample);
    else
        leave_empty(s, b);
}

// Which rows of the model's output are asked for.
static void collect_rows(batch_graph *s) {
    const int classes = s->task.classes > 0;
    for (size_t b = 0; b < s->B; b++) {
        size_t used = 0, per = s->rows / s->B;
        for (size_t i = 0; i < s->targets_per; i++) {
            size_t from = b * s->targets_per + i;
            int asked = classes ? s->targets[from] >= 0 : s->target_values[from] == s->target_values[from];
            if ((!asked && per != s->targets_per) || used == per) continue;
            size_t to = b * per + used++;
            s->g->rows[to] = (int32_t)from;
            s->row_targets[to] = classes ? s->targets[from] : -1;
            s->row_values[to] = s->target_values[from];
        }
        for (; used < per; used++) {
            s->g->rows[b * per + used] = -1;
            s->row_targets[b * per + used] = -1;
            s->row_values[b * per + used] = __builtin_nanf("");
        }
    }
}

void batch_graph_fill(batch_graph *s, uint64_t seed, uint32_t stream, uint64_t first, size_t count) {
    graph_pieces(s->g, s->B, fill_one, &(filling){s, seed, first, stream, count});
    s->g->given = count < s->B ? count : s->B;
    collect_rows(s);
}

void batch_graph_give(batch_graph *s, const smx_batch *batch, size_t sequences) {
    const size_t N = sequences * s->L, n = sequences * s->targets_per;
    if (batch->tokens) memcpy(s->g->tokens, batch->tokens, N * sizeof *batch->tokens);
    if (batch->values) memcpy(s->g->values, batch->values, N * s->task.channels * sizeof *batch->values);
    for (size_t i = 0; i < n; i++) {
        s->targets[i] = batch->targets ? batch->targets[i] : -1;
        s->target_values[i] = batch->target_values ? batch->target_values[i] : __builtin_nanf("");
    }
    for (size_t b = sequences; b < s->B; b++) leave_empty(s, b);
    s->g->given = sequences;
    collect_rows(s);
}

size_t batch_graph_forward(batch_graph *s, float *loss) {
    const size_t per = s->rows / s->B;
    const share *in = &s->g->share;
    float *own = s->row_loss + in->first * per;
    graph_forward(s->g);
    uint64_t n = s->task.classes ? smx_cross_entropy_fwd(own, s->row_stats, s->model.logits->data,
                                                         s->row_targets, s->rows, s->task.classes)
                                 : smx_mse_fwd(own, s->model.logits->data, s->row_values, s->rows);
    graph_share_rows(s->g, s->row_loss, per * sizeof *own);
    graph_share_counts(s->g, &n, 1);
    *loss = n ? smx_sum(s->row_loss, in->all * per) / (float)n : 0.0f;
    return (size_t)n;
}

void batch_graph_backward(batch_graph *s, size_t targets) {
    const float scale = targets ? 1.0f / (float)targets : 0.0f;
    if (s->task.classes)
        smx_cross_entropy_bwd(s->model.logits->grad, s->model.logits->data, s->row_targets, s->row_stats,
                              s->rows, s->task.classes, scale);
    else
        smx_mse_bwd(s->model.logits->grad, s->model.logits->data, s->row_values, s->rows, scale);
    graph_backward(s->g);
}

size_t batch_graph_right(batch_graph *s, size_t *sequences_right) {
    if (!s->task.classes) { // regression has no right answers
        if (sequences_right) *sequences_right = 0;
        return 0;
    }
    smx_argmax(s->best, s->model.logits->data, s->rows, s->task.classes);
    uint64_t right = 0;
    size_t per = s->rows / s->B, sequences = 0;
    for (size_t b = 0; b < s->B; b++) {
        size_t asked = 0, hit = 0;
        for (size_t i = b * per; i < (b + 1) * per; i++) {
            asked += s->row_targets[i] >= 0;
            hit += s->row_targets[i] >= 0 && s->row_targets[i] == s->best[i];
        }
        right += hit;
        sequences += asked > 0 && hit == asked;
    }
    if (sequences_right) *sequences_right = sequences;
    graph_share_counts(s->g, &right, 1);
    return (size_t)right;
}
