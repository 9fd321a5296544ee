// attention.c: softmax attention, forward and backward, one head of one chunk at a time, QUERY_ROWS query
// rows at a time: scores [QUERY_ROWS][n] in scratch, never n x n, and under the causal mask only the columns
// up to the group's end.
//   s = scale q.k   l = s factor + bias   p = exp(l - max)/sum   o = p v
//   dv = p^T do   dp = do v^T   dl = p (dp - do.o)   ds = dl factor   dq = scale ds k   dk = ds^T (scale q)
// Masked pooling of window P, h = (P-1)/2 (docs/MECHANISMS.md#las): column c <= i - h meets the mean of v
// over its whole window, which ends by row i. The last h columns see less of theirs: with u_r = (1/P) sum of
// p_c over the near c <= min(i, r + h), they add sum u_r v_r over r <= i. Sums run from the edges, so that
// nothing is subtracted and no later row is touched. Longer than 400 lines: whole sequences, rows one by one,
// gradients and maps share its scratch.
#include "attention_row.h"
#include "attention_rows.h"

// Beside the inner loops: in a module that is downloaded as small as they can be, and once.
#if defined(__wasm__) && defined(__clang__)
#define BESIDE static __attribute__((minsize, noinline))
#else
#define BESIDE static
#endif

typedef struct {
    attention_layout at;
    size_t n, Lp, d, dp, half, band;
    float *q, *kt, *v, *s, *o, *pooled, *near, *stats, *k, *dout, *vt, *ds, *raw_vt, *dpooled, *dnear;
    float share; // 1/P
} head_scratch;

static head_scratch split_scratch(void *scratch, const smx_attention *p, int what) {
    const attention_layout a = attention_layout_of(p, what);
    float *base = scratch;
    // clang-format off
    return (head_scratch){a, a.n, a.Lp, a.d, a.dp, a.half, a.band, base + a.q, base + a.kt, base + a.v, base + a.s, base + a.o,
                          base + a.pooled, base + a.near, base + a.stats, base + a.k, base + a.dout, base + a.vt, base + a.ds,
                          base + a.raw_vt, base + a.dpooled, base + a.dnear, p->pool_window ? 1.0f / (float)p->pool_window : 0.0f};
    // clang-format on
}

// The first column that the group of query rows from i0 on reaches: whole panels at every width, so that
// lanes do not hang on it.
static size_t first_column(const smx_attention *p, size_t i0) {
    return p->sliding && i0 + 1 > p->sliding ? (i0 + 1 - p->sliding) / KEPT_ROWS * KEPT_ROWS : 0;
}
static size_t visible(const smx_attention *p, size_t i, size_t n) { return p->causal ? i + 1 : n; }

// ---- Masked pooling -------------------------------------------------------------------------------------

static size_t near_first(size_t i, size_t half) { return i + 1 > half ? i + 1 - half : 0; }
static size_t less(size_t a, size_t b) { return a > b ? a - b : 0; }
// First column of the rows of near weights for the group that starts at row i0.
static size_t band_base(size_t i0, size_t half) { return less(i0 + 1, 2 * half) / 32 * 32; }

// y = share sum over |r| <= half of x_{c+r}
BESIDE void pool_row(float *restrict y, const float *x, const head_scratch *w, size_t c) {
    for (size_t e = 0; e < w->dp; e += 16) {
        v16 sum = v16_set(0.0f);
        for (size_t r = less(c, w->half); r <= c + w->half; r++)
            sum = v16_add(sum, v16_load(x + r * w->dp + e));
        v16_store(y + e, v16_mul(sum, v16_set(w->share)));
    }
}
// y_c for c + half < n; zero rows after that. x, y [n][dp].
BESIDE void pool_rows(float *restrict y, const float *x, const head_scratch *w, size_t n) {
    for (size_t c = 0; c < n; c++)
        if (c + w->half < n)
            pool_row(y + c * w->dp, x, w, c);
        else
            memset(y + c * w->dp, 0, w->dp * sizeof *y);
}
// dx_r += share sum of dy_c over |c - r| <= half, c + half < n.
BESIDE void pool_rows_back(float *dx, size_t stride, const float *dy, const head_scratch *w, size_t n) {
    for (size_t r = 0; r < n; r++) {
        const size_t end = smx_min(less(n, w->half), r + w->half + 1);
        for (size_t e = 0; e < w->d; e += 16) {
            v16 sum = v16_set(0.0f);
            for (size_t c = less(r, w->half); c < end; c++) sum = v16_add(sum, v16_load(dy + c * w->dp + e));
            v16_accumulate(dx + r * stride + e, v16_mul(sum, v16_set(w->share)), smx_min(16, w->d - e));
        }
    }
}

