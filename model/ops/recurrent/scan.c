// scan.c: recurrences with S states a channel: MEGA's moving average and Mamba's selective scan. Pieces are
// sequences; saved: the states of every sequence at the start of each segment.
#include "model/ops/pieces.h"
#include "model/ops/ops.h"

static float *states_of(const graph *g, const node *n, size_t sequence, size_t S) {
    return n->saved + sequence * smx_scan_state_floats(g->L, last_dim(n->out), S);
}
// sums: of a piece, of all its weights' gradients
static void scan_size(graph *g, node *n, size_t sums, size_t S) {
    const size_t D = last_dim(n->out);
    scratch_size(n, SHARDS, sums, smx_scan_scratch_bytes(g->L, D, S));
    n->saved_n = g->mode == GRAPH_STREAM ? 0 : size_mul(g->B, smx_scan_state_floats(g->L, D, S));
    n->flops = 6 * (uint64_t)n->out->n * S;
}

// ---- in: x, alpha, delta, beta, eta [D][S], skip [D] ------------------------------------------------------
static size_t ema_states(const node *n) { return n->in[1]->n / last_dim(n->out); }
static smx_ema_weights ema_weights(const node *n) {
    return (smx_ema_weights){.alpha = n->in[1]->data,
                             .delta = n->in[2]->data,
                             .beta = n->in[3]->data,
                             .eta = n->in[4]->data,
                             .skip = n->in[5]->data};
}
static void ema_fwd_piece(graph *g, node *n, size_t piece, size_t from, size_t count) {
    const smx_ema p = {.B = count, .L = g->L, .D = last_dim(n->out), .S = ema_states(n)};
    const size_t at = from * p.L * p.D;
    const smx_ema_weights weights = ema_weights(n);
    smx_ema_fwd(n->out->data + at, states_of(g, n, from, p.S), n->in[0]->data + at, &weights,
                scratch_of(n, piece), &p);
}
static void ema_bwd_piece(graph *g, node *n, size_t piece, size_t from, size_t count) {
    const smx_ema p = {.B = count, .L = g->L, .D = last_dim(n->out), .S = ema_states(n)};
    const size_t at = from * p.L * p.D, size = n->in[1]->n;
    float *d = sums_of(n, piece);
    const smx_ema_weights weights = ema_weights(n);
    const smx_ema_gradients dweights = {
        .alpha = d, .delta = d + size, .beta = d + 2 * size, .eta = d + 3 * size, .skip = d + 4 * size};
    smx_ema_bwd(n->in_grad[0] ? n->in_grad[0] + at : NULL, &dweights, n->out->grad + at, n->in[0]->data + at,
                &weights, states_of(g, n, from, p.S), back_scratch_of(n, piece), &p);
}
static void ema_fwd(graph *g, node *n) { sequences_in_pieces(g, n, ema_fwd_piece); }
static void ema_bwd(graph *g, node *n) {
    sequences_in_pieces(g, n, ema_bwd_piece);
    for (size_t i = 1; i < 6; i++) add_sums(n, i, g->share.pieces, (i - 1) * n->in[1]->n);
}
static void ema_size(graph *g, node *n) {
    scan_size(g, n, 4 * n->in[1]->n + last_dim(n->out), ema_states(n));
}
static uint64_t ema_state(const graph *g, const node *n) {
    return size_mul(g->B, smx_scan_state_floats(1, last_dim(n->out), ema_states(n)));
}
static void ema_push(graph *g, node *n, float *state, size_t at, size_t rows) {
    const smx_ema p = {.B = g->B, .L = rows, .D = last_dim(n->out), .S = ema_states(n)};
    const smx_ema_weights weights = ema_weights(n);
    smx_ema_push(n->out->data, state, n->in[0]->data, &weights, scratch_of(n, 0), at, &p);
}
#define SCAN_READS (READS_IN(0) | READS_IN(1) | READS_IN(2) | READS_IN(3) | READS_IN(4) | READS_IN(5))
static const op ema = {
    .name = "ema",
    .state_n = ema_state,
    .push = ema_push,
    .size = ema_size,
    .forward = ema_fwd,
    .backward = ema_bwd,
    .backward_reads = SCAN_READS,
};
tensor *op_ema(graph *g, tensor *x, tensor *alpha, tensor *delta, tensor *beta, tensor *eta, tensor *skip) {
    return graph_node(g, &ema, 6, (tensor *[]){x, alpha, delta, beta, eta, skip}, NULL);
}

