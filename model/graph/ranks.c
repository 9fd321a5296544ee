// ranks.c: one batch on several processes: how sums over all sequences go through them in order. A process is
// one node behind the one before it, so that all are at work while backward goes through the graph.
#include "graph_private.h"

#include <string.h>

share share_of(size_t B, const smx_ranks *ranks, size_t rank) {
    const size_t all = shard_count(B), count = ranks ? ranks->count : 1;
    const size_t piece = all * rank / count, end = all * (rank + 1) / count;
    return (share){.ranks = ranks,
                   .first = B ? shard_start(B, piece) : 0,
                   .all = B,
                   .piece = piece,
                   .pieces = end - piece};
}
static size_t first_of(const graph *g, size_t rank) {
    const share *s = &g->share;
    return rank == s->ranks->count ? s->all : share_of(s->all, s->ranks, rank).first;
}

static void give(graph *g, size_t to, const void *data, size_t bytes) {
    const smx_ranks *r = g->share.ranks;
    if (!g->share.apart && r->send(r->context, to, data, bytes)) g->share.apart = 1;
}
static void take(graph *g, size_t from, void *data, size_t bytes) {
    const smx_ranks *r = g->share.ranks;
    if (!g->share.apart && r->receive(r->context, from, data, bytes)) g->share.apart = 1;
}

// Whether backward adds to a gradient of in[i] to which a node after n (before it, in backward) gave a part.
static int goes_on(const graph *g, size_t k, size_t i) {
    const node *n = &g->nodes[k];
    const tensor *t = n->in[i];
    if (!t->weight) return n->adds[i] && n->op->can_add;
    for (size_t later = k + 1; later < g->n_nodes; later++)
        for (size_t j = 0; j < g->nodes[later].n_in; j++)
            if (g->nodes[later].in[j]->weight == t->weight) return 1;
    return 0;
}

void graph_find_sums(graph *g) {
    if (!ranks_of(g)) return;
    for (size_t k = 0; k < g->n_nodes; k++) {
        node *n = &g->nodes[k];
        n->summed = n->goes_on = 0;
        if (!n->reached || !n->op->backward || !n->out->grad || n->op->gathers) continue;
        for (size_t i = 0; i < n->n_in; i++) {
            if (!n->in_grad[i] || graph_reaches(g, n->in[i])) continue;
            n->summed |= 1u << i;
            if (goes_on(g, k, i)) n->goes_on |= 1u << i;
        }
    }
}

void graph_take_sums(graph *g, node *n) {
    if (!ranks_of(g) || !n->summed) return;
    const size_t rank = g->share.ranks->rank, last = g->share.ranks->count - 1;
    for (size_t i = 0; i < n->n_in; i++)
        if (rank == last && n->goes_on >> i & 1) give(g, 0, n->in_grad[i], n->in[i]->n * sizeof(float));
    for (size_t i = 0; i < n->n_in; i++)
        if (rank ? n->summed >> i & 1 : n->goes_on >> i & 1)
            take(g, rank ? rank - 1 : last, n->in_grad[i], n->in[i]->n * sizeof(float));
    if (n->takes_open) take(g, rank - 1, n->open, n->open_n * sizeof(float));
}

void graph_give_sums(graph *g, const node *n) {
    if (!ranks_of(g) || !n->summed) return;
    const size_t next = g->share.ranks->rank + 1;
    if (next == g->share.ranks->count) return;
    for (size_t i = 0; i < n->n_in; i++)
        if (n->summed >> i & 1) give(g, next, n->in_grad[i], n->in[i]->n * sizeof(float));
    if (n->gives_open) give(g, next, n->open + n->open_n, n->open_n * sizeof(float));
}

void graph_share_gradient(graph *g) {
    if (!ranks_of(g)) return;
    const size_t rank = g->share.ranks->rank, last = g->share.ranks->count - 1;
    const size_t bytes = g->params->total * sizeof(float);
    if (rank != last) take(g, last, g->params->grad, bytes);
    for (size_t to = 0; rank == last && to < last; to++) give(g, to, g->params->grad, bytes);
}

void graph_gather(graph *g, size_t to, void *all, const void *own, size_t per) {
    if (!ranks_of(g)) return;
    const size_t rank = g->share.ranks->rank;
    if (rank != to) give(g, to, own, g->B * per);
    for (size_t from = 0; rank == to && from < g->share.ranks->count; from++) {
        const size_t at = first_of(g, from);
        char *const theirs = (char *)all + at * per;
        if (from != rank)
            take(g, from, theirs, (first_of(g, from + 1) - at) * per);
        else if (theirs != own)
            memcpy(theirs, own, g->B * per);
    }
}

// From process 0.
static void tell(graph *g, void *data, size_t bytes) {
    const size_t rank = g->share.ranks->rank;
    if (rank) take(g, 0, data, bytes);
    for (size_t to = 1; !rank && to < g->share.ranks->count; to++) give(g, to, data, bytes);
}

void graph_share_rows(graph *g, void *all, size_t per) {
    if (!ranks_of(g)) return;
    graph_gather(g, 0, all, (char *)all + g->share.first * per, per);
    tell(g, all, g->share.all * per);
}

void graph_share_counts(graph *g, uint64_t *counts, size_t n) {
    if (!ranks_of(g)) return;
    enum { MOST = 4 };
    uint64_t theirs[MOST];
    if (g->share.ranks->rank) give(g, 0, counts, n * sizeof *counts);
    for (size_t from = 1; !g->share.ranks->rank && from < g->share.ranks->count; from++) {
        memset(theirs, 0, sizeof theirs);
        take(g, from, theirs, n * sizeof *theirs);
        for (size_t i = 0; i < n; i++) counts[i] += theirs[i];
    }
    tell(g, counts, n * sizeof *counts);
}
