// conv.c: short convolutions over time, one filter a group of columns, or filters that mix heads.
// Pieces are sequences.
#include "conv.h"
#include "model/ops/pieces.h"
#include "model/ops/ops.h"

// ---- f [groups][W]; attributes: taps ahead ----------------------------------------------------------------
typedef struct {
    size_t future;
} conv_attributes;

smx_conv conv_sizes(size_t B, size_t L, size_t D, size_t groups, size_t W, size_t future) {
    return (smx_conv){.B = B, .L = L, .D = D, .groups = groups, .W = W, .future = future, .ldx = D, .ldy = D};
}
static smx_conv conv_of(const graph *g, const node *n, size_t count) {
    const conv_attributes *at = n->attributes;
    const uint32_t *f = n->in[1]->shape;
    return conv_sizes(count, g->L, last_dim(n->out), f[0], f[1], at->future);
}
static void conv_fwd_piece(graph *g, node *n, size_t piece, size_t from, size_t count) {
    const smx_conv p = conv_of(g, n, count);
    const size_t at = from * p.L * p.D;
    smx_conv_fwd(n->out->data + at, n->in[0]->data + at, n->in[1]->data, scratch_of(n, piece), &p);
}
static void conv_bwd_piece(graph *g, node *n, size_t piece, size_t from, size_t count) {
    const smx_conv p = conv_of(g, n, count);
    const size_t at = from * p.L * p.D;
    smx_conv_bwd(n->in_grad[0] ? n->in_grad[0] + at : NULL, sums_of(n, piece), n->out->grad + at,
                 n->in[0]->data + at, n->in[1]->data, back_scratch_of(n, piece), &p);
}
static void conv_fwd(graph *g, node *n) { sequences_in_pieces(g, n, conv_fwd_piece); }
static void conv_bwd(graph *g, node *n) {
    sequences_in_pieces(g, n, conv_bwd_piece);
    begin_sum(g, n, 1);
    add_sums(n, 1, g->share.pieces, 0);
}
static void conv_size(graph *g, node *n) {
    const smx_conv p = conv_of(g, n, g->B);
    scratch_size(n, shard_count(g->B), n->in[1]->n, smx_conv_scratch_bytes(&p));
    n->flops = 2 * (uint64_t)n->out->n * p.W;
}
static op_reach conv_reach(const graph *g, const node *n) {
    (void)g;
    return (op_reach){n->in[1]->shape[1] - 1, 1};
}
static const op conv = {
    .name = "conv",
    .reach = conv_reach,
    .attributes = sizeof(conv_attributes),
    .size = conv_size,
    .forward = conv_fwd,
    .backward = conv_bwd,
    .backward_reads = READS_IN(0) | READS_IN(1),
};
tensor *op_conv(graph *g, tensor *x, tensor *f, size_t future) {
    return graph_node(g, &conv, 2, (tensor *[]){x, f}, &(conv_attributes){future});
}

// ---- f [W][H][H] ------------------------------------------------------------------------------------------
static smx_conv_heads heads_of(const graph *g, const node *n, size_t count) {
    const size_t D = last_dim(n->out);
    return (smx_conv_heads){
        .B = count, .L = g->L, .D = D, .H = n->in[1]->shape[1], .W = n->in[1]->shape[0], .ldx = D, .ldy = D};
}
static void heads_fwd_piece(graph *g, node *n, size_t piece, size_t from, size_t count) {
    const smx_conv_heads p = heads_of(g, n, count);
    const size_t at = from * p.L * p.D;
    smx_conv_heads_fwd(n->out->data + at, n->in[0]->data + at, n->in[1]->data, scratch_of(n, piece), &p);
}
static void heads_bwd_piece(graph *g, node *n, size_t piece, size_t from, size_t count) {
    const smx_conv_heads p = heads_of(g, n, count);
    const size_t at = from * p.L * p.D;
    smx_conv_heads_bwd(n->in_grad[0] ? n->in_grad[0] + at : NULL, sums_of(n, piece), n->out->grad + at,
                       n->in[0]->data + at, n->in[1]->data, back_scratch_of(n, piece), &p);
}
static void heads_fwd(graph *g, node *n) { sequences_in_pieces(g, n, heads_fwd_piece); }
static void heads_bwd(graph *g, node *n) {
    sequences_in_pieces(g, n, heads_bwd_piece);
    add_sums(n, 1, g->share.pieces, 0);
}
static void heads_size(graph *g, node *n) {
    const smx_conv_heads p = heads_of(g, n, g->B);
    scratch_size(n, shard_count(g->B), n->in[1]->n, smx_conv_heads_scratch_bytes(&p));
    n->flops = 2 * (uint64_t)n->out->n * p.W * p.H;
}
static op_reach heads_reach(const graph *g, const node *n) {
    (void)g;
    return (op_reach){n->in[1]->shape[0] - 1, 1};
}
static const op conv_heads = {
    .name = "conv",
    .reach = heads_reach,
    .size = heads_size,
    .forward = heads_fwd,
    .backward = heads_bwd,
    .backward_reads = READS_IN(0) | READS_IN(1),
};
tensor *op_conv_heads(graph *g, tensor *x, tensor *f) {
    return graph_node(g, &conv_heads, 2, (tensor *[]){x, f}, NULL);
}
