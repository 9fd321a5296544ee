// bound_cases.h: rows of kernels against the bounds that proofs_tests/rocq proves of their floats
// (ref/bounds.h): for test_row_bounds.c, test_tile_sums.c, and verify.wasm, whose page shows what is
// measured beside what is proved.
#ifndef BOUND_CASES_H
#define BOUND_CASES_H

#include "proofs_tests/support/check.h"
#include "ref/bounds.h"

// What was seen of a kernel: of all numbers the one whose error is the largest part of its bound.
typedef struct {
    double part, error, bound, got, exact;
    size_t at, numbers, unproved; // unproved: of rows that miss a premise
    int usual; // asked for: rows of 16 numbers and more, numbers whose bound is above 1e-12
    char trying[sizeof check_case];
} bound_seen;

static void bound_take(bound_seen *s, size_t at, double got, double exact, double bound) {
    if (!(bound < INFINITY)) {
        s->unproved++;
        return;
    }
    if (s->usual && bound < 1e-12) return;
    const double error = fabs(got - exact), part = isnan(error) ? INFINITY : error / bound;
    s->numbers++;
    if (part <= s->part && s->numbers > 1) return;
    s->part = part, s->error = error, s->bound = bound;
    s->got = got, s->exact = exact, s->at = at;
    memcpy(s->trying, check_case, sizeof s->trying);
}
static void bound_take_row(bound_seen *s, const float *got, const double *exact, const double *bound,
                           size_t n) {
    for (size_t i = 0; i < n; i++) bound_take(s, i, got[i], exact[i], bound[i]);
}

static const size_t bound_lengths[] = {1, 2, 15, 16, 17, 33, 100, 257, 600};
static const size_t bound_widths[] = {1, 2, 16, 17, 64, 100, 1000};
static const size_t bound_terms[] = {1, 2, 3, 16, 17, 255, 256, 257, 513, 700};

// ---- SoftmaxRow.v ---------------------------------------------------------------------------------------

static smx_attention bound_head(size_t L, size_t d, int causal, float scale) {
    return (smx_attention){.B = 1, .L = L, .D = d, .H = 1, .stride = d, .causal = causal, .scale = scale};
}
// Heads one wide, queries 1: the scores are the keys, to the bit.
static void bound_softmax(bound_seen *s) {
    static const double ranges[] = {0, 1, 20, 60};
    for (size_t l = 0; l < CHECK_COUNT(bound_lengths); l++)
        for (size_t r = 0; r < CHECK_COUNT(ranges); r++) {
            const size_t L = bound_lengths[l];
            if (s->usual && L < 16) continue;
            const smx_attention p = bound_head(L, 1, 1, 1);
            check_trying("softmax L=%zu range=%g", L, ranges[r]);
            float *q = check_filled(L, 1), *k = check_random(L, -ranges[r], ranges[r]),
                  *map = check_floats(L * L);
            double *scores = check_widen(k, L), *exact = check_doubles(L), *bound = check_doubles(L);
            smx_attention_map(map, q, k, check_scratch(smx_attention_fwd_scratch_bytes(&p)), &p, 0, 0);
            for (size_t i = 0; i < L; i++) {
                ref_bound_softmax(exact, bound, scores, i + 1);
                bound_take_row(s, map + i * L, exact, bound, i + 1);
            }
            check_done();
        }
}

