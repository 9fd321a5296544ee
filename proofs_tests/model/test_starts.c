// test_starts.c: what weights start as, by the moments of 131,072 draws: each way to start has the
// distribution that params.h promises, to five standard errors, and the streams of two names or two seeds
// have nothing to do with each other.
#include "model/graph/params.h"
#include <seqmix/run.h>
#include "proofs_tests/support/check.h"

enum { N = 1 << 17 };

// One weight of this shape, started from `seed`; its values, in double.
static double *started(const char *name, init start, uint32_t rank, const uint32_t *shape, uint64_t seed) {
    smx_error e = {0};
    param *w = calloc(1, sizeof *w);
    params p = {.list = malloc(sizeof(param *)), .count = 1, .room = 1};
    assert_true(w && p.list);
    p.list[0] = w;
    snprintf(w->name, sizeof w->name, "%s", name);
    w->rank = rank, w->start = start, w->n = 1;
    for (uint32_t d = 0; d < rank; d++) w->shape[d] = shape[d], w->n *= shape[d];
    check_trying("%s", name);
    if (params_create(&p, seed, &e)) check_fail("%s", e.message);
    assert_int_equal((uintptr_t)p.data % SMX_ALIGN, 0); // else every wide register lies on two lines
    double *values = check_widen(p.data + w->offset, w->n);
    params_free(&p);
    return values;
}

// Mean, variance, and the third and fourth moments over those of the variance, within five standard errors of
// what a law with these central moments gives (for the variance: (mu4 - sigma^4) / n).
static void moments(const char *what, const double *x, size_t n, double mean, double var, double skew,
                    double kurtosis) {
    double sum = 0, square = 0, third = 0, fourth = 0;
    for (size_t i = 0; i < n; i++) sum += x[i];
    const double m = sum / (double)n, root = sqrt(var);
    if (!(fabs(m - mean) <= 5 * root / sqrt((double)n)))
        check_fail("%s: mean %.6g, expected %.6g", what, m, mean);
    for (size_t i = 0; i < n; i++) {
        const double z = (x[i] - mean) / root;
        square += z * z, third += z * z * z, fourth += z * z * z * z;
    }
    square /= (double)n, third /= (double)n, fourth /= (double)n;
    if (!(fabs(square - 1) <= 5 * sqrt((kurtosis - 1) / (double)n)))
        check_fail("%s: variance %.6g, expected %.6g", what, square * var, var);
    if (!(fabs(third - skew) <= 5 * sqrt(15.0 / (double)n))) // Var z^3 is 15 for a normal z, less for uniform
        check_fail("%s: skewness %.6g, expected %.6g", what, third, skew);
    if (!(fabs(fourth - kurtosis) <= 5 * sqrt(96.0 / (double)n))) // Var z^4 is 96
        check_fail("%s: kurtosis %.6g, expected %.6g", what, fourth, kurtosis);
}
static void within(const char *what, const double *x, size_t n, double low, double high) {
    double least = INFINITY, most = -INFINITY;
    for (size_t i = 0; i < n; i++) least = fmin(least, x[i]), most = fmax(most, x[i]);
    if (!(least >= low && most <= high))
        check_fail("%s: from %.9g to %.9g, allowed %.9g to %.9g", what, least, most, low, high);
    // 131,072 draws come within a thousandth of both ends.
    if (!(least <= low + (high - low) / 1000 && most >= high - (high - low) / 1000))
        check_fail("%s: only from %.9g to %.9g of %.9g to %.9g", what, least, most, low, high);
}

static void normal_and_uniform(void **state) {
    (void)state;
    const uint32_t shape[] = {N / 64, 64};
    const init normal = {INIT_NORMAL, 0.3}, uniform = {INIT_UNIFORM, 0.3};
    const double *x = started("normal", normal, 2, shape, 1);
    moments("normal", x, N, 0, 0.09, 0, 3);
    size_t beyond = 0; // 2 sigma: 4.55 %
    for (size_t i = 0; i < N; i++) beyond += fabs(x[i]) > 0.6;
    assert_true(fabs((double)beyond / N - 0.0455) < 5 * sqrt(0.0455 / N));
    const double *u = started("uniform", uniform, 2, shape, 1);
    moments("uniform", u, N, 0, 0.03, 0, 1.8);
    within("uniform", u, N, -0.3, 0.3);
    const double *others[] = {started("another", normal, 2, shape, 1),
                              started("normal", normal, 2, shape, 2)};
    for (size_t k = 0; k < CHECK_COUNT(others); k++) {
        const double along = check_inner(x, others[k], N) / 0.09;
        if (!(fabs(along) <= 5 * sqrt((double)N))) check_fail("streams %zu go together: %.6g", k, along);
    }
    // Neighbours: a draw says nothing about the next.
    assert_true(fabs(check_inner(x, x + 1, N - 1) / 0.09) <= 5 * sqrt((double)N));
    check_done();
}

