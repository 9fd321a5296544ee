// plan.c: which memory every tensor, gradient and scratch has.
// Time runs over the forward nodes 0..N-1, then backward N..2N-1 (node i at 2N-1-i); time 2N is for ever.
// Each buffer lives from its first write to its last read; buffers whose lives do not overlap share memory:
// largest first, lowest free place.
#include "graph_private.h"

#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

typedef struct {
    size_t n, offset; // floats
    int from, to;
} buffer;
typedef struct {
    buffer *list;
    size_t count, room;
    int *first,
        *last; // [2N + 1]: of the group of nodes that runs at this time, block of rows by block of rows
    int failed, apart; // apart: nothing shares memory
} plan;
static const size_t no_buffer = (size_t)-1;

static size_t add_life(plan *p, uint64_t n, int from, int to) {
    if (n > GRAPH_MOST || !graph_grow((void **)&p->list, p->count, &p->room, sizeof *p->list)) {
        p->failed = 1;
        return 0;
    }
    p->list[p->count] = (buffer){((size_t)n + 15) / 16 * 16, 0, from, to};
    return p->count++;
}
// What a group writes at one time and reads at another lives as long as the group runs,
// which is block after block.
static size_t add_buffer(plan *p, uint64_t n, int from, int to) {
    return add_life(p, n, p->first[from], p->last[to]);
}

static size_t place(plan *p) {
    size_t top = 0, *order = malloc((p->count + 1) * sizeof *order),
           *beside = malloc((p->count + 1) * sizeof *beside);
    if (!order || !beside) {
        p->failed = 1;
        free(order);
        free(beside);
        return 0;
    }
    // insertion sort, largest first; stable, so the plan is the same everywhere
    for (size_t i = 0; i < p->count; i++) {
        size_t at = i;
        for (; at > 0 && p->list[order[at - 1]].n < p->list[i].n; at--) order[at] = order[at - 1];
        order[at] = i;
    }
    for (size_t i = 0; i < p->count; i++) {
        buffer *b = &p->list[order[i]];
        size_t m = 0; // already placed and alive at the same time, by offset
        for (size_t j = 0; j < i; j++) {
            const buffer *o = &p->list[order[j]];
            if (!p->apart && (o->from > b->to || b->from > o->to)) continue;
            size_t at = m++;
            for (; at > 0 && p->list[beside[at - 1]].offset > o->offset; at--) beside[at] = beside[at - 1];
            beside[at] = order[j];
        }
        size_t offset = 0;
        for (size_t j = 0; j < m; j++) {
            const buffer *o = &p->list[beside[j]];
            if (o->offset >= offset + b->n) break;
            if (o->offset + o->n > offset) offset = o->offset + o->n;
        }
        if (offset > SIZE_MAX / 8 - b->n) p->failed = 1, offset = 0;
        b->offset = offset;
        if (offset + b->n > top) top = offset + b->n;
    }
    free(order);
    free(beside);
    return top;
}

// Long sequences walk through hundreds of megabytes: on pages of 2 MB where Linux gives them on request, the
// processor finds their addresses faster (2 to 5 % of a step at 65,536 tokens).
static void *zeroed(size_t bytes) {
    char *p = calloc(1, bytes);
#ifdef MADV_HUGEPAGE
    const size_t page = (size_t)2 << 20;
    if (p && bytes >= 4 * page) madvise(p + (page - (uintptr_t)p % page) % page, bytes - page, MADV_HUGEPAGE);
#endif
    return p;
}

// ---- Groups of nodes --------------------------------------------------------------------------------------

// The times of each group.
static void group_times(plan *p, const graph *g) {
    const size_t N = g->n_nodes;
    for (int backward = 0; backward < 2; backward++)
        for (size_t k = 0, end; k < N; k = end) {
            end = group_end(g, k, backward);
            for (size_t i = k; i < end; i++) {
                const size_t t = backward ? 2 * N - 1 - i : i;
                p->first[t] = (int)(backward ? 2 * N - end : k);
                p->last[t] = (int)(backward ? 2 * N - 1 - k : end - 1);
            }
        }
    p->first[2 * N] = p->last[2 * N] = (int)(2 * N);
}
// Whether node k runs backward in a group; whether what node `from` computes is used within that group only.
static int grouped(const plan *p, const graph *g, int k) {
    const size_t t = 2 * g->n_nodes - 1 - (size_t)k;
    return p->first[t] < p->last[t];
}
static int within_group(const plan *p, const graph *g, int from, int last) {
    const size_t end = 2 * g->n_nodes - 1;
    return from >= 0 && grouped(p, g, from) && p->first[end - (size_t)from] == p->first[end - (size_t)last];
}

