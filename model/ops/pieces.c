// pieces.c: see pieces.h.
#include "pieces.h"

#include <string.h>

void piece_at(size_t total, size_t unit, size_t i, size_t *from, size_t *count) {
    const size_t units = (total + unit - 1) / unit, to = shard_start(units, i + 1) * unit;
    *from = shard_start(units, i) * unit;
    *count = (to < total ? to : total) - *from;
}

typedef struct {
    graph *g;
    node *n;
    size_t total, unit;
    op_part *part;
} cut;
static void cut_piece(void *arg, size_t i) {
    const cut *c = arg;
    size_t from, count;
    piece_at(c->total, c->unit, i, &from, &count);
    c->part(c->g, c->n, i, from, count);
}
void in_pieces(graph *g, node *n, size_t total, size_t unit, op_part *part) {
    graph_pieces(g, pieces_of(total, unit), cut_piece, &(cut){g, n, total, unit, part});
}
static void cut_sequences(void *arg, size_t i) {
    const cut *c = arg;
    const share *s = &c->g->share;
    size_t from, count;
    piece_at(s->all, SEQUENCE_UNIT, s->piece + i, &from, &count);
    c->part(c->g, c->n, i, from - s->first, count);
}
void sequences_in_pieces(graph *g, node *n, op_part *part) {
    graph_pieces(g, g->share.pieces, cut_sequences, &(cut){.g = g, .n = n, .part = part});
}
void rows_forward(graph *g, node *n) { in_pieces(g, n, rows_of(n->out), ROW_UNIT, n->op->forward_rows); }
void rows_backward(graph *g, node *n) { in_pieces(g, n, rows_of(n->out), ROW_UNIT, n->op->backward_rows); }

void scratch_size(node *n, size_t pieces, uint64_t sums, uint64_t kernel_bytes) {
    const uint64_t own = floats(size_mul(sums, sizeof(float))), piece = own + floats(kernel_bytes);
    n->sums_n = size_fits(own);
    n->piece_n = size_fits(piece);
    n->scratch_n = size_mul(pieces, piece);
}
float *sums_of(const node *n, size_t piece) {
    float *sums = n->back_scratch + piece * n->piece_n;
    return memset(sums, 0, n->sums_n * sizeof *sums);
}
void add_sums(node *n, size_t i, size_t pieces, size_t at) {
    if (!n->in_grad[i]) return;
    for (size_t piece = 0; piece < pieces; piece++)
        smx_axpy(n->in_grad[i], n->back_scratch + piece * n->piece_n + at, 1.0f, n->in[i]->n);
}
void begin_sum(const graph *g, node *n, size_t i) {
    if (n->in_grad[i] && !n->in[i]->weight && !g->share.first)
        memset(n->in_grad[i], 0, n->in[i]->n * sizeof(float));
}

// ---- Sums over rows ---------------------------------------------------------------------------------------

// Whether the rows are sequences', some of them in other processes.
static int is_shared(const graph *g, const node *n) { return ranks_of(g) && n->reached; }
// Those of all processes: before this one's, and all.
static size_t rows_before(const graph *g, const node *n) {
    return is_shared(g, n) ? n->sum_rows / g->B * g->share.first : 0;
}
static size_t rows_in_all(const graph *g, const node *n) {
    return is_shared(g, n) ? n->sum_rows / g->B * g->share.all : n->sum_rows;
}

// Whether a sum is open between row - 1 and row.
static int is_open(const graph *g, const node *n, size_t row) {
    const size_t all = rows_in_all(g, n), unit = n->sum_unit;
    if (row == all) return 0;
    if (!unit) return row % SMX_KC != 0;
    for (size_t i = 0; i < pieces_of(all, unit); i++) {
        size_t begin, count;
        piece_at(all, unit, i, &begin, &count);
        if (begin == row) return 0;
    }
    return 1;
}
void open_sums(graph *g, node *n, size_t rows, size_t unit, size_t sums) {
    n->sum_rows = rows;
    n->sum_unit = unit;
    if (!is_shared(g, n)) return;
    n->takes_open = is_open(g, n, rows_before(g, n));
    n->gives_open = is_open(g, n, rows_before(g, n) + rows);
    n->open_n = n->sums_n + size_fits(floats(size_mul(sums, sizeof(float))));
    if (n->takes_open || n->gives_open) n->open = graph_own(g, size_mul(2, n->open_n, sizeof(float)));
}

