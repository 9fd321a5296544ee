// ulp_cases.h: every kernel on random, adversarial and edge inputs, and its largest error against the double
// oracle in units of the last place. For ulp.c, which writes docs/ACCURACY.md, and test_ulp.c, which holds
// the ceilings.
//
// The unit is the last place of a scale s: 2^(floor(log2 s) - 23), s at least FLT_MIN.
// What s is, for each kernel:
//   each   the exact result itself              terms  the sum of the absolute values of what is added
//   array  the largest exact result of the array
//   input  a bound of the result that is named beside the kernel
//   norm   |x|_2 |k|_2 or |x|_2 sqrt(N), as transforms mix all rows
// Inputs are float32 words, the same for both sides, so that only the kernel's own rounding counts.
#ifndef ULP_CASES_H
#define ULP_CASES_H

#include "proofs_tests/support/check.h"
#include <seqmix/ref.h>

enum { ULP_RANDOM, ULP_ADVERSARIAL, ULP_EDGE, ULP_KINDS };
static const char *const ulp_kind_names[] = {"random", "adversarial", "edge"};
static int ulp_kind;
static double ulp_worst;

static double ulp_of(double scale) {
    scale = fabs(scale);
    return exp2(floor(log2(scale > 0x1p-126 ? scale : 0x1p-126)) - 23);
}
static void ulp_one(double got, double want, double scale) {
    const double e = got == want ? 0 : fabs(got - want) / ulp_of(scale);
    if (isnan(e) || e > ulp_worst) ulp_worst = isnan(e) ? INFINITY : e; // what should not be NaN, and is
}
static void ulp_each(const float *got, const double *want, size_t n) {
    for (size_t i = 0; i < n; i++) ulp_one(got[i], want[i], want[i]);
}
static void ulp_terms(const float *got, const double *want, const double *scale, size_t n) {
    for (size_t i = 0; i < n; i++) ulp_one(got[i], want[i], scale[i]);
}
static void ulp_scaled(const float *got, const double *want, double scale, size_t n) {
    for (size_t i = 0; i < n; i++) ulp_one(got[i], want[i], scale);
}
static void ulp_array(const float *got, const double *want, size_t n) {
    double most = 0;
    for (size_t i = 0; i < n; i++) most = fmax(most, fabs(want[i]));
    ulp_scaled(got, want, most, n);
}

// ---- Inputs ---------------------------------------------------------------------------------------------
// Adversarial: magnitudes over 12 octaves in pairs that cancel but for 2^-18. Edge: zeros, denormals, powers
// of two and their neighbours.
static float *ulp_in(size_t n) {
    static const float edges[] = {0.0f,          -0.0f,          1.0f,      -1.0f, 0x1p-126f,      -0x1p-130f,
                                  0x1.fffffep0f, -0x1.000002p0f, 0x1p-24f,  4.0f,  -0x1.fffffep1f, 0x1p-60f,
                                  0.1f,          -3.0f,          0x1p-149f, 2.5f};
    float *x = check_floats(n);
    for (size_t i = 0; i < n; i++) {
        const double r = check_uniform(-1, 1);
        if (ulp_kind == ULP_RANDOM)
            x[i] = (float)r;
        else if (ulp_kind == ULP_EDGE)
            x[i] = edges[(i * 7 + check_next() % 3) % CHECK_COUNT(edges)];
        else
            x[i] = i % 2 ? (float)(-(double)x[i - 1] * (1 + r * 0x1p-18))
                         : (float)((r < 0 ? -1 : 1) * exp2(check_uniform(-6, 6)));
    }
    return x;
}
// For functions of one number: uniform, over all exponents, and special points.
static float *ulp_points(size_t n, double low, double high) {
    static const float edges[] = {
        0.0f,  -0.0f,         0x1p-149f,      -0x1p-149f, 0x1p-126f, 0.625f, -0.625f, 0x1.3ffffep-1f, 1.0f,
        -1.0f, 0x1.62e43p-1f, -0x1.62e43p-1f, 0x1p-12f,   -0x1p-13f, 17.5f,  88.0f,   -86.5f};
    float *x = check_floats(n);
    for (size_t i = 0; i < n; i++) {
        double v = check_uniform(low, high);
        if (ulp_kind == ULP_ADVERSARIAL)
            v = (v < 0 ? -1 : 1) * exp2(check_uniform(-40, log2(v < 0 ? -low : high)));
        if (ulp_kind == ULP_EDGE) v = edges[i % CHECK_COUNT(edges)];
        x[i] = (float)fmax(low, fmin(high, v));
    }
    return x;
}
static float *ulp_range(size_t n, double low, double high) { return check_random(n, low, high); }
static double *ulp_wide(const float *x, size_t n) { return check_widen(x, n); }
static double *ulp_abs(const float *x, size_t n) {
    double *y = check_widen(x, n);
    for (size_t i = 0; i < n; i++) y[i] = fabs(y[i]);
    return y;
}
static float *ulp_zero(size_t n) { return check_filled(n, 0.0f); }
static double *ulp_zero_wide(size_t n) {
    double *x = check_doubles(n);
    memset(x, 0, n * sizeof *x);
    return x;
}
static size_t ulp_size(size_t random, size_t adversarial, size_t edge) {
    return ulp_kind == ULP_RANDOM ? random : ulp_kind == ULP_ADVERSARIAL ? adversarial : edge;
}
#define ULP_N ulp_size(1000, 5000, 17)
// B, L, D, H of a batch of sequences
#define ULP_SHAPE                                                                                            \
    const size_t B = ulp_size(2, 1, 1), L = ulp_size(70, 600, 5), H = ulp_size(2, 1, 2),                     \
                 D = ulp_size(24, 16, 6), n = B * L * D;                                                     \
    (void)H, (void)n

#include "twins.h"

// ---- Products, sums -------------------------------------------------------------------------------------
static void ulp_gemm(void) {
    const size_t M = ulp_size(30, 8, 3), N = ulp_size(40, 20, 5), K = ulp_size(100, 5000, 1);
    float *a = ulp_in(M * K), *b = ulp_in(K * N), *c = check_floats(M * N);
    double *want = check_doubles(M * N), *scale = check_doubles(M * N);
    smx_gemm(c, a, b, check_scratch(smx_gemm_scratch_bytes(M, N, K)), M, N, K, K, N, N, 0);
    ref_gemm(want, ulp_wide(a, M * K), ulp_wide(b, K * N), M, N, K, K, N, N, 0);
    ref_gemm(scale, ulp_abs(a, M * K), ulp_abs(b, K * N), M, N, K, K, N, N, 0);
    ulp_terms(c, want, scale, M * N);
}
static void ulp_sum(void) {
    float *x = ulp_in(ULP_N), got = smx_sum(x, ULP_N);
    ulp_one(got, ref_sum(ulp_wide(x, ULP_N), ULP_N), ref_sum(ulp_abs(x, ULP_N), ULP_N));
}
static void ulp_dot(void) {
    float *x = ulp_in(ULP_N), *y = ulp_in(ULP_N), got = smx_dot(x, y, ULP_N);
    ulp_one(got, ref_dot(ulp_wide(x, ULP_N), ulp_wide(y, ULP_N), ULP_N),
            ref_dot(ulp_abs(x, ULP_N), ulp_abs(y, ULP_N), ULP_N));
}
static void ulp_sumsq(void) {
    float *x = ulp_in(ULP_N);
    const double want = ref_sumsq(ulp_wide(x, ULP_N), ULP_N);
    ulp_one(smx_sumsq(x, ULP_N), want, want);
}

