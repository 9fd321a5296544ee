// tile.h: the one micro-kernel under gemm.c and attention.c. Each output is a sum over k in order, multiply
// then add, in blocks of SMX_KC; which outputs share registers changes with the width, the order of a
// sum never does.
#ifndef SMX_TILE_H
#define SMX_TILE_H

#include "kernel.h"

// Register tile: TILE_M rows by TILE_V registers. 12 x 2 fills the 32 registers of AVX-512,
// 4 x 2 the 16 of the others.
#define TILE_M (SMX_W == 16 ? 12 : 4)
#define TILE_V (SMX_W == 1 ? 4 : 2)
#define TILE_N (TILE_V * SMX_W)

// C [M][V registers] (+)= A B, k <= SMX_KC. A(i, k) = a[i*ra + k*ca]; B(k, j) = b[k*rb + j].
// `columns` < V*SMX_W are stored where C is narrower than the tile. M, V and add are constants after
// inlining.
/*@ requires (M == 1 || M == TILE_M) && (V == 1 || V == TILE_V) && V <= columns;
    requires in_tile: IN_TILE(M, V, k);
    assigns TILE_OF(c); */
SMX_INLINE void tile_one(float *c, size_t ldc, const float *a, size_t ra, size_t ca, const float *b,
                         size_t rb, size_t k, size_t columns, const int M, const int V, const int add) {
    vf s[TILE_M][TILE_V];
    /*@ ROW(s[..][..]) */
    SMX_UNROLL for (int i = 0; i < M; i++)
        /*@ COLUMN(s[i][..]) */
        SMX_UNROLL for (int v = 0; v < V; v++) s[i][v] = vf_set(0.0f);
    // A pointer for every fourth row: a pointer for each would not fit the registers.
    const float *rows[(TILE_M + 3) / 4];
    /*@ loop invariant 0 <= i <= 4 && i % 4 == 0 && (i == 4 ==> rows[0] == a);
        loop assigns i, rows[0];
        loop variant 4 - i; */
    SMX_UNROLL for (int i = 0; i < M; i += 4) {
        rows[i / 4] = a + (size_t)i * ra;
        SMX_OPAQUE(rows[i / 4]);
    }
    /*@ loop invariant 0 <= kk <= k && rows[0] == a + kk * ca && b == \at(b, Pre) + kk * rb;
        loop assigns kk, b, rows[0], s[..][..];
        loop variant k - kk; */
    for (size_t kk = 0; kk < k; kk++) {
        /*@ assert reaches(kk, k, ca) && reaches(kk, k, rb) && one_step(kk, 1, ca) && one_step(kk, 1, rb); */
        vf y[TILE_V];
        /*@ COLUMN(y[..]) */
        SMX_UNROLL for (int v = 0; v < V; v++) y[v] = vf_load(b + v * SMX_W);
        /*@ ROW(s[..][..]) */
        SMX_UNROLL for (int i = 0; i < M; i++) {
            /*@ assert reaches(i, M, ra); */
            vf x = vf_set(rows[i / 4][(size_t)(i % 4) * ra]);
            /*@ COLUMN(s[i][..]) */
            SMX_UNROLL for (int v = 0; v < V; v++) s[i][v] = vf_madd(x, y[v], s[i][v]);
        }
        /*@ loop invariant 0 <= i <= 4 && i % 4 == 0 && rows[0] == a + kk * ca + (i == 4 ? ca : 0);
            loop assigns i, rows[0];
            loop variant 4 - i; */
        SMX_UNROLL for (int i = 0; i < M; i += 4) rows[i / 4] += ca;
        b += rb;
    }
    if (columns >= (size_t)(V * SMX_W)) {
        /*@ loop invariant 0 <= i <= M && c == \at(c, Pre) + i * ldc;
            loop assigns i, c, TILE_OF(\at(c, Pre));
            loop variant M - i; */
        SMX_UNROLL for (int i = 0; i < M; i++) {
            /*@ assert reaches(i, M, ldc) && one_step(i, 1, ldc); */
            /*@ COLUMN(TILE_OF(\at(c, Pre))) */
            SMX_UNROLL for (int v = 0; v < V; v++) {
                float *p = c + v * SMX_W;
                vf_store(p, add ? vf_load(p) + s[i][v] : s[i][v]);
            }
            c += ldc;
            SMX_OPAQUE(c);
        }
    } else {
#if SMX_W == 16 // what is left of a row in one masked store
        SMX_UNROLL for (int i = 0; i < M; i++) {
            SMX_UNROLL for (int v = 0; v < V; v++) {
                const __mmask16 mask = (__mmask16)((1u << smx_min(16, columns - v * 16)) - 1);
                float *p = c + v * 16;
                const vf old = add ? (vf)_mm512_mask_loadu_ps((__m512)s[i][v], mask, p) : s[i][v];
                _mm512_mask_storeu_ps(p, mask, (__m512)(add ? old + s[i][v] : s[i][v]));
            }
            c += ldc;
            SMX_OPAQUE(c);
        }
#else
        /*@ ROW(TILE_OF(c)) */
        SMX_UNROLL for (int i = 0; i < M; i++) {
            /*@ assert reaches(i, M, ldc); */
            float t[TILE_N];
            /*@ COLUMN(t[..]) */
            SMX_UNROLL for (int v = 0; v < V; v++) vf_store(t + v * SMX_W, s[i][v]);
            /*@ loop invariant 0 <= j <= columns; loop assigns j, TILE_OF(c); loop variant columns - j; */
            for (size_t j = 0; j < columns; j++) c[i * ldc + j] = add ? c[i * ldc + j] + t[j] : t[j];
        }
#endif
    }
}

