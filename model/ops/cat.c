// ops_cat.c: graph nodes of CAT and LaS that are more than one kernel: the normed filtered projection, attention with mixed
// maps, the box filter on values, landmark keys and landmark attention.
#include "ops_private.h"

#include <stdlib.h>

#include "kernels/mathd.h"

// ---- norm(X * F_h) W_h ----------------------------------------------------------------------------------
// Head by head at full width (CAT Theorem 1): the norm stands between filter and projection, so they do not commute.
// saved: 1 / norm of each row, [B][H][L]. a: L, D, H, W, future; floats of rows, of a piece's scratch, of the product's scratch,
// of a piece's gradients; pieces.
typedef struct {
    float *u, *unit, *du, *dunit, *dx, *gemm, *conv;
} unit_scratch;
static unit_scratch unit_split(const node *n, float *base) {
    const size_t rows = n->a[5];
    return (unit_scratch){base,
                          base + rows,
                          base + 2 * rows,
                          base + 3 * rows,
                          base + 4 * rows,
                          base + 5 * rows,
                          base + 5 * rows + n->a[7]};
}
static void unit_rows(const node *n, const unit_scratch *w, const float *x, float *rnorm, size_t h) {
    const size_t L = n->a[0], D = n->a[1], W = n->a[3];
    smx_conv_fwd(w->u, x, n->in[2]->data + h * W, w->conv, 1, L, D, 1, W, n->a[4], D, D);
    smx_unitnorm_fwd(w->unit, rnorm, w->u, L, D);
}
static void unit_fwd_piece(void *arg, size_t i) {
    const job *j = arg;
    const node *n = j->n;
    const size_t L = n->a[0], D = n->a[1], H = n->a[2], d = D / H;
    const unit_scratch w = unit_split(n, n->scratch + i * n->a[6]);
    for (size_t b = shard_start(j->g->B, i); b < shard_start(j->g->B, i + 1); b++)
        for (size_t h = 0; h < H; h++) {
            unit_rows(n, &w, n->in[0]->data + b * L * D, n->saved + (b * H + h) * L, h);
            smx_gemm(n->out->data + b * L * D + h * d, w.unit, n->in[1]->data + h * d, w.gemm, L, d, D, D, D,
                     D, 0);
        }
}
static void unit_fwd(graph *g, node *n) { graph_pieces(g, shard_count(g->B), unit_fwd_piece, &(job){g, n}); }

// Each piece sums its own dW and dF; parts are laid out [pieces][D D, then H W] at the end of the scratch.
static float *unit_part(const node *n, size_t i) { return n->back_scratch + n->a[9] * n->a[6] + i * n->a[8]; }
static void unit_bwd_piece(void *arg, size_t i) {
    const job *j = arg;
    const node *n = j->n;
    const size_t L = n->a[0], D = n->a[1], H = n->a[2], W = n->a[3], d = D / H;
    const unit_scratch w = unit_split(n, n->back_scratch + i * n->a[6]);
    float *dw = unit_part(n, i), *df = dw + D * D;
    memset(dw, 0, n->a[8] * sizeof *dw);
    for (size_t b = shard_start(j->g->B, i); b < shard_start(j->g->B, i + 1); b++) {
        const float *x = n->in[0]->data + b * L * D, *dy = n->out->grad + b * L * D;
        for (size_t h = 0; h < H; h++) {
            float *rnorm = n->saved + (b * H + h) * L, *dx = n->in_grad[0] ? n->in_grad[0] + b * L * D : NULL;
            unit_rows(n, &w, x, rnorm, h);
            smx_gemm(dw + h * d, w.unit, dy + h * d, w.gemm, D, d, L, D, D, D, SMX_TRANS_A | SMX_ACCUMULATE);
            smx_gemm(w.dunit, dy + h * d, n->in[1]->data + h * d, w.gemm, L, D, d, D, D, D, SMX_TRANS_B);
            smx_unitnorm_bwd(w.du, w.dunit, w.u, rnorm, L, D);
            smx_conv_bwd(dx && h ? w.dx : dx, df + h * W, w.du, x, n->in[2]->data + h * W, w.conv, 1, L, D, 1,
                         W, n->a[4], D, D);
            if (dx && h) smx_add(dx, dx, w.dx, L * D);
        }
    }
}
static void unit_bwd(graph *g, node *n) {
    const size_t pieces = shard_count(g->B), D = n->a[1];
    graph_pieces(g, pieces, unit_bwd_piece, &(job){g, n});
    for (size_t i = 0; i < pieces; i++) {
        smx_axpy(n->in_grad[1], unit_part(n, i), 1.0f, n->in[1]->n);
        smx_axpy(n->in_grad[2], unit_part(n, i) + D * D, 1.0f, n->in[2]->n);
    }
}
static const op_kind unit = {"unit_projection", unit_fwd, unit_bwd, 7, 0, 0, NULL, NULL};

