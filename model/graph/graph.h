// graph.h: the static graph. Built once as equations over tensors (build.c), its memory planned once
// (plan.c), then replayed forward and backward (replay.c); nothing is allocated after graph_plan. Its weights
// live apart (params.h).
#ifndef SMX_GRAPH_H
#define SMX_GRAPH_H

#include <stddef.h>
#include <stdint.h>

#include <seqmix/error.h>
#include <seqmix/parallel.h>
#include <seqmix/smx.h>

#include "op.h"
#include "params.h"

// ---- Tensors --------------------------------------------------------------------------------------------
struct tensor {
    char name[64];
    uint32_t rank, shape[4];
    size_t n;
    const param *weight; // NULL: an activation
    float *data, *grad;  // set by graph_plan; grad NULL where no gradient flows
    // for the plan
    int needs_grad, produced_by; // index of the node, -1 for weights and inputs
    int blocked; // grad lives within a group of nodes: it holds one block of rows (BLOCK_ROWS)
    size_t buffer, grad_buffer;
    int last_consumer; // node that reads it last
    int first_giver;   // node that writes its gradient first in backward, -1: none gives one
};

// ---- Nodes ----------------------------------------------------------------------------------------------
struct node {
    const op *op;
    // Reading on: where its part of a state begins; how many rows of each input it keeps there at most; rows
    // of the output, as forward_rows counts them, that make one of the sequence; whether no row reaches it.
    size_t state_at, keeps, parts;
    int still;
    tensor *out, *in[MAX_IN];
    size_t n_in;
    // Of a graph that shares its batch: inputs that no sequence reaches (weights, and what is made of weights
    // alone), whose gradients are sums over all sequences; those among them that hold another node's part by
    // then (bits, 1 << i).
    unsigned summed, goes_on;
    int reached; // sequences reach its output
    // Where backward writes: weights accumulate, activations overwrite; NULL: not wanted.
    float *in_grad[MAX_IN];
    void *attributes; // the operation's own struct, owned by the graph
    // Memory besides in and out, in floats: set by op.size, pointers by graph_plan. Scratch is that of the
    // pieces, one after another: of each first its partial sums of weights' gradients, then what its kernels
    // ask for.
    uint64_t saved_n, scratch_n;
    size_t piece_n, sums_n;
    float *saved, *scratch, *back_scratch; // saved: forward to backward; scratch: within one call
    // Of a graph that shares its batch (ranks.c): sums over rows that begin or end in another process, taken
    // over and passed on: [2][open_n], each a piece's sums and those of a block of its rows.
    float *open;
    size_t open_n;
    int takes_open, gives_open;
    size_t sum_rows,
        sum_unit;          // rows here that are summed, cut into pieces at multiples of the unit (0: not cut)
    uint64_t flops;        // forward
    uint64_t forward_only; // those of them that backward has no part in
    // Of a part that is computed again (graph_recompute): its nodes, part_to 0: of none; whether backward
    // wants this one's results again.
    size_t part_from, part_to;
    int again;
    // for the plan
    size_t saved_buffer, scratch_buffer, temp_buffer[MAX_IN];
    int adds[MAX_IN];    // this gradient is not the first: written to a temporary and added
    int blocked[MAX_IN]; // in_grad holds one block of rows
};

// Gradients from row `from` on, of a tensor, of in[i] where backward writes it (NULL: not wanted) and of out.
static inline float *grad_rows(const tensor *t, size_t from) {
    return t->grad + (t->blocked ? 0 : from) * t->shape[t->rank - 1];
}
static inline float *in_grad_rows(const node *n, size_t i, size_t from) {
    const tensor *t = n->in[i];
    return n->in_grad[i] ? n->in_grad[i] + (n->blocked[i] ? 0 : from) * t->shape[t->rank - 1] : NULL;
}
static inline const float *out_grad_rows(const node *n, size_t from) { return grad_rows(n->out, from); }

// Rows of such a block: a multiple of SMX_KC, so that sums over rows keep their order.
// FEW_ROWS stay in the cache anyway.
enum { BLOCK_ROWS = 4 * SMX_KC, FEW_ROWS = 4 * BLOCK_ROWS };

// ---- One batch on several processes (ranks.c) ------------------------------------------------------------
// A process computes whole pieces of sequences (SHARDS). Sums over all sequences (gradients of weights) go
// through the processes in order: each takes what those before it summed, adds its own, and passes it on, so
// that every addition is the one that a single process makes.
typedef struct {
    const smx_ranks *ranks; // NULL: this process has the whole batch
    size_t first, all;      // number of the first sequence, and how many there are in all processes
    size_t piece, pieces;   // number of the first piece of sequences, and how many are here
    int apart;              // another process does not answer
} share;
// The share of process `rank` in a batch of B sequences. ranks->count <= shard_count(B).
share share_of(size_t B, const smx_ranks *ranks, size_t rank);

