// linattn.c: causal linear attention (Katharopoulos et al. 2020; CHELA Eqs. 9-12; docs/MECHANISMS.md#linear)
// in blocks of C rows: inside a block the masked product of all pairs, between blocks the state S =
// sum k v^T. C = 1 is the recurrence, C >= L the quadratic form; the three agree to rounding.
//   o_t = S^T q_t + sum_{s <= t in the block} (q_t.k_s) v_s
//   y = o r,  r: 1, 1/rms(o), or 1/(q_t . sum_{s<=t} k_s)
//   da_ts = do_t.v_s + dden_t        dq_t = sum_{s<=t} da_ts k_s
//   dk_s = sum_{t>=s} da_ts q_t      dv_s = sum_{t>=s} a_ts do_t
// Backward makes two passes, forward in time for dq and backward for dk and dv, so no state is kept.
#include "kernels/core/ahead.h"
#include "kernels/attention/attention_rows.h"
#include "linattn_layout.h"

typedef struct {
    size_t C, Cp, d, dp;
    float *q, *k, *v, *kt, *a, *o, *state, *sum, *dout, *vt, *da, *dk, *dv, *back, *dden;
} block_scratch;

static block_scratch split_scratch(void *scratch, const smx_linattn *p, int backward) {
    const linattn_layout a = linattn_layout_of(p, backward);
    float *f = scratch;
    return (block_scratch){a.C,      a.Cp,     a.d,      a.dp,        f + a.q,   f + a.k,    f + a.v,
                           f + a.kt, f + a.a,  f + a.o,  f + a.state, f + a.sum, f + a.dout, f + a.vt,
                           f + a.da, f + a.dk, f + a.dv, f + a.back,  f + a.dden};
}

static float root_reciprocal(float x) {
    float t[16];
    v16_store(t, v16_div(v16_set(1.0f), v16_sqrt(v16_set(x))));
    return t[0];
}

// One head's n rows: where they lie when they fill whole registers, else a padded copy.
typedef struct {
    const float *x;
    size_t ld;
} rows_view;
static rows_view view(float *copy, const float *from, size_t stride, size_t n, const block_scratch *w) {
    if (w->d == w->dp) return (rows_view){from, stride};
    gather(copy, from, stride, n, w->d, w->dp, 1.0f);
    return (rows_view){copy, w->dp};
}

// sum [dp] += weight_t x_t over n rows in order.
static void add_rows(float *sum, rows_view x, const float *weight, size_t n, size_t dp) {
    for (size_t t = 0; t < n; t++)
        for (size_t c = 0; c < dp; c += 16)
            v16_store(sum + c, v16_add(v16_load(sum + c), v16_mul(v16_load(x.x + t * x.ld + c),
                                                                  v16_set(weight ? weight[t] : 1.0f))));
}

// One head's n rows are wanted soon: heads take turns, so a head's rows lie apart, and processors that guess
// what comes next guess this too late. Into the second cache: a block of every array is too much for the
// first.
SMX_INLINE void ask_for(const float *x, size_t stride, size_t n, size_t d) {
#if !defined(__wasm__)
    for (size_t t = 0; t < n; t++)
        for (size_t c = 0; c < d; c += 16) __builtin_prefetch(x + t * stride + c, 0, 2);
#else
    (void)x, (void)stride, (void)n, (void)d;
#endif
}

// Whether it pays: arrays of 256 KiB and more do not stay near anyway.
static int far(const smx_linattn *p) {
    return smx_private_ahead && p->B * p->L * p->stride >= (size_t)1 << 16;
}

// ---- Forward --------------------------------------------------------------------------------------------

static float normaliser(const float *o, const float *a, size_t before, const float *q, const block_scratch *w,
                        const smx_linattn *p) {
    if (p->norm == SMX_LINATTN_RMS) return root_reciprocal(row_dot(o, o, w->d) / (float)w->d + p->eps);
    if (p->norm == SMX_LINATTN_NONE) return 1.0f;
    const float den = row_sum(a, before) + row_dot(q, w->sum, w->d);
    return den < 1.17549435e-38f ? 0.0f : 1.0f / den; // NaN goes the other way and shows
}

