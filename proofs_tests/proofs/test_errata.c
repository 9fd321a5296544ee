// test_errata.c: what is wrong or unsaid in the five sources, each shown: the printed formula is evaluated and fails, the
// corrected one holds, with the figure. docs/ERRATA.md tells each in a paragraph; the numbers are those of that page.
#include "proof.h"

#include "model/run/language.h"
#include <seqmix/ref.h>
#include "tasks/task.h"

static double *uniform(size_t n, double low, double high) {
    double *x = check_doubles(n);
    for (size_t i = 0; i < n; i++) x[i] = check_uniform(low, high);
    return x;
}
static double difference(const double *a, const double *b, size_t n) {
    double worst = 0;
    for (size_t i = 0; i < n; i++) worst = proof_largest(worst, fabs(a[i] - b[i]));
    return worst;
}

// 1. [LaS] Sec. 4: average pooling of the rows of A, centred, gives row i weight on v_{i+1} .. v_{i+(P-1)/2}.
static void erratum_01_pooling_leaks(void **state) {
    (void)state;
    enum { L = 20, D = 4, P = 5, ROW = 9 };
    check_seed(1);
    double *q = uniform(L * D, -1, 1), *k = uniform(L * D, -1, 1), *v = uniform(L * D, -1, 1);
    double *o = check_doubles(L * D), *again = check_doubles(L * D), moved[3][L + 1] = {{0}};
    static const ref_pool pools[] = {REF_POOL_CENTRED, REF_POOL_MASKED, REF_POOL_TRAILING};
    for (int n = 0; n < 3; n++) {
        const ref_las p = {L, D, 1, P, 0, REF_DECAY_NONE, pools[n], NULL};
        assert_int_equal(ref_las_heads_fwd(o, q, k, v, &p), REF_OK);
        for (int t = ROW; t < L; t++) {
            v[t * D] += 1;
            assert_int_equal(ref_las_heads_fwd(again, q, k, v, &p), REF_OK);
            moved[n][t] = difference(again + ROW * D, o + ROW * D, D);
            v[t * D] -= 1;
        }
    }
    proof_at_least(moved[0][ROW + 1], 0.01, "centred, P = 5: row 9 moves with v_10 by");
    proof_at_least(moved[0][ROW + 2], 0.01, "centred, P = 5: row 9 moves with v_11 by");
    proof_at_most(moved[0][ROW + 3], 1e-15, "centred, P = 5: row 9 moves with v_12 by");
    for (int n = 1; n < 3; n++) {
        double most = 0;
        for (int t = ROW + 1; t < L; t++) most = proof_largest(most, moved[n][t]);
        proof_at_most(most, 0, "%s: row 9 moves with any later value by", n == 1 ? "masked" : "trailing");
    }
    check_done();
}

// 2. [LaS] Eq. 4: D_L = exp(-alpha distance * causal mask) is exp(0) = 1 above the diagonal: nothing is masked.
static void erratum_02_decay_does_not_mask(void **state) {
    (void)state;
    enum { L = 12, D = 4 };
    check_seed(2);
    double *q = uniform(L * D, -1, 1), *k = uniform(L * D, -1, 1), future[2] = {0, 0};
    for (int corrected = 0; corrected < 2; corrected++)
        for (int i = 0; i < L; i++) {
            double sum = 0, ahead = 0;
            for (int j = 0; j < L; j++) {
                const double mask = j <= i, decay = exp(-0.3 * (i - j) * mask);
                const double logit = decay * ref_dot(q + i * D, k + j * D, D) / sqrt(D);
                const double weight = corrected && j > i ? 0 : exp(logit);
                sum += weight;
                if (j > i) ahead += weight;
            }
            future[corrected] = fmax(future[corrected], ahead / sum);
        }
    proof_at_least(future[0], 0.9, "as printed: share of the first row's weight that lies in its future");
    proof_at_most(future[1], 0, "logits above the diagonal -inf: that share");
    check_done();
}

