// graph.h: the static graph. Built once as equations over tensors, its memory planned once, then replayed forward and
// backward; nothing is allocated after graph_plan. Weights live apart (params), so one model is built at any length and
// batch.
#ifndef SMX_GRAPH_H
#define SMX_GRAPH_H

#include <stddef.h>
#include <stdint.h>

#include <seqmix/error.h>
#include <seqmix/parallel.h>
#include <seqmix/smx.h>

// Elements of a tensor, of all weights: sums and products of a few of them, in bytes, stay below what size_t holds (a gigabyte
// where that has 32 bits).
#define GRAPH_MOST (SIZE_MAX / 64)

typedef struct graph graph;
typedef struct tensor tensor;
typedef struct params params;

// ---- Weights --------------------------------------------------------------------------------------------
typedef enum {
    INIT_NORMAL,   // N(0, scale^2)
    INIT_UNIFORM,  // U(-scale, scale)
    INIT_CONSTANT, // scale
    INIT_DECAY, // filters [..][W]: tap i is rho^i, rho = 1 - 1/W, scaled to unit l2 norm, plus N(0, scale^2) everywhere
    INIT_IDENTITY,        // filters [..][W]: tap 0 is 1, plus N(0, scale^2) everywhere
    INIT_IDENTITY_HEADS,  // filters [W][H][H]: tap 0 is the unit matrix, plus N(0, scale^2) everywhere
    INIT_IDENTITY_MIDDLE, // filters [..][2W+1]: tap W is 1, plus N(0, scale^2) everywhere
    INIT_LONG, // long kernels [D][L]: N(0, 1) e^{-r t} scaled to energy scale^2, r log-spaced over channels from 1 to 1/L
    INIT_STEP,      // ln of steps drawn log-uniformly from 0.001 to 0.1
    INIT_STEP_PLUS, // the same steps before a softplus
    INIT_COUNT,     // scale times 0, 1, 2 ... along the last axis
    INIT_LOG_COUNT  // ln 1, ln 2, ln 3 ... along the last axis
} init_kind;
typedef struct {
    init_kind kind;
    double scale;
} init;

typedef struct {
    char name[64];
    uint32_t rank, shape[4];
    size_t n, offset; // floats, and where in the arrays below
    int decays;       // weight decay applies: matrices only
    init start;
} param;
struct params {
    param **list; // each stays where it is: tensors point at them
    size_t count, room;
    size_t total;               // floats of all weights in order of name, each starting on a multiple of 16
    float *data, *grad, *m, *v; // [total]
    int sealed;                 // weights exist; a graph may no longer add any
    uint64_t seed;
};
void params_free(params *p);
// Allocate and start all weights: each from its own random stream (seed, name), so adding one moves no other.
int params_create(params *p, uint64_t seed, smx_error *error);
const param *params_find(const params *p, const char *name);

// ---- Tensors --------------------------------------------------------------------------------------------
struct tensor {
    char name[64];
    uint32_t rank, shape[4];
    size_t n;
    const param *weight; // NULL: an activation
    float *data, *grad;  // set by graph_plan; grad NULL where no gradient flows
    // for the plan
    int needs_grad, produced_by; // index of the node, -1 for weights and inputs
    int near;                    // grad lives within a group of nodes: it holds one block of rows (NEAR_ROWS)
    size_t buffer, grad_buffer;
    int last_consumer; // the first to write grad in backward
};

// ---- Nodes ----------------------------------------------------------------------------------------------
enum { MAX_IN = 6, MAX_ATTR = 10 };
typedef struct node node;
typedef struct {
    const char *name;
    void (*forward)(graph *g, node *n);
    void (*backward)(graph *g, node *n); // writes into in_grad; NULL: no gradient
    unsigned needs_in, needs_out;        // bit i: backward reads in[i]; whether it reads out
    int can_add;                         // backward itself adds to in_grad[i] where adds[i]
    // Row-wise operations: the same for count rows of every array, from row `from`; NULL where rows hang together. One thread
    // takes neighbours of this kind block of rows by block of rows, so that what lies between them stays in the cache.
    // piece: whose scratch it is, where a pool's threads take pieces at once; else 0.
    void (*forward_rows)(node *n, size_t piece, size_t from, size_t count);
    void (*backward_rows)(node *n, size_t piece, size_t from, size_t count);
} op_kind;
struct node {
    const op_kind *op;
    tensor *in[MAX_IN], *out;
    size_t n_in;
    float *
        in_grad[MAX_IN]; // where backward writes: weights accumulate, activations overwrite; NULL: not wanted
    size_t a[MAX_ATTR];  // sizes
    float f[2];
    const int32_t *ints; // tokens, rows
    void *p;             // an attribute struct, owned by the graph's arena
    // memory besides in and out, in floats; set by the builder, pointers by graph_plan
    size_t saved_n, scratch_n;
    float *saved, *scratch, *back_scratch; // saved: forward to backward; scratch: within one call
    uint64_t flops;                        // products, forward
    // plan
    size_t saved_buffer, scratch_buffer, temp_buffer[MAX_IN];
    int adds[MAX_IN]; // this gradient is not the first: written to a temporary and added
    int near[MAX_IN]; // in_grad holds one block of rows
};
// Gradients from row `from` on, of a tensor, of in[i] where backward writes it (NULL: not wanted) and of out.
static inline float *grad_rows(const tensor *t, size_t from) {
    return t->grad + (t->near ? 0 : from) * t->shape[t->rank - 1];
}
static inline float *in_grad_rows(const node *n, size_t i, size_t from) {
    const tensor *t = n->in[i];
    return n->in_grad[i] ? n->in_grad[i] + (n->near[i] ? 0 : from) * t->shape[t->rank - 1] : NULL;
}
static inline const float *out_grad_rows(const node *n, size_t from) { return grad_rows(n->out, from); }