static void block_fwd(float *restrict y, float *restrict norm, const float *q, const float *k, const float *v,
                      const block_scratch *w, const smx_linattn *p, size_t n, int first) {
    const size_t d = w->d, dp = w->dp;
    const rows_view qs = view(w->q, q, p->stride, n, w), ks = view(w->k, k, p->stride, n, w),
                    vs = view(w->v, v, p->stride, n, w);
    gather_transposed(w->kt, k, p->stride, n, attention_padded(n), d);
    for (size_t i0 = 0; i0 < n; i0 += QUERY_ROWS) {
        const size_t rows = smx_min(QUERY_ROWS, n - i0);
        triangle_products(w->a, w->Cp, qs.x + i0 * qs.ld, qs.ld, w->kt, rows, d, i0);
        for (size_t r = 0; r < rows; r++)
            clear_after(w->a + r * w->Cp, i0 + r + 1, triangle_end(i0, r, rows));
        if (!first) tile_product(w->o, dp, qs.x + i0 * qs.ld, qs.ld, 1, w->state, dp, rows, dp, d, 0);
        triangle_times(w->o, dp, w->a, w->Cp, vs.x, vs.ld, rows, dp, i0, !first);
        for (size_t r = 0; r < rows; r++) {
            const float *o = w->o + r * dp;
            const float s = normaliser(o, w->a + r * w->Cp, i0 + r + 1, qs.x + (i0 + r) * qs.ld, w, p);
            norm[i0 + r] = s;
            float *to = y + (i0 + r) * p->D;
            V16_MAP(to, d, v16_mul(LOAD(o), v16_set(s)));
        }
    }
    tile_product(w->state, dp, ks.x, 1, ks.ld, vs.x, vs.ld, d, dp, n, 1);
    if (p->norm == SMX_LINATTN_SUM) add_rows(w->sum, ks, NULL, n, dp);
}

// Heads take turns within a block of rows, so that whole rows are read while they are near;
// each has its own state.
static block_scratch of_head(const block_scratch *all, size_t h) {
    block_scratch w = *all;
    w.state += h * w.d * w.dp;
    w.sum += h * w.dp;
    if (w.back) w.back += h * w.d * w.dp;
    return w;
}

SMX_COPY(void, linattn_fwd)
(float *restrict y, float *restrict norm, const float *q, const float *k, const float *v, void *scratch,
 const smx_linattn *p) {
    const block_scratch all = split_scratch(scratch, p, 0);
    const int asking = far(p);
    for (size_t b = 0; b < p->B; b++) {
        zero_from(all.state, 0, p->H * all.d * all.dp);
        zero_from(all.sum, 0, p->H * all.dp);
        for (size_t t = 0; t < p->L; t += all.C)
            for (size_t h = 0; h < p->H; h++) {
                const block_scratch w = of_head(&all, h);
                const size_t row = b * p->L + t, at = row * p->stride + h * w.d;
                if (asking && t + w.C < p->L) {
                    const size_t ahead = w.C * p->stride, n = smx_min(w.C, p->L - t - w.C);
                    ask_for(q + at + ahead, p->stride, n, w.d);
                    ask_for(k + at + ahead, p->stride, n, w.d);
                    ask_for(v + at + ahead, p->stride, n, w.d);
                    ask_for(y + (row + w.C) * p->D + h * w.d, p->D, n, w.d);
                }
                block_fwd(y + row * p->D + h * w.d, norm + (b * p->H + h) * p->L + t, q + at, k + at, v + at,
                          &w, p, smx_min(w.C, p->L - t), t == 0);
            }
    }
}

