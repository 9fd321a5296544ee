// test_loss.c: cross-entropy with ignored rows and extreme logits, and argmax, against the oracle.
#include "proofs_tests/support/check.h"
#include <seqmix/ref.h>

static const struct {
    size_t N, V;
} shapes[] = {{0, 8},  {1, 1},  {3, 2},  {5, 10},  {4, 15},   {7, 16},   {6, 17},
              {3, 31}, {2, 33}, {9, 64}, {2, 257}, {1, 1000}, {2100, 3}, {4200, 17}};

typedef struct {
    size_t N, V;
    const int32_t *target;
    double *loss, *stats;
    double scale;
} context;
static double total(const double *logits, void *p) {
    context *c = p;
    ref_cross_entropy_fwd(c->loss, c->stats, logits, c->target, c->N, c->V);
    double sum = 0.0;
    for (size_t i = 0; i < c->N; i++) sum += c->scale * c->loss[i];
    return sum;
}

static void cross_entropy(void **state) {
    (void)state;
    CHECK_EACH_ISA(isa) {
        for (size_t k = 0; k < CHECK_COUNT(shapes); k++)
            for (int wide = 0; wide < 2; wide++) {
                const size_t N = shapes[k].N, V = shapes[k].V, n = N * V;
                const double range = wide ? 50 : 3;
                const float scale = 0.125f;
                check_trying("cross_entropy N=%zu V=%zu logits within %g", N, V, range);
                float *logits = check_random(n, -range, range), *loss = check_floats(N),
                      *stats = check_floats(2 * N);
                float *dlogits = check_floats(n);
                int32_t *target = check_random_ints(N, 0, (int32_t)V);
                if (N > 1) target[1] = -1; // ignored
                if (N > 3) target[3] = (int32_t)V;
                double *ld = check_widen(logits, n), *want = check_doubles(N),
                       *want_stats = check_doubles(2 * N);
                double *want_d = check_doubles(n);
                const size_t want_count = ref_cross_entropy_fwd(want, want_stats, ld, target, N, V);
                ref_cross_entropy_bwd(want_d, ld, target, want_stats, N, V, scale);
                const size_t count = smx_cross_entropy_fwd(loss, stats, logits, target, N, V);
                if (count != want_count) check_fail("%zu rows count, expected %zu", count, want_count);
                // x - max is rounded at up to 2 range.
                check_close("loss", loss, want, N, 1.5e-7, 2 * range);
                smx_cross_entropy_bwd(dlogits, logits, target, stats, N, V, scale);
                check_close("dlogits", dlogits, want_d, n, 1e-6, scale);
                for (size_t i = 0; i < N; i++) {
                    if (target[i] >= 0 && target[i] < (int32_t)V) {
                        check_close("stats", stats + 2 * i, want_stats + 2 * i, 2, 1e-6, -1);
                        continue;
                    }
                    for (size_t c = 0; c < V; c++)
                        if (dlogits[i * V + c] != 0) check_fail("an ignored row has a gradient");
                    if (loss[i] != 0) check_fail("an ignored row has loss %g", loss[i]);
                }
                if (n && !wide && V > 1) {
                    context c = {N, V, target, check_doubles(N), check_doubles(2 * N), scale};
                    check_direction("dlogits", total, &c, logits, dlogits, n, 1e-5);
                }
                check_done();
            }
    }
}