// 3. [LaS] states the range [0, B] for alpha and for exp(-alpha). Evenly spaced exp(-alpha) on [0, B] contains 0, alpha = inf;
// alpha_0 = 0 means exp(-alpha_0) = 1, outside [0, B] for B < 1. With exp(-alpha) on [exp(-B), 1] alpha spans [0, B].
static void erratum_03_ranges(void **state) {
    (void)state;
    static const double bounds[] = {1e-4, 1e-3, 1, 6, 700};
    enum { H = 8 };
    double worst = 0, spacing = 0;
    assert_true(isinf(-log(0.0))); // exp(-alpha) = 0
    proof_at_least(exp(-0.0) - bounds[1], 0.99, "B = 1e-3: exp(-alpha_0) = 1 lies outside [0, B] by");
    for (size_t b = 0; b < CHECK_COUNT(bounds); b++) {
        double alphas[H];
        ref_las_alphas(alphas, H, bounds[b]);
        worst = proof_largest(worst, fabs(alphas[0]) + fabs(alphas[H - 1] - bounds[b]) / bounds[b]);
        for (int h = 1; h < H; h++)
            spacing = proof_largest(
                spacing, fabs(exp(-alphas[h - 1]) - exp(-alphas[h]) + expm1(-bounds[b]) / (H - 1)));
    }
    proof_at_most(worst, 1e-11,
                  "exp(-alpha) on [exp(-B), 1]: alpha's ends relative to 0 and B, B = 1e-4 .. 700");
    proof_at_most(spacing, 1e-15, "exp(-alpha) on [exp(-B), 1]: unevenness of the spacing");
}

// 4. [LaS] Theorem B.1 takes ln k_t: a kernel with a negative tap has none. Two heads, k = k+ - k-.
static void erratum_04_signed_kernels(void **state) {
    (void)state;
    double y[6], kernel[6] = {0.5, -0.25, 0, 0.125, -1, 0.75}, x[6] = {1, 2, -1, 0.5, 3, -2}, worst = 0;
    proof_ok(con_las_b1(y, NULL, kernel, x, 6, 1, 0.5, 0, CON_DOUBLE));
    int lost = 0;
    for (int t = 0; t < 6; t++) lost += isnan(y[t]);
    proof_at_least(lost, 5, "one head, signed kernel of 6 taps: outputs of 6 that are not a number");
    proof_ok(con_las_b1(y, NULL, kernel, x, 6, 1, 0.5, CON_B1_SIGNED, CON_DOUBLE));
    for (int t = 0; t < 6; t++) {
        double want = 0;
        for (int s = 0; s <= t; s++) want += kernel[s] * x[t - s];
        worst = proof_largest(worst, fabs(y[t] - want));
    }
    proof_at_most(worst, 1e-14, "two heads: error");
}

// 5. [Focus] Eq. 6 multiplies a bin's DFT by conj(H): a circular, time-reversed filter, so tokens see later ones of their bin.
static void erratum_05_not_causal_in_a_bin(void **state) {
    (void)state;
    enum { L = 32, BINS = 2, R = 16 };
    check_seed(5);
    double *x = uniform(L, -1, 1), theta[BINS * 2] = {0.5, 0.3, 0.7, 0.2}, y[L], again[L], moved[2] = {0, 0},
           wrap = 0;
    for (int causal = 0; causal < 2; causal++) {
        const ref_focus_filter p = {L, 1, BINS, 1, causal ? REF_FOCUS_CAUSAL : REF_FOCUS_LITERAL};
        assert_int_equal(ref_focus_filter_fwd(y, x, theta, &p), REF_OK);
        for (int t = 1; t < L; t++) {
            x[t] += 1;
            assert_int_equal(ref_focus_filter_fwd(again, x, theta, &p), REF_OK);
            for (int s = 0; s < t; s++) moved[causal] = fmax(moved[causal], fabs(again[s] - y[s]));
            x[t] -= 1;
        }
        if (causal) { // what the recurrence gives, from its definition
            for (int t = 0; t < L; t++) {
                const double *a = theta + t / R * 2;
                const double want =
                    x[t] - (t % R > 0 ? a[0] * y[t - 1] : 0) - (t % R > 1 ? a[1] * y[t - 2] : 0);
                wrap = fmax(wrap, fabs(y[t] - want));
            }
        }
    }
    proof_at_least(moved[0], 0.3, "as printed: an earlier output moves with a later input by");
    proof_at_most(moved[1], 0, "the recurrence: an earlier output moves with a later input by");
    proof_at_most(wrap, 1e-14,
                  "the recurrence: residual of y_t = x_t - a1 y_{t-1} - a2 y_{t-2} within each bin");
    check_done();
}