// Rows `from` .. from + rows - 1 of a block, one after another or some at a time; w's k and v keep the
// block's rows, its state and sum are those before the block until its last row has come.
ATTENTION_PART void block_push(float *restrict y, const float *q, const float *k, const float *v,
                               const block_scratch *w, const smx_linattn *p, size_t from, size_t rows,
                               int first) {
    const size_t d = w->d, dp = w->dp, n = from + rows;
    const rows_view qs = view(w->q, q, p->stride, rows, w);
    gather(w->k + from * dp, k, p->stride, rows, d, dp, 1.0f);
    gather(w->v + from * dp, v, p->stride, rows, d, dp, 1.0f);
    gather_transposed(w->kt, w->k, dp, n, attention_padded(n), d);
    row_products(w->a, w->Cp, qs.x, qs.ld, w->kt, rows, d, 0, n);
    for (size_t r = 0; r < rows; r++) clear_after(w->a + r * w->Cp, from + r + 1, n);
    if (!first) tile_product(w->o, dp, qs.x, qs.ld, 1, w->state, dp, rows, dp, d, 0);
    tile_product(w->o, dp, w->a, w->Cp, 1, w->v, dp, rows, dp, n, !first);
    for (size_t r = 0; r < rows; r++) {
        const float *o = w->o + r * dp;
        const v16 s = v16_set(normaliser(o, w->a + r * w->Cp, from + r + 1, qs.x + r * qs.ld, w, p));
        V16_MAP(y + r * p->D, d, v16_mul(LOAD(o), s));
    }
    if (n < w->C) return;
    tile_product(w->state, dp, w->k, 1, dp, w->v, dp, d, dp, n, 1);
    if (p->norm == SMX_LINATTN_SUM) add_rows(w->sum, (rows_view){w->k, dp}, NULL, n, dp);
}

SMX_COPY(void, linattn_push)
(float *restrict y, float *restrict carried, const float *q, const float *k, const float *v, void *scratch,
 size_t at, size_t rows, const smx_linattn *p) {
    const block_scratch all = split_scratch(scratch, p, 0);
    const linattn_layout l = linattn_layout_of(p, 0);
    for (size_t bh = 0; bh < p->B * p->H; bh++, carried += linattn_carried_floats(&l))
        for (size_t t = 0, n; t < rows; t += n) {
            const size_t from = (at + t) % all.C, row = bh / p->H * rows + t, head = bh % p->H * all.d;
            const size_t i = row * p->stride + head;
            block_scratch w = all;
            n = smx_min(smx_min(QUERY_ROWS, rows - t), all.C - from);
            w.state = carried;
            w.sum = w.state + w.d * w.dp;
            w.k = w.sum + w.dp;
            w.v = w.k + w.C * w.dp;
            block_push(y + row * p->D + head, q + i, k + i, v + i, &w, p, from, n, at + t < all.C);
        }
}

// ---- Backward -------------------------------------------------------------------------------------------

// Gradients of o (in w->dout, or those of y where they are the same) and of the denominators (w->dden) from
// those of y.
static rows_view through_normaliser(const block_scratch *w, const float *dy, const float *y,
                                    const float *norm, const smx_linattn *p, size_t n) {
    if (p->norm == SMX_LINATTN_NONE) {
        zero_from(w->dden, 0, n);
        return view(w->dout, dy, p->D, n, w);
    }
    gather(w->dout, dy, p->D, n, w->d, w->dp, 1.0f);
    for (size_t t = 0; t < n; t++) {
        float *g = w->dout + t * w->dp;
        const float *row = y + t * p->D;
        const float along = row_dot(g, row, w->d);
        w->dden[t] = 0.0f;
        if (p->norm == SMX_LINATTN_RMS) { // do = r (dy - y mean(y.dy))
            const v16 mean = v16_set(along / (float)w->d), s = v16_set(norm[t]);
            V16_MAP(g, w->d, v16_mul(s, v16_sub(LOAD(g), v16_mul(LOAD(row), mean))));
        } else { // y = o r, r = 1/den: do = dy r, dden = -(dy.y) r
            V16_MAP(g, w->d, v16_mul(LOAD(g), v16_set(norm[t])));
            w->dden[t] = -along * norm[t];
        }
    }
    return (rows_view){w->dout, w->dp};
}

