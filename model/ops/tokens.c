// tokens.c: what enters and leaves a model: tokens, real values, tables; chosen rows, the mean over rows.
#include "pieces.h"
#include "ops.h"

#include <string.h>

// ---- Tokens of the graph ----------------------------------------------------------------------------------
static uint32_t embedding_shape(const graph *g, const node *n, uint32_t *shape) {
    shape[0] = (uint32_t)g->B;
    shape[1] = (uint32_t)g->span;
    shape[2] = n->in[0]->shape[1];
    return 3;
}
static void embedding_fwd(graph *g, node *n) {
    const uint32_t *table = n->in[0]->shape;
    smx_embedding_fwd(n->out->data, n->in[0]->data, g->tokens, rows_of(n->out), table[1], table[0]);
}
static void embedding_bwd(graph *g, node *n) {
    const uint32_t *table = n->in[0]->shape;
    smx_embedding_bwd(n->in_grad[0], n->out->grad, g->tokens, rows_of(n->out), table[1], table[0]);
}
static void embedding_push(graph *g, node *n, float *state, size_t at, size_t rows) {
    (void)state, (void)at;
    const uint32_t *table = n->in[0]->shape;
    smx_embedding_fwd(n->out->data, n->in[0]->data, g->tokens, g->B * rows, table[1], table[0]);
}
static const op embedding = {
    .name = "embedding",
    .shape = embedding_shape,
    .forward = embedding_fwd,
    .backward = embedding_bwd,
    .push = embedding_push,
    .enters = 1,
};
tensor *op_embedding(graph *g, tensor *table) { return graph_node(g, &embedding, 1, &table, NULL); }

// ---- Real values of the graph -----------------------------------------------------------------------------
typedef struct {
    size_t channels;
} values_attributes;
static uint32_t values_shape(const graph *g, const node *n, uint32_t *shape) {
    shape[0] = (uint32_t)g->B;
    shape[1] = (uint32_t)g->span;
    shape[2] = (uint32_t)((const values_attributes *)n->attributes)->channels;
    return 3;
}
static void values_fwd(graph *g, node *n) { memcpy(n->out->data, g->values, n->out->n * sizeof(float)); }
static void values_push(graph *g, node *n, float *state, size_t at, size_t rows) {
    (void)state, (void)at;
    memcpy(n->out->data, g->values, g->B * rows * last_dim(n->out) * sizeof(float));
}
static const op values = {
    .name = "values",
    .attributes = sizeof(values_attributes),
    .shape = values_shape,
    .forward = values_fwd,
    .push = values_push,
    .enters = 1,
};
tensor *op_values(graph *g, size_t channels) {
    return graph_node(g, &values, 0, NULL, &(values_attributes){channels});
}

// ---- A table that does not learn --------------------------------------------------------------------------
typedef struct {
    uint32_t rank, shape[4];
    void (*fill)(float *data, const uint32_t *shape); // or
    void (*fill_by)(float *data, const uint32_t *shape, double unit);
    double unit;
    float *table;
} constant_attributes;
static uint32_t constant_shape(const graph *g, const node *n, uint32_t *shape) {
    (void)g;
    const constant_attributes *at = n->attributes;
    memcpy(shape, at->shape, sizeof at->shape);
    return at->rank;
}
static void fill_constant(float *table, const void *with) {
    const constant_attributes *at = with;
    if (at->fill) at->fill(table, at->shape);
    if (at->fill_by) at->fill_by(table, at->shape, at->unit);
}
static void constant_size(graph *g, node *n) {
    constant_attributes *at = n->attributes;
    at->table = graph_table(g, n->out->n, fill_constant, at, sizeof *at);
}
static void constant_fwd(graph *g, node *n) {
    (void)g;
    memcpy(n->out->data, ((const constant_attributes *)n->attributes)->table, n->out->n * sizeof(float));
}
static const op constant = {
    .name = "constant",
    .attributes = sizeof(constant_attributes),
    .shape = constant_shape,
    .size = constant_size,
    .forward = constant_fwd,
};
static tensor *table_node(graph *g, constant_attributes at, const uint32_t *shape) {
    memcpy(at.shape, shape, at.rank * sizeof *shape);
    return graph_node(g, &constant, 0, NULL, &at);
}
tensor *op_constant(graph *g, void (*fill)(float *, const uint32_t *), uint32_t rank, const uint32_t *shape) {
    return table_node(g, (constant_attributes){.rank = rank, .fill = fill}, shape);
}
tensor *op_table(graph *g, void (*fill)(float *, const uint32_t *, double), uint32_t rank,
                 const uint32_t *shape, double unit) {
    return table_node(g, (constant_attributes){.rank = rank, .fill_by = fill, .unit = unit}, shape);
}

