// constructions.c: the operations in both precisions, and the head of attention that is a convolution ([LaS]
// Theorem B.1).
#include "constructions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <seqmix/ref.h>
#include <seqmix/smx.h>

const char *con_name(con_precision p) { return p == CON_FLOAT ? "float32, kernels" : "double, oracle"; }

// ---- Float arrays for one call: a block cut into 64-byte aligned pieces ---------------------------------
typedef struct {
    float *at;
    void *block;
} arena;
static size_t padded(size_t floats) { return (floats + 15) / 16 * 16; }
static int arena_open(arena *a, size_t floats, size_t pieces, size_t scratch_bytes) {
    a->block = malloc((floats + 16 * (pieces + 2)) * sizeof(float) + scratch_bytes);
    if (!a->block) return CON_NO_MEMORY;
    a->at = (float *)(((uintptr_t)a->block + 63) & ~(uintptr_t)63);
    return CON_OK;
}
static float *take(arena *a, size_t n) {
    float *p = a->at;
    a->at += padded(n);
    return p;
}
static float *narrow(arena *a, const double *x, size_t n) {
    float *p = take(a, n);
    for (size_t i = 0; i < n; i++) p[i] = (float)x[i];
    return p;
}
static void widen(double *y, const float *x, size_t n) {
    for (size_t i = 0; i < n; i++) y[i] = x[i];
}

int con_linear(double *y, const double *x, const double *w, size_t N, size_t in, size_t out,
               con_precision p) {
    if (p == CON_DOUBLE) {
        ref_linear_fwd(y, x, w, NULL, N, in, out);
        return CON_OK;
    }
    arena a;
    if (arena_open(&a, N * in + in * out + N * out, 3, smx_gemm_scratch_bytes(N, out, in)))
        return CON_NO_MEMORY;
    float *xf = narrow(&a, x, N * in), *wf = narrow(&a, w, in * out), *yf = take(&a, N * out);
    smx_gemm(yf, xf, wf, a.at, N, out, in, in, out, out, 0);
    widen(y, yf, N * out);
    free(a.block);
    return CON_OK;
}

int con_conv(double *y, const double *x, const double *f, size_t L, size_t D, size_t W, size_t future,
             con_precision p) {
    if (p == CON_DOUBLE) {
        ref_conv_fwd(y, x, f, 1, L, D, 1, W, future, D, D);
        return CON_OK;
    }
    arena a;
    const smx_conv s = {.B = 1, .L = L, .D = D, .groups = 1, .W = W, .future = future, .ldx = D, .ldy = D};
    if (arena_open(&a, 2 * L * D + W, 3, smx_conv_scratch_bytes(&s))) return CON_NO_MEMORY;
    float *xf = narrow(&a, x, L * D), *ff = narrow(&a, f, W), *yf = take(&a, L * D);
    smx_conv_fwd(yf, xf, ff, a.at, &s);
    widen(y, yf, L * D);
    free(a.block);
    return CON_OK;
}

int con_unitnorm(double *y, const double *x, size_t N, size_t D, con_precision p) {
    if (p == CON_DOUBLE) {
        double *rnorm = malloc((N + 1) * sizeof *rnorm);
        if (!rnorm) return CON_NO_MEMORY;
        ref_unitnorm_fwd(y, rnorm, x, N, D);
        free(rnorm);
        return CON_OK;
    }
    arena a;
    if (arena_open(&a, 2 * N * D + N, 3, 0)) return CON_NO_MEMORY;
    float *xf = narrow(&a, x, N * D), *yf = take(&a, N * D), *rnorm = take(&a, N);
    smx_unitnorm_fwd(yf, rnorm, xf, N, D);
    widen(y, yf, N * D);
    free(a.block);
    return CON_OK;
}

