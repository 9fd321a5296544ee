// attention.c: softmax attention, forward and backward, one head of one sequence at a time, QUERY_ROWS query rows at a
// time: scores [QUERY_ROWS][L] in scratch, never L x L, and under the causal mask only the columns up to the block's end.
//   s = scale q.k   l = s mult + bias   p = exp(l - max)/sum   o = p v
//   dv = p^T do     dp = do v^T         dl = p (dp - do.o)     ds = dl mult   dq = scale ds k   dk = ds^T (scale q)
#include "tile.h"
#include "attention.h"

typedef struct {
    size_t L, Lp, d, dp; // Lp, dp: rounded up to whole tiles and registers
    float *q;            // [L][dp], times scale
    float *kt;           // [Lp/TILE_N][d][TILE_N]: k transposed, panel by panel
    float *v;            // [L][dp]
    float *s;            // [QUERY_ROWS][Lp]
    // backward only
    float *k, *dout; // [L][dp]
    float *vt;       // as kt
    float *dp_rows;  // [QUERY_ROWS][Lp]
    float *o;        // [QUERY_ROWS][dp]
} head_scratch;

static float *take(float **from, size_t n) {
    float *p = *from;
    *from += n;
    return p;
}

static head_scratch split_scratch(void *scratch, size_t L, size_t d, int backward) {
    float *free_from = scratch;
    head_scratch w = {.L = L, .Lp = attention_padded(L), .d = d, .dp = attention_padded_width(d)};
    w.q = take(&free_from, L * w.dp);
    w.v = take(&free_from, L * w.dp);
    w.kt = take(&free_from, d * w.Lp);
    w.s = take(&free_from, QUERY_ROWS * w.Lp);
    w.o = take(&free_from, QUERY_ROWS * w.dp);
    if (backward) {
        w.k = take(&free_from, L * w.dp);
        w.dout = take(&free_from, L * w.dp);
        w.vt = take(&free_from, d * w.Lp);
        w.dp_rows = take(&free_from, QUERY_ROWS * w.Lp);
    }
    return w;
}

// One head's rows, padded with zeros to dp columns, times `scale`.
static void gather(float *restrict to, const float *from, size_t stride, size_t L, size_t d, size_t dp, float scale) {
    for (size_t t = 0; t < L; t++) {
        for (size_t c = 0; c < d; c++) to[t * dp + c] = from[t * stride + c] * scale;
        for (size_t c = d; c < dp; c++) to[t * dp + c] = 0.0f;
    }
}

static void gather_transposed(float *restrict to, const float *from, size_t stride, size_t L, size_t Lp, size_t d) {
    for (size_t j0 = 0; j0 < Lp; j0 += TILE_N)
        for (size_t j = 0; j < TILE_N; j++)
            for (size_t c = 0; c < d; c++)
                to[j0 * d + c * TILE_N + j] = j0 + j < L ? from[(j0 + j) * stride + c] : 0.0f;
}

// rows [count][Lp] = x [count][d] y^T for columns 0..columns-1, y transposed in panels.
static void row_products(float *rows, const float *x, const float *yt, const head_scratch *w, size_t count,
                         size_t columns) {
    for (size_t j = 0; j < columns; j += TILE_N)
        tile_product(rows + j, w->Lp, x, w->dp, 1, yt + j * w->d, TILE_N, count, TILE_N, w->d, 0);
}

// Logits of one row in place: s mult + bias over n columns, then -inf up to the next whole group.
static void finish_logits(float *s, const smx_attention *p, size_t head, size_t i, size_t n) {
    if (p->mult || p->bias) {
        const float *mult = p->mult ? p->mult + head * (2 * p->L - 1) + (p->L - 1) - i : NULL;
        const float *bias = p->bias ? p->bias + head * (2 * p->L - 1) + (p->L - 1) - i : NULL;
        if (mult) V16_MAP(s, n, v16_mul(LOAD(s), LOAD(mult)));
        if (bias) V16_MAP(s, n, v16_add(LOAD(s), LOAD(bias)));
    }
    for (size_t j = n; j % 16; j++) s[j] = -SMX_INF;
}

// The row's exponentials exp(l - max) in place over whole groups; returns their sum.
static float exponentials(float *s, size_t n, float max) {
    v16 sum = v16_set(0.0f), m = v16_set(max);
    for (size_t j = 0; j < n; j += 16) {
        v16 e = v16_exp(v16_sub(v16_load(s + j), m));
        v16_store(s + j, e);
        sum = v16_add(sum, e);
    }
    return v16_hsum(sum);
}

static void zero_from(float *s, size_t from, size_t to) {
    if (from < to) memset(s + from, 0, (to - from) * sizeof *s);
}

static size_t visible(const smx_attention *p, size_t i) { return p->causal ? i + 1 : p->L; }

