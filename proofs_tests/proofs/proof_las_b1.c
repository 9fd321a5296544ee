// proof_las_b1.c
// Claim: [LaS] Theorem B.1: one head of softmax attention computes any causal convolution with a non-negative
//   kernel.
// Statement: for k_0..k_{L-1} >= 0 there are W_q, W_k, W_v, one-hot positions and one extra token before the
//   sequence such that causal softmax attention returns y_t = sum_s k_s x_{t-s}: exactly where every tap is
//   positive; where one is 0, with a finite logit -M for ln 0, up to 2 L e^-M max|x|. (The printed proof
//   takes ln k_t, so it covers non-negative kernels; a signed one is the difference of two heads, k = k+ -
//   k-.)
// Needs: c = slack + sum k > 0 for a kernel of zeros (slack > 0); the extra token's logit as a suffix sum.
// Model: con_las_b1. Row i's logits are ln k_{i-j}, and ln(slack + sum_{t>i} k_t) for the extra token, whose
//   value is 0: every row sums to c, so softmax gives k_{i-j} / c, and W_o multiplies by c.
// Check: |y - k*x| in units of u (|k|*|x|), measured over 1,000 draws: every weight carries the rounding
//   of its own logarithm (three roundings of a number up to max|ln|: q, scale, difference from the maximum)
//   and a few of exp, sum, division and the products. Where no tap reaches, both sides are exactly 0.
//   The float32 kernel's softmax takes weights below e^-41.5 of the row's largest as 0 (smx.h), and c is the
//   most that a weight comes to: e^-41.5 c per |x| is added there. Kernels whose weights are 0 and 1
//   alone, and the kernel 0, have no error.
#include "proof.h"

enum { MAX_L = 130, MAX_D = 3 };
typedef struct {
    const char *name;
    double slack;
    unsigned flags;
    double most[2]; // in u, float32 and double; 0: weights are 0 and 1 once those below e^-41.5 are dropped
} kind;
static const kind kinds[] = {
    {"uniform taps", 0, 0, {17, 17}},
    {"half the taps 0", 0, 0, {16, 16}},
    {"decay over 12 decades", 0, 0, {5, 5}},
    {"a single delayed tap", 0, 0, {0, 0}},
    {"uniform taps, slack 0.5", 0.5, 0, {17, 17}},
    {"zero kernel", 1, 0, {0, 0}},
    {"signed taps, two heads", 0.25, CON_B1_SIGNED, {16, 16}},
    {"signed, one sign only", 0.25, CON_B1_SIGNED, {17, 17}},
    {"taps 1 and 1e-20", 0, 0, {0, 100}}, // before the 1 reaches a row, the extra token has all of its weight
};
static void make_kernel(double *k, size_t kind, size_t L) {
    for (size_t t = 0; t < L; t++) {
        const double r = check_uniform(0.01, 1);
        switch (kind) {
        case 0:
        case 4:
            k[t] = r;
            break;
        case 1:
            k[t] = check_uniform(0, 1) < 0.5 ? 0 : r;
            break;
        case 2:
            k[t] = pow(10, -12 * (double)t / (double)L);
            break;
        case 3:
            k[t] = t == L / 2;
            break;
        case 5:
            k[t] = 0;
            break;
        case 6:
            k[t] = check_uniform(0, 1) < 0.5 ? -r : r;
            break;
        case 8:
            k[t] = t == L / 2 ? 1 : 1e-20;
            break;
        default:
            k[t] = -r;
            break;
        }
        k[t] = (float)k[t]; // the same kernel in both precisions
    }
}
// The error beyond flushed |x|, in units of u (|k|*|x|).
static double error_units(const double *y, const double *k, const double *x, size_t L, size_t D, double u,
                          double flushed) {
    double worst = 0;
    for (size_t t = 0; t < L; t++)
        for (size_t c = 0; c < D; c++) {
            // Kernel and values are float32 words, so every product is exact;
            // the sum keeps what each addition loses.
            double want = 0, lost = 0, scale = 0, sum_x = 0;
            for (size_t s = 0; s <= t; s++) {
                const double term = k[s] * x[(t - s) * D + c], sum = want + term;
                lost += fabs(want) >= fabs(term) ? want - sum + term : term - sum + want;
                want = sum;
                scale += fabs(term);
                sum_x += fabs(x[(t - s) * D + c]);
            }
            double e = fabs(y[t * D + c] - want - lost);
            if (scale == 0 && e != 0) return INFINITY;
            e = proof_largest(0, e - flushed * sum_x);
            if (scale > 0) worst = proof_largest(worst, e / (u * scale));
        }
    return worst;
}
static void a_head_is_a_convolution(void **state) {
    (void)state;
    static const size_t lengths[] = {1, 2, 7, 64, MAX_L};
    PROOF_EACH_PRECISION(p)
    for (size_t n = 0; n < CHECK_COUNT(kinds); n++) {
        double worst = 0;
        for (size_t l = 0; l < CHECK_COUNT(lengths); l++)
            for (size_t D = 1; D <= MAX_D; D += 2) {
                const size_t L = lengths[l];
                double k[MAX_L], x[MAX_L * MAX_D], y[MAX_L * MAX_D];
                proof_seed(1000 * n + L);
                make_kernel(k, n, L);
                for (size_t i = 0; i < L * D; i++) x[i] = (float)check_uniform(-1, 1);
                proof_ok(con_las_b1(y, NULL, k, x, L, D, kinds[n].slack, kinds[n].flags, p));
                double sum_k = kinds[n].slack;
                for (size_t t = 0; t < L; t++) sum_k += fabs(k[t]);
                const double flushed = p == CON_FLOAT ? exp(-41.5) * sum_k : 0;
                worst = proof_largest(worst, error_units(y, k, x, L, D, proof_u(p), flushed));
            }
        proof_measured(worst, kinds[n].most[p], "%s, %s: |y - k*x| in u |k|*|x|", proof_short(p),
                       kinds[n].name);
    }
}