// Moves the weights of the near columns of row i out of s into u (entry r - base belongs to row r).
BESIDE void near_weights(float *u, float *s, const head_scratch *w, size_t i, size_t base) {
    const size_t half = w->half, c0 = near_first(i, half);
    float sum = 0.0f;
    memset(u, 0, w->band * sizeof *u);
    for (size_t c = c0; c <= i; c++) {
        sum += s[c];
        if (c < i && c >= half) u[c - half - base] = sum * w->share;
        s[c] = 0.0f;
    }
    for (size_t r = less(i, half); r <= i; r++) u[r - base] = sum * w->share;
}
// dp of the near columns from g_r = do . v_r (entry r - base).
BESIDE void near_gradient(float *dp, const float *g, const head_scratch *w, size_t i, size_t base) {
    const size_t half = w->half, c0 = near_first(i, half);
    float sum = 0.0f;
    for (size_t r = i + 1; r-- > less(i, half);) sum += g[r - base];
    dp[i] = sum * w->share;
    for (size_t c = i; c-- > c0;) {
        if (c >= half) sum += g[c - half - base];
        dp[c] = sum * w->share;
    }
}

// ---- Weights of a row -----------------------------------------------------------------------------------

// Scores of a row through a tanh; what stands in ds (or NULL), gradients behind it, through its slope.
BESIDE void cap_row(float *s, float *ds, size_t n, float cap) {
    const v16 a = v16_set(cap), one = v16_set(1.0f);
    for (size_t j = 0; j < n; j += 16) {
        const v16 t = v16_tanh(v16_div(v16_load(s + j), a));
        v16_store(s + j, v16_mul(a, t));
        if (ds) v16_store(ds + j, v16_mul(v16_load(ds + j), v16_mul(v16_sub(one, t), v16_add(one, t))));
    }
}
BESIDE void sigmoid_row(float *s, const smx_attention *p, size_t head, size_t i, size_t n, size_t columns) {
    finish_logits(s, p, head, i, n);
    for (size_t j = 0; j < n; j += 16) v16_store(s + j, v16_sigmoid(v16_load(s + j)));
    clear_after(s, smx_round_up(n, 16), columns);
}
// The sink's weight joins the sum of a row.
BESIDE void add_sink(float *stats) {
    float sink[16];
    v16_store(sink, v16_exp(v16_set(-stats[0])));
    stats[1] = 1.0f / (1.0f / stats[1] + sink[0]);
}
// As softmax_row, of any score.
static void score_row(float *s, float *stats, const smx_attention *p, size_t head, size_t i, size_t n,
                      size_t columns) {
    if (p->cap > 0.0f) cap_row(s, NULL, n, p->cap);
    if (p->score == SMX_SCORE_SIGMOID) {
        sigmoid_row(s, p, head, i, n, columns);
        stats[0] = 0.0f, stats[1] = 1.0f;
        return;
    }
    softmax_row(s, stats, p, head, i, n, columns);
    if (p->score == SMX_SCORE_SINK && stats[1] > 0.0f) add_sink(stats);
}

// ---- Forward --------------------------------------------------------------------------------------------
// One head of one chunk: q, k, v point at its first row and column, o likewise (row stride D).