// 6. [Focus] Eq. 31: from h_t = A h_{t-1} + B x_t, y_t = C h_t + D x_t follows y_t = A y_{t-1} + (CB + D) x_t - A D x_{t-1};
// the last sign is printed as +.
static void erratum_06_sign(void **state) {
    (void)state;
    enum { L = 50 };
    check_seed(6);
    const double A = 0.8, B = 0.7, C = -1.3, D = 0.9;
    double *x = uniform(L, -1, 1), y[L], h = 0, off[2] = {0, 0};
    for (int t = 0; t < L; t++) h = A * h + B * x[t], y[t] = C * h + D * x[t];
    for (int t = 1; t < L; t++)
        for (int minus = 0; minus < 2; minus++)
            off[minus] = fmax(off[minus], fabs(A * y[t - 1] + (C * B + D) * x[t] +
                                               (minus ? -1 : 1) * A * D * x[t - 1] - y[t]));
    proof_at_least(off[0], 1, "as printed, + A D x_{t-1}: residual");
    proof_at_most(off[1], 1e-14, "- A D x_{t-1}: residual");
    check_done();
}

// 7. [Focus] argues by the poles in s = e^{-jw} as if it were Laplace's s (negative real parts). That test passes for
// diverging filters too; what decides is |z| < 1. The conclusion holds on (0,1)^2, but a filter with positive coefficients
// answers more to the fastest oscillation than to a constant: no low-pass, no moving average.
static void erratum_07_no_low_pass(void **state) {
    (void)state;
    check_seed(7);
    double radius = 0, least = INFINITY;
    for (int n = 0; n < 200000; n++) {
        const double a1 = check_uniform(0, 1), a2 = check_uniform(0, 1);
        radius = proof_largest(radius, con_pole_radius(a1, a2));
        least = fmin(least, (1 + a1 + a2) / (1 - a1 + a2)); // gain at pi over gain at 0
    }
    proof_at_least(1 - radius, 1e-9,
                   "200000 filters of (0,1)^2: least distance of a pole from the unit circle");
    proof_at_least(least - 1, 1e-9,
                   "the gain at the highest frequency over the gain at frequency 0, less 1: the least");
    // (0.5, 1.5) passes the Laplace test (both coefficients positive) and diverges.
    double y1 = 0, y2 = 0, y = 0;
    for (int t = 0; t < 200; t++) y = (t == 0) - 0.5 * y1 - 1.5 * y2, y2 = y1, y1 = y;
    proof_at_least(con_pole_radius(0.5, 1.5), 1.2, "(0.5, 1.5): pole radius");
    proof_at_least(fabs(y1) + fabs(y2), 1e15, "(0.5, 1.5): response after 200 steps");
    // An average over the last few inputs, y_t = 0.1 x_t + 0.9 y_{t-1}, has that ratio 0.1/1.9; a1 = -0.9 is out of reach.
    proof_at_most(0.1 / 1.9, 0.06, "the same ratio of a moving average with factor 0.9");
}