tensor *op_unit_projection(graph *g, tensor *x, tensor *w, tensor *f, size_t future) {
    tensor *y = like(g, x);
    node *n = graph_node(g, &unit, y, 3, (tensor *[]){x, w, f});
    const size_t L = g->L, D = last_dim(x), H = f->shape[0], W = f->shape[1];
    n->a[0] = L, n->a[1] = D, n->a[2] = H, n->a[3] = W, n->a[4] = future;
    n->a[5] = floats(L * D * sizeof(float));
    n->a[7] = floats(smx_gemm_scratch_bytes(L > D ? L : D, D, L > D ? L : D));
    n->a[6] = 5 * n->a[5] + n->a[7] + floats(smx_conv_scratch_bytes(L, D, 1, W));
    n->a[8] = floats((D * D + H * W) * sizeof(float));
    n->saved_n = g->B * H * L;
    n->a[9] = shard_count(g->B);
    n->scratch_n = n->a[9] * (n->a[6] + n->a[8]);
    n->flops = 2 * (uint64_t)x->n * (D + H * W);
    return y;
}

// ---- Attention with mixed maps --------------------------------------------------------------------------
// saved: stats [B][H][L][2]. a: L, D; a[9]: one piece's part of the mix's gradient with its scratch after it.
static void maps_fwd_piece(void *arg, size_t i) {
    const job *j = arg;
    const node *n = j->n;
    const size_t from = shard_start(j->g->B, i), at = from * n->a[0] * n->a[1];
    const smx_attention p = attention_shape(n, shard_start(j->g->B, i + 1) - from);
    smx_attention_maps_fwd(n->out->data + at, n->saved + from * p.H * p.L * 2, n->in[0]->data + at,
                           n->in[1]->data + at, n->in[2]->data + at, n->in[3]->data,
                           n->scratch + i * n->a[9] + n->a[2], &p);
}
static void maps_fwd(graph *g, node *n) { graph_pieces(g, shard_count(g->B), maps_fwd_piece, &(job){g, n}); }
static void maps_bwd_piece(void *arg, size_t i) {
    const job *j = arg;
    const node *n = j->n;
    const size_t from = shard_start(j->g->B, i), at = from * n->a[0] * n->a[1];
    const smx_attention p = attention_shape(n, shard_start(j->g->B, i + 1) - from);
    smx_attention_maps_bwd(n->in_grad[0] + at, n->in_grad[1] + at, n->in_grad[2] + at, part(n, i, p.H * p.H),
                           n->out->grad + at, n->in[0]->data + at, n->in[1]->data + at, n->in[2]->data + at,
                           n->in[3]->data, n->saved + from * p.H * p.L * 2,
                           n->back_scratch + i * n->a[9] + n->a[2], &p);
}
static void maps_bwd(graph *g, node *n) {
    graph_pieces(g, shard_count(g->B), maps_bwd_piece, &(job){g, n});
    add_parts(n, 3, shard_count(g->B), 0);
}
static const op_kind maps = {"attention_maps", maps_fwd, maps_bwd, 15, 0, 0, NULL, NULL};

