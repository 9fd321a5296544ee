// ops_focus.c: Focus's filters, and the steps that lead to their coefficients, as graph nodes. Pieces are sequences.
#include "ops_private.h"

// ---- Adaptive max pool: saved: the rows of the maxima ---------------------------------------------------
static void maxpool_fwd_piece(void *arg, size_t i) {
    const job *j = arg;
    const node *n = j->n;
    const size_t from = shard_start(j->g->B, i), count = shard_start(j->g->B, i + 1) - from, L = n->a[0],
                 D = n->a[1];
    const size_t out = n->a[2] * D * n->a[3];
    smx_maxpool_fwd(n->out->data + from * out, (int32_t *)n->saved + from * out,
                    n->in[0]->data + from * L * D, count, L, D, n->a[2], n->a[3]);
}
static void maxpool_fwd(graph *g, node *n) {
    graph_pieces(g, shard_count(g->B), maxpool_fwd_piece, &(job){g, n});
}
static void maxpool_bwd_piece(void *arg, size_t i) {
    const job *j = arg;
    const node *n = j->n;
    const size_t from = shard_start(j->g->B, i), count = shard_start(j->g->B, i + 1) - from, L = n->a[0],
                 D = n->a[1];
    const size_t out = n->a[2] * D * n->a[3];
    smx_maxpool_bwd(n->in_grad[0] + from * L * D, n->out->grad + from * out,
                    (const int32_t *)n->saved + from * out, count, L, D, n->a[2], n->a[3]);
}
static void maxpool_bwd(graph *g, node *n) {
    if (n->in_grad[0]) graph_pieces(g, shard_count(g->B), maxpool_bwd_piece, &(job){g, n});
}
static const op_kind maxpool = {"maxpool", maxpool_fwd, maxpool_bwd, 0, 0, 0, NULL, NULL};
tensor *op_maxpool(graph *g, tensor *x, size_t bins, size_t O, int joint) {
    const uint32_t B = (uint32_t)g->B, D = (uint32_t)last_dim(x), n_bins = (uint32_t)bins, o = (uint32_t)O;
    tensor *e = joint ? graph_tensor(g, 3, (uint32_t[]){B, n_bins, D * o})
                      : graph_tensor(g, 4, (uint32_t[]){B, n_bins, D, o});
    node *n = graph_node(g, &maxpool, e, 1, &x);
    n->a[0] = g->L, n->a[1] = D, n->a[2] = bins, n->a[3] = O;
    n->saved_n = e->n;
    return e;
}

// ---- Raw pairs to coefficients, shifted by one bin or not -----------------------------------------------
// a: bins, floats of a bin, triangle, shift; f: factor
static void theta_fwd(graph *g, node *n) {
    const size_t size = n->a[1], kept = (n->a[0] - n->a[3]) * size;
    for (size_t b = 0; b < g->B; b++) {
        float *theta = n->out->data + b * n->a[0] * size;
        memset(theta, 0, n->a[3] * size * sizeof *theta);
        float *to = theta + n->a[3] * size;
        smx_theta_fwd(to, n->in[0]->data + b * n->a[0] * size, kept, (int)n->a[2]);
        if (n->f[0] != 1.0f) smx_scale(to, to, n->f[0], kept);
    }
}
static void theta_bwd(graph *g, node *n) {
    const size_t size = n->a[1], kept = (n->a[0] - n->a[3]) * size;
    for (size_t b = 0; b < g->B; b++) {
        float *draw = n->in_grad[0] + b * n->a[0] * size;
        smx_theta_bwd(draw, n->out->grad + (b * n->a[0] + n->a[3]) * size,
                      n->in[0]->data + b * n->a[0] * size, kept, (int)n->a[2]);
        if (n->f[0] != 1.0f) smx_scale(draw, draw, n->f[0], kept);
        memset(draw + kept, 0, n->a[3] * size * sizeof *draw); // what the last bin says reaches no one
    }
}
static const op_kind theta = {"theta", theta_fwd, theta_bwd, 1, 0, 0, NULL, NULL};
tensor *op_theta(graph *g, tensor *raw, int triangle, double factor, int shift) {
    tensor *y = like(g, raw);
    node *n = graph_node(g, &theta, y, 1, &raw);
    n->a[0] = raw->shape[1], n->a[1] = raw->n / (g->B * raw->shape[1]), n->a[2] = (size_t)triangle,
    n->a[3] = (size_t)shift;
    n->f[0] = (float)factor;
    return y;
}

// ---- The filters: a: L, D, bins, F, mode; a[9]: floats of a piece's scratch; p: frequencies (literal) ---
static smx_iir iir_shape(const node *n, size_t B) {
    return (smx_iir){B, n->a[0], n->a[1], n->a[2], n->a[3], (int)n->a[4]};
}
static void iir_fwd_piece(void *arg, size_t i) {
    const job *j = arg;
    const node *n = j->n;
    const size_t from = shard_start(j->g->B, i), at = from * n->a[0] * n->a[1];
    const smx_iir p = iir_shape(n, shard_start(j->g->B, i + 1) - from);
    smx_iir_fwd(n->out->data + at, n->in[0]->data + at, n->in[1]->data + from * p.bins * p.D * p.F * 2, n->p,
                n->scratch + i * n->a[9], &p);
}
static void iir_fwd(graph *g, node *n) { graph_pieces(g, shard_count(g->B), iir_fwd_piece, &(job){g, n}); }
static void iir_bwd_piece(void *arg, size_t i) {
    const job *j = arg;
    const node *n = j->n;
    const size_t from = shard_start(j->g->B, i), at = from * n->a[0] * n->a[1];
    const smx_iir p = iir_shape(n, shard_start(j->g->B, i + 1) - from);
    const size_t at_theta = from * p.bins * p.D * p.F * 2;
    smx_iir_bwd(n->in_grad[0] ? n->in_grad[0] + at : NULL, n->in_grad[1] + at_theta, n->out->grad + at,
                n->in[0]->data + at, n->in[1]->data + at_theta, n->p, n->back_scratch + i * n->a[9], &p);
}
static void iir_bwd(graph *g, node *n) { graph_pieces(g, shard_count(g->B), iir_bwd_piece, &(job){g, n}); }
static const op_kind iir = {"iir", iir_fwd, iir_bwd, 3, 0, 0, NULL, NULL};
tensor *op_iir(graph *g, tensor *x, tensor *coefficients, size_t bins, size_t F, int mode) {
    tensor *y = like(g, x);
    node *n = graph_node(g, &iir, y, 2, (tensor *[]){x, coefficients});
    const size_t L = g->L, R = L / bins;
    n->a[0] = L, n->a[1] = last_dim(x), n->a[2] = bins, n->a[3] = F, n->a[4] = (size_t)mode;
    if (g->failed) return y;
    const smx_iir p = iir_shape(n, 1);
    n->a[9] = floats(smx_iir_scratch_bytes(&p));
    n->scratch_n = SHARDS * n->a[9];
    n->flops = 4 * (uint64_t)x->n * F;
    if (mode == SMX_IIR_LITERAL) {
        float *table = graph_own(g, smx_iir_table_floats(R) * sizeof *table);
        if (table) smx_iir_table(table, R);
        n->p = table;
    }
    return y;
}
