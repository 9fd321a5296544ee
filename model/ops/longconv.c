// ops_longconv.c: the long convolution and the kernel of S4D as graph nodes. Pieces are groups of 16 channels: each has
// its own kernel, spectrum and gradients, so no sum crosses pieces.
#include "ops_private.h"

enum { GROUP = 16 };

// in: x, k, skip (or not). a: L, D, taps, floats of a piece's scratch; f: lambda. saved: spectra of the kernel.
static size_t group_pieces(size_t D) { return shard_count((D + GROUP - 1) / GROUP); }
static void group_piece(size_t D, size_t i, size_t *from, size_t *count) {
    const size_t groups = (D + GROUP - 1) / GROUP, to = shard_start(groups, i + 1) * GROUP;
    *from = shard_start(groups, i) * GROUP;
    *count = (to < D ? to : D) - *from;
}

static void longconv_fwd_piece(void *arg, size_t i) {
    const job *j = arg;
    const node *n = j->n;
    size_t c, count, L = n->a[0], D = n->a[1], taps = n->a[2];
    group_piece(D, i, &c, &count);
    smx_longconv_fwd(n->out->data + c, n->saved + c * smx_longconv_rows(L), n->in[0]->data + c,
                     n->in[1]->data + c * taps, n->n_in > 2 ? n->in[2]->data + c : NULL, n->p,
                     n->scratch + i * n->a[3], j->g->B, L, count, taps, n->f[0], D);
}
static void longconv_fwd(graph *g, node *n) {
    graph_pieces(g, group_pieces(n->a[1]), longconv_fwd_piece, &(job){g, n});
}
static void longconv_bwd_piece(void *arg, size_t i) {
    const job *j = arg;
    const node *n = j->n;
    size_t c, count, L = n->a[0], D = n->a[1], taps = n->a[2];
    group_piece(D, i, &c, &count);
    const int skip = n->n_in > 2;
    float *dk = n->in_grad[1] + c * taps;
    if (!n->in[1]->weight)
        memset(dk, 0, count * taps * sizeof *dk); // a kernel that was computed: overwritten
    smx_longconv_bwd(n->in_grad[0] ? n->in_grad[0] + c : NULL, dk, skip ? n->in_grad[2] + c : NULL,
                     n->out->grad + c, n->in[0]->data + c, n->in[1]->data + c * taps,
                     skip ? n->in[2]->data + c : NULL, n->saved + c * smx_longconv_rows(L), n->p,
                     n->back_scratch + i * n->a[3], j->g->B, L, count, taps, n->f[0], D);
}
static void longconv_bwd(graph *g, node *n) {
    graph_pieces(g, group_pieces(n->a[1]), longconv_bwd_piece, &(job){g, n});
}
static const op_kind longconv = {"longconv", longconv_fwd, longconv_bwd, 7, 0, 0, NULL, NULL};

// The same as a direct sum, forward only: no row hears of a later one, not even by rounding.
static void direct_fwd(graph *g, node *n) {
    const size_t L = n->a[0], D = n->a[1], taps = n->a[2];
    const float lambda = n->f[0];
    float *k = n->scratch + n->a[3];
    for (size_t i = 0; i < D * taps; i++) {
        const float v = n->in[1]->data[i];
        k[i] = v > lambda ? v - lambda : v < -lambda ? v + lambda : 0.0f;
        if (i % taps == 0 && n->n_in > 2) k[i] += n->in[2]->data[i / taps];
    }
    smx_conv_fwd(n->out->data, n->in[0]->data, k, n->scratch, g->B, L, D, D, taps, 0, D, D);
}
static const op_kind direct = {"longconv", direct_fwd, NULL, 0, 0, 0, NULL, NULL};

tensor *op_longconv(graph *g, tensor *x, tensor *k, tensor *skip, double lambda) {
    tensor *y = like(g, x);
    node *n = graph_node(g, g->direct ? &direct : &longconv, y, skip ? 3 : 2, (tensor *[]){x, k, skip});
    const size_t L = g->L, D = last_dim(x), N = smx_longconv_rows(L);
    n->a[0] = L, n->a[1] = D, n->a[2] = k->shape[1];
    n->a[3] = floats(smx_longconv_scratch_bytes(L));
    n->f[0] = (float)lambda;
    if (g->direct) {
        n->a[3] = floats(smx_conv_scratch_bytes(L, D, D, n->a[2]));
        n->scratch_n = n->a[3] + k->n;
        return y;
    }
    n->saved_n = smx_longconv_spectrum_floats(L, D);
    n->scratch_n = group_pieces(D) * n->a[3];
    float *table = graph_own(g, smx_fft_table_floats(N) * sizeof *table);
    if (table) smx_fft_table(table, N);
    n->p = table;
    size_t levels = 0;
    while ((size_t)1 << levels < N) levels++;
    n->flops = 5 * (uint64_t)g->B * D * N * levels; // two real transforms of N
    return y;
}

// ---- S4D's kernel [D][L]: in: log_dt, log_a, (a_im,) C --------------------------------------------------
static void s4d_fwd_piece(void *arg, size_t i) {
    const node *n = ((job *)arg)->n;
    size_t c, count, L = n->a[0], S = n->a[2], real = n->n_in == 3;
    group_piece(n->a[1], i, &c, &count);
    smx_s4d_fwd(n->out->data + c * L, n->in[0]->data + c, n->in[1]->data + c * S,
                real ? NULL : n->in[2]->data + c * S, n->in[n->n_in - 1]->data + c * S * (real ? 1 : 2),
                n->scratch + i * n->a[3], L, count, S);
}
static void s4d_fwd(graph *g, node *n) {
    graph_pieces(g, group_pieces(n->a[1]), s4d_fwd_piece, &(job){g, n});
}
static void s4d_bwd_piece(void *arg, size_t i) {
    const node *n = ((job *)arg)->n;
    size_t c, count, L = n->a[0], S = n->a[2], real = n->n_in == 3, last = n->n_in - 1;
    group_piece(n->a[1], i, &c, &count);
    smx_s4d_bwd(n->in_grad[0] + c, n->in_grad[1] + c * S, real ? NULL : n->in_grad[2] + c * S,
                n->in_grad[last] + c * S * (real ? 1 : 2), n->out->grad + c * L, n->in[0]->data + c,
                n->in[1]->data + c * S, real ? NULL : n->in[2]->data + c * S,
                n->in[last]->data + c * S * (real ? 1 : 2), n->back_scratch + i * n->a[3], L, count, S);
}
static void s4d_bwd(graph *g, node *n) {
    graph_pieces(g, group_pieces(n->a[1]), s4d_bwd_piece, &(job){g, n});
}
static const op_kind s4d = {"s4d_kernel", s4d_fwd, s4d_bwd, 15, 0, 0, NULL, NULL};

tensor *op_s4d_kernel(graph *g, tensor *log_dt, tensor *log_a, tensor *a_im, tensor *C) {
    const size_t D = log_dt->n, S = log_a->n / D;
    tensor *y = graph_tensor(g, 2, (uint32_t[]){(uint32_t)D, (uint32_t)g->L});
    node *n = graph_node(g, &s4d, y, a_im ? 4 : 3,
                         a_im ? (tensor *[]){log_dt, log_a, a_im, C} : (tensor *[]){log_dt, log_a, C});
    n->a[0] = g->L, n->a[1] = D, n->a[2] = S;
    n->a[3] = floats(smx_s4d_scratch_bytes(g->L));
    n->scratch_n = group_pieces(D) * n->a[3];
    n->flops = (a_im ? 4 : 2) * (uint64_t)y->n * S;
    return y;
}