tensor *op_attention_maps(graph *g, tensor *q, tensor *k, tensor *v, tensor *mix,
                          const attention_opts *opts) {
    tensor *o = like(g, q);
    attention_opts *own = graph_own(g, sizeof *own);
    if (own) *own = *opts;
    node *n = graph_node(g, &maps, o, 4, (tensor *[]){q, k, v, mix});
    n->p = own;
    n->a[0] = g->L, n->a[1] = last_dim(q);
    n->f[0] = (float)(1.0 / md_sqrt((double)(n->a[1] / opts->heads)));
    if (g->failed) return o;
    const smx_attention p = attention_shape(n, 1);
    n->saved_n = g->B * p.H * p.L * 2;
    n->a[2] = floats(p.H * p.H * sizeof(float));
    n->a[9] = n->a[2] + floats(g->mode == GRAPH_TRAIN ? smx_attention_maps_bwd_scratch_bytes(&p)
                                                      : smx_attention_maps_fwd_scratch_bytes(&p));
    n->scratch_n = shard_count(g->B) * n->a[9];
    const uint64_t M = p.chunk && p.chunk < p.L ? p.chunk : p.L,
                   pairs = p.L * (opts->causal ? M + 1 : 2 * M) / 2;
    n->flops = g->B * pairs * (4 * p.D + 2 * p.H * p.H);
    return o;
}

// ---- Box filter on the values (LaS) ---------------------------------------------------------------------
// (T V)_j = (1/P) sum of P rows, `future` of them ahead, inside chunks of a[5] rows. a: L, D, P, future.
// Rows of the chunk that begins at row t of all sequences: the last one of a sequence may be shorter.
static size_t pool_chunk(const node *n, size_t t) {
    const size_t L = n->a[0], M = n->a[5], rest = L - t % L;
    return rest < M ? rest : M;
}
static void pool_rows(node *n, size_t piece, size_t from, size_t count) {
    const size_t D = n->a[1];
    float *scratch = n->scratch + piece * n->a[9];
    for (size_t t = from, rows; t < from + count; t += rows) {
        rows = pool_chunk(n, t);
        smx_conv_fwd(n->out->data + t * D, n->in[0]->data + t * D, n->p, scratch, 1, rows, D, 1, n->a[2],
                     n->a[3], D, D);
    }
}
static void pool_bwd_rows(node *n, size_t piece, size_t from, size_t count) {
    const size_t D = n->a[1];
    float *scratch = n->back_scratch + piece * n->a[9], *dx = in_grad_rows(n, 0, from);
    const float *dy = out_grad_rows(n, from);
    for (size_t t = from, rows; t < from + count; t += rows) {
        rows = pool_chunk(n, t);
        const size_t at = (t - from) * D;
        smx_conv_bwd(dx + at, NULL, dy + at, n->in[0]->data + t * D, n->p, scratch, 1, rows, D, 1, n->a[2],
                     n->a[3], D, D);
    }
}
static void pool_fwd(graph *g, node *n) { rows_in_units(g, n, n->a[0], pool_rows); }
static void pool_bwd(graph *g, node *n) { rows_in_units(g, n, n->a[0], pool_bwd_rows); }
static const op_kind pool = {"pool", pool_fwd, pool_bwd, 0, 0, 0, NULL, NULL};
static const op_kind pool_in_chunks = {"pool", pool_fwd, pool_bwd, 0, 0, 0, pool_rows, pool_bwd_rows};

tensor *op_pool(graph *g, tensor *x, size_t P, size_t future, size_t chunk) {
    tensor *y = like(g, x);
    float *taps = graph_own(g, P * sizeof *taps);
    for (size_t i = 0; taps && i < P; i++) taps[i] = 1.0f / (float)P;
    node *n = graph_node(g, chunks_are_rows(g, chunk) ? &pool_in_chunks : &pool, y, 1, &x);
    const size_t M = chunk && chunk < g->L ? chunk : g->L;
    n->p = taps;
    n->a[0] = g->L, n->a[1] = last_dim(x), n->a[2] = P, n->a[3] = future, n->a[5] = M;
    n->a[9] = floats(smx_conv_scratch_bytes(M, n->a[1], 1, P));
    n->scratch_n = shard_count(g->B) * n->a[9];
    n->flops = 2 * (uint64_t)x->n * P;
    return y;
}

