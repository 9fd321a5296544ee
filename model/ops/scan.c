// ops_scan.c: MEGA's moving average and Mamba's selective scan as graph nodes. Pieces are sequences; each sums its own
// part of the weights' gradients.
#include "ops_private.h"

// saved: states of every sequence at the start of each segment
static float *states_of(const node *n, size_t sequence) {
    return n->saved + sequence * smx_scan_state_floats(n->a[0], n->a[1], n->a[2]);
}

// in: x, alpha, delta, beta, eta, skip. a: L, D, S; a[5]: floats of a piece's scratch, a[9]: those of its part
static void ema_fwd_piece(void *arg, size_t i) {
    const job *j = arg;
    const node *n = j->n;
    const size_t from = shard_start(j->g->B, i), count = shard_start(j->g->B, i + 1) - from,
                 at = from * n->a[0] * n->a[1];
    smx_ema_fwd(n->out->data + at, states_of(n, from), n->in[0]->data + at, n->in[1]->data, n->in[2]->data,
                n->in[3]->data, n->in[4]->data, n->in[5]->data, n->scratch + i * n->a[9], count, n->a[0],
                n->a[1], n->a[2]);
}
static void ema_fwd(graph *g, node *n) { graph_pieces(g, shard_count(g->B), ema_fwd_piece, &(job){g, n}); }
static void ema_bwd_piece(void *arg, size_t i) {
    const job *j = arg;
    const node *n = j->n;
    const size_t from = shard_start(j->g->B, i), count = shard_start(j->g->B, i + 1) - from,
                 at = from * n->a[0] * n->a[1];
    const size_t size = n->in[1]->n;
    float *d = part(n, i, 4 * size + n->a[1]);
    smx_ema_bwd(n->in_grad[0] ? n->in_grad[0] + at : NULL, d, d + size, d + 2 * size, d + 3 * size,
                d + 4 * size, n->out->grad + at, n->in[0]->data + at, n->in[1]->data, n->in[2]->data,
                n->in[3]->data, n->in[4]->data, n->in[5]->data, states_of(n, from),
                n->back_scratch + i * n->a[9] + n->a[5], count, n->a[0], n->a[1], n->a[2]);
}
static void ema_bwd(graph *g, node *n) {
    graph_pieces(g, shard_count(g->B), ema_bwd_piece, &(job){g, n});
    for (size_t k = 1; k < 6; k++) add_parts(n, k, shard_count(g->B), (k - 1) * n->in[1]->n);
}
static const op_kind ema = {"ema", ema_fwd, ema_bwd, 63, 0, 0, NULL, NULL};
tensor *op_ema(graph *g, tensor *x, tensor *alpha, tensor *delta, tensor *beta, tensor *eta, tensor *skip) {
    tensor *y = like(g, x);
    node *n = graph_node(g, &ema, y, 6, (tensor *[]){x, alpha, delta, beta, eta, skip});
    n->a[0] = g->L, n->a[1] = last_dim(x), n->a[2] = alpha->n / n->a[1];
    n->a[5] = floats((4 * alpha->n + n->a[1]) * sizeof(float));
    n->a[9] = n->a[5] + floats(smx_scan_scratch_bytes(n->a[0], n->a[1], n->a[2]));
    n->scratch_n = SHARDS * n->a[9];
    n->saved_n = g->B * smx_scan_state_floats(n->a[0], n->a[1], n->a[2]);
    n->flops = 6 * (uint64_t)x->n * n->a[2];
    return y;
}

// in: x, dt, a_log, b, c, skip
static void scan_fwd_piece(void *arg, size_t i) {
    const job *j = arg;
    const node *n = j->n;
    const size_t from = shard_start(j->g->B, i), count = shard_start(j->g->B, i + 1) - from;
    const size_t at = from * n->a[0] * n->a[1], as = from * n->a[0] * n->a[2];
    smx_scan_fwd(n->out->data + at, states_of(n, from), n->in[0]->data + at, n->in[1]->data + at,
                 n->in[2]->data, n->in[3]->data + as, n->in[4]->data + as, n->in[5]->data,
                 n->scratch + i * n->a[9], count, n->a[0], n->a[1], n->a[2]);
}
static void scan_fwd(graph *g, node *n) { graph_pieces(g, shard_count(g->B), scan_fwd_piece, &(job){g, n}); }
static void scan_bwd_piece(void *arg, size_t i) {
    const job *j = arg;
    const node *n = j->n;
    const size_t from = shard_start(j->g->B, i), count = shard_start(j->g->B, i + 1) - from,
                 size = n->in[2]->n;
    const size_t at = from * n->a[0] * n->a[1], as = from * n->a[0] * n->a[2];
    float *d = part(n, i, size + n->a[1]);
    smx_scan_bwd(n->in_grad[0] + at, n->in_grad[1] + at, d, n->in_grad[3] + as, n->in_grad[4] + as, d + size,
                 n->out->grad + at, n->in[0]->data + at, n->in[1]->data + at, n->in[2]->data,
                 n->in[3]->data + as, n->in[4]->data + as, n->in[5]->data, states_of(n, from),
                 n->back_scratch + i * n->a[9] + n->a[5], count, n->a[0], n->a[1], n->a[2]);
}
static void scan_bwd(graph *g, node *n) {
    graph_pieces(g, shard_count(g->B), scan_bwd_piece, &(job){g, n});
    add_parts(n, 2, shard_count(g->B), 0);
    add_parts(n, 5, shard_count(g->B), n->in[2]->n);
}
static const op_kind scan = {"scan", scan_fwd, scan_bwd, 63, 0, 0, NULL, NULL};
tensor *op_selective_scan(graph *g, tensor *x, tensor *dt, tensor *a_log, tensor *b, tensor *c,
                          tensor *skip) {
    tensor *y = like(g, x);
    node *n = graph_node(g, &scan, y, 6, (tensor *[]){x, dt, a_log, b, c, skip});
    n->a[0] = g->L, n->a[1] = last_dim(x), n->a[2] = last_dim(b);
    n->a[5] = floats((a_log->n + n->a[1]) * sizeof(float));
    n->a[9] = n->a[5] + floats(smx_scan_scratch_bytes(n->a[0], n->a[1], n->a[2]));
    n->scratch_n = SHARDS * n->a[9];
    n->saved_n = g->B * smx_scan_state_floats(n->a[0], n->a[1], n->a[2]);
    n->flops = 6 * (uint64_t)x->n * n->a[2];
    return y;
}
