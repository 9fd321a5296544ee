// build.c: graphs as they are built: weights, nodes, names.
#include "graph_private.h"
#include "model/base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

graph *graph_new(enum graph_mode mode, params *p, size_t B, size_t L) {
    graph *g = calloc(1, sizeof *g);
    if (!g) return NULL;
    g->mode = mode;
    g->params = p;
    g->B = B;
    g->L = L;
    g->given = B;
    g->share = share_of(B, NULL, 0);
    g->span = mode == GRAPH_STREAM && L > STREAM_ROWS ? STREAM_ROWS : L;
    g->failed_tensor = (tensor){.rank = 4, .shape = {1 << 20, 1 << 20, 1 << 20, 1 << 20}, .n = 1};
    return g;
}

graph *graph_new_share(params *p, share of, size_t B, size_t L) {
    graph *g = graph_new(GRAPH_TRAIN, p, B, L);
    if (g) g->share = of;
    return g;
}

void graph_free(graph *g) {
    if (!g) return;
    for (size_t i = 0; i < g->n_tensors; i++) free(g->tensors[i]);
    for (size_t i = 0; i < g->n_owned; i++) free(g->owned[i]);
    free(g->tensors);
    free(g->owned);
    free(g->nodes);
    free(g->memory);
    free(g);
}

void graph_fail(graph *g, const char *message, ...) {
    if (g->failed) return;
    g->failed = 1;
    va_list list;
    va_start(list, message);
    error_say_list(&g->error, message, list);
    va_end(list);
}

int graph_grow(void **list, size_t count, size_t *room, size_t size) {
    if (count < *room) return 1;
    size_t more = *room ? 2 * *room : 32;
    void *longer = realloc(*list, more * size);
    if (!longer) return 0;
    *list = longer;
    *room = more;
    return 1;
}

void *graph_own(graph *g, uint64_t bytes) {
    if (g->failed) return NULL;
    void *p = bytes <= 4 * GRAPH_MOST ? calloc(1, bytes ? (size_t)bytes : 1) : NULL;
    void **longer = p ? realloc(g->owned, (g->n_owned + 1) * sizeof *g->owned) : NULL;
    if (!longer) {
        free(p);
        graph_fail(g, "out of memory for %llu bytes of a graph", (unsigned long long)bytes);
        return NULL;
    }
    g->owned = longer;
    g->owned_bytes += (size_t)bytes;
    return g->owned[g->n_owned++] = p;
}

float *graph_table(graph *g, uint64_t floats, table_fill *fill, const void *with, size_t with_bytes) {
    static float nowhere;
    if (g->counting) return &nowhere;
    float *data = graph_own(g, size_mul(floats, sizeof *data));
    graph_table_to_fill *t = data ? graph_own(g, sizeof *t + with_bytes) : NULL;
    if (!t) return NULL;
    t->fill = fill;
    t->data = data;
    memcpy(t->with, with, with_bytes);
    // In the order in which they were asked for: one may be made from another.
    *(g->last_table ? g->last_table : &g->tables) = t;
    g->last_table = &t->next;
    return data;
}

void graph_push(graph *g, const char *format, ...) {
    size_t n = strlen(g->prefix);
    va_list list;
    va_start(list, format);
    vsnprintf(g->prefix + n, sizeof g->prefix - n, format, list);
    va_end(list);
    n = strlen(g->prefix);
    snprintf(g->prefix + n, sizeof g->prefix - n, ".");
}

void graph_pop(graph *g) {
    size_t n = strlen(g->prefix);
    while (n > 0 && (n == strlen(g->prefix) || g->prefix[n - 1] != '.')) n--;
    g->prefix[n] = 0;
}

tensor *graph_name(graph *g, tensor *t, const char *name) {
    if (t && !t->weight) snprintf(t->name, sizeof t->name, "%.47s%.16s", g->prefix, name);
    return t;
}

// The number of elements; 0 where it is more than memory could hold: the graph has failed.
static size_t elements(graph *g, uint32_t rank, const uint32_t *shape) {
    uint64_t n = 1;
    for (uint32_t i = 0; i < rank; i++) {
        if (shape[i] && n > GRAPH_MOST / shape[i]) {
            graph_fail(g, "out of memory: length, batch and width are too large together");
            return 0;
        }
        n *= shape[i];
    }
    return (size_t)n;
}

static tensor *new_tensor(graph *g, uint32_t rank, const uint32_t *shape) {
    const size_t n = elements(g, rank, shape);
    if (g->failed) return &g->failed_tensor;
    tensor *t = calloc(1, sizeof *t);
    if (!t || !graph_grow((void **)&g->tensors, g->n_tensors, &g->tensor_room, sizeof *g->tensors)) {
        free(t);
        graph_fail(g, "out of memory for a graph");
        return &g->failed_tensor;
    }
    t->rank = rank;
    t->n = n;
    memcpy(t->shape, shape, rank * sizeof *shape);
    t->produced_by = t->last_consumer = -1;
    g->tensors[g->n_tensors++] = t;
    return t;
}

