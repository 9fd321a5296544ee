// attention_row.h: one row of queries beside all that attention keeps. The sums are tile.h's in their order,
// but one row would wait for each of its additions: panels of keys, and blocks of a sum of values, go side
// by side; with 512 bits one head's softmax and values go between the keys of the next. In modules that are
// downloaded the tile does it.
#ifndef SMX_ATTENTION_ROW_H
#define SMX_ATTENTION_ROW_H

#include "attention_rows.h"

#if !defined(__wasm__)
enum { SIDE = 4 }; // panels of keys, or blocks of a sum of values, that go side by side
// What channels from .. to - 1 add to the products of one row and the keys of `panels` panels
SMX_INLINE void add_channels(v16 (*sum)[2], const float *q, const float *keys, size_t d, size_t from,
                             size_t to, const size_t panels) {
    for (size_t c = from; c < to; c++) {
        const v16 x = v16_set(q[c]);
        SMX_UNROLL for (size_t b = 0; b < panels; b++) {
            const float *k = keys + b * KEPT_ROWS * d + c * KEPT_ROWS;
            sum[b][0] = v16_madd(x, v16_load(k), sum[b][0]);
            sum[b][1] = v16_madd(x, v16_load(k + 16), sum[b][1]);
        }
    }
}
SMX_INLINE void store_panels(float *s, v16 (*sum)[2], const size_t panels) {
    SMX_UNROLL for (size_t b = 0; b < panels; b++) {
        v16_store(s + b * KEPT_ROWS, sum[b][0]);
        v16_store(s + b * KEPT_ROWS + 16, sum[b][1]);
    }
}
// s of one row and the keys of `panels` panels
SMX_INLINE void panel_products(float *s, const float *q, const float *keys, size_t d, const size_t panels) {
    v16 sum[SIDE][2];
    SMX_UNROLL for (size_t b = 0; b < panels; b++) sum[b][0] = sum[b][1] = v16_set(0.0f);
    add_channels(sum, q, keys, d, 0, d, panels);
    store_panels(s, sum, panels);
}

// Rows from .. to - 1 of each of `blocks` blocks of a sum.
SMX_INLINE void weigh_blocks(v16 *sum, const float *s, const float *v, size_t dp, size_t from, size_t to,
                             const size_t blocks) {
    for (size_t k = from; k < to; k++)
        SMX_UNROLL for (size_t b = 0; b < blocks; b++) sum[b] =
            v16_madd(v16_set(s[b * SMX_KC + k]), v16_load(v + (b * SMX_KC + k) * dp), sum[b]);
}
// The last of them has fewer rows.
SMX_INLINE void weigh_side_by_side(v16 *sum, const float *s, const float *v, size_t dp, size_t last,
                                   const size_t blocks) {
    SMX_UNROLL for (size_t b = 0; b < blocks; b++) sum[b] = v16_set(0.0f);
    weigh_blocks(sum, s, v, dp, 0, last, blocks);
    weigh_blocks(sum, s, v, dp, last, blocks > 1 ? SMX_KC : 0, blocks - 1);
}

#if SMX_W == 16
// Scores of a row that become exponentials: before column `at` they are.
typedef struct {
    float *s;
    size_t at;
    v16 max, sum;
} exponents;

SMX_INLINE v16_exp_begun begin_exponential(const exponents *e, size_t column) {
    return v16_softmax_exp_begin(v16_sub(v16_load(e->s + column), e->max));
}
SMX_INLINE void end_exponential(exponents *e, v16_exp_begun begun) {
    const v16 x = v16_softmax_exp_end(begun);
    v16_store(e->s + e->at, x);
    e->sum = v16_add(e->sum, x);
    e->at += 16;
}
// Ends sixteen and begins the next: half as long to wait as for sixteen at once.
SMX_INLINE v16_exp_begun next_exponential(exponents *e, v16_exp_begun begun) {
    const v16_exp_begun next = begin_exponential(e, e->at + 16);
    end_exponential(e, begun);
    return next;
}

