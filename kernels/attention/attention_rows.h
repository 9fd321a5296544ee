// attention_rows.h: the steps that attention.c, attention_maps.c and landmark.c share: gathering one head's
// rows into padded scratch, scores of a group of query rows, and their softmax. What is summed in which order
// is fixed here.
#ifndef SMX_ATTENTION_ROWS_H
#define SMX_ATTENTION_ROWS_H

#include "attention.h"
#include "kernels/core/tile.h"

#if defined(__wasm__) // once a file, for who downloads it
#define ATTENTION_PART static __attribute__((unused, noinline))
#else
#define ATTENTION_PART static __attribute__((unused))
#endif

// One head's n rows, padded with zeros to dp columns, times `scale`.
ATTENTION_PART void gather(float *restrict to, const float *from, size_t stride, size_t n, size_t d,
                           size_t dp, float scale) {
    const v16 s = v16_set(scale);
    for (size_t t = 0; t < n; t++) {
        size_t c = 0;
        for (; c + 16 <= d; c += 16) v16_store(to + t * dp + c, v16_mul(v16_load(from + t * stride + c), s));
        if (c < dp) v16_store(to + t * dp + c, v16_mul(v16_load_n(from + t * stride + c, d - c, 0.0f), s));
    }
}

// Transposed in panels: to [Lp/TILE_N][d][TILE_N], columns from n on 0.
ATTENTION_PART void gather_transposed(float *restrict to, const float *from, size_t stride, size_t n,
                                      size_t Lp, size_t d) {
    for (size_t j = 0; j < Lp; j += 4) {
        float *panel = to + j / TILE_N * TILE_N * d + j % TILE_N;
        const float *rows = from + j * stride;
        size_t c = 0;
        if (j + 4 <= n)
            for (; c + 4 <= d; c += 4) transpose4(panel + c * TILE_N, TILE_N, rows + c, stride);
        for (; c < d; c++)
            for (size_t i = 0; i < 4; i++) panel[c * TILE_N + i] = j + i < n ? rows[i * stride + c] : 0.0f;
    }
}

// s[n..] = fill up to the end of n's group of 16; returns that end.
/*@ requires n <= MOST && \valid(s + (0 .. GROUPS(n) - 1));
    assigns s[0 .. GROUPS(n) - 1];
    ensures \result == GROUPS(n); */
ATTENTION_PART size_t fill_group(float *s, size_t n, float fill) {
    const size_t from = n / 16 * 16;
    if (from == n) return n;
    v16_store(s + from, v16_load_n(s + from, n - from, fill));
    return from + 16;
}
// s[n..columns-1] = 0, and on to the end of the last group of 16.
/*@ requires n <= MOST && columns <= MOST && \valid(s + (0 .. GROUPS(\max(n, columns)) - 1));
    assigns s[0 .. GROUPS(\max(n, columns)) - 1]; */
ATTENTION_PART void clear_after(float *s, size_t n, size_t columns) {
    /*@ loop invariant j % 16 == 0 && j <= GROUPS(\max(n, columns));
        loop assigns j, s[0 .. GROUPS(\max(n, columns)) - 1];
        loop variant columns - j; */
    for (size_t j = fill_group(s, n, 0.0f); j < columns; j += 16) v16_store(s + j, v16_set(0.0f));
}

// rows [count][ld], columns from..to-1 of x [count][d] y^T, y transposed in panels; from is a multiple of 32,
// and whole panels are written.
ATTENTION_PART void row_products(float *rows, size_t ld, const float *x, size_t ldx, const float *yt,
                                 size_t count, size_t d, size_t from, size_t to) {
    for (size_t j = from; j < to; j += TILE_N)
        tile_product(rows + (j - from), ld, x, ldx, 1, yt + j * d, TILE_N, count, TILE_N, d, 0);
}

