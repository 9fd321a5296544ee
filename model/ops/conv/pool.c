// pool.c: the mean over P rows (LaS's filter on values), inside chunks. Row-wise where chunks are.
#include "model/ops/attention/attention.h"
#include "conv.h"

#include <string.h>

typedef struct {
    size_t window, future; // P, rows ahead
    size_t chunk;          // rows; the last one of a sequence may be shorter
    int whole;             // the chunk is the whole sequence
    float *taps, *row;     // row: of who looks, as long as a sequence
} pool_attributes;

// Rows of the chunk that begins at row t of all sequences.
static size_t chunk_at(const graph *g, const pool_attributes *at, size_t t) {
    const size_t rest = g->L - t % g->L;
    return rest < at->chunk ? rest : at->chunk;
}
// Of so many rows of D columns.
static smx_conv filter_of(const pool_attributes *at, size_t rows, size_t D) {
    return conv_sizes(1, rows, D, 1, at->window, at->future);
}
static void pool_rows(graph *g, node *n, size_t piece, size_t from, size_t count) {
    const pool_attributes *at = n->attributes;
    const size_t D = last_dim(n->out);
    for (size_t t = from, rows; t < from + count; t += rows) {
        rows = chunk_at(g, at, t);
        const smx_conv p = filter_of(at, rows, D);
        smx_conv_fwd(n->out->data + t * D, n->in[0]->data + t * D, at->taps, scratch_of(n, piece), &p);
    }
}
static void pool_bwd_rows(graph *g, node *n, size_t piece, size_t from, size_t count) {
    const pool_attributes *at = n->attributes;
    const size_t D = last_dim(n->out);
    float *dx = in_grad_rows(n, 0, from);
    const float *dy = out_grad_rows(n, from);
    for (size_t t = from, rows; t < from + count; t += rows) {
        rows = chunk_at(g, at, t);
        const smx_conv p = filter_of(at, rows, D);
        smx_conv_bwd(dx + (t - from) * D, NULL, dy + (t - from) * D, n->in[0]->data + t * D, at->taps,
                     back_scratch_of(n, piece), &p);
    }
}
static void pool_fwd(graph *g, node *n) { in_pieces(g, n, rows_of(n->out), g->L, pool_rows); }
static void pool_bwd(graph *g, node *n) { in_pieces(g, n, rows_of(n->out), g->L, pool_bwd_rows); }
// Row i of a map weighs pooled rows: spread over the rows that each is the mean of.
static void pool_map_back(graph *g, node *n, float *map, size_t H) {
    const pool_attributes *at = n->attributes;
    for (size_t i = 0; i < H * g->L; i++, map += g->L) {
        memcpy(at->row, map, g->L * sizeof *map);
        for (size_t t = 0, rows; t < g->L; t += rows) {
            rows = chunk_at(g, at, t);
            const smx_conv p = filter_of(at, rows, 1);
            smx_conv_bwd(map + t, NULL, at->row + t, at->row + t, at->taps, n->scratch, &p);
        }
    }
}
static void fill_taps(float *taps, const void *with) {
    const size_t window = *(const size_t *)with;
    for (size_t i = 0; i < window; i++) taps[i] = 1.0f / (float)window;
}
static void pool_size(graph *g, node *n) {
    pool_attributes *at = n->attributes;
    at->taps = graph_table(g, at->window, fill_taps, &at->window, sizeof at->window);
    if (g->mode == GRAPH_LOOK) at->row = graph_own(g, size_mul(g->L, sizeof *at->row));
    at->whole = !at->chunk;
    if (!at->chunk || at->chunk > g->L) at->chunk = g->L;
    const smx_conv wide = filter_of(at, at->chunk, last_dim(n->out)), narrow = filter_of(at, at->chunk, 1);
    size_t bytes = smx_conv_scratch_bytes(&wide);
    if (g->mode == GRAPH_LOOK) { // pool_map_back: rows of one column ask for more than wide ones
        const size_t more = smx_conv_scratch_bytes(&narrow);
        if (more > bytes) bytes = more;
    }
    scratch_size(n, shard_count(g->B), 0, bytes);
    n->flops = 2 * (uint64_t)n->out->n * at->window;
}
static op_reach pool_reach(const graph *g, const node *n) {
    (void)g;
    const pool_attributes *at = n->attributes; // a chunk from its start on, so that it ends where it ended
    return at->whole || !at->chunk ? (op_reach){at->window - 1, 1} : (op_reach){0, at->chunk};
}
#define POOL                                                                                                 \
    .name = "pool", .attributes = sizeof(pool_attributes), .size = pool_size, .forward = pool_fwd,           \
    .backward = pool_bwd, .reach = pool_reach, .map_back = pool_map_back
static const op pool = {POOL};
static const op pool_in_chunks = {POOL, .forward_rows = pool_rows, .backward_rows = pool_bwd_rows};
tensor *op_pool(graph *g, tensor *x, size_t P, size_t future, size_t chunk) {
    return graph_node(g, chunks_are_rows(g, chunk) ? &pool_in_chunks : &pool, 1, &x,
                      &(pool_attributes){.window = P, .future = future, .chunk = chunk});
}
