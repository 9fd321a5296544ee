// landmark.c: landmark attention (LCAT, CAT Sec. 5; docs/MECHANISMS.md#lcat) and the filter that makes its
// landmarks. Each query picks the earlier block whose landmark it agrees with most, then attends to that
// block and to its own: O(d (L/B + B)) a query.
#include "attention_rows.h"
#include "landmark_layout.h"

// ---- The filter over time -------------------------------------------------------------------------------
// rho: y_t = x_t + (1 - forget) y_{t-1}. Box of `block` rows: the part of the window in its own block is a
// running sum from the block's start, the part in the block before a running sum from that block's end.
// Nothing is ever subtracted.

SMX_INLINE v16 load_columns(const float *p, size_t n) {
    return n == 16 ? v16_load(p) : v16_load_n(p, n, 0.0f);
}
SMX_INLINE void store_columns(float *p, v16 x, size_t n) {
    if (n == 16)
        v16_store(p, x);
    else
        v16_store_n(p, x, n);
}

enum { RHO_ROWS = 32 }; // between settlings of the state
// y over n rows, each `step` floats from the one before (negative: from the end).
static void rho_columns(float *y, const float *x, ptrdiff_t step, size_t n, size_t columns, float forget) {
    v16 state = v16_set(0.0f);
    for (size_t t = 0; t < n; t++, x += step, y += step) {
        if (t % RHO_ROWS == 0) state = settled(state);
        state = v16_add(load_columns(x, columns), v16_sub(state, v16_mul(v16_set(forget), state)));
        store_columns(y, state, columns);
    }
}
static void box_columns(float *y, const float *x, size_t D, size_t L, size_t block, size_t columns) {
    for (size_t start = 0; start < L; start += block) {
        const size_t n = smx_min(block, L - start);
        v16 sum = v16_set(0.0f);
        for (size_t r = block; r-- > 0;) { // rows r+1.. of the block before
            if (r < n) store_columns(y + (start + r) * D, sum, columns);
            if (start) sum = v16_add(sum, load_columns(x + (start - block + r) * D, columns));
        }
        sum = v16_set(0.0f);
        for (size_t r = 0; r < n; r++) {
            sum = v16_add(sum, load_columns(x + (start + r) * D, columns));
            float *to = y + (start + r) * D;
            store_columns(to, v16_add(load_columns(to, columns), sum), columns);
        }
    }
}
// dx_s = sum of dy over rows s .. s + block - 1: to the end of the own block,
// then from the start of the next.
static void box_columns_back(float *dx, const float *dy, size_t D, size_t L, size_t block, size_t columns) {
    for (size_t start = 0; start < L; start += block) {
        const size_t n = smx_min(block, L - start);
        v16 sum = v16_set(0.0f);
        for (size_t r = n; r-- > 0;) {
            sum = v16_add(sum, load_columns(dy + (start + r) * D, columns));
            store_columns(dx + (start + r) * D, sum, columns);
        }
        sum = v16_set(0.0f);
        for (size_t r = 1; r < n && start + block + r - 1 < L; r++) {
            sum = v16_add(sum, load_columns(dy + (start + block + r - 1) * D, columns));
            float *to = dx + (start + r) * D;
            store_columns(to, v16_add(load_columns(to, columns), sum), columns);
        }
        // Past the last row of dy the sum stays what it is.
        for (size_t r = L > start + block ? L - start - block + 1 : n; start + block < L && r < n; r++) {
            float *to = dx + (start + r) * D;
            store_columns(to, v16_add(load_columns(to, columns), sum), columns);
        }
    }
}

SMX_COPY(void, block_filter_fwd)
(float *restrict y, const float *x, size_t B, size_t L, size_t D, size_t block, float forget) {
    for (size_t b = 0; b < B; b++, x += L * D, y += L * D)
        for (size_t c = 0; c < D; c += 16) {
            if (forget > 0.0f)
                rho_columns(y + c, x + c, (ptrdiff_t)D, L, smx_min(16, D - c), forget);
            else
                box_columns(y + c, x + c, D, L, block, smx_min(16, D - c));
        }
}
SMX_COPY(void, block_filter_bwd)
(float *restrict dx, const float *dy, size_t B, size_t L, size_t D, size_t block, float forget) {
    for (size_t b = 0; L && b < B; b++, dx += L * D, dy += L * D)
        for (size_t c = 0; c < D; c += 16) {
            const size_t last = (L - 1) * D + c;
            if (forget > 0.0f)
                rho_columns(dx + last, dy + last, -(ptrdiff_t)D, L, smx_min(16, D - c), forget);
            else
                box_columns_back(dx + c, dy + c, D, L, block, smx_min(16, D - c));
        }
}

