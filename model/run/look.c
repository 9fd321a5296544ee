// look.c: looking inside a run: one sample on a batch-1 graph that keeps every tensor, and access to tensors by name.
#include "run_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/ops/ops.h"
#include "kernels/philox.h"

void look_close(smx_run *r) {
    attribution_close(r);
    stage_close(&r->look);
    free(r->maps);
    free(r->seen);
    free(r->names);
    free(r->predicted);
    free(r->confidence);
    r->maps = NULL;
    r->seen = NULL;
    r->names = NULL;
    r->predicted = NULL;
    r->confidence = NULL;
    r->n_seen = 0;
}

static void list(smx_run *r, const char *name, const float *data, uint32_t rank, const uint32_t *shape,
                 int is_weight) {
    smx_tensor *t = &r->seen[r->n_seen];
    char *own = r->names[r->n_seen++];
    snprintf(own, sizeof *r->names, "%s", name);
    *t = (smx_tensor){.name = own, .data = data, .rank = rank, .is_weight = is_weight};
    memcpy(t->shape, shape, rank * sizeof *shape);
}

// The table of everything that has a name: weights, their gradients, and what the last look kept.
static int make_list(smx_run *r, smx_error *error) {
    const graph *g = r->look.g;
    size_t room = 2 * r->weights.count + (g ? 2 * g->n_tensors : 0);
    free(r->seen);
    free(r->names);
    r->n_seen = 0;
    r->seen = calloc(room + 1, sizeof *r->seen);
    r->names = calloc(room + 1, sizeof *r->names);
    if (!r->seen || !r->names) {
        if (error) snprintf(error->message, sizeof error->message, "out of memory");
        return -1;
    }
    for (int grad = 0; grad < 2; grad++)
        for (size_t i = 0; i < r->weights.count; i++) {
            const param *p = r->weights.list[i];
            char name[80];
            snprintf(name, sizeof name, "%s%s", grad ? "grad:" : "", p->name);
            list(r, name, (grad ? r->weights.grad : r->weights.data) + p->offset, p->rank, p->shape, !grad);
        }
    size_t at = 0;
    for (size_t i = 0; g && i < g->n_tensors; i++) {
        const tensor *t = g->tensors[i];
        if (t->weight || strchr(t->name, '#')) continue; // unnamed steps stay inside
        list(r, t->name, t->data, t->rank, t->shape, 0);
        size_t H = op_attention_heads(g, t), L = g->L;
        if (!H) continue;
        char name[80]; // block0.mixer.o -> block0.mixer.map
        snprintf(name, sizeof name, "%s", t->name);
        char *dot = strrchr(name, '.');
        snprintf(dot ? dot + 1 : name, 8, "map");
        list(r, name, r->maps + at, 3, (uint32_t[]){(uint32_t)H, (uint32_t)L, (uint32_t)L}, 0);
        at += H * L * L;
    }
    return 0;
}

static int open_look(smx_run *r, size_t length, smx_error *error) {
    if (r->look.g && r->look_length == length) return 0;
    look_close(r);
    if (stage_open(&r->look, GRAPH_LOOK, &r->weights, r->c, r->c, 1, length, error)) return -1;
    if (stage_plan(&r->look, error)) goto fail;
    r->look_length = length;
    const graph *g = r->look.g;
    uint64_t maps = 0;
    for (size_t i = 0; i < g->n_tensors && maps <= GRAPH_MOST; i++)
        maps += (uint64_t)op_attention_heads(g, g->tensors[i]) * g->L * g->L;
    r->maps = maps <= GRAPH_MOST ? calloc((size_t)maps + 1, sizeof *r->maps) : NULL;
    r->predicted = calloc(r->look.rows + 1, sizeof *r->predicted);
    r->confidence = calloc(r->look.rows + 1, sizeof *r->confidence);
    if (!r->maps || !r->predicted || !r->confidence) {
        if (error)
            snprintf(error->message, sizeof error->message,
                     "out of memory for the attention maps at length %zu", length);
        goto fail;
    }
    return 0;
fail:
    look_close(r);
    return -1;
}

