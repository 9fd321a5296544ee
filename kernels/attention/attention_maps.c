// attention_maps.c: softmax attention whose maps are mixed across heads before they meet the values (CAT
// Table 2, W = 1):
//   A'_h = sum_g mix_hg A_g    o_h = A'_h v_h
//   dA'_h = do_h v_h^T   dmix_hg = <dA'_h, A_g>   dA_g = sum_h mix_hg dA'_h
//   dl_g = A_g (dA_g - rowsum(A_g dA_g))
// All heads of QUERY_ROWS rows at a time, so scratch holds [H][QUERY_ROWS][n] scores, never n x n.
#include "attention_rows.h"
#include "attention_maps_layout.h"

typedef struct {
    size_t n, Lp, d, dp, H, rows, panels, scores; // floats of one head's rows, panels and scores
    float *q, *kt, *v, *a, *o, *mixed, *k, *dout, *vt, *da;
} maps_scratch;

static maps_scratch split_scratch(void *scratch, const smx_attention *p, int backward) {
    const maps_layout a = maps_layout_of(p, backward);
    float *f = scratch;
    return (maps_scratch){
        a.n,      a.Lp,     a.d,     a.dp,    p->H,    a.n * a.dp,  a.d * a.Lp, QUERY_ROWS * a.Lp,
        f + a.q,  f + a.kt, f + a.v, f + a.a, f + a.o, f + a.mixed, f + a.k,    f + a.dout,
        f + a.vt, f + a.da};
}

static size_t visible(const smx_attention *p, size_t i, size_t n) { return p->causal ? i + 1 : n; }

// to [count] = sum over g, in order, of weight[g step] from[g apart + ..]
static void combine(float *to, const float *from, size_t apart, const float *weight, size_t step, size_t H,
                    size_t count) {
    for (size_t j = 0; j < count; j += 16) {
        v16 sum = v16_set(0.0f);
        for (size_t g = 0; g < H; g++)
            sum = v16_madd(v16_set(weight[g * step]), v16_load(from + g * apart + j), sum);
        v16_store(to + j, sum);
    }
}

SMX_COPY(void, attention_maps_fwd)
(float *restrict o, float *restrict stats, const float *q, const float *k, const float *v, const float *mix,
 void *scratch, const smx_attention *p) {
    const size_t L = p->L, M = attention_rows(p), H = p->H;
    const maps_scratch w = split_scratch(scratch, p, 0);
    for (size_t b = 0; b < p->B; b++)
        for (size_t t = 0; t < L; t += M) {
            const size_t n = smx_min(M, L - t), at = (b * L + t) * p->stride;
            for (size_t h = 0; h < H; h++) {
                gather(w.q + h * w.rows, q + at + h * w.d, p->stride, n, w.d, w.dp, p->scale);
                gather(w.v + h * w.rows, v + at + h * w.d, p->stride, n, w.d, w.dp, 1.0f);
                gather_transposed(w.kt + h * w.panels, k + at + h * w.d, p->stride, n, w.Lp, w.d);
            }
            for (size_t i0 = 0; i0 < n; i0 += QUERY_ROWS) {
                const size_t rows = smx_min(QUERY_ROWS, n - i0), columns = visible(p, i0 + rows - 1, n);
                for (size_t g = 0; g < H; g++) {
                    float *a = w.a + g * w.scores;
                    row_products(a, w.Lp, w.q + g * w.rows + i0 * w.dp, w.dp, w.kt + g * w.panels, rows, w.d,
                                 0, columns);
                    for (size_t r = 0; r < rows; r++) {
                        float *kept = stats + ((b * H + g) * L + t + i0 + r) * 2, *s = a + r * w.Lp;
                        softmax_row(s, kept, p, g, i0 + r, visible(p, i0 + r, n), smx_round_up(columns, 16));
                        V16_MAP(s, columns, v16_mul(LOAD(s), v16_set(kept[1])));
                    }
                }
                for (size_t h = 0; h < H; h++) {
                    for (size_t r = 0; r < rows; r++)
                        combine(w.mixed + r * w.Lp, w.a + r * w.Lp, w.scores, mix + h * H, 1, H, columns);
                    tile_product(w.o, w.dp, w.mixed, w.Lp, 1, w.v + h * w.rows, w.dp, rows, w.dp, columns, 0);
                    for (size_t r = 0; r < rows; r++)
                        memcpy(o + (b * L + t + i0 + r) * p->D + h * w.d, w.o + r * w.dp, w.d * sizeof *o);
                }
            }
        }
}

