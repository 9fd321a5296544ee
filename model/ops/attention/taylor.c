// taylor.c: linear attention with the features of Based: by a state that carries a column of ones beside the
// values, which counts what they are divided by. Row-wise, but for the state.
#include "model/ops/pieces.h"
#include "model/ops/ops.h"

#include <string.h>

typedef struct {
    size_t heads;
} heads_attributes;
static size_t heads_of(const node *n) { return ((const heads_attributes *)n->attributes)->heads; }
static size_t head_in(const node *n) { return last_dim(n->in[0]) / heads_of(n); }
static size_t head_out(const node *n) { return last_dim(n->out) / heads_of(n); }
static uint32_t wide(const node *n, uint32_t *shape, size_t head) {
    const tensor *x = n->in[0];
    memcpy(shape, x->shape, x->rank * sizeof *shape);
    shape[x->rank - 1] = (uint32_t)(head * heads_of(n));
    return x->rank;
}

// ---- The features of each head
static uint32_t taylor_shape(const graph *g, const node *n, uint32_t *shape) {
    (void)g;
    const size_t d = head_in(n);
    return wide(n, shape, 1 + d + d * (d + 1) / 2);
}
static void taylor_rows(graph *g, node *n, size_t piece, size_t from, size_t count) {
    (void)g, (void)piece;
    smx_taylor_fwd(n->out->data + from * last_dim(n->out), n->in[0]->data + from * last_dim(n->in[0]),
                   count * heads_of(n), head_in(n));
}
static void taylor_bwd_rows(graph *g, node *n, size_t piece, size_t from, size_t count) {
    (void)g, (void)piece;
    if (n->in_grad[0])
        smx_taylor_bwd(in_grad_rows(n, 0, from), out_grad_rows(n, from),
                       n->in[0]->data + from * last_dim(n->in[0]), count * heads_of(n), head_in(n));
}
static const op taylor = {
    .name = "taylor",
    .attributes = sizeof(heads_attributes),
    .shape = taylor_shape,
    .forward = rows_forward,
    .backward = rows_backward,
    .backward_reads = READS_IN(0),
    .forward_rows = taylor_rows,
    .backward_rows = taylor_bwd_rows,
};

// ---- A column of ones behind each head
static uint32_t ones_shape(const graph *g, const node *n, uint32_t *shape) {
    (void)g;
    return wide(n, shape, head_in(n) + 1);
}
static void ones_rows(graph *g, node *n, size_t piece, size_t from, size_t count) {
    (void)g, (void)piece;
    const size_t d = head_in(n);
    const float *x = n->in[0]->data + from * last_dim(n->in[0]);
    float *y = n->out->data + from * last_dim(n->out);
    for (size_t i = 0; i < count * heads_of(n); i++, x += d, y += d + 1) {
        memcpy(y, x, d * sizeof *y);
        y[d] = 1.0f;
    }
}
static void ones_bwd_rows(graph *g, node *n, size_t piece, size_t from, size_t count) {
    (void)g, (void)piece;
    const size_t d = head_in(n);
    const float *dy = out_grad_rows(n, from);
    float *dx = in_grad_rows(n, 0, from);
    for (size_t i = 0; dx && i < count * heads_of(n); i++, dx += d, dy += d + 1)
        memcpy(dx, dy, d * sizeof *dx);
}
static const op ones = {
    .name = "ones",
    .attributes = sizeof(heads_attributes),
    .shape = ones_shape,
    .forward = rows_forward,
    .backward = rows_backward,
    .forward_rows = ones_rows,
    .backward_rows = ones_bwd_rows,
};

// ---- Each head over its last column
static uint32_t ratio_shape(const graph *g, const node *n, uint32_t *shape) {
    (void)g;
    return wide(n, shape, head_in(n) - 1);
}
static void ratio_rows(graph *g, node *n, size_t piece, size_t from, size_t count) {
    (void)g, (void)piece;
    const size_t d = head_out(n);
    const float *x = n->in[0]->data + from * last_dim(n->in[0]);
    float *y = n->out->data + from * last_dim(n->out);
    for (size_t i = 0; i < count * heads_of(n); i++, x += d + 1, y += d) smx_scale(y, x, 1.0f / x[d], d);
}
// With s the last column: dx = dy / s, ds = -(dy . y) / s
static void ratio_bwd_rows(graph *g, node *n, size_t piece, size_t from, size_t count) {
    (void)g, (void)piece;
    const size_t d = head_out(n);
    const float *x = n->in[0]->data + from * last_dim(n->in[0]), *dy = out_grad_rows(n, from);
    const float *y = n->out->data + from * last_dim(n->out);
    float *dx = in_grad_rows(n, 0, from);
    for (size_t i = 0; dx && i < count * heads_of(n); i++, x += d + 1, dx += d + 1, y += d, dy += d) {
        smx_scale(dx, dy, 1.0f / x[d], d);
        dx[d] = -smx_dot(dy, y, d) / x[d];
    }
}
static const op ratio = {
    .name = "ratio",
    .attributes = sizeof(heads_attributes),
    .shape = ratio_shape,
    .forward = rows_forward,
    .backward = rows_backward,
    .backward_reads = READS_IN(0) | READS_OUT,
    .forward_rows = ratio_rows,
    .backward_rows = ratio_bwd_rows,
};

tensor *op_taylor_attention(graph *g, tensor *q, tensor *k, tensor *v, size_t heads) {
    const heads_attributes at = {heads};
    tensor *features_q = graph_node(g, &taylor, 1, &q, &at);
    tensor *features_k = graph_node(g, &taylor, 1, &k, &at);
    tensor *values = graph_node(g, &ones, 1, &v, &at);
    tensor *sums = op_gla(g, features_q, features_k, values, NULL, NULL, heads, 0, 1.0);
    return graph_node(g, &ratio, 1, &sums, &at);
}
