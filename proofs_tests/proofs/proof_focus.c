// proof_focus.c
// Claim: [Focus] every frozen filter with coefficients in (0,1) is stable; order 1 is a diagonal linear RNN
//   (Eqs. 29-32).
// Statement: for Theta in (0,1)^2 the filter 1/(1 + Theta_0 z^-1 + Theta_1 z^-2) has its poles inside the
//   unit circle, so its response is bounded; a filter of order 1 computes y_t = A y_{t-1} + (CB + D) x_t - A
//   D x_{t-1}, a state space layer.
// Needs: one filter throughout, or the state reset at each bin. Where the state is carried across bins and
//   the filters change, stable ones can diverge together; Theta_0 + Theta_1 <= s < 1 is sufficient,
//   |y| <= max|x| / (1 - s).
// Model: con_focus_filter: smx_iir (causal, carry), and the oracle.
// Check: pole radius < 1 where and only where |a_2| < 1 and |a_1| < 1 + a_2; |h_t| <= (t + 1) r^t, since h_t
//   is a sum of t + 1 products of t poles, with a factor e^(1.5 u t (t + 2)) for rounding errors that add
//   up, and in float32 2^-88 / (1 - r) for the state that the kernel takes as 0; the counter-example's
//   growth; the bound 1/(1 - s) against inputs that work for it; order 1 against the diagonal layer relative
//   to the sum of absolute terms; the kernel's Theta from sigma and tanh, in u. What is called measured was
//   measured over 1,000 draws.
#include "proof.h"

static void triangle_is_the_unit_disc(void **state) {
    (void)state;
    proof_seed(101);
    int differ = 0, inside = 0, outside = 0;
    for (int n = 0; n < 400000; n++) {
        const double a1 = check_uniform(-2.5, 2.5), a2 = check_uniform(-1.5, 1.5),
                     r = con_pole_radius(a1, a2);
        const int stable = fabs(a2) < 1 && fabs(a1) < 1 + a2;
        differ += stable != (r < 1);
        inside += stable;
        const double t0 = check_uniform(0, 1), t1 = check_uniform(0, 1);
        outside += !(con_pole_radius(t0, t1) < 1);
    }
    proof_at_most(differ, 0, "filters of 400000 on which triangle and unit circle disagree (%d stable)",
                  inside);
    proof_at_most(outside, 0, "400000 filters of (0,1)^2: those with a pole not inside the unit circle");
    // The corner that sigma reaches in float32 is held back: 1 - 2^-20, a pair of poles of that product.
    float corner[2] = {40, 40};
    smx_theta_fwd(corner, corner, 2, 0);
    const double held = 1 - sqrt(1 - 0x1p-20),
                 off = 1 - con_pole_radius((double)corner[0], (double)corner[1]);
    // Both are about 2^-21, and off by at most 2^-53: each by 2^-32 of itself.
    proof_at_most(fabs(off / held - 1), 0x1p-31,
                  "sigma(40), sigma(40): distance of its poles from it over 2^-21");
}

// Theta is sigma of what the layer gives, or in a triangle tanh of it: in units of u of the value itself.
static void theta_is_what_it_says(void **state) {
    (void)state;
    enum { N = 2000 };
    float raw[N], theta[N];
    proof_seed(106);
    for (int i = 0; i < N; i++) raw[i] = (float)check_uniform(-13, 13); // beyond, the limit
    smx_theta_fwd(theta, raw, N, 0);
    double off = 0;
    for (int i = 0; i < N; i++) {
        const double want = 1 / (1 + exp(-(double)raw[i]));
        off = proof_largest(off, fabs((double)theta[i] - want) / want);
    }
    proof_measured(off / 0x1p-24, 3.3, "%d coefficients: Theta from 1/(1 + e^-x), in u", N);
    for (int i = 0; i < N; i++) raw[i] = (float)(i % 2 ? check_uniform(-6, 6) : check_uniform(-4, 4));
    smx_theta_fwd(theta, raw, N, 1);
    off = 0;
    for (int i = 0; i < N; i += 2) {
        const double second = tanh((double)raw[i + 1]), first = tanh((double)raw[i]) * (1 + second);
        off = proof_largest(off, fabs((double)theta[i + 1] - second));
        off = proof_largest(off, fabs((double)theta[i] - first));
    }
    proof_measured(off / 0x1p-24, 6.4, "%d pairs in the triangle: from tanh, in u", N / 2);
}

