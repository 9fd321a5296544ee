// ops_linear.c: linear attention and its feature map as graph nodes.
#include "ops_private.h"

static const unary elu1 = {
    {"elu1", rows_forward, rows_backward, 0, 1, 0, unary_rows, unary_bwd_rows}, smx_elu1_fwd, smx_elu1_bwd};
tensor *op_elu1(graph *g, tensor *x) { return apply_unary(g, &elu1, x); }

// saved: the normaliser of each row, [B][H][L]. a: L, D, H, C, norm; a[9]: scratch of a piece.
static smx_linattn shape_of(const node *n, size_t B) {
    return (smx_linattn){B, n->a[0], n->a[1], n->a[2], n->a[1], n->a[3], (int)n->a[4], n->f[0]};
}
static void linattn_fwd_piece(void *arg, size_t i) {
    const job *j = arg;
    const node *n = j->n;
    const size_t from = shard_start(j->g->B, i), at = from * n->a[0] * n->a[1];
    const smx_linattn p = shape_of(n, shard_start(j->g->B, i + 1) - from);
    smx_linattn_fwd(n->out->data + at, n->saved + from * p.H * p.L, n->in[0]->data + at, n->in[1]->data + at,
                    n->in[2]->data + at, n->scratch + i * n->a[9], &p);
}
static void linattn_fwd(graph *g, node *n) {
    graph_pieces(g, shard_count(g->B), linattn_fwd_piece, &(job){g, n});
}
static void linattn_bwd_piece(void *arg, size_t i) {
    const job *j = arg;
    const node *n = j->n;
    const size_t from = shard_start(j->g->B, i), at = from * n->a[0] * n->a[1];
    const smx_linattn p = shape_of(n, shard_start(j->g->B, i + 1) - from);
    smx_linattn_bwd(n->in_grad[0] + at, n->in_grad[1] + at, n->in_grad[2] + at, n->out->grad + at,
                    n->in[0]->data + at, n->in[1]->data + at, n->in[2]->data + at, n->out->data + at,
                    n->saved + from * p.H * p.L, n->back_scratch + i * n->a[9], &p);
}
static void linattn_bwd(graph *g, node *n) {
    graph_pieces(g, shard_count(g->B), linattn_bwd_piece, &(job){g, n});
}
static const op_kind linattn = {"linear_attention", linattn_fwd, linattn_bwd, 7, 1, 0, NULL, NULL};

tensor *op_linear_attention(graph *g, tensor *q, tensor *k, tensor *v, size_t heads, int normaliser,
                            size_t block) {
    tensor *y = like(g, v);
    node *n = graph_node(g, &linattn, y, 3, (tensor *[]){q, k, v});
    n->a[0] = g->L, n->a[1] = last_dim(q), n->a[2] = heads, n->a[3] = block, n->a[4] = (size_t)normaliser;
    n->f[0] = 1e-5f;
    if (g->failed) return y;
    const smx_linattn p = shape_of(n, 1);
    n->saved_n = g->B * heads * g->L;
    n->a[9] = floats(g->mode == GRAPH_TRAIN ? smx_linattn_bwd_scratch_bytes(&p)
                                            : smx_linattn_fwd_scratch_bytes(&p));
    n->scratch_n = shard_count(g->B) * n->a[9];
    const uint64_t C = block && block < g->L ? block : g->L, d = p.D / p.H;
    n->flops = 2 * (uint64_t)q->n * (C + 1 + 2 * (C < g->L) * d);
    return y;
}
