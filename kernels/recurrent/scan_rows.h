// scan_rows.h: rows of 16 channels and their states, for ema.c and scan.c.
#ifndef SMX_SCAN_ROWS_H
#define SMX_SCAN_ROWS_H

#include "kernels/core/kernel.h"

SMX_INLINE v16 scan_row(const float *x, size_t t, size_t n, size_t L, size_t ld) {
    return v16_load_columns(x + t * ld, n, (L - 1 - t) * ld + n);
}
SMX_INLINE void scan_store(float *y, v16 row, size_t n) {
    if (n == 16)
        v16_store(y, row);
    else
        v16_store_n(y, row, n);
}
// Row t will be needed soon: 16 columns of a long matrix stand in pages of their own,
// no processor guesses the next.
SMX_INLINE void scan_fetch(const float *x, size_t t, size_t ld) { __builtin_prefetch(x + t * ld); }
// [n][S] to [S][16], the other channels 0; and += back.
static void scan_load(float *to, const float *from, size_t n, size_t S) {
    for (size_t s = 0; s < S; s++)
        for (size_t c = 0; c < 16; c++) to[s * 16 + c] = c < n ? from[c * S + s] : 0.0f;
}
static void scan_add(float *to, const float *from, size_t n, size_t S) {
    for (size_t c = 0; c < n; c++)
        for (size_t s = 0; s < S; s++) to[c * S + s] += from[s * 16 + c];
}
static void scan_sum(float *to, const float *part, size_t n) { // n a multiple of 16
    for (size_t i = 0; i < n; i += 16) v16_store(to + i, v16_add(v16_load(to + i), v16_load(part + i)));
}

#endif
