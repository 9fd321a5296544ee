// recurrent.c: LSTM and GRU. Pieces are sequences.
#include "model/ops/pieces.h"
#include "model/ops/ops.h"

// in: z [B][L][gates E], u [E][gates E], of the GRU bias [3 E]. saved: what backward asks for of every row.
static int is_gru(const node *n) { return n->n_in > 2; }
static smx_recurrent sequences(const graph *g, const node *n, size_t count) {
    return (smx_recurrent){count, g->L, last_dim(n->out)};
}
static size_t kept(const node *n) { return is_gru(n) ? 4 : 5; }    // arrays of E that a row keeps
static size_t carried(const node *n) { return is_gru(n) ? 1 : 2; } // and that go on to the next
static uint32_t recurrent_shape(const graph *g, const node *n, uint32_t *shape) {
    (void)g;
    const tensor *z = n->in[0];
    for (uint32_t i = 0; i < z->rank; i++) shape[i] = z->shape[i];
    shape[z->rank - 1] = n->in[1]->shape[0];
    return z->rank;
}
static void recurrent_size(graph *g, node *n) {
    const size_t pieces = shard_count(g->B), E = last_dim(n->out);
    const int train = g->mode == GRAPH_TRAIN, stream = g->mode == GRAPH_STREAM;
    const smx_recurrent p = sequences(g, n, stream ? g->B : (g->B + pieces - 1) / pieces);
    scratch_size(n, pieces, train ? n->in[1]->n + 3 * E : 0,
                 train ? smx_recurrent_bwd_scratch_bytes(&p) : smx_recurrent_fwd_scratch_bytes(&p));
    n->saved_n = train ? size_mul(n->out->n, kept(n)) : 0;
    n->flops = 2 * (uint64_t)rows_of(n->out) * n->in[1]->n;
}
static float *saved_of(const node *n, size_t row) {
    return n->saved ? n->saved + row * last_dim(n->out) * kept(n) : NULL;
}
// Of sequences from `from` on; state: what they carry, NULL: nothing, and it is not asked for.
static void sequences_fwd(node *n, size_t piece, size_t from, float *state, const smx_recurrent *p) {
    const size_t row = from * p->L;
    float *y = n->out->data + row * p->E, *saved = saved_of(n, row);
    const float *z = n->in[0]->data + row * last_dim(n->in[0]), *u = n->in[1]->data;
    if (is_gru(n))
        smx_gru_fwd(y, state, saved, z, u, n->in[2]->data, state, scratch_of(n, piece), p);
    else
        smx_lstm_fwd(y, state, saved, z, u, state, scratch_of(n, piece), p);
}
static void forward_piece(graph *g, node *n, size_t piece, size_t from, size_t count) {
    const smx_recurrent p = sequences(g, n, count);
    sequences_fwd(n, piece, from, NULL, &p);
}
static void recurrent_push(graph *g, node *n, float *state, size_t at, size_t rows) {
    (void)at;
    sequences_fwd(n, 0, 0, state, &(smx_recurrent){g->B, rows, last_dim(n->out)});
}
static void backward_piece(graph *g, node *n, size_t piece, size_t from, size_t count) {
    const smx_recurrent p = sequences(g, n, count);
    const size_t row = from * p.L;
    float *dz = n->in_grad[0] + row * last_dim(n->in[0]), *du = sums_of(n, piece), *dbias = du + n->in[1]->n;
    const float *dy = n->out->grad + row * p.E, *y = n->out->data + row * p.E, *u = n->in[1]->data;
    if (is_gru(n))
        smx_gru_bwd(dz, du, dbias, NULL, dy, NULL, y, u, saved_of(n, row), NULL, back_scratch_of(n, piece),
                    &p);
    else
        smx_lstm_bwd(dz, du, NULL, dy, NULL, y, u, saved_of(n, row), NULL, back_scratch_of(n, piece), &p);
}
static void recurrent_fwd(graph *g, node *n) { sequences_in_pieces(g, n, forward_piece); }
static void recurrent_bwd(graph *g, node *n) {
    sequences_in_pieces(g, n, backward_piece);
    add_sums(n, 1, g->share.pieces, 0);
    if (is_gru(n)) add_sums(n, 2, g->share.pieces, n->in[1]->n);
}
static uint64_t recurrent_state(const graph *g, const node *n) {
    return size_mul(g->B, carried(n), last_dim(n->out));
}
static const op recurrent = {
    .name = "recurrent",
    .state_n = recurrent_state,
    .push = recurrent_push,
    .shape = recurrent_shape,
    .size = recurrent_size,
    .forward = recurrent_fwd,
    .backward = recurrent_bwd,
    .backward_reads = READS_IN(1) | READS_OUT,
};
tensor *op_lstm(graph *g, tensor *z, tensor *u) {
    return graph_node(g, &recurrent, 2, (tensor *[]){z, u}, NULL);
}
tensor *op_gru(graph *g, tensor *z, tensor *u, tensor *bias) {
    return graph_node(g, &recurrent, 3, (tensor *[]){z, u, bias}, NULL);
}
