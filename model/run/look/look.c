// look.c: looking inside a run: one sample on a batch-1 graph that keeps every tensor,
// and access to tensors by name.
#include "model/run/run_private.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/core/philox.h"
#include "model/base/error.h"
#include "model/run/user_data.h"

void look_close(look *l) {
    batch_graph_close(&l->graph);
    free(l->maps);
    free(l->predicted);
    free(l->confidence);
    free(l->list);
    free(l->names);
    memset(l, 0, sizeof *l);
}

static void list(look *l, const char *name, const float *data, uint32_t rank, const uint32_t *shape,
                 int is_weight) {
    smx_tensor *t = &l->list[l->listed];
    char *own = l->names[l->listed++];
    snprintf(own, sizeof *l->names, "%s", name);
    *t = (smx_tensor){.name = own, .data = data, .rank = rank, .is_weight = is_weight};
    memcpy(t->shape, shape, rank * sizeof *shape);
}

static const char *const MAP_NAMES[MAP_STAGES] = {[MAP_WEIGHTS] = "map",
                                                  [MAP_PLAIN] = "map_plain",
                                                  [MAP_DECAYED] = "map_decayed",
                                                  [MAP_ACTING] = "map_acting"};
// Maps of an attention's output that differ.
static int stages(const graph *g, const tensor *t) { return graph_map_staged(g, t) ? MAP_STAGES : 1; }

// The table of everything that has a name: weights, their gradients, and what the last look kept.
static int make_list(smx_run *r, smx_error *error) {
    look *l = &r->look;
    const graph *g = l->graph.g;
    size_t room = 2 * r->weights.count + (g ? (1 + MAP_STAGES) * g->n_tensors : 0);
    free(l->list);
    free(l->names);
    l->listed = 0;
    l->list = calloc(room + 1, sizeof *l->list);
    l->names = calloc(room + 1, sizeof *l->names);
    if (!l->list || !l->names) {
        free(l->list);
        l->list = NULL; // asked for again by the next call
        return error_say(error, "out of memory");
    }
    for (int grad = 0; grad < 2; grad++)
        for (size_t i = 0; i < r->weights.count; i++) {
            const param *p = r->weights.list[i];
            char name[80];
            snprintf(name, sizeof name, "%s%s", grad ? "grad:" : "", p->name);
            list(l, name, (grad ? r->weights.grad : r->weights.data) + p->offset, p->rank, p->shape, !grad);
        }
    size_t at = 0;
    for (size_t i = 0; g && i < g->n_tensors; i++) {
        const tensor *t = g->tensors[i];
        if (t->weight || strchr(t->name, '#')) continue; // unnamed steps stay inside
        list(l, t->name, t->data, t->rank, t->shape, 0);
        size_t H = graph_map_heads(g, t), L = g->L;
        if (!H) continue;
        const char *dot = strrchr(t->name, '.'); // block0.mixer.o -> block0.mixer.map
        const int prefix = dot ? (int)(dot + 1 - t->name) : 0;
        for (int stage = 0; stage < stages(g, t); stage++, at += H * L * L) {
            char name[80];
            snprintf(name, sizeof name, "%.*s%s", prefix, t->name, MAP_NAMES[stage]);
            list(l, name, l->maps + at, 3, (uint32_t[]){(uint32_t)H, (uint32_t)L, (uint32_t)L}, 0);
        }
    }
    return 0;
}

static int open_look(smx_run *r, size_t length, smx_error *error) {
    look *l = &r->look;
    if (l->graph.g && l->length == length) return 0;
    look_close(l);
    if (batch_graph_open(&l->graph, GRAPH_LOOK, &r->weights, r->c, r->c, 1, length, error)) return -1;
    if (batch_graph_plan(&l->graph, error)) goto fail;
    l->length = length;
    const graph *g = l->graph.g;
    uint64_t maps = 0;
    for (size_t i = 0; i < g->n_tensors && maps <= GRAPH_MOST; i++) {
        const uint64_t H = graph_map_heads(g, g->tensors[i]);
        if (H) maps += H * g->L * g->L * (uint64_t)stages(g, g->tensors[i]);
    }
    l->maps = maps <= GRAPH_MOST ? calloc((size_t)maps + 1, sizeof *l->maps) : NULL;
    l->predicted = calloc(l->graph.rows + 1, sizeof *l->predicted);
    l->confidence = calloc(l->graph.rows + 1, sizeof *l->confidence);
    if (!l->maps || !l->predicted || !l->confidence) {
        error_say(error, "out of memory for the attention maps at length %zu", length);
        goto fail;
    }
    return 0;
fail:
    look_close(l);
    return -1;
}

static int replay(smx_run *r, smx_sample *out, smx_error *error) {
    look *l = &r->look;
    batch_graph *s = &l->graph;
    float loss;
    batch_graph_forward(s, &loss);
    size_t at = 0, V = s->task.classes;
    for (size_t i = 0; i < s->g->n_tensors; i++) {
        const tensor *t = s->g->tensors[i];
        const size_t H = graph_map_heads(s->g, t);
        for (int stage = 0; H && stage < stages(s->g, t); stage++, at += H * s->L * s->L)
            graph_map(s->g, t, (enum map_stage)stage, l->maps + at);
    }
    for (size_t i = 0; !V && i < s->rows; i++)
        l->confidence[i] = s->model.logits->data[i]; // regression: the answer itself
    if (V) smx_argmax(l->predicted, s->model.logits->data, s->rows, V);
    // The confidence is the softmax at the answer: exp(-loss) of the answer taken as target.
    if (V) smx_cross_entropy_fwd(s->row_loss, s->row_stats, s->model.logits->data, l->predicted, s->rows, V);
    for (size_t i = 0; V && i < s->rows; i++) l->confidence[i] = s->row_stats[2 * i + 1];
    *out = (smx_sample){.length = s->L,
                        .classes = V,
                        .channels = s->task.channels,
                        .tokens = s->task.vocab ? s->g->tokens : NULL,
                        .values = s->task.channels ? s->g->values : NULL,
                        .targets = V ? s->targets : NULL,
                        .target_values = V ? NULL : s->target_values,
                        .predicted = l->predicted,
                        .confidence = l->confidence,
                        .target_count = s->targets_per};
    return make_list(r, error);
}

