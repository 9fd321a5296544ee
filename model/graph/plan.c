// plan.c: which memory every tensor, gradient and scratch has.
// Time runs over the forward nodes 0..N-1, then backward from N-1 to 0, a part that is computed again just
// before its own backward; the time after all is for ever. Each buffer lives from its first write to its last
// read, what is computed again twice; buffers whose lives do not overlap share memory: largest first, lowest
// free place.
#include "graph_private.h"

#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

enum { LIVES = 1 + RECOMPUTES };
typedef struct {
    size_t n, offset; // floats
    int from[LIVES], to[LIVES];
} buffer;
typedef struct {
    buffer *list;
    size_t count, room;
    int *back, *again; // [N]: when a node runs backward, and forward for the second time
    int *first,
        *last; // [end + 1]: of the group of nodes that runs at this time, block of rows by block of rows
    int end;   // for ever
    int failed, apart; // apart: nothing shares memory
} plan;
static const size_t no_buffer = (size_t)-1;

static size_t add_life(plan *p, uint64_t n, int from, int to) {
    if (n > GRAPH_MOST || !graph_grow((void **)&p->list, p->count, &p->room, sizeof *p->list)) {
        p->failed = 1;
        return 0;
    }
    p->list[p->count] = (buffer){.n = ((size_t)n + 15) / 16 * 16, .from = {from}, .to = {to}};
    if (LIVES > 1) p->list[p->count].to[LIVES - 1] = -1;
    return p->count++;
}
static void live_again(plan *p, size_t buffer, int from, int to) {
    if (RECOMPUTES && !p->failed) p->list[buffer].from[LIVES - 1] = from, p->list[buffer].to[LIVES - 1] = to;
}
static int meet(const buffer *a, const buffer *b) {
    int met = 0;
    for (int i = 0; i < LIVES; i++)
        for (int j = 0; j < LIVES; j++) met |= a->from[i] <= b->to[j] && b->from[j] <= a->to[i];
    return met;
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
            if (!p->apart && !meet(o, b)) continue;
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

// When each node runs.
static void node_times(plan *p, const graph *g) {
    int now = (int)g->n_nodes;
    for (size_t k = g->n_nodes; k-- > 0;) {
        for (size_t i = g->nodes[k].part_from; part_ends(g, k) && i <= k; i++) p->again[i] = now++;
        p->back[k] = now++;
    }
    p->end = now;
}
static void same_group(plan *p, int first, int last) {
    for (int t = first; t <= last; t++) p->first[t] = first, p->last[t] = last;
}
// The times of each group.
static void group_times(plan *p, const graph *g) {
    const size_t N = g->n_nodes;
    for (size_t k = 0, end; k < N; k = end) {
        end = group_end(g, k, N);
        same_group(p, (int)k, (int)end - 1);
    }
    for (size_t end = N, k; end > 0; end = k) {
        k = group_begin(g, end);
        same_group(p, p->back[end - 1], p->back[k]);
        for (size_t i = g->nodes[end - 1].part_from, to; part_ends(g, end - 1) && i < end; i = to) {
            to = group_end(g, i, end);
            same_group(p, p->again[i], p->again[to - 1]);
        }
    }
    p->first[p->end] = p->last[p->end] = p->end;
}
// Whether node k runs backward in a group; whether what node `from` computes is used within that group only.
static int grouped(const plan *p, int k) { return p->first[p->back[k]] < p->last[p->back[k]]; }
static int within_group(const plan *p, int from, int last) {
    return from >= 0 && grouped(p, from) && p->first[p->back[from]] == p->first[p->back[last]];
}

static size_t gradient_floats(const tensor *t, int blocked) {
    return blocked ? BLOCK_ROWS * (size_t)t->shape[t->rank - 1] : t->n;
}

// ---- Lifetimes --------------------------------------------------------------------------------------------

static int takes(const node *n, const tensor *t) {
    int any = 0;
    for (size_t j = 0; j < n->n_in; j++) any |= n->in[j] == t;
    return any;
}
static int backward_reads(const node *n, const tensor *t) {
    int any = n->out == t && n->op->backward_reads & READS_OUT;
    for (size_t j = 0; j < n->n_in; j++) any |= n->in[j] == t && n->op->backward_reads & READS_IN(j);
    return any;
}
// What backward wants again of a part: what it reads, what was saved for it, and what these are made of.
static void find_again(graph *g) {
    for (size_t k = g->n_nodes; RECOMPUTES && k-- > 0;) {
        node *n = &g->nodes[k];
        n->again = n->part_to && (n->saved_n || backward_reads(n, n->out));
        for (size_t later = k + 1; later < n->part_to; later++) {
            const node *l = &g->nodes[later];
            n->again |= backward_reads(l, n->out) || (computed_again(l) && takes(l, n->out));
        }
    }
}

// The last time at which the data of t is read; *again: of what is computed again, for the second time.
static int last_read(const plan *p, const graph *g, const tensor *t, int from, int *again) {
    const node *made = t->produced_by < 0 ? NULL : &g->nodes[t->produced_by];
    if (g->mode == GRAPH_LOOK || t->last_consumer < from) return p->end;
    int last = t->last_consumer;
    for (int k = 0; g->mode == GRAPH_TRAIN && k < (int)g->n_nodes; k++) {
        const node *n = &g->nodes[k];
        const int time = backward_reads(n, t)               ? p->back[k]
                         : computed_again(n) && takes(n, t) ? p->again[k]
                                                            : -1;
        int *to = RECOMPUTES && made && n->part_to && n->part_to == made->part_to ? again : &last;
        if (time > *to) *to = time;
    }
    return last;
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
        t->buffer = add_buffer(p, t->n, 0, p->end);
        return;
    }
    const int twice = t->produced_by >= 0 && computed_again(&g->nodes[from]),
              second = twice ? p->again[from] : 0;
    int to = second;
    t->buffer = add_buffer(p, t->n, from, last_read(p, g, t, from, &to));
    if (twice) live_again(p, t->buffer, p->first[second], p->last[to]);
    if (g->mode != GRAPH_TRAIN || !t->needs_grad) return;
    const int first = t == loss ? N - 1 : p->back[t->first_giver];
    t->blocked = !g->parallel && !ranks_of(g) && t != loss && within_group(p, t->produced_by, t->first_giver);
    g->blocked |= t->blocked;
    t->grad_buffer = add_buffer(p, gradient_floats(t, t->blocked), first, p->back[t->produced_by]);
}