// The triangle under the diagonal: row r of `count` rows sees columns 0..i0 + r, i0 a multiple of 24. Rows
// are taken TILE_M at a time, so that little above the diagonal is computed; what is left out there are
// products with zeros.
// rows [count][ld] = x y^T; what lies above the diagonal is undefined.
ATTENTION_PART void triangle_products(float *rows, size_t ld, const float *x, size_t ldx, const float *yt,
                                      size_t count, size_t d, size_t i0) {
    for (size_t j = 0; j < i0 + count; j += TILE_N) {
        // From r on rows see this panel; before `wide` they see one register of it.
        const size_t r = j > i0 ? (j - i0) / TILE_M * TILE_M : 0, seen = j + SMX_W > i0 ? j + SMX_W - i0 : 0;
        const size_t wide = smx_min(count, seen / TILE_M * TILE_M);
        if (wide > r)
            tile_product(rows + r * ld + j, ld, x + r * ldx, ldx, 1, yt + j * d, TILE_N, wide - r, SMX_W, d,
                         0);
        const size_t w = wide > r ? wide : r;
        if (count > w)
            tile_product(rows + w * ld + j, ld, x + w * ldx, ldx, 1, yt + j * d, TILE_N, count - w, TILE_N, d,
                         0);
    }
}
// One past the last column that row r is multiplied in below: s must be 0 from its diagonal to there.
ATTENTION_PART size_t triangle_end(size_t i0, size_t r, size_t count) {
    return i0 + smx_min(r / TILE_M * TILE_M + TILE_M, count);
}
// o [count][n] (+)= s y
ATTENTION_PART void triangle_times(float *o, size_t ldo, const float *s, size_t ld, const float *y,
                                   size_t ldy, size_t count, size_t n, size_t i0, int add) {
    for (size_t r = 0; r < count; r += TILE_M)
        tile_product(o + r * ldo, ldo, s + r * ld, ld, 1, y, ldy, smx_min(TILE_M, count - r), n,
                     triangle_end(i0, r, count), add);
}
// out [i0 + count][n] += s^T x
ATTENTION_PART void triangle_transposed_times(float *out, size_t ldo, const float *s, size_t ld,
                                              const float *x, size_t ldx, size_t count, size_t n, size_t i0) {
    if (i0) tile_product(out, ldo, s, 1, ld, x, ldx, i0, n, count, 1);
    for (size_t r = 0; r < count; r += TILE_M)
        tile_product(out + (i0 + r) * ldo, ldo, s + r * ld + i0 + r, 1, ld, x + r * ldx, ldx,
                     smx_min(TILE_M, count - r), n, count - r, 1);
}

// Logits of row i in place: s factor + bias over n columns, -inf before the window, and after them up to the
// next whole group. i counts from the first column, of the chunk or of what the window reaches.
/*@ requires IN_A_ROW(p, head, i, n) && \valid(s + (0 .. GROUPS(n) - 1));
    assigns s[0 .. GROUPS(n) - 1]; */
ATTENTION_PART void finish_logits(float *s, const smx_attention *p, size_t head, size_t i, size_t n) {
    /*@ assert within(head, TABLE(p), p->H); */
    const size_t table = head * (2 * p->L - 1) + (p->L - 1) - i;
    /*@ assert table == head * TABLE(p) + p->L - 1 - i; */
    /*@ assert table + n <= p->H * TABLE(p); */
    if (p->decay_table) V16_MAP(s, n, v16_mul(LOAD(s), LOAD(p->decay_table + table)));
    if (p->bias) V16_MAP(s, n, v16_add(LOAD(s), LOAD(p->bias + table)));
    /*@ loop invariant 0 <= j <= n; loop assigns j, s[0 .. n - 1]; loop variant n - j; */
    for (size_t j = 0; p->sliding && j + p->sliding <= i; j++) s[j] = -SMX_INF;
    fill_group(s, n, -SMX_INF);
}

// exp(s - max) in place over columns from .. n - 1, on to the end of the last group of 16; returns `sum` and
// what they add to it.
/*@ requires n <= MOST && from % 16 == 0 && \valid(s + (0 .. GROUPS(n) - 1));
    assigns s[0 .. GROUPS(n) - 1]; */
