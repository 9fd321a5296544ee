// test_row_bounds.c: rows of softmax, of softmax attention, of the unit norm, of RMSNorm and of layer norm
// against the bounds that rocq/SoftmaxRow.v and rocq/NormRow.v prove of their floats, on every instruction
// set. Exact rows in long double. What was reached of each bound is printed.
#include "proofs_tests/support/check.h"

static const long double u = 0x1p-24L, eta = 0x1p-150L, tail = 9.47935966e-19L; // the last is e^-41.5
enum { CAUSAL_TILE = 11 }; // columns of zeros after the diagonal, at most

static long double times(size_t k) { // (1 + u)^k
    long double factor = 1;
    while (k--) factor *= 1 + u;
    return factor;
}
static size_t groups(size_t n) { return (n + 15) / 16; }
static size_t tile_roundings(size_t n) { return (n < 256 ? n : 256) + (n ? (n - 1) / 256 : 0); }

// The largest error as a part of its bound, and how many were compared.
static double part;
static size_t compared;
static void within(const char *what, size_t i, double got, long double exact, long double bound) {
    const long double error = fabsl((long double)got - exact);
    if (!(error <= bound)) check_fail("%s[%zu] is off by %Lg, proved %Lg", what, i, error, bound);
    if (error > 0) part = fmax(part, (double)(error / bound));
    compared++;
}
static void shown(const char *what, const char *isa, double least) {
    printf("%s, %s: at most %.3g of the proved bound, %zu numbers\n", what, isa, part, compared);
    if (!(part >= least)) check_fail("%s: at most %g of the bound: it says too little", what, part);
    part = 0, compared = 0;
}

// ---- SoftmaxRow.v ---------------------------------------------------------------------------------------

// a D, the spread of scores; excess D n k; what a row's quotient adds to V + T, its sums' relative error b.
static long double growth(long double D) { return (1 + 1.48L * u) * expl(u * fminl(D, 42)) - 1; }
static long double excess(long double D, size_t n, size_t k) {
    return times(k) * (1 + growth(D)) - 1 + (long double)n * tail;
}
static long double quotient(long double D, size_t n, long double V, long double T) {
    const long double b = excess(D, n, groups(n) + 3);
    return times(2) * (V + T) / (1 - b) - V + eta;
}
static const size_t lengths[] = {1, 2, 15, 16, 17, 33, 100, 257, 600};

static smx_attention one_head(size_t L, size_t d, int causal, float scale) {
    return (smx_attention){.B = 1, .L = L, .D = d, .H = 1, .stride = d, .causal = causal, .scale = scale};
}
// Heads one wide, queries 1: the scores are the keys, to the bit.
static void softmax(void **state) {
    (void)state;
    static const double ranges[] = {0, 1, 20, 60};
    CHECK_EACH_ISA(isa) {
        for (size_t l = 0; l < CHECK_COUNT(lengths); l++)
            for (size_t s = 0; s < CHECK_COUNT(ranges); s++) {
                const size_t L = lengths[l];
                const smx_attention p = one_head(L, 1, 1, 1);
                check_trying("softmax L=%zu range=%g", L, ranges[s]);
                float *q = check_filled(L, 1), *k = check_random(L, -ranges[s], ranges[s]),
                      *map = check_floats(L * L);
                smx_attention_map(map, q, k, check_scratch(smx_attention_fwd_scratch_bytes(&p)), &p, 0, 0);
                for (size_t i = 0; i < L; i++) {
                    long double m = k[0], least = k[0], sum = 0;
                    for (size_t j = 0; j <= i; j++) m = fmaxl(m, k[j]), least = fminl(least, k[j]);
                    for (size_t j = 0; j <= i; j++) sum += expl(k[j] - m);
                    for (size_t j = 0; j <= i; j++) {
                        const long double w = expl(k[j] - m) / sum;
                        const double before = part;
                        within("weight", i * L + j, map[i * L + j], w,
                               quotient(m - least, i + 1, w, growth(m - least) * w + tail));
                        if (w < 100 * tail) part = before; // may be 0, all of its error
                    }
                }
                check_done();
            }
        shown("softmax", isa, 0.1);
    }
}