static void frozen_filters_decay(void **state) {
    (void)state;
    enum { L = 4096 };
    static double x[L], y[L];
    memset(x, 0, sizeof x);
    x[0] = 1;
    PROOF_EACH_PRECISION(p) {
        double worst = 0;
        proof_seed(102);
        for (int n = 0; n < 60; n++) {
            const double t0 = (float)check_uniform(0, 1),
                         t1 = (float)check_uniform(0, 1); // C leaves arguments' order open
            double theta[2] = {t0, t1};
            if (n == 0) theta[0] = theta[1] = 1 - 0x1p-20;
            if (n == 1) theta[0] = 0, theta[1] = 1 - 0x1p-20;
            const double r = con_pole_radius(theta[0], theta[1]);
            proof_ok(con_focus_filter(y, x, theta, L, 1, 1, 0, p));
            // Step s rounds by at most 3 u (|a_1 h_{s-1}| + |a_2 h_{s-2}|) <= 9 u s r^s g_s, where
            // |a_1| <= 2 r, a_2 <= r^2 and |h_s| <= (s + 1) r^s g_s, and step t has t - s + 1 times r^{t-s}
            // of it: g_t <= 1 + sum_s 9 u s (t - s + 1) g_s / (t + 1), whose powers of u t^2 are below those
            // of e^(1.5 u t (t + 2)).
            // Every 64 rows the float32 kernel sets each of its two numbers of state to 0 if it is below
            // 2^-96 (smx_settle). n rows later this is an error of at most 2^-95 (n + 2) r^n <=
            // 2^-94 / (1 - r); 64 times in 4096 rows, 2^-88 / (1 - r).
            const double settled = p == CON_FLOAT ? 0x1p-88 / (1 - r) : 1e-300;
            for (int t = 0; t < L; t++) {
                const double most = (t + 1) * pow(r, t) * exp(1.5 * proof_u(p) * t * (t + 2));
                worst = proof_largest(worst, fabs(y[t]) / (most + settled));
            }
        }
        proof_at_most(worst, 1 + 1e-6, "%s: largest |h_t| over its bound, 60 filters, 4096 steps",
                      proof_short(p));
    }
}

static void carried_state_can_diverge(void **state) {
    (void)state;
    enum { R = 16, L = 2048, BINS = L / R };
    static double x[L], y[L], theta[BINS * 2];
    memset(x, 0, sizeof x);
    x[0] = 1;
    for (int b = 0; b < BINS; b++) theta[2 * b] = b % 2 ? 0.1587 : 0.9692, theta[2 * b + 1] = 0.99;
    PROOF_EACH_PRECISION(p) {
        double last = 0, most = 0;
        proof_ok(con_focus_filter(y, x, theta, L, BINS, 1, 1, p));
        for (int t = L - 2 * R; t < L; t++) last = proof_largest(last, fabs(y[t]));
        proof_measured_least(last, 2e7,
                             "%s: (.9692, .99) and (.1587, .99) in turn, carried: |y| after 2048 steps",
                             proof_short(p));
        proof_ok(con_focus_filter(y, x, theta, L, BINS, 1, 0, p));
        for (int t = 0; t < L; t++) most = proof_largest(most, fabs(y[t]));
        proof_at_most(most, 1.03, "%s: the same with the state reset at each bin: largest |y|",
                      proof_short(p));
        for (int b = 0; b < 2; b++) {
            double one[2] = {theta[2 * b], theta[2 * b + 1]};
            proof_ok(con_focus_filter(y, x, one, L, 1, 1, 0, p));
            for (last = 0, most = L - 2 * R; most < L; most++) last = proof_largest(last, fabs(y[(int)most]));
            proof_measured(last, 8e-5, "%s: either filter alone: |y| after 2048 steps", proof_short(p));
        }
    }
}

// Theta_0 + Theta_1 <= s: whatever the switching. Inputs +-1 with the sign that makes |y_t| largest come near
// the bound.
static void small_sums_are_safe(void **state) {
    (void)state;
    enum { R = 8, L = 1024, BINS = L / R };
    static double x[L], y[L], theta[BINS * 2];
    const double sums[] = {0.5, 0.9, 0.99};
    PROOF_EACH_PRECISION(p)
    for (size_t n = 0; n < CHECK_COUNT(sums); n++) {
        const double s = sums[n];
        double most = 0;
        proof_seed(103 + n);
        for (int trial = 0; trial < 40; trial++) {
            double y1 = 0, y2 = 0;
            for (int b = 0; b < BINS; b++) {
                const double share = trial ? check_uniform(0, 1) : 1; // the first trial: all on lag 1
                theta[2 * b] = (float)(share * s * (1 - 1e-6)),
                          theta[2 * b + 1] = (float)((1 - share) * s * (1 - 1e-6));
            }
            for (int t = 0; t < L; t++) {
                const double past = -theta[t / R * 2] * y1 - theta[t / R * 2 + 1] * y2;
                x[t] = trial % 2 ? check_uniform(-1, 1) : past >= 0 ? 1 : -1;
                y2 = y1, y1 = x[t] + past;
            }
            proof_ok(con_focus_filter(y, x, theta, L, BINS, 1, 1, p));
            for (int t = 0; t < L; t++) most = proof_largest(most, fabs(y[t]));
        }
        proof_at_most(most * (1 - s), 1 + 1e-5, "%s, Theta_0 + Theta_1 <= %g, carried: largest |y| (1 - s)",
                      proof_short(p), s);
        proof_at_least(most * (1 - s), 0.95, "%s, Theta_0 + Theta_1 <= %g: the same", proof_short(p), s);
    }
}