// 8. [Focus] Sec. 5.1: with 30 symbols, a dictionary of at most 14 keys, the key that is asked occurred a few dozen tokens
// ago, whatever the length: local recall.
static void erratum_08_evidence_is_near(void **state) {
    (void)state;
    static int32_t tokens[8192], targets[8192];
    for (int length = 1024; length <= 8192; length *= 8) {
        char text[80];
        snprintf(text, sizeof text, "task=dict_ar&length=%d&vocab=30&pairs=14", length);
        smx_error e = {0};
        config *c = config_parse(text, 0, &e);
        if (!c) fail_msg("%s", e.message);
        smx_task_instance in = {.task = smx_task_find("dict_ar")};
        if (in.task->open(&in, c, (size_t)length, &e)) fail_msg("%s", e.message);
        double sum = 0, farthest = 0;
        for (uint64_t n = 0; n < 1000; n++) {
            smx_task_sample s = {.tokens = tokens, .targets = targets};
            in.task->generate(&in, 1, 2, n, &s);
            int back = 1;
            while (tokens[length - 1 - back] != tokens[length - 1]) back++;
            sum += back;
            farthest = fmax(farthest, back);
        }
        if (in.release) in.release(in.data);
        config_free(c);
        proof_at_most(sum / 1000, 35, "%d tokens: mean distance to the latest evidence", length);
        proof_at_most(farthest, 400, "%d tokens: its largest among 1000 sequences", length);
    }
}

// 9. [CHELA] Eq. 10 gives the gate the values' matrix: G_a = SiLU(Z W_v + b_v). Then the gate is constant only if the values
// are; a layer that passes its values through an open gate does not exist. With W_g of its own it does.
static void erratum_09_gate_matrix(void **state) {
    (void)state;
    enum { L = 10, D = 4, N = 3 };
    check_seed(9);
    double *x = uniform(L * D, -1, 1), *s3 = uniform(D * 3, -1, 1), *sn = uniform(D * N, -1, 1),
           *kl = uniform(D * L, -1, 1);
    double ones[D], zeros[D] = {0}, none[D * D] = {0}, open[D], *w_v = uniform(D * D, -1, 1),
                    *b_v = uniform(D, -1, 1);
    double u[L * D], z[L * D], wanted[L * D], printed[L * D], constant[L * D];
    for (int c = 0; c < D; c++) ones[c] = 1, open[c] = 3;
    ref_chela_weights w = {{s3, sn, kl, NULL}, ones, zeros, ones, zeros, w_v, b_v, none, open, none, zeros};
    const ref_chela p = {L, D, 1, N, 0, 1e-5};
    assert_int_equal(ref_chela_layer_fwd(u, z, wanted, x, &w, &p),
                     REF_OK); // its own W_g = 0: the gate is SiLU(3)
    w.w_g = w_v, w.b_g = b_v; // as printed
    assert_int_equal(ref_chela_layer_fwd(u, z, printed, x, &w, &p), REF_OK);
    w.w_v = w.w_g = none, w.b_v = w.b_g = open; // the only printed layer with that gate
    assert_int_equal(ref_chela_layer_fwd(u, z, constant, x, &w, &p), REF_OK);
    double size = 0;
    for (int i = 0; i < L * D; i++) size = fmax(size, fabs(wanted[i]));
    proof_at_least(difference(wanted, printed, L * D) / size, 0.5,
                   "as printed, the values wanted: relative error of M");
    proof_at_least(difference(wanted, constant, L * D) / size, 0.5,
                   "as printed, the gate wanted: relative error of M");
    check_done();
}