// part += rows of values [rows][16 registers], weighed
SMX_INLINE void weigh_rows(v16 *part, const float *s, const float *v, size_t rows, const size_t registers) {
    for (size_t k = 0; k < rows; k++)
        SMX_UNROLL for (size_t c = 0; c < registers; c++) part[c] =
            v16_madd(v16_set(s[k]), v16_load(v + 16 * (k * registers + c)), part[c]);
}
// The block of a sum that row `end` - 1 ends joins those before it.
SMX_INLINE void end_block(float *o, v16 *part, size_t end, const size_t registers) {
    SMX_UNROLL for (size_t c = 0; c < registers; c++) {
        v16_store(o + 16 * c, end > SMX_KC ? v16_add(v16_load(o + 16 * c), part[c]) : part[c]);
        part[c] = v16_set(0.0f);
    }
}

// Keys and values come from the second cache at its speed and leave the units idle most of the time: between
// the keys of one head go exponentials and weighed values of the head before. A register that was stored is
// slow to be read as sixteen floats until it has left the queue: values are two registers behind.
enum { BEHIND = 32, PANELS_BESIDE = 2, COLUMNS_BESIDE = PANELS_BESIDE * KEPT_ROWS };
SMX_INLINE size_t panels_beside(float *s, const float *q, const float *keys, float *o, v16 *left,
                                const float *values, size_t n, exponents *before, const size_t d) {
    enum { GROUPS = COLUMNS_BESIDE / 16 };
    const size_t channels = d / GROUPS, registers = (d + 15) / 16;
    if (n <= COLUMNS_BESIDE + BEHIND) return 0;
    exponents e = *before;
    v16_exp_begun begun = begin_exponential(&e, 0);
    v16 part[4];
    size_t j = 0;
    SMX_UNROLL for (size_t c = 0; c < registers; c++) part[c] = v16_set(0.0f);
    while (e.at < BEHIND) begun = next_exponential(&e, begun);
    for (; j + COLUMNS_BESIDE + BEHIND < n; j += COLUMNS_BESIDE) {
        v16 sum[PANELS_BESIDE][2];
        SMX_UNROLL for (size_t b = 0; b < PANELS_BESIDE; b++) sum[b][0] = sum[b][1] = v16_set(0.0f);
        for (size_t i = 0; i < GROUPS; i++) {
            weigh_rows(part, e.s + e.at - BEHIND, values + (e.at - BEHIND) * 16 * registers, 16, registers);
            add_channels(sum, q, keys + j * d, d, i * channels, (i + 1) * channels, PANELS_BESIDE);
            begun = next_exponential(&e, begun);
        }
        store_panels(s + j, sum, PANELS_BESIDE);
        if ((j + COLUMNS_BESIDE) % SMX_KC == 0) end_block(o, part, j + COLUMNS_BESIDE, registers);
    }
    end_exponential(&e, begun);
    *before = e;
    SMX_UNROLL for (size_t c = 0; c < registers; c++) left[c] = part[c];
    return j;
}
// s: scores of one row and the first of n keys, as many as it returns: 0 where heads are not 8, 16, 32 or 64
// wide. o: as many of the n values of the head before, weighed by the exponentials that its scores become;
// left: of the block of the sum that is not full.
static __attribute__((noinline, unused)) size_t keys_beside(float *s, const float *q, const float *keys,
                                                            float *o, v16 *left, const float *values,
                                                            size_t d, size_t n, exponents *before) {
    if (d == 8) return panels_beside(s, q, keys, o, left, values, n, before, 8);
    if (d == 16) return panels_beside(s, q, keys, o, left, values, n, before, 16);
    if (d == 32) return panels_beside(s, q, keys, o, left, values, n, before, 32);
    if (d == 64) return panels_beside(s, q, keys, o, left, values, n, before, 64);
    return 0;
}
SMX_INLINE void values_left(float *o, v16 *part, const float *s, const float *values, size_t from, size_t n,
                            const size_t registers) {
    for (size_t to; from < n; from = to) {
        to = smx_min(n, from / SMX_KC * SMX_KC + SMX_KC);
        weigh_rows(part, s + from, values + from * 16 * registers, to - from, registers);
        end_block(o, part, to, registers);
    }
}
// The values from row `from` on, where keys_beside has left them.
static __attribute__((unused)) void weigh_left(float *o, v16 *part, const float *s, const float *values,
                                               size_t from, size_t n, size_t d) {
    if (d <= 16) values_left(o, part, s, values, from, n, 1);
    if (d == 32) values_left(o, part, s, values, from, n, 2);
    if (d == 64) values_left(o, part, s, values, from, n, 4);
}
#endif
#endif

#endif