// ---- in: x, dt as x, a_log [D][S], b, c [B][L][S], skip [D] -----------------------------------------------
static smx_scan_system system_of(const graph *g, const node *n, size_t from) {
    const size_t at = from * g->L * last_dim(n->out), as = from * g->L * last_dim(n->in[3]);
    return (smx_scan_system){.dt = n->in[1]->data + at,
                             .a_log = n->in[2]->data,
                             .b = n->in[3]->data + as,
                             .c = n->in[4]->data + as,
                             .skip = n->in[5]->data};
}
static void selective_fwd_piece(graph *g, node *n, size_t piece, size_t from, size_t count) {
    const smx_scan p = {.B = count, .L = g->L, .D = last_dim(n->out), .S = last_dim(n->in[3])};
    const size_t at = from * p.L * p.D;
    const smx_scan_system system = system_of(g, n, from);
    smx_scan_fwd(n->out->data + at, states_of(g, n, from, p.S), n->in[0]->data + at, &system,
                 scratch_of(n, piece), &p);
}
static void selective_bwd_piece(graph *g, node *n, size_t piece, size_t from, size_t count) {
    const smx_scan p = {.B = count, .L = g->L, .D = last_dim(n->out), .S = last_dim(n->in[3])};
    const size_t at = from * p.L * p.D, as = from * p.L * p.S;
    float *d = sums_of(n, piece);
    const smx_scan_system system = system_of(g, n, from);
    const smx_scan_gradients dsystem = {.dt = n->in_grad[1] + at,
                                        .a_log = d,
                                        .b = n->in_grad[3] + as,
                                        .c = n->in_grad[4] + as,
                                        .skip = d + n->in[2]->n};
    smx_scan_bwd(n->in_grad[0] + at, &dsystem, n->out->grad + at, n->in[0]->data + at, &system,
                 states_of(g, n, from, p.S), back_scratch_of(n, piece), &p);
}
static void selective_fwd(graph *g, node *n) { sequences_in_pieces(g, n, selective_fwd_piece); }
static void selective_bwd(graph *g, node *n) {
    sequences_in_pieces(g, n, selective_bwd_piece);
    add_sums(n, 2, g->share.pieces, 0);
    add_sums(n, 5, g->share.pieces, n->in[2]->n);
}
static void selective_size(graph *g, node *n) {
    scan_size(g, n, n->in[2]->n + last_dim(n->out), last_dim(n->in[3]));
}
static uint64_t selective_state(const graph *g, const node *n) {
    return size_mul(g->B, smx_scan_state_floats(1, last_dim(n->out), last_dim(n->in[3])));
}
static void selective_push(graph *g, node *n, float *state, size_t at, size_t rows) {
    const smx_scan p = {.B = g->B, .L = rows, .D = last_dim(n->out), .S = last_dim(n->in[3])};
    const smx_scan_system system = system_of(g, n, 0);
    smx_scan_push(n->out->data, state, n->in[0]->data, &system, scratch_of(n, 0), at, &p);
}
static const op selective_scan = {
    .name = "selective_scan",
    .state_n = selective_state,
    .push = selective_push,
    .size = selective_size,
    .forward = selective_fwd,
    .backward = selective_bwd,
    .backward_reads = SCAN_READS,
};
tensor *op_selective_scan(graph *g, tensor *x, tensor *dt, tensor *a_log, tensor *b, tensor *c,
                          tensor *skip) {
    return graph_node(g, &selective_scan, 6, (tensor *[]){x, dt, a_log, b, c, skip}, NULL);
}