// 10. [CHELA] Eq. 8: the short kernels fuse with each other, exactly; SiLU stands between them and the long one.
static void erratum_10_fusing(void **state) {
    (void)state;
    enum { L = 40, D = 3, N = 5 };
    check_seed(10);
    double *x = uniform(L * D, -1, 1), *s3 = uniform(D * 3, -1, 1), *sn = uniform(D * N, -1, 1),
           *kl = uniform(D * L, -1, 1);
    double fused[D * N], all[D * L] = {0}, a[L * D], b[L * D], z[L * D];
    assert_int_equal(ref_short_sum_fwd(a, x, s3, sn, L, D, N), REF_OK);
    ref_short_fuse(fused, s3, sn, D, N);
    ref_conv_fwd(b, x, fused, 1, L, D, D, N, 0, D, D);
    proof_at_most(difference(a, b, L * D), 1e-14, "short kernels fused: difference");
    for (int c = 0; c < D; c++) // and K_l * K_s in one kernel
        for (int t = 0; t < L; t++)
            for (int s = 0; s < N && s <= t; s++) all[c * L + t] += fused[c * N + s] * kl[c * L + t - s];
    const ref_short_long_weights w = {s3, sn, kl, NULL};
    const ref_short_long p = {L, D, N, 0};
    assert_int_equal(ref_short_long_fwd(z, x, &w, &p), REF_OK);
    ref_long_conv_fwd(b, x, all, NULL, L, D, 0);
    double size = 0;
    for (int i = 0; i < L * D; i++) size = fmax(size, fabs(z[i]));
    proof_at_least(difference(z, b, L * D) / size, 0.2,
                   "all kernels fused: relative difference from K_l * SiLU(K_s * x)");
    check_done();
}

// 11. [CAT] Theorem 1's "almost all F": under zero padding and norm() the first row a and the pair a a are one direction
// whenever F_0 (F_0 + F_1) > 0. proof_cat_thm1.c shows what it does to the answer.
static void erratum_11_almost_all_filters(void **state) {
    (void)state;
    check_seed(11);
    const double table[4] = {1, 0, 0, 1};
    int collide = 0, distinct = 0;
    for (int n = 0; n < 2000; n++) {
        const double filter[2] = {proof_normal(), proof_normal()};
        collide += con_wrong_cosine(table, 2, 2, filter, 2, 1) > 1 - 1e-12;
        distinct += con_wrong_cosine(table, 2, 2, filter, 2, 0) < 1 - 1e-12;
    }
    double low, high;
    proof_wilson(&low, &high, collide, 2000, 3.29);
    print_message("%d of 2000 Gaussian filters collide: %.3f .. %.3f at 99.9 %%\n", collide, low, high);
    assert_true(low < 0.75 && 0.75 < high); // the angle of (F_0, F_1): 3/4 of the circle
    proof_at_least(collide / 2000.0, 0.5,
                   "share of filters for which a at the start and a a are the same direction");
    proof_at_least(distinct, 2000, "filters of 2000 that tell all pairs apart once the first row is masked");
}

// 12. [Focus] Every frozen filter is stable; switching between stable ones while the state lives is not.
static void erratum_12_switching_diverges(void **state) {
    (void)state;
    enum { R = 16, L = 2048, BINS = L / R };
    static double x[L], y[L], theta[BINS * 2];
    for (int b = 0; b < BINS; b++) theta[2 * b] = b % 2 ? 0.1587 : 0.9692, theta[2 * b + 1] = 0.99;
    x[0] = 1;
    const ref_focus_filter carry = {L, 1, BINS, 1, REF_FOCUS_CARRY},
                           causal = {L, 1, BINS, 1, REF_FOCUS_CAUSAL};
    double grown = 0, reset = 0;
    assert_int_equal(ref_focus_filter_fwd(y, x, theta, &carry), REF_OK);
    for (int t = L - 2 * R; t < L; t++) grown = fmax(grown, fabs(y[t]));
    assert_int_equal(ref_focus_filter_fwd(y, x, theta, &causal), REF_OK);
    for (int t = 0; t < L; t++) reset = fmax(reset, fabs(y[t]));
    proof_at_most(fmax(con_pole_radius(0.9692, 0.99), con_pole_radius(0.1587, 0.99)), 0.995,
                  "pole radius of both filters");
    proof_at_least(grown, 1e7, "carry: response to one impulse after 2048 steps");
    proof_at_most(reset, 1.1, "state reset at each bin: largest response");
}