// One group of query rows, once the gradients da [H] of the mixed maps and the maps a [H] are there.
static void group_bwd(float *dq, float *dk, float *dmix, const float *mix, const maps_scratch *w,
                      const smx_attention *p, size_t i0, size_t rows, size_t columns, size_t n) {
    const size_t H = w->H;
    for (size_t h = 0; h < H; h++)
        for (size_t g = 0; g < H; g++)
            for (size_t r = 0; r < rows; r++)
                dmix[h * H + g] += row_dot(w->da + h * w->scores + r * w->Lp,
                                           w->a + g * w->scores + r * w->Lp, visible(p, i0 + r, n));
    for (size_t g = 0; g < H; g++) {
        for (size_t r = 0; r < rows; r++) {
            const size_t m = visible(p, i0 + r, n);
            float *ds = w->mixed + r * w->Lp;
            const float *a = w->a + g * w->scores + r * w->Lp;
            combine(ds, w->da + r * w->Lp, w->scores, mix + g, H, H, columns);
            const v16 delta = v16_set(row_dot(ds, a, m));
            V16_MAP(ds, m, v16_mul(LOAD(a), v16_sub(LOAD(ds), delta)));
            if (p->decay_table) {
                const float *factor = p->decay_table + g * (2 * p->L - 1) + (p->L - 1) - (i0 + r);
                V16_MAP(ds, m, v16_mul(LOAD(ds), LOAD(factor)));
            }
            zero_from(ds, m, columns);
        }
        const size_t head = g * w->d;
        tile_product(dk + head, p->stride, w->mixed, 1, w->Lp, w->q + g * w->rows + i0 * w->dp, w->dp,
                     columns, w->d, rows, 1);
        tile_product(w->o, w->dp, w->mixed, w->Lp, 1, w->k + g * w->rows, w->dp, rows, w->dp, columns, 0);
        for (size_t r = 0; r < rows; r++)
            for (size_t c = 0; c < w->d; c++)
                dq[(i0 + r) * p->stride + head + c] = w->o[r * w->dp + c] * p->scale;
    }
}

SMX_COPY(void, attention_maps_bwd)
(float *dq, float *dk, float *dv, float *dmix, const float *dout, const float *q, const float *k,
 const float *v, const float *mix, const float *stats, void *scratch, const smx_attention *p) {
    const size_t L = p->L, M = attention_rows(p), H = p->H;
    const maps_scratch w = split_scratch(scratch, p, 1);
    for (size_t b = 0; b < p->B; b++)
        for (size_t t = 0; t < L; t += M) {
            const size_t n = smx_min(M, L - t), at = (b * L + t) * p->stride, at_o = (b * L + t) * p->D;
            for (size_t h = 0; h < H; h++) {
                const size_t head = at + h * w.d;
                gather(w.q + h * w.rows, q + head, p->stride, n, w.d, w.dp, p->scale);
                gather(w.k + h * w.rows, k + head, p->stride, n, w.d, w.dp, 1.0f);
                gather(w.dout + h * w.rows, dout + at_o + h * w.d, p->D, n, w.d, w.dp, 1.0f);
                gather_transposed(w.kt + h * w.panels, k + head, p->stride, n, w.Lp, w.d);
                gather_transposed(w.vt + h * w.panels, v + head, p->stride, n, w.Lp, w.d);
            }
            for (size_t r = 0; r < n; r++) {
                memset(dk + at + r * p->stride, 0, p->D * sizeof *dk);
                memset(dv + at + r * p->stride, 0, p->D * sizeof *dv);
            }
            for (size_t i0 = 0; i0 < n; i0 += QUERY_ROWS) {
                const size_t rows = smx_min(QUERY_ROWS, n - i0), columns = visible(p, i0 + rows - 1, n);
                for (size_t g = 0; g < H; g++) {
                    float *a = w.a + g * w.scores, *da = w.da + g * w.scores;
                    row_products(a, w.Lp, w.q + g * w.rows + i0 * w.dp, w.dp, w.kt + g * w.panels, rows, w.d,
                                 0, columns);
                    row_products(da, w.Lp, w.dout + g * w.rows + i0 * w.dp, w.dp, w.vt + g * w.panels, rows,
                                 w.d, 0, smx_round_up(columns, 16));
                    for (size_t r = 0; r < rows; r++)
                        softmax_row_again(a + r * w.Lp, stats + ((b * H + g) * L + t + i0 + r) * 2, p, g,
                                          i0 + r, visible(p, i0 + r, n), smx_round_up(columns, 16));
                }
                for (size_t h = 0; h < H; h++) {
                    for (size_t r = 0; r < rows; r++)
                        combine(w.mixed + r * w.Lp, w.a + r * w.Lp, w.scores, mix + h * H, 1, H, columns);
                    tile_product(dv + at + h * w.d, p->stride, w.mixed, 1, w.Lp,
                                 w.dout + h * w.rows + i0 * w.dp, w.dp, columns, w.d, rows, 1);
                }
                group_bwd(dq + at, dk + at, dmix, mix, &w, p, i0, rows, columns, n);
            }
        }
}
