// graph.c: building blocks, the memory plan and the replay of the static graph. What the operations compute is in ops.c.
#include "graph.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

#include "kernels/philox.h"

// ---- Weights --------------------------------------------------------------------------------------------

void params_free(params *p) {
    for (size_t i = 0; i < p->count; i++) free(p->list[i]);
    free(p->list);
    free(p->data);
    memset(p, 0, sizeof *p);
}

const param *params_find(const params *p, const char *name) {
    for (size_t i = 0; i < p->count; i++)
        if (!strcmp(p->list[i]->name, name)) return p->list[i];
    return NULL;
}

static uint64_t name_hash(const char *name) { // FNV-1a
    uint64_t h = 14695981039346656037u;
    for (; *name; name++) h = (h ^ (unsigned char)*name) * 1099511628211u;
    return h;
}

static void start_param(const param *w, float *data, uint64_t seed) {
    smx_rng r = rng_open(seed, RNG_START, name_hash(w->name));
    size_t last = w->shape[w->rank - 1];
    switch (w->start.kind) {
    case INIT_NORMAL:
        for (size_t i = 0; i < w->n; i++) data[i] = (float)(w->start.scale * rng_normal(&r));
        break;
    case INIT_UNIFORM:
        for (size_t i = 0; i < w->n; i++) data[i] = (float)(w->start.scale * (2.0 * rng_uniform(&r) - 1.0));
        break;
    case INIT_CONSTANT:
        for (size_t i = 0; i < w->n; i++) data[i] = (float)w->start.scale;
        break;
    case INIT_DECAY: {
        double rho = 1.0 - 1.0 / (double)last, square = 0.0, tap = 1.0;
        for (size_t i = 0; i < last; i++, tap *= rho) square += tap * tap;
        for (size_t i = 0; i < w->n; i++) {
            tap = i % last ? tap * rho : 1.0 / md_sqrt(square);
            data[i] = (float)(w->start.scale * rng_normal(&r) + tap);
        }
        break;
    }
    case INIT_IDENTITY:
        for (size_t i = 0; i < w->n; i++)
            data[i] = (float)(w->start.scale * rng_normal(&r) + (i % last == 0));
        break;
    case INIT_IDENTITY_MIDDLE:
        for (size_t i = 0; i < w->n; i++)
            data[i] = (float)(w->start.scale * rng_normal(&r) + (i % last == last / 2));
        break;
    case INIT_IDENTITY_HEADS:
        for (size_t i = 0; i < w->n; i++)
            data[i] = (float)(w->start.scale * rng_normal(&r) + (i < last * last && i % (last + 1) == 0));
        break;
    case INIT_LONG:
        for (size_t i = 0; i < w->n; i++) {
            double channel = (double)(i / last) / (double)(w->n / last > 1 ? w->n / last - 1 : 1);
            double rate = md_exp(-channel * md_log((double)last));
            double size = w->start.scale * md_sqrt(1.0 - md_exp(-2.0 * rate));
            data[i] = (float)(size * md_exp(-rate * (double)(i % last)) * rng_normal(&r));
        }
        break;
    case INIT_STEP:
    case INIT_STEP_PLUS:
        for (size_t i = 0; i < w->n; i++) {
            double step = md_log(0.001) + rng_uniform(&r) * (md_log(0.1) - md_log(0.001));
            data[i] = (float)(w->start.kind == INIT_STEP ? step : md_log(md_exp(md_exp(step)) - 1.0));
        }
        break;
    case INIT_COUNT:
        for (size_t i = 0; i < w->n; i++) data[i] = (float)(w->start.scale * (double)(i % last));
        break;
    case INIT_LOG_COUNT:
        for (size_t i = 0; i < w->n; i++) data[i] = (float)md_log((double)(i % last + 1));
        break;
    }
}

static int by_name(const void *a, const void *b) {
    return strcmp((*(param *const *)a)->name, (*(param *const *)b)->name);
}