static void chunk_fwd(float *restrict o, float *restrict stats, const float *q, const float *k,
                      const float *v, const head_scratch *w, const smx_attention *p, size_t head, size_t n) {
    const size_t d = w->d, dp = w->dp;
    const int whole = d == dp && !w->half; // whole registers: v and o are used where they lie
    gather(w->q, q, p->stride, n, d, dp, p->scale);
    gather_transposed(w->kt, k, p->stride, n, w->Lp, d);
    if (!whole) gather(w->v, v, p->stride, n, d, dp, 1.0f);
    if (w->half) pool_rows(w->pooled, w->v, w, n);
    const float *values = whole ? v : w->half ? w->pooled : w->v;
    const size_t ldv = whole ? p->stride : dp;
    for (size_t i0 = 0; i0 < n; i0 += QUERY_ROWS) {
        const size_t rows = smx_min(QUERY_ROWS, n - i0), columns = visible(p, i0 + rows - 1, n);
        const size_t base = band_base(i0, w->half), ldo = whole ? p->D : dp, lo = first_column(p, i0);
        float *out = whole ? o + i0 * p->D : w->o;
        if (p->causal)
            triangle_products(w->s, w->Lp, w->q + i0 * dp, dp, w->kt + lo * d, rows, d, i0 - lo);
        else
            row_products(w->s, w->Lp, w->q + i0 * dp, dp, w->kt, rows, d, 0, columns);
        for (size_t r = 0; r < rows; r++) {
            float *s = w->s + r * w->Lp;
            score_row(s, stats + (i0 + r) * 2, p, head, i0 + r - lo, visible(p, i0 + r, n) - lo,
                      p->causal ? triangle_end(i0 - lo, r, rows) : columns);
            if (w->half) near_weights(w->near + r * w->band, s, w, i0 + r, base);
        }
        if (p->causal)
            triangle_times(out, ldo, w->s, w->Lp, values + lo * ldv, ldv, rows, dp, i0 - lo, 0);
        else
            tile_product(out, ldo, w->s, w->Lp, 1, values, ldv, rows, dp, columns, 0);
        if (w->half)
            tile_product(w->o, dp, w->near, w->band, 1, w->v + base * dp, dp, rows, dp, columns - base, 1);
        for (size_t r = 0; r < rows; r++) {
            const v16 inverse = v16_set(stats[(i0 + r) * 2 + 1]);
            float *to = o + (i0 + r) * p->D;
            V16_MAP(to, d, v16_mul(LOAD(out + r * ldo), inverse));
        }
    }
}

SMX_COPY(void, attention_fwd)
(float *restrict o, float *restrict stats, const float *q, const float *k, const float *v, void *scratch,
 const smx_attention *p) {
    const size_t L = p->L, M = attention_rows(p);
    const head_scratch w = split_scratch(scratch, p, ATTENTION_FORWARD);
    for (size_t bh = 0; bh < p->B * p->H; bh++)
        for (size_t t = 0; t < L; t += M) {
            const size_t row = bh / p->H * L + t, head = bh % p->H, at = row * p->stride + head * w.d;
            chunk_fwd(o + row * p->D + head * w.d, stats + (bh * L + t) * 2, q + at, k + at, v + at, &w, p,
                      head, smx_min(M, L - t));
        }
}

// ---- Row by row -----------------------------------------------------------------------------------------
// What one head keeps of its chunk or window: k transposed in panels of 32 rows at every width, v, v pooled.

