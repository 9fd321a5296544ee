// stream.c: a sequence that comes in pieces (GRAPH_STREAM). Every operation gives the words that it gives
// over the whole sequence: a row-wise one as it is, one with op.push by what that carries along, any other by
// running again from the first row that the new ones hang on (op.reach), with the rows of its inputs that it
// kept. What no row reaches is computed once.
#include "graph_private.h"

#include <string.h>

static size_t width(const tensor *t) { return t->shape[t->rank - 1]; }
static size_t rounded(size_t floats) { return (floats + 15) / 16 * 16; }
// The first row that rows from `at` on hang on.
static size_t first_row(op_reach reach, size_t at) {
    return at > reach.rows ? (at - reach.rows) / reach.unit * reach.unit : 0;
}

// Floats of a state that node n keeps for itself, and of what it runs again on.
static size_t carried(const graph *g, const node *n) {
    return n->op->state_n && !n->still ? rounded(n->op->state_n(g, n)) : 0;
}
static size_t kept(const graph *g, const node *n) {
    size_t floats = 0;
    for (size_t i = 0; i < n->n_in && runs_again(n); i++)
        if (!is_still(g, n->in[i])) floats += rounded(g->B * n->keeps * width(n->in[i]));
    return floats;
}
static size_t again(const graph *g, const node *n) {
    const size_t rows = g->B * (n->keeps + g->span);
    size_t floats = rounded(rows * width(n->out)) + carried(g, n);
    for (size_t i = 0; i < n->n_in; i++)
        if (!is_still(g, n->in[i])) floats += rounded(rows * width(n->in[i]));
    return runs_again(n) ? floats : 0;
}

// Whether t holds a row for each row of the sequence.
static int has_rows(const graph *g, const tensor *t) {
    return t->rank == 3 && t->shape[0] == g->B && t->shape[1] == g->span;
}

int graph_stream_plan(graph *g, smx_error *error) {
    uint64_t state = 0;
    size_t most = 0;
    for (size_t k = 0; k < g->n_nodes && !g->failed; k++) {
        node *n = &g->nodes[k];
        if (!n->still && (n->op->whole || !has_rows(g, n->out)))
            graph_fail(g, "%s needs the whole sequence at once", n->out->name);
        n->state_at = (size_t)state;
        state += carried(g, n) + kept(g, n);
        if (again(g, n) > most) most = again(g, n);
        if (state > GRAPH_MOST || most > GRAPH_MOST) graph_fail(g, "out of memory for a state");
    }
    g->state_n = (size_t)state;
    g->again = graph_own(g, most * sizeof *g->again);
    return graph_plan(g, NULL, error);
}

void graph_stream_begin(graph *g) {
    for (size_t k = 0; k < g->n_nodes; k++)
        if (g->nodes[k].still) g->nodes[k].op->forward(g, &g->nodes[k]);
}

// [B][rows][width]: rows [B][have] of `old` before the rows [B][take] from number `done` on of the `pushed`
// new ones.
static void join(float *to, const float *old, const float *new, size_t B, size_t have, size_t take,
                 size_t done, size_t pushed, size_t width) {
    for (size_t b = 0; b < B; b++, to += (have + take) * width) {
        memcpy(to, old + b * have * width, have * width * sizeof *to);
        memcpy(to + have * width, new + (b * pushed + done) * width, take * width * sizeof *to);
    }
}
// Rows from..to-1 of each sequence of x [B][rows][width], without gaps.
static void cut(float *to, size_t stride, const float *x, size_t B, size_t rows, size_t from, size_t end,
                size_t width) {
    for (size_t b = 0; b < B; b++)
        memcpy(to + b * stride * width, x + (b * rows + from) * width, (end - from) * width * sizeof *to);
}

// `take` of the pushed rows, from number `done` of them on.
static void run_again(graph *g, node *n, float *state, size_t at, size_t done, size_t take, size_t pushed) {
    const op_reach reach = reach_of(g, n);
    const size_t first = first_row(reach, at), have = at - first, rows = have + take, L = g->L;
    const size_t next = first_row(reach, at + take) - first; // what is kept begins there
    tensor in[MAX_IN], out = *n->out;
    node m = *n;
    float *free = g->again, *rest = state + carried(g, n);
    m.start = state;
    m.last = free, free += carried(g, n);
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
        join(in[i].data, rest, n->in[i]->data, g->B, have, take, done, pushed, w);
        cut(rest, rows - next, in[i].data, g->B, rows, next, rows, w);
        rest += rounded(g->B * n->keeps * w);
    }
    g->L = rows;
    n->op->forward(g, &m);
    g->L = L;
    cut(n->out->data + done * width(&out), pushed, out.data, g->B, rows, have, rows, width(&out));
    if (carried(g, n) && next == rows) memcpy(state, m.last, carried(g, n) * sizeof *state);
}

void graph_push_rows(graph *g, float *state, size_t at, size_t rows) {
    for (size_t k = 0; k < g->n_nodes; k++) {
        node *n = &g->nodes[k];
        float *own = state + n->state_at;
        if (n->still) continue;
        if (n->op->push) {
            n->op->push(g, n, own, at, rows);
        } else if (n->op->forward_rows) {
            n->op->forward_rows(g, n, 0, 0, g->B * rows);
        } else { // what is carried is carried from unit to unit
            const size_t unit = n->op->state_n ? reach_of(g, n).unit : SIZE_MAX;
            for (size_t done = 0, take; done < rows; done += take) {
                take = unit - (at + done) % unit;
                if (take > rows - done) take = rows - done;
                run_again(g, n, own, at + done, done, take, rows);
            }
        }
    }
}