// Why the signed kernel needs two heads: a head's weights are non-negative, so its response has one sign, and
// its distance from (1, -1) is at least 1 whatever Q, K and the scalar behind it. The least over random
// heads:
static void one_head_has_one_sign(void **state) {
    (void)state;
    proof_seed(7);
    double least = INFINITY, off = 0, plain[4];
    for (int trial = 0; trial < 4000; trial++) {
        double q[2], k[2], v[2] = {0, 0}, o[2], map[4], gain = 4 * proof_normal();
        for (int i = 0; i < 2; i++) q[i] = 3 * proof_normal(), k[i] = 3 * proof_normal();
        proof_ok(con_attention(o, map, q, k, v, NULL, 2, 1, 1, trial % 2 ? CON_FLOAT : CON_DOUBLE));
        least = proof_smallest(least, proof_largest(fabs(gain * map[3] - 1), fabs(gain * map[2] + 1)));
        const double a = q[1] * k[0], b = q[1] * k[1], top = proof_largest(a, b);
        plain[2] = exp(a - top) / (exp(a - top) + exp(b - top)), plain[3] = 1 - plain[2];
        for (int i = 2; i < 4; i++) off = proof_largest(off, fabs(map[i] - plain[i]));
    }
    proof_measured(off / 0x1p-24, 13.9, "the weights of these heads: distance from softmax, in float32's u");
    proof_at_least(least, 1, "distance of 4000 random single heads from the kernel (1, -1)");
    double y[2], kernel[2] = {1, -1}, x[2] = {3, 5};
    proof_ok(con_las_b1(y, NULL, kernel, x, 2, 1, 0, 0, CON_DOUBLE));
    assert_true(isnan(y[1])); // one head: the logarithm of -1
    proof_ok(con_las_b1(y, NULL, kernel, x, 2, 1, 0.5, CON_B1_SIGNED, CON_FLOAT));
    proof_at_most(fabs(y[0] - 3) + fabs(y[1] - 2), 0, "float32, two heads: error on the kernel (1, -1)");
}

// Why the extra token takes a suffix sum: c minus the running sum is negative, or not 0,
// at the last row for most kernels.
static void a_prefix_sum_goes_negative(void **state) {
    (void)state;
    proof_seed(11);
    int negative = 0;
    for (int trial = 0; trial < 1000; trial++) {
        double kernel[64], x[64], y[64];
        float c = 0, prefix = 0;
        for (int t = 0; t < 64; t++) kernel[t] = (float)check_uniform(0, 1), x[t] = 1;
        for (int t = 63; t >= 0; t--) c += (float)kernel[t];
        for (int t = 0; t < 64; t++) prefix += (float)kernel[t];
        negative += isnan(logf(c - prefix));
        if (trial % 20) continue;
        proof_ok(con_las_b1(y, NULL, kernel, x, 64, 1, 0, 0, CON_FLOAT));
        if (!(fabs(y[63] - (double)c) <= 1e-5 * (double)c))
            fail_msg("kernel %d: the sum %g became %g", trial, (double)c, y[63]);
    }
    proof_at_least(negative, 300,
                   "kernels of 1000 whose c - prefix sum is negative in float32, its logarithm NaN");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_head_is_a_convolution),
                                       cmocka_unit_test(one_head_has_one_sign),
                                       cmocka_unit_test(a_prefix_sum_goes_negative)};
    return cmocka_run_group_tests_name("las_b1", tests, NULL, NULL);
}
