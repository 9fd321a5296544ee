// iir.c: Focus's second-order filters, and their coefficients.
#include "model/ops/pieces.h"
#include "model/ops/ops.h"

#include <string.h>

#include "kernels/spectral/iir_layout.h"

// ---- Raw pairs to coefficients, bin by bin ----------------------------------------------------------------
typedef struct {
    int triangle;
    float factor;
    size_t shift; // 1: bin b takes what bin b-1 said, bin 0 gets zeros
    size_t rows;  // of a stream whose bins are shifted: rows of a bin
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
// Each row has the pairs of its bin already; those of bin 0 are zeros.
static void theta_push(graph *g, node *n, float *state, size_t at, size_t rows) {
    (void)state;
    const theta_attributes *a = n->attributes;
    const size_t size = n->out->n / n->out->shape[0] / n->out->shape[1];
    for (size_t b = 0; b < g->B; b++)
        for (size_t t = 0; t < rows; t++) {
            float *to = n->out->data + (b * rows + t) * size;
            smx_theta_fwd(to, n->in[0]->data + (b * rows + t) * size, size, a->triangle);
            if (a->factor != 1.0f) smx_scale(to, to, a->factor, size);
            if (at + t < a->rows) memset(to, 0, size * sizeof *to);
        }
}
static const op theta = {
    .name = "theta",
    .push = theta_push,
    .attributes = sizeof(theta_attributes),
    .forward = theta_fwd,
    .backward = theta_bwd,
    .backward_reads = READS_IN(0),
};
tensor *op_theta(graph *g, tensor *raw, int triangle, double factor, int shift) {
    theta_attributes at = {triangle, (float)factor, (size_t)shift, 0};
    if (g->mode == GRAPH_STREAM && shift && !(at.rows = op_bin_rows(g, raw)))
        graph_fail(g, "%s has no bins: it needs the whole sequence at once", raw->name);
    return graph_node(g, &theta, 1, &raw, &at);
}

// ---- The filters: in: x, coefficients [B][bins][D][F][2]. Pieces are sequences ----------------------------
typedef struct {
    size_t rows, bins, F; // rows of a bin
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
enum { STREAM_SCRATCH = 3 }; // rows
static void fill_frequencies(float *table, const void *rows) { smx_iir_table(table, *(const size_t *)rows); }
static void iir_size(graph *g, node *n) {
    iir_attributes *at = n->attributes;
    const smx_iir p = sequences(g, n, 1);
    const size_t R = at->rows;
    if (g->mode == GRAPH_STREAM) {
        scratch_size(n, 1, 0, size_mul(STREAM_SCRATCH, p.D, sizeof(float)));
        return;
    }
    scratch_size(n, SHARDS, 0, smx_iir_scratch_bytes(&p));
    n->flops = 4 * (uint64_t)n->out->n * p.F;
    if (p.mode != SMX_IIR_LITERAL) return;
    at->frequencies = graph_table(g, smx_iir_table_floats(R), fill_frequencies, &R, sizeof R);
}
// Row by row, in the kernel's own order. state [B][F][2][D]: y_{t-1} and y_{t-2} of each filter.
static uint64_t iir_state(const graph *g, const node *n) {
    return size_mul(g->B, ((const iir_attributes *)n->attributes)->F, 2, last_dim(n->out));
}
// to = from - a y
static void take(float *to, const float *from, const float *a, const float *y, float *product, size_t D) {
    smx_mul(product, a, y, D);
    smx_scale(product, product, -1.0f, D);
    smx_add(to, from, product, D);
}
static void iir_push(graph *g, node *n, float *state, size_t at, size_t rows) {
    const iir_attributes *a = n->attributes;
    const size_t D = last_dim(n->out), F = a->F;
    float *pair = n->scratch, *product = pair + D, *now = product + D;
    for (size_t b = 0; b < g->B; b++, state += F * 2 * D)
        for (size_t t = 0; t < rows; t++) {
            const size_t i = (at + t) % a->rows, row = b * rows + t;
            const float *x = n->in[0]->data + row * D, *coefficients = n->in[1]->data + row * D * F * 2;
            float *y = n->out->data + row * D;
            if (!i && a->mode == SMX_IIR_CAUSAL) memset(state, 0, F * 2 * D * sizeof *state);
            for (size_t c = 0; c < F * 2 * D && i % IIR_ROWS == 0; c++)
                if (state[c] > -0x1p-96f && state[c] < 0x1p-96f) state[c] = 0.0f;
            for (size_t f = 0; f < F; f++) {
                float *y1 = state + f * 2 * D, *y2 = y1 + D;
                for (size_t c = 0; c < D; c++) pair[c] = coefficients[(c * F + f) * 2 + 1];
                take(now, x, pair, y2, product, D);
                for (size_t c = 0; c < D; c++) pair[c] = coefficients[(c * F + f) * 2];
                take(now, now, pair, y1, product, D);
                memcpy(y2, y1, D * sizeof *y2);
                memcpy(y1, now, D * sizeof *y1);
                if (f == 0)
                    memcpy(y, now, D * sizeof *y);
                else
                    smx_add(y, y, now, D);
            }
        }
}
static const op iir = {
    .name = "iir",
    .state_n = iir_state,
    .push = iir_push,
    .attributes = sizeof(iir_attributes),
    .size = iir_size,
    .forward = iir_fwd,
    .backward = iir_bwd,
    .backward_reads = READS_IN(0) | READS_IN(1),
};
tensor *op_iir(graph *g, tensor *x, tensor *coefficients, size_t rows, size_t F, int mode) {
    const size_t bins = g->mode == GRAPH_STREAM ? g->span : g->L / rows;
    return graph_node(g, &iir, 2, (tensor *[]){x, coefficients},
                      &(iir_attributes){.rows = rows, .bins = bins, .F = F, .mode = mode});
}
