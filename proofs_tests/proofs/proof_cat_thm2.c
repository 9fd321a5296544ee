// proof_cat_thm2.c
// Claim: [CAT] Theorem 2: a model that solves associative recall at one length solves it at every length.
// Statement: consider f(X) = (X*F)^T softmax(X W x_L), F >= 0 with taps at the offsets -R .. R, R < L. If its
//   error on every recall sequence of length L >= 3 is at most eps, and 4 L eta <= 1 with eta = eps/Delta,
//   then F is near the delay, |F - 2 D_{-1}|_1 at most 9 L eta and at most 37 eta, the attention is near 1/2
//   on both occurrences of the query, |s - s*|_1 <= L' eta as printed, and the error at any length L' is at
//   most 23 L' eta. (The paper prints L eta for F and, with a constant that it does not name, L' eta.)
// Needs: two or more unit embeddings of which no two are parallel: Delta^2 = 1 - the largest squared cosine
//   of two different ones, above 0. The answer is read in the last row.
// Model: con_ar_fwd. Constructed: W = c I, F = 2 D_{-1}, and the same disturbed, so that the error at the
//   short length is not 0. Trained: the project's own CAT (value_filter=two_sided) after training on `ar`,
//   its filter and weights read back.
// Check: for disturbances of W and F over two decades eps, of every sequence of length 4, is at most what
//   the disturbance allows, and the three quantities in L eps or L' eps, at every L' up to 1000, are
//   below the 9, 1 and 23 that are proved. (The 1 printed of F fails for other filters: erratum 18.) A model
//   far from solving the task at length 4 is no counter-example. What is called measured was measured over
//   1,000 draws (of the last row alone, in double: last_row), of trained models over 1,047 seeds but for 37
//   that do not learn the task (loss above 1.9), of which nothing is claimed.
#include "proof.h"

#include <seqmix/run.h>

enum { V = 8, D = 8, MAX_L = 1000, R = 2, T = 2 * R + 1, SHORT = 4 };
static double table[V * D];
static void make_table(void) { // orthonormal: the unit vectors, so that cosines are 0
    memset(table, 0, sizeof table);
    for (int v = 0; v < V; v++) table[v * D + v] = 1;
}
static int copy_of(const int32_t *x, int L) {
    int place = -1;
    for (int t = 0; t < L - 1; t++)
        if (x[t] == x[L - 1]) {
            if (place >= 0) return -1;
            place = t;
        }
    return place;
}
// con_ar_fwd's last row alone, in double: what other draws than the program's own (proof_draw) go by.
static void last_row(double *y, double *weights, const double *x, const double *W, const double *F, int L) {
    double q[D] = {0}, most = -INFINITY, sum = 0;
    for (int i = 0; i < D * D; i++) q[i / D] += W[i] * x[(L - 1) * D + i % D];
    for (int t = 0; t < L; t++) {
        weights[t] = 0;
        for (int c = 0; c < D; c++) weights[t] += x[t * D + c] * q[c];
        most = proof_largest(most, weights[t]);
    }
    for (int t = 0; t < L; t++) sum += weights[t] = exp(weights[t] - most);
    memset(y, 0, D * sizeof *y);
    for (int t = 0; t < L; t++) {
        weights[t] /= sum;
        for (int j = 0; j < T; j++)
            for (int c = 0, from = t - j + R; from >= 0 && from < L && c < D; c++)
                y[c] += weights[t] * F[j] * x[from * D + c];
    }
}
// Adds to the largest error and the largest distance (l1) of the attention from 1/2, 1/2.
static void one(double *error, double *attention, const int32_t *tokens, int L, const double *W,
                const double *F, int place, con_precision p) {
    static double x[MAX_L * D], weights[MAX_L];
    double y[D], e = 0, a = 0;
    for (int t = 0; t < L; t++) memcpy(x + t * D, table + tokens[t] * D, D * sizeof *x);
    if (proof_draw())
        last_row(y, weights, x, W, F, L);
    else
        proof_ok(con_ar_fwd(y, weights, x, W, F, (size_t)L, D, R, p));
    for (int c = 0; c < D; c++) {
        const double d = y[c] - table[tokens[place + 1] * D + c];
        e += d * d;
    }
    for (int j = 0; j < L; j++) a += fabs(weights[j] - (j == place || j == L - 1) * 0.5);
    *error = proof_largest(*error, sqrt(e));
    *attention = proof_largest(*attention, a);
}
static void every_short_sequence(double *error, double *attention, const double *W, const double *F,
                                 con_precision p) {
    int count = 1;
    for (int t = 0; t < SHORT; t++) count *= V;
    for (int code = 0; code < count; code++) {
        int32_t x[SHORT];
        for (int t = 0, rest = code; t < SHORT; t++, rest /= V) x[t] = rest % V;
        const int place = copy_of(x, SHORT);
        if (place >= 0) one(error, attention, x, SHORT, W, F, place, p);
    }
}
static int random_sequence(int32_t *x, int L) {
    const int32_t query = (int32_t)(check_next() % V);
    for (int t = 0; t < L; t++) x[t] = (int32_t)((query + 1 + (int32_t)(check_next() % (V - 1))) % V);
    x[L - 1] = x[check_next() % (uint64_t)(L - 1)] = query;
    return copy_of(x, L);
}

