// by_head.c: sums over the columns of each head, and their softmax. Row by row.
#include "model/ops/pieces.h"
#include "model/ops/ops.h"

#include <string.h>

#include <seqmix/smx.h>

typedef struct {
    size_t heads;
} head_attributes;
static size_t heads_of(const node *n) { return ((const head_attributes *)n->attributes)->heads; }

// ---- The sum of each head's columns, in double, from the left -------------------------------------------
static uint32_t sum_shape(const graph *g, const node *n, uint32_t *shape) {
    (void)g;
    memcpy(shape, n->in[0]->shape, sizeof n->in[0]->shape);
    shape[n->in[0]->rank - 1] = (uint32_t)heads_of(n);
    return n->in[0]->rank;
}
static void sum_rows(graph *g, node *n, size_t piece, size_t from, size_t count) {
    (void)g, (void)piece;
    const size_t H = heads_of(n), d = last_dim(n->in[0]) / H;
    const float *x = n->in[0]->data + from * H * d;
    for (size_t i = 0; i < count * H; i++) {
        double sum = 0.0;
        for (size_t k = 0; k < d; k++) sum += (double)x[i * d + k];
        n->out->data[from * H + i] = (float)sum;
    }
}
static void sum_bwd_rows(graph *g, node *n, size_t piece, size_t from, size_t count) {
    (void)g, (void)piece;
    const size_t H = heads_of(n), d = last_dim(n->in[0]) / H;
    float *dx = in_grad_rows(n, 0, from);
    const float *dy = out_grad_rows(n, from);
    for (size_t i = 0; dx && i < count * H * d; i++) dx[i] = dy[i / d];
}
static const op sum = {.name = "sum_heads",
                       .attributes = sizeof(head_attributes),
                       .shape = sum_shape,
                       .forward = rows_forward,
                       .backward = rows_backward,
                       .forward_rows = sum_rows,
                       .backward_rows = sum_bwd_rows};
tensor *op_sum_heads(graph *g, tensor *x, size_t heads) {
    return graph_node(g, &sum, 1, &x, &(head_attributes){heads});
}

// ---- y = e^(x - the largest), over their sum ------------------------------------------------------------
static void softmax_rows(graph *g, node *n, size_t piece, size_t from, size_t count) {
    (void)g, (void)piece;
    const size_t D = last_dim(n->out), d = D / heads_of(n), all = count * D;
    const float *x = n->in[0]->data + from * D;
    float *y = n->out->data + from * D;
    for (size_t i = 0; i < all; i += d) {
        float most = x[i];
        for (size_t k = 1; k < d; k++) most = x[i + k] > most ? x[i + k] : most;
        for (size_t k = 0; k < d; k++) y[i + k] = x[i + k] - most;
    }
    smx_exp_fwd(y, y, all);
    for (size_t i = 0; i < all; i += d) {
        double weights = 0.0;
        for (size_t k = 0; k < d; k++) weights += (double)y[i + k];
        for (size_t k = 0; k < d; k++) y[i + k] /= (float)weights;
    }
}
static void softmax_bwd_rows(graph *g, node *n, size_t piece, size_t from, size_t count) {
    (void)g, (void)piece;
    const size_t D = last_dim(n->out), d = D / heads_of(n);
    const float *y = n->out->data + from * D, *dy = out_grad_rows(n, from);
    float *dx = in_grad_rows(n, 0, from);
    for (size_t i = 0; dx && i < count * D; i += d) {
        double along = 0.0;
        for (size_t k = 0; k < d; k++) along += (double)dy[i + k] * (double)y[i + k];
        for (size_t k = 0; k < d; k++) dx[i + k] = y[i + k] * (dy[i + k] - (float)along);
    }
}
static const op softmax = {.name = "softmax_heads",
                           .attributes = sizeof(head_attributes),
                           .forward = rows_forward,
                           .backward = rows_backward,
                           .backward_reads = READS_OUT,
                           .forward_rows = softmax_rows,
                           .backward_rows = softmax_bwd_rows};
tensor *op_softmax_heads(graph *g, tensor *x, size_t heads) {
    return graph_node(g, &softmax, 1, &x, &(head_attributes){heads});
}