BESIDE void keep_rows(float *keys, const float *k, size_t stride, size_t i, size_t rows, size_t d) {
    for (size_t t = i; t < i + rows; t++)
        for (size_t c = 0; c < d; c++)
            keys[t / KEPT_ROWS * KEPT_ROWS * d + c * KEPT_ROWS + t % KEPT_ROWS] = k[(t - i) * stride + c];
}
// s [rows] of columns from .. end - 1. One row alone waits for each of its additions: panels go side by side.
BESIDE void kept_products(float *s, const head_scratch *w, const float *keys, size_t rows, size_t from,
                          size_t end) {
    const size_t d = w->d;
    size_t j = from;
#if !defined(__wasm__)
    for (; rows == 1 && d <= SMX_KC && j < end; j += SIDE * KEPT_ROWS) {
        const size_t left = (end - j + KEPT_ROWS - 1) / KEPT_ROWS;
        if (left >= 4)
            panel_products(s + j - from, w->q, keys + j * d, d, 4);
        else if (left == 3)
            panel_products(s + j - from, w->q, keys + j * d, d, 3);
        else if (left == 2)
            panel_products(s + j - from, w->q, keys + j * d, d, 2);
        else
            panel_products(s + j - from, w->q, keys + j * d, d, 1);
    }
#endif
    for (; j < end; j += KEPT_ROWS)
        tile_product(s + j - from, w->Lp, w->q, w->dp, 1, keys + j * d, KEPT_ROWS, rows, KEPT_ROWS, d, 0);
}
// o [rows][dp] = s values over n columns, of one row the blocks of a sum side by side, added up in order.
BESIDE void weigh_values(float *o, const float *weights, const head_scratch *w, const float *values,
                         size_t rows, size_t n) {
    const size_t dp = w->dp;
#if !defined(__wasm__)
    if (rows == 1 && n > SMX_KC) {
        for (size_t c = 0; c < dp; c += 16)
            for (size_t k0 = 0; k0 < n; k0 += SIDE * SMX_KC) {
                v16 sum[SIDE];
                const size_t blocks = smx_min(SIDE, (n - k0 + SMX_KC - 1) / SMX_KC);
                const size_t last = smx_min(SMX_KC, n - k0 - (blocks - 1) * SMX_KC);
                const float *s = weights + k0, *v = values + k0 * dp + c;
                if (blocks == 4)
                    weigh_side_by_side(sum, s, v, dp, last, 4);
                else if (blocks == 3)
                    weigh_side_by_side(sum, s, v, dp, last, 3);
                else if (blocks == 2)
                    weigh_side_by_side(sum, s, v, dp, last, 2);
                else
                    weigh_side_by_side(sum, s, v, dp, last, 1);
                for (size_t b = 0; b < blocks; b++)
                    v16_store(o + c, k0 + b ? v16_add(v16_load(o + c), sum[b]) : sum[b]);
            }
        return;
    }
#endif
    tile_product(o, dp, weights, w->Lp, 1, values, dp, rows, dp, n, 0);
}
// Rows i .. i + rows - 1 of a chunk, of one group of QUERY_ROWS; all before them are kept.
BESIDE void push_group(float *restrict o, const float *q, const float *k, const float *v, float *kept,
                       const head_scratch *w, const smx_attention *p, size_t head, size_t i, size_t rows) {
    const size_t d = w->d, dp = w->dp, i0 = i / QUERY_ROWS * QUERY_ROWS, lo = first_column(p, i0);
    const size_t columns = i + rows, base = band_base(i0, w->half);
    float *keys = kept, *values = keys + w->Lp * d, *pooled = w->half ? values + w->Lp * dp : values;
    keep_rows(keys, k, p->stride, i, rows, d);
    gather(values + i * dp, v, p->stride, rows, d, dp, 1.0f);
    for (size_t t = i; t < columns && w->half; t++)
        if (t >= w->half) pool_row(pooled + (t - w->half) * dp, values, w, t - w->half);
    gather(w->q, q, p->stride, rows, d, dp, p->scale);
    kept_products(w->s, w, keys, rows, lo, columns);
    for (size_t r = 0; r < rows; r++) {
        float *s = w->s + r * w->Lp;
        score_row(s, w->stats + r * 2, p, head, i + r - lo, i + r + 1 - lo, columns - lo);
        if (w->half) near_weights(w->near + r * w->band, s, w, i + r, base);
    }
    weigh_values(w->o, w->s, w, pooled + lo * dp, rows, columns - lo);
    if (w->half)
        tile_product(w->o, dp, w->near, w->band, 1, values + base * dp, dp, rows, dp, columns - base, 1);
    for (size_t r = 0; r < rows; r++) {
        const v16 inverse = v16_set(w->stats[r * 2 + 1]);
        V16_MAP(o + r * p->D, d, v16_mul(LOAD(w->o + r * dp), inverse));
    }
}
#if SMX_W == 16
// push_group for row i alone, of all heads of a sequence, where no row of the chunk is left out or pooled.
static void push_row(float *restrict o, const float *q, const float *k, const float *v, float *kept,
                     const head_scratch *w, const smx_attention *p, size_t i) {
    const size_t d = w->d, dp = w->dp, n = i + 1, n16 = smx_round_up(n, 16);
    exponents before = {.s = NULL};
    const float *values = NULL; // of the head before, too
    v16 part[4];
    for (size_t h = 0; h < p->H; h++) {
        float *keys = kept + h * attention_kept_floats(&w->at);
        keep_rows(keys, k + h * d, p->stride, i, 1, d);
        gather(keys + w->Lp * d + i * dp, v + h * d, p->stride, 1, d, dp, 1.0f);
    }
    for (size_t h = 0; h <= p->H; h++, kept += attention_kept_floats(&w->at)) {
        float *s = w->s + h % 2 * w->Lp;
        size_t done = 0;
        if (h < p->H) {
            gather(w->q, q + h * d, p->stride, 1, d, dp, p->scale);
            if (h) done = keys_beside(s, w->q, kept, w->o, part, values, d, n, &before);
            kept_products(s + done, w, kept, 1, done, n);
        }
        if (h) {
            before.sum = add_exponentials(before.sum, before.s, before.at, n, before.max);
            if (done)
                weigh_left(w->o, part, before.s, values, done, n, d);
            else
                weigh_values(w->o, before.s, w, values, 1, n);
            const float sum = v16_hsum(before.sum); // 0: every score is -inf
            const v16 inverse = v16_set(sum == 0.0f ? 0.0f : 1.0f / sum);
            V16_MAP(o + (h - 1) * d, d, v16_mul(LOAD(w->o), inverse));
        }
        if (h < p->H) {
            finish_logits(s, p, h, i, n);
            const float max = row_max(s, n16);
            before = (exponents){.s = s, .max = v16_set(max == -SMX_INF ? 0.0f : max)};
            values = kept + w->Lp * d;
        }
    }
}
#endif
// Under a sliding window: the last `window` rows move down, as whole panels lie.
BESIDE void slide(float *kept, const head_scratch *w, size_t window) {
    const size_t keys = window * w->d, values = window * w->dp;
    float *v = kept + w->Lp * w->d;
    memcpy(kept, kept + keys, keys * sizeof *kept);
    memcpy(v, v + values, values * sizeof *v);
}
SMX_COPY(void, attention_push)
(float *restrict o, float *restrict kept, const float *q, const float *k, const float *v, void *scratch,
 size_t at, size_t rows, const smx_attention *p) {
    const head_scratch w = split_scratch(scratch, p, ATTENTION_PUSH);
    const size_t window = attention_window(p), M = window ? w.n : attention_rows(p);
#if SMX_W == 16
    if (rows == 1 && !p->sliding && !w.half && w.d <= SMX_KC && !p->score && p->cap == 0.0f) {
        const size_t sequence = p->H * attention_kept_floats(&w.at);
        for (size_t b = 0; b < p->B; b++, kept += sequence)
            push_row(o + b * p->D, q + b * p->stride, k + b * p->stride, v + b * p->stride, kept, &w, p,
                     at % M);
        return;
    }
#endif
    for (size_t bh = 0; bh < p->B * p->H; bh++, kept += attention_kept_floats(&w.at))
        for (size_t t = 0, n; t < rows; t += n) {
            const size_t now = at + t, i = window && now >= M ? window + now % window : now % M;
            if (window && now >= M && i == window) slide(kept, &w, window);
            const size_t row = bh / p->H * rows + t, head = bh % p->H;
            const size_t from = row * p->stride + head * w.d;
            n = smx_min(smx_min(QUERY_ROWS - i % QUERY_ROWS, rows - t), M - i);
            push_group(o + row * p->D + head * w.d, q + from, k + from, v + from, kept, &w, p, head, i, n);
        }
}

