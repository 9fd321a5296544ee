// program_matrices.h: products, sums and copies of a program's matrices and vectors. Entry by entry in lanes;
// sums of a row's entries in the canonical order of reduce.h, sums over a matrix's rows in four parts (row i
// to part i mod 4).
#ifndef SMX_PROGRAM_MATRICES_H
#define SMX_PROGRAM_MATRICES_H

#include "kernels/core/kernel.h"
#include "program.h"

// o (+)= sum over i of a[i] s S[i][..], of nc registers of columns; x != NULL: of x[i][..] S[i][..] instead.
SMX_INLINE void rows_block(float *o, const float *a, const float *x, const float *S, size_t rows,
                           size_t pitch, float sign, int add, const int nc) {
    vf part[4][4];
    for (int k = 0; k < 4; k++)
        for (int c = 0; c < nc; c++) part[k][c] = vf_set(0.0f);
    size_t i = 0;
#define ROW(k)                                                                                               \
    SMX_UNROLL for (int c = 0; c < nc; c++) part[k][c] =                                                     \
        vf_madd(x ? vf_load(x + (i + k) * pitch + (size_t)c * SMX_W) : vf_set(a[i + k]),                     \
                vf_load(S + (i + k) * pitch + (size_t)c * SMX_W), part[k][c])
    for (; i + 4 <= rows; i += 4) {
        ROW(0);
        ROW(1);
        ROW(2);
        ROW(3);
    }
    if (i < rows) ROW(0);
    if (i + 1 < rows) ROW(1);
    if (i + 2 < rows) ROW(2);
#undef ROW
    SMX_UNROLL for (int c = 0; c < nc; c++) {
        float *to = o + (size_t)c * SMX_W;
        vf y = (part[0][c] + part[1][c]) + (part[2][c] + part[3][c]);
        if (sign < 0) y = vf_neg(y);
        vf_store(to, add ? vf_load(to) + y : y);
    }
}
enum { COLUMNS = SMX_W == 16 ? 4 : 2 };
SMX_INLINE void sum_rows(float *o, const float *a, const float *x, const float *S, const program_register *m,
                         float sign, int add) {
    const size_t rows = m->rows, cols = m->cols, pitch = program_pitch(m);
    size_t j = 0;
    // (Narrow registers: the padding's columns as well.)
    for (; j + COLUMNS * SMX_W <= (SMX_W < 16 ? pitch : cols); j += COLUMNS * SMX_W)
        rows_block(o + j, a, x ? x + j : NULL, S + j, rows, pitch, sign, add, COLUMNS);
    for (; SMX_W == 16 && j < cols; j += SMX_W)
        rows_block(o + j, a, x ? x + j : NULL, S + j, rows, pitch, sign, add, 1);
}
static void vecmat(float *o, const float *a, const float *S, const program_register *m, float sign, int add) {
    sum_rows(o, a, NULL, S, m, sign, add);
}
// of the columns of x S, entry by entry
static void column_products(float *o, const float *x, const float *S, const program_register *m, int add) {
    sum_rows(o, NULL, x, S, m, 1.0f, add);
}

// One row's products, summed into the 16 lanes.
SMX_INLINE v16 products_in_lanes(const float *a, const float *b, size_t n) {
    v16 s = v16_set(0.0f);
    size_t i = 0;
    for (; i + 16 <= n; i += 16) s = v16_madd(v16_load(a + i), v16_load(b + i), s);
    if (i < n) s = v16_madd(v16_load_n(a + i, n - i, 0.0f), v16_load_n(b + i, n - i, 0.0f), s);
    return s;
}
#if SMX_W == 1
SMX_INLINE void four_sums(float *to, const v16 *x) {
    for (int k = 0; k < 4; k++) to[k] = v16_hsum(x[k]);
}
#else
// Four canonical sums at once: lanes i and i + 8 meet, then + 4, + 2, + 1.
SMX_INLINE f4 quarter(v16 x) {
#if SMX_W == 4
    return (f4)((x.r[0] + x.r[2]) + (x.r[1] + x.r[3]));
#else
    const __m256 h = V16_HALVES(x, _mm256_add_ps);
    return (f4)_mm_add_ps(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1));
