// replay.c: the graph forward and backward.
#include "graph_private.h"

#include <string.h>

// The pool's threads know nothing of the run's mode.
typedef struct {
    smx_piece piece;
    void *context;
} fast_piece;
static void run_fast(void *context, size_t i) {
    const fast_piece *f = context;
    const int before = smx_fast(1);
    f->piece(f->context, i);
    smx_fast(before);
}

void graph_pieces(graph *g, size_t n, smx_piece piece, void *context) {
    if (g->parallel && n > 1) {
        fast_piece fast = {piece, context};
        g->parallel(g->pool, n, g->fast ? run_fast : piece, g->fast ? &fast : context);
    } else {
        for (size_t i = 0; i < n; i++) piece(context, i);
    }
}

static size_t block_end(size_t from, size_t rows) {
    return rows - from < BLOCK_ROWS ? rows : from + BLOCK_ROWS;
}

// Nodes first..last - 1; again: for the second time, those that backward wants.
static void run_forward(graph *g, size_t first, size_t last, int again) {
    for (size_t k = first, end; k < last; k = end) {
        end = g->parallel ? k + 1 : group_end(g, k, last);
        if (end == k + 1) {
            if (!again || computed_again(&g->nodes[k])) g->nodes[k].op->forward(g, &g->nodes[k]);
            continue;
        }
        const size_t rows = blocked_rows(&g->nodes[k], 0);
        for (size_t from = 0, to; from < rows; from = to) {
            to = block_end(from, rows);
            for (size_t i = k; i < end; i++)
                if (!again || computed_again(&g->nodes[i]))
                    g->nodes[i].op->forward_rows(g, &g->nodes[i], 0, from, to - from);
        }
    }
}
void graph_forward(graph *g) { run_forward(g, 0, g->n_nodes, 0); }

void graph_forward_after(graph *g, const tensor *t) {
    for (size_t k = (size_t)t->produced_by + 1; k < g->n_nodes; k++) g->nodes[k].op->forward(g, &g->nodes[k]);
}

// What backward made apart is added to the gradient that is there, rows from..to-1 or as many as there are.
static void add_apart(node *n, size_t from, size_t to) {
    for (size_t j = 0; j < n->n_in; j++) {
        if (!n->adds[j] || n->op->can_add) continue;
        const tensor *t = n->in[j];
        const size_t width = t->shape[t->rank - 1], rows = t->n / width, end = to < rows ? to : rows;
        float *grad = grad_rows(t, from);
        smx_add(grad, grad, in_grad_rows(n, j, from), (end - from) * width);
    }
}

void graph_backward(graph *g) {
    // (One process passes sums on node by node.)
    const int one_by_one = (g->parallel && !g->blocked) || ranks_of(g);
    for (size_t end = g->n_nodes, k; end > 0; end = k) {
        k = one_by_one ? end - 1 : group_begin(g, end);
        if (part_ends(g, end - 1)) run_forward(g, g->nodes[end - 1].part_from, end, 1);
        if (end - k == 1) {
            node *n = &g->nodes[k];
            if (!n->out->grad || !n->op->backward) continue;
            graph_take_sums(g, n);
            n->op->backward(g, n);
            graph_give_sums(g, n);
            add_apart(n, 0, SIZE_MAX);
            continue;
        }
        const size_t rows = blocked_rows(&g->nodes[k], 1);
        for (size_t from = 0, to; from < rows; from = to) {
            to = block_end(from, rows);
            for (size_t i = end; i-- > k;) {
                node *n = &g->nodes[i];
                if (!n->out->grad) continue;
                n->op->backward_rows(g, n, 0, from, to - from);
                add_apart(n, from, to);
            }
        }
    }
    graph_share_gradient(g);
}

static int all_finite(const float *x, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!(x[i] - x[i] == 0.0f)) return 0;
    return 1;
}

const char *graph_first_nonfinite(graph *g) {
    for (size_t i = 0; i < g->n_tensors; i++)
        if (g->tensors[i]->weight && !all_finite(g->tensors[i]->data, g->tensors[i]->n))
            return g->tensors[i]->name;
    for (size_t k = 0; k < g->n_nodes; k++) {
        g->nodes[k].op->forward(g, &g->nodes[k]);
        if (!all_finite(g->nodes[k].out->data, g->nodes[k].out->n)) return g->nodes[k].out->name;
    }
    return NULL;
}

tensor *graph_find(const graph *g, const char *name) {
    for (size_t i = 0; i < g->n_tensors; i++)
        if (!strcmp(g->tensors[i]->name, name)) return g->tensors[i];
    return NULL;
}

size_t graph_map_heads(const graph *g, const tensor *t) {
    const node *n = t->produced_by < 0 ? NULL : &g->nodes[t->produced_by];
    return n && n->op->map_heads ? n->op->map_heads(n) : 0;
}
// Of what made t where that mixes rows of its input, else NULL.
static node *row_mix(const graph *g, const tensor *t) {
    node *n = t->produced_by < 0 ? NULL : &g->nodes[t->produced_by];
    return n && n->op->map_back ? n : NULL;
}
int graph_map_staged(const graph *g, const tensor *t) {
    const node *n = &g->nodes[t->produced_by];
    return n->op->map_staged && (n->op->map_staged(n) || row_mix(g, n->in[2]));
}
void graph_map(graph *g, const tensor *t, enum map_stage stage, float *map) {
    node *n = &g->nodes[t->produced_by];
    n->op->map(g, n, stage, map);
    if (stage != MAP_ACTING) return;
    for (node *v = row_mix(g, n->in[2]); v; v = row_mix(g, v->in[0]))
        v->op->map_back(g, v, map, n->op->map_heads(n));
}