// ---- Backward -------------------------------------------------------------------------------------------

static void zero_rows(float *x, size_t stride, size_t n, size_t d) {
    for (size_t t = 0; t < n; t++) memset(x + t * stride, 0, d * sizeof *x);
}

static void chunk_bwd(float *dq, float *dk, float *dv, const float *dout, const float *q, const float *k,
                      const float *v, const float *o, const float *stats, const head_scratch *w,
                      const smx_attention *p, size_t head, size_t n) {
    const size_t d = w->d, dp = w->dp, stride = p->stride;
    const int whole = d == dp; // whole registers: k and dout are used where they lie
    gather(w->q, q, stride, n, d, dp, p->scale);
    if (!whole) {
        gather(w->k, k, stride, n, d, dp, 1.0f);
        gather(w->dout, dout, p->D, n, d, dp, 1.0f);
    }
    const float *keys = whole ? k : w->k, *g = whole ? dout : w->dout;
    const size_t ldk = whole ? stride : dp, ldg = whole ? p->D : dp;
    gather_transposed(w->kt, k, stride, n, w->Lp, d);
    if (w->half) {
        gather(w->v, v, stride, n, d, dp, 1.0f);
        gather_transposed(w->raw_vt, v, stride, n, w->Lp, d);
        pool_rows(w->pooled, w->v, w, n);
        gather_transposed(w->vt, w->pooled, dp, n, w->Lp, d);
        zero_from(w->dpooled, 0, n * dp);
    } else {
        gather_transposed(w->vt, v, stride, n, w->Lp, d);
    }
    zero_rows(dk, stride, n, d);
    zero_rows(dv, stride, n, d);
    for (size_t i0 = 0; i0 < n; i0 += QUERY_ROWS) {
        const size_t rows = smx_min(QUERY_ROWS, n - i0), columns = visible(p, i0 + rows - 1, n);
        const size_t base = band_base(i0, w->half), lo = first_column(p, i0), behind = i0 - lo;
        const float *gi = g + i0 * ldg;
        if (p->causal) {
            triangle_products(w->s, w->Lp, w->q + i0 * dp, dp, w->kt + lo * d, rows, d, behind);
            triangle_products(w->ds, w->Lp, gi, ldg, w->vt + lo * d, rows, d, behind);
        } else {
            row_products(w->s, w->Lp, w->q + i0 * dp, dp, w->kt, rows, d, 0, columns);
            row_products(w->ds, w->Lp, gi, ldg, w->vt, rows, d, 0, columns);
        }
        if (w->half) row_products(w->dnear, w->band, gi, ldg, w->raw_vt, rows, d, base, columns);
        for (size_t r = 0; r < rows; r++) {
            const size_t i = i0 + r, m = visible(p, i, n) - lo,
                         end = p->causal ? triangle_end(behind, r, rows) : columns;
            float *s = w->s + r * w->Lp, *ds = w->ds + r * w->Lp;
            v16 delta = v16_set(row_dot(dout + i * p->D, o + i * p->D, d));
            if (w->half) near_gradient(ds, w->dnear + r * w->band, w, i, base);
            clear_after(ds, m, end);
            if (p->score == SMX_SCORE_SIGMOID) delta = v16_set(0.0f);
            if (p->cap > 0.0f) {
                for (size_t j = 0; j < m; j += 16) v16_store(ds + j, v16_sub(v16_load(ds + j), delta));
                delta = v16_set(0.0f);
                cap_row(s, ds, m, p->cap);
            }
            if (p->score == SMX_SCORE_SIGMOID) {
                sigmoid_row(s, p, head, i - lo, m, end);
                for (size_t j = 0; j < m; j += 16)
                    v16_store(ds + j, v16_mul(v16_load(ds + j), v16_sub(v16_set(1.0f), v16_load(s + j))));
            } else {
                softmax_row_again(s, stats + i * 2, p, head, i - lo, m, end);
            }
            for (size_t j = 0; j < m; j += 16)
                v16_store(ds + j, v16_mul(v16_load(s + j), v16_sub(v16_load(ds + j), delta)));
            if (p->decay_table) {
                const float *factor = p->decay_table + head * (2 * p->L - 1) + (p->L - 1) - i + lo;
                V16_MAP(ds, m, v16_mul(LOAD(ds), LOAD(factor)));
            }
            if (w->half) near_weights(w->near + r * w->band, s, w, i, base);
        }
        if (w->half) {
            triangle_transposed_times(w->dpooled, dp, w->s, w->Lp, gi, ldg, rows, dp, i0);
            tile_product(dv + base * stride, stride, w->near, 1, w->band, gi, ldg, columns - base, d, rows,
                         1);
        } else if (p->causal) {
            triangle_transposed_times(dv + lo * stride, stride, w->s, w->Lp, gi, ldg, rows, d, behind);
        } else {
            tile_product(dv, stride, w->s, 1, w->Lp, gi, ldg, columns, d, rows, 1);
        }
        if (p->causal) {
            triangle_transposed_times(dk + lo * stride, stride, w->ds, w->Lp, w->q + i0 * dp, dp, rows, d,
                                      behind);
            triangle_times(w->o, dp, w->ds, w->Lp, keys + lo * ldk, ldk, rows, dp, behind, 0);
        } else {
            tile_product(dk, stride, w->ds, 1, w->Lp, w->q + i0 * dp, dp, columns, d, rows, 1);
            tile_product(w->o, dp, w->ds, w->Lp, 1, keys, ldk, rows, dp, columns, 0);
        }
        for (size_t r = 0; r < rows; r++) {
            const v16 scale = v16_set(p->scale);
            float *to = dq + (i0 + r) * stride;
            V16_MAP(to, d, v16_mul(LOAD(w->o + r * dp), scale));
        }
    }
    if (w->half) pool_rows_back(dv, stride, w->dpooled, w, n);
}