static const char *shape_text(char *to, size_t size, uint32_t rank, const uint32_t *shape) {
    size_t n = 0;
    for (uint32_t i = 0; i < rank && n < size; i++)
        n += (size_t)snprintf(to + n, size - n, i ? " x %u" : "%u", shape[i]);
    return to;
}

tensor *graph_param(graph *g, const char *name, init start, int decays, uint32_t rank,
                    const uint32_t *shape) {
    char full[64], has[64], wants[64];
    snprintf(full, sizeof full, "%.47s%.16s", g->prefix, name);
    params *p = g->params;
    const param *found = params_find(p, full);
    if (!found) {
        if (p->sealed || !graph_grow((void **)&p->list, p->count, &p->room, sizeof *p->list)) {
            graph_fail(g,
                       p->sealed ? "weight %s does not exist in this model" : "out of memory for weight %s",
                       full);
            return new_tensor(g, rank, shape);
        }
        const size_t n = elements(g, rank, shape);
        param *w = g->failed ? NULL : calloc(1, sizeof *w);
        if (!w) {
            graph_fail(g, "out of memory for weight %s", full);
            return new_tensor(g, rank, shape);
        }
        p->list[p->count++] = w;
        memcpy(w->name, full, sizeof w->name);
        w->rank = rank;
        w->n = n;
        memcpy(w->shape, shape, rank * sizeof *shape);
        w->decays = decays;
        w->start = start;
        found = w;
    }
    if (found->rank != rank || memcmp(found->shape, shape, rank * sizeof *shape))
        graph_fail(g, "weight %s is %s as it was trained and would have to be %s here", full,
                   shape_text(has, sizeof has, found->rank, found->shape),
                   shape_text(wants, sizeof wants, rank, shape));
    tensor *t = new_tensor(g, found->rank, found->shape);
    if (g->failed) return t;
    t->weight = found;
    memcpy(t->name, full, sizeof t->name);
    t->needs_grad = g->mode == GRAPH_TRAIN;
    return t;
}

tensor *graph_running(graph *g, const char *name, size_t n, double start) {
    tensor *t = graph_param(g, name, (init){INIT_CONSTANT, start}, 0, 1, (uint32_t[]){(uint32_t)n});
    if (!g->failed) ((param *)t->weight)->running = 1;
    t->needs_grad = 0;
    return t;
}

// The attributes in the graph's own memory.
static void *own_attributes(graph *g, const op *op, const void *attributes) {
    void *own = op->attributes ? graph_own(g, op->attributes) : NULL;
    if (own) memcpy(own, attributes, op->attributes);
    return own;
}

// A node of a stream: is it still, which rows does it keep? Returns the most rows of a sequence that it runs
// over.
static size_t stream_node(graph *g, node *n) {
    n->still = !n->op->enters;
    for (size_t i = 0; i < n->n_in; i++) n->still &= is_still(g, n->in[i]);
    if (!runs_again(n)) {
        g->grows |= !n->still && n->op->grows && n->op->grows(g, n);
        return g->L;
    }
    const op_reach reach = reach_of(g, n);
    n->keeps = reach.rows == SIZE_MAX ? g->L : reach.rows + reach.unit - 1;
    g->grows |= reach.rows == SIZE_MAX;
    if (n->keeps > g->L && !g->endless) n->keeps = g->L;
    return n->keeps + g->span;
}

tensor *graph_node(graph *g, const op *op, size_t n_in, tensor *const *in, const void *attributes) {
    node made = {.op = op, .n_in = n_in, .attributes = own_attributes(g, op, attributes)};
    uint32_t shape[4];
    if (n_in) memcpy(made.in, in, n_in * sizeof *in);
    if (g->failed) return &g->failed_tensor;
    if (!op->shape) memcpy(shape, in[0]->shape, sizeof shape);
    const uint32_t rank = op->shape ? op->shape(g, &made, shape) : in[0]->rank;
    tensor *out = made.out = new_tensor(g, rank, shape);
    if (!g->failed && !graph_grow((void **)&g->nodes, g->n_nodes, &g->node_room, sizeof *g->nodes))
        graph_fail(g, "out of memory for a graph");
    if (g->failed) return &g->failed_tensor;
    const int k = (int)g->n_nodes;
    for (size_t i = 0; i < n_in; i++) {
        if (in[i]->needs_grad && op->backward) out->needs_grad = 1;
        in[i]->last_consumer = k;
    }
    out->produced_by = k;
    snprintf(out->name, sizeof out->name, "%.47s%s#%d", g->prefix, op->name, k % 1000);
    g->nodes[g->n_nodes++] = made;
    g->nodes[k].reached = op->enters;
    for (size_t i = 0; i < n_in; i++) g->nodes[k].reached |= graph_reaches(g, in[i]);
    const size_t L = g->L;
    if (g->mode == GRAPH_STREAM) g->L = stream_node(g, &g->nodes[k]);
    if (op->size) op->size(g, &g->nodes[k]);
    g->L = L;
    return out;
}

void graph_recompute(graph *g, size_t from) {
    for (size_t k = from; RECOMPUTES && g->mode == GRAPH_TRAIN && k < g->n_nodes; k++)
        g->nodes[k].part_from = from, g->nodes[k].part_to = g->n_nodes;
}