int params_create(params *p, uint64_t seed, smx_error *error) {
    p->seed = seed;
    // In order of name: compilers differ in the order in which they evaluate arguments, so the order of building is no order.
    qsort(p->list, p->count, sizeof *p->list, by_name);
    uint64_t total = 0;
    for (size_t i = 0; i < p->count; i++) {
        p->list[i]->offset = (size_t)total;
        total += (p->list[i]->n + 15) / 16 * 16;
    }
    p->sealed = 1;
    p->data = total > GRAPH_MOST ? NULL : calloc(4 * (size_t)total + 16, sizeof *p->data);
    if (!p->data) {
        if (error) {
            memset(error, 0, sizeof *error);
            snprintf(error->message, sizeof error->message, "out of memory for %llu weights",
                     (unsigned long long)total);
        }
        return -1;
    }
    p->total = (size_t)total;
    p->grad = p->data + p->total;
    p->m = p->grad + p->total;
    p->v = p->m + p->total;
    for (size_t i = 0; i < p->count; i++) start_param(p->list[i], p->data + p->list[i]->offset, seed);
    return 0;
}

// ---- Building -------------------------------------------------------------------------------------------

graph *graph_new(enum graph_mode mode, params *p, size_t B, size_t L) {
    graph *g = calloc(1, sizeof *g);
    if (!g) return NULL;
    g->mode = mode;
    g->params = p;
    g->B = B;
    g->L = L;
    g->nothing = (tensor){.rank = 4, .shape = {1 << 20, 1 << 20, 1 << 20, 1 << 20}, .n = 1};
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
    memset(&g->error, 0, sizeof g->error);
    va_list list;
    va_start(list, message);
    vsnprintf(g->error.message, sizeof g->error.message, message, list);
    va_end(list);
}

// Room for one more element in a growing list; 0 when memory is out.
static int grow(void **list, size_t count, size_t *room, size_t size) {
    if (count < *room) return 1;
    size_t more = *room ? 2 * *room : 32;
    void *longer = realloc(*list, more * size);
    if (!longer) return 0;
    *list = longer;
    *room = more;
    return 1;
}