SMX_INLINE v16 add_exponentials(v16 sum, float *s, size_t from, size_t n, v16 max) {
    size_t j = from;
    /*@ loop invariant j == from; loop assigns j, sum, s[0 .. GROUPS(n) - 1]; loop variant n - j; */
    for (; SMX_EXPS > 1 && j + 16 * SMX_EXPS <= n; j += 16 * SMX_EXPS) {
        v16 e[SMX_EXPS];
        /*@ loop invariant 0 <= i <= SMX_EXPS;
            loop assigns i, e[0 .. SMX_EXPS - 1];
            loop variant SMX_EXPS - i; */
        SMX_UNROLL for (size_t i = 0; i < SMX_EXPS; i++) e[i] = v16_sub(v16_load(s + j + 16 * i), max);
        v16_softmax_exps(e);
        /*@ loop invariant 0 <= i <= SMX_EXPS;
            loop assigns i, sum, s[0 .. GROUPS(n) - 1];
            loop variant SMX_EXPS - i; */
        SMX_UNROLL for (size_t i = 0; i < SMX_EXPS; i++) {
            v16_store(s + j + 16 * i, e[i]);
            sum = v16_add(sum, e[i]);
        }
    }
    /*@ loop invariant j % 16 == 0 && from <= j;
        loop assigns j, sum, s[0 .. GROUPS(n) - 1];
        loop variant n - j; */
    for (; j < n; j += 16) {
        v16 e = v16_softmax_exp(v16_sub(v16_load(s + j), max));
        v16_store(s + j, e);
        sum = v16_add(sum, e);
    }
    return sum;
}
// The row's exponentials in place; returns their sum.
/*@ requires n <= MOST && \valid(s + (0 .. GROUPS(n) - 1));
    assigns s[0 .. GROUPS(n) - 1]; */
ATTENTION_PART float exponentials(float *s, size_t n, float max) {
    return v16_hsum(add_exponentials(v16_set(0.0f), s, 0, n, v16_set(max)));
}

/*@ requires to <= MOST && \valid(s + (0 .. to - 1));
    assigns s[0 .. to - 1]; */
ATTENTION_PART void zero_from(float *s, size_t from, size_t to) {
    if (from < to) memset(s + from, 0, (to - from) * sizeof *s);
}

// A row of logits, n a multiple of 16, whose maximum is -inf becomes 0; returns its 1 / sum: 0, but NaN where
// a logit is NaN, which maxima pass over.
/*@ requires n <= MOST && \valid(s + (0 .. n - 1));
    assigns s[0 .. n - 1]; */
ATTENTION_PART float without_maximum(float *s, size_t n) {
    const float all = row_sum(s, n);
    zero_from(s, 0, n);
    return all == -SMX_INF ? 0.0f : SMX_NAN;
}

// Exponentials of a row of scores over n columns, zeros from there to `columns`; stats (row maximum, 1 / row
// sum). A row whose logits are all -inf becomes 0 with 1 / sum = 0.
/*@ requires IN_A_ROW(p, head, i, n) && columns <= MOST && \valid(s + (0 .. GROUPS(\max(n, columns)) - 1));
    requires \valid(stats + (0 .. 1));
    assigns s[0 .. GROUPS(\max(n, columns)) - 1], stats[0 .. 1]; */
ATTENTION_PART void softmax_row(float *s, float *stats, const smx_attention *p, size_t head, size_t i,
                                size_t n, size_t columns) {
    const size_t n16 = smx_round_up(n, 16);
    finish_logits(s, p, head, i, n);
    stats[0] = row_max(s, n16);
    stats[1] = stats[0] == -SMX_INF ? without_maximum(s, n16) : 1.0f / exponentials(s, n, stats[0]);
    clear_after(s, n16, columns);
}

// The same row again from its saved stats, this time divided by the sum.
/*@ requires IN_A_ROW(p, head, i, n) && columns <= MOST && \valid(s + (0 .. GROUPS(\max(n, columns)) - 1));
    requires \valid_read(stats + (0 .. 1));
    assigns s[0 .. GROUPS(\max(n, columns)) - 1]; */
ATTENTION_PART void softmax_row_again(float *s, const float *stats, const smx_attention *p, size_t head,
                                      size_t i, size_t n, size_t columns) {
    const size_t n16 = smx_round_up(n, 16);
    const v16 m = v16_set(stats[0]), inverse = v16_set(stats[1]);
    finish_logits(s, p, head, i, n);
    if (stats[1] == 0.0f)
        zero_from(s, 0, n16);
    else
        /*@ loop invariant j % 16 == 0 && 0 <= j <= n16;
            loop assigns j, s[0 .. n16 - 1];
            loop variant n16 - j; */
        for (size_t j = 0; j < n16; j += 16)
            v16_store(s + j, v16_mul(v16_softmax_exp(v16_sub(v16_load(s + j), m)), inverse));
    clear_after(s, n16, columns);
}

#endif
