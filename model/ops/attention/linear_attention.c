// linear_attention.c: causal linear attention in blocks of rows. Pieces are sequences.
#include "model/ops/pieces.h"
#include "model/ops/ops.h"

// in: q, k, v. saved: the normaliser of each row, [B][H][L].
typedef struct {
    size_t heads, block;
    int normaliser;
} linear_attention_attributes;

static smx_linattn sequences(const graph *g, const node *n, size_t count) {
    const linear_attention_attributes *at = n->attributes;
    const size_t D = last_dim(n->out);
    return (smx_linattn){.B = count,
                         .L = g->L,
                         .D = D,
                         .H = at->heads,
                         .stride = D,
                         .C = at->block,
                         .norm = at->normaliser,
                         .eps = 1e-5f};
}
static void forward_piece(graph *g, node *n, size_t piece, size_t from, size_t count) {
    const smx_linattn p = sequences(g, n, count);
    const size_t at = from * p.L * p.D;
    smx_linattn_fwd(n->out->data + at, n->saved + from * p.H * p.L, n->in[0]->data + at, n->in[1]->data + at,
                    n->in[2]->data + at, scratch_of(n, piece), &p);
}
static void backward_piece(graph *g, node *n, size_t piece, size_t from, size_t count) {
    const smx_linattn p = sequences(g, n, count);
    const size_t at = from * p.L * p.D;
    smx_linattn_bwd(n->in_grad[0] + at, n->in_grad[1] + at, n->in_grad[2] + at, n->out->grad + at,
                    n->in[0]->data + at, n->in[1]->data + at, n->in[2]->data + at, n->out->data + at,
                    n->saved + from * p.H * p.L, back_scratch_of(n, piece), &p);
}
static void linear_attention_fwd(graph *g, node *n) { sequences_in_pieces(g, n, forward_piece); }
static void linear_attention_bwd(graph *g, node *n) { sequences_in_pieces(g, n, backward_piece); }
static void linear_attention_size(graph *g, node *n) {
    const smx_linattn p = sequences(g, n, 1);
    const size_t block = ((const linear_attention_attributes *)n->attributes)->block;
    n->saved_n = g->mode == GRAPH_STREAM ? 0 : size_mul(g->B, p.H, p.L);
    scratch_size(n, shard_count(g->B), 0,
                 g->mode == GRAPH_TRAIN ? smx_linattn_bwd_scratch_bytes(&p)
                                        : smx_linattn_fwd_scratch_bytes(&p));
    const uint64_t C = block && block < p.L ? block : p.L, d = p.D / p.H;
    n->flops = 2 * (uint64_t)n->out->n * (C + 1 + 2 * (C < p.L) * d);
}
static uint64_t linear_attention_state(const graph *g, const node *n) {
    const smx_linattn p = sequences(g, n, g->B);
    return smx_linattn_carried_floats(&p);
}
static void linear_attention_push(graph *g, node *n, float *state, size_t at, size_t rows) {
    const smx_linattn p = sequences(g, n, g->B);
    smx_linattn_push(n->out->data, state, n->in[0]->data, n->in[1]->data, n->in[2]->data, scratch_of(n, 0),
                     at, rows, &p);
}
static int linear_attention_grows(const graph *g, const node *n) {
    const size_t block = ((const linear_attention_attributes *)n->attributes)->block;
    return !block || block > g->L;
}
static const op linear_attention = {
    .name = "linear_attention",
    .state_n = linear_attention_state,
    .push = linear_attention_push,
    .grows = linear_attention_grows,
    .attributes = sizeof(linear_attention_attributes),
    .size = linear_attention_size,
    .forward = linear_attention_fwd,
    .backward = linear_attention_bwd,
    .backward_reads = READS_IN(0) | READS_IN(1) | READS_IN(2) | READS_OUT,
};
tensor *op_linear_attention(graph *g, tensor *q, tensor *k, tensor *v, size_t heads, int normaliser,
                            size_t block) {
    return graph_node(g, &linear_attention, 3, (tensor *[]){q, k, v},
                      &(linear_attention_attributes){heads, block, normaliser});
}
