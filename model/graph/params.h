// params.h: the weights of a model, apart from its graphs, so that one model is built at any length and
// batch.
#ifndef SMX_PARAMS_H
#define SMX_PARAMS_H

#include <stddef.h>
#include <stdint.h>

#include <seqmix/error.h>
#include <seqmix/smx.h>

#include "kernels/core/sizes.h"

// Elements of a tensor, of all weights: sums and products of a few of them, in bytes, stay below what size_t
// holds (a gigabyte where that has 32 bits).
#define GRAPH_MOST (SIZE_MAX / 64 < SIZES_MOST ? SIZE_MAX / 64 : (size_t)SIZES_MOST - 1)

typedef enum {
    INIT_NORMAL,          // N(0, scale^2)
    INIT_UNIFORM,         // U(-scale, scale)
    INIT_CONSTANT,        // scale
    INIT_DECAY,           // filters [..][W]: tap i is rho^i, rho = 1 - 1/W, scaled to unit l2 norm, plus
                          // N(0, scale^2) everywhere
    INIT_IDENTITY,        // filters [..][W]: tap 0 is 1, plus N(0, scale^2) everywhere
    INIT_IDENTITY_HEADS,  // filters [W][H][H]: tap 0 is the unit matrix, plus N(0, scale^2) everywhere
    INIT_IDENTITY_MIDDLE, // filters [..][2W+1]: tap W is 1, plus N(0, scale^2) everywhere
    INIT_LONG,            // long kernels [D][L]: N(0, 1) e^{-r t} scaled to energy scale^2, r log-spaced over
                          // channels from 1 to 1/L
    INIT_STEP,            // ln of steps drawn log-uniformly from 0.001 to 0.1
    INIT_STEP_PLUS,       // the same steps before a softplus
    INIT_COUNT,           // scale times 0, 1, 2 ... along the last axis
    INIT_LOG_COUNT,       // ln 1, ln 2, ln 3 ... along the last axis
    INIT_FORGET           // scale in the second quarter of a vector, 0 elsewhere: an LSTM's forget gates
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
    int running;      // not trained: a statistic that follows those of the batches (params_follow)
    size_t batch;     // of one that runs: where in `batch`
    init start;
} param;
// Of arrays in memory that has room for SMX_ALIGN bytes more, where they begin: no register of theirs lies on
// two lines of a cache (calloc promises 16 bytes).
static inline float *aligned(void *memory) {
    return (float *)(((uintptr_t)memory + SMX_ALIGN - 1) / SMX_ALIGN * SMX_ALIGN);
}

typedef struct {
    param **list; // each stays where it is: tensors point at them
    size_t count, room;
    size_t total;       // floats of all weights in order of name, each starting on a multiple of 16
    float *data, *grad; // [total], in `memory`
    float *batch;       // the batch's statistics, which a step's forward leaves here
    size_t batch_n;
    void *memory;
    int sealed; // weights exist; a graph may no longer add any
    uint64_t seed;
} params;
void params_free(params *p);
// Allocate and start all weights: each from its own random stream (seed, name), so adding one moves no other.
int params_create(params *p, uint64_t seed, smx_error *error);
const param *params_find(const params *p, const char *name);
// A step is taken: each running statistic goes a tenth of the way to the batch's.
void params_follow(params *p);

#endif
