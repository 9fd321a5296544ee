// tile_narrow.h: the product of tile.h, in registers of 256 bits where the processor computes 512 in two
// halves (dispatch.c says which): the same sums in the same order, on Zen 4 in four fifths of the time. Fused
// multiply-add fills both halves as it is: fast mode has the wide tile.
#ifndef SMX_TILE_NARROW_H
#define SMX_TILE_NARROW_H

#include "tile.h"

#if SMX_W == 16 && !defined(SMX_ONLY) && !defined(SMX_FUSED)
#define SMX_NARROW
extern _Atomic int smx_private_narrow;

typedef float narrow __attribute__((vector_size(32)));
typedef float narrow_u __attribute__((vector_size(32), aligned(4), may_alias));

SMX_INLINE void narrow_one(float *c, size_t ldc, const float *a, size_t ra, size_t ca, const float *b,
                           size_t rb, size_t k, const int add, const int M, const int V) {
    narrow s[8][2];
    SMX_UNROLL for (int i = 0; i < M; i++) SMX_UNROLL for (int v = 0; v < V; v++) s[i][v] = (narrow){0};
    const float *rows[2] = {a, a + (M > 4 ? 4 * ra : 0)}; // a pointer for every fourth row, as in tile_one
    SMX_OPAQUE(rows[0]);
    SMX_OPAQUE(rows[1]);
    for (size_t kk = 0; kk < k; kk++, b += rb) {
        narrow y[2];
        SMX_UNROLL for (int v = 0; v < V; v++) y[v] = *(const narrow_u *)(b + v * 8);
        SMX_UNROLL for (int i = 0; i < M; i++) {
            const float x = rows[i / 4][(size_t)(i % 4) * ra];
            SMX_UNROLL for (int v = 0; v < V; v++) s[i][v] = s[i][v] + x * y[v];
        }
        rows[0] += ca;
        rows[1] += ca;
    }
    SMX_UNROLL for (int i = 0; i < M; i++) {
        SMX_UNROLL for (int v = 0; v < V; v++) {
            narrow_u *p = (narrow_u *)(c + v * 8);
            if (add) s[i][v] = *p + s[i][v];
            *p = s[i][v];
        }
        c += ldc;
        SMX_OPAQUE(c);
    }
}
SMX_INLINE void narrow_rows(float *c, size_t ldc, const float *a, size_t ra, size_t ca, const float *b,
                            size_t rb, size_t m, size_t k, const int add, const int V) {
    size_t i = 0;
    for (; i + 8 <= m; i += 8) narrow_one(c + i * ldc, ldc, a + i * ra, ra, ca, b, rb, k, add, 8, V);
    for (; i + 4 <= m; i += 4) narrow_one(c + i * ldc, ldc, a + i * ra, ra, ca, b, rb, k, add, 4, V);
    for (; i < m; i++) narrow_one(c + i * ldc, ldc, a + i * ra, ra, ca, b, rb, k, add, 1, V);
}
static __attribute__((noinline)) void narrow_product(float *c, size_t ldc, const float *a, size_t ra,
                                                     size_t ca, const float *b, size_t rb, size_t m, size_t n,
                                                     size_t k, int add) {
    for (size_t k0 = 0; k0 < k || k0 == 0; k0 += SMX_KC) {
        const size_t kc = smx_min(SMX_KC, k - k0);
        const float *ak = a + k0 * ca, *bk = b + k0 * rb;
        for (size_t j = 0; j < n; j += 16) {
            if (n - j < 16)
                narrow_rows(c + j, ldc, ak, ra, ca, bk + j, rb, m, kc, add || k0, 1);
            else if (add || k0)
                narrow_rows(c + j, ldc, ak, ra, ca, bk + j, rb, m, kc, 1, 2);
            else
                narrow_rows(c + j, ldc, ak, ra, ca, bk + j, rb, m, kc, 0, 2);
        }
    }
}
#endif

// Columns of a panel of B that `product` reads from end to end.
SMX_INLINE size_t panel_width(void) {
#ifdef SMX_NARROW
    if (smx_private_narrow) return 16;
#endif
    return TILE_N;
}
// As tile_product.
/*@ requires m <= MOST && n <= MOST && k <= MOST && k * ca <= MOST && k * rb <= MOST;
    requires m > 0 && n > 0 ==> IN_TILE(m, n, k);
    assigns INTO(c); */
SMX_INLINE void product(float *c, size_t ldc, const float *a, size_t ra, size_t ca, const float *b, size_t rb,
                        size_t m, size_t n, size_t k, int add) {
#ifdef SMX_NARROW
    if (smx_private_narrow && n % 8 == 0) {
        narrow_product(c, ldc, a, ra, ca, b, rb, m, n, k, add);
        return;
    }
#endif
    tile_product(c, ldc, a, ra, ca, b, rb, m, n, k, add);
}

#endif