static size_t gradient_floats(const tensor *t, int blocked) {
    return blocked ? BLOCK_ROWS * (size_t)t->shape[t->rank - 1] : t->n;
}

// ---- Lifetimes --------------------------------------------------------------------------------------------

// The last time at which the data of t is read.
static int last_read(const graph *g, const tensor *t, int from) {
    const int N = (int)g->n_nodes;
    if (g->mode == GRAPH_LOOK || t->last_consumer < from) return 2 * N;
    for (int k = 0; g->mode == GRAPH_TRAIN && k < N;
         k++) { // the first node that is read by its backward runs last
        const node *n = &g->nodes[k];
        int reads = n->out == t && n->op->backward_reads & READS_OUT;
        for (size_t j = 0; j < n->n_in; j++) reads |= n->in[j] == t && n->op->backward_reads & READS_IN(j);
        if (reads) return 2 * N - 1 - k;
    }
    return t->last_consumer;
}

// Who gives each tensor its gradient: a node without a backward gives none, nor does one whose own result
// gets none. What gets none needs none, so that nothing reads a gradient that was never written.
static void find_givers(graph *g, const tensor *loss) {
    for (size_t i = 0; i < g->n_tensors; i++) g->tensors[i]->first_giver = -1;
    for (int k = (int)g->n_nodes - 1; k >= 0; k--) {
        const node *n = &g->nodes[k];
        if (!n->op->backward || (n->out != loss && n->out->first_giver < 0)) continue;
        for (size_t j = 0; j < n->n_in; j++)
            if (n->in[j]->first_giver < 0) n->in[j]->first_giver = k;
    }
    for (size_t i = 0; i < g->n_tensors; i++) {
        tensor *t = g->tensors[i];
        if (t->weight || !t->needs_grad || t == loss) continue;
        if (t->last_consumer < 0) graph_fail(g, "%s is computed but nothing uses it", t->name);
        if (t->first_giver < 0) t->needs_grad = 0;
    }
}

static void plan_tensor(plan *p, graph *g, tensor *t, const tensor *loss) {
    const int N = (int)g->n_nodes, from = t->produced_by < 0 ? 0 : t->produced_by;
    if (t->produced_by >= 0 && g->nodes[t->produced_by].still) { // a stream computes it once
        t->buffer = add_buffer(p, t->n, 0, 2 * N);
        return;
    }
    t->buffer = add_buffer(p, t->n, from, last_read(g, t, from));
    if (g->mode != GRAPH_TRAIN || !t->needs_grad) return;
    const int first = t == loss ? N - 1 : 2 * N - 1 - t->first_giver;
    t->blocked =
        !g->parallel && !ranks_of(g) && t != loss && within_group(p, g, t->produced_by, t->first_giver);
    g->blocked |= t->blocked;
    t->grad_buffer = add_buffer(p, gradient_floats(t, t->blocked), first, 2 * N - 1 - t->produced_by);
}

static void plan_node(plan *p, graph *g, int k) {
    node *n = &g->nodes[k];
    const int N = (int)g->n_nodes, train = g->mode == GRAPH_TRAIN, back = 2 * N - 1 - k;
    // Who looks asks for maps after the replay: they are made of what was saved, in the node's scratch.
    const int to = g->mode == GRAPH_LOOK && (n->op->map || n->op->map_back) ? 2 * N : k;
    n->saved_buffer = n->saved_n ? add_buffer(p, n->saved_n, k, train ? back : to) : no_buffer;
    n->scratch_buffer = n->scratch_n ? add_life(p, n->scratch_n, k, to) : no_buffer;
    for (size_t j = 0; j < n->n_in; j++) {
        const tensor *t = n->in[j];
        n->temp_buffer[j] = no_buffer;
        if (!train || !t->needs_grad || t->weight) continue;
        n->adds[j] = t->first_giver != k;
        for (size_t e = 0; e < j; e++) n->adds[j] |= n->in[e] == t; // the same tensor twice
        const int apart = n->adds[j] && !n->op->can_add;
        n->blocked[j] = apart ? !g->parallel && !ranks_of(g) && grouped(p, g, k) : t->blocked;
        g->blocked |= n->blocked[j];
        if (apart) n->temp_buffer[j] = add_life(p, gradient_floats(t, n->blocked[j]), back, back);
    }
}