// ---- The mean over a sequence's rows ----------------------------------------------------------------------
static uint32_t meanpool_shape(const graph *g, const node *n, uint32_t *shape) {
    if (g->mode == GRAPH_STREAM) { // of the rows so far, after each
        memcpy(shape, n->in[0]->shape, sizeof n->in[0]->shape);
        return 3;
    }
    shape[0] = n->in[0]->shape[0];
    shape[1] = n->in[0]->shape[2];
    return 2;
}
static void meanpool_fwd(graph *g, node *n) {
    (void)g;
    const uint32_t *x = n->in[0]->shape;
    smx_meanpool_fwd(n->out->data, n->in[0]->data, x[0], x[1], x[2]);
}
static void meanpool_bwd(graph *g, node *n) {
    (void)g;
    const uint32_t *x = n->in[0]->shape;
    smx_meanpool_bwd(n->in_grad[0], n->out->grad, x[0], x[1], x[2]);
}
// state [B][2][D]: sums of whole blocks of SMX_KC rows, and of the open one, as the kernel takes them.
static uint64_t meanpool_state(const graph *g, const node *n) { return size_mul(2, g->B, last_dim(n->out)); }
static void meanpool_push(graph *g, node *n, float *state, size_t at, size_t rows) {
    const size_t D = last_dim(n->out);
    for (size_t b = 0; b < g->B; b++)
        for (size_t t = 0; t < rows; t++) {
            const float *x = n->in[0]->data + (b * rows + t) * D;
            float *y = n->out->data + (b * rows + t) * D, *whole = state + 2 * b * D, *open = whole + D;
            const size_t count = at + t + 1;
            for (size_t c = 0; c < D; c++) {
                open[c] += x[c];
                const float sum = whole[c] + open[c];
                y[c] = sum / (float)count;
                if (count % SMX_KC == 0) whole[c] = sum, open[c] = 0.0f;
            }
        }
}
static const op meanpool = {
    .name = "meanpool",
    .shape = meanpool_shape,
    .forward = meanpool_fwd,
    .backward = meanpool_bwd,
    .state_n = meanpool_state,
    .push = meanpool_push,
};
tensor *op_meanpool(graph *g, tensor *x) { return graph_node(g, &meanpool, 1, &x, NULL); }

// ---- Chosen rows ------------------------------------------------------------------------------------------
static uint32_t gather_shape(const graph *g, const node *n, uint32_t *shape) {
    shape[0] = (uint32_t)g->rows_n;
    shape[1] = (uint32_t)last_dim(n->in[0]);
    return 2;
}
static void gather_fwd(graph *g, node *n) {
    const tensor *x = n->in[0];
    smx_gather_fwd(n->out->data, x->data, g->rows, g->rows_n, rows_of(x), last_dim(x));
}
static void gather_bwd(graph *g, node *n) {
    const tensor *x = n->in[0];
    smx_gather_bwd(n->in_grad[0], n->out->grad, g->rows, g->rows_n, rows_of(x), last_dim(x));
}
static const op gather = {
    .name = "gather",
    .whole = 1,
    .shape = gather_shape,
    .forward = gather_fwd,
    .backward = gather_bwd,
};
tensor *op_gather(graph *g, tensor *x) { return graph_node(g, &gather, 1, &x, NULL); }