// Rows of such a block: a multiple of SMX_KC, so that sums over rows keep their order. FEW_ROWS stay in the cache anyway.
enum { NEAR_ROWS = 4 * SMX_KC, FEW_ROWS = 4 * NEAR_ROWS };
enum graph_mode { GRAPH_TRAIN, GRAPH_EVAL, GRAPH_LOOK }; // LOOK keeps every tensor
struct graph {
    enum graph_mode mode;
    size_t B, L; // of this graph
    params *params;
    node *nodes;
    size_t n_nodes, node_room;
    tensor **tensors;
    size_t n_tensors, tensor_room;
    int direct; // long convolutions are summed directly, not by FFT, whose rounding reaches every row: for audits
    char prefix[48]; // of names: "block0.mixer."
    int failed;
    smx_error error;
    tensor
        nothing; // what is handed out once the graph has failed: wide enough for every head count, never planned
    node no_node;
    float *memory;
    size_t bytes;
    int near; // some gradients hold one block of rows: groups run block by block, also where there is a pool
    void **owned; // freed with the graph
    size_t n_owned;
    // inputs, filled by the caller before a replay
    int32_t *tokens; // [B*L]
    float *values;   // [B*L*channels]
    int32_t *rows;   // [rows_n]: rows whose logits count; -1 none
    size_t rows_n;
    int fast; // kernels may use fused multiply-add: smx_fast
    smx_parallel_for parallel;
    void *pool;
};

graph *graph_new(enum graph_mode mode, params *p, size_t B, size_t L);
void graph_free(graph *g);
void graph_fail(graph *g, const char *message, ...) __attribute__((format(printf, 2, 3)));
void *graph_own(graph *g, size_t bytes); // zeroed, freed with the graph; NULL marks the graph failed

// Names: everything made between push and pop is called prefix.name.
void graph_push(graph *g, const char *format, ...) __attribute__((format(printf, 2, 3)));
void graph_pop(graph *g);
tensor *graph_name(graph *g, tensor *t, const char *name); // returns t

// A weight; decays: 1 for matrices.
tensor *graph_param(graph *g, const char *name, init start, int decays, uint32_t rank, const uint32_t *shape);
tensor *graph_tensor(graph *g, uint32_t rank, const uint32_t *shape);
// Nodes run in the order in which they are made, and gradients meet in the reverse order: make at most one node in an
// argument list (C leaves the order of arguments open). Weights may be made anywhere.
node *graph_node(graph *g, const op_kind *op, tensor *out, size_t n_in, tensor *const *in);

// Assign memory by lifetime, point every tensor at its data. loss: the tensor whose gradient starts backward (TRAIN),
// or NULL. Again, once a pool is lent to a graph whose gradients are near: then whole ones, for pieces to be cut from.
int graph_plan(graph *g, tensor *loss, smx_error *error);
void graph_forward(graph *g);
// The caller has written loss->grad; weights' gradients accumulate into params->grad.
void graph_backward(graph *g);
// Name of the first tensor, in order of computation, that is not finite in a fresh forward replay; NULL if none.
const char *graph_first_nonfinite(graph *g);
tensor *graph_find(const graph *g, const char *name);

// Run n pieces, in parallel where the caller has a pool. Pieces must write disjoint outputs; which pieces there are
// depends on shapes only.
enum { SHARDS = 8 };
void graph_pieces(graph *g, size_t n, smx_piece piece, void *context);
static inline size_t shard_count(size_t n) { return n < SHARDS ? n : SHARDS; }
static inline size_t shard_start(size_t n, size_t i) { return n * i / shard_count(n); }

#endif