// |q| <= Q, |k| <= K, |v| <= V, as the theorem has them.
static long double score_bound(size_t d, long double scale, long double Q, long double K) {
    const long double j = times(tile_roundings(d)), x = fabsl(scale) * Q;
    return d * K * (j * (x + (u * x + eta)) - x) + j * d * eta;
}
static void attention_row(const float *o, const float *q, const float *k, const float *v, size_t i, size_t n,
                          size_t N, const smx_attention *p) {
    const size_t d = p->D;
    long double t[600], m = -INFINITY, least = INFINITY, Q = 0, K = 0, sum = 0;
    for (size_t j = 0; j < n; j++) {
        t[j] = 0;
        for (size_t c = 0; c < d; c++) t[j] += (long double)q[i * d + c] * k[j * d + c];
        t[j] *= p->scale, m = fmaxl(m, t[j]), least = fminl(least, t[j]);
        for (size_t c = 0; c < d; c++) K = fmaxl(K, fabsl(k[j * d + c]));
    }
    for (size_t c = 0; c < d; c++) Q = fmaxl(Q, fabsl(q[i * d + c]));
    for (size_t j = 0; j < n; j++) sum += t[j] = expl(t[j] - m);
    const long double off = score_bound(d, p->scale, Q, K), D = m - least + 2 * off;
    for (size_t c = 0; c < d; c++) {
        long double y = 0, V = 0;
        for (size_t j = 0; j < n; j++) y += t[j] / sum * v[j * d + c], V = fmaxl(V, fabsl(v[j * d + c]));
        const size_t r = tile_roundings(N);
        const long double T = excess(D, n, r) * V + times(r) * (N * eta);
        within("o", i * d + c, o[i * d + c], y, quotient(D, n, V, T) + (expl(2 * off) - 1) * V);
    }
}
static void attention(void **state) {
    (void)state;
    static const struct {
        size_t d;
        double size;
    } heads[] = {{1, 1}, {1, 5}, {4, 1}, {16, 0.1}, {16, 3}, {24, 1}};
    CHECK_EACH_ISA(isa) {
        for (size_t l = 0; l < CHECK_COUNT(lengths); l++)
            for (size_t h = 0; h < CHECK_COUNT(heads); h++)
                for (int causal = 0; causal < 2; causal++) {
                    const size_t L = lengths[l], d = heads[h].d;
                    const double size = heads[h].size;
                    const smx_attention p = one_head(L, d, causal, (float)(1 / sqrt((double)d)));
                    check_trying("attention L=%zu d=%zu size=%g causal=%d", L, d, size, causal);
                    float *q = check_random(L * d, -size, size), *k = check_random(L * d, -size, size);
                    float *v = check_random(L * d, 0.5, 1), *o = check_floats(L * d),
                          *stats = check_floats(2 * L);
                    smx_attention_fwd(o, stats, q, k, v, check_scratch(smx_attention_fwd_scratch_bytes(&p)),
                                      &p);
                    for (size_t i = 0; i<L; i += L> 100 ? 7 : 1)
                        attention_row(o, q, k, v, i, causal ? i + 1 : L, causal ? i + 1 + CAUSAL_TILE : L,
                                      &p);
                    check_done();
                }
        shown("attention", isa, 0.05);
    }
}

// ---- NormRow.v ------------------------------------------------------------------------------------------

static const size_t widths[] = {1, 2, 16, 17, 64, 100, 1000};
static const double magnitudes[] = {1e-9, 1, 1e15};
// G b times the roundings of k products, less 1
static long double scaled(size_t k, long double b) {
    return times(k) * (1 + u) / ((1 - u) * sqrtl(1 - b)) - 1;
}