static void close_block(node *n, float *sums, const float *block) {
    if (sums) {
        smx_axpy(sums, block, 1.0f, n->sums_n);
        return;
    }
    for (size_t i = 0; i < n->n_in; i++) {
        if (!(n->summed >> i & 1)) continue;
        smx_axpy(n->in_grad[i], block, 1.0f, n->in[i]->n);
        block += n->in[i]->n;
    }
}
// Rows from..from+count-1 of this process, of a sum over rows begin..end-1 of all.
static void sum_rows(graph *g, node *n, size_t piece, float *sums, size_t begin, size_t end, size_t from,
                     size_t count, sum_part *part) {
    if (!ranks_of(g) || !n->open) { // no block is cut
        part(g, n, piece, sums, from, count);
        return;
    }
    const size_t before = rows_before(g, n), to = from + count;
    float *const taken = n->open + n->sums_n, *const given = taken + n->open_n;
    const size_t block_bytes = (n->open_n - n->sums_n) * sizeof(float);
    for (size_t row = from, some; row < to; row += some) {
        const size_t at = (before + row - begin) % SMX_KC, left = end - before - row;
        const size_t rest = SMX_KC - at < left ? SMX_KC - at : left;
        if (at == 0 && rest <= to - row) { // whole blocks
            some = to - row == left ? left : (to - row) / SMX_KC * SMX_KC;
            part(g, n, piece, sums, row, some);
            continue;
        }
        some = rest < to - row ? rest : to - row;
        if (!at) {
            part(g, n, piece, memset(given, 0, block_bytes), row, some);
            continue;
        }
        for (size_t i = 0; i < some; i++) part(g, n, piece, taken, row + i, 1);
        if (some == rest)
            close_block(n, sums, taken);
        else
            memcpy(given, taken, block_bytes);
    }
}

typedef struct {
    graph *g;
    node *n;
    sum_part *part;
    size_t first; // number of the first piece here
} sums_cut;
static void cut_sums(void *arg, size_t i) {
    const sums_cut *c = arg;
    node *n = c->n;
    size_t begin, count;
    piece_at(rows_in_all(c->g, n), n->sum_unit, c->first + i, &begin, &count);
    const size_t before = rows_before(c->g, n), after = before + n->sum_rows, end = begin + count,
                 from = begin < before ? before : begin, to = end > after ? after : end;
    float *sums = sums_of(n, i);
    if (begin < before) memcpy(sums, n->open, n->sums_n * sizeof *sums);
    sum_rows(c->g, n, i, sums, begin, end, from - before, to - from, c->part);
    if (end > after) memcpy(n->open + n->open_n, sums, n->sums_n * sizeof *sums);
}
size_t rows_in_sums(graph *g, node *n, sum_part *part) {
    const size_t before = rows_before(g, n), after = before + n->sum_rows, all = rows_in_all(g, n);
    sums_cut c = {g, n, part, 0};
    size_t some = 0, whole = 0;
    for (size_t i = 0; i < pieces_of(all, n->sum_unit); i++) {
        size_t begin, count;
        piece_at(all, n->sum_unit, i, &begin, &count);
        c.first += begin + count <= before;
        some += begin + count > before && begin < after;
        whole += begin + count > before && begin + count <= after;
    }
    graph_pieces(g, some, cut_sums, &c);
    return whole;
}
void rows_in_one_sum(graph *g, node *n, sum_part *part) {
    sum_rows(g, n, 0, NULL, 0, rows_in_all(g, n), 0, n->sum_rows, part);
}
