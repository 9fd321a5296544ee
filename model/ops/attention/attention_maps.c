// attention_maps.c: softmax attention whose maps are mixed across heads (CAT Table 2). Pieces are sequences.
#include "attention.h"

// in: q, k, v, mix [H][H]. saved: statistics of each row and head, two numbers
typedef struct {
    attention_opts opts;
} maps_attributes;

static smx_attention sequences(const graph *g, const node *n, size_t count) {
    return attention_shape(n, &((const maps_attributes *)n->attributes)->opts, count, g->L);
}
static void maps_fwd_piece(graph *g, node *n, size_t piece, size_t from, size_t count) {
    const smx_attention p = sequences(g, n, count);
    const size_t at = from * p.L * p.D;
    smx_attention_maps_fwd(n->out->data + at, n->saved + from * p.H * p.L * 2, n->in[0]->data + at,
                           n->in[1]->data + at, n->in[2]->data + at, n->in[3]->data, scratch_of(n, piece),
                           &p);
}
static void maps_bwd_piece(graph *g, node *n, size_t piece, size_t from, size_t count) {
    const smx_attention p = sequences(g, n, count);
    const size_t at = from * p.L * p.D;
    smx_attention_maps_bwd(n->in_grad[0] + at, n->in_grad[1] + at, n->in_grad[2] + at, sums_of(n, piece),
                           n->out->grad + at, n->in[0]->data + at, n->in[1]->data + at, n->in[2]->data + at,
                           n->in[3]->data, n->saved + from * p.H * p.L * 2, back_scratch_of(n, piece), &p);
}
static void maps_fwd(graph *g, node *n) { sequences_in_pieces(g, n, maps_fwd_piece); }
static void maps_bwd(graph *g, node *n) {
    sequences_in_pieces(g, n, maps_bwd_piece);
    add_sums(n, 3, g->share.pieces, 0);
}
static void maps_size(graph *g, node *n) {
    const smx_attention p = sequences(g, n, 1);
    n->saved_n = size_mul(g->B, p.H, p.L, 2);
    scratch_size(n, shard_count(g->B), p.H * p.H,
                 g->mode == GRAPH_TRAIN ? smx_attention_maps_bwd_scratch_bytes(&p)
                                        : smx_attention_maps_fwd_scratch_bytes(&p));
    n->flops = g->B * attention_pairs(&p) * (4 * p.D + 2 * p.H * p.H);
}

static size_t maps_heads(const node *n) { return ((const maps_attributes *)n->attributes)->opts.heads; }
// A'_h = sum_g mix_hg A_g, in place
static void mixed_map(graph *g, node *n, enum map_stage stage, float *map) {
    (void)stage;
    const smx_attention p = sequences(g, n, g->B);
    const size_t H = p.H, L = p.L;
    float a[256]; // as many as the key heads allows
    for (size_t h = 0; h < H; h++)
        smx_attention_map(map + h * L * L, n->in[0]->data, n->in[1]->data, scratch_of(n, 0), &p, 0, h);
    for (size_t i = 0; i < L * L; i++) {
        for (size_t h = 0; h < H; h++) a[h] = map[h * L * L + i];
        for (size_t h = 0; h < H; h++) {
            float sum = 0.0f;
            for (size_t e = 0; e < H; e++) sum += n->in[3]->data[h * H + e] * a[e];
            map[h * L * L + i] = sum;
        }
    }
}
static const op maps = {
    .name = "attention_maps",
    .attributes = sizeof(maps_attributes),
    .size = maps_size,
    .forward = maps_fwd,
    .backward = maps_bwd,
    .backward_reads = READS_IN(0) | READS_IN(1) | READS_IN(2) | READS_IN(3),
    .map_heads = maps_heads,
    .map = mixed_map,
};
tensor *op_attention_maps(graph *g, tensor *q, tensor *k, tensor *v, tensor *mix,
                          const attention_opts *opts) {
    return graph_node(g, &maps, 4, (tensor *[]){q, k, v, mix}, &(maps_attributes){*opts});
}