void SMX_FN(attention_fwd)(float *restrict o, float *restrict stats, const float *q, const float *k, const float *v,
                           void *scratch, const smx_attention *p) {
    const size_t L = p->L, d = p->D / p->H;
    head_scratch w = split_scratch(scratch, L, d, 0);
    for (size_t bh = 0; bh < p->B * p->H; bh++) {
        const size_t b = bh / p->H, head = bh % p->H, at = b * L * p->stride + head * d;
        gather(w.q, q + at, p->stride, L, d, w.dp, p->scale);
        gather(w.v, v + at, p->stride, L, d, w.dp, 1.0f);
        gather_transposed(w.kt, k + at, p->stride, L, w.Lp, d);
        for (size_t i0 = 0; i0 < L; i0 += QUERY_ROWS) {
            const size_t rows = smx_min(QUERY_ROWS, L - i0), columns = visible(p, i0 + rows - 1);
            float inverse[QUERY_ROWS];
            row_products(w.s, w.q + i0 * w.dp, w.kt, &w, rows, columns);
            for (size_t r = 0; r < rows; r++) {
                float *s = w.s + r * w.Lp, *kept = stats + (bh * L + i0 + r) * 2;
                const size_t n = visible(p, i0 + r);
                finish_logits(s, p, head, i0 + r, n);
                const float max = row_max(s, n);
                if (max == -SMX_INF) { // nothing allowed: the row is 0
                    zero_from(s, 0, smx_round_up(n, 16));
                    inverse[r] = 0.0f;
                } else {
                    inverse[r] = 1.0f / exponentials(s, n, max);
                }
                zero_from(s, smx_round_up(n, 16), columns);
                kept[0] = max;
                kept[1] = inverse[r];
            }
            tile_product(w.o, w.dp, w.s, w.Lp, 1, w.v, w.dp, rows, w.dp, columns, 0);
            for (size_t r = 0; r < rows; r++)
                for (size_t c = 0; c < d; c++)
                    o[(b * L + i0 + r) * p->D + head * d + c] = w.o[r * w.dp + c] * inverse[r];
        }
    }
}

void SMX_FN(attention_bwd)(float *dq, float *dk, float *dv, const float *dout, const float *q, const float *k,
                           const float *v, const float *o, const float *stats, void *scratch, const smx_attention *p) {
    const size_t L = p->L, d = p->D / p->H, stride = p->stride;
    head_scratch w = split_scratch(scratch, L, d, 1);
    for (size_t bh = 0; bh < p->B * p->H; bh++) {
        const size_t b = bh / p->H, head = bh % p->H, at = b * L * stride + head * d, at_o = b * L * p->D + head * d;
        gather(w.q, q + at, stride, L, d, w.dp, p->scale);
        gather(w.k, k + at, stride, L, d, w.dp, 1.0f);
        gather(w.dout, dout + at_o, p->D, L, d, w.dp, 1.0f);
        gather_transposed(w.kt, k + at, stride, L, w.Lp, d);
        gather_transposed(w.vt, v + at, stride, L, w.Lp, d);
        for (size_t t = 0; t < L; t++) {
            memset(dk + at + t * stride, 0, d * sizeof *dk);
            memset(dv + at + t * stride, 0, d * sizeof *dv);
        }
        for (size_t i0 = 0; i0 < L; i0 += QUERY_ROWS) {
            const size_t rows = smx_min(QUERY_ROWS, L - i0), columns = visible(p, i0 + rows - 1);
            row_products(w.s, w.q + i0 * w.dp, w.kt, &w, rows, columns);
            row_products(w.dp_rows, w.dout + i0 * w.dp, w.vt, &w, rows, columns);
            for (size_t r = 0; r < rows; r++) {
                const size_t i = i0 + r, n = visible(p, i), n16 = smx_round_up(n, 16);
                float *s = w.s + r * w.Lp, *ds = w.dp_rows + r * w.Lp;
                const float max = stats[(bh * L + i) * 2], inverse = stats[(bh * L + i) * 2 + 1];
                finish_logits(s, p, head, i, n);
                zero_from(s, n16, columns);
                zero_from(ds, n, columns > n16 ? columns : n16);
                if (inverse == 0.0f) {
                    zero_from(s, 0, n16);
                    zero_from(ds, 0, n);
                    continue;
                }
                const v16 delta = v16_set(row_dot(dout + at_o + i * p->D, o + at_o + i * p->D, d));
                const v16 m = v16_set(max), inv = v16_set(inverse);
                for (size_t j = 0; j < n; j += 16) {
                    v16 e = v16_mul(v16_exp(v16_sub(v16_load(s + j), m)), inv);
                    v16_store(s + j, e);
                    v16_store(ds + j, v16_mul(e, v16_sub(v16_load(ds + j), delta)));
                }
                if (p->mult) {
                    const float *mult = p->mult + head * (2 * L - 1) + (L - 1) - i;
                    V16_MAP(ds, n, v16_mul(LOAD(ds), LOAD(mult)));
                }
            }
            tile_product(dv + at, stride, w.s, 1, w.Lp, w.dout + i0 * w.dp, w.dp, columns, d, rows, 1);
            tile_product(dk + at, stride, w.dp_rows, 1, w.Lp, w.q + i0 * w.dp, w.dp, columns, d, rows, 1);
            tile_product(w.o, w.dp, w.dp_rows, w.Lp, 1, w.k, w.dp, rows, w.dp, columns, 0);
            for (size_t r = 0; r < rows; r++)
                for (size_t c = 0; c < d; c++) dq[at + (i0 + r) * stride + c] = w.o[r * w.dp + c] * p->scale;
        }
    }
}

void SMX_FN(attention_map)(float *restrict map, const float *q, const float *k, void *scratch, const smx_attention *p,
                           size_t b, size_t head) {
    const size_t L = p->L, d = p->D / p->H, at = b * L * p->stride + head * d;
    head_scratch w = split_scratch(scratch, L, d, 0);
    gather(w.q, q + at, p->stride, L, d, w.dp, p->scale);
    gather_transposed(w.kt, k + at, p->stride, L, w.Lp, d);
    for (size_t i = 0; i < L; i++) {
        const size_t n = visible(p, i);
        row_products(w.s, w.q + i * w.dp, w.kt, &w, 1, n);
        finish_logits(w.s, p, head, i, n);
        const float max = row_max(w.s, n);
        const float inverse = max == -SMX_INF ? 0.0f : 1.0f / exponentials(w.s, n, max);
        for (size_t j = 0; j < L; j++) map[i * L + j] = j < n && inverse != 0.0f ? w.s[j] * inverse : 0.0f;
    }
}
