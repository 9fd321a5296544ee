// maxpool.c: adaptive max pool over time to O values a bin and channel. Pieces are sequences.
#include "pieces.h"
#include "ops.h"

// saved: the rows of the maxima
typedef struct {
    size_t bins, O;
    int joint; // all channels of a bin in one row
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
static void maxpool_size(graph *g, node *n) {
    (void)g;
    n->saved_n = n->out->n;
}
static const op maxpool = {
    .name = "maxpool",
    .whole = 1,
    .attributes = sizeof(maxpool_attributes),
    .shape = maxpool_shape,
    .size = maxpool_size,
    .forward = maxpool_fwd,
    .backward = maxpool_bwd,
};
tensor *op_maxpool(graph *g, tensor *x, size_t bins, size_t O, int joint) {
    return graph_node(g, &maxpool, 1, &x, &(maxpool_attributes){bins, O, joint});
}
