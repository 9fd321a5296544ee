// op.h: what an operation is: one entry, in the file of model/ops/ that calls its kernels. The graph knows
// operations by their entries only; nobody asks for one by name. All entries are written with designated
// initialisers: what is left out is not there.
#ifndef SMX_OP_H
#define SMX_OP_H

#include <stddef.h>
#include <stdint.h>

typedef struct graph graph;
typedef struct tensor tensor;
typedef struct node node;

enum { MAX_IN = 31 }; // a scan's tensors and weights; with the output, the bits of an unsigned
// What op.backward_reads is made of: the input i, the output.
#define READS_IN(i) (1u << (i))
#define READS_OUT (1u << MAX_IN)

// Some of a node's work: count rows (sequences, groups of channels) from number `from` on. piece: whose
// scratch it is, where a pool's threads take pieces at once; else 0.
typedef void op_part(graph *g, node *n, size_t piece, size_t from, size_t count);

// An attention map on its way: softmax of the products alone; with decay or bias; as the kernel weighs the
// values with it (MAP_WEIGHTS); on the values as they were before they were smoothed.
enum map_stage { MAP_WEIGHTS, MAP_PLAIN, MAP_DECAYED, MAP_ACTING, MAP_STAGES };

// What row t of an output hangs on: its inputs from row (t - rows) / unit * unit on (0 where rows > t).
typedef struct {
    size_t rows, unit;
} op_reach;

typedef struct op {
    const char *name;  // of the tensors that it makes: "linear#12"
    size_t attributes; // bytes of its attribute struct, what node.attributes points at; 0: it has none

    // ---- Building
    // The output's shape from inputs and attributes; returns its rank. NULL: that of the first input.
    uint32_t (*shape)(const graph *g, const node *n, uint32_t *shape);
    // Floats of saved and scratch, FLOPs, and tables of its own. NULL: none of these.
    void (*size)(graph *g, node *n);

    // ---- Replay
    void (*forward)(graph *g, node *n);
    void (*backward)(graph *g, node *n); // writes into in_grad; NULL: no gradient
    unsigned backward_reads;             // READS_IN, READS_OUT: the data that backward reads
    int can_add;                         // backward itself adds to in_grad[i] where adds[i]
    int gathers; // of a shared batch (ranks.c): backward gathers what it sums over, in the last process
    // Row-wise operations: the same for some rows of every array; NULL where rows hang together. One thread
    // takes neighbours of this kind block of rows by block of rows, so that what lies between them stays in
    // the cache.
    op_part *forward_rows, *backward_rows;

    // ---- Reading on (graph/stream.c): a sequence that comes in pieces
    // Row-wise operations need none of this; what has neither reach nor push runs again over all rows.
    // Rows that are kept and run again, so that the new ones come out as in the whole sequence.
    op_reach (*reach)(const graph *g, const node *n);
    // Floats that push carries along.
    uint64_t (*state_n)(const graph *g, const node *n);
    // `rows` new rows of each sequence, from number `at` on, lie without gaps in the inputs' data,
    // [B][rows][..], and so does the output. state: what the last push left, zeros before the first.
    void (*push)(graph *g, node *n, float *state, size_t at, size_t rows);
    // Whether push needs more memory, or a longer table, the longer the sequence; NULL: it does not.
    int (*grows)(const graph *g, const node *n);
    int enters; // rows begin here: the graph's own inputs, or a weight for every sequence
    int whole;  // it needs the whole sequence at once: it cannot be read in pieces

    // ---- Looking
    // Of an attention: its heads, and, after a replay that kept every tensor,
    // its weights on sequence 0, map [H][L][L].
    size_t (*map_heads)(const node *n);
    void (*map)(graph *g, node *n, enum map_stage stage, float *map);
    // Whether what came before MAP_WEIGHTS is another map; NULL: no.
    int (*map_staged)(const node *n);
    // Of a linear mix of a sequence's rows: maps [H][L][L] on its output's rows become maps on its input's
    // rows, in place.
    void (*map_back)(graph *g, node *n, float *map, size_t H);
} op;

#endif