static int attention_double(double *o, double *map, const double *q, const double *k, const double *v,
                            const double *table, size_t L, size_t D, size_t H) {
    const ref_attention a = {.B = 1,
                             .L = L,
                             .D = D,
                             .H = H,
                             .stride = D,
                             .causal = 1,
                             .scale = 1 / sqrt((double)(D / H)),
                             .bias = table};
    double *stats = malloc((H * L * 2 + 1) * sizeof *stats);
    if (!stats) return CON_NO_MEMORY;
    ref_attention_fwd(o, stats, q, k, v, &a);
    for (size_t h = 0; map && h < H; h++) ref_attention_map(map + h * L * L, q, k, &a, 0, h);
    free(stats);
    return CON_OK;
}
static int attention_float(double *o, double *map, const double *q, const double *k, const double *v,
                           const double *table, size_t L, size_t D, size_t H) {
    smx_attention s = {.B = 1,
                       .L = L,
                       .D = D,
                       .H = H,
                       .stride = D,
                       .causal = 1,
                       .scale = (float)(1 / sqrt((double)(D / H)))};
    const size_t n = L * D, T = table ? H * (2 * L - 1) : 0;
    arena a;
    if (arena_open(&a, 4 * n + H * L * 2 + T + (map ? L * L : 0), 7, smx_attention_fwd_scratch_bytes(&s)))
        return CON_NO_MEMORY;
    float *qf = narrow(&a, q, n), *kf = narrow(&a, k, n), *vf = narrow(&a, v, n), *of = take(&a, n);
    float *stats = take(&a, H * L * 2), *mf = take(&a, map ? L * L : 0);
    if (table) s.bias = narrow(&a, table, T);
    smx_attention_fwd(of, stats, qf, kf, vf, a.at, &s);
    widen(o, of, n);
    for (size_t h = 0; map && h < H; h++) {
        smx_attention_map(mf, qf, kf, a.at, &s, 0, h);
        widen(map + h * L * L, mf, L * L);
    }
    free(a.block);
    return CON_OK;
}
int con_attention(double *o, double *map, const double *q, const double *k, const double *v,
                  const double *bias, size_t L, size_t D, size_t H, con_precision p) {
    double *table = NULL;
    if (bias) { // every head the same
        table = malloc(H * (2 * L - 1) * sizeof *table);
        if (!table) return CON_NO_MEMORY;
        for (size_t h = 0; h < H; h++) memcpy(table + h * (2 * L - 1), bias, (2 * L - 1) * sizeof *table);
    }
    const int status =
        (p == CON_DOUBLE ? attention_double : attention_float)(o, map, q, k, v, table, L, D, H);
    free(table);
    return status;
}

// ---- [LaS] Theorem B.1 ----------------------------------------------------------------------------------
static double part(double tap, int head, unsigned flags) { // k, or k+ and k-
    if (!(flags & CON_B1_SIGNED)) return tap;
    return head == 0 ? fmax(tap, 0) : fmax(-tap, 0);
}
static double logit(double weight) { return weight == 0 ? CON_LOG_ZERO : log(weight); }

// The extra token's logarithm is of a suffix sum: c less a running sum goes negative by rounding.
double con_las_b1_wq(double *wq, const double *kernel, size_t L, size_t d, size_t H, int head, double slack,
                     unsigned flags) {
    const double root = sqrt((double)d); // undoes the scale 1/sqrt(d)
    double rest = slack;                 // over t > i
    for (size_t i = L; i-- > 0;) {
        double *row = wq + (i + 1) * H * d + (size_t)head * d;
        row[0] = root * logit(rest);
        for (size_t j = 0; j < L; j++)
            row[j + 1] = j <= i ? root * logit(part(kernel[i - j], head, flags)) : 0;
        rest += part(kernel[i], head, flags);
    }
    return rest;
}

int con_las_b1(double *y, double *map, const double *kernel, const double *x, size_t L, size_t D,
               double slack, unsigned flags, con_precision p) {
    const size_t H = flags & CON_B1_SIGNED ? 2 : 1, P = L + 1, in = P + D, d = P > D ? P : D, E = H * d;
    double *s, *wq, *wk, *wv, *wo, *q, *k, *v, *o, *out;
    void *memory = ref_carve(&s, P * in, &wq, in * E, &wk, in * E, &wv, in * E, &wo, E * D, &q, P * E, &k,
                             P * E, &v, P * E, &o, P * E, &out, P * D, REF_END);
    if (!memory) return CON_NO_MEMORY;
    // Row 0: the extra token, with value 0. Row t + 1: x_t. Columns: one-hot position, then the value.
    for (size_t t = 0; t < P; t++) {
        s[t * in + t] = 1;
        if (t) memcpy(s + t * in + P, x + (t - 1) * D, D * sizeof *x);
    }
    for (size_t h = 0; h < H; h++) {
        const double c = con_las_b1_wq(wq, kernel, L, d, H, (int)h, slack, flags);
        for (size_t t = 0; t < P; t++) wk[t * E + h * d + t] = 1;
        for (size_t e = 0; e < D; e++) {
            wv[(P + e) * E + h * d + e] = 1;
            wo[(h * d + e) * D + e] = h ? -c : c;
        }
    }
    int status = con_linear(q, s, wq, P, in, E, p);
    if (!status) status = con_linear(k, s, wk, P, in, E, p);
    if (!status) status = con_linear(v, s, wv, P, in, E, p);
    if (!status) status = con_attention(o, map, q, k, v, NULL, P, E, H, p);
    if (!status) status = con_linear(out, o, wo, P, E, D, p);
    if (!status) memcpy(y, out + D, L * D * sizeof *y);
    free(memory);
    return status;
}
