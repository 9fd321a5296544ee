// longconv.c: convolutions as long as the sequence, a kernel a channel. Pieces are groups of channels: each
// has its own kernels, spectra and gradients, so no sum crosses pieces.
#include "conv.h"
#include "model/ops/pieces.h"
#include "model/ops/ops.h"

#include <string.h>

// in: x, k [D][taps], skip [D] or not. saved: spectra of the kernels.
typedef struct {
    float lambda; // squash
    float *fft;   // table
    // Of a shared batch: x and dy of all processes, in the last; gradients that nobody asks for.
    float *x, *dy, *unread;
} longconv_attributes;
static const float *skip_of(const node *n) { return n->n_in > 2 ? n->in[2]->data : NULL; }

static smx_longconv channels_of(const graph *g, const node *n, size_t count) {
    const longconv_attributes *at = n->attributes;
    return (smx_longconv){.B = g->B,
                          .L = g->L,
                          .D = count,
                          .taps = n->in[1]->shape[1],
                          .lambda = at->lambda,
                          .ld = last_dim(n->out)};
}
static smx_longconv_weights weights_of(const node *n, size_t from) {
    return (smx_longconv_weights){.k = n->in[1]->data + from * n->in[1]->shape[1],
                                  .skip = skip_of(n) ? skip_of(n) + from : NULL};
}
static void forward_piece(graph *g, node *n, size_t piece, size_t from, size_t count) {
    const longconv_attributes *at = n->attributes;
    const smx_longconv p = channels_of(g, n, count);
    const smx_longconv_weights weights = weights_of(n, from);
    smx_longconv_fwd(n->out->data + from, n->saved + from * smx_longconv_rows(p.L), n->in[0]->data + from,
                     &weights, at->fft, scratch_of(n, piece), &p);
}
static void backward_piece(graph *g, node *n, size_t piece, size_t from, size_t count) {
    const longconv_attributes *at = n->attributes;
    const smx_longconv p = channels_of(g, n, count);
    const smx_longconv_weights weights = weights_of(n, from);
    const smx_longconv_gradients dweights = {.k = n->in_grad[1] + from * p.taps,
                                             .skip = skip_of(n) ? n->in_grad[2] + from : NULL};
    if (!n->in[1]->weight) // a kernel that was computed: overwritten
        memset(dweights.k, 0, count * p.taps * sizeof *dweights.k);
    smx_longconv_bwd(n->in_grad[0] ? n->in_grad[0] + from : NULL, &dweights, n->out->grad + from,
                     n->in[0]->data + from, &weights, n->saved + from * smx_longconv_rows(p.L), at->fft,
                     back_scratch_of(n, piece), &p);
}
static void longconv_fwd(graph *g, node *n) {
    in_pieces(g, n, last_dim(n->out), CHANNEL_UNIT, forward_piece);
}

// Where a batch is shared: the products are added up as spectra, inside the kernel, so the last process takes
// all rows and makes dk and dskip alone; each makes dx of its own.
static void dx_piece(graph *g, node *n, size_t piece, size_t from, size_t count) {
    const longconv_attributes *at = n->attributes;
    const smx_longconv p = channels_of(g, n, count);
    const smx_longconv_weights weights = weights_of(n, from);
    const smx_longconv_gradients unread = {.k = at->unread + from * p.taps};
    smx_longconv_bwd(n->in_grad[0] + from, &unread, n->out->grad + from, n->in[0]->data + from, &weights,
                     n->saved + from * smx_longconv_rows(p.L), at->fft, back_scratch_of(n, piece), &p);
}
static void dk_piece(graph *g, node *n, size_t piece, size_t from, size_t count) {
    const longconv_attributes *at = n->attributes;
    smx_longconv p = channels_of(g, n, count);
    p.B = g->share.all;
    const smx_longconv_weights weights = weights_of(n, from);
    const smx_longconv_gradients dweights = {.k = n->in_grad[1] + from * p.taps,
                                             .skip = skip_of(n) ? n->in_grad[2] + from : NULL};
    smx_longconv_bwd(NULL, &dweights, at->dy + from, at->x + from, &weights,
                     n->saved + from * smx_longconv_rows(p.L), at->fft, back_scratch_of(n, piece), &p);
}
static void bwd_shared(graph *g, node *n) {
    const longconv_attributes *at = n->attributes;
    const size_t D = last_dim(n->out), per = g->L * D * sizeof(float), last = g->share.ranks->count - 1;
    graph_gather(g, last, at->x, n->in[0]->data, per);
    graph_gather(g, last, at->dy, n->out->grad, per);
    if (n->in_grad[0]) in_pieces(g, n, D, CHANNEL_UNIT, dx_piece);
    if (g->share.ranks->rank != last) return;
    if (!n->in[1]->weight) memset(n->in_grad[1], 0, n->in[1]->n * sizeof(float));
    in_pieces(g, n, D, CHANNEL_UNIT, dk_piece);
}
static void longconv_bwd(graph *g, node *n) {
    if (ranks_of(g))
        bwd_shared(g, n);
    else
        in_pieces(g, n, last_dim(n->out), CHANNEL_UNIT, backward_piece);
}
static void fill_fft(float *table, const void *rows) { smx_fft_table(table, *(const size_t *)rows); }
static void longconv_size(graph *g, node *n) {
    longconv_attributes *at = n->attributes;
    const size_t L = g->L, D = last_dim(n->out), N = smx_longconv_rows(L);
    n->saved_n = smx_longconv_spectrum_floats(L, D);
    scratch_size(n, pieces_of(D, CHANNEL_UNIT), 0, smx_longconv_scratch_bytes(L));
    at->fft = graph_table(g, smx_fft_table_floats(N), fill_fft, &N, sizeof N);
    if (ranks_of(g)) {
        const int last = g->share.ranks->rank + 1 == g->share.ranks->count;
        const size_t all = size_fits(size_mul(g->share.all, L, D));
        at->unread = graph_own(g, size_mul(n->in[1]->n, sizeof(float)));
        at->x = last ? graph_own(g, size_mul(2, all, sizeof(float))) : NULL;
        at->dy = at->x ? at->x + all : NULL;
    }
    size_t levels = 0;
    while (levels < 60 && (uint64_t)1 << levels < N) levels++;
    n->flops = 5 * (uint64_t)g->B * D * N * levels; // two real transforms of N
}
static const op longconv = {
    .name = "longconv",
    .attributes = sizeof(longconv_attributes),
    .size = longconv_size,
    .forward = longconv_fwd,
    .backward = longconv_bwd,
    .gathers = 1,
    .backward_reads = READS_IN(0) | READS_IN(1) | READS_IN(2),
};

