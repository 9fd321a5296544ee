// attention_rows.h: the steps that attention.c, attention_maps.c and landmark.c share: gathering one head's rows into padded
// scratch, scores of a group of query rows, and their softmax. What is summed in which order is fixed here.
#ifndef SMX_ATTENTION_ROWS_H
#define SMX_ATTENTION_ROWS_H

#include "attention.h"
#include "tile.h"

#define ATTENTION_PART static __attribute__((unused))

// One head's n rows, padded with zeros to dp columns, times `scale`.
ATTENTION_PART void gather(float *restrict to, const float *from, size_t stride, size_t n, size_t d, size_t dp,
                           float scale) {
    for (size_t t = 0; t < n; t++) {
        for (size_t c = 0; c < d; c++) to[t * dp + c] = from[t * stride + c] * scale;
        for (size_t c = d; c < dp; c++) to[t * dp + c] = 0.0f;
    }
}

// Transposed in panels: to [Lp/TILE_N][d][TILE_N], columns from n on 0.
ATTENTION_PART void gather_transposed(float *restrict to, const float *from, size_t stride, size_t n, size_t Lp,
                                      size_t d) {
    for (size_t j0 = 0; j0 < Lp; j0 += TILE_N)
        for (size_t j = 0; j < TILE_N; j++)
            for (size_t c = 0; c < d; c++)
                to[j0 * d + c * TILE_N + j] = j0 + j < n ? from[(j0 + j) * stride + c] : 0.0f;
}

// rows [count][ld], columns from..to-1 of x [count][d] y^T, y transposed in panels; from is a multiple of 32, and whole
// panels are written.
ATTENTION_PART void row_products(float *rows, size_t ld, const float *x, size_t ldx, const float *yt, size_t count,
                                 size_t d, size_t from, size_t to) {
    for (size_t j = from; j < to; j += TILE_N)
        tile_product(rows + (j - from), ld, x, ldx, 1, yt + j * d, TILE_N, count, TILE_N, d, 0);
}

// Logits of row i in place: s mult + bias over n columns, then -inf up to the next whole group. i counts within the chunk.
ATTENTION_PART void finish_logits(float *s, const smx_attention *p, size_t head, size_t i, size_t n) {
    const size_t table = head * (2 * p->L - 1) + (p->L - 1) - i;
    if (p->mult) V16_MAP(s, n, v16_mul(LOAD(s), LOAD(p->mult + table)));
    if (p->bias) V16_MAP(s, n, v16_add(LOAD(s), LOAD(p->bias + table)));
    for (size_t j = n; j % 16; j++) s[j] = -SMX_INF;
}

// The row's exponentials exp(l - max) in place over whole groups; returns their sum.
ATTENTION_PART float exponentials(float *s, size_t n, float max) {
    v16 sum = v16_set(0.0f), m = v16_set(max);
    for (size_t j = 0; j < n; j += 16) {
        v16 e = v16_softmax_exp(v16_sub(v16_load(s + j), m));
        v16_store(s + j, e);
        sum = v16_add(sum, e);
    }
    return v16_hsum(sum);
}

ATTENTION_PART void zero_from(float *s, size_t from, size_t to) {
    if (from < to) memset(s + from, 0, (to - from) * sizeof *s);
}

// Exponentials of a row of scores over n columns, zeros from there to `columns`; stats (row maximum, 1 / row sum). A row whose
// logits are all -inf becomes 0 with 1 / sum = 0.
ATTENTION_PART void softmax_row(float *s, float *stats, const smx_attention *p, size_t head, size_t i, size_t n,
                                size_t columns) {
    const size_t n16 = smx_round_up(n, 16);
    finish_logits(s, p, head, i, n);
    stats[0] = row_max(s, n);
    if (stats[0] == -SMX_INF) {
        zero_from(s, 0, n16);
        stats[1] = 0.0f;
    } else {
        stats[1] = 1.0f / exponentials(s, n, stats[0]);
    }
    zero_from(s, n16, columns);
}

// The same row again from its saved stats, this time divided by the sum.
ATTENTION_PART void softmax_row_again(float *s, const float *stats, const smx_attention *p, size_t head, size_t i,
                                      size_t n, size_t columns) {
    const size_t n16 = smx_round_up(n, 16);
    const v16 m = v16_set(stats[0]), inverse = v16_set(stats[1]);
    finish_logits(s, p, head, i, n);
    if (stats[1] == 0.0f)
        zero_from(s, 0, n16);
    else
        for (size_t j = 0; j < n16; j += 16)
            v16_store(s + j, v16_mul(v16_softmax_exp(v16_sub(v16_load(s + j), m)), inverse));
    zero_from(s, n16, columns);
}

#endif