// ---- The graph ------------------------------------------------------------------------------------------
// LOOK keeps every tensor, and what maps are made of; STREAM reads a sequence of at most L rows in pieces
// (stream.c).
enum graph_mode { GRAPH_TRAIN, GRAPH_EVAL, GRAPH_LOOK, GRAPH_STREAM };
struct graph {
    enum graph_mode mode;
    size_t B, L; // of this graph
    size_t span; // rows of a sequence that its tensors hold: L, or of a stream what is pushed at a time
    params *params;
    node *nodes;
    size_t n_nodes, node_room;
    tensor **tensors;
    size_t n_tensors, tensor_room;
    int apart;       // no two arrays share memory: for who looks for a fault in sharing
    int direct;      // long convolutions are summed directly, not by FFT, whose rounding reaches every row:
                     // for audits
    int has_long;    // one of them is in it
    char prefix[48]; // of names: "block0.mixer."
    int failed;
    smx_error error;
    // What is handed out once the graph has failed: wide enough for every head count, never planned.
    tensor failed_tensor;
    float *memory;
    size_t bytes;
    int blocked;  // some gradients hold one block of rows: groups run block by block, also where there is a
                  // pool
    void **owned; // freed with the graph
    size_t n_owned;
    struct graph_table_to_fill *tables, **last_table; // yet to be filled
    int counting; // built to learn its sizes alone, and never planned: its tables take no memory
    size_t owned_bytes;
    // inputs, filled by the caller before a replay
    int32_t *tokens; // [B*L]
    float *values;   // [B*L*channels]
    int32_t *rows;   // [rows_n]: rows whose logits count; -1 none
    size_t rows_n;
    int fast; // kernels may use fused multiply-add: smx_fast
    // Of GRAPH_TRAIN: the step of training that is replayed, from 1 on; 0: none (an evaluation, a look back),
    // and what belongs to training alone, such as dropout, does nothing.
    uint64_t step;
    size_t given;      // sequences that hold samples, the first of the batch: what statistics are taken over
    uint32_t dropouts; // places of dropout so far, which number its draws
    smx_parallel_for parallel;
    void *pool;
    share share;
    // of a stream
    size_t state_n; // floats of a state
    size_t again_n;
    float *again; // [again_n] inputs and output of an operation that is run again
    int endless;  // the sequence may be longer than L: nothing may hang on L
    int grows;    // a state needs more memory the longer the sequence may be
};

// ---- Building -------------------------------------------------------------------------------------------
graph *graph_new(enum graph_mode mode, params *p, size_t B, size_t L); // B sequences, no others
graph *graph_new_share(params *p, share of, size_t B, size_t L); // GRAPH_TRAIN: B of those of all processes
void graph_free(graph *g);
void graph_fail(graph *g, const char *message, ...) __attribute__((format(printf, 2, 3)));
void *graph_own(graph *g, uint64_t bytes); // zeroed, freed with the graph, counted; NULL marks it failed
// Such memory for a table that the weights have no part in, filled by graph_plan: a graph that is refused
// computes none. with: what fill is told, copied.
typedef void table_fill(float *table, const void *with);
float *graph_table(graph *g, uint64_t floats, table_fill *fill, const void *with, size_t with_bytes);

// Names: everything made between push and pop is called prefix.name.
void graph_push(graph *g, const char *format, ...) __attribute__((format(printf, 2, 3)));
void graph_pop(graph *g);
tensor *graph_name(graph *g, tensor *t, const char *name); // returns t

// A weight; decays: 1 for matrices.
tensor *graph_param(graph *g, const char *name, init start, int decays, uint32_t rank, const uint32_t *shape);
// A vector that training moves but no gradient does (param.running).
tensor *graph_running(graph *g, const char *name, size_t n, double start);
// A node of this operation, its output returned; attributes (NULL where the operation has none) are copied.
// Nodes run in the order in which they are made, and gradients meet in the reverse order: make at most one
// node in an argument list (C leaves the order of arguments open). Weights may be made anywhere.
tensor *graph_node(graph *g, const op *op, size_t n_in, tensor *const *in, const void *attributes);
// The nodes from number `from` on are a part whose results are not kept for backward but computed again
// before it (GRAPH_TRAIN; Chen et al. 2016, "Training deep nets with sublinear memory cost"): the same bits.
// WebAssembly keeps them, for the size of its modules.
#ifdef __wasm__
enum { RECOMPUTES = 0 };
#else
enum { RECOMPUTES = 1 };
#endif
void graph_recompute(graph *g, size_t from);

