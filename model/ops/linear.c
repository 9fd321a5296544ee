// linear.c: y = x w + bias, row-wise.
#include "pieces.h"
#include "ops.h"

#include <string.h>

// in: x [N][I], w [I][O], bias [O] or not
static size_t inner(const node *n) { return n->in[1]->shape[0]; }
static size_t outer(const node *n) { return n->in[1]->shape[1]; }

static void linear_rows(graph *g, node *n, size_t piece, size_t from, size_t count) {
    (void)g;
    const size_t I = inner(n), O = outer(n);
    float *y = n->out->data + from * O;
    smx_gemm(y, n->in[0]->data + from * I, n->in[1]->data, scratch_of(n, piece), count, O, I, I, O, O, 0);
    if (n->n_in > 2) smx_bias_fwd(y, y, n->in[2]->data, count, O);
}

// What rows add to dW and dbias: there, or in an open block of rows.
static float *dw_of(const node *n, float *sums) { return sums ? sums : n->in_grad[1]; }
static float *db_of(const node *n, float *sums) { return sums ? sums + n->in[1]->n : n->in_grad[2]; }

// On several threads, pieces: rows of dx, then rows of dW, then dbias.
typedef struct {
    const node *n;
    float *sums;
    size_t from, count; // rows
} backward_rows;
static size_t pieces_of_dx(const node *n, size_t rows) {
    return n->in_grad[0] ? pieces_of(rows, ROW_UNIT) : 0;
}
static void backward_piece(void *arg, size_t i) {
    const backward_rows *r = arg;
    const node *n = r->n;
    const size_t I = inner(n), O = outer(n), N = r->count, for_dx = pieces_of_dx(n, N);
    const float *dy = n->out->grad + r->from * O;
    size_t from, count;
    if (i < for_dx) {
        piece_at(N, ROW_UNIT, i, &from, &count);
        smx_gemm(n->in_grad[0] + (r->from + from) * I, dy + from * O, n->in[1]->data, back_scratch_of(n, i),
                 count, I, O, O, O, I, SMX_TRANS_B | (n->adds[0] ? SMX_ACCUMULATE : 0));
    } else if (i < for_dx + pieces_of(I, ROW_UNIT)) {
        piece_at(I, ROW_UNIT, i - for_dx, &from, &count);
        smx_gemm(dw_of(n, r->sums) + from * O, n->in[0]->data + r->from * I + from, dy, back_scratch_of(n, i),
                 count, O, N, I, O, O, SMX_TRANS_A | SMX_ACCUMULATE);
    } else {
        smx_bias_bwd(db_of(n, r->sums), dy, N, O);
    }
}
// One thread takes rows while they are in the cache: dx of some rows, then what they add to dW and dbias, in
// the same order of blocks.
static void add_rows(node *n, size_t piece, float *sums, size_t from, size_t count) {
    const size_t I = inner(n), O = outer(n);
    const float *dy = out_grad_rows(n, from);
    float *scratch = back_scratch_of(n, piece);
    if (n->in_grad[0])
        smx_gemm(in_grad_rows(n, 0, from), dy, n->in[1]->data, scratch, count, I, O, O, O, I,
                 SMX_TRANS_B | (n->adds[0] ? SMX_ACCUMULATE : 0));
    smx_gemm(dw_of(n, sums), n->in[0]->data + from * I, dy, scratch, I, O, count, I, O, O,
             SMX_TRANS_A | SMX_ACCUMULATE);
    if (n->n_in > 2) smx_bias_bwd(db_of(n, sums), dy, count, O);
}
static void linear_bwd_rows(graph *g, node *n, size_t piece, size_t from, size_t count) {
    (void)g;
    add_rows(n, piece, NULL, from, count);
}
static void linear_bwd_part(graph *g, node *n, size_t piece, float *sums, size_t from, size_t count) {
    backward_rows r = {n, sums, from, count};
    if (g->parallel && count > 1)
        graph_pieces(g, pieces_of_dx(n, count) + pieces_of(inner(n), ROW_UNIT) + (n->n_in > 2),
                     backward_piece, &r);
    else
        for (size_t end = from + count; from < end; from += BLOCK_ROWS)
            add_rows(n, piece, sums, from, end - from < BLOCK_ROWS ? end - from : BLOCK_ROWS);
}
static void linear_bwd(graph *g, node *n) { rows_in_one_sum(g, n, linear_bwd_part); }

static uint32_t linear_shape(const graph *g, const node *n, uint32_t *shape) {
    (void)g;
    const uint32_t rank = n->in[0]->rank;
    memcpy(shape, n->in[0]->shape, sizeof n->in[0]->shape);
    shape[rank - 1] = (uint32_t)outer(n);
    return rank;
}
static void linear_size(graph *g, node *n) {
    const size_t I = inner(n), O = outer(n), most = I > O ? I : O;
    scratch_size(n, 2 * SHARDS, 0, smx_gemm_scratch_bytes(most, most, SMX_KC));
    open_sums(g, n, rows_of(n->out), 0, (I + 1) * O);
    n->flops = 2 * (uint64_t)rows_of(n->out) * I * O;
}
static const op linear = {
    .name = "linear",
    .shape = linear_shape,
    .size = linear_size,
    .forward = rows_forward,
    .backward = linear_bwd,
    .backward_reads = READS_IN(0) | READS_IN(1),
    .can_add = 1,
    .forward_rows = linear_rows,
    .backward_rows = linear_bwd_rows,
};
tensor *op_linear(graph *g, tensor *x, tensor *w, tensor *bias) {
    return graph_node(g, &linear, bias ? 3 : 2, (tensor *[]){x, w, bias}, NULL);
}
