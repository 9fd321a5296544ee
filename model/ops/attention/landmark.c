// landmark.c: keys filtered into landmarks, and the attention that chooses a block by them (LCAT).
// Pieces are sequences.
#include "attention.h"

#include <string.h>

#include "kernels/core/mathd.h"

// ---- Filtered keys ----------------------------------------------------------------------------------------
typedef struct {
    size_t block;
    float rho; // 0: a box of `block` rows
} filter_attributes;
static void filter_fwd(graph *g, node *n) {
    const filter_attributes *at = n->attributes;
    smx_block_filter_fwd(n->out->data, n->in[0]->data, g->B, g->L, last_dim(n->out), at->block, at->rho);
}
static void filter_bwd(graph *g, node *n) {
    const filter_attributes *at = n->attributes;
    smx_block_filter_bwd(n->in_grad[0], n->out->grad, g->B, g->L, last_dim(n->out), at->block, at->rho);
}
// A box depends on the block before its own; rho on all rows.
static op_reach filter_reach(const graph *g, const node *n) {
    (void)g;
    const filter_attributes *at = n->attributes;
    return at->rho > 0.0f ? (op_reach){SIZE_MAX, 1} : (op_reach){at->block, at->block};
}
static const op block_filter = {
    .name = "block_filter",
    .reach = filter_reach,
    .attributes = sizeof(filter_attributes),
    .forward = filter_fwd,
    .backward = filter_bwd,
};
// Keys for the choice only: no gradient.
static const op landmark_keys = {
    .name = "landmark_keys",
    .reach = filter_reach,
    .attributes = sizeof(filter_attributes),
    .forward = filter_fwd,
};
tensor *op_block_filter(graph *g, tensor *x, size_t block, int rho, int gradient) {
    const filter_attributes at = {block, rho ? (float)(1.0 - md_exp(-1.0 / (double)block)) : 0.0f};
    return graph_node(g, gradient ? &block_filter : &landmark_keys, 1, &x, &at);
}

// ---- Attention --------------------------------------------------------------------------------------------
// in: q, k, v, and the landmark-filtered keys unless k are those. saved: statistics of each row and head, two
// numbers, [B][H][L][2], then the block that each chose, [B][H][L].
typedef struct {
    size_t heads, block;
} landmark_attributes;
static smx_landmark sequences(const graph *g, const node *n, size_t count) {
    const landmark_attributes *at = n->attributes;
    const size_t D = last_dim(n->out);
    return (smx_landmark){.B = count,
                          .L = g->L,
                          .D = D,
                          .H = at->heads,
                          .stride = D,
                          .block = at->block,
                          .scale = attention_scale(n, at->heads)};
}
static int32_t *chosen_of(const node *n) { return (int32_t *)(n->saved + n->saved_n / 3 * 2); }

static void landmark_fwd_piece(graph *g, node *n, size_t piece, size_t from, size_t count) {
    const smx_landmark p = sequences(g, n, count);
    const size_t at = from * p.L * p.D, row = from * p.H * p.L;
    smx_landmark_fwd(n->out->data + at, n->saved + 2 * row, chosen_of(n) + row, n->in[0]->data + at,
                     n->in[1]->data + at, n->in[2]->data + at, n->in[n->n_in > 3 ? 3 : 1]->data + at,
                     scratch_of(n, piece), &p);
}
static void landmark_bwd_piece(graph *g, node *n, size_t piece, size_t from, size_t count) {
    const smx_landmark p = sequences(g, n, count);
    const size_t at = from * p.L * p.D, row = from * p.H * p.L;
    smx_landmark_bwd(n->in_grad[0] + at, n->in_grad[1] + at, n->in_grad[2] + at, n->out->grad + at,
                     n->in[0]->data + at, n->in[1]->data + at, n->in[2]->data + at, n->out->data + at,
                     n->saved + 2 * row, chosen_of(n) + row, back_scratch_of(n, piece), &p);
}
static void landmark_fwd(graph *g, node *n) { sequences_in_pieces(g, n, landmark_fwd_piece); }
static void landmark_bwd(graph *g, node *n) {
    sequences_in_pieces(g, n, landmark_bwd_piece);
    // No gradient flows through the choice, whoever computed the marks.
    if (n->n_in > 3 && n->in_grad[3]) memset(n->in_grad[3], 0, n->in[3]->n * sizeof(float));
}
static void landmark_size(graph *g, node *n) {
    const smx_landmark p = sequences(g, n, 1);
    n->saved_n = size_mul(3, g->B, p.H, p.L);
    scratch_size(n, shard_count(g->B), 0,
                 g->mode == GRAPH_TRAIN ? smx_landmark_bwd_scratch_bytes(&p)
                                        : smx_landmark_fwd_scratch_bytes(&p));
    // Half the landmarks, whose choice has no gradient; 3/2 blocks twice.
    n->forward_only = 2 * (uint64_t)n->out->n * ((p.L / p.block + 1) / 2);
    n->flops = n->forward_only + 6 * (uint64_t)n->out->n * p.block;
}

static size_t landmark_heads(const node *n) { return ((const landmark_attributes *)n->attributes)->heads; }
// Query i's softmax over its own block up to i and the block it chose (-1: none).
static void map_row(float *row, const node *n, const smx_landmark *p, size_t h, size_t i, int32_t chosen) {
    const size_t D = p->D, d = D / p->H, own = i / p->block * p->block;
    const float *q = n->in[0]->data + i * D + h * d, *k = n->in[1]->data + h * d;
    float top = -__builtin_inff(), sum = 0.0f;
    for (size_t j = 0; j <= i; j++) {
        if (j < own && (chosen < 0 || j / p->block != (size_t)chosen)) continue;
        row[j] = p->scale * smx_dot(q, k + j * D, d);
        if (row[j] > top) top = row[j];
    }
    for (size_t j = 0; j <= i; j++) {
        if (j < own && (chosen < 0 || j / p->block != (size_t)chosen)) continue;
        row[j] -= top;
        smx_exp_fwd(row + j, row + j, 1);
        sum += row[j];
    }
    for (size_t j = 0; j <= i; j++) row[j] /= sum;
}
static void landmark_map(graph *g, node *n, enum map_stage stage, float *map) {
    (void)stage;
    const smx_landmark p = sequences(g, n, g->B);
    memset(map, 0, p.H * p.L * p.L * sizeof *map);
    for (size_t h = 0; h < p.H; h++)
        for (size_t i = 0; i < p.L; i++)
            map_row(map + (h * p.L + i) * p.L, n, &p, h, i, chosen_of(n)[h * p.L + i]);
}
static const op landmark = {
    .name = "landmark",
    .attributes = sizeof(landmark_attributes),
    .size = landmark_size,
    .forward = landmark_fwd,
    .backward = landmark_bwd,
    .backward_reads = READS_IN(0) | READS_IN(1) | READS_IN(2) | READS_OUT,
    .map_heads = landmark_heads,
    .map = landmark_map,
};
tensor *op_landmark(graph *g, tensor *q, tensor *k, tensor *v, tensor *marks, size_t heads, size_t block) {
    return graph_node(g, &landmark, marks == k ? 3 : 4, (tensor *[]){q, k, v, marks},
                      &(landmark_attributes){heads, block});
}