static void plan_node(plan *p, graph *g, int k) {
    node *n = &g->nodes[k];
    const int train = g->mode == GRAPH_TRAIN, back = p->back[k];
    // Who looks asks for maps after the replay: they are made of what was saved, in the node's scratch.
    const int to = g->mode == GRAPH_LOOK && (n->op->map || n->op->map_back) ? p->end : k;
    n->saved_buffer =
        n->saved_n ? add_buffer(p, n->saved_n, k, train && !computed_again(n) ? back : to) : no_buffer;
    n->scratch_buffer = n->scratch_n ? add_life(p, n->scratch_n, k, to) : no_buffer;
    if (computed_again(n) && n->saved_n) live_again(p, n->saved_buffer, p->first[p->again[k]], p->last[back]);
    if (computed_again(n) && n->scratch_n) live_again(p, n->scratch_buffer, p->again[k], p->again[k]);
    for (size_t j = 0; j < n->n_in; j++) {
        const tensor *t = n->in[j];
        n->temp_buffer[j] = no_buffer;
        if (!train || !t->needs_grad || t->weight) continue;
        n->adds[j] = t->first_giver != k;
        for (size_t e = 0; e < j; e++) n->adds[j] |= n->in[e] == t; // the same tensor twice
        const int apart = n->adds[j] && !n->op->can_add;
        n->blocked[j] = apart ? !g->parallel && !ranks_of(g) && grouped(p, k) : t->blocked;
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
    // Up to three times a node, and the one after all.
    int *times = malloc((2 * g->n_nodes + 2 * (3 * g->n_nodes + 1)) * sizeof *times);
    if (!times) {
        graph_fail(g, "out of memory for a graph");
        if (error) *error = g->error;
        return -1;
    }
    free(g->memory);
    g->memory = NULL;
    g->blocked = 0;
    p.back = times;
    p.again = p.back + g->n_nodes;
    p.first = p.again + g->n_nodes;
    p.last = p.first + 3 * g->n_nodes + 1;
    node_times(&p, g);
    group_times(&p, g);
    if (g->mode == GRAPH_TRAIN) find_givers(g, loss);
    find_again(g);
    for (size_t i = 0; i < g->n_tensors; i++) {
        g->tensors[i]->buffer = g->tensors[i]->grad_buffer = no_buffer;
        if (!g->tensors[i]->weight && !g->failed) plan_tensor(&p, g, g->tensors[i], loss);
    }
    for (int k = 0; k < N; k++) plan_node(&p, g, k);
    // Scratch lives twice, forward and backward, in two places.
    size_t *back_scratch = calloc((size_t)N + 1, sizeof *back_scratch);
    for (int k = 0; back_scratch && g->mode == GRAPH_TRAIN && k < N; k++)
        if (g->nodes[k].scratch_n)
            back_scratch[k] = add_life(&p, g->nodes[k].scratch_n, p.back[k], p.back[k]);
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
