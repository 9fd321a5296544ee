// s4d_kernel.c: the impulse responses [D][L] of S4D's state space models. Pieces are groups of channels.
#include "model/ops/pieces.h"
#include "model/ops/ops.h"

// in: log_dt [D], log_a [D][S], (a_im [D][S],) C [D][S][2]; without a_im C is real, [D][S].
static uint32_t s4d_shape(const graph *g, const node *n, uint32_t *shape) {
    shape[0] = (uint32_t)n->in[0]->n;
    shape[1] = (uint32_t)g->L;
    return 2;
}
static smx_s4d_weights weights_of(const node *n, size_t from) {
    const size_t S = n->in[1]->shape[1], last = n->n_in - 1, real = n->n_in == 3;
    return (smx_s4d_weights){.log_dt = n->in[0]->data + from,
                             .log_a = n->in[1]->data + from * S,
                             .a_im = real ? NULL : n->in[2]->data + from * S,
                             .C = n->in[last]->data + from * S * (real ? 1 : 2)};
}
static void forward_piece(graph *g, node *n, size_t piece, size_t from, size_t count) {
    const smx_s4d p = {.L = g->L, .D = count, .S = n->in[1]->shape[1]};
    const smx_s4d_weights weights = weights_of(n, from);
    smx_s4d_fwd(n->out->data + from * p.L, &weights, scratch_of(n, piece), &p);
}
static void backward_piece(graph *g, node *n, size_t piece, size_t from, size_t count) {
    const smx_s4d p = {.L = g->L, .D = count, .S = n->in[1]->shape[1]};
    const size_t last = n->n_in - 1, real = n->n_in == 3;
    const smx_s4d_weights weights = weights_of(n, from);
    const smx_s4d_gradients dweights = {.log_dt = n->in_grad[0] + from,
                                        .log_a = n->in_grad[1] + from * p.S,
                                        .a_im = real ? NULL : n->in_grad[2] + from * p.S,
                                        .C = n->in_grad[last] + from * p.S * (real ? 1 : 2)};
    smx_s4d_bwd(&dweights, n->out->grad + from * p.L, &weights, back_scratch_of(n, piece), &p);
}
static void s4d_fwd(graph *g, node *n) { in_pieces(g, n, n->in[0]->n, CHANNEL_UNIT, forward_piece); }
static void s4d_bwd(graph *g, node *n) { in_pieces(g, n, n->in[0]->n, CHANNEL_UNIT, backward_piece); }
static void s4d_size(graph *g, node *n) {
    scratch_size(n, pieces_of(n->in[0]->n, CHANNEL_UNIT), 0, smx_s4d_scratch_bytes(g->L));
    n->flops = (n->n_in > 3 ? 4 : 2) * (uint64_t)n->out->n * n->in[1]->shape[1];
}
static const op s4d_kernel = {
    .name = "s4d_kernel",
    .shape = s4d_shape,
    .size = s4d_size,
    .forward = s4d_fwd,
    .backward = s4d_bwd,
    .backward_reads = READS_IN(0) | READS_IN(1) | READS_IN(2) | READS_IN(3),
};
tensor *op_s4d_kernel(graph *g, tensor *log_dt, tensor *log_a, tensor *a_im, tensor *C) {
    return graph_node(g, &s4d_kernel, a_im ? 4 : 3,
                      a_im ? (tensor *[]){log_dt, log_a, a_im, C} : (tensor *[]){log_dt, log_a, C}, NULL);
}
