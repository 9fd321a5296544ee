// ops_private.h: what the files of operations share: sizes, how work is cut into pieces, and partial sums of weights'
// gradients. For ops*.c only.
#ifndef SMX_OPS_PRIVATE_H
#define SMX_OPS_PRIVATE_H

#include <string.h>

#include "ops.h"

static inline size_t last_dim(const tensor *t) { return t->shape[t->rank - 1]; }
static inline size_t rows_of(const tensor *t) { return t->n / last_dim(t); }
static inline tensor *like(graph *g, const tensor *x) { return graph_tensor(g, x->rank, x->shape); }
static inline size_t floats(size_t bytes) {
    return (bytes + SMX_ALIGN - 1) / SMX_ALIGN * (SMX_ALIGN / sizeof(float));
}

// What a piece is handed.
typedef struct {
    graph *g;
    node *n;
} job;

// Rows are cut into pieces at multiples of `unit`: of every register tile's height, or of what hangs together.
enum { ROW_STEP = 24 };
static inline size_t unit_pieces(size_t rows, size_t unit) { return shard_count((rows + unit - 1) / unit); }
static inline void unit_piece(size_t rows, size_t unit, size_t i, size_t *from, size_t *count) {
    const size_t units = (rows + unit - 1) / unit, to = shard_start(units, i + 1) * unit;
    *from = shard_start(units, i) * unit;
    *count = (to < rows ? to : rows) - *from;
}
static inline size_t row_pieces(size_t rows) { return unit_pieces(rows, ROW_STEP); }
static inline void row_piece(size_t rows, size_t i, size_t *from, size_t *count) {
    unit_piece(rows, ROW_STEP, i, from, count);
}

// Partial sums of small weights: parts [pieces][a[9]] in scratch, each zeroed by its piece; added to the gradient in order
// afterwards.
static inline float *part(const node *n, size_t i, size_t size) {
    float *p = n->back_scratch + i * n->a[9];
    memset(p, 0, size * sizeof *p);
    return p;
}
static inline void add_parts(node *n, size_t in, size_t pieces, size_t at) {
    if (!n->in_grad[in]) return;
    for (size_t i = 0; i < pieces; i++)
        smx_axpy(n->in_grad[in], n->back_scratch + i * n->a[9] + at, 1.0f, n->in[in]->n);
}

// Attention of B sequences as a node with attention_opts has it; a: L, D.
smx_attention attention_shape(const node *n, size_t B);
// Whether chunks of M rows fill every sequence and every block of rows that a group of nodes takes.
int chunks_are_rows(const graph *g, size_t M);

// Some rows of a node (op_kind.forward_rows); all of them in pieces, on as many threads as there are.
typedef void (*some_rows)(node *n, size_t piece, size_t from, size_t count);
void rows_in_units(graph *g, node *n, size_t unit, some_rows rows);
// forward and backward of a row-wise operation.
void rows_forward(graph *g, node *n);
void rows_backward(graph *g, node *n);

// A function of one array; needs_in or needs_out of its op says which of x and y backward reads.
typedef struct {
    op_kind op;
    void (*fwd)(float *y, const float *x, size_t n);
    void (*bwd)(float *dx, const float *dy, const float *x_or_y, size_t n);
} unary;
void unary_rows(node *n, size_t piece, size_t from, size_t count);
void unary_bwd_rows(node *n, size_t piece, size_t from, size_t count);
tensor *apply_unary(graph *g, const unary *u, tensor *x);

// For looking: heads of a node of ops_cat.c that attends (0: it does not), and its weights on sequence 0, [H][L][L].
size_t cat_map_heads(const node *n);
void cat_map(const graph *g, const node *n, float *map);

#endif