#endif
}
SMX_INLINE void four_sums(float *to, const v16 *x) {
    const f4 a = quarter(x[0]), b = quarter(x[1]), c = quarter(x[2]), d = quarter(x[3]);
    const f4 ab = F4_SHUFFLE(a, b, 0, 4, 1, 5) + F4_SHUFFLE(a, b, 2, 6, 3, 7);
    const f4 cd = F4_SHUFFLE(c, d, 0, 4, 1, 5) + F4_SHUFFLE(c, d, 2, 6, 3, 7);
    *(f4_u *)to = F4_SHUFFLE(ab, cd, 0, 1, 4, 5) + F4_SHUFFLE(ab, cd, 2, 3, 6, 7);
}
#endif
#if SMX_W == 16
#if defined(__clang__)
#define SHUFFLE(x, y, ...) __builtin_shufflevector(x, y, __VA_ARGS__)
#else
#define SHUFFLE(x, y, ...) __builtin_shuffle(x, y, (vi){__VA_ARGS__})
#endif
// Each half of the result: the halves of x, and of y; each quarter: the quarters of the halves; and so on.
SMX_INLINE vf add_halves(vf x, vf y) {
    return SHUFFLE(x, y, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23) +
           SHUFFLE(x, y, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
}
SMX_INLINE vf add_quarters(vf x, vf y) {
    return SHUFFLE(x, y, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27) +
           SHUFFLE(x, y, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31);
}
SMX_INLINE vf add_pairs(vf x, vf y) {
    return SHUFFLE(x, y, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29) +
           SHUFFLE(x, y, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31);
}
SMX_INLINE vf add_neighbours(vf x, vf y) {
    return SHUFFLE(x, y, 0, 2, 16, 18, 4, 6, 20, 22, 8, 10, 24, 26, 12, 14, 28, 30) +
           SHUFFLE(x, y, 1, 3, 17, 19, 5, 7, 21, 23, 9, 11, 25, 27, 13, 15, 29, 31);
}
// The canonical sums of sixteen rows' products: lanes i and i + 8 meet, then + 4, + 2, + 1.
SMX_INLINE vf sixteen_dots(const float *S, size_t pitch, const float *c, size_t step, size_t cols) {
    vf s[16];
    size_t i = 0;
    SMX_UNROLL for (int k = 0; k < 16; k++) s[k] = vf_set(0.0f);
    for (; i + 16 <= cols; i += 16)
        SMX_UNROLL for (size_t k = 0; k < 16; k++) s[k] =
            vf_madd(vf_load(S + k * pitch + i), vf_load(c + k * step + i), s[k]);
    if (i < cols)
        SMX_UNROLL for (size_t k = 0; k < 16; k++) s[k] =
            v16_madd(v16_load_n(S + k * pitch + i, cols - i, 0.0f),
                     v16_load_n(c + k * step + i, cols - i, 0.0f), (v16){{s[k]}})
                .r[0];
#define FOUR(k) add_quarters(add_halves(s[k], s[k + 4]), add_halves(s[k + 8], s[k + 12]))
    return add_neighbours(add_pairs(FOUR(0), FOUR(1)), add_pairs(FOUR(2), FOUR(3)));
#undef FOUR
}
#undef SHUFFLE
#endif
// o[i] (+)= S[i] . c, or with `step` = the pitch S[i] . c[i]
static void row_dots(float *o, const float *S, const float *c, size_t step, const program_register *m,
                     float sign, int add) {
    const size_t pitch = program_pitch(m), rows = m->rows;
    size_t i = 0;
#if SMX_W == 16
    for (; i + 16 <= rows; i += 16) {
        vf y = sixteen_dots(S + i * pitch, pitch, c + i * step, step, m->cols);
        if (sign < 0) y = vf_neg(y);
        vf_store(o + i, add ? vf_load(o + i) + y : y);
    }
#endif
    for (; i < rows; i += 4) {
        v16 s[4];
        float y[4];
        for (size_t k = 0; k < 4; k++) {
            const size_t row = i + k < rows ? i + k : rows - 1;
            s[k] = products_in_lanes(S + row * pitch, c + row * step, m->cols);
        }
        four_sums(y, s);
        for (size_t k = 0; k < 4 && i + k < rows; k++) {
            if (sign < 0) y[k] = -y[k];
            o[i + k] = add ? o[i + k] + y[k] : y[k];
        }
    }
}
// to = from + sign a b^T (from NULL: without)
static void add_outer(float *to, const float *from, const float *a, const float *b, float sign,
                      const program_register *m) {
    const size_t pitch = program_pitch(m);
    for (size_t i = 0; i < m->rows; i++) {
        const vf x = vf_set(sign < 0 ? -a[i] : a[i]);
        const float *f = from ? from + i * pitch : NULL;
        float *t = to + i * pitch;
        if (f)
            for (size_t j = 0; j < pitch; j += SMX_W)
                vf_store(t + j, vf_madd(x, vf_load(b + j), vf_load(f + j)));
        else
            for (size_t j = 0; j < pitch; j += SMX_W) vf_store(t + j, x * vf_load(b + j));
    }
}
static void scale_rows(float *to, const float *w, const float *S, const program_register *m, int add) {
    const size_t pitch = program_pitch(m);
    for (size_t i = 0; i < m->rows; i++) {
        const vf x = vf_set(w[i]);
        float *t = to + i * pitch;
        const float *s = S + i * pitch;
        if (add)
            for (size_t j = 0; j < pitch; j += SMX_W) vf_store(t + j, vf_load(t + j) + x * vf_load(s + j));
        else
            for (size_t j = 0; j < pitch; j += SMX_W) vf_store(t + j, x * vf_load(s + j));
    }
}
static void scale_columns(float *to, const float *S, const float *w, const program_register *m, int add) {
    const size_t pitch = program_pitch(m);
    for (size_t i = 0; i < m->rows; i++)
        for (size_t j = 0; j < pitch; j += SMX_W) {
            const vf y = vf_load(S + i * pitch + j) * vf_load(w + j);
            vf_store(to + i * pitch + j, add ? vf_load(to + i * pitch + j) + y : y);
        }
}
static void matmul(float *to, const float *a, const float *b, const program_register *x,
                   const program_register *y) {
    for (size_t i = 0; i < x->rows; i++)
        vecmat(to + i * program_pitch(y), a + i * program_pitch(x), b, y, 1.0f, 0);
}
static void transpose(float *to, const float *from, const program_register *m, int add) { // m: of `from`
    const size_t pitch = program_pitch(m), turned = (m->rows + 15u) / 16 * 16;
    for (size_t i = 0; i < m->rows; i++)
        for (size_t j = 0; j < m->cols; j++)
            to[j * turned + i] = add ? to[j * turned + i] + from[i * pitch + j] : from[i * pitch + j];
}
// Of all entries, or of their products with those of b; one entry is itself.
static float sum_entries(const float *a, const float *b, const program_register *m) {
    const size_t pitch = program_pitch(m);
    v16 s = v16_set(0.0f);
    if (m->rows == 1 && m->cols == 1) return b ? a[0] * b[0] : a[0];
    for (size_t r = 0; r < m->rows; r++, a += pitch) {
        size_t i = 0;
        for (; i + 16 <= m->cols; i += 16)
            s = b ? v16_madd(v16_load(a + i), v16_load(b + i), s) : v16_add(s, v16_load(a + i));
        const size_t n = m->cols - i;
        if (n && b) s = v16_madd(v16_load_n(a + i, n, 0.0f), v16_load_n(b + i, n, 0.0f), s);
        if (n && !b) s = v16_add(s, v16_load_n(a + i, n, 0.0f));
        if (b) b += pitch;
    }
    return v16_hsum(s);
}

#endif