void *graph_own(graph *g, size_t bytes) {
    if (g->failed) return NULL;
    void *p = calloc(1, bytes ? bytes : 1);
    void **longer = p ? realloc(g->owned, (g->n_owned + 1) * sizeof *g->owned) : NULL;
    if (!longer) {
        free(p);
        graph_fail(g, "out of memory for %zu bytes of a graph", bytes);
        return NULL;
    }
    g->owned = longer;
    return g->owned[g->n_owned++] = p;
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

tensor *graph_tensor(graph *g, uint32_t rank, const uint32_t *shape) {
    const size_t n = elements(g, rank, shape);
    if (g->failed) return &g->nothing;
    tensor *t = calloc(1, sizeof *t);
    if (!t || !grow((void **)&g->tensors, g->n_tensors, &g->tensor_room, sizeof *g->tensors)) {
        free(t);
        graph_fail(g, "out of memory for a graph");
        return &g->nothing;
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
        if (p->sealed || !grow((void **)&p->list, p->count, &p->room, sizeof *p->list)) {
            graph_fail(g,
                       p->sealed ? "weight %s does not exist in this model" : "out of memory for weight %s",
                       full);
            return graph_tensor(g, rank, shape);
        }
        const size_t n = elements(g, rank, shape);
        param *w = g->failed ? NULL : calloc(1, sizeof *w);
        if (!w) {
            graph_fail(g, "out of memory for weight %s", full);
            return graph_tensor(g, rank, shape);
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
    tensor *t = graph_tensor(g, found->rank, found->shape);
    if (g->failed) return t;
    t->weight = found;
    memcpy(t->name, full, sizeof t->name);
    t->needs_grad = g->mode == GRAPH_TRAIN;
    return t;
}

node *graph_node(graph *g, const op_kind *op, tensor *out, size_t n_in, tensor *const *in) {
    if (g->failed || !grow((void **)&g->nodes, g->n_nodes, &g->node_room, sizeof *g->nodes)) {
        graph_fail(g, "out of memory for a graph");
        return &g->no_node;
    }
    node *n = &g->nodes[g->n_nodes];
    memset(n, 0, sizeof *n);
    n->op = op;
    n->out = out;
    n->n_in = n_in;
    for (size_t i = 0; i < n_in; i++) {
        n->in[i] = in[i];
        if (in[i]->needs_grad && op->backward) out->needs_grad = 1;
        in[i]->last_consumer = (int)g->n_nodes;
    }
    out->produced_by = (int)g->n_nodes;
    if (!out->name[0])
        snprintf(out->name, sizeof out->name, "%.47s%s#%zu", g->prefix, op->name, g->n_nodes % 1000);
    g->n_nodes++;
    return n;
}

// ---- The plan -------------------------------------------------------------------------------------------
// Time runs over the forward nodes 0..N-1, then backward N..2N-1 (node i at 2N-1-i). Each buffer lives from its first
// write to its last read; buffers whose lives do not overlap share memory: largest first, lowest free place.

typedef struct {
    size_t n, offset; // floats
    int from, to;
} buffer;
typedef struct {
    buffer *list;
    size_t count, room;
    int *first,
        *last; // [2N + 1]: of the group of nodes that runs at this time, block of rows by block of rows
    int failed;
} plan;

static size_t add_life(plan *p, size_t n, int from, int to) {
    if (n > GRAPH_MOST || !grow((void **)&p->list, p->count, &p->room, sizeof *p->list)) {
        p->failed = 1;
        return 0;
    }
    p->list[p->count] = (buffer){(n + 15) / 16 * 16, 0, from, to};
    return p->count++;
}
// What a group writes at one time and reads at another lives as long as the group runs, which is block after block.
static size_t add_buffer(plan *p, size_t n, int from, int to) {
    return add_life(p, n, p->first[from], p->last[to]);
}
// What no call of a node leaves to another call.
static size_t add_scratch(plan *p, size_t n, int at) { return add_life(p, n, at, at); }

static size_t place(plan *p) {
    size_t top = 0, *order = malloc((p->count + 1) * sizeof *order),
           *near = malloc((p->count + 1) * sizeof *near);
    if (!order || !near) {
        p->failed = 1;
        free(order);
        free(near);
        return 0;
    }
    for (size_t i = 0; i < p->count;
         i++) { // insertion sort, largest first; stable, so the plan is the same everywhere
        size_t at = i;
        for (; at > 0 && p->list[order[at - 1]].n < p->list[i].n; at--) order[at] = order[at - 1];
        order[at] = i;
    }
    for (size_t i = 0; i < p->count; i++) {
        buffer *b = &p->list[order[i]];
        size_t m = 0; // already placed and alive at the same time, by offset
        for (size_t j = 0; j < i; j++) {
            const buffer *o = &p->list[order[j]];
            if (o->from > b->to || b->from > o->to) continue;
            size_t at = m++;
            for (; at > 0 && p->list[near[at - 1]].offset > o->offset; at--) near[at] = near[at - 1];
            near[at] = order[j];
        }
        size_t offset = 0;
        for (size_t j = 0; j < m; j++) {
            const buffer *o = &p->list[near[j]];
            if (o->offset >= offset + b->n) break;
            if (o->offset + o->n > offset) offset = o->offset + o->n;
        }
        if (offset > SIZE_MAX / 8 - b->n) p->failed = 1, offset = 0;
        b->offset = offset;
        if (offset + b->n > top) top = offset + b->n;
    }
    free(order);
    free(near);
    return top;
}

// Long sequences walk through hundreds of megabytes: on pages of 2 MB where Linux gives them on request, the processor finds
// their addresses faster (2 to 5 % of a step at 65,536 tokens).
static void *zeroed(size_t bytes) {
    char *p = calloc(1, bytes);
#ifdef MADV_HUGEPAGE
    const size_t page = (size_t)2 << 20;
    if (p && bytes >= 4 * page) madvise(p + (page - (uintptr_t)p % page) % page, bytes - page, MADV_HUGEPAGE);
#endif
    return p;
}

// ---- Neighbours that run together -------------------------------------------------------------------------

static size_t rows_of_node(const node *n) { return n->out->n / n->out->shape[n->out->rank - 1]; }
// Rows that the node takes in blocks, forward or backward; 0: all at once.
static size_t near_rows(const node *n, int backward) {
    const size_t rows = (backward ? n->op->backward_rows : n->op->forward_rows) ? rows_of_node(n) : 0;
    return rows > FEW_ROWS ? rows : 0;
}
// One past the last node of the group that begins at node k.
static size_t group_end(const graph *g, size_t k, int backward) {
    const size_t rows = near_rows(&g->nodes[k], backward);
    size_t end = k + 1;
    while (rows && end < g->n_nodes && near_rows(&g->nodes[end], backward) == rows) end++;
    return end;
}

// The times of each group, in 0..2N-1; time 2N is forever.
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

static size_t near_floats(const tensor *t, int near) {
    return near ? NEAR_ROWS * (size_t)t->shape[t->rank - 1] : t->n;
}

int graph_plan(graph *g, tensor *loss, smx_error *error) {
    const int N = (int)g->n_nodes, train = g->mode == GRAPH_TRAIN, forever = 2 * N;
    plan p = {0};
    const size_t none = (size_t)-1;
    int *times = malloc((2 * (2 * g->n_nodes + 1)) * sizeof *times);
    if (!times) {
        graph_fail(g, "out of memory for a graph");
        if (error) *error = g->error;
        return -1;
    }
    free(g->memory);
    g->memory = NULL;
    g->near = 0;
    p.first = times;
    p.last = times + 2 * g->n_nodes + 1;
    group_times(&p, g);
    for (size_t i = 0; i < g->n_tensors; i++) {
        tensor *t = g->tensors[i];
        t->buffer = t->grad_buffer = none;
        if (t->weight || g->failed) continue;
        int from = t->produced_by < 0 ? 0 : t->produced_by,
            to = t->last_consumer < from ? forever : t->last_consumer;
        if (g->mode == GRAPH_LOOK) to = forever;
        for (int k = 0; train && k < N; k++) { // backward reads it
            const node *n = &g->nodes[k];
            int reads = n->out == t && n->op->needs_out;
            for (size_t j = 0; j < n->n_in; j++) reads |= n->in[j] == t && (n->op->needs_in >> j & 1);
            if (reads && 2 * N - 1 - k > to) to = 2 * N - 1 - k;
        }
        t->buffer = add_buffer(&p, t->n, from, to);
        if (train && t->needs_grad && t->last_consumer < 0 && t != loss)
            graph_fail(g, "%s is computed but nothing uses it",
                       t->name); // its gradient would never be written
        if (train && t->needs_grad) {
            int first = t == loss ? N - 1 : 2 * N - 1 - t->last_consumer;
            t->near = !g->parallel && t != loss && within_group(&p, g, t->produced_by, t->last_consumer);
            g->near |= t->near;
            t->grad_buffer = add_buffer(&p, near_floats(t, t->near), first, 2 * N - 1 - t->produced_by);
        }
    }
    for (int k = 0; k < N; k++) {
        node *n = &g->nodes[k];
        int back = 2 * N - 1 - k;
        n->saved_buffer = n->saved_n ? add_buffer(&p, n->saved_n, k, train ? back : k) : none;
        n->scratch_buffer = n->scratch_n ? add_scratch(&p, n->scratch_n, k) : none;
        for (size_t j = 0; j < n->n_in; j++) {
            tensor *t = n->in[j];
            n->temp_buffer[j] = none;
            if (!train || !t->needs_grad || t->weight) continue;
            n->adds[j] = t->last_consumer != k;
            for (size_t e = 0; e < j; e++) n->adds[j] |= n->in[e] == t; // the same tensor twice
            const int apart = n->adds[j] && !n->op->can_add;
            n->near[j] = apart ? !g->parallel && grouped(&p, g, k) : t->near;
            g->near |= n->near[j];
            if (apart) n->temp_buffer[j] = add_scratch(&p, near_floats(t, n->near[j]), back);
        }
    }
    // Scratch lives twice, forward and backward, in two places.
    size_t *back_scratch = calloc((size_t)N + 1, sizeof *back_scratch);
    for (int k = 0; back_scratch && train && k < N; k++)
        if (g->nodes[k].scratch_n) back_scratch[k] = add_scratch(&p, g->nodes[k].scratch_n, 2 * N - 1 - k);
    size_t total = place(&p);
    g->bytes = p.failed ? SIZE_MAX : (total + 32) * sizeof(float);
    g->memory = p.failed || !back_scratch ? NULL : zeroed(g->bytes);
    if (!g->memory) graph_fail(g, "out of memory: this model needs %zu bytes for its activations", g->bytes);
    if (!g->failed) {
        float *base = (float *)(((uintptr_t)g->memory + SMX_ALIGN - 1) / SMX_ALIGN * SMX_ALIGN);
        for (size_t i = 0; i < g->n_tensors; i++) {
            tensor *t = g->tensors[i];
            if (t->weight) {
                t->data = g->params->data + t->weight->offset;
                t->grad = train ? g->params->grad + t->weight->offset : NULL;
            } else {
                t->data = base + p.list[t->buffer].offset;
                t->grad = t->grad_buffer == none ? NULL : base + p.list[t->grad_buffer].offset;
            }
        }
        for (int k = 0; k < N; k++) {
            node *n = &g->nodes[k];
            if (n->saved_n) n->saved = base + p.list[n->saved_buffer].offset;
            if (n->scratch_n) {
                n->scratch = base + p.list[n->scratch_buffer].offset;
                n->back_scratch = train ? base + p.list[back_scratch[k]].offset : NULL;
            }
            for (size_t j = 0; j < n->n_in; j++)
                n->in_grad[j] =
                    n->temp_buffer[j] != none ? base + p.list[n->temp_buffer[j]].offset : n->in[j]->grad;
        }
    }
    free(back_scratch);
    free(p.list);
    free(times);
    if (g->failed && error) *error = g->error;
    return g->failed ? -1 : 0;
}

// ---- Replay ---------------------------------------------------------------------------------------------

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
    return rows - from < NEAR_ROWS ? rows : from + NEAR_ROWS;
}

void graph_forward(graph *g) {
    for (size_t k = 0, end; k < g->n_nodes; k = end) {
        end = g->parallel ? k + 1 : group_end(g, k, 0);
        if (end == k + 1) {
            g->nodes[k].op->forward(g, &g->nodes[k]);
            continue;
        }
        const size_t rows = rows_of_node(&g->nodes[k]);
        for (size_t from = 0, to; from < rows; from = to) {
            to = block_end(from, rows);
            for (size_t i = k; i < end; i++) g->nodes[i].op->forward_rows(&g->nodes[i], 0, from, to - from);
        }
    }
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
    for (size_t end = g->n_nodes, k; end > 0; end = k) {
        k = end - 1;
        const size_t rows = g->parallel && !g->near ? 0 : near_rows(&g->nodes[k], 1);
        while (rows && k > 0 && near_rows(&g->nodes[k - 1], 1) == rows) k--;
        if (end - k == 1) {
            node *n = &g->nodes[k];
            if (!n->out->grad || !n->op->backward) continue;
            n->op->backward(g, n);
            add_apart(n, 0, SIZE_MAX);
            continue;
        }
        for (size_t from = 0, to; from < rows; from = to) {
            to = block_end(from, rows);
            for (size_t i = end; i-- > k;) {
                node *n = &g->nodes[i];
                if (!n->out->grad) continue;
                n->op->backward_rows(n, 0, from, to - from);
                add_apart(n, from, to);
            }
        }
    }
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
