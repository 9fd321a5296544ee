// dropout.c: numbers set to 0 at random while a model trains (Srivastava et al. 2014), the others divided by
// the share that stays. A draw is a function of (seed, step, place in the model, number in the whole batch):
// the same with any number of threads and processes, and backward draws it again.
#include "pieces.h"
#include "ops.h"

#include <string.h>

#include "kernels/core/philox.h"

enum { PER_BLOCK = 8, DRAWS = 1 << 16 }; // numbers that a block of four words decides, 16 bits each

typedef struct {
    uint32_t below; // draws below it are dropped
    uint32_t place;
} dropout_attributes;

// y = x as the step drops it; element `first` of the whole batch is x's first.
static void drop(const graph *g, const dropout_attributes *at, float *y, const float *x, uint64_t first,
                 size_t n) {
    const float kept = (float)DRAWS / (float)(DRAWS - at->below);
    const uint32_t key[2] = {(uint32_t)g->params->seed, (uint32_t)(g->params->seed >> 32)};
    for (uint64_t i = first, end = first + n; i < end;) {
        uint32_t word[4];
        const uint64_t block = i / PER_BLOCK;
        // (Steps end below 2^32.)
        philox4x32(word,
                   (const uint32_t[]){(uint32_t)block, RNG_DROPOUT | at->place << 8, (uint32_t)g->step,
                                      (uint32_t)(block >> 32)},
                   key);
        for (size_t k = i % PER_BLOCK; k < PER_BLOCK && i < end; k++, i++) {
            const uint32_t draw = word[k / 2] >> 16 * (k % 2) & (DRAWS - 1);
            y[i - first] = draw < at->below ? 0.0f : x[i - first] * kept;
        }
    }
}

static void drop_rows(const graph *g, const node *n, float *y, const float *x, size_t from, size_t count) {
    const size_t D = last_dim(n->out), rows = g->share.first * (rows_of(n->out) / g->B);
    if (g->step)
        drop(g, n->attributes, y, x, (uint64_t)(rows + from) * D, count * D);
    else
        memcpy(y, x, count * D * sizeof *y);
}
static void dropout_rows(graph *g, node *n, size_t piece, size_t from, size_t count) {
    (void)piece;
    const size_t at = from * last_dim(n->out);
    drop_rows(g, n, n->out->data + at, n->in[0]->data + at, from, count);
}
static void dropout_bwd_rows(graph *g, node *n, size_t piece, size_t from, size_t count) {
    (void)piece;
    if (n->in_grad[0]) drop_rows(g, n, in_grad_rows(n, 0, from), out_grad_rows(n, from), from, count);
}
static const op dropout = {
    .name = "dropout",
    .attributes = sizeof(dropout_attributes),
    .forward = rows_forward,
    .backward = rows_backward,
    .forward_rows = dropout_rows,
    .backward_rows = dropout_bwd_rows,
};
tensor *op_dropout(graph *g, tensor *x, double share) {
    const dropout_attributes at = {(uint32_t)(share * DRAWS + 0.5), g->dropouts++};
    return graph_node(g, &dropout, 1, &x, &at);
}