// Logits of -infinity weigh nothing; huge ones do not overflow; a NaN shows in the loss.
static void cross_entropy_extremes(void **state) {
    (void)state;
    enum { V = 19 };
    CHECK_EACH_ISA(isa) {
        check_trying("cross_entropy of extreme logits");
        float *logits = check_filled(3 * V, -INFINITY), loss[3], stats[6], d[3 * V];
        const int32_t target[3] = {4, 2, 18};
        logits[4] = logits[5] = 1e30f; // two equal, the rest masked: log 2
        for (int c = 0; c < V; c++) logits[V + c] = c == 2 ? -3e38f : 3e38f;
        for (int c = 0; c < V; c++) logits[2 * V + c] = c == 7 ? NAN : 1.0f;
        smx_cross_entropy_fwd(loss, stats, logits, target, 3, V);
        smx_cross_entropy_bwd(d, logits, target, stats, 3, V, 1.0f);
        const double log2 = log(2.0), half[2] = {-0.5, 0.5};
        check_close("loss", loss, &log2, 1, 1e-6, 1);
        check_close("dlogits", d + 4, half, 2, 1e-6, 1);
        for (int c = 0; c < V; c++)
            if (c != 4 && c != 5 && d[c] != 0) check_fail("dlogits[%d] of a masked column is %g", c, d[c]);
        if (loss[1] != INFINITY)
            check_fail("loss is %g, expected infinity (the difference leaves the range)", loss[1]);
        if (!isnan(loss[2])) check_fail("a NaN logit gave the loss %g", loss[2]);
        check_done();
    }
}

static void argmax(void **state) {
    (void)state;
    CHECK_EACH_ISA(isa) {
        for (size_t k = 0; k < CHECK_COUNT(shapes); k++) {
            const size_t N = shapes[k].N, V = shapes[k].V, n = N * V;
            check_trying("argmax N=%zu V=%zu", N, V);
            float *x = check_random(n, -1, 1);
            for (size_t i = 0; i < n; i++) x[i] = roundf(4 * x[i]); // many ties
            int32_t *best = check_ints(N), *want = check_ints(N);
            ref_argmax(want, check_widen(x, n), N, V);
            smx_argmax(best, x, N, V);
            for (size_t i = 0; i < N; i++)
                if (best[i] != want[i]) check_fail("best[%zu] is %d, expected %d", i, best[i], want[i]);
            check_done();
        }
        check_trying("argmax of special rows");
        enum { V = 20 };
        float *x = check_filled(4 * V, -INFINITY);
        int32_t best[4];
        x[V + 18] = -1e30f;                               // row 1: one finite
        for (int c = 0; c < V; c++) x[2 * V + c] = -0.0f; // row 2: 0 and -0 tie
        x[2 * V + 3] = 0.0f;
        for (int c = 0; c < V; c++) x[3 * V + c] = c == 17 ? 2.0f : c == 2 ? NAN : 1.0f;
        smx_argmax(best, x, 4, V);
        const int32_t want[4] = {0, 18, 0, 17};
        for (int i = 0; i < 4; i++)
            if (best[i] != want[i]) check_fail("best[%d] is %d, expected %d", i, best[i], want[i]);
        check_done();
    }
}

static void squared_error(void **state) {
    (void)state;
    static const size_t sizes[] = {0, 1, 15, 16, 17, 100, 4200};
    CHECK_EACH_ISA(isa) {
        for (size_t k = 0; k < CHECK_COUNT(sizes); k++) {
            const size_t n = sizes[k];
            check_trying("mse of %zu", n);
            float *y = check_random(n, -2, 2), *target = check_random(n, -2, 2), *loss = check_floats(n),
                  *dy = check_floats(n);
            for (size_t i = 2; i < n; i += 5) target[i] = NAN;
            double *yd = check_widen(y, n), *td = check_widen(target, n), *want = check_doubles(n),
                   *want_d = check_doubles(n);
            assert_int_equal(smx_mse_fwd(loss, y, target, n), ref_mse_fwd(want, yd, td, n));
            smx_mse_bwd(dy, y, target, n, 0.25f);
            ref_mse_bwd(want_d, yd, td, n, 0.25);
            check_close("loss", loss, want, n, 3e-7, 16);
            check_close("dy", dy, want_d, n, 2e-7, 2);
            for (size_t i = 2; i < n; i += 5) assert_true(loss[i] == 0 && dy[i] == 0);
            check_done();
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cross_entropy),
        cmocka_unit_test(cross_entropy_extremes),
        cmocka_unit_test(argmax),
        cmocka_unit_test(squared_error),
    };
    return cmocka_run_group_tests_name("loss", tests, NULL, NULL);
}
