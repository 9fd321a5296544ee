// pool_rows.c: what a classifier can read of a sequence's rows besides their mean (tokens.c): each column's
// largest number, the last row, the first. In a stream: of the rows so far, after each; the first row is for
// mixers that see ahead, which no stream has.
#include "model/ops/pieces.h"
#include "model/ops/ops.h"

#include <string.h>

static uint32_t pooled_shape(const graph *g, const node *n, uint32_t *shape) {
    if (g->mode == GRAPH_STREAM) {
        memcpy(shape, n->in[0]->shape, sizeof n->in[0]->shape);
        return 3;
    }
    shape[0] = n->in[0]->shape[0];
    shape[1] = n->in[0]->shape[2];
    return 2;
}

// ---- The largest; saved: the rows of the maxima, the first on a tie
static void largest_fwd(graph *g, node *n) {
    const uint32_t *x = n->in[0]->shape;
    (void)g;
    smx_maxpool_fwd(n->out->data, (int32_t *)n->saved, n->in[0]->data, x[0], x[1], x[2], 1, 1);
}
static void largest_bwd(graph *g, node *n) {
    const uint32_t *x = n->in[0]->shape;
    (void)g;
    smx_maxpool_bwd(n->in_grad[0], n->out->grad, (const int32_t *)n->saved, x[0], x[1], x[2], 1, 1);
}
static void largest_size(graph *g, node *n) { n->saved_n = g->mode == GRAPH_STREAM ? 0 : n->out->n; }
// state [B][D]
static uint64_t largest_state(const graph *g, const node *n) { return size_mul(g->B, last_dim(n->out)); }
static void largest_push(graph *g, node *n, float *state, size_t at, size_t rows) {
    const size_t D = last_dim(n->out);
    for (size_t b = 0; b < g->B; b++, state += D)
        for (size_t t = 0; t < rows; t++) {
            const float *x = n->in[0]->data + (b * rows + t) * D;
            for (size_t c = 0; c < D; c++)
                if (at + t == 0 || (state[c] == state[c] && !(x[c] <= state[c]))) state[c] = x[c];
            memcpy(n->out->data + (b * rows + t) * D, state, D * sizeof *state);
        }
}

// ---- One row
typedef struct {
    int last;
} row_attributes;
static size_t row_at(const node *n) {
    return ((const row_attributes *)n->attributes)->last ? n->in[0]->shape[1] - 1 : 0;
}
static void row_fwd(graph *g, node *n) {
    const size_t L = n->in[0]->shape[1], D = last_dim(n->out);
    for (size_t b = 0; b < g->B; b++)
        memcpy(n->out->data + b * D, n->in[0]->data + (b * L + row_at(n)) * D, D * sizeof(float));
}
static void row_bwd(graph *g, node *n) {
    const size_t L = n->in[0]->shape[1], D = last_dim(n->out);
    memset(n->in_grad[0], 0, g->B * L * D * sizeof(float));
    for (size_t b = 0; b < g->B; b++)
        memcpy(n->in_grad[0] + (b * L + row_at(n)) * D, n->out->grad + b * D, D * sizeof(float));
}
static void last_row_push(graph *g, node *n, float *state, size_t at, size_t rows) {
    (void)state, (void)at;
    memcpy(n->out->data, n->in[0]->data, g->B * rows * last_dim(n->out) * sizeof(float));
}

#define ROW                                                                                                  \
    .attributes = sizeof(row_attributes), .shape = pooled_shape, .forward = row_fwd, .backward = row_bwd
static const op last_row = {.name = "last_row", ROW, .push = last_row_push};
static const op first_row = {.name = "first_row", ROW, .whole = 1};
static const op largest = {
    .name = "largest",
    .shape = pooled_shape,
    .size = largest_size,
    .forward = largest_fwd,
    .backward = largest_bwd,
    .state_n = largest_state,
    .push = largest_push,
};

tensor *op_pool_rows(graph *g, tensor *x, row_pool how) {
    return how == ROWS_LARGEST ? graph_node(g, &largest, 1, &x, NULL)
                               : graph_node(g, how == ROWS_LAST ? &last_row : &first_row, 1, &x,
                                            &(row_attributes){how == ROWS_LAST});
}