// da rows of queries i0..i0+rows-1: do v^T + dden, 0 after the diagonal.
static void score_gradients(const block_scratch *w, rows_view g, size_t i0, size_t rows, int dden) {
    triangle_products(w->da, w->Cp, g.x + i0 * g.ld, g.ld, w->vt, rows, w->d, i0);
    for (size_t r = 0; r < rows; r++) {
        float *da = w->da + r * w->Cp;
        if (dden) V16_MAP(da, i0 + r + 1, v16_add(LOAD(da), v16_set(w->dden[i0 + r])));
        clear_after(da, i0 + r + 1, triangle_end(i0, r, rows));
    }
}

// dq of a block; the state S^T = sum v k^T and the sum of k are those before the block, then include it.
static void block_dq(float *dq, const float *dy, const float *k, const float *v, const float *y,
                     const float *norm, const block_scratch *w, const smx_linattn *p, size_t n, int first) {
    const size_t d = w->d, dp = w->dp;
    const rows_view g = through_normaliser(w, dy, y, norm, p, n), ks = view(w->k, k, p->stride, n, w),
                    vs = view(w->v, v, p->stride, n, w);
    gather_transposed(w->vt, v, p->stride, n, attention_padded(n), d);
    for (size_t i0 = 0; i0 < n; i0 += QUERY_ROWS) {
        const size_t rows = smx_min(QUERY_ROWS, n - i0);
        score_gradients(w, g, i0, rows, p->norm == SMX_LINATTN_SUM);
        if (!first) tile_product(w->o, dp, g.x + i0 * g.ld, g.ld, 1, w->state, dp, rows, dp, d, 0);
        triangle_times(w->o, dp, w->da, w->Cp, ks.x, ks.ld, rows, dp, i0, !first);
        for (size_t r = 0; r < rows; r++) {
            float *to = dq + (i0 + r) * p->stride;
            const float *o = w->o + r * dp;
            V16_MAP(to, d, v16_madd(LOAD(w->sum), v16_set(w->dden[i0 + r]), LOAD(o)));
        }
    }
    tile_product(w->state, dp, vs.x, 1, vs.ld, ks.x, ks.ld, d, dp, n, 1);
    if (p->norm == SMX_LINATTN_SUM) add_rows(w->sum, ks, NULL, n, dp);
}

// dk and dv of a block; the states R = sum q do^T, R^T and u = sum dden q are those after the block, then
// include it.
static void block_dkv(float *dk, float *dv, const float *dy, const float *q, const float *k, const float *v,
                      const float *y, const float *norm, const block_scratch *w, const smx_linattn *p,
                      size_t n, int last) {
    const size_t d = w->d, dp = w->dp;
    const int whole = d == dp; // then dk and dv are summed where they belong
    const rows_view g = through_normaliser(w, dy, y, norm, p, n), qs = view(w->q, q, p->stride, n, w),
                    ks = view(w->k, k, p->stride, n, w), vs = view(w->v, v, p->stride, n, w);
    float *sum_k = whole ? dk : w->dk, *sum_v = whole ? dv : w->dv;
    const size_t ld = whole ? p->stride : dp;
    gather_transposed(w->kt, k, p->stride, n, attention_padded(n), d);
    gather_transposed(w->vt, v, p->stride, n, attention_padded(n), d);
    if (last) {
        for (size_t t = 0; t < n; t++) {
            zero_from(sum_k + t * ld, 0, dp);
            zero_from(sum_v + t * ld, 0, dp);
        }
    } else {
        tile_product(sum_v, ld, ks.x, ks.ld, 1, w->state, dp, n, dp, d, 0);
        tile_product(sum_k, ld, vs.x, vs.ld, 1, w->back, dp, n, dp, d, 0);
        for (size_t t = 0; t < n && p->norm == SMX_LINATTN_SUM; t++)
            add_rows(sum_k + t * ld, (rows_view){w->sum, dp}, NULL, 1, dp);
    }
    for (size_t i0 = 0; i0 < n; i0 += QUERY_ROWS) {
        const size_t rows = smx_min(QUERY_ROWS, n - i0);
        triangle_products(w->a, w->Cp, qs.x + i0 * qs.ld, qs.ld, w->kt, rows, d, i0);
        for (size_t r = 0; r < rows; r++)
            clear_after(w->a + r * w->Cp, i0 + r + 1, triangle_end(i0, r, rows));
        score_gradients(w, g, i0, rows, p->norm == SMX_LINATTN_SUM);
        triangle_transposed_times(sum_v, ld, w->a, w->Cp, g.x + i0 * g.ld, g.ld, rows, dp, i0);
        triangle_transposed_times(sum_k, ld, w->da, w->Cp, qs.x + i0 * qs.ld, qs.ld, rows, dp, i0);
    }
    for (size_t t = 0; t < n && !whole; t++) {
        float *to_k = dk + t * p->stride, *to_v = dv + t * p->stride;
        V16_MAP(to_k, d, LOAD(w->dk + t * dp));
        V16_MAP(to_v, d, LOAD(w->dv + t * dp));
    }
    tile_product(w->state, dp, qs.x, 1, qs.ld, g.x, g.ld, d, dp, n, 1);
    tile_product(w->back, dp, g.x, 1, g.ld, qs.x, qs.ld, d, dp, n, 1);
    if (p->norm == SMX_LINATTN_SUM) add_rows(w->sum, qs, w->dden, n, dp);
}

