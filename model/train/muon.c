// muon.c: Muon (Jordan et al. 2024) for the matrices of blocks, each update scaled as Liu et al. (2025,
// Eq. 4) have it, so that AdamW's rate serves both; all other weights, embedding and head among them, are
// AdamW's.
//   m = b m + (1 - b) g,  u = b m + (1 - b) g  (Nesterov),  x = u / |u|, five times x = a x + (b y + c y y) x
//   with y = x x^T,  p = (1 - rate decay) p - rate 0.2 sqrt(max(rows, columns)) x
// A tall matrix has y = x^T x and its polynomial on the right instead. All of it are products in float32:
// the same bits everywhere.
#include "optimiser.h"

#include <string.h>

#include "kernels/core/mathd.h"

enum { ROUNDS = 5 };
static const float A = 3.4445f, B = -4.7750f, C = 2.0315f;

static int takes(const param *w) { return w->rank == 2 && w->decays && strchr(w->name, '.'); }

static size_t padded(const param *w) { return (w->n + 15) / 16 * 16; }
// x, the next x, y (no larger than x), and what is made of y; then what products need.
static size_t scratch(const param *w) {
    const size_t rows = w->shape[0], columns = w->shape[1], longer = rows > columns ? rows : columns;
    return 4 * padded(w) + smx_gemm_scratch_bytes(longer, longer, longer) / sizeof(float);
}

static void update(const train_step *s, const train_weight *w) {
    const size_t n = w->weight->n, rows = w->weight->shape[0], columns = w->weight->shape[1];
    const int tall = rows > columns;
    const size_t k = tall ? columns : rows, longer = tall ? rows : columns, room = padded(w->weight);
    const float b = (float)s->settings->beta1, rest = 1.0f - b;
    float *m = w->moment[0], *x = w->scratch, *next = x + room, *y = next + room, *z = y + room,
          *products = z + room;
    smx_scale(m, m, b, n);
    smx_axpy(m, w->grad, rest * s->clip, n);
    smx_scale(x, m, b, n);
    smx_axpy(x, w->grad, rest * s->clip, n);
    smx_scale(x, x, (float)(1.0 / (md_sqrt(smx_sumsq(x, n)) + 1e-7)), n);
    for (int round = 0; round < ROUNDS; round++) {
        smx_gemm(y, x, x, products, k, k, longer, columns, columns, k, tall ? SMX_TRANS_A : SMX_TRANS_B);
        smx_gemm(z, y, y, products, k, k, k, k, k, k, 0);
        smx_scale(z, z, C, k * k);
        smx_axpy(z, y, B, k * k);
        smx_scale(next, x, A, n);
        // (strides: columns is k where x is tall)
        smx_gemm(next, tall ? x : z, tall ? z : x, products, rows, columns, k, k, columns, columns,
                 SMX_ACCUMULATE);
        float *last = x;
        x = next, next = last;
    }
    if (w->decay > 0.0f) smx_scale(w->data, w->data, 1.0f - (float)s->rate * w->decay, n);
    smx_axpy(w->data, x, -(float)(s->rate * 0.2 * md_sqrt((double)longer)), n);
}

const optimiser OPTIMISER_MUON_ROW = {
    .moment = {"muon.m"},
    .takes = takes,
    .scratch = scratch,
    .update = update,
};