// ---- One row times a matrix -----------------------------------------------------------------------------
// out [n] (+)= x [k] m [k][n], n a multiple of 16: the tile's own sums over k in order, wide enough for one
// row.
#define ROW_GROUPS (SMX_W == 16 ? 8 : SMX_W == 8 ? 4 : SMX_W == 4 ? 2 : 1)
SMX_INLINE void row_times(float *out, const float *x, const float *m, size_t ld, size_t k, const int G,
                          int add) {
    v16 s[ROW_GROUPS];
    SMX_UNROLL for (int g = 0; g < G; g++) s[g] = v16_set(0.0f);
    for (size_t i = 0; i < k; i++) {
        const v16 w = v16_set(x[i]);
        SMX_UNROLL for (int g = 0; g < G; g++) s[g] = v16_madd(w, v16_load(m + i * ld + 16 * g), s[g]);
    }
    SMX_UNROLL for (int g = 0; g < G; g++)
        v16_store(out + 16 * g, add ? v16_add(v16_load(out + 16 * g), s[g]) : s[g]);
}
static void row_product(float *out, const float *x, const float *m, size_t ld, size_t n, size_t k, int add) {
    size_t j = 0;
    for (; j + 16 * ROW_GROUPS <= n; j += 16 * ROW_GROUPS)
        row_times(out + j, x, m + j, ld, k, ROW_GROUPS, add);
    for (; j < n; j += 16) row_times(out + j, x, m + j, ld, k, 1, add);
}
// m [k][n] += x [k] y [n]
static void outer_product(float *m, size_t ld, const float *x, const float *y, size_t k, size_t n) {
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < n; j += 16)
            v16_store(m + i * ld + j, v16_madd(v16_set(x[i]), v16_load(y + j), v16_load(m + i * ld + j)));
}

// ---- Attention ------------------------------------------------------------------------------------------

typedef struct {
    size_t Bp, marks, d, dp;
    float *q, *raw_q, *kt, *v, *lt, *score, *s, *o, *k, *vt, *dout, *ds, *dk, *dv;
} landmark_scratch;

static landmark_scratch split_scratch(void *scratch, const smx_landmark *p, int backward) {
    const landmark_layout a = landmark_layout_of(p, backward);
    float *f = scratch;
    return (landmark_scratch){a.Bp,     a.marks,  a.d,        a.dp,        f + a.q,  f + a.raw_q,
                              f + a.kt, f + a.v,  f + a.lt,   f + a.score, f + a.s,  f + a.o,
                              f + a.k,  f + a.vt, f + a.dout, f + a.ds,    f + a.dk, f + a.dv};
}

// to [columns][padded] = from [n rows][d] transposed, zeros past n.
static void transpose(float *restrict to, const float *from, size_t stride, size_t n, size_t padded,
                      size_t d) {
    for (size_t c = 0; c < d; c++) {
        for (size_t j = 0; j < n; j++) to[c * padded + j] = from[j * stride + c];
        for (size_t j = n; j < padded; j++) to[c * padded + j] = 0.0f;
    }
}
static void transpose_blocks(float *to, const float *from, const landmark_scratch *w, const smx_landmark *p) {
    for (size_t start = 0; start < p->L; start += p->block, to += w->d * w->Bp)
        transpose(to, from + start * p->stride, p->stride, smx_min(p->block, p->L - start), w->Bp, w->d);
}

// The first of the best; of NaN the first, which maxima pass over and sums do not.
static int32_t best_of(const float *score, size_t n) {
    const float max = row_max(score, n), sum = row_sum(score, n);
    size_t best = 0;
    if (sum == sum)
        while (best < n && score[best] < max) best++;
    else // NaN, or infinities of both signs
        for (size_t b = 1; b < n && score[best] == score[best]; b++)
            if (!(score[b] <= score[best])) best = b;
    return n ? (int32_t)best : -1;
}