static void bound_attention(bound_seen *s) {
    static const struct {
        size_t d;
        double size;
    } heads[] = {{1, 1}, {1, 5}, {4, 1}, {16, 0.1}, {16, 3}, {24, 1}};
    for (size_t l = 0; l < CHECK_COUNT(bound_lengths); l++)
        for (size_t h = 0; h < CHECK_COUNT(heads); h++)
            for (int causal = 0; causal < 2; causal++) {
                const size_t L = bound_lengths[l], d = heads[h].d;
                const double size = heads[h].size;
                if (s->usual && L < 16) continue;
                const smx_attention p = bound_head(L, d, causal, (float)(1 / sqrt((double)d)));
                check_trying("attention L=%zu d=%zu size=%g causal=%d", L, d, size, causal);
                float *q = check_random(L * d, -size, size), *k = check_random(L * d, -size, size);
                float *v = check_random(L * d, 0.5, 1), *o = check_floats(L * d),
                      *stats = check_floats(2 * L);
                double *Q = check_widen(q, L * d), *K = check_widen(k, L * d), *V = check_widen(v, L * d);
                double *exact = check_doubles(d), *bound = check_doubles(d), *weights = check_doubles(L);
                smx_attention_fwd(o, stats, q, k, v, check_scratch(smx_attention_fwd_scratch_bytes(&p)), &p);
                const size_t step = L > 100 ? 7 : 1;
                for (size_t i = 0; i < L; i += step) {
                    const ref_bound_heads row = {
                        causal ? i + 1 : L, causal ? REF_BOUND_AFTER : 0, d, d, d, d, p.scale};
                    ref_bound_attention(exact, bound, Q + i * d, K, V, weights, &row);
                    bound_take_row(s, o + i * d, exact, bound, d);
                }
                check_done();
            }
}

// ---- NormRow.v ------------------------------------------------------------------------------------------

enum { BOUND_ROWS = 20 };
static const double bound_magnitudes[] = {1e-9, 1, 1e15};

static void bound_norm(bound_seen *s, int rms) {
    const float eps = 1e-5f;
    for (size_t w = 0; w < CHECK_COUNT(bound_widths); w++)
        for (size_t m = 0; m < CHECK_COUNT(bound_magnitudes); m++) {
            const size_t n = bound_widths[w];
            if (s->usual && n < 16) continue;
            const double size = bound_magnitudes[m];
            check_trying("%s n=%zu size=%g", rms ? "rms norm" : "unit norm", n, size);
            float *x = check_random(BOUND_ROWS * n, size / 2, size), *gain = check_random(n, -2, 2);
            float *y = check_floats(BOUND_ROWS * n), *saved = check_floats(BOUND_ROWS);
            double *X = check_widen(x, BOUND_ROWS * n), *g = check_widen(gain, n);
            double *exact = check_doubles(n), *bound = check_doubles(n);
            if (rms)
                smx_rmsnorm_fwd(y, saved, x, gain, BOUND_ROWS, n, eps);
            else
                smx_unitnorm_fwd(y, saved, x, BOUND_ROWS, n);
            for (size_t r = 0; r < BOUND_ROWS; r++) {
                if (rms)
                    ref_bound_rms_norm(exact, bound, X + r * n, g, n, eps);
                else
                    ref_bound_unit_norm(exact, bound, X + r * n, n);
                bound_take_row(s, y + r * n, exact, bound, n);
            }
            check_done();
        }
}
static void bound_unit_norm(bound_seen *s) { bound_norm(s, 0); }
static void bound_rms_norm(bound_seen *s) { bound_norm(s, 1); }

static void bound_layer_norm(bound_seen *s) {
    const float eps = 1e-5f;
    static const double middles[] = {0, 1, 100};
    for (size_t w = 0; w < CHECK_COUNT(bound_widths); w++)
        for (size_t m = 0; m < CHECK_COUNT(bound_magnitudes); m++)
            for (size_t c = 0; c < CHECK_COUNT(middles); c++) {
                const size_t n = bound_widths[w];
                if (s->usual && n < 16) continue;
                const double size = bound_magnitudes[m], middle = middles[c] * size;
                check_trying("layer norm n=%zu size=%g middle=%g", n, size, middle);
                float *x = check_random(BOUND_ROWS * n, middle - size, middle + size),
                      *gain = check_random(n, -2, 2), *bias = check_random(n, -1, 1);
                float *y = check_floats(BOUND_ROWS * n), *stats = check_floats(2 * BOUND_ROWS);
                double *X = check_widen(x, BOUND_ROWS * n), *g = check_widen(gain, n),
                       *f = check_widen(bias, n), *exact = check_doubles(n), *bound = check_doubles(n);
                smx_layernorm_fwd(y, stats, x, gain, bias, BOUND_ROWS, n, eps);
                for (size_t r = 0; r < BOUND_ROWS; r++) {
                    ref_bound_layer_norm(exact, bound, X + r * n, g, f, n, eps);
                    bound_take_row(s, y + r * n, exact, bound, n);
                }
                check_done();
            }
}

