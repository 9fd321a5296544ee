// gemm.c: C (+)= op(A) op(B) for all four transposes, over the register tile of tile.h.
#define TILE_HERE
#include "kernels/core/tile_narrow.h"

// Rows of A that every panel meets in turn: they stay in the second cache.
enum { NEAR_ROWS = 1024 };

// B [k][n] columns j0.. of one panel, k0.. of one block, laid out [kc][width], the missing columns zero.
static void pack_panel(float *restrict panel, size_t width, const float *b, size_t ldb, int transposed,
                       size_t columns, size_t kc) {
    if (columns < width) memset(panel, 0, kc * width * sizeof *panel);
    if (transposed) {
        for (size_t j = 0, kk; j < columns; j += 4) {
            const size_t four = columns - j < 4 ? 0 : kc / 4 * 4;
            for (kk = 0; kk < four; kk += 4) transpose4(panel + kk * width + j, width, b + j * ldb + kk, ldb);
            for (; kk < kc; kk++)
                for (size_t c = j; c < j + 4 && c < columns; c++) panel[kk * width + c] = b[c * ldb + kk];
        }
        return;
    }
    for (size_t kk = 0; kk < kc; kk++, panel += width, b += ldb) {
        size_t j = 0;
        for (; j + SMX_W <= columns; j += SMX_W) vf_store(panel + j, vf_load(b + j));
        for (; j < columns; j++) panel[j] = b[j];
    }
}

#if !defined(__wasm__)
// V registers of one row, k <= SMX_KC.
SMX_INLINE void row_columns(float *c, const float *a, size_t ca, const float *b, size_t ldb, size_t k,
                            int add, const int V) {
    vf s[8];
    SMX_UNROLL for (int v = 0; v < V; v++) s[v] = vf_set(0.0f);
    for (size_t kk = 0; kk < k; kk++) {
        const vf x = vf_set(a[kk * ca]);
        SMX_UNROLL for (int v = 0; v < V; v++) s[v] = vf_madd(x, vf_load(b + kk * ldb + v * SMX_W), s[v]);
    }
    SMX_UNROLL for (int v = 0; v < V; v++) {
        float *p = c + v * SMX_W;
        vf_store(p, add ? vf_load(p) + s[v] : s[v]);
    }
}
// C's only row: alone it waits for each of its additions, so more columns go side by side than in a tile.
static void row_product(float *c, const float *a, size_t ca, const float *b, size_t ldb, size_t n, size_t k,
                        int add) {
    for (size_t k0 = 0; k0 < k; k0 += SMX_KC) {
        const size_t kc = smx_min(SMX_KC, k - k0);
        const float *ak = a + k0 * ca, *bk = b + k0 * ldb;
        size_t j = 0;
        for (; n - j >= 8 * SMX_W; j += 8 * SMX_W) row_columns(c + j, ak, ca, bk + j, ldb, kc, add || k0, 8);
        for (; n - j >= 4 * SMX_W; j += 4 * SMX_W) row_columns(c + j, ak, ca, bk + j, ldb, kc, add || k0, 4);
        for (; j < n; j += SMX_W) row_columns(c + j, ak, ca, bk + j, ldb, kc, add || k0, 1);
    }
}
#endif

SMX_COPY(void, gemm)
(float *restrict c, const float *a, const float *b, void *scratch, size_t m, size_t n, size_t k, size_t lda,
 size_t ldb, size_t ldc, unsigned flags) {
    const int add = (flags & SMX_ACCUMULATE) != 0, transposed = (flags & SMX_TRANS_B) != 0;
    const size_t ra = flags & SMX_TRANS_A ? 1 : lda, ca = flags & SMX_TRANS_A ? lda : 1;
    if (!m || !n) return;
    if (!k) {
        for (size_t i = 0; i < m && !add; i++) memset(c + i * ldc, 0, n * sizeof *c);
        return;
    }
#if !defined(__wasm__)
    if (m == 1 && !transposed && n % SMX_W == 0) {
        row_product(c, a, ca, b, ldb, n, k, add);
        return;
    }
#endif
    // Few columns: C^T = B^T A^T, the same sums. A's rows lie side by side with A^T, or are laid out so.
    const int beside = flags & SMX_TRANS_A;
    if (beside ? n < 8 && !transposed && m % SMX_W == 0 : n <= 4 && 2 * n <= SMX_W && m >= TILE_N && k >= 8) {
        const size_t rb = transposed ? ldb : 1, cb = transposed ? 1 : ldb; // of B^T
        float t[8 * TILE_N] = {0};
        for (size_t i = 0; i < m; i += TILE_N) {
            const size_t rows = smx_min(TILE_N, m - i);
            float *to = c + i * ldc;
            for (size_t r = 0; r < rows && add; r++)
                for (size_t j = 0; j < n; j++) t[j * TILE_N + r] = to[r * ldc + j];
            for (size_t k0 = 0; k0 < k; k0 += SMX_KC) {
                const size_t kc = smx_min(SMX_KC, k - k0);
                const float *from = a + i * ra + k0 * ca;
                if (!beside) pack_panel(scratch, TILE_N, from, lda, 1, rows, kc);
                product(t, TILE_N, b + k0 * cb, rb, cb, beside ? from : scratch, beside ? lda : TILE_N, n,
                        beside ? rows : TILE_N, kc, add || k0);
            }
            for (size_t r = 0; r < rows; r++)
                for (size_t j = 0; j < n; j++) to[r * ldc + j] = t[j * TILE_N + r];
        }
        return;
    }
    // B as it lies: no packing while its rows are whole registers and few cache sets are hit.
    const size_t width = panel_width(), few = width < TILE_N ? 32 : 256;
    if (!transposed && n % SMX_W == 0 && (ldb <= few || m <= 2 * TILE_M)) {
        product(c, ldc, a, ra, ca, b, ldb, m, n, k, add);
        return;
    }
    float *panel = scratch;
    for (size_t i = 0, rows; i < m; i += rows) {
        rows = smx_min(NEAR_ROWS, m - i);
        for (size_t k0 = 0; k0 < k; k0 += SMX_KC) {
            const size_t kc = smx_min(SMX_KC, k - k0);
            for (size_t j = 0; j < n; j += width) {
                const size_t columns = smx_min(width, n - j);
                pack_panel(panel, width, transposed ? b + j * ldb + k0 : b + k0 * ldb + j, ldb, transposed,
                           columns, kc);
                product(c + i * ldc + j, ldc, a + i * ra + k0 * ca, ra, ca, panel, width, rows, columns, kc,
                        add || k0);
            }
        }
    }
}