// 13. [LaS] Sec. 5.2 calls its gaps .08, 3.25, 3.20, 3.52 "removing the smooth operator"; they are LaS minus row S of Table 4,
// and S is the row with the smooth operator only. What removing it leaves is L: pooling with P = 1 is no pooling.
static void erratum_13_which_ablation(void **state) {
    (void)state;
    enum { L = 24, D = 6, P = 3 };
    check_seed(13);
    double *q = uniform(L * D, -1, 1), *k = uniform(L * D, -1, 1), *v = uniform(L * D, -1, 1),
           alphas[1] = {0.4};
    double las[L * D], only_l[L * D], only_s[L * D];
    const ref_las without = {L,     D, 1, 1, 0, REF_DECAY_EXP, REF_POOL_CENTRED,
                             alphas}; // LaS, its operator taken away
    const ref_las row_l = {L, D, 1, P, 0, REF_DECAY_EXP, REF_POOL_NONE, alphas};
    const ref_las row_s = {L, D, 1, P, 0, REF_DECAY_NONE, REF_POOL_CENTRED, NULL};
    assert_int_equal(ref_las_heads_fwd(las, q, k, v, &without), REF_OK);
    assert_int_equal(ref_las_heads_fwd(only_l, q, k, v, &row_l), REF_OK);
    assert_int_equal(ref_las_heads_fwd(only_s, q, k, v, &row_s), REF_OK);
    proof_at_most(difference(las, only_l, L * D), 0,
                  "LaS without the smooth operator: difference from row L");
    proof_at_least(difference(las, only_s, L * D), 0.05,
                   "LaS without the smooth operator: difference from row S");
    check_done();
}

// 14. [Focus] Eq. 33 takes log2 of the cross-entropy. Bits per character are the cross-entropy in base 2.
static void erratum_14_bits_per_character(void **state) {
    (void)state;
    const double uniform_27 = log(27.0), good = 0.7; // nats
    proof_at_least(fabs(log2(uniform_27) - log2(27.0)), 3,
                   "27 equally likely letters: error of log2(cross-entropy) in bits");
    proof_at_most(fabs(uniform_27 / log(2.0) - log2(27.0)), 1e-14, "the same of cross-entropy / ln 2");
    proof_at_most(log2(good), 0, "0.7 nats per letter, as printed: bits, fewer than none");
    proof_at_least(good / log(2.0), 1, "0.7 nats per letter: bits");
}

// 15. [CHELA] the text's average 88.26 and Table 1's 88.19 cannot both be the mean of six scores given to two decimals: a
// mean with two decimals fixes their sum to 0.03, and the sums are 0.42 apart.
static void erratum_15_average(void **state) {
    (void)state;
    const double text = 88.26, table = 88.19, tasks = 6, rounding = tasks * 0.005;
    proof_at_least(tasks * (text - table) - 2 * rounding, 0.3,
                   "sum of six scores: distance of the two averages beyond rounding");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(erratum_01_pooling_leaks),
                                       cmocka_unit_test(erratum_02_decay_does_not_mask),
                                       cmocka_unit_test(erratum_03_ranges),
                                       cmocka_unit_test(erratum_04_signed_kernels),
                                       cmocka_unit_test(erratum_05_not_causal_in_a_bin),
                                       cmocka_unit_test(erratum_06_sign),
                                       cmocka_unit_test(erratum_07_no_low_pass),
                                       cmocka_unit_test(erratum_08_evidence_is_near),
                                       cmocka_unit_test(erratum_09_gate_matrix),
                                       cmocka_unit_test(erratum_10_fusing),
                                       cmocka_unit_test(erratum_11_almost_all_filters),
                                       cmocka_unit_test(erratum_12_switching_diverges),
                                       cmocka_unit_test(erratum_13_which_ablation),
                                       cmocka_unit_test(erratum_14_bits_per_character),
                                       cmocka_unit_test(erratum_15_average)};
    return cmocka_run_group_tests_name("errata", tests, NULL, NULL);
}