// As the kernel does; NaN stays.
static float squash(float k, float lambda) {
    return k > lambda ? k - lambda : k < -lambda ? k + lambda : k - k;
}

// ---- As a direct sum, forward only: no row depends on a later one, not even by rounding ------------------
// Scratch: what the sum asks for, then the squashed kernels with the skip in their first taps.
static smx_conv direct_of(const graph *g, const node *n) {
    const size_t D = last_dim(n->out);
    return conv_sizes(g->B, g->L, D, D, n->in[1]->shape[1], 0);
}
static void direct_fwd(graph *g, node *n) {
    const size_t D = last_dim(n->out), taps = n->in[1]->shape[1];
    const float lambda = ((const longconv_attributes *)n->attributes)->lambda, *skip = skip_of(n);
    float *k = n->scratch + n->piece_n;
    for (size_t i = 0; i < D * taps; i++) {
        k[i] = squash(n->in[1]->data[i], lambda);
        if (i % taps == 0 && skip) k[i] += skip[i / taps];
    }
    const smx_conv p = direct_of(g, n);
    smx_conv_fwd(n->out->data, n->in[0]->data, k, n->scratch, &p);
}
static void direct_size(graph *g, node *n) {
    const smx_conv p = direct_of(g, n);
    scratch_size(n, 1, 0, smx_conv_scratch_bytes(&p));
    n->scratch_n += n->in[1]->n;
}
static const op direct = {
    .name = "longconv",
    .attributes = sizeof(longconv_attributes),
    .size = direct_size,
    .forward = direct_fwd,
};

// ---- In a stream: the same sum row by row -----------------------------------------------------------------
// The squashed kernels with the skip in their first taps, the oldest tap first: once, as no row reaches them.
static void kernel_fwd(graph *g, node *n) {
    (void)g;
    const tensor *k = n->in[0];
    const size_t taps = last_dim(k);
    const float lambda = ((const longconv_attributes *)n->attributes)->lambda;
    for (size_t i = 0; i < k->n; i++) {
        float *to = n->out->data + i / taps * taps + (taps - 1 - i % taps);
        *to = squash(k->data[i], lambda);
        if (i % taps == 0 && n->n_in > 1) *to += n->in[1]->data[i / taps];
    }
}
static const op stream_kernel = {
    .name = "longconv_kernel",
    .attributes = sizeof(longconv_attributes),
    .forward = kernel_fwd,
};
// in: x, these kernels. state [B][D][L]: the rows so far, channel by channel.
static uint64_t stream_state(const graph *g, const node *n) { return size_mul(g->B, last_dim(n->out), g->L); }
static void stream_push(graph *g, node *n, float *state, size_t at, size_t rows) {
    const size_t L = g->L, D = last_dim(n->out), taps = last_dim(n->in[1]);
    for (size_t c = 0; c < D; c++)
        for (size_t b = 0; b < g->B; b++) {
            float *seen = state + (b * D + c) * L;
            const float *k_end = n->in[1]->data + (c + 1) * taps;
            for (size_t t = at; t < at + rows; t++) {
                const size_t row = (b * rows + t - at) * D + c, count = t + 1 < taps ? t + 1 : taps;
                seen[t] = n->in[0]->data[row];
                n->out->data[row] = smx_dot(k_end - count, seen + t + 1 - count, count);
            }
        }
}
static int stream_grows(const graph *g, const node *n) {
    (void)g, (void)n;
    return 1;
}
static const op stream_sum = {
    .name = "longconv",
    .state_n = stream_state,
    .push = stream_push,
    .grows = stream_grows,
};

tensor *op_longconv(graph *g, tensor *x, tensor *k, tensor *skip, double lambda) {
    const longconv_attributes attributes = {.lambda = (float)lambda};
    if (g->mode == GRAPH_STREAM) {
        tensor *kernel = graph_node(g, &stream_kernel, skip ? 2 : 1, (tensor *[]){k, skip}, &attributes);
        return graph_node(g, &stream_sum, 2, (tensor *[]){x, kernel}, NULL);
    }
    g->has_long = 1;
    return graph_node(g, g->direct ? &direct : &longconv, skip ? 3 : 2, (tensor *[]){x, k, skip},
                      &attributes);
}