// ---- Elementwise ----------------------------------------------------------------------------------------
#define ULP_BINARY(name, scale_of)                                                                           \
    static void ulp_##name(void) {                                                                           \
        const size_t n = ULP_N;                                                                              \
        float *a = ulp_in(n), *b = ulp_in(n), *y = check_floats(n);                                          \
        double *want = check_doubles(n);                                                                     \
        smx_##name(y, a, b, n);                                                                              \
        ref_##name(want, ulp_wide(a, n), ulp_wide(b, n), n);                                                 \
        for (size_t i = 0; i < n; i++) ulp_one(y[i], want[i], scale_of);                                     \
    }
ULP_BINARY(add, want[i])
ULP_BINARY(mul, want[i])
static void ulp_scale(void) {
    const size_t n = ULP_N;
    float *x = ulp_in(n), *y = check_floats(n);
    double *want = check_doubles(n);
    smx_scale(y, x, 0.3f, n);
    ref_scale(want, ulp_wide(x, n), (double)0.3f, n);
    ulp_each(y, want, n);
}
static void ulp_axpy(void) { // input: |y| + |s x|
    const size_t n = ULP_N;
    float *x = ulp_in(n), *y = ulp_in(n);
    double *want = ulp_wide(y, n), *scale = ulp_abs(y, n);
    smx_axpy(y, x, 0.3f, n);
    ref_axpy(want, ulp_wide(x, n), (double)0.3f, n);
    ref_axpy(scale, ulp_abs(x, n), (double)0.3f, n);
    ulp_terms(y, want, scale, n);
}
#define ULP_UNARY(name, low, high, scale_of)                                                                 \
    static void ulp_##name##_fwd(void) {                                                                     \
        const size_t n = 4000;                                                                               \
        float *x = ulp_points(n, low, high), *y = check_floats(n);                                           \
        double *want = check_doubles(n);                                                                     \
        smx_##name##_fwd(y, x, n);                                                                           \
        ref_##name##_fwd(want, ulp_wide(x, n), n);                                                           \
        for (size_t i = 0; i < n; i++) ulp_one(y[i], want[i], scale_of);                                     \
    }
#define ULP_UNARY_BACK(name, low, high) /* input: |dy| */                                                    \
    static void ulp_##name##_bwd(void) {                                                                     \
        const size_t n = 4000;                                                                               \
        float *x = ulp_points(n, low, high), *dy = ulp_range(n, 0.5, 2), *dx = check_floats(n);              \
        double *want = check_doubles(n);                                                                     \
        smx_##name##_bwd(dx, dy, x, n);                                                                      \
        ref_##name##_bwd(want, ulp_wide(dy, n), ulp_wide(x, n), n);                                          \
        for (size_t i = 0; i < n; i++) ulp_one(dx[i], want[i], dy[i]);                                       \
    }
static void ulp_softplus_exact_fwd(double *y, const double *x, size_t n) {
    for (size_t i = 0; i < n; i++) y[i] = x[i] > 0 ? x[i] + log1p(exp(-x[i])) : log1p(exp(x[i]));
}
static void ulp_softplus_exact_bwd(double *dx, const double *dy, const double *x, size_t n) {
    for (size_t i = 0; i < n; i++) dx[i] = dy[i] / (1 + exp(-x[i]));
}
#define ref_softplus_fwd ulp_softplus_exact_fwd // the oracle has it inside its layers only
#define ref_softplus_bwd ulp_softplus_exact_bwd
ULP_UNARY(exp, -86.5, 88, want[i])
ULP_UNARY(log, 0x1p-149, 1e38, want[i])
ULP_UNARY(tanh, -90, 90, want[i])
ULP_UNARY(sigmoid, -86.5, 90, want[i])
ULP_UNARY(silu, -86.5, 90, want[i])
ULP_UNARY(gelu, -90, 90, x[i]) // input: |x|
ULP_UNARY(softplus, -86.5, 90, want[i])
ULP_UNARY(elu1, -86.5, 90, want[i])
ULP_UNARY_BACK(gelu, -20, 20)
ULP_UNARY_BACK(silu, -90, 90)
ULP_UNARY_BACK(softplus, -86.5, 90)
ULP_UNARY_BACK(sigmoid, 0, 1)
ULP_UNARY_BACK(tanh, -1, 1)
ULP_UNARY_BACK(elu1, 0, 8)
static void ulp_sincos_fwd(void) { // input: 1
    const size_t n = 4000;
    float *x = ulp_points(n, -8192, 8192), *s = check_floats(n), *c = check_floats(n);
    double *ws = check_doubles(n), *wc = check_doubles(n);
    smx_sincos_fwd(s, c, x, n);
    ref_sincos_fwd(ws, wc, ulp_wide(x, n), n);
    ulp_scaled(s, ws, 1, n);
    ulp_scaled(c, wc, 1, n);
}
static void ulp_theta(int triangle, int back) {
    const size_t n = 4000;
    float *x = ulp_points(n, -12, 12), *dy = ulp_range(n, 0.5, 2), *got = check_floats(n);
    double *want = check_doubles(n);
    if (back) {
        smx_theta_bwd(got, dy, x, n, triangle);
        for (size_t i = 0; i < n; i += 2) { // sigma' = sigma(1 - sigma); the triangle's chain rule
            const double u = (double)x[i], v = (double)x[i + 1], g = (double)dy[i], h = (double)dy[i + 1];
            const double most = 1 - 0x1p-20, t = fmax(-most, fmin(most, tanh(u))),
                         s = fmax(-most, fmin(most, tanh(v)));
            const double p = fmin(most, 1 / (1 + exp(-u))), q = fmin(most, 1 / (1 + exp(-v)));
            // No gradient where the value is held.
            want[i] = triangle   ? g * (1 + s) * (fabs(t) < most ? 1 - t * t : 0)
                      : p < most ? g * p * (1 - p)
                                 : 0;
            want[i + 1] = triangle   ? (h + g * t) * (fabs(s) < most ? 1 - s * s : 0)
                          : q < most ? h * q * (1 - q)
                                     : 0;
        }
        ulp_scaled(got, want, 2, n);
    } else {
        smx_theta_fwd(got, x, n, triangle);
        const double most = 1 - 0x1p-20;
        for (size_t i = 0; i < n; i += 2) {
            const double u = (double)x[i], v = (double)x[i + 1], s = fmax(-most, fmin(most, tanh(v)));
            want[i] = triangle ? (1 + s) * fmax(-most, fmin(most, tanh(u))) : fmin(most, 1 / (1 + exp(-u)));
            want[i + 1] = triangle ? s : fmin(most, 1 / (1 + exp(-v)));
        }
        ulp_scaled(got, want, 1, n);
    }
}
static void ulp_theta_fwd(void) { ulp_theta(0, 0), ulp_theta(1, 0); } // input: 1
static void ulp_theta_bwd(void) { ulp_theta(0, 1), ulp_theta(1, 1); } // input: |dtheta|
static void ulp_affine_fwd(void) {                                    // input: |gain x| + |bias|
    const size_t N = 5, D = ULP_N;
    float *x = ulp_in(N * D), *g = ulp_in(D), *b = ulp_in(D), *y = check_floats(N * D);
    smx_affine_fwd(y, x, g, b, N, D);
    for (size_t i = 0; i < N * D; i++) {
        const double p = (double)g[i % D] * (double)x[i], q = b[i % D];
        ulp_one(y[i], p + q, fabs(p) + fabs(q));
    }
}
static void ulp_affine_bwd(void) {
    const size_t N = ULP_N, D = 20;
    float *x = ulp_in(N * D), *g = ulp_in(D), *dy = ulp_in(N * D), *dx = check_floats(N * D),
          *dg = ulp_zero(D), *db = ulp_zero(D);
    smx_affine_bwd(dx, dg, db, dy, x, g, N, D);
    for (size_t c = 0; c < D; c++) {
        double wg = 0, sg = 0, wb = 0, sb = 0;
        for (size_t i = 0; i < N; i++) {
            const double d = dy[i * D + c], p = d * (double)x[i * D + c];
            wg += p, sg += fabs(p), wb += d, sb += fabs(d);
            ulp_one(dx[i * D + c], d * (double)g[c], d * (double)g[c]);
        }
        ulp_one(dg[c], wg, sg), ulp_one(db[c], wb, sb);
    }
}
static void ulp_gate_fwd(void) { // input: |g a| + |(1 - g) b|
    const size_t n = ULP_N;
    float *g = ulp_range(n, 0, 1), *a = ulp_in(n), *b = ulp_in(n), *y = check_floats(n);
    smx_gate_fwd(y, g, a, b, n);
    for (size_t i = 0; i < n; i++) {
        const double p = (double)g[i] * (double)a[i], q = (1 - (double)g[i]) * (double)b[i];
        ulp_one(y[i], p + q, fabs(p) + fabs(q));
    }
}
static void ulp_gate_bwd(void) { // input: |dy| (|a| + |b|), and |dy|
    const size_t n = ULP_N;
    float *g = ulp_range(n, 0, 1), *a = ulp_in(n), *b = ulp_in(n), *dy = ulp_in(n);
    float *dg = check_floats(n), *da = check_floats(n), *db = check_floats(n);
    smx_gate_bwd(dg, da, db, dy, g, a, b, n);
    for (size_t i = 0; i < n; i++) {
        const double d = dy[i], p = a[i], q = b[i];
        ulp_one(dg[i], d * (p - q), d * (fabs(p) + fabs(q)));
        ulp_one(da[i], d * (double)g[i], d), ulp_one(db[i], d * (1 - (double)g[i]), d);
    }
}