// Logits of rows of one block: columns 0..Bp-1 the chosen block, Bp..2Bp-1 the own one,
// -inf where nothing may be seen.
static void logits(const landmark_scratch *w, const smx_landmark *p, const int32_t *chosen, size_t own,
                   size_t i0, size_t rows) {
    const size_t Bp = w->Bp, panel = w->d * Bp;
    tile_product(w->s + Bp, 2 * Bp, w->q, w->dp, 1, w->kt + own * panel, Bp, rows,
                 smx_round_up(i0 + rows, 16), w->d, 0);
    for (size_t r = 0; r < rows; r++) {
        float *s = w->s + r * 2 * Bp;
        if (chosen[r] >= 0)
            row_product(s, w->q + r * w->dp, w->kt + (size_t)chosen[r] * panel, Bp, Bp, w->d, 0);
        for (size_t j = chosen[r] >= 0 ? p->block : 0; j < Bp; j++) s[j] = -SMX_INF;
        for (size_t j = i0 + r + 1; j < Bp; j++) s[Bp + j] = -SMX_INF;
    }
}

SMX_COPY(void, landmark_fwd)
(float *restrict o, float *restrict stats, int32_t *restrict chosen, const float *q, const float *k,
 const float *v, const float *marks, void *scratch, const smx_landmark *p) {
    const landmark_scratch w = split_scratch(scratch, p, 0);
    const size_t L = p->L, block = p->block, Bp = w.Bp, dp = w.dp;
    for (size_t bh = 0; bh < p->B * p->H; bh++) {
        const size_t head = bh % p->H * w.d, at = bh / p->H * L * p->stride + head;
        transpose_blocks(w.kt, k + at, &w, p);
        gather(w.v, v + at, p->stride, L, w.d, dp, 1.0f);
        transpose(w.lt, marks + at + (block - 1) * p->stride, block * p->stride, L / block, w.marks, w.d);
        for (size_t start = 0, own = 0; start < L; start += block, own++)
            for (size_t i0 = 0; i0 < block && start + i0 < L; i0 += QUERY_ROWS) {
                const size_t t = start + i0, rows = smx_min(smx_min(QUERY_ROWS, block - i0), L - t);
                int32_t *choice = chosen + bh * L + t;
                gather(w.raw_q, q + at + t * p->stride, p->stride, rows, w.d, dp, 1.0f);
                gather(w.q, q + at + t * p->stride, p->stride, rows, w.d, dp, p->scale);
                tile_product(w.score, w.marks, w.raw_q, dp, 1, w.lt, w.marks, rows, own, w.d, 0);
                for (size_t r = 0; r < rows; r++) choice[r] = best_of(w.score + r * w.marks, own);
                logits(&w, p, choice, own, i0, rows);
                for (size_t r = 0; r < rows; r++) {
                    float *s = w.s + r * 2 * Bp, *kept = stats + (bh * L + t + r) * 2;
                    kept[0] = row_max(s, 2 * Bp);
                    kept[1] = kept[0] == -SMX_INF ? without_maximum(s, 2 * Bp)
                                                  : 1.0f / exponentials(s, 2 * Bp, kept[0]);
                    if (choice[r] >= 0 && !(w.score[r * w.marks + (size_t)choice[r]] <= SMX_INF))
                        kept[1] = SMX_NAN; // among what is chosen from
                }
                tile_product(w.o, dp, w.s + Bp, 2 * Bp, 1, w.v + start * dp, dp, rows, dp, i0 + rows, 0);
                for (size_t r = 0; r < rows; r++) {
                    float *row = w.o + r * dp;
                    if (choice[r] >= 0)
                        row_product(row, w.s + r * 2 * Bp, w.v + (size_t)choice[r] * block * dp, dp, dp,
                                    block, 1);
                    const float inverse = stats[(bh * L + t + r) * 2 + 1];
                    for (size_t c = 0; c < w.d; c++)
                        o[(bh / p->H * L + t + r) * p->D + head + c] = row[c] * inverse;
                }
            }
    }
}

