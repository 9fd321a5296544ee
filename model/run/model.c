// model.c: embedding, blocks, head (docs/MECHANISMS.md#model).
//   x = embedding (+ positions);  N times: x += mixer(norm(x)), x += mlp(norm(x));  logits = norm(x) W + b
#include "model.h"

#include <string.h>

#include "model/mixers/weights.h"
#include "model/ops/ops.h"

int model_check_positions(const config *c, size_t length, smx_error *error) {
    if (c->common.position != POSITION_LEARNED || length <= c->common.length) return 0;
    return config_fail(error, c, "position",
                       "none, sinusoidal, rope or alibi at length %zu: learned positions end at length=%zu",
                       length, c->common.length);
}

int model_check(const config *c, size_t length, smx_error *error) {
    if (model_check_positions(c, length, error)) return -1;
    for (size_t i = 0; i < (c->blocks ? c->n_blocks : 1); i++) {
        config view;
        const config *own = config_of_block(c, i, &view);
        const mixer *m = mixer_of(own);
        if (m->check && m->check(own, length, error)) return -1;
    }
    return 0;
}

int model_check_pooling(const config *c, const smx_task_instance *task, smx_error *error) {
    if (c->common.pooling == POOLING_MEAN) return 0;
    if (task->per_position)
        return config_fail(error, c, "pooling", "mean: task=%s answers row by row", task->task->name);
    if (c->common.pooling == POOLING_FIRST && !mixer_lookahead(c, task->length))
        return config_fail(
            error, c, "pooling",
            "mean, max or last: no mixer sees ahead, so that the first row has read itself only");
    return 0;
}

static tensor *norm(graph *g, const config *c, tensor *x, const char *name) {
    size_t D = x->shape[x->rank - 1];
    if (c->common.norm == NORM_NONE) return x;
    graph_push(g, "%s", name);
    tensor *gain = weight_vector(g, "gain", D, 1.0), *y;
    if (c->common.norm == NORM_RMS)
        y = op_rmsnorm(g, x, gain, 1);
    else if (c->common.norm == NORM_LAYER)
        y = op_layernorm(g, x, gain, weight_vector(g, "bias", D, 0.0));
    else {
        tensor *bias = weight_vector(g, "bias", D, 0.0), *mean = graph_running(g, "mean", D, 0.0);
        y = op_batchnorm(g, x, gain, bias, mean, graph_running(g, "variance", D, 1.0));
    }
    graph_pop(g);
    return y;
}

// MLP: D -> m D -> D
static tensor *mlp(graph *g, const config *c, tensor *x) {
    const size_t D = c->common.width, hidden = D * c->common.mlp;
    tensor *h = op_linear(g, x, weight_matrix(g, "w_1", D, hidden, start_matrix(c, D, hidden)),
                          weight_vector(g, "b_1", hidden, 0));
    h = c->common.activation == ACTIVATION_GELU ? op_gelu(g, h) : op_silu(g, h);
    return op_linear(g, h, weight_matrix(g, "w_2", hidden, D, start_output(c, hidden, D)),
                     weight_vector(g, "b_2", D, 0));
}

// Dropout where Vaswani et al. (2017, Sec. 5.4) have it: embeddings with their positions, and what each half
// of a block adds. (Mixers that bring their own residual: only the other two.)
static tensor *dropped(graph *g, const config *c, tensor *x) {
    return c->common.dropout > 0 && g->mode == GRAPH_TRAIN ? op_dropout(g, x, c->common.dropout) : x;
}

tensor *model_block(graph *g, const config *c, tensor *x) {
    const mixer *m = mixer_of(c);
    tensor *normed = norm(g, c, x, "norm_1");
    graph_push(g, "mixer");
    tensor *y = m->build(g, c, normed);
    graph_pop(g);
    x = m->has_residual && m->has_residual(c) ? y : op_add(g, x, dropped(g, c, y));
    if (c->common.mlp) {
        normed = norm(g, c, x, "norm_2");
        graph_push(g, "mlp");
        y = mlp(g, c, normed);
        graph_pop(g);
        x = op_add(g, x, dropped(g, c, y));
    }
    return graph_name(g, x, "out");
}

static tensor *pooled(graph *g, const config *c, tensor *x) {
    if (c->common.pooling == POOLING_MEAN) return op_meanpool(g, x);
    return op_pool_rows(g, x,
                        c->common.pooling == POOLING_MAX    ? ROWS_LARGEST
                        : c->common.pooling == POOLING_LAST ? ROWS_LAST
                                                            : ROWS_FIRST);
}

model model_build(graph *g, const config *c, const smx_task_instance *task, int all_rows) {
    const size_t D = c->common.width;
    model m = {0};
    tensor *x;
    if (task->vocab) {
        init start = {INIT_NORMAL, c->common.embed_std};
        x = op_embedding(
            g, graph_param(g, "embedding", start, 1, 2, (uint32_t[]){(uint32_t)task->vocab, (uint32_t)D}));
    } else {
        m.values = op_values(g, task->channels);
        x = op_linear(g, m.values,
                      weight_matrix(g, "input_w", task->channels, D, start_matrix(c, task->channels, D)),
                      weight_vector(g, "input_bias", D, 0));
    }
    if (c->common.position == POSITION_LEARNED) {
        init start = {INIT_NORMAL, c->common.position_std};
        uint32_t trained = (uint32_t)c->common.length;
        x = op_bias(g, x, graph_param(g, "position", start, 1, 2, (uint32_t[]){trained, (uint32_t)D}));
    } else if (c->common.position == POSITION_SINUSOIDAL) {
        x = op_sinusoids(g, x);
    }
    x = dropped(g, c, graph_name(g, x, "input"));
    for (size_t i = 0; i < c->common.blocks; i++) {
        const size_t first = g->n_nodes;
        graph_push(g, "block%d", (int)i);
        config view;
        x = model_block(g, config_of_block(c, i, &view), x);
        graph_pop(g);
        if (c->common.recompute && i + 1 < c->common.blocks) graph_recompute(g, first);
    }
    // Where batches have statistics, all rows count, not only those that are asked for.
    const int gather = task->per_position && !all_rows, late = c->common.norm == NORM_BATCH;
    if (gather && !late) x = op_gather(g, x);
    x = m.rows = norm(g, c, x, "norm");
    if (gather && late) x = m.rows = op_gather(g, x);
    if (!task->per_position) x = m.pooled = pooled(g, c, x);
    size_t classes = task->classes ? task->classes : 1;
    m.logits = op_linear(g, x, weight_matrix(g, "head", D, classes, start_matrix(c, D, classes)),
                         weight_vector(g, "head_bias", classes, 0));
    graph_name(g, m.logits, "logits");
    return m;
}