// Every address, from the memory that is there.
static void point(graph *g, const plan *p, const size_t *back_scratch) {
    const int train = g->mode == GRAPH_TRAIN;
    float *base = aligned(g->memory);
    for (size_t i = 0; i < g->n_tensors; i++) {
        tensor *t = g->tensors[i];
        if (t->weight) {
            t->data = g->params->data + t->weight->offset;
            t->grad = train ? g->params->grad + t->weight->offset : NULL;
        } else {
            t->data = base + p->list[t->buffer].offset;
            t->grad = t->grad_buffer == no_buffer ? NULL : base + p->list[t->grad_buffer].offset;
        }
    }
    for (size_t k = 0; k < g->n_nodes; k++) {
        node *n = &g->nodes[k];
        if (n->saved_n) n->saved = base + p->list[n->saved_buffer].offset;
        if (n->scratch_n) {
            n->scratch = base + p->list[n->scratch_buffer].offset;
            n->back_scratch = train ? base + p->list[back_scratch[k]].offset : NULL;
        }
        for (size_t j = 0; j < n->n_in; j++)
            n->in_grad[j] =
                n->temp_buffer[j] != no_buffer ? base + p->list[n->temp_buffer[j]].offset : n->in[j]->grad;
    }
}

int graph_plan(graph *g, tensor *loss, smx_error *error) {
    const int N = (int)g->n_nodes;
    plan p = {.apart = g->apart};
    int *times = malloc((2 * (2 * g->n_nodes + 1)) * sizeof *times);
    if (!times) {
        graph_fail(g, "out of memory for a graph");
        if (error) *error = g->error;
        return -1;
    }
    free(g->memory);
    g->memory = NULL;
    g->blocked = 0;
    p.first = times;
    p.last = times + 2 * g->n_nodes + 1;
    group_times(&p, g);
    if (g->mode == GRAPH_TRAIN) find_givers(g, loss);
    for (size_t i = 0; i < g->n_tensors; i++) {
        g->tensors[i]->buffer = g->tensors[i]->grad_buffer = no_buffer;
        if (!g->tensors[i]->weight && !g->failed) plan_tensor(&p, g, g->tensors[i], loss);
    }
    for (int k = 0; k < N; k++) plan_node(&p, g, k);
    // Scratch lives twice, forward and backward, in two places.
    size_t *back_scratch = calloc((size_t)N + 1, sizeof *back_scratch);
    for (int k = 0; back_scratch && g->mode == GRAPH_TRAIN && k < N; k++)
        if (g->nodes[k].scratch_n)
            back_scratch[k] = add_life(&p, g->nodes[k].scratch_n, 2 * N - 1 - k, 2 * N - 1 - k);
    const size_t total = place(&p);
    g->bytes = p.failed ? SIZE_MAX : (total + 32) * sizeof(float);
    g->memory = p.failed || !back_scratch ? NULL : zeroed(g->bytes);
    if (p.failed)
        graph_fail(g, "out of memory: this model's activations need more than can be addressed");
    else if (!g->memory)
        graph_fail(g, "out of memory: this model needs %zu bytes for its activations", g->bytes);
    if (!g->failed) point(g, &p, back_scratch);
    if (!g->failed) graph_find_sums(g);
    for (graph_table_to_fill *t = g->failed ? NULL : g->tables; t; t = t->next) t->fill(t->data, t->with);
    if (!g->failed) g->tables = NULL, g->last_table = NULL;
    free(back_scratch);
    free(p.list);
    free(times);
    if (g->failed && error) *error = g->error;
    return g->failed ? -1 : 0;
}
