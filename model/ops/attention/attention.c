// attention.c: softmax attention. Pieces are sequences, or chunks of rows where these are sequences of their
// own.
#include "attention.h"
#include "distance.h"

#include <string.h>

#include "kernels/core/mathd.h"

float attention_scale(const node *n, size_t heads) {
    return (float)(1.0 / md_sqrt((double)(last_dim(n->out) / heads)));
}
smx_attention attention_shape(const node *n, const attention_opts *o, size_t B, size_t L) {
    const size_t D = last_dim(n->out);
    return (smx_attention){.B = B,
                           .L = L,
                           .D = D,
                           .H = o->heads,
                           .stride = D,
                           .causal = o->causal,
                           .scale = o->scale > 0.0 ? (float)o->scale : attention_scale(n, o->heads),
                           .decay_table = o->decay_table,
                           .bias = o->bias,
                           .chunk = o->chunk,
                           .pool_window = o->pool_window,
                           .sliding = o->sliding,
                           .cap = (float)o->cap,
                           .score = o->score};
}
uint64_t attention_pairs(const smx_attention *p) {
    const uint64_t M = p->chunk && p->chunk < p->L ? p->chunk : p->L;
    if (p->sliding && p->sliding < M) return p->L * p->sliding;
    return p->L * (p->causal ? M + 1 : 2 * M) / 2;
}
int chunks_are_rows(const graph *g, size_t M) {
    return g->mode != GRAPH_STREAM && M && M < g->L && g->L % M == 0 && BLOCK_ROWS % M == 0;
}

// in: q, k, v. saved: statistics of each row and head, two numbers
typedef struct {
    attention_opts opts;
    attention_opts chunk; // of a chunk as a sequence of its own, where chunks are rows
} attention_attributes;

// `B` sequences of L rows from row `from` of all rows on; a row-wise node's gradients may be blocked.
static void forward_from(node *n, size_t piece, size_t from, const smx_attention *p) {
    const size_t at = from * p->D;
    smx_attention_fwd(n->out->data + at, n->saved + from * p->H * 2, n->in[0]->data + at, n->in[1]->data + at,
                      n->in[2]->data + at, scratch_of(n, piece), p);
}
// The gradient of a sink, as that of its column of k: what the sink takes from each row. (The sum of what a
// row's other logits get is the same number, and none of its digits where the sink takes little.)
static void sink_gradient(node *n, size_t from, const smx_attention *p) {
    const size_t column = ((const attention_attributes *)n->attributes)->opts.sink_column, d = p->D / p->H;
    const float *dout = out_grad_rows(n, from), *o = n->out->data + from * p->D;
    float *dk = in_grad_rows(n, 1, from);
    for (size_t i = 0; dk && column && i < p->B * p->L * p->H; i++) {
        const size_t row = i / p->H, h = i % p->H, at = i * d;
        const float *s = n->saved + from * p->H * 2 + ((row / p->L * p->H + h) * p->L + row % p->L) * 2;
        float share = -s[0];
        smx_exp_fwd(&share, &share, 1);
        dk[at + column - 1] = s[1] > 0.0f ? share * s[1] * smx_dot(dout + at, o + at, d) : 0.0f;
    }
}
static void backward_from(node *n, size_t piece, size_t from, const smx_attention *p) {
    const size_t at = from * p->D;
    smx_attention_bwd(in_grad_rows(n, 0, from), in_grad_rows(n, 1, from), in_grad_rows(n, 2, from),
                      out_grad_rows(n, from), n->in[0]->data + at, n->in[1]->data + at, n->in[2]->data + at,
                      n->out->data + at, n->saved + from * p->H * 2, back_scratch_of(n, piece), p);
    sink_gradient(n, from, p);
}

// ---- Whole sequences --------------------------------------------------------------------------------------
static smx_attention sequences(const graph *g, const node *n, size_t count) {
    return attention_shape(n, &((const attention_attributes *)n->attributes)->opts, count, g->L);
}
static void attention_fwd_piece(graph *g, node *n, size_t piece, size_t from, size_t count) {
    const smx_attention p = sequences(g, n, count);
    forward_from(n, piece, from * g->L, &p);
}
static void attention_bwd_piece(graph *g, node *n, size_t piece, size_t from, size_t count) {
    const smx_attention p = sequences(g, n, count);
    backward_from(n, piece, from * g->L, &p);
}
static void attention_fwd(graph *g, node *n) { sequences_in_pieces(g, n, attention_fwd_piece); }
static void attention_bwd(graph *g, node *n) { sequences_in_pieces(g, n, attention_bwd_piece); }

// In a stream. Tables by distance hang on the length: with them a window keeps all rows.
static int slides(const attention_opts *o) { return o->sliding && !o->chunk && !o->bias && !o->decay_table; }
static smx_attention stream_of(const graph *g, const node *n, size_t count) {
    const attention_opts *o = &((const attention_attributes *)n->attributes)->opts;
    const size_t L = o->bias || o->decay_table ? distance_rows(g, o->chunk) : g->L;
    return attention_shape(n, o, count, g->endless && slides(o) ? SIZE_MAX : L);
}