static void rows_bwd(float *dq, const float *dout, const float *o, const float *stats, const int32_t *chosen,
                     const landmark_scratch *w, const smx_landmark *p, size_t own, size_t i0, size_t rows) {
    const size_t Bp = w->Bp, dp = w->dp, block = p->block, panel = w->d * Bp, start = own * block,
                 columns = i0 + rows;
    logits(w, p, chosen, own, i0, rows);
    tile_product(w->ds + Bp, 2 * Bp, w->dout, dp, 1, w->vt + own * panel, Bp, rows, smx_round_up(columns, 16),
                 w->d, 0);
    for (size_t r = 0; r < rows; r++) {
        float *s = w->s + r * 2 * Bp, *ds = w->ds + r * 2 * Bp;
        const v16 m = v16_set(stats[2 * r]), inverse = v16_set(stats[2 * r + 1]);
        const v16 delta = v16_set(row_dot(dout + r * p->D, o + r * p->D, w->d));
        if (chosen[r] >= 0)
            row_product(ds, w->dout + r * dp, w->vt + (size_t)chosen[r] * panel, Bp, Bp, w->d, 0);
        else
            zero_from(ds, 0, Bp);
        zero_from(ds + Bp, i0 + r + 1, Bp);
        if (stats[2 * r + 1] == 0.0f) {
            zero_from(s, 0, 2 * Bp);
            zero_from(ds, 0, 2 * Bp);
            continue;
        }
        for (size_t j = 0; j < 2 * Bp; j += 16) {
            const v16 a = v16_mul(v16_softmax_exp(v16_sub(v16_load(s + j), m)), inverse);
            v16_store(s + j, a);
            v16_store(ds + j, v16_mul(a, v16_sub(v16_load(ds + j), delta)));
        }
    }
    tile_product(w->dv + start * dp, dp, w->s + Bp, 1, 2 * Bp, w->dout, dp, columns, dp, rows, 1);
    tile_product(w->dk + start * dp, dp, w->ds + Bp, 1, 2 * Bp, w->q, dp, columns, dp, rows, 1);
    tile_product(w->o, dp, w->ds + Bp, 2 * Bp, 1, w->k + start * dp, dp, rows, dp, columns, 0);
    for (size_t r = 0; r < rows; r++) {
        if (chosen[r] >= 0) {
            const size_t row = (size_t)chosen[r] * block * dp;
            outer_product(w->dv + row, dp, w->s + r * 2 * Bp, w->dout + r * dp, block, dp);
            outer_product(w->dk + row, dp, w->ds + r * 2 * Bp, w->q + r * dp, block, dp);
            row_product(w->o + r * dp, w->ds + r * 2 * Bp, w->k + row, dp, dp, block, 1);
        }
        for (size_t c = 0; c < w->d; c++) dq[r * p->stride + c] = w->o[r * dp + c] * p->scale;
    }
}

SMX_COPY(void, landmark_bwd)
(float *dq, float *dk, float *dv, const float *dout, const float *q, const float *k, const float *v,
 const float *o, const float *stats, const int32_t *chosen, void *scratch, const smx_landmark *p) {
    const landmark_scratch w = split_scratch(scratch, p, 1);
    const size_t L = p->L, block = p->block, dp = w.dp;
    for (size_t bh = 0; bh < p->B * p->H; bh++) {
        const size_t head = bh % p->H * w.d, at = bh / p->H * L * p->stride + head;
        transpose_blocks(w.kt, k + at, &w, p);
        transpose_blocks(w.vt, v + at, &w, p);
        gather(w.k, k + at, p->stride, L, w.d, dp, 1.0f);
        zero_from(w.dk, 0, L * dp);
        zero_from(w.dv, 0, L * dp);
        for (size_t start = 0, own = 0; start < L; start += block, own++)
            for (size_t i0 = 0; i0 < block && start + i0 < L; i0 += QUERY_ROWS) {
                const size_t t = start + i0, rows = smx_min(smx_min(QUERY_ROWS, block - i0), L - t);
                const size_t at_o = (bh / p->H * L + t) * p->D + head;
                gather(w.q, q + at + t * p->stride, p->stride, rows, w.d, dp, p->scale);
                gather(w.dout, dout + at_o, p->D, rows, w.d, dp, 1.0f);
                rows_bwd(dq + at + t * p->stride, dout + at_o, o + at_o, stats + (bh * L + t) * 2,
                         chosen + bh * L + t, &w, p, own, i0, rows);
            }
        for (size_t t = 0; t < L; t++) {
            memcpy(dk + at + t * p->stride, w.dk + t * dp, w.d * sizeof *dk);
            memcpy(dv + at + t * p->stride, w.dv + t * dp, w.d * sizeof *dv);
        }
    }
}
