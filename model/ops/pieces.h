// pieces.h: how the files of this folder cut work into pieces, and what belongs to a piece. The number of
// pieces depends on shapes only, and each writes outputs of its own; where weights' gradients sum over rows
// or sequences, each piece has its own partial sums, which are added in order. So the bits do not depend on
// how many threads there are.
#ifndef SMX_PIECES_H
#define SMX_PIECES_H

#include "model/graph/graph.h"

static inline size_t last_dim(const tensor *t) { return t->shape[t->rank - 1]; }
static inline size_t rows_of(const tensor *t) { return t->n / last_dim(t); }
// Floats that hold so many bytes and keep what follows aligned.
static inline uint64_t floats(uint64_t bytes) {
    return (bytes + SMX_ALIGN - 1) / SMX_ALIGN * (SMX_ALIGN / sizeof(float));
}

// `total` rows, channels or sequences are cut at multiples of `unit`:
// of every register tile's height, or of what hangs together.
enum { ROW_UNIT = 24, CHANNEL_UNIT = 16, SEQUENCE_UNIT = 1 };
static inline size_t pieces_of(size_t total, size_t unit) { return shard_count((total + unit - 1) / unit); }
void piece_at(size_t total, size_t unit, size_t i, size_t *from, size_t *count);
// All of them, piece by piece, on as many threads as there are.
void in_pieces(graph *g, node *n, size_t total, size_t unit, op_part *part);
// (In a shared batch: those of all processes that lie in this one.)
void sequences_in_pieces(graph *g, node *n, op_part *part);
// op.forward and op.backward of a row-wise operation.
void rows_forward(graph *g, node *n);
void rows_backward(graph *g, node *n);

// Scratch of `pieces` pieces (op.size): of each, `sums` partial sums of weights' gradients,
// then so many bytes for its kernels.
void scratch_size(node *n, size_t pieces, uint64_t sums, uint64_t kernel_bytes);
static inline float *scratch_of(const node *n, size_t piece) {
    return n->scratch + piece * n->piece_n + n->sums_n;
}
static inline float *back_scratch_of(const node *n, size_t piece) {
    return n->back_scratch + piece * n->piece_n + n->sums_n;
}
// In backward: a piece's sums, zeroed; and those of all pieces, from number `at` on,
// added to the gradient of in[i].
float *sums_of(const node *n, size_t piece);
void add_sums(node *n, size_t i, size_t pieces, size_t at);
// Before that, where in[i] is computed: its gradient is overwritten (by the first process of several).
void begin_sum(const graph *g, node *n, size_t i);

// ---- Sums over rows ---------------------------------------------------------------------------------------
// Backward of rows from..from+count-1, what they add to `sums` included, as kernels add it up: in blocks of
// SMX_KC rows from the first on, block by block.
typedef void sum_part(graph *g, node *n, size_t piece, float *sums, size_t from, size_t count);
// open_sums, in op.size after scratch_size: over how many rows, in pieces cut at multiples of `unit`, each
// with its own sums, or 0: one sum of n floats over all of them. Where a batch is shared, a piece and a block
// of rows may begin in one process and end in another. The block is then passed on open, and goes on row
// by row: a kernel that is given one row adds it to what is there, which is its own order.
void open_sums(graph *g, node *n, size_t rows, size_t unit, size_t sums);
// In pieces. Returns how many of them end here: add_sums.
size_t rows_in_sums(graph *g, node *n, sum_part *part);
// In one sum: straight into in_grad where `sums` is NULL, else there one input's after another's.
void rows_in_one_sum(graph *g, node *n, sum_part *part);

#endif