// ---- Attention ------------------------------------------------------------------------------------------
static void ulp_attention(int part) { // 0 forward, 1 backward, 2 map, 3 maps forward, 4 maps backward
    ULP_SHAPE;
    float *q = ulp_in(n), *k = ulp_in(n), *v = ulp_in(n), *dout = ulp_in(n), *o = check_floats(n),
          *stats = check_floats(B * H * L * 2);
    float *dq = check_floats(n), *dk = check_floats(n), *dv = check_floats(n), *mix = ulp_in(H * H),
          *dmix = ulp_zero(H * H);
    const smx_attention p = {.B = B, .L = L, .D = D, .H = H, .stride = D, .causal = 1, .scale = 0.25f};
    const ref_attention r = {.B = B, .L = L, .D = D, .H = H, .stride = D, .causal = 1, .scale = 0.25};
    double *qd = ulp_wide(q, n), *kd = ulp_wide(k, n), *vd = ulp_wide(v, n), *dd = ulp_wide(dout, n),
           *md = ulp_wide(mix, H * H);
    double *od = check_doubles(n), *sd = check_doubles(B * H * L * 2), *wq = check_doubles(n),
           *wk = check_doubles(n), *wv = check_doubles(n);
    double *wmix = ulp_zero_wide(H * H);
    if (part < 3) {
        smx_attention_fwd(o, stats, q, k, v, check_scratch(smx_attention_fwd_scratch_bytes(&p)), &p);
        ref_attention_fwd(od, sd, qd, kd, vd, &r);
    } else {
        smx_attention_maps_fwd(o, stats, q, k, v, mix,
                               check_scratch(smx_attention_maps_fwd_scratch_bytes(&p)), &p);
        ref_attention_maps_fwd(od, sd, qd, kd, vd, md, &r);
    }
    if (part == 0 || part == 3) ulp_array(o, od, n);
    if (part == 1) {
        smx_attention_bwd(dq, dk, dv, dout, q, k, v, o, stats,
                          check_scratch(smx_attention_bwd_scratch_bytes(&p)), &p);
        ref_attention_bwd(wq, wk, wv, dd, qd, kd, vd, od, sd, &r);
    }
    if (part == 4) {
        smx_attention_maps_bwd(dq, dk, dv, dmix, dout, q, k, v, mix, stats,
                               check_scratch(smx_attention_maps_bwd_scratch_bytes(&p)), &p);
        ref_attention_maps_bwd(wq, wk, wv, wmix, dd, qd, kd, vd, md, sd, &r);
        ulp_array(dmix, wmix, H * H);
    }
    if (part == 1 || part == 4) ulp_array(dq, wq, n), ulp_array(dk, wk, n), ulp_array(dv, wv, n);
    if (part == 2) {
        float *map = check_floats(L * L);
        double *want = check_doubles(L * L);
        smx_attention_map(map, q, k, check_scratch(smx_attention_fwd_scratch_bytes(&p)), &p, B - 1, H - 1);
        ref_attention_map(want, qd, kd, &r, B - 1, H - 1);
        ulp_scaled(map, want, 1, L * L);
    }
}
static void ulp_attention_fwd(void) { ulp_attention(0); }
static void ulp_attention_bwd(void) { ulp_attention(1); }
static void ulp_attention_map(void) { ulp_attention(2); }
static void ulp_attention_maps_fwd(void) { ulp_attention(3); }
static void ulp_attention_maps_bwd(void) { ulp_attention(4); }