/*@ requires (V == 1 || V == TILE_V) && V <= columns && m <= MOST;
    requires m > 0 ==> IN_TILE(m, V, k);
    assigns INTO(c); */
SMX_INLINE void tile_rows(float *c, size_t ldc, const float *a, size_t ra, size_t ca, const float *b,
                          size_t rb, size_t m, size_t k, size_t columns, const int V, const int add) {
    size_t i = 0;
    /*@ loop invariant 0 <= i <= m; loop assigns i, INTO(c); loop variant m - i; */
    for (; i + TILE_M <= m; i += TILE_M) /*@ assert part(i, TILE_M, m, ldc) && part(i, TILE_M, m, ra); */
        tile_one(c + i * ldc, ldc, a + i * ra, ra, ca, b, rb, k, columns, TILE_M, V, add);
#if TILE_M > 4
    for (; i + 4 <= m; i += 4) tile_one(c + i * ldc, ldc, a + i * ra, ra, ca, b, rb, k, columns, 4, V, add);
#endif
    /*@ loop invariant 0 <= i <= m; loop assigns i, INTO(c); loop variant m - i; */
    for (; i < m; i++) /*@ assert part(i, 1, m, ldc) && part(i, 1, m, ra); */
        tile_one(c + i * ldc, ldc, a + i * ra, ra, ca, b, rb, k, columns, 1, V, add);
}

// C [m][n] (row stride ldc) (+)= A B with A as above. B must be readable (not meaningful) up to column
// round_up(n, SMX_W). add = 0 overwrites C and never reads it.
// A module that is downloaded holds it once, in gemm.c; natively each file has its own,
// which the compiler may specialise.
#if defined(__wasm__)
#define tile_product SMX_FN(tile_product)
#define TILE_LINKAGE
#else
#define TILE_LINKAGE static __attribute__((unused, noinline))
#endif
TILE_LINKAGE void tile_product(float *c, size_t ldc, const float *a, size_t ra, size_t ca, const float *b,
                               size_t rb, size_t m, size_t n, size_t k, int add);
#if !defined(__wasm__) || defined(TILE_HERE)
/*@ requires m <= MOST && n <= MOST && k <= MOST && k * ca <= MOST && k * rb <= MOST;
    requires m > 0 && n > 0 ==> IN_TILE(m, n, k);
    assigns INTO(c); */
TILE_LINKAGE void tile_product(float *c, size_t ldc, const float *a, size_t ra, size_t ca, const float *b,
                               size_t rb, size_t m, size_t n, size_t k, int add) {
    /*@ loop invariant 0 <= k0 <= k + SMX_KC; loop assigns k0, INTO(c); loop variant k + SMX_KC - k0; */
    for (size_t k0 = 0; k0 < k || k0 == 0; k0 += SMX_KC) {
        size_t kc = smx_min(SMX_KC, k - k0), j = 0;
        const float *ak = a + k0 * ca, *bk = b + k0 * rb;
        /*@ assert part(k0, kc, k, ca) && part(k0, kc, k, rb); */
        // Whole tiles while more than TILE_V - 1 registers of columns are left, then single registers.
        /*@ loop invariant 0 <= j <= n; loop assigns j, INTO(c); loop variant n - j; */
        for (; j < n && n - j > TILE_N - SMX_W; j += TILE_N) {
            if (add || k0)
                tile_rows(c + j, ldc, ak, ra, ca, bk + j, rb, m, kc, n - j, TILE_V, 1);
            else
                tile_rows(c + j, ldc, ak, ra, ca, bk + j, rb, m, kc, n - j, TILE_V, 0);
        }
        /*@ loop invariant 0 <= j <= n; loop assigns j, INTO(c); loop variant n - j; */
        for (; j < n; j += SMX_W) {
            if (add || k0)
                tile_rows(c + j, ldc, ak, ra, ca, bk + j, rb, m, kc, n - j, 1, 1);
            else
                tile_rows(c + j, ldc, ak, ra, ca, bk + j, rb, m, kc, n - j, 1, 0);
        }
    }
}
#endif

#endif