static void attention_size(graph *g, node *n) {
    const smx_attention p = sequences(g, n, 1);
    const int in_chunks = chunks_are_rows(g, p.chunk);
    if (g->mode == GRAPH_STREAM) {
        const smx_attention later = stream_of(g, n, 1);
        scratch_size(n, 1, 0, smx_attention_push_scratch_bytes(&later));
        return;
    }
    n->saved_n = size_mul(g->B, p.H, p.L, 2);
    scratch_size(n, pieces_of(rows_of(n->out), in_chunks ? p.chunk : p.L), 0,
                 g->mode == GRAPH_TRAIN ? smx_attention_bwd_scratch_bytes(&p)
                                        : smx_attention_fwd_scratch_bytes(&p));
    n->flops = 4 * g->B * attention_pairs(&p) * p.D;
}
static size_t attention_map_heads(const node *n) {
    return ((const attention_attributes *)n->attributes)->opts.heads;
}
static void attention_map(graph *g, node *n, enum map_stage stage, float *map) {
    smx_attention p = sequences(g, n, g->B);
    if (stage == MAP_PLAIN) p.decay_table = p.bias = NULL;
    if (stage == MAP_PLAIN || stage == MAP_DECAYED) p.pool_window = 0;
    for (size_t h = 0; h < p.H; h++)
        smx_attention_map(map + h * p.L * p.L, n->in[0]->data, n->in[1]->data, n->scratch, &p, 0, h);
}
static int attention_staged(const node *n) {
    const attention_opts *o = &((const attention_attributes *)n->attributes)->opts;
    return o->decay_table || o->bias || o->pool_window;
}

// ---- Reading on: keys and values of a chunk, or of a window, are kept -------------------------------------
static uint64_t attention_state(const graph *g, const node *n) {
    const smx_attention p = stream_of(g, n, g->B);
    return smx_attention_kept_floats(&p);
}
static void attention_push(graph *g, node *n, float *state, size_t at, size_t rows) {
    const smx_attention p = stream_of(g, n, g->B);
    smx_attention_push(n->out->data, state, n->in[0]->data, n->in[1]->data, n->in[2]->data, n->scratch, at,
                       rows, &p);
}
static int attention_grows(const graph *g, const node *n) {
    const attention_opts *o = &((const attention_attributes *)n->attributes)->opts;
    return !slides(o) && (!o->chunk || o->chunk > g->L);
}
#define ATTENTION_READS (READS_IN(0) | READS_IN(1) | READS_IN(2) | READS_OUT)
static const op attention = {
    .name = "attention",
    .attributes = sizeof(attention_attributes),
    .size = attention_size,
    .forward = attention_fwd,
    .backward = attention_bwd,
    .backward_reads = ATTENTION_READS,
    .state_n = attention_state,
    .push = attention_push,
    .grows = attention_grows,
    .map_heads = attention_map_heads,
    .map = attention_map,
    .map_staged = attention_staged,
};

// ---- Chunks that fill every sequence and every block of rows ----------------------------------------------
static size_t chunk_rows(const node *n) { return ((const attention_attributes *)n->attributes)->opts.chunk; }
static smx_attention chunks(const node *n, size_t rows) {
    const size_t M = chunk_rows(n);
    return attention_shape(n, &((const attention_attributes *)n->attributes)->chunk, rows / M, M);
}
static void chunks_rows(graph *g, node *n, size_t piece, size_t from, size_t count) {
    (void)g;
    const smx_attention p = chunks(n, count);
    forward_from(n, piece, from, &p);
}
static void chunks_bwd_rows(graph *g, node *n, size_t piece, size_t from, size_t count) {
    (void)g;
    const smx_attention p = chunks(n, count);
    backward_from(n, piece, from, &p);
}
static void chunks_fwd(graph *g, node *n) { in_pieces(g, n, rows_of(n->out), chunk_rows(n), chunks_rows); }
static void chunks_bwd(graph *g, node *n) {
    in_pieces(g, n, rows_of(n->out), chunk_rows(n), chunks_bwd_rows);
}

// table [H][2L-1] by distance: what chunks of M rows see of it, [H][2M-1].
typedef struct {
    const float *table;
    size_t H, L, M;
} chunk_of_table;
static void fill_chunk(float *t, const void *with) {
    const chunk_of_table *c = with;
    const size_t own = 2 * c->M - 1;
    for (size_t h = 0; h < c->H; h++)
        memcpy(t + h * own, c->table + h * (2 * c->L - 1) + c->L - c->M, own * sizeof *t);
}
static const float *table_of_chunk(graph *g, const float *table, size_t H, size_t M) {
    const chunk_of_table with = {table, H, g->L, M};
    return table ? graph_table(g, size_mul(H, 2 * M - 1), fill_chunk, &with, sizeof with) : NULL;
}
static void chunks_size(graph *g, node *n) {
    attention_attributes *at = n->attributes;
    const size_t M = at->opts.chunk;
    at->chunk = at->opts;
    at->chunk.chunk = 0;
    at->chunk.decay_table = table_of_chunk(g, at->opts.decay_table, at->opts.heads, M);
    at->chunk.bias = table_of_chunk(g, at->opts.bias, at->opts.heads, M);
    attention_size(g, n);
}
static const op attention_chunks = {
    .name = "attention",
    .attributes = sizeof(attention_attributes),
    .size = chunks_size,
    .forward = chunks_fwd,
    .backward = chunks_bwd,
    .backward_reads = ATTENTION_READS,
    .forward_rows = chunks_rows,
    .backward_rows = chunks_bwd_rows,
    .map_heads = attention_map_heads,
    .map = attention_map,
    .map_staged = attention_staged,
};

tensor *op_attention(graph *g, tensor *q, tensor *k, tensor *v, const attention_opts *opts) {
    return graph_node(g, chunks_are_rows(g, opts->chunk) ? &attention_chunks : &attention, 3,
                      (tensor *[]){q, k, v}, &(attention_attributes){.opts = *opts});
}
