// ops_gate.c: the small pieces of gated layers as graph nodes: scale and shift per channel, mix by a gate, softplus, a
// weight repeated.
#include "ops_private.h"

// ---- y = gain x + bias ----------------------------------------------------------------------------------
static void affine_rows(node *n, size_t piece, size_t from, size_t count) {
    (void)piece;
    const size_t D = n->a[1], at = from * D;
    smx_affine_fwd(n->out->data + at, n->in[0]->data + at, n->in[1]->data, n->in[2]->data, count, D);
}
static void affine_bwd_piece(void *arg, size_t i) {
    const node *n = ((job *)arg)->n;
    size_t from, count, D = n->a[1];
    row_piece(n->a[0], i, &from, &count);
    float *parts = part(n, i, 2 * D);
    smx_affine_bwd(n->in_grad[0] + from * D, parts, parts + D, n->out->grad + from * D,
                   n->in[0]->data + from * D, n->in[1]->data, count, D);
}
static void affine_bwd(graph *g, node *n) {
    graph_pieces(g, row_pieces(n->a[0]), affine_bwd_piece, &(job){g, n});
    add_parts(n, 1, row_pieces(n->a[0]), 0);
    add_parts(n, 2, row_pieces(n->a[0]), n->a[1]);
}
static const op_kind affine = {"affine", rows_forward, affine_bwd, 3, 0, 0, affine_rows, NULL};
tensor *op_affine(graph *g, tensor *x, tensor *gain, tensor *b) {
    tensor *y = like(g, x);
    node *n = graph_node(g, &affine, y, 3, (tensor *[]){x, gain, b});
    n->a[0] = rows_of(x), n->a[1] = last_dim(x);
    n->a[9] = floats(2 * n->a[1] * sizeof(float));
    n->scratch_n = SHARDS * n->a[9];
    return y;
}

// ---- y = gate a + (1 - gate) b --------------------------------------------------------------------------
static void gate_rows(node *n, size_t piece, size_t from, size_t count) {
    (void)piece;
    const size_t D = n->a[1], at = from * D;
    smx_gate_fwd(n->out->data + at, n->in[0]->data + at, n->in[1]->data + at, n->in[2]->data + at, count * D);
}
static void gate_bwd_rows(node *n, size_t piece, size_t from, size_t count) {
    (void)piece;
    const size_t D = n->a[1], at = from * D;
    smx_gate_bwd(in_grad_rows(n, 0, from), in_grad_rows(n, 1, from), in_grad_rows(n, 2, from),
                 out_grad_rows(n, from), n->in[0]->data + at, n->in[1]->data + at, n->in[2]->data + at,
                 count * D);
}
static const op_kind gate = {"gate", rows_forward, rows_backward, 7, 0, 0, gate_rows, gate_bwd_rows};
tensor *op_gate(graph *g, tensor *by, tensor *a, tensor *b) {
    tensor *y = like(g, a);
    node *n = graph_node(g, &gate, y, 3, (tensor *[]){by, a, b});
    n->a[0] = rows_of(a), n->a[1] = last_dim(a);
    return y;
}

static const unary softplus = {{"softplus", rows_forward, rows_backward, 1, 0, 0, unary_rows, unary_bwd_rows},
                               smx_softplus_fwd,
                               smx_softplus_bwd};
tensor *op_softplus(graph *g, tensor *x) { return apply_unary(g, &softplus, x); }

// ---- A weight, once for each bin of each sequence -------------------------------------------------------
static void repeat_fwd(graph *g, node *n) {
    (void)g;
    for (size_t i = 0; i < n->a[0]; i++)
        memcpy(n->out->data + i * n->a[1], n->in[0]->data, n->a[1] * sizeof(float));
}
static void repeat_bwd(graph *g, node *n) {
    (void)g;
    if (n->in_grad[0]) smx_bias_bwd(n->in_grad[0], n->out->grad, n->a[0], n->a[1]);
}
static const op_kind repeat = {"repeat", repeat_fwd, repeat_bwd, 0, 0, 0, NULL, NULL};
tensor *op_repeat(graph *g, tensor *w, size_t times) {
    const uint32_t last = w->shape[w->rank - 1];
    tensor *y =
        graph_tensor(g, 4, (uint32_t[]){(uint32_t)g->B, (uint32_t)times, (uint32_t)(w->n / last), last});
    node *n = graph_node(g, &repeat, y, 1, &w);
    n->a[0] = g->B * times, n->a[1] = w->n;
    return y;
}