static void norms(void **state) {
    (void)state;
    enum { ROWS = 20 };
    const float eps = 1e-5f;
    CHECK_EACH_ISA(isa) {
        for (int rms = 0; rms < 2; rms++) {
            for (size_t w = 0; w < CHECK_COUNT(widths); w++)
                for (size_t s = 0; s < CHECK_COUNT(magnitudes); s++) {
                    const size_t n = widths[w], k = groups(n) + 4;
                    const double size = magnitudes[s];
                    check_trying("%s n=%zu size=%g", rms ? "rms norm" : "unit norm", n, size);
                    float *x = check_random(ROWS * n, size / 2, size), *gain = check_random(n, -2, 2);
                    float *y = check_floats(ROWS * n), *saved = check_floats(ROWS);
                    if (rms)
                        smx_rmsnorm_fwd(y, saved, x, gain, ROWS, n, eps);
                    else
                        smx_unitnorm_fwd(y, saved, x, ROWS, n);
                    for (size_t at = 0; at < ROWS * n; at++) {
                        const float *row = x + at / n * n;
                        long double Z = 0;
                        for (size_t i = 0; i < n; i++) Z += (long double)row[i] * row[i];
                        const long double W = rms ? Z / n + eps : Z, g = rms ? gain[at % n] : 1;
                        const long double b =
                            rms ? times(k + 2) * (1 + 2 * eta / W) - 1 : times(k) * (1 + n * eta / Z) - 1;
                        const long double exact = g * (x[at] / sqrtl(W)),
                                          least = rms ? (1 + u) * fabsl(g) * eta + eta : eta;
                        within("y", at, y[at], exact, scaled(rms ? 2 : 1, b) * fabsl(exact) + least);
                    }
                    check_done();
                }
            shown(rms ? "rms norm" : "unit norm", isa, 0.2);
        }
    }
}

static void layer_norm_row(const float *y, const float *x, const float *gain, const float *bias, size_t n,
                           float eps) {
    const size_t k = groups(n) + 4;
    long double mean = 0, variance = 0, sizes = 0;
    for (size_t i = 0; i < n; i++) mean += x[i], sizes += fabsl(x[i]);
    mean /= n;
    for (size_t i = 0; i < n; i++) variance += (x[i] - mean) * (x[i] - mean);
    const long double W = variance / n + eps, d = (times(k) - 1) * sizes / n + eta;
    const long double b = times(k + 4) * (1 + (d * d + 2 * eta) / W) - 1;
    if (!(b < 1)) return; // the theorem's premise
    for (size_t i = 0; i < n; i++) {
        const long double X = fabsl(x[i] - mean), g = fabsl(gain[i]), root = sqrtl(W);
        const long double exact = gain[i] * ((x[i] - mean) / root) + bias[i];
        const long double product = g * ((scaled(3, b) + 1) * (X + d) - X) / root + (1 + u) * g * eta + eta;
        within("y", i, y[i], exact, (1 + u) * product + u * fabsl(exact));
    }
}
static void layer_norm(void **state) {
    (void)state;
    enum { ROWS = 20 };
    const float eps = 1e-5f;
    static const double middles[] = {0, 1, 100};
    CHECK_EACH_ISA(isa) {
        for (size_t w = 0; w < CHECK_COUNT(widths); w++)
            for (size_t s = 0; s < CHECK_COUNT(magnitudes); s++)
                for (size_t m = 0; m < CHECK_COUNT(middles); m++) {
                    const size_t n = widths[w];
                    const double size = magnitudes[s], middle = middles[m] * size;
                    check_trying("layer norm n=%zu size=%g middle=%g", n, size, middle);
                    float *x = check_random(ROWS * n, middle - size, middle + size),
                          *gain = check_random(n, -2, 2), *bias = check_random(n, -1, 1);
                    float *y = check_floats(ROWS * n), *stats = check_floats(2 * ROWS);
                    smx_layernorm_fwd(y, stats, x, gain, bias, ROWS, n, eps);
                    for (size_t r = 0; r < ROWS; r++)
                        layer_norm_row(y + r * n, x + r * n, gain, bias, n, eps);
                    check_done();
                }
        shown("layer norm", isa, 0.5);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(softmax),
        cmocka_unit_test(attention),
        cmocka_unit_test(norms),
        cmocka_unit_test(layer_norm),
    };
    return cmocka_run_group_tests_name("row_bounds", tests, NULL, NULL);
}