static void ulp_linattn(int back) { // positive features with the sum, any with no normaliser
    ULP_SHAPE;
    for (int norm = SMX_LINATTN_NONE; norm <= SMX_LINATTN_SUM; norm++) {
        float *q = norm == SMX_LINATTN_SUM ? ulp_range(n, 0.01, 2) : ulp_in(n),
              *k = norm == SMX_LINATTN_SUM ? ulp_range(n, 0.01, 2) : ulp_in(n);
        float *v = ulp_in(n), *dy = ulp_in(n), *y = check_floats(n), *r = check_floats(B * H * L);
        float *dq = check_floats(n), *dk = check_floats(n), *dv = check_floats(n);
        const smx_linattn p = {B, L, D, H, D, 16, norm, 1e-5f};
        const ref_linattn w = {B, L, D, H, D, 16, (ref_linattn_norm)norm, (double)1e-5f, 0};
        double *qd = ulp_wide(q, n), *kd = ulp_wide(k, n), *vd = ulp_wide(v, n);
        double *yd = check_doubles(n), *rd = check_doubles(B * H * L), *wq = check_doubles(n),
               *wk = check_doubles(n), *wv = check_doubles(n);
        smx_linattn_fwd(y, r, q, k, v, check_scratch(smx_linattn_fwd_scratch_bytes(&p)), &p);
        ref_linattn_fwd(yd, rd, qd, kd, vd, &w);
        if (!back) {
            ulp_array(y, yd, n);
        } else {
            smx_linattn_bwd(dq, dk, dv, dy, q, k, v, y, r, check_scratch(smx_linattn_bwd_scratch_bytes(&p)),
                            &p);
            ref_linattn_bwd(wq, wk, wv, ulp_wide(dy, n), qd, kd, vd, yd, rd, &w);
            ulp_array(dq, wq, n), ulp_array(dk, wk, n), ulp_array(dv, wv, n);
        }
    }
}
static void ulp_linattn_fwd(void) { ulp_linattn(0); }
static void ulp_linattn_bwd(void) { ulp_linattn(1); }
static void ulp_landmark(int back) { // the choice itself is held fixed: rows are ranked by products far apart
    ULP_SHAPE;
    float *q = ulp_in(n), *k = ulp_in(n), *v = ulp_in(n), *dout = ulp_in(n), *marks = ulp_range(n, -1, 1),
          *o = check_floats(n);
    float *stats = check_floats(B * H * L * 2), *dq = check_floats(n), *dk = check_floats(n),
          *dv = check_floats(n);
    int32_t *chosen = check_ints(B * H * L), *want_chosen = check_ints(B * H * L);
    const smx_landmark p = {B, L, D, H, D, 8, 0.25f};
    const ref_landmark r = {B, L, D, H, D, 8, 0.25};
    double *qd = ulp_wide(q, n), *kd = ulp_wide(k, n), *vd = ulp_wide(v, n), *od = check_doubles(n),
           *sd = check_doubles(B * H * L * 2);
    double *wq = check_doubles(n), *wk = check_doubles(n), *wv = check_doubles(n);
    smx_landmark_fwd(o, stats, chosen, q, k, v, marks, check_scratch(smx_landmark_fwd_scratch_bytes(&p)), &p);
    ref_landmark_fwd(od, sd, want_chosen, qd, kd, vd, ulp_wide(marks, n), &r);
    for (size_t i = 0; i < B * H * L; i++) ulp_one(chosen[i], want_chosen[i], 0x1p23); // in units of 1
    if (!back) {
        ulp_array(o, od, n);
    } else {
        smx_landmark_bwd(dq, dk, dv, dout, q, k, v, o, stats, chosen,
                         check_scratch(smx_landmark_bwd_scratch_bytes(&p)), &p);
        ref_landmark_bwd(wq, wk, wv, ulp_wide(dout, n), qd, kd, vd, od, sd, want_chosen, &r);
        ulp_array(dq, wq, n), ulp_array(dk, wk, n), ulp_array(dv, wv, n);
    }
}
static void ulp_landmark_fwd(void) { ulp_landmark(0); }
static void ulp_landmark_bwd(void) { ulp_landmark(1); }