// ---- Landmarks ------------------------------------------------------------------------------------------
static void filter_fwd(graph *g, node *n) {
    smx_block_filter_fwd(n->out->data, n->in[0]->data, g->B, n->a[0], n->a[1], n->a[2], n->f[0]);
}
static void filter_bwd(graph *g, node *n) {
    smx_block_filter_bwd(n->in_grad[0], n->out->grad, g->B, n->a[0], n->a[1], n->a[2], n->f[0]);
}
static const op_kind filter = {"block_filter", filter_fwd, filter_bwd, 0, 0, 0, NULL, NULL};
static const op_kind filter_only = {
    "landmark_keys", filter_fwd, NULL, 0, 0, 0, NULL, NULL}; // for the choice: no gradient

tensor *op_block_filter(graph *g, tensor *x, size_t block, int rho, int gradient) {
    tensor *y = like(g, x);
    node *n = graph_node(g, gradient ? &filter : &filter_only, y, 1, &x);
    n->a[0] = g->L, n->a[1] = last_dim(x), n->a[2] = block;
    n->f[0] = rho ? (float)(1.0 - md_exp(-1.0 / (double)block)) : 0.0f;
    return y;
}

// in: q, k, v, and the landmark-filtered keys unless k are those. saved: stats [B][H][L][2], then chosen [B][H][L].
// a: L, D, H, block; a[5] where chosen starts.
static smx_landmark landmark_shape(const node *n, size_t B) {
    return (smx_landmark){B, n->a[0], n->a[1], n->a[2], n->a[1], n->a[3], n->f[0]};
}
static int32_t *chosen_of(const node *n) { return (int32_t *)(n->saved + n->a[5]); }
static void landmark_fwd_piece(void *arg, size_t i) {
    const job *j = arg;
    const node *n = j->n;
    const size_t from = shard_start(j->g->B, i), at = from * n->a[0] * n->a[1],
                 row = from * n->a[2] * n->a[0];
    const smx_landmark p = landmark_shape(n, shard_start(j->g->B, i + 1) - from);
    smx_landmark_fwd(n->out->data + at, n->saved + 2 * row, chosen_of(n) + row, n->in[0]->data + at,
                     n->in[1]->data + at, n->in[2]->data + at, n->in[n->n_in > 3 ? 3 : 1]->data + at,
                     n->scratch + i * n->a[9], &p);
}
static void landmark_fwd(graph *g, node *n) {
    graph_pieces(g, shard_count(g->B), landmark_fwd_piece, &(job){g, n});
}
static void landmark_bwd_piece(void *arg, size_t i) {
    const job *j = arg;
    const node *n = j->n;
    const size_t from = shard_start(j->g->B, i), at = from * n->a[0] * n->a[1],
                 row = from * n->a[2] * n->a[0];
    const smx_landmark p = landmark_shape(n, shard_start(j->g->B, i + 1) - from);
    smx_landmark_bwd(n->in_grad[0] + at, n->in_grad[1] + at, n->in_grad[2] + at, n->out->grad + at,
                     n->in[0]->data + at, n->in[1]->data + at, n->in[2]->data + at, n->out->data + at,
                     n->saved + 2 * row, chosen_of(n) + row, n->back_scratch + i * n->a[9], &p);
}
static void landmark_bwd(graph *g, node *n) {
    graph_pieces(g, shard_count(g->B), landmark_bwd_piece, &(job){g, n});
}
static const op_kind landmark = {"landmark", landmark_fwd, landmark_bwd, 7, 1, 0, NULL, NULL};

