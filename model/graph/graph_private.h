// graph_private.h: what the files of this folder share: lists that grow,
// and neighbours that run block of rows by block of rows.
#ifndef SMX_GRAPH_PRIVATE_H
#define SMX_GRAPH_PRIVATE_H

#include "graph.h"

// Room for one more element in a growing list; 0 when memory is out.
int graph_grow(void **list, size_t count, size_t *room, size_t size);

// A table that graph_plan fills.
typedef struct graph_table_to_fill {
    struct graph_table_to_fill *next;
    table_fill *fill;
    float *data;
    max_align_t with[];
} graph_table_to_fill;

// Rows that the node takes in blocks, forward or backward; 0: all at once.
static inline size_t blocked_rows(const node *n, int backward) {
    const int row_wise = (backward ? n->op->backward_rows : n->op->forward_rows) != NULL;
    const size_t rows = row_wise ? n->out->n / n->out->shape[n->out->rank - 1] : 0;
    return rows > FEW_ROWS ? rows : 0;
}
// Groups: neighbours that take as many rows in blocks. Forward: one past the last node of the one that begins
// at node k, before `to`.
static inline size_t group_end(const graph *g, size_t k, size_t to) {
    const size_t rows = blocked_rows(&g->nodes[k], 0);
    size_t end = k + 1;
    while (rows && end < to && blocked_rows(&g->nodes[end], 0) == rows) end++;
    return end;
}
// Whether backward wants the results of this node again; whether node k is the last of a part.
static inline int computed_again(const node *n) { return RECOMPUTES && n->again; }
static inline int part_ends(const graph *g, size_t k) { return RECOMPUTES && g->nodes[k].part_to == k + 1; }
// Backward: the first node of the one that begins with the node before `end`. It ends where a part does.
static inline size_t group_begin(const graph *g, size_t end) {
    size_t k = end - 1;
    const size_t rows = blocked_rows(&g->nodes[k], 1);
    while (rows && k > 0 && !part_ends(g, k - 1) && blocked_rows(&g->nodes[k - 1], 1) == rows) k--;
    return k;
}

// Of a stream (stream.c): whether no row reaches t; whether node n runs again on rows that it keeps; how far
// back.
static inline int is_still(const graph *g, const tensor *t) {
    return t->weight || (t->produced_by >= 0 && g->nodes[t->produced_by].still);
}
static inline int runs_again(const node *n) { return !n->still && !n->op->forward_rows && !n->op->push; }

static inline op_reach reach_of(const graph *g, const node *n) {
    return n->op->reach ? n->op->reach(g, n) : (op_reach){SIZE_MAX, 1};
}

#endif
