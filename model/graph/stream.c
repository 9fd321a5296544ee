// stream.c: a sequence that comes in pieces (GRAPH_STREAM). Every operation gives the words that it gives
// over the whole sequence: a row-wise one as it is, one with op.push by what that carries along, any other by
// running again from the first row that the new ones hang on (op.reach), with the rows of its inputs that it
// kept. What no row reaches is computed once.
#include "graph_private.h"

#include <string.h>

// Floats of a row of the sequence.
static size_t width(const tensor *t) {
    size_t n = 1;
    for (uint32_t i = 2; i < t->rank; i++) n *= t->shape[i];
    return n;
}
static uint64_t rounded(uint64_t floats) { return (floats + 15) / 16 * 16; }
// The first row that rows from `at` on hang on.
static size_t first_row(op_reach reach, size_t at) {
    return at > reach.rows ? (at - reach.rows) / reach.unit * reach.unit : 0;
}

// Floats of a state that node n keeps for itself, and of what it runs again on.
static uint64_t carried(const graph *g, const node *n) {
    return n->op->state_n && !n->still ? rounded(n->op->state_n(g, n)) : 0;
}
const node *graph_carrier(const graph *g, size_t i, size_t *floats) {
    for (size_t k = 0; k < g->n_nodes; k++) {
        const node *n = &g->nodes[k];
        if (!carried(g, n) || i--) continue;
        *floats = (size_t)n->op->state_n(g, n);
        return n;
    }
    return NULL;
}
static uint64_t kept(const graph *g, const node *n) {
    uint64_t floats = 0;
    for (size_t i = 0; i < n->n_in && runs_again(n); i++)
        if (!is_still(g, n->in[i])) floats += rounded(size_mul(g->B, n->keeps, width(n->in[i])));
    return floats;
}
static uint64_t again(const graph *g, const node *n) {
    const uint64_t rows = size_mul(g->B, n->keeps + g->span);
    uint64_t floats = rounded(size_mul(rows, width(n->out)));
    for (size_t i = 0; i < n->n_in; i++)
        if (!is_still(g, n->in[i])) floats += rounded(size_mul(rows, width(n->in[i])));
    return runs_again(n) ? floats : 0;
}

// Whether t holds a row for each row of the sequence.
static int has_rows(const graph *g, const tensor *t) {
    return t->rank >= 3 && t->shape[0] == g->B && t->shape[1] == g->span;
}

void graph_stream_count(graph *g) {
    uint64_t state = 0, most = 0;
    for (size_t k = 0; k < g->n_nodes && !g->failed; k++) {
        node *n = &g->nodes[k];
        if (!n->still && (n->op->whole || !has_rows(g, n->out)))
            graph_fail(g, "%s needs the whole sequence at once", n->out->name);
        n->state_at = (size_t)state;
        n->parts = width(n->out) / n->out->shape[n->out->rank - 1];
        state += carried(g, n) + kept(g, n);
        if (again(g, n) > most) most = again(g, n);
        if (state > GRAPH_MOST || most > GRAPH_MOST) graph_fail(g, "out of memory for a state");
    }
    g->state_n = (size_t)state;
    g->again_n = (size_t)most;
}

int graph_stream_plan(graph *g, smx_error *error) {
    g->again = graph_own(g, size_mul(g->again_n, sizeof *g->again));
    return graph_plan(g, NULL, error);
}

void graph_stream_begin(graph *g) {
    for (size_t k = 0; k < g->n_nodes; k++)
        if (g->nodes[k].still) g->nodes[k].op->forward(g, &g->nodes[k]);
}

void copy_rows(void *to, size_t to_step, const void *from, size_t from_step, size_t B, size_t n) {
    for (size_t b = 0; b < B; b++)
        memcpy((float *)to + b * to_step, (const float *)from + b * from_step, n * sizeof(float));
}

static void run_again(graph *g, node *n, float *state, size_t at, size_t pushed) {
    const op_reach reach = reach_of(g, n);
    const size_t first = first_row(reach, at), have = at - first, rows = have + pushed, L = g->L;
    const size_t next = first_row(reach, at + pushed) - first; // what is kept begins there
    tensor in[MAX_IN], out = *n->out;
    node m = *n;
    float *free = g->again;
    out.data = free, free += rounded(g->B * rows * width(&out));
    out.n = g->B * rows * width(&out);
    out.shape[1] = (uint32_t)rows;
    m.out = &out;
    for (size_t i = 0; i < n->n_in; i++) {
        if (is_still(g, n->in[i])) continue;
        const size_t w = width(n->in[i]);
        in[i] = *n->in[i];
        in[i].data = free, free += rounded(g->B * rows * w);
        in[i].n = g->B * rows * w;
        in[i].shape[1] = (uint32_t)rows;
        m.in[i] = &in[i];
        copy_rows(in[i].data, rows * w, state, have * w, g->B, have * w);
        copy_rows(in[i].data + have * w, rows * w, n->in[i]->data, pushed * w, g->B, pushed * w);
        copy_rows(state, (rows - next) * w, in[i].data + next * w, rows * w, g->B, (rows - next) * w);
        state += rounded(g->B * n->keeps * w);
    }
    g->L = rows;
    n->op->forward(g, &m);
    g->L = L;
    const size_t w = width(&out);
    copy_rows(n->out->data, pushed * w, out.data + have * w, rows * w, g->B, pushed * w);
}

void graph_push_rows(graph *g, float *state, size_t at, size_t rows) {
    for (size_t k = 0; k < g->n_nodes; k++) {
        node *n = &g->nodes[k];
        float *own = state + n->state_at;
        if (n->still) continue;
        if (n->op->push) {
            n->op->push(g, n, own, at, rows);
        } else if (n->op->forward_rows) {
            n->op->forward_rows(g, n, 0, 0, g->B * rows * n->parts);
        } else {
            run_again(g, n, own, at, rows);
        }
    }
}
