// pieces.c: see pieces.h.
#include "pieces.h"

#include <string.h>

void piece_at(size_t total, size_t unit, size_t i, size_t *from, size_t *count) {
    const size_t units = (total + unit - 1) / unit, to = shard_start(units, i + 1) * unit;
    *from = shard_start(units, i) * unit;
    *count = (to < total ? to : total) - *from;
}

typedef struct {
    graph *g;
    node *n;
    size_t total, unit;
    op_part *part;
} cut;
static void cut_piece(void *arg, size_t i) {
    const cut *c = arg;
    size_t from, count;
    piece_at(c->total, c->unit, i, &from, &count);
    c->part(c->g, c->n, i, from, count);
}
void in_pieces(graph *g, node *n, size_t total, size_t unit, op_part *part) {
    graph_pieces(g, pieces_of(total, unit), cut_piece, &(cut){g, n, total, unit, part});
}
void sequences_in_pieces(graph *g, node *n, op_part *part) { in_pieces(g, n, g->B, SEQUENCE_UNIT, part); }
void rows_forward(graph *g, node *n) { in_pieces(g, n, rows_of(n->out), ROW_UNIT, n->op->forward_rows); }
void rows_backward(graph *g, node *n) { in_pieces(g, n, rows_of(n->out), ROW_UNIT, n->op->backward_rows); }

void scratch_size(node *n, size_t pieces, size_t sums, size_t kernel_bytes) {
    n->sums_n = floats(sums * sizeof(float));
    n->piece_n = n->sums_n + floats(kernel_bytes);
    n->scratch_n = pieces * n->piece_n;
}
float *sums_of(const node *n, size_t piece) {
    float *sums = n->back_scratch + piece * n->piece_n;
    return memset(sums, 0, n->sums_n * sizeof *sums);
}
void add_sums(node *n, size_t i, size_t pieces, size_t at) {
    if (!n->in_grad[i]) return;
    for (size_t piece = 0; piece < pieces; piece++)
        smx_axpy(n->in_grad[i], n->back_scratch + piece * n->piece_n + at, 1.0f, n->in[i]->n);
}