// ---- TileSums.v -----------------------------------------------------------------------------------------

static const double bound_factors[] = {1, 1e-22}; // products below the normal numbers, too

static void bound_product(bound_seen *s) {
    enum { M = 5, N = 18 };
    for (size_t i = 0; i < CHECK_COUNT(bound_terms); i++)
        for (size_t m = 0; m < CHECK_COUNT(bound_factors); m++) {
            const size_t n = bound_terms[i];
            if (s->usual && n < 16) continue;
            const double size = bound_factors[m];
            check_trying("product n=%zu size=%g", n, size);
            float *a = check_random(M * n, -size, size), *b = check_random(n * N, -size, size);
            float *c = check_floats((size_t)M * N);
            double *A = check_widen(a, M * n), *B = check_widen(b, n * N), exact, bound;
            smx_gemm(c, a, b, check_scratch(smx_gemm_scratch_bytes(M, N, n)), M, N, n, n, N, N, 0);
            for (size_t at = 0; at < (size_t)M * N; at++) {
                ref_bound_tile(&exact, &bound, A + at / N * n, 1, B + at % N, N, n);
                bound_take(s, at, c[at], exact, bound);
            }
            check_done();
        }
}
static void bound_dot(bound_seen *s) {
    for (size_t i = 0; i < CHECK_COUNT(bound_terms); i++)
        for (size_t m = 0; m < CHECK_COUNT(bound_factors); m++)
            for (size_t draw = 0; draw < 50; draw++) {
                const size_t n = bound_terms[i];
                if (s->usual && n < 16) continue;
                const double size = bound_factors[m];
                check_trying("dot n=%zu size=%g", n, size);
                float *x = check_random(n, -size, size), *y = check_random(n, -size, size);
                double exact, bound;
                ref_bound_dot(&exact, &bound, check_widen(x, n), check_widen(y, n), n);
                bound_take(s, draw, smx_dot(x, y, n), exact, bound);
                check_done();
            }
}

// ---- The list -------------------------------------------------------------------------------------------

static const struct {
    const char *what, *kernel, *theorem; // theorem: of proofs_tests/rocq
    void (*run)(bound_seen *s);
    double least; // a bound of which less is reached says too little
    int flat;     // rows too flat for the theorem are among the inputs
} bound_cases[] = {
    {"softmax, a weight", "attention_map", "SoftmaxRow softmax_row_error", bound_softmax, 0.1, 0},
    {"softmax attention, an output", "attention_fwd", "SoftmaxRow attention_row_error", bound_attention, 0.05,
     0},
    {"unit norm", "unitnorm_fwd", "NormRow unit_norm_error", bound_unit_norm, 0.2, 0},
    {"RMSNorm", "rmsnorm_fwd", "NormRow rms_norm_error", bound_rms_norm, 0.2, 0},
    {"layer norm", "layernorm_fwd", "NormRow layer_norm_error", bound_layer_norm, 0.5, 1},
    {"product of matrices", "gemm", "TileSums tile_error", bound_product, 0.3, 0},
    {"dot product", "dot", "TileSums dot_error", bound_dot, 0.3, 0},
};
static bound_seen bound_measure(size_t i, int usual) {
    bound_seen s = {.usual = usual};
    check_seed(i + 1);
    bound_cases[i].run(&s);
    return s;
}

#endif