// Order 1: a state space layer h_t = A h_{t-1} + B x_t, y_t = C h_t + D x_t is the filter (A, 0) with its
// sign turned, after the two taps (CB + D, -A D); three of them in parallel are a diagonal layer of three
// states.
static void order_one_is_a_diagonal_rnn(void **state) {
    (void)state;
    enum { L = 300, N = 3 };
    proof_seed(104);
    double x[L], y[L], mixed[L], sum[L], want[L];
    for (int t = 0; t < L; t++) x[t] = (float)check_uniform(-1, 1);
    PROOF_EACH_PRECISION(p) {
        double off = 0, size[L] = {0}; // the sum of the absolute terms
        memset(sum, 0, sizeof sum), memset(want, 0, sizeof want);
        proof_seed(105);
        for (int n = 0; n < N; n++) {
            const double A = -(float)check_uniform(0.05, 0.95), B = check_uniform(-2, 2),
                         C = check_uniform(-2, 2);
            const double D = check_uniform(-1, 1), taps[2] = {C * B + D, -A * D}, theta[2] = {-A, 0};
            double h = 0, terms = 0;
            for (int t = 0; t < L; t++) {
                h = A * h + B * x[t], want[t] += C * h + D * x[t];
                terms = fabs(A) * terms + fabs(B * x[t]), size[t] += fabs(C) * terms + fabs(D * x[t]);
            }
            proof_ok(con_conv(mixed, x, taps, L, 1, 2, 0, p));
            proof_ok(con_focus_filter(y, mixed, theta, L, 1, 1, 0, p));
            for (int t = 0; t < L; t++) sum[t] += y[t];
        }
        for (int t = 0; t < L; t++) off = proof_largest(off, fabs(sum[t] - want[t]) / size[t]);
        proof_measured(off / proof_u(p), 3, "%s: order-1 filters and a diagonal layer of 3 states, in u",
                       proof_short(p));
        // And F filters of order 1 at once: CB = 1, D = 0.
        const double theta[2 * N] = {0.3, 0, 0.6, 0, 0.9, 0};
        double h[N] = {0}, terms[N] = {0};
        off = 0;
        proof_ok(con_focus_filter(y, x, theta, L, 1, N, 0, p));
        for (int t = 0; t < L; t++) {
            double s = 0, scale = 0;
            for (int n = 0; n < N; n++) {
                const double A = -(p == CON_FLOAT ? (double)(float)theta[2 * n] : theta[2 * n]);
                h[n] = A * h[n] + x[t], s += h[n];
                terms[n] = fabs(A) * terms[n] + fabs(x[t]), scale += terms[n];
            }
            off = proof_largest(off, fabs(y[t] - s) / scale);
        }
        proof_measured(off / proof_u(p), p == CON_FLOAT ? 3 : 0, "%s: F = 3 in one layer, in u",
                       proof_short(p));
    }
}

// The recurrence is the product with the 2R-point transform of its response cut at R taps.
// Sampling H there instead adds the response's tail, wrapped: R = 16, pole radius 0.95.
static void sampling_h_aliases(void **state) {
    (void)state;
    enum { R = 16, N = 2 * R };
    const double r = 0.95, a1 = 0.1, a2 = r * r, tau = 6.283185307179586;
    double h[4096] = {1}, wrapped[N] = {0}, off_cut = 0, off_sampled = 0;
    for (int t = 1; t < 4096; t++) h[t] = -a1 * h[t - 1] - (t > 1 ? a2 * h[t - 2] : 0);
    for (int t = 0; t < 4096; t++) wrapped[t % N] += h[t];
    for (int sampled = 0; sampled < 2; sampled++)
        for (int t = 0; t < R; t++) { // inverse transform of either, at t
            double sum = 0;
            for (int k = 0; k < N; k++) {
                double re = 0, im = 0, w = tau * k / N;
                if (sampled) {
                    const double cr = 1 + a1 * cos(w) + a2 * cos(2 * w), ci = -a1 * sin(w) - a2 * sin(2 * w);
                    re = cr / (cr * cr + ci * ci), im = -ci / (cr * cr + ci * ci);
                } else {
                    for (int s = 0; s < R; s++) re += h[s] * cos(w * s), im -= h[s] * sin(w * s);
                }
                sum += re * cos(w * t) - im * sin(w * t);
            }
            if (sampled)
                off_sampled = proof_largest(off_sampled, fabs(sum / N - h[t])),
                assert_true(fabs(sum / N - wrapped[t]) < 1e-12);
            else
                off_cut = proof_largest(off_cut, fabs(sum / N - h[t]));
        }
    proof_measured(off_cut, 2.8e-15, "response cut at R taps: error of the transform's filter");
    proof_at_least(off_sampled, 0.1, "H sampled at 2R points: error of the filter");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(triangle_is_the_unit_disc), cmocka_unit_test(theta_is_what_it_says),
        cmocka_unit_test(frozen_filters_decay),      cmocka_unit_test(carried_state_can_diverge),
        cmocka_unit_test(small_sums_are_safe),       cmocka_unit_test(order_one_is_a_diagonal_rnn),
        cmocka_unit_test(sampling_h_aliases)};
    return cmocka_run_group_tests_name("focus", tests, NULL, NULL);
}