static int replay(smx_run *r, smx_sample *out, smx_error *error) {
    stage *s = &r->look;
    float loss;
    stage_forward(s, &loss);
    size_t at = 0, V = s->task.classes;
    for (size_t i = 0; i < s->g->n_tensors; i++) {
        size_t H = op_attention_heads(s->g, s->g->tensors[i]);
        if (!H) continue;
        op_attention_map(s->g, s->g->tensors[i], r->maps + at);
        at += H * s->L * s->L;
    }
    for (size_t i = 0; !V && i < s->rows; i++)
        r->confidence[i] = s->logits->data[i]; // regression: the answer itself
    if (V) smx_argmax(r->predicted, s->logits->data, s->rows, V);
    // The confidence is the softmax at the answer: exp(-loss) of the answer taken as target.
    if (V) smx_cross_entropy_fwd(s->row_loss, s->row_stats, s->logits->data, r->predicted, s->rows, V);
    for (size_t i = 0; V && i < s->rows; i++) r->confidence[i] = s->row_stats[2 * i + 1];
    *out = (smx_sample){.length = s->L,
                        .classes = V,
                        .channels = s->task.channels,
                        .tokens = s->task.vocab ? s->g->tokens : NULL,
                        .values = s->task.channels ? s->g->values : NULL,
                        .targets = V ? s->targets : NULL,
                        .target_values = V ? NULL : s->target_values,
                        .predicted = r->predicted,
                        .confidence = r->confidence,
                        .target_count = s->targets_per};
    return make_list(r, error);
}

int smx_run_look(smx_run *r, int stream, uint64_t index, size_t length, smx_sample *sample,
                 smx_error *error) {
    const run_mode before = run_enter(r);
    int status = open_look(r, length ? length : (size_t)config_int(r->c, "length"), error);
    if (!status) {
        stage_fill(&r->look, (uint64_t)config_int(r->c, "seed"),
                   stream == SMX_STREAM_TRAIN ? RNG_TRAIN : RNG_EVAL, index, 1);
        status = replay(r, sample, error);
    }
    run_leave(before);
    return status;
}

// Of the three inputs one is there.
static int predict(smx_run *r, const int32_t *tokens, const float *values, const uint8_t *pixels,
                   size_t length, smx_sample *sample, smx_error *error) {
    const run_mode before = run_enter(r);
    stage *s = &r->look;
    int status = open_look(r, length, error);
    if (!status && !pixels) status = own_check(s, tokens, values, length, error);
    if (!status && pixels && !s->task.task->image)
        status = config_fail(error, r->c, "task", "one that reads images: smnist or pmnist");
    if (!status) {
        stage_fill(s, 0, RNG_EVAL, 0, 0); // no targets
        if (tokens) memcpy(s->g->tokens, tokens, length * sizeof *tokens);
        if (values) memcpy(s->g->values, values, length * s->task.channels * sizeof *values);
        if (pixels) s->task.task->image(&s->task, pixels, s->g->values);
        status = replay(r, sample, error);
    }
    run_leave(before);
    return status;
}

int smx_run_predict(smx_run *r, const int32_t *tokens, size_t length, smx_sample *sample, smx_error *error) {
    return predict(r, tokens, NULL, NULL, length, sample, error);
}
int smx_run_predict_values(smx_run *r, const float *values, size_t length, smx_sample *sample,
                           smx_error *error) {
    return predict(r, NULL, values, NULL, length, sample, error);
}
int smx_run_predict_image(smx_run *r, const uint8_t *pixels, smx_sample *sample, smx_error *error) {
    return predict(r, NULL, NULL, pixels, (size_t)config_int(r->c, "length"), sample, error);
}

size_t smx_run_tensor_count(const smx_run *r) {
    if (!r->seen) make_list((smx_run *)r, NULL); // the list is a cache of what the run holds
    return r->n_seen;
}

int smx_run_tensor_at(const smx_run *r, size_t i, smx_tensor *tensor) {
    if (i >= smx_run_tensor_count(r)) return -1;
    *tensor = r->seen[i];
    return 0;
}

int smx_run_tensor(const smx_run *r, const char *name, smx_tensor *tensor, smx_error *error) {
    for (size_t i = 0; i < smx_run_tensor_count(r); i++)
        if (!strcmp(r->seen[i].name, name)) {
            *tensor = r->seen[i];
            return 0;
        }
    if (error) {
        memset(error, 0, sizeof *error);
        snprintf(error->value, sizeof error->value, "%s", name);
        snprintf(error->allowed, sizeof error->allowed, "a name that smx_run_tensor_at lists");
        snprintf(
            error->message, sizeof error->message,
            "there is no tensor %.100s here; weights can be read at once, what the model computes after a look",
            name);
    }
    return -1;
}