// ---- Replay ---------------------------------------------------------------------------------------------
// Assign memory by lifetime, point every tensor at its data. loss: the tensor whose gradient starts backward
// (TRAIN), or NULL. Again, once a pool is lent to a graph whose gradients are blocked: then whole ones, for
// pieces to be cut from.
int graph_plan(graph *g, tensor *loss, smx_error *error);
void graph_forward(graph *g);
// The nodes after the one that made t once more, t now holding something else (a LOOK graph, which keeps
// every tensor).
void graph_forward_after(graph *g, const tensor *t);
// The caller has written loss->grad; weights' gradients accumulate into params->grad.
void graph_backward(graph *g);
// Name of the first tensor, in order of computation, that is not finite in a fresh forward replay; NULL if
// none.
const char *graph_first_nonfinite(graph *g);
tensor *graph_find(const graph *g, const char *name);
// Heads of the attention that computed t (0: t is something else); after a forward replay of a GRAPH_LOOK,
// the weights that it gave sequence 0 at a stage: map [H][L][L]. Staged: the stages differ.
size_t graph_map_heads(const graph *g, const tensor *t);
int graph_map_staged(const graph *g, const tensor *t);
void graph_map(graph *g, const tensor *t, enum map_stage stage, float *map);

// ---- Replay on several processes (ranks.c): nothing where g->share.ranks is NULL --------------------------
// Which inputs are summed; by graph_plan.
void graph_find_sums(graph *g);
// (WebAssembly has one process.)
static inline const smx_ranks *ranks_of(const graph *g) {
#ifdef __wasm__
    return (void)g, NULL;
#else
    return g->share.ranks;
#endif
}
static inline int graph_reaches(const graph *g, const tensor *t) {
    return t->produced_by >= 0 && g->nodes[t->produced_by].reached;
}
// Around n's backward: the sums so far, from the process before; to the one after.
void graph_take_sums(graph *g, node *n);
void graph_give_sums(graph *g, const node *n);
// Once backward is done: the last process has every sum, and all get the weights' gradients.
void graph_share_gradient(graph *g);
// `per` bytes of every sequence, from own (this process's) to all in process `to` (elsewhere NULL is fine).
void graph_gather(graph *g, size_t to, void *all, const void *own, size_t per);
// The same within `all`, of which this process has filled in its own: everything, everywhere.
void graph_share_rows(graph *g, void *all, size_t per);
// Numbers that are added up over the processes.
void graph_share_counts(graph *g, uint64_t *counts, size_t n);

// ---- Reading on (stream.c) --------------------------------------------------------------------------------
// Rows pushed at a time. Floats of a table by position, which hold for any sequence: of a longer one what the
// pushed rows need is computed for each push, so that who says how many rows come does not ask for work.
enum { STREAM_ROWS = 64, STREAM_TABLE = 1 << 21 };
// Of a GRAPH_STREAM, once it is built: how large a state is (g->state_n floats, zeros at first); then,
// planned, the memory of a push.
void graph_stream_count(graph *g);
int graph_stream_plan(graph *g, smx_error *error);
// What no row reaches: tables, kernels of weights. Once, and after weights have changed.
void graph_stream_begin(graph *g);
// `rows` <= g->span rows more of each sequence, from number `at` on, in g->tokens or g->values [B][rows].
// Every tensor that rows reach then holds [B][rows][..] at the front of its data.
void graph_push_rows(graph *g, float *state, size_t at, size_t rows);
// Number i of the nodes that carry numbers of their own, from state + state_at on, and how many; NULL: there
// are fewer nodes.
const node *graph_carrier(const graph *g, size_t i, size_t *floats);
// Of each of B sequences n words of 32 bits, from `from_step` words apart to `to_step` apart.
void copy_rows(void *to, size_t to_step, const void *from, size_t from_step, size_t B, size_t n);

// Run n pieces, in parallel where the caller has a pool. Pieces must write disjoint outputs; which pieces
// there are depends on shapes only.
enum { SHARDS = 8 };
void graph_pieces(graph *g, size_t n, smx_piece piece, void *context);
static inline size_t shard_count(size_t n) { return n < SHARDS ? n : SHARDS; }
static inline size_t shard_start(size_t n, size_t i) { return n * i / shard_count(n); }

#endif
