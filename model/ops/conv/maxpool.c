// maxpool.c: adaptive max pool over time to O values a bin and channel. Pieces are sequences.
//
// Where a sequence is read in pieces every row has what belongs to its bin, and of what is computed of a bin
// that of the bin before: nothing else can be known then, and nothing else is asked for, since who sees ahead
// has no state.
#include "model/ops/pieces.h"
#include "model/ops/ops.h"

#include <string.h>

// saved: the rows of the maxima
typedef struct {
    size_t rows, bins, O; // rows of a bin, bins (of a stream: rows)
    int joint;            // all channels of a bin in one row
} maxpool_attributes;

static uint32_t maxpool_shape(const graph *g, const node *n, uint32_t *shape) {
    const maxpool_attributes *at = n->attributes;
    const uint32_t D = (uint32_t)last_dim(n->in[0]), O = (uint32_t)at->O;
    shape[0] = (uint32_t)g->B;
    shape[1] = (uint32_t)at->bins;
    shape[2] = at->joint ? D * O : D;
    shape[3] = O;
    return at->joint ? 3 : 4;
}
static void forward_piece(graph *g, node *n, size_t piece, size_t from, size_t count) {
    (void)piece;
    const maxpool_attributes *at = n->attributes;
    const size_t D = last_dim(n->in[0]), out = at->bins * D * at->O;
    smx_maxpool_fwd(n->out->data + from * out, (int32_t *)n->saved + from * out,
                    n->in[0]->data + from * g->L * D, count, g->L, D, at->bins, at->O);
}
static void backward_piece(graph *g, node *n, size_t piece, size_t from, size_t count) {
    (void)piece;
    const maxpool_attributes *at = n->attributes;
    const size_t D = last_dim(n->in[0]), out = at->bins * D * at->O;
    smx_maxpool_bwd(n->in_grad[0] + from * g->L * D, n->out->grad + from * out,
                    (const int32_t *)n->saved + from * out, count, g->L, D, at->bins, at->O);
}
static void maxpool_fwd(graph *g, node *n) { sequences_in_pieces(g, n, forward_piece); }
static void maxpool_bwd(graph *g, node *n) {
    if (n->in_grad[0]) sequences_in_pieces(g, n, backward_piece);
}
static void maxpool_size(graph *g, node *n) { n->saved_n = g->mode == GRAPH_STREAM ? 0 : n->out->n; }

// state [B][2][D][O]: the maxima of the bin so far, and those of the bin before.
static uint64_t maxpool_state(const graph *g, const node *n) {
    return size_mul(2, g->B, last_dim(n->in[0]), ((const maxpool_attributes *)n->attributes)->O);
}
static void maxpool_push(graph *g, node *n, float *state, size_t at, size_t rows) {
    const maxpool_attributes *a = n->attributes;
    const size_t D = last_dim(n->in[0]), R = a->rows, O = a->O, size = D * O;
    for (size_t b = 0; b < g->B; b++, state += 2 * size)
        for (size_t t = 0; t < rows; t++) {
            const float *x = n->in[0]->data + (b * rows + t) * D;
            const size_t i = (at + t) % R;
            if (!i && at + t) memcpy(state + size, state, size * sizeof *state);
            memcpy(n->out->data + (b * rows + t) * size, state + size, size * sizeof *state);
            for (size_t w = 0; w < O; w++) {
                const size_t first = w * R / O, end = ((w + 1) * R + O - 1) / O;
                for (size_t c = 0; c < D && i >= first && i < end; c++)
                    if (i == first || (state[c * O + w] == state[c * O + w] && !(x[c] <= state[c * O + w])))
                        state[c * O + w] = x[c];
            }
        }
}
static const op maxpool = {
    .name = "maxpool",
    .state_n = maxpool_state,
    .push = maxpool_push,
    .attributes = sizeof(maxpool_attributes),
    .shape = maxpool_shape,
    .size = maxpool_size,
    .forward = maxpool_fwd,
    .backward = maxpool_bwd,
};
tensor *op_maxpool(graph *g, tensor *x, size_t rows, size_t O, int joint) {
    const size_t bins = g->mode == GRAPH_STREAM ? g->span : g->L / rows;
    return graph_node(g, &maxpool, 1, &x, &(maxpool_attributes){rows, bins, O, joint});
}

size_t op_bin_rows(const graph *g, const tensor *t) {
    while (t->produced_by >= 0 && g->nodes[t->produced_by].op != &maxpool) {
        const node *n = &g->nodes[t->produced_by];
        if (!n->n_in) return 0;
        t = n->in[0];
    }
    return t->produced_by < 0 ? 0 : ((const maxpool_attributes *)g->nodes[t->produced_by].attributes)->rows;
}