static void disturbed_constructions(void **state) {
    (void)state;
    make_table();
    PROOF_EACH_PRECISION(p)
    for (int level = 0; level < 3; level++) {
        static const double most_filter[] = {0, 1.6, 1.5}, most_attention[] = {0.6, 0.006, 0.03};
        const double size = level == 0 ? 0 : level == 1 ? 1e-4 : 1e-3, c = level == 2 ? 12 : 16;
        double worst_error = 0, worst_filter = 0, worst_attention = 0, largest_eps = 0, at_1000 = 0;
        for (int trial = 0; trial < 2; trial++) {
            double W[D * D], F[T], eps = 0, attention = 0, filter = 0;
            proof_seed(60 + (uint64_t)trial + 10 * (uint64_t)level);
            for (int i = 0; i < D * D; i++) W[i] = c * (i % (D + 1) == 0) + c * size * check_uniform(-1, 1);
            // (no tap below 0, as the theorem asks)
            for (int i = 0; i < T; i++) F[i] = 2 * (i == R - 1) + size * check_uniform(-(i == R - 1), 1);
            for (int i = 0; i < T; i++) filter += fabs(F[i] - 2 * (i == R - 1));
            every_short_sequence(&eps, &attention, W, F, p);
            largest_eps = proof_largest(largest_eps, eps);
            worst_filter = proof_largest(worst_filter, filter / (SHORT * eps));
            for (int L = 3; L <= MAX_L; L = L < 10          ? L + 1
                                            : L * 3 < MAX_L ? L * 3
                                            : L == MAX_L    ? MAX_L + 1
                                                            : MAX_L) {
                double e = 0, a = 0;
                for (int n = 0; n < 3; n++) {
                    static int32_t x[MAX_L];
                    one(&e, &a, x, L, W, F, random_sequence(x, L), p);
                }
                worst_error = proof_largest(worst_error, e / (L * eps));
                worst_attention = proof_largest(worst_attention, a / (L * eps));
                if (L == MAX_L) at_1000 = proof_largest(at_1000, e);
            }
        }
        print_message("%s, disturbance %g: error %.3g at 1000 tokens\n", proof_short(p), size, at_1000);
        // The premise. Both copies have the same score; another token's is lower by c (1 - 2 size) or more,
        // and the filtered values are off by no more than the filter.
        proof_at_most(largest_eps, T * size + 4 * exp(-c * (1 - 2 * size)) + 8 * proof_u(p),
                      "%s, disturbance %g: error on every sequence of 4", proof_short(p), size);
        proof_measured(worst_filter, most_filter[level], "%s, disturbance %g: |F - 2 D_{-1}|_1 in L eps",
                       proof_short(p), size);
        proof_measured(worst_attention, most_attention[level],
                       "%s, disturbance %g: attention's distance in L' eps", proof_short(p), size);
        proof_measured(worst_error, 0.5, "%s, disturbance %g: error at L' = 3 .. 1000 in L' eps",
                       proof_short(p), size);
    }
}

// The premise matters: at c = 2 the error at length 4 is of order 1, and so it is at 1000;
// nothing is claimed.
static void without_the_premise(void **state) {
    (void)state;
    make_table();
    double W[D * D], F[T] = {0, 2, 0, 0, 0}, eps = 0, e = 0, a = 0;
    static int32_t x[MAX_L];
    for (int i = 0; i < D * D; i++) W[i] = 2.0 * (i % (D + 1) == 0);
    every_short_sequence(&eps, &a, W, F, CON_FLOAT);
    proof_seed(66);
    for (int n = 0; n < 4; n++) one(&e, &a, x, MAX_L, W, F, random_sequence(x, MAX_L), CON_FLOAT);
    proof_measured_least(eps, 0.2, "c = 2: error on every sequence of 4");
    proof_measured_least(e, 0.9, "c = 2: error at 1000 tokens");
}