SMX_COPY(void, attention_bwd)
(float *dq, float *dk, float *dv, const float *dout, const float *q, const float *k, const float *v,
 const float *o, const float *stats, void *scratch, const smx_attention *p) {
    const size_t L = p->L, M = attention_rows(p);
    const head_scratch w = split_scratch(scratch, p, ATTENTION_BACKWARD);
    for (size_t bh = 0; bh < p->B * p->H; bh++)
        for (size_t t = 0; t < L; t += M) {
            const size_t row = bh / p->H * L + t, head = bh % p->H, at = row * p->stride + head * w.d;
            const size_t at_o = row * p->D + head * w.d;
            chunk_bwd(dq + at, dk + at, dv + at, dout + at_o, q + at, k + at, v + at, o + at_o,
                      stats + (bh * L + t) * 2, &w, p, head, smx_min(M, L - t));
        }
}

// ---- Looking --------------------------------------------------------------------------------------------

// The pooled row: A'_ic' sums A_ic over the windows that reach c'. Written as printed, O(L P) a row.
BESIDE void pool_map_row(float *to, const float *s, const head_scratch *w, size_t i) {
    for (size_t c = 0; c <= i; c++) {
        float sum = 0.0f;
        for (size_t m = less(c, w->half); m <= i && m <= c + w->half; m++) sum += s[m];
        to[c] = sum * w->share;
    }
}

SMX_COPY(void, attention_map)
(float *restrict map, const float *q, const float *k, void *scratch, const smx_attention *p, size_t b,
 size_t head) {
    const size_t L = p->L, M = attention_rows(p);
    const head_scratch w = split_scratch(scratch, p, ATTENTION_FORWARD);
    memset(map, 0, L * L * sizeof *map);
    for (size_t t = 0; t < L; t += M) {
        const size_t n = smx_min(M, L - t), at = (b * L + t) * p->stride + head * w.d;
        gather(w.q, q + at, p->stride, n, w.d, w.dp, p->scale);
        gather_transposed(w.kt, k + at, p->stride, n, w.Lp, w.d);
        for (size_t i = 0; i < n; i++) {
            const size_t m = visible(p, i, n);
            float stats[2], *row = map + (t + i) * L + t;
            row_products(w.s, w.Lp, w.q + i * w.dp, w.dp, w.kt, 1, w.d, 0, m);
            score_row(w.s, stats, p, head, i, m, m);
            for (size_t j = 0; j < m; j++) w.s[j] *= stats[1];
            if (w.half)
                pool_map_row(row, w.s, &w, i);
            else
                memcpy(row, w.s, m * sizeof *row);
        }
    }
}
