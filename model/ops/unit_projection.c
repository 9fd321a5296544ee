// unit_projection.c: norm(X * F_h) W_h, head by head at full width (CAT Theorem 1): the norm stands between
// filter and projection, so they do not commute. Pieces are sequences.
#include "model/ops/conv/conv.h"
#include "pieces.h"
#include "ops.h"

// in: x, w [D][D], f [H][W]. saved: 1 / length of each filtered row, [B][H][L]. Sums of a piece: dW, then dF.
typedef struct {
    size_t future;
} unit_attributes;

// A piece's scratch: five arrays of a sequence's rows, then what its product and its filter ask for.
typedef struct {
    float *u, *unit, *du, *dunit, *dx, *gemm, *conv;
} unit_scratch;
static uint64_t row_floats(const graph *g, const node *n) {
    return floats(size_mul(g->L, last_dim(n->out), sizeof(float)));
}
static size_t gemm_bytes(const graph *g, const node *n) {
    const size_t L = g->L, D = last_dim(n->out), most = L > D ? L : D;
    return smx_gemm_scratch_bytes(most, D, most);
}
static unit_scratch split(const graph *g, const node *n, float *base) {
    const size_t rows = (size_t)row_floats(g, n);
    return (unit_scratch){base,
                          base + rows,
                          base + 2 * rows,
                          base + 3 * rows,
                          base + 4 * rows,
                          base + 5 * rows,
                          base + 5 * rows + floats(gemm_bytes(g, n))};
}
// One head's filter over one sequence.
static smx_conv filter_of(const graph *g, const node *n) {
    const unit_attributes *at = n->attributes;
    return conv_sizes(1, g->L, last_dim(n->out), 1, n->in[2]->shape[1], at->future);
}
static void filter_rows(const graph *g, const node *n, const unit_scratch *s, const float *x, float *rnorm,
                        size_t h) {
    const smx_conv p = filter_of(g, n);
    smx_conv_fwd(s->u, x, n->in[2]->data + h * p.W, s->conv, &p);
    smx_unitnorm_fwd(s->unit, rnorm, s->u, p.L, p.D);
}
static void unit_fwd_piece(graph *g, node *n, size_t piece, size_t from, size_t count) {
    const size_t L = g->L, D = last_dim(n->out), H = n->in[2]->shape[0], d = D / H;
    const unit_scratch s = split(g, n, scratch_of(n, piece));
    for (size_t b = from; b < from + count; b++)
        for (size_t h = 0; h < H; h++) {
            filter_rows(g, n, &s, n->in[0]->data + b * L * D, n->saved + (b * H + h) * L, h);
            smx_gemm(n->out->data + b * L * D + h * d, s.unit, n->in[1]->data + h * d, s.gemm, L, d, D, D, D,
                     D, 0);
        }
}
static void unit_bwd_piece(graph *g, node *n, size_t piece, size_t from, size_t count) {
    const size_t L = g->L, D = last_dim(n->out), H = n->in[2]->shape[0], W = n->in[2]->shape[1], d = D / H;
    const unit_scratch s = split(g, n, back_scratch_of(n, piece));
    const smx_conv p = filter_of(g, n);
    float *dw = sums_of(n, piece), *df = dw + D * D;
    for (size_t b = from; b < from + count; b++) {
        const float *x = n->in[0]->data + b * L * D, *dy = n->out->grad + b * L * D;
        for (size_t h = 0; h < H; h++) {
            float *rnorm = n->saved + (b * H + h) * L, *dx = n->in_grad[0] ? n->in_grad[0] + b * L * D : NULL;
            filter_rows(g, n, &s, x, rnorm, h);
            smx_gemm(dw + h * d, s.unit, dy + h * d, s.gemm, D, d, L, D, D, D, SMX_TRANS_A | SMX_ACCUMULATE);
            smx_gemm(s.dunit, dy + h * d, n->in[1]->data + h * d, s.gemm, L, D, d, D, D, D, SMX_TRANS_B);
            smx_unitnorm_bwd(s.du, s.dunit, s.u, rnorm, L, D);
            smx_conv_bwd(dx && h ? s.dx : dx, df + h * W, s.du, x, n->in[2]->data + h * W, s.conv, &p);
            if (dx && h) smx_add(dx, dx, s.dx, L * D);
        }
    }
}
static void unit_fwd(graph *g, node *n) { sequences_in_pieces(g, n, unit_fwd_piece); }
static void unit_bwd(graph *g, node *n) {
    sequences_in_pieces(g, n, unit_bwd_piece);
    begin_sum(g, n, 2);
    add_sums(n, 1, g->share.pieces, 0);
    add_sums(n, 2, g->share.pieces, n->in[1]->n);
}
static void unit_size(graph *g, node *n) {
    const size_t D = last_dim(n->out), H = n->in[2]->shape[0], W = n->in[2]->shape[1];
    const smx_conv p = filter_of(g, n);
    n->saved_n = size_mul(g->B, H, g->L);
    scratch_size(n, shard_count(g->B), size_mul(D, D) + size_mul(H, W),
                 size_mul(5, row_floats(g, n), sizeof(float)) +
                     size_mul(floats(gemm_bytes(g, n)), sizeof(float)) + smx_conv_scratch_bytes(&p));
    n->flops = 2 * (uint64_t)n->out->n * (D + H * W);
}
static op_reach unit_reach(const graph *g, const node *n) {
    (void)g;
    return (op_reach){n->in[2]->shape[1] - 1, 1};
}
static const op unit_projection = {
    .reach = unit_reach,
    .name = "unit_projection",
    .attributes = sizeof(unit_attributes),
    .size = unit_size,
    .forward = unit_fwd,
    .backward = unit_bwd,
    .backward_reads = READS_IN(0) | READS_IN(1) | READS_IN(2),
};
tensor *op_unit_projection(graph *g, tensor *x, tensor *w, tensor *f, size_t future) {
    return graph_node(g, &unit_projection, 3, (tensor *[]){x, w, f}, &(unit_attributes){future});
}
