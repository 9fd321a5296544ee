// program.c: a recurrence as a program (kernels/recurrent/program.h), which model/equations makes of a text's
// scan. Pieces are sequences; saved: the states of every sequence, one in so many rows.
#include "kernels/recurrent/program.h"
#include "model/ops/ops.h"
#include "model/ops/pieces.h"

// in: [B][L][columns] each, then weights and learnt starts
static const program *program_of(const node *n) { return n->attributes; }
static uint32_t program_shape(const graph *g, const node *n, uint32_t *shape) {
    shape[0] = (uint32_t)g->B;
    shape[1] = (uint32_t)g->span;
    shape[2] = (uint32_t)program_of(n)->out_columns;
    return 3;
}
static size_t weights_n(const node *n) {
    size_t all = 0;
    for (size_t i = program_of(n)->n_inputs; i < n->n_in; i++) all += n->in[i]->n;
    return all;
}
static void program_size(graph *g, node *n) {
    const program *p = program_of(n);
    const int train = g->mode == GRAPH_TRAIN;
    scratch_size(n, g->mode == GRAPH_STREAM ? 1 : shard_count(g->B), train ? weights_n(n) : 0,
                 train ? smx_program_bwd_scratch_bytes(g->L, p) : smx_program_fwd_scratch_bytes(p));
    n->saved_n = train ? size_mul(g->B, smx_program_saved_floats(g->L, p)) : 0;
    n->flops = 2 * (uint64_t)rows_of(n->out) * p->heads * p->products;
}
static void inputs_from(const float **in, const graph *g, const node *n, size_t sequence) {
    const program *p = program_of(n);
    for (size_t i = 0; i < n->n_in; i++)
        in[i] = n->in[i]->data + (i < p->n_inputs ? sequence * g->L * p->columns[i] : 0);
}
static void forward_piece(graph *g, node *n, size_t piece, size_t from, size_t count) {
    const program *p = program_of(n);
    const float *in[PROGRAM_ARRAYS];
    inputs_from(in, g, n, from);
    smx_program_fwd(n->out->data + from * g->L * p->out_columns,
                    n->saved_n ? n->saved + from * smx_program_saved_floats(g->L, p) : NULL, NULL, in,
                    scratch_of(n, piece), 0, count, g->L, p);
}
static void backward_piece(graph *g, node *n, size_t piece, size_t from, size_t count) {
    const program *p = program_of(n);
    const float *in[PROGRAM_ARRAYS];
    float *din[PROGRAM_ARRAYS], *sums = sums_of(n, piece);
    inputs_from(in, g, n, from);
    for (size_t i = 0; i < n->n_in; i++) {
        din[i] = i >= p->n_inputs ? sums : n->in_grad[i] ? n->in_grad[i] + from * g->L * p->columns[i] : NULL;
        if (i >= p->n_inputs) sums += n->in[i]->n;
    }
    smx_program_bwd(din, n->out->grad + from * g->L * p->out_columns, in,
                    n->saved + from * smx_program_saved_floats(g->L, p), back_scratch_of(n, piece), count,
                    g->L, p);
}
static void program_forward(graph *g, node *n) { sequences_in_pieces(g, n, forward_piece); }
static void program_backward(graph *g, node *n) {
    sequences_in_pieces(g, n, backward_piece);
    size_t at = 0;
    for (size_t i = program_of(n)->n_inputs; i < n->n_in; at += n->in[i++]->n)
        add_sums(n, i, g->share.pieces, at);
}
static uint64_t program_carried(const graph *g, const node *n) {
    return size_mul(g->B, smx_program_state_floats(program_of(n)));
}
static void program_push(graph *g, node *n, float *state, size_t at, size_t rows) {
    const float *in[PROGRAM_ARRAYS];
    inputs_from(in, g, n, 0);
    smx_program_fwd(n->out->data, NULL, state, in, scratch_of(n, 0), at, g->B, rows, program_of(n));
}
static const op scan = {
    .name = "scan",
    .attributes = sizeof(program),
    .shape = program_shape,
    .size = program_size,
    .state_n = program_carried,
    .push = program_push,
    .forward = program_forward,
    .backward = program_backward,
    .backward_reads = READS_OUT - 1, // every input
};
tensor *op_program(graph *g, tensor *const *in, size_t n_in, const program *p) {
    return graph_node(g, &scan, n_in, in, p);
}