// Filters: what is fixed of them, then the noise around it.
static void filters(void **state) {
    (void)state;
    enum { W = 16, H = 4 };
    const struct {
        const char *name;
        init start;
        uint32_t rank, shape[3], last;
    } cases[] = {{"decay", {INIT_DECAY, 0.02}, 2, {N / W, W, 0}, W},
                 {"identity", {INIT_IDENTITY, 0.02}, 2, {N / W, W, 0}, W},
                 {"middle", {INIT_IDENTITY_MIDDLE, 0.02}, 2, {N / W, W + 1, 0}, W + 1},
                 {"heads", {INIT_IDENTITY_HEADS, 0.02}, 3, {N / H / H, H, H}, H}};
    for (size_t k = 0; k < CHECK_COUNT(cases); k++) {
        double *x = started(cases[k].name, cases[k].start, cases[k].rank, cases[k].shape, 3);
        size_t n = 1;
        for (uint32_t d = 0; d < cases[k].rank; d++) n *= cases[k].shape[d];
        const double rho = 1 - 1.0 / W, energy = (1 - pow(rho, 2 * W)) / (1 - rho * rho);
        for (size_t i = 0; i < n; i++) {
            const size_t tap = i % cases[k].last;
            const double fixed[] = {pow(rho, (double)tap) / sqrt(energy), tap == 0, tap == W / 2,
                                    i < H * H && i / H == i % H};
            x[i] -= fixed[k];
        }
        moments(cases[k].name, x, n, 0, 4e-4, 0, 3);
    }
    check_done();
}

// Long kernels: channel c of D decays at the rate L^(-c / (D - 1)), and scale^2 is the energy over all taps.
static void long_kernels(void **state) {
    (void)state;
    enum { D = 128, L = 1024 };
    const uint32_t shape[] = {D, L};
    const init start = {INIT_LONG, 0.5};
    double *x = started("kernel", start, 2, shape, 4), *z = check_doubles((size_t)D * 64);
    size_t n = 0;
    for (size_t c = 0; c < D; c++) {
        const double rate = pow(L, -(double)c / (D - 1));
        double energy = 0; // of all taps, to infinity: scale^2 (1 - e^-2r) sum e^-2rt
        for (size_t t = 0; t < 64 * L && exp(-2 * rate * (double)t) > 1e-12; t++)
            energy += exp(-2 * rate * (double)t);
        // (Fast channels reach the smallest floats soon.)
        for (size_t t = 0; t < 64 && rate * (double)t < 60; t++)
            z[n++] = x[c * L + t] * exp(rate * (double)t) * sqrt(energy);
    }
    assert_true(n > 5000);
    moments("long kernels", z, n, 0, 0.25, 0, 3);
    check_done();
}

static void steps_and_counts(void **state) {
    (void)state;
    const uint32_t line[] = {N}, shape[] = {4, 32};
    const double low = log(0.001), high = log(0.1);
    const init steps[] = {{INIT_STEP, 0}, {INIT_STEP_PLUS, 0}};
    for (int plus = 0; plus < 2; plus++) {
        double *x = started(plus ? "step plus" : "step", steps[plus], 1, line, 5);
        if (plus)
            for (size_t i = 0; i < N; i++) x[i] = log(log1p(exp(x[i])));
        moments("steps", x, N, (low + high) / 2, (high - low) * (high - low) / 12, 0, 1.8);
        within("steps", x, N, low - 1e-6, high + 1e-6);
    }
    const init constant = {INIT_CONSTANT, -0.75}, count = {INIT_COUNT, 0.5}, logs = {INIT_LOG_COUNT, 0};
    const double *c = started("constant", constant, 2, shape, 6), *k = started("count", count, 2, shape, 6),
                 *l = started("logs", logs, 2, shape, 6);
    for (size_t i = 0; i < 4 * 32; i++)
        if (!(c[i] == -0.75 && k[i] == 0.5 * (double)(i % 32) &&
              fabs(l[i] - log((double)(i % 32) + 1)) <= 1e-6))
            check_fail("entry %zu: %g, %g, %g", i, c[i], k[i], l[i]);
    check_done();
}

// A model's matrices by init=, and those that add to the residual stream smaller by the root of twice the
// blocks, so that the stream does not grow with them.
static void matrices_of_a_model(void **state) {
    (void)state;
    enum { D = 128 };
    static const char *const inits[] = {"fan_in", "normal", "xavier"};
    static const struct {
        const char *name;
        size_t in, out;
        int adds;
    } weights[] = {{"block0.mixer.w_q", D, D, 0},
                   {"block1.mixer.w_o", D, D, 1},
                   {"block1.mlp.w_1", D, 2 * D, 0},
                   {"block0.mlp.w_2", 2 * D, D, 1}};
    for (size_t i = 0; i < CHECK_COUNT(inits); i++)
        for (size_t blocks = 2; blocks <= 3; blocks++) {
            char text[128];
            smx_error e = {0};
            snprintf(text, sizeof text, "mixer=attention&task=mqar&width=%d&mlp=2&blocks=%zu&init=%s", D,
                     blocks, inits[i]);
            check_trying("%s", text);
            smx_run *r = smx_run_open(text, &e);
            if (!r) check_fail("%s", e.message);
            for (size_t w = 0; w < CHECK_COUNT(weights); w++) {
                const size_t in = weights[w].in, out = weights[w].out;
                const double var[] = {1.0 / (double)in, 0.02 * 0.02, 2.0 / (double)(in + out)};
                smx_tensor t;
                if (smx_run_tensor(r, weights[w].name, &t, &e)) check_fail("%s", e.message);
                assert_true(t.rank == 2 && t.shape[0] == in && t.shape[1] == out);
                moments(weights[w].name, check_widen(t.data, in * out), in * out, 0,
                        var[i] / (weights[w].adds ? 2 * (double)blocks : 1), 0, i == 2 ? 1.8 : 3);
                check_done();
            }
            smx_run_close(r);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(normal_and_uniform), cmocka_unit_test(filters),
                                       cmocka_unit_test(long_kernels), cmocka_unit_test(steps_and_counts),
                                       cmocka_unit_test(matrices_of_a_model)};
    return cmocka_run_group_tests_name("starts", tests, NULL, NULL);
}