// ---- Convolutions, transforms, recurrences --------------------------------------------------------------
static void ulp_conv(int back) {
    ULP_SHAPE;
    const size_t W = ulp_size(7, 200, 3), G = H, future = 1;
    float *x = ulp_in(n), *f = ulp_in(G * W), *dy = ulp_in(n), *y = check_floats(n), *df = ulp_zero(G * W);
    double *want = check_doubles(n), *scale = check_doubles(n), *wf = ulp_zero_wide(G * W),
           *sf = ulp_zero_wide(G * W);
    const smx_conv p = {B, L, D, G, W, future, D, D};
    void *scratch = check_scratch(smx_conv_scratch_bytes(&p));
    if (!back) {
        smx_conv_fwd(y, x, f, scratch, &p);
        ref_conv_fwd(want, ulp_wide(x, n), ulp_wide(f, G * W), B, L, D, G, W, future, D, D);
        ref_conv_fwd(scale, ulp_abs(x, n), ulp_abs(f, G * W), B, L, D, G, W, future, D, D);
    } else {
        smx_conv_bwd(y, df, dy, x, f, scratch, &p);
        ref_conv_bwd(want, wf, ulp_wide(dy, n), ulp_wide(x, n), ulp_wide(f, G * W), B, L, D, G, W, future, D,
                     D);
        ref_conv_bwd(scale, sf, ulp_abs(dy, n), ulp_abs(x, n), ulp_abs(f, G * W), B, L, D, G, W, future, D,
                     D);
        ulp_terms(df, wf, sf, G * W);
    }
    ulp_terms(y, want, scale, n);
}
static void ulp_conv_fwd(void) { ulp_conv(0); }
static void ulp_conv_bwd(void) { ulp_conv(1); }
static void ulp_conv_heads(int back) {
    const size_t B = 1, H = 4, L = ulp_size(70, 400, 5), D = ulp_size(24, 16, 8), n = B * L * D,
                 W = ulp_size(5, 60, 2), m = W * H * H;
    float *x = ulp_in(n), *f = ulp_in(m), *dy = ulp_in(n), *y = check_floats(n), *df = ulp_zero(m);
    double *want = check_doubles(n), *scale = check_doubles(n), *wf = ulp_zero_wide(m),
           *sf = ulp_zero_wide(m);
    const smx_conv_heads p = {B, L, D, H, W, D, D};
    void *scratch = check_scratch(smx_conv_heads_scratch_bytes(&p));
    if (!back) {
        smx_conv_heads_fwd(y, x, f, scratch, &p);
        ref_conv_heads_fwd(want, ulp_wide(x, n), ulp_wide(f, m), B, L, D, H, W, D, D);
        ref_conv_heads_fwd(scale, ulp_abs(x, n), ulp_abs(f, m), B, L, D, H, W, D, D);
    } else {
        smx_conv_heads_bwd(y, df, dy, x, f, scratch, &p);
        ref_conv_heads_bwd(want, wf, ulp_wide(dy, n), ulp_wide(x, n), ulp_wide(f, m), B, L, D, H, W, D, D);
        ref_conv_heads_bwd(scale, sf, ulp_abs(dy, n), ulp_abs(x, n), ulp_abs(f, m), B, L, D, H, W, D, D);
        ulp_terms(df, wf, sf, m);
    }
    ulp_terms(y, want, scale, n);
}
static void ulp_conv_heads_fwd(void) { ulp_conv_heads(0); }
static void ulp_conv_heads_bwd(void) { ulp_conv_heads(1); }
static double ulp_norm2(const float *x, size_t n, size_t stride) {
    double s = 0;
    for (size_t i = 0; i < n; i++) s += (double)x[i * stride] * (double)x[i * stride];
    return sqrt(s);
}
static void ulp_rfft(int inverse) { // norm: |x|_2 sqrt(N); back: |spectrum|_2 / sqrt(N)
    const size_t N = ulp_size(64, 1024, 2), D = 5, rows = 2 * (N / 2 + 1), n = N * D, m = rows * D;
    float *table = check_floats(smx_fft_table_floats(N)), *x = ulp_in(inverse ? m : n),
          *y = check_floats(inverse ? n : m);
    double *want = check_doubles(inverse ? n : m);
    smx_fft_table(table, N);
    (inverse ? smx_rfft_inv : smx_rfft_fwd)(y, x, table, check_scratch(smx_rfft_scratch_bytes(N)), 1, N, D);
    (inverse ? ref_rfft_inv : ref_rfft_fwd)(want, ulp_wide(x, inverse ? m : n), 1, N, D);
    for (size_t c = 0; c < D; c++)
        for (size_t i = 0; i < (inverse ? N : rows); i++)
            ulp_one(y[i * D + c], want[i * D + c],
                    inverse ? ulp_norm2(x + c, rows, D) / sqrt((double)N) * 1.5
                            : ulp_norm2(x + c, N, D) * sqrt((double)N));
}
static void ulp_rfft_fwd(void) { ulp_rfft(0); }
static void ulp_rfft_inv(void) { ulp_rfft(1); }
static void ulp_longconv(int back) { // norm: |x|_2 |k|_2 of the channel
    const size_t L = ulp_size(70, 600, 5), D = 6, n = L * D;
    float *x = ulp_in(n), *k = ulp_in(n), *dy = ulp_in(n), *y = check_floats(n), *dk = ulp_zero(n),
          *skip = ulp_in(D), *dskip = ulp_zero(D);
    float *spectrum = check_floats(smx_longconv_spectrum_floats(L, D)),
          *table = check_floats(smx_fft_table_floats(smx_longconv_rows(L)));
    double *want = check_doubles(n), *wk = ulp_zero_wide(n), *wskip = ulp_zero_wide(D);
    void *scratch = check_scratch(smx_longconv_scratch_bytes(L));
    smx_fft_table(table, smx_longconv_rows(L));
    const smx_longconv p = {1, L, D, L, 0, D};
    const smx_longconv_weights weights = {k, skip};
    smx_longconv_fwd(y, spectrum, x, &weights, table, scratch, &p);
    ref_longconv_fwd(want, ulp_wide(x, n), ulp_wide(k, n), ulp_wide(skip, D), 1, L, D, L, 0, D);
    if (back) {
        const smx_longconv_gradients dweights = {dk, dskip};
        smx_longconv_bwd(y, &dweights, dy, x, &weights, spectrum, table, scratch, &p);
        ref_longconv_bwd(want, wk, wskip, ulp_wide(dy, n), ulp_wide(x, n), ulp_wide(k, n), ulp_wide(skip, D),
                         1, L, D, L, 0, D);
    }
    for (size_t c = 0; c < D; c++) {
        const double xx = ulp_norm2(x + c, L, D), kk = ulp_norm2(k + c * L, L, 1) + fabs((double)skip[c]),
                     dd = ulp_norm2(dy + c, L, D);
        for (size_t t = 0; t < L; t++) {
            ulp_one(y[t * D + c], want[t * D + c], (back ? dd : xx) * kk);
            if (back) ulp_one(dk[c * L + t], wk[c * L + t], dd * xx);
        }
        if (back) ulp_one(dskip[c], wskip[c], dd * xx);
    }
}
static void ulp_longconv_fwd(void) { ulp_longconv(0); }
static void ulp_longconv_bwd(void) { ulp_longconv(1); }
static void ulp_iir(int back) { // pole radius up to 0.99: the rounding of a step lives on for a while
    const size_t L = ulp_size(64, 512, 6), D = 5, F = 2, bins = 2, n = L * D, m = bins * D * F * 2;
    for (int mode = SMX_IIR_CAUSAL; mode <= SMX_IIR_LITERAL; mode++) {
        float *x = ulp_in(n), *theta = ulp_range(m, 0.02, 0.98), *dy = ulp_in(n), *y = check_floats(n),
              *dtheta = check_floats(m);
        float *table = check_floats(smx_iir_table_floats(L / bins));
        double *want = check_doubles(n), *wt = check_doubles(m);
        const smx_iir p = {1, L, D, bins, F, mode};
        static const ref_focus_mode modes[] = {REF_FOCUS_CAUSAL, REF_FOCUS_CARRY, REF_FOCUS_LITERAL};
        const ref_focus_filter r = {L, D, bins, F, modes[mode]};
        if (mode == SMX_IIR_CARRY) // Theta_0 + Theta_1 < 1, where a carried state stays bounded
            for (size_t i = 0; i < m; i++) theta[i] *= 0.49f;
        smx_iir_table(table, L / bins);
        void *scratch = check_scratch(smx_iir_scratch_bytes(&p));
        if (back) {
            smx_iir_bwd(y, dtheta, dy, x, theta, table, scratch, &p);
            if (ref_focus_filter_bwd(want, wt, ulp_wide(dy, n), ulp_wide(x, n), ulp_wide(theta, m), &r))
                check_fail("no memory");
            ulp_array(dtheta, wt, m);
        } else {
            smx_iir_fwd(y, x, theta, table, scratch, &p);
            if (ref_focus_filter_fwd(want, ulp_wide(x, n), ulp_wide(theta, m), &r)) check_fail("no memory");
        }
        ulp_array(y, want, n);
    }
}
static void ulp_iir_fwd(void) { ulp_iir(0); }
static void ulp_iir_bwd(void) { ulp_iir(1); }
static void ulp_ema(int back) {
    const size_t L = ulp_size(70, 500, 5), D = 5, S = 3, n = L * D, m = D * S;
    float *x = ulp_in(n), *a = ulp_range(m, -2, 2), *d = ulp_range(m, -2, 2), *b = ulp_range(m, -1, 1),
          *e = ulp_range(m, -1, 1), *skip = ulp_in(D);
    float *dy = ulp_in(n), *y = check_floats(n), *da = ulp_zero(m), *dd = ulp_zero(m), *db = ulp_zero(m),
          *de = ulp_zero(m), *ds = ulp_zero(D);
    double *want = check_doubles(n), *wa = ulp_zero_wide(m), *wd = ulp_zero_wide(m), *wb = ulp_zero_wide(m),
           *we = ulp_zero_wide(m), *ws = ulp_zero_wide(D);
    const ref_mega_weights w = {ulp_wide(a, m), ulp_wide(d, m), ulp_wide(b, m), ulp_wide(e, m),
                                ulp_wide(skip, D)},
                           g = {wa, wd, wb, we, ws};
    void *scratch = check_scratch(smx_scan_scratch_bytes(L, D, S));
    float *states = check_floats(smx_scan_state_floats(L, D, S));
    const smx_ema p = {1, L, D, S};
    const smx_ema_weights weights = {a, d, b, e, skip};
    const smx_ema_gradients dweights = {da, dd, db, de, ds};
    smx_ema_fwd(y, states, x, &weights, scratch, &p);
    if (back) {
        smx_ema_bwd(y, &dweights, dy, x, &weights, states, scratch, &p);
        if (ref_mega_ema_bwd(want, &g, ulp_wide(dy, n), ulp_wide(x, n), &w, L, D, S)) check_fail("no memory");
        ulp_array(da, wa, m), ulp_array(dd, wd, m), ulp_array(db, wb, m), ulp_array(de, we, m),
            ulp_array(ds, ws, D);
    } else {
        if (ref_mega_ema_fwd(want, ulp_wide(x, n), &w, L, D, S)) check_fail("no memory");
    }
    ulp_array(y, want, n);
}
static void ulp_ema_fwd(void) { ulp_ema(0); }
static void ulp_ema_bwd(void) { ulp_ema(1); }
static void ulp_scan(int back) {
    const size_t L = ulp_size(70, 500, 5), D = 5, S = 3, n = L * D, m = L * S;
    float *x = ulp_in(n), *dt = ulp_range(n, 0.01, 0.5), *a = ulp_range(D * S, -1, 1), *b = ulp_in(m),
          *c = ulp_in(m), *skip = ulp_in(D), *dy = ulp_in(n);
    float *y = check_floats(n), *ddt = check_floats(n), *da = ulp_zero(D * S), *db = check_floats(m),
          *dc = check_floats(m), *ds = ulp_zero(D);
    double *want = check_doubles(n), *wdt = check_doubles(n), *wa = ulp_zero_wide(D * S),
           *wb = check_doubles(m), *wc = check_doubles(m), *ws = ulp_zero_wide(D);
    double *xd = ulp_wide(x, n), *td = ulp_wide(dt, n), *ad = ulp_wide(a, D * S), *bd = ulp_wide(b, m),
           *cd = ulp_wide(c, m), *sd = ulp_wide(skip, D);
    void *scratch = check_scratch(smx_scan_scratch_bytes(L, D, S));
    float *states = check_floats(smx_scan_state_floats(L, D, S));
    const smx_scan p = {1, L, D, S};
    const smx_scan_system system = {dt, a, b, c, skip};
    const smx_scan_gradients dsystem = {ddt, da, db, dc, ds};
    smx_scan_fwd(y, states, x, &system, scratch, &p);
    if (back) {
        smx_scan_bwd(y, &dsystem, dy, x, &system, states, scratch, &p);
        if (ref_selective_scan_bwd(want, wdt, wa, wb, wc, ws, ulp_wide(dy, n), xd, td, ad, bd, cd, sd, L, D,
                                   S))
            check_fail("no memory");
        ulp_array(ddt, wdt, n), ulp_array(da, wa, D * S), ulp_array(db, wb, m), ulp_array(dc, wc, m),
            ulp_array(ds, ws, D);
    } else {
        if (ref_selective_scan_fwd(want, xd, td, ad, bd, cd, sd, L, D, S)) check_fail("no memory");
    }
    ulp_array(y, want, n);
}
static void ulp_scan_fwd(void) { ulp_scan(0); }
static void ulp_scan_bwd(void) { ulp_scan(1); }
// Gates of each row and channel with a start state; keys no longer than 1.
// gla's beta is of size 1 in the oracle's v.
static void ulp_state(int back, int delta) {
    const size_t L = ulp_size(70, 500, 5), H = 2, dk = 6, dv = 5, nk = L * H * dk, nv = L * H * dv,
                 nb = L * H, ns = H * dk * dv;
    const smx_state p = {1, L, H, dk, dv, SMX_GATES_CHANNEL, 0, 0.5f};
    const ref_state r = {1, L, H, dk, dv, REF_GATES_CHANNEL, 0.5};
    float *q = ulp_in(nk), *k = delta ? ulp_range(nk, -0.4, 0.4) : ulp_in(nk), *v = ulp_in(nv),
          *beta = delta ? ulp_range(nb, 0, 1) : NULL, *g = ulp_range(nk, -2, 0), *start = ulp_in(ns),
          *dy = ulp_in(nv);
    float *y = check_floats(nv), *last = check_floats(ns),
          *states = check_floats(smx_state_floats(L, H, dk, dv));
    float *dq = check_floats(nk), *dk_ = check_floats(nk), *dv_ = check_floats(nv),
          *db = delta ? check_floats(nb) : NULL, *dg = check_floats(nk), *ds = check_floats(ns);
    double *qd = ulp_wide(q, nk), *kd = ulp_wide(k, nk), *vd = ulp_wide(v, nv), *gd = ulp_wide(g, nk),
           *sd = ulp_wide(start, ns), *bd = delta ? ulp_wide(beta, nb) : NULL;
    double *yd = check_doubles(nv), *lastd = check_doubles(ns), *wq = check_doubles(nk),
           *wk = check_doubles(nk), *wv = check_doubles(nv), *wb = check_doubles(nb), *wg = ulp_zero_wide(nk),
           *ws = check_doubles(ns);
    const smx_state_rows x = {q, k, v, beta, g, NULL};
    (delta ? smx_delta_fwd : smx_gla_fwd)(y, last, states, &x, start,
                                          check_scratch(smx_state_fwd_scratch_bytes(&p)), &p);
    if (!back) {
        if (!delta)
            ref_gla_fwd(yd, lastd, qd, kd, vd, gd, sd, &r);
        else if (ref_delta_fwd(yd, lastd, qd, kd, vd, bd, gd, sd, &r))
            check_fail("no memory");
        ulp_array(y, yd, nv), ulp_array(last, lastd, ns);
        return;
    }
    (delta ? smx_delta_bwd : smx_gla_bwd)(&(smx_state_gradients){dq, dk_, dv_, db, dg, NULL}, ds, dy, NULL,
                                          &x, states, check_scratch(smx_state_bwd_scratch_bytes(&p)), &p);
    double *dyd = ulp_wide(dy, nv);
    if (delta ? ref_delta_bwd(wq, wk, wv, wb, wg, ws, dyd, NULL, qd, kd, vd, bd, gd, sd, &r)
              : ref_gla_bwd(wq, wk, wv, wg, ws, dyd, NULL, qd, kd, vd, gd, sd, &r))
        check_fail("no memory");
    ulp_array(dq, wq, nk), ulp_array(dk_, wk, nk), ulp_array(dv_, wv, nv), ulp_array(dg, wg, nk),
        ulp_array(ds, ws, ns);
    if (delta) ulp_array(db, wb, nb);
}
static void ulp_gla_fwd(void) { ulp_state(0, 0); }
static void ulp_gla_bwd(void) { ulp_state(1, 0); }
static void ulp_delta_fwd(void) { ulp_state(0, 1); }
static void ulp_delta_bwd(void) { ulp_state(1, 1); }
static void ulp_recurrent(int back, int gru) {
    const size_t L = ulp_size(70, 500, 5), E = 6, n = L * E, nz = n * (gru ? 3 : 4),
                 nu = E * E * (gru ? 3 : 4);
    const smx_recurrent p = {1, L, E};
    const ref_recurrent r = {1, L, E};
    float *z = ulp_range(nz, -2, 2), *u = ulp_range(nu, -0.4, 0.4), *bias = ulp_range(3 * E, -1, 1),
          *start = ulp_range(2 * E, -1, 1), *dy = ulp_in(n);
    float *y = check_floats(n), *last = check_floats(2 * E), *saved = check_floats(5 * n),
          *dz = check_floats(nz), *du = ulp_zero(nu), *db = ulp_zero(3 * E), *ds = check_floats(2 * E);
    double *zd = ulp_wide(z, nz), *ud = ulp_wide(u, nu), *bd = ulp_wide(bias, 3 * E),
           *sd = ulp_wide(start, 2 * E), *dyd = ulp_wide(dy, n);
    double *yd = check_doubles(n), *lastd = check_doubles(2 * E), *wz = check_doubles(nz),
           *wu = ulp_zero_wide(nu), *wb = ulp_zero_wide(3 * E), *ws = check_doubles(2 * E);
    void *scratch = check_scratch(smx_recurrent_bwd_scratch_bytes(&p));
    if (gru)
        smx_gru_fwd(y, last, saved, z, u, bias, start, scratch, &p);
    else
        smx_lstm_fwd(y, last, saved, z, u, start, scratch, &p);
    if (!back) {
        if (gru ? ref_gru_fwd(yd, lastd, zd, ud, bd, sd, &r) : ref_lstm_fwd(yd, lastd, zd, ud, sd, &r))
            check_fail("no memory");
        ulp_array(y, yd, n), ulp_array(last, lastd, gru ? E : 2 * E);
        return;
    }
    if (gru)
        smx_gru_bwd(dz, du, db, ds, dy, NULL, y, u, saved, start, scratch, &p);
    else
        smx_lstm_bwd(dz, du, ds, dy, NULL, y, u, saved, start, scratch, &p);
    if (gru ? ref_gru_bwd(wz, wu, wb, ws, dyd, NULL, zd, ud, bd, sd, &r)
            : ref_lstm_bwd(wz, wu, ws, dyd, NULL, zd, ud, sd, &r))
        check_fail("no memory");
    ulp_array(dz, wz, nz), ulp_array(du, wu, nu), ulp_array(ds, ws, gru ? E : 2 * E);
    if (gru) ulp_array(db, wb, 3 * E);
}
static void ulp_lstm_fwd(void) { ulp_recurrent(0, 0); }
static void ulp_lstm_bwd(void) { ulp_recurrent(1, 0); }
static void ulp_gru_fwd(void) { ulp_recurrent(0, 1); }
static void ulp_gru_bwd(void) { ulp_recurrent(1, 1); }
static void ulp_s4d_fwd(void) { // angles dt a_im l up to some hundred: their rounding is the error
    const size_t L = ulp_size(70, 500, 5), D = 4, S = 3, n = L * D, m = D * S;
    float *dt = ulp_range(D, -7, -2), *a = ulp_range(m, -1, 0), *im = ulp_range(m, 0, 10), *c = ulp_in(2 * m),
          *k = check_floats(n);
    double *want = check_doubles(n);
    const ref_s4d_weights w = {ulp_wide(dt, D), ulp_wide(a, m), ulp_wide(im, m), ulp_wide(c, 2 * m), NULL};
    const smx_s4d_weights weights = {dt, a, im, c};
    smx_s4d_fwd(k, &weights, check_scratch(smx_s4d_scratch_bytes(L)), &(smx_s4d){L, D, S});
    if (ref_s4d_kernel_fwd(want, &w, L, D, S)) check_fail("no memory");
    ulp_array(k, want, n);
}
static void
ulp_s4d_bwd(void) { // the adjoint: <dK, K(w + h v)>' = <gradient, v>, against central differences in double
    const size_t L = ulp_size(70, 500, 5), D = 4, S = 3, n = L * D, m = D * S;
    float *at[4] = {ulp_range(D, -5, -2), ulp_range(m, -1, 0), ulp_range(m, 0, 5), ulp_in(2 * m)},
          *dk = ulp_in(n);
    const size_t count[4] = {D, m, m, 2 * m};
    float *g[4] = {ulp_zero(D), ulp_zero(m), ulp_zero(m), ulp_zero(2 * m)};
    double *w[4], *up = check_doubles(n), *down = check_doubles(n);
    for (int i = 0; i < 4; i++) w[i] = ulp_wide(at[i], count[i]);
    const smx_s4d_weights weights = {at[0], at[1], at[2], at[3]};
    const smx_s4d_gradients dweights = {g[0], g[1], g[2], g[3]};
    smx_s4d_bwd(&dweights, dk, &weights, check_scratch(smx_s4d_scratch_bytes(L)), &(smx_s4d){L, D, S});
    for (int i = 0; i < 4; i++) {
        double *want = check_doubles(count[i]);
        for (size_t j = 0; j < count[i]; j++) {
            const double kept = w[i][j], h = 1e-5;
            const ref_s4d_weights r = {w[0], w[1], w[2], w[3], NULL};
            w[i][j] = kept + h;
            if (ref_s4d_kernel_fwd(up, &r, L, D, S)) check_fail("no memory");
            w[i][j] = kept - h;
            if (ref_s4d_kernel_fwd(down, &r, L, D, S)) check_fail("no memory");
            w[i][j] = kept;
            want[j] = 0;
            for (size_t t = 0; t < n; t++) want[j] += (double)dk[t] * (up[t] - down[t]) / (2 * h);
        }
        ulp_array(g[i], want, count[i]);
    }
}