// ---- Models trained by the project ----------------------------------------------------------------------
// One block with the two-sided value filter alone, on `ar`; no positions, no norm. The trained model has more
// freedom than the theorem's (a residual, W_v, W_o, a head behind), so only the direction of F is determined,
// and the error is its loss.
#define TRAINED                                                                                                     \
    "mixer=cat&task=ar&filters=v&value_filter=two_sided&filter=1&filter_std=0.02&norm=none&mlp=0&blocks=1&heads=1&" \
    "position=none&init=fan_in&embed_std=1&batch=32&rate=0.01&warmup=20&clip=1&decay=0&schedule=cosine&steps=1000"
static smx_run *trained(const char *rest, int seed) {
    char config[500];
    smx_error e = {0};
    snprintf(config, sizeof config, TRAINED "&%s&seed=%d", rest, seed);
    smx_run *r = smx_run_open(config, &e);
    if (!r || smx_run_step(r, 1000, &e)) fail_msg("%s: %s", config, e.message);
    return r;
}
// Largest distance (l1) of the last row's attention from 1/2 on both occurrences,
// over 20 samples of the evaluation stream.
static double attention_distance(smx_run *r, size_t length) {
    double worst = 0;
    smx_error e = {0};
    for (uint64_t n = 0; n < 20; n++) {
        smx_sample s;
        smx_tensor map;
        if (smx_run_look(r, SMX_STREAM_EVAL, n, length, &s, &e) ||
            smx_run_tensor(r, "block0.mixer.map", &map, &e))
            fail_msg("length %zu: %s", length, e.message);
        const size_t L = s.length;
        double a = 0;
        for (size_t j = 0; j < L; j++)
            a += fabs((double)map.data[(L - 1) * L + j] - (s.tokens[j] == s.tokens[L - 1]) * 0.5);
        worst = proof_largest(worst, a);
    }
    return worst;
}
static smx_evaluation evaluated(smx_run *r, size_t length) {
    smx_error e = {0};
    smx_evaluation ev;
    if (smx_run_evaluate(r, 300, length, &ev, &e)) fail_msg("length %zu: %s", length, e.message);
    return ev;
}
static void trained_models(void **state) {
    (void)state;
    enum { L0 = 16 };
    const int drawn = 3 * (int)proof_draw();
    for (int seed = 1; seed <= 3; seed++) {
        smx_run *r = trained("length=16&vocab=32&width=32", seed + drawn);
        smx_error e = {0};
        smx_tensor f;
        if (smx_run_tensor(r, "block0.mixer.filter_v", &f, &e)) fail_msg("%s", e.message);
        const double ahead = fabs((double)f.data[0]),
                     others = fabs((double)f.data[1]) + fabs((double)f.data[2]);
        print_message("seed %d: F_v = (%.4f, %.4f, %.4f) for x_{t+1}, x_t, x_{t-1}\n", seed,
                      (double)f.data[0], (double)f.data[1], (double)f.data[2]);
        proof_measured(others / ahead, 0.2,
                       "seed %d: the trained filter's distance (l1) from the delay, scale aside", seed);
        const double a0 = attention_distance(r, L0), loss0 = evaluated(r, L0).loss;
        proof_measured(a0, 0.1, "seed %d: attention's distance from 1/2, 1/2 at the trained length", seed);
        proof_measured(loss0, 8e-5, "seed %d: loss at the trained length", seed);
        double growth = 0, loss_growth = 0, accuracy = 1;
        for (size_t L = 3; L <= 1000; L = L < 500 ? L * 2 : L == 1000 ? 1001 : 1000) {
            const double times = proof_largest(1, (double)L / L0);
            const smx_evaluation ev = evaluated(r, L);
            growth = proof_largest(growth, attention_distance(r, L) / (times * a0));
            loss_growth = proof_largest(loss_growth, ev.loss / (times * loss0));
            accuracy = proof_smallest(accuracy, ev.accuracy);
        }
        proof_measured(growth, 5, "seed %d: growth of that distance to L' = 1000, in L'/16", seed);
        proof_measured(loss_growth, 2.5, "seed %d: growth of the loss to L' = 1000, in L'/16", seed);
        proof_measured_least(accuracy, 1, "seed %d: least accuracy at L' = 3 .. 1000", seed);
        smx_run_close(r);
    }
    // What the premise excludes: with a residual, a free W_v and a head behind,
    // three tokens can be answered another way.
    smx_run *r = trained("length=3&vocab=8&width=16", 1 + drawn);
    proof_measured_least(evaluated(r, 3).accuracy, 0.99,
                         "trained at L = 3 in this larger class: accuracy at 3");
    proof_measured(evaluated(r, 1000).accuracy, 0.5,
                   "trained at L = 3 in this larger class: accuracy at 1000");
    smx_run_close(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(disturbed_constructions),
                                       cmocka_unit_test(without_the_premise),
                                       cmocka_unit_test(trained_models)};
    return cmocka_run_group_tests_name("cat_thm2", tests, NULL, NULL);
}