// Sample `index` of a stream, or `own` inputs: of the three one is there.
static int look_at(smx_run *r, int own, const int32_t *tokens, const float *values, const uint8_t *pixels,
                   uint32_t stream, uint64_t index, size_t length, smx_sample *sample, smx_error *error) {
    const run_mode before = run_enter_overridden(r);
    batch_graph *s = &r->look.graph;
    int status = open_look(r, length, error);
    if (!status && own && !pixels) status = user_inputs_check(s, tokens, values, length, error);
    if (!status && pixels && !s->task.task->image)
        status = config_fail(error, r->c, "task", "one that reads images: smnist or pmnist");
    if (!status) {
        batch_graph_fill(s, run_seed(r), stream, index, !own); // own: no targets
        if (tokens) memcpy(s->g->tokens, tokens, length * sizeof *tokens);
        if (values) memcpy(s->g->values, values, length * s->task.channels * sizeof *values);
        if (pixels) s->task.task->image(&s->task, pixels, s->g->values);
        status = replay(r, sample, error);
    }
    run_leave_overridden(r, before);
    return status;
}

int smx_run_look(smx_run *r, int stream, uint64_t index, size_t length, smx_sample *sample,
                 smx_error *error) {
    return look_at(r, 0, NULL, NULL, NULL, stream == SMX_STREAM_TRAIN ? RNG_TRAIN : RNG_EVAL, index,
                   length ? length : r->c->common.length, sample, error);
}
int smx_run_predict(smx_run *r, const int32_t *tokens, size_t length, smx_sample *sample, smx_error *error) {
    return look_at(r, 1, tokens, NULL, NULL, RNG_EVAL, 0, length, sample, error);
}
int smx_run_predict_values(smx_run *r, const float *values, size_t length, smx_sample *sample,
                           smx_error *error) {
    return look_at(r, 1, NULL, values, NULL, RNG_EVAL, 0, length, sample, error);
}
int smx_run_predict_image(smx_run *r, const uint8_t *pixels, smx_sample *sample, smx_error *error) {
    return look_at(r, 1, NULL, NULL, pixels, RNG_EVAL, 0, r->c->common.length, sample, error);
}

size_t smx_run_tensor_count(const smx_run *r) {
    if (!r->look.list) make_list((smx_run *)r, NULL); // the list is a cache of what the run holds
    return r->look.listed;
}

int smx_run_tensor_at(const smx_run *r, size_t i, smx_tensor *tensor) {
    if (i >= smx_run_tensor_count(r)) return -1;
    *tensor = r->look.list[i];
    return 0;
}

int smx_run_tensor(const smx_run *r, const char *name, smx_tensor *tensor, smx_error *error) {
    if (!r->look.list && make_list((smx_run *)r, error)) return -1;
    for (size_t i = 0; i < r->look.listed; i++)
        if (!strcmp(r->look.list[i].name, name)) {
            *tensor = r->look.list[i];
            return 0;
        }
    return error_about(
        error, "", name, "a name that smx_run_tensor_at lists",
        "there is no tensor %.100s here; weights can be read at once, what the model computes after a look",
        name);
}

// Where number `at` of a weight is, if `count` finite numbers have room from there on; NULL otherwise. whole:
// they have to be all of the weight's.
static float *place(smx_run *r, const char *name, size_t at, const float *data, size_t count, int whole,
                    smx_error *error) {
    smx_tensor t;
    if (smx_run_tensor(r, name, &t, error)) return NULL;
    size_t size = (size_t)t.is_weight, finite = 0;
    for (uint32_t i = 0; i < t.rank; i++) size *= t.shape[i];
    size = at < size ? size - at : 0;
    while (finite < count && isfinite(data[finite])) finite++;
    if (finite == count && (whole ? count == size : count <= size)) return (float *)t.data + at;
    error_about(error, name, "", "",
                "%.100s takes %zu finite numbers from number %zu on; it was given %zu of %zu", name, size, at,
                finite, count);
    return NULL;
}

int smx_run_set_weight(smx_run *r, const char *name, const float *data, size_t count, smx_error *error) {
    float *to = place(r, name, 0, data, count, 1, error);
    if (!to) return -1;
    memcpy(to, data, count * sizeof *data);
    return 0;
}

int smx_run_override(smx_run *r, const char *name, size_t at, const float *data, size_t count,
                     smx_error *error) {
    if (!name) {
        r->n_overrides = 0;
        return 0;
    }
    float *to = place(r, name, at, data, count, 0, error);
    if (!to) return -1;
    override *list = realloc(r->overrides, (r->n_overrides + count + 1) * sizeof *list);
    if (!list) return error_say(error, "out of memory");
    r->overrides = list;
    for (size_t i = 0; i < count; i++) list[r->n_overrides++] = (override){to + i, data[i]};
    return 0;
}