// ---- Norms, positions, pooling, loss, optimiser ---------------------------------------------------------
static void ulp_norm(int kind, int back) {
    const size_t N = 6, D = ulp_size(100, 3000, 5), n = N * D;
    float *x = ulp_in(n), *gain = ulp_range(D, 0.5, 1.5), *bias = ulp_range(D, -1, 1),
          *dy = ulp_range(n, -1, 1), *y = check_floats(n), *stats = check_floats(2 * N);
    float *dx = check_floats(n), *dg = ulp_zero(D), *db = ulp_zero(D);
    double *xd = ulp_wide(x, n), *gd = ulp_wide(gain, D), *bd = ulp_wide(bias, D), *dd = ulp_wide(dy, n);
    double *yd = check_doubles(n), *sd = check_doubles(2 * N), *wx = check_doubles(n), *wg = ulp_zero_wide(D),
           *wb = ulp_zero_wide(D);
    const float eps = 1e-5f;
    if (kind == 0) {
        smx_layernorm_fwd(y, stats, x, gain, bias, N, D, eps),
            ref_layernorm_fwd(yd, sd, xd, gd, bd, N, D, (double)eps);
        smx_layernorm_bwd(dx, dg, db, dy, x, gain, stats, N, D),
            ref_layernorm_bwd(wx, wg, wb, dd, xd, gd, sd, N, D);
    } else if (kind == 1) {
        smx_rmsnorm_fwd(y, stats, x, gain, N, D, eps), ref_rmsnorm_fwd(yd, sd, xd, gd, N, D, (double)eps);
        smx_rmsnorm_bwd(dx, dg, dy, x, gain, stats, N, D), ref_rmsnorm_bwd(wx, wg, dd, xd, gd, sd, N, D);
    } else {
        smx_unitnorm_fwd(y, stats, x, N, D), ref_unitnorm_fwd(yd, sd, xd, N, D);
        smx_unitnorm_bwd(dx, dy, x, stats, N, D), ref_unitnorm_bwd(wx, dd, xd, sd, N, D);
    }
    if (!back) {
        ulp_array(y, yd, n);
        return;
    }
    ulp_array(dx, wx, n);
    if (kind < 2) ulp_array(dg, wg, D);
    if (kind == 0) ulp_array(db, wb, D);
}
static void ulp_layernorm_fwd(void) { ulp_norm(0, 0); }
static void ulp_layernorm_bwd(void) { ulp_norm(0, 1); }
static void ulp_rmsnorm_fwd(void) { ulp_norm(1, 0); }
static void ulp_rmsnorm_bwd(void) { ulp_norm(1, 1); }
static void ulp_unitnorm_fwd(void) { ulp_norm(2, 0); }
static void ulp_unitnorm_bwd(void) { ulp_norm(2, 1); }
static void ulp_rope(int back) { // input: |x0 cos| + |x1 sin| <= |x0| + |x1|
    const size_t B = 1, L = ulp_size(70, 500, 5), H = 2, D = 24, n = B * L * D, m = L * (D / H);
    float *x = ulp_in(n), *y = check_floats(n), *cs = check_floats(m);
    double *table = check_doubles(m), *want = check_doubles(n);
    ref_rope_table(table, L, D / H, 10000);
    for (size_t i = 0; i < m; i++) cs[i] = (float)table[i];
    (back ? smx_rope_bwd : smx_rope_fwd)(y, x, cs, B, L, D, H, D, D);
    (back ? ref_rope_bwd : ref_rope_fwd)(want, ulp_wide(x, n), ulp_wide(cs, m), B, L, D, H, D, D);
    for (size_t i = 0; i < n; i++) ulp_one(y[i], want[i], fabs((double)x[i]) + fabs((double)x[i ^ 1]));
}
static void ulp_rope_fwd(void) { ulp_rope(0); }
static void ulp_rope_bwd(void) { ulp_rope(1); }
static void ulp_maxpool(int back) {
    const size_t L = ulp_size(40, 400, 6), D = 7, bins = 2, O = 3, n = L * D, m = bins * D * O;
    float *x = ulp_in(n), *e = check_floats(m), *de = ulp_in(m), *dx = check_floats(n);
    int32_t *where = check_ints(m);
    double *want = ulp_zero_wide(n), *scale = ulp_zero_wide(n);
    smx_maxpool_fwd(e, where, x, 1, L, D, bins, O);
    smx_maxpool_bwd(dx, de, where, 1, L, D, bins, O);
    for (size_t b = 0; b < bins; b++)
        for (size_t c = 0; c < D; c++)
            for (size_t o = 0; o < O; o++) {
                const size_t w = b * O + o, first = w * L / (bins * O),
                             end = ((w + 1) * L + bins * O - 1) / (bins * O), at = (b * D + c) * O + o;
                size_t best = first;
                for (size_t t = first; t < end; t++)
                    if (x[t * D + c] > x[best * D + c]) best = t;
                if (!back) ulp_one(e[at], x[best * D + c], e[at]), ulp_one(where[at], (double)best, 0x1p23);
                want[best * D + c] += (double)de[at], scale[best * D + c] += fabs((double)de[at]);
            }
    if (back) ulp_terms(dx, want, scale, n);
}
static void ulp_maxpool_fwd(void) { ulp_maxpool(0); }
static void ulp_maxpool_bwd(void) { ulp_maxpool(1); }
static void
ulp_cross_entropy(int back) { // forward: input, 1 + |largest - target's logit|; backward: input, scale = 0.1
    const size_t N = ulp_size(40, 6, 5), V = ulp_size(30, 5000, 1), n = N * V;
    float *x = ulp_kind == ULP_ADVERSARIAL ? ulp_range(n, -300, 300) : ulp_in(n), *loss = check_floats(N),
          *stats = check_floats(2 * N), *dx = check_floats(n);
    int32_t *target = check_random_ints(N, 0, (int32_t)V);
    double *xd = ulp_wide(x, n), *wl = check_doubles(N), *ws = check_doubles(2 * N), *want = check_doubles(n);
    smx_cross_entropy_fwd(loss, stats, x, target, N, V);
    ref_cross_entropy_fwd(wl, ws, xd, target, N, V);
    if (back) {
        smx_cross_entropy_bwd(dx, x, target, stats, N, V, 0.1f);
        ref_cross_entropy_bwd(want, xd, target, ws, N, V, (double)0.1f);
        ulp_scaled(dx, want, 0.1, n);
    } else {
        for (size_t i = 0; i < N; i++)
            ulp_one(loss[i], wl[i], 1 + fabs(ws[2 * i] - xd[i * V + (size_t)target[i]]));
    }
}
static void ulp_cross_entropy_fwd(void) { ulp_cross_entropy(0); }
static void ulp_cross_entropy_bwd(void) { ulp_cross_entropy(1); }
static void ulp_mse(int back) { // input: the square of |y| + |target|, and |y| + |target|
    const size_t N = ULP_N;
    float *y = ulp_in(N), *t = ulp_in(N), *got = check_floats(N);
    double *want = check_doubles(N);
    if (back) {
        smx_mse_bwd(got, y, t, N, 0.5f);
        ref_mse_bwd(want, ulp_wide(y, N), ulp_wide(t, N), N, 0.5);
    } else {
        smx_mse_fwd(got, y, t, N);
        ref_mse_fwd(want, ulp_wide(y, N), ulp_wide(t, N), N);
    }
    for (size_t i = 0; i < N; i++) {
        const double s = fabs((double)y[i]) + fabs((double)t[i]);
        ulp_one(got[i], want[i], back ? s : s * s);
    }
}
static void ulp_mse_fwd(void) { ulp_mse(0); }
static void ulp_mse_bwd(void) { ulp_mse(1); }
static void ulp_argmax(void) {
    const size_t N = 20, V = ulp_size(30, 1000, 3);
    float *x = ulp_in(N * V);
    int32_t *best = check_ints(N), *want = check_ints(N);
    smx_argmax(best, x, N, V);
    ref_argmax(want, ulp_wide(x, N * V), N, V);
    for (size_t i = 0; i < N; i++) ulp_one(best[i], want[i], 0x1p23);
}
static void ulp_adamw(void) { // input: |p| + lr for the weights; each for the moments' terms
    const size_t n = ULP_N;
    float *p = ulp_in(n), *m = ulp_range(n, -1, 1), *v = ulp_range(n, 0, 1), *g = ulp_in(n);
    double *pd = ulp_wide(p, n), *md = ulp_wide(m, n), *vd = ulp_wide(v, n), *scale = ulp_abs(p, n);
    const smx_adamw_opts o = {0.01f, 0.9f, 0.98f, 1e-8f, 0.1f, 0.5f, 0.25f, 0.7f};
    const ref_adamw_opts r = {(double)o.lr, (double)o.b1, (double)o.b2, (double)o.eps,
                              (double)o.wd, (double)o.c1, (double)o.c2, (double)o.clip};
    for (size_t i = 0; i < n; i++) { // |p| + the step's size
        const double s = 0.7 * fabs((double)g[i]), first = 0.9 * fabs(md[i]) + 0.1 * s,
                     root = sqrt((0.98 * vd[i] + 0.02 * s * s) / 0.25);
        scale[i] += 0.01 * first / 0.5 / (root + 1e-8);
    }
    smx_adamw(p, m, v, g, n, &o);
    ref_adamw(pd, md, vd, ulp_wide(g, n), n, &r);
    ulp_terms(p, pd, scale, n);
    ulp_each(v, vd, n);
}

// ---- The list -------------------------------------------------------------------------------------------
typedef struct {
    const char *name;
    void (*run)(void);
    const char *scale;
    double ceiling[ULP_KINDS]; // of kernels.txt, asserted by test_ulp.c: about twice what was measured
} ulp_case;

static const ulp_case ulp_cases[] = {
#define SMX_ULP(name, scale, random, adversarial, edge)                                                      \
    {#name, ulp_##name, scale, {random, adversarial, edge}},
#include "build/kernels.def"
};

// Largest error of a case over `draws` seeds.
static double ulp_measure(const ulp_case *c, int kind, int draws) {
    ulp_kind = kind;
    ulp_worst = 0;
    for (int draw = 0; draw < draws; draw++) {
        check_seed(7919 * (uint64_t)draw + 31 * (uint64_t)kind + 1);
        check_trying("%s, %s inputs, draw %d", c->name, ulp_kind_names[kind], draw);
        c->run();
        check_done();
    }
    return ulp_worst;
}

#endif
