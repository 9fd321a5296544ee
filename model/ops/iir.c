// iir.c: Focus's second-order filters, and their coefficients.
#include "pieces.h"
#include "ops.h"

#include <string.h>

// ---- Raw pairs to coefficients, bin by bin ----------------------------------------------------------------
typedef struct {
    int triangle;
    float factor;
    size_t shift; // 1: bin b takes what bin b-1 said, bin 0 gets zeros
} theta_attributes;
// Floats of a bin, and of all bins that reach one.
static size_t bin_floats(const node *n) { return n->out->n / n->out->shape[0] / n->out->shape[1]; }
static size_t kept_floats(const node *n, const theta_attributes *at) {
    return (n->out->shape[1] - at->shift) * bin_floats(n);
}
static void theta_fwd(graph *g, node *n) {
    const theta_attributes *at = n->attributes;
    const size_t shifted = at->shift * bin_floats(n), kept = kept_floats(n, at), all = shifted + kept;
    for (size_t b = 0; b < g->B; b++) {
        float *theta = n->out->data + b * all, *to = theta + shifted;
        memset(theta, 0, shifted * sizeof *theta);
        smx_theta_fwd(to, n->in[0]->data + b * all, kept, at->triangle);
        if (at->factor != 1.0f) smx_scale(to, to, at->factor, kept);
    }
}
static void theta_bwd(graph *g, node *n) {
    const theta_attributes *at = n->attributes;
    const size_t shifted = at->shift * bin_floats(n), kept = kept_floats(n, at), all = shifted + kept;
    for (size_t b = 0; b < g->B; b++) {
        float *draw = n->in_grad[0] + b * all;
        smx_theta_bwd(draw, n->out->grad + b * all + shifted, n->in[0]->data + b * all, kept, at->triangle);
        if (at->factor != 1.0f) smx_scale(draw, draw, at->factor, kept);
        memset(draw + kept, 0, shifted * sizeof *draw); // what the last bin says reaches no one
    }
}
static const op theta = {
    .name = "theta",
    .whole = 1,
    .attributes = sizeof(theta_attributes),
    .forward = theta_fwd,
    .backward = theta_bwd,
    .backward_reads = READS_IN(0),
};
tensor *op_theta(graph *g, tensor *raw, int triangle, double factor, int shift) {
    return graph_node(g, &theta, 1, &raw, &(theta_attributes){triangle, (float)factor, (size_t)shift});
}

// ---- The filters: in: x, coefficients [B][bins][D][F][2]. Pieces are sequences ----------------------------
typedef struct {
    size_t bins, F;
    int mode;
    float *frequencies; // of the literal filter
} iir_attributes;
static smx_iir sequences(const graph *g, const node *n, size_t count) {
    const iir_attributes *at = n->attributes;
    return (smx_iir){
        .B = count, .L = g->L, .D = last_dim(n->out), .bins = at->bins, .F = at->F, .mode = at->mode};
}
static void forward_piece(graph *g, node *n, size_t piece, size_t from, size_t count) {
    const smx_iir p = sequences(g, n, count);
    const size_t at = from * p.L * p.D, at_theta = from * p.bins * p.D * p.F * 2;
    smx_iir_fwd(n->out->data + at, n->in[0]->data + at, n->in[1]->data + at_theta,
                ((const iir_attributes *)n->attributes)->frequencies, scratch_of(n, piece), &p);
}
static void backward_piece(graph *g, node *n, size_t piece, size_t from, size_t count) {
    const smx_iir p = sequences(g, n, count);
    const size_t at = from * p.L * p.D, at_theta = from * p.bins * p.D * p.F * 2;
    smx_iir_bwd(n->in_grad[0] ? n->in_grad[0] + at : NULL, n->in_grad[1] + at_theta, n->out->grad + at,
                n->in[0]->data + at, n->in[1]->data + at_theta,
                ((const iir_attributes *)n->attributes)->frequencies, back_scratch_of(n, piece), &p);
}
static void iir_fwd(graph *g, node *n) { sequences_in_pieces(g, n, forward_piece); }
static void iir_bwd(graph *g, node *n) { sequences_in_pieces(g, n, backward_piece); }
static void iir_size(graph *g, node *n) {
    iir_attributes *at = n->attributes;
    const smx_iir p = sequences(g, n, 1);
    const size_t R = p.L / p.bins;
    scratch_size(n, SHARDS, 0, smx_iir_scratch_bytes(&p));
    n->flops = 4 * (uint64_t)n->out->n * p.F;
    if (p.mode != SMX_IIR_LITERAL) return;
    at->frequencies = graph_own(g, smx_iir_table_floats(R) * sizeof *at->frequencies);
    if (at->frequencies) smx_iir_table(at->frequencies, R);
}
static const op iir = {
    .name = "iir",
    .whole = 1,
    .attributes = sizeof(iir_attributes),
    .size = iir_size,
    .forward = iir_fwd,
    .backward = iir_bwd,
    .backward_reads = READS_IN(0) | READS_IN(1),
};
tensor *op_iir(graph *g, tensor *x, tensor *coefficients, size_t bins, size_t F, int mode) {
    return graph_node(g, &iir, 2, (tensor *[]){x, coefficients},
                      &(iir_attributes){.bins = bins, .F = F, .mode = mode});
}