// What pass `pass` of backward touches of n rows: row `at` of what has the inputs' stride, `at_y` of dy.
SMX_INLINE void ask_for_gradients(float *dq, float *dk, float *dv, const float *dy, const float *q,
                                  const float *k, const float *v, size_t at, size_t at_y, size_t n, size_t d,
                                  int pass, const smx_linattn *p) {
    ask_for(dy + at_y, p->D, n, d);
    ask_for(k + at, p->stride, n, d);
    ask_for(v + at, p->stride, n, d);
    if (pass == 0) {
        ask_for(dq + at, p->stride, n, d);
    } else {
        ask_for(q + at, p->stride, n, d);
        ask_for(dk + at, p->stride, n, d);
        ask_for(dv + at, p->stride, n, d);
    }
}

SMX_COPY(void, linattn_bwd)
(float *dq, float *dk, float *dv, const float *dy, const float *q, const float *k, const float *v,
 const float *y, const float *norm, void *scratch, const smx_linattn *p) {
    const block_scratch all = split_scratch(scratch, p, 1);
    const size_t blocks = p->L ? (p->L + all.C - 1) / all.C : 0;
    const int asking = far(p);
    for (size_t b = 0; b < p->B; b++)
        for (int pass = 0; pass < 2; pass++) {
            zero_from(all.state, 0, p->H * all.d * all.dp);
            zero_from(all.back, 0, p->H * all.d * all.dp);
            zero_from(all.sum, 0, p->H * all.dp);
            for (size_t i = 0; i < blocks * p->H; i++) {
                const size_t block = i / p->H, h = i % p->H, t = (pass ? blocks - 1 - block : block) * all.C;
                const block_scratch w = of_head(&all, h);
                const size_t n = smx_min(w.C, p->L - t), row = b * p->L + t;
                const size_t at = row * p->stride + h * w.d, at_y = row * p->D + h * w.d;
                const float *r = norm + (b * p->H + h) * p->L + t;
                if (asking && block + 1 < blocks) {
                    const size_t then = (pass ? blocks - 2 - block : block + 1) * all.C, to = b * p->L + then;
                    ask_for_gradients(dq, dk, dv, dy, q, k, v, to * p->stride + h * w.d, to * p->D + h * w.d,
                                      smx_min(w.C, p->L - then), w.d, pass, p);
                }
                if (pass == 0)
                    block_dq(dq + at, dy + at_y, k + at, v + at, y + at_y, r, &w, p, n, block == 0);
                else
                    block_dkv(dk + at, dv + at, dy + at_y, q + at, k + at, v + at, y + at_y, r, &w, p, n,
                              block == 0);
            }
        }
}