tensor *op_landmark(graph *g, tensor *q, tensor *k, tensor *v, tensor *marks, size_t heads, size_t block) {
    tensor *o = like(g, q);
    node *n = graph_node(g, &landmark, o, marks == k ? 3 : 4, (tensor *[]){q, k, v, marks});
    n->a[0] = g->L, n->a[1] = last_dim(q), n->a[2] = heads, n->a[3] = block;
    n->f[0] = (float)(1.0 / md_sqrt((double)(n->a[1] / heads)));
    if (g->failed) return o;
    const smx_landmark p = landmark_shape(n, 1);
    n->a[5] = g->B * heads * g->L * 2;
    n->saved_n = g->B * heads * g->L * 3;
    n->a[9] = floats(g->mode == GRAPH_TRAIN ? smx_landmark_bwd_scratch_bytes(&p)
                                            : smx_landmark_fwd_scratch_bytes(&p));
    n->scratch_n = shard_count(g->B) * n->a[9];
    const uint64_t blocks = g->L / block;
    n->flops = 2 * (uint64_t)q->n * ((blocks + 1) / 2 + 3 * block); // half the landmarks; 3/2 blocks twice
    return o;
}
const int32_t *op_landmark_chosen(const graph *g, const tensor *o) {
    const node *n = o->produced_by < 0 ? NULL : &g->nodes[o->produced_by];
    return n && n->op == &landmark ? chosen_of(n) : NULL;
}

// ---- Looking --------------------------------------------------------------------------------------------

size_t cat_map_heads(const node *n) {
    return n->op == &maps ? ((const attention_opts *)n->p)->heads : n->op == &landmark ? n->a[2] : 0;
}

// A'_h = sum_g mix_hg A_g, in place
static void mixed_maps(const graph *g, const node *n, float *map) {
    const smx_attention p = attention_shape(n, g->B);
    const size_t H = p.H, L = p.L;
    float a[256]; // as many as the key heads allows
    for (size_t h = 0; h < H; h++)
        smx_attention_map(map + h * L * L, n->in[0]->data, n->in[1]->data, n->scratch + n->a[2], &p, 0, h);
    for (size_t i = 0; i < L * L; i++) {
        for (size_t h = 0; h < H; h++) a[h] = map[h * L * L + i];
        for (size_t h = 0; h < H; h++) {
            float sum = 0.0f;
            for (size_t e = 0; e < H; e++) sum += n->in[3]->data[h * H + e] * a[e];
            map[h * L * L + i] = sum;
        }
    }
}

// One query's softmax over its own block up to i and the block it chose.
static void landmark_row(float *row, const node *n, size_t h, size_t i, int32_t chosen) {
    const size_t D = n->a[1], d = D / n->a[2], block = n->a[3], own = i / block * block;
    const float *q = n->in[0]->data + i * D + h * d, *k = n->in[1]->data + h * d;
    float top = -__builtin_inff(), sum = 0.0f;
    for (size_t j = 0; j <= i; j++) {
        if (j < own && (chosen < 0 || j / block != (size_t)chosen)) continue;
        row[j] = n->f[0] * smx_dot(q, k + j * D, d);
        if (row[j] > top) top = row[j];
    }
    for (size_t j = 0; j <= i; j++) {
        if (j < own && (chosen < 0 || j / block != (size_t)chosen)) continue;
        row[j] -= top;
        smx_exp_fwd(row + j, row + j, 1);
        sum += row[j];
    }
    for (size_t j = 0; j <= i; j++) row[j] /= sum;
}

void cat_map(const graph *g, const node *n, float *map) {
    if (n->op == &maps) {
        mixed_maps(g, n, map);
        return;
    }
    const size_t L = n->a[0], H = n->a[2];
    memset(map, 0, H * L * L * sizeof *map);
    for (size_t h = 0; h < H; h++)
        for (size_t i = 0; i < L; i++) landmark_row(map + (h * L + i) * L, n, h, i, chosen_of(n)[h * L + i]);
}
