// test_norm.c: LayerNorm, RMSNorm and the unit norm against the oracle, with zero and constant rows, and by
// directional differences.
#include "proofs_tests/support/check.h"
#include <seqmix/ref.h>

static const struct {
    size_t N, D;
} shapes[] = {{0, 16},   {1, 1},   {1, 2},    {3, 5},    {2, 15},   {4, 16},
              {5, 17},   {9, 31},  {8, 32},   {3, 33},   {255, 16}, {256, 20},
              {257, 48}, {520, 7}, {300, 65}, {4, 1024}, {2100, 3}, {4200, 17}};
#define EPS 1e-5f
// A row costs two sums and about ten roundings.
#define ROW 3e-6
#define GRADIENT 1e-5

// A hand-made norm of one kind or another behind one shape of call, so that the three share their tests.
typedef struct {
    size_t N, D;
    const double *x, *gain, *bias, *weights;
    double *y, *stats;
} context;

static double layernorm_loss(const context *c, const double *x, const double *gain, const double *bias) {
    ref_layernorm_fwd(c->y, c->stats, x, gain, bias, c->N, c->D, EPS);
    return check_inner(c->weights, c->y, c->N * c->D);
}
static double layernorm_of_x(const double *x, void *p) {
    const context *c = p;
    return layernorm_loss(c, x, c->gain, c->bias);
}
static double layernorm_of_gain(const double *gain, void *p) {
    const context *c = p;
    return layernorm_loss(c, c->x, gain, c->bias);
}
static double layernorm_of_bias(const double *bias, void *p) {
    const context *c = p;
    return layernorm_loss(c, c->x, c->gain, bias);
}

static void layernorm(void **state) {
    (void)state;
    CHECK_EACH_ISA(isa) {
        for (size_t k = 0; k < CHECK_COUNT(shapes); k++) {
            const size_t N = shapes[k].N, D = shapes[k].D, n = N * D;
            check_trying("layernorm N=%zu D=%zu", N, D);
            float *x = check_random(n, -1, 3), *gain = check_random(D, 0.5, 1.5),
                  *bias = check_random(D, -1, 1);
            float *y = check_floats(n), *stats = check_floats(2 * N), *dy = check_random(n, -1, 1);
            float *dx = check_floats(n), *dgain = check_random(D, -1, 1), *dbias = check_random(D, -1, 1);
            double *xd = check_widen(x, n), *gd = check_widen(gain, D), *bd = check_widen(bias, D);
            double *want_y = check_doubles(n), *want_stats = check_doubles(2 * N), *dyd = check_widen(dy, n);
            double *want_dx = check_doubles(n), *want_dgain = check_widen(dgain, D),
                   *want_dbias = check_widen(dbias, D);
            ref_layernorm_fwd(want_y, want_stats, xd, gd, bd, N, D, EPS);
            ref_layernorm_bwd(want_dx, want_dgain, want_dbias, dyd, xd, gd, want_stats, N, D);
            smx_layernorm_fwd(y, stats, x, gain, bias, N, D, EPS);
            smx_layernorm_bwd(dx, dgain, dbias, dy, x, gain, stats, N, D);
            double worst = 1;
            for (size_t i = 0; i < N; i++) {
                // The mean, up to 3, is rounded: rows whose deviations 1/rstd are small feel it magnified by
                // 3 rstd.
                const double rstd = want_stats[2 * i + 1], magnified = 1 + 3 * rstd;
                worst = fmax(worst, magnified);
                check_close("mean", stats + 2 * i, want_stats + 2 * i, 1, ROW, 3);
                check_close("rstd", stats + 2 * i + 1, want_stats + 2 * i + 1, 1, ROW, rstd * magnified);
                check_close("y", y + i * D, want_y + i * D, D, ROW, magnified);
                check_close("dx", dx + i * D, want_dx + i * D, D, ROW, rstd * magnified);
            }
            check_close("dgain", dgain, want_dgain, D, ROW * worst, 0);
            check_close("dbias", dbias, want_dbias, D, GRADIENT, 0);
            if (N && D > 2) {
                float *gain0 = check_filled(D, 0), *bias0 = check_filled(D, 0), *dx0 = check_floats(n);
                smx_layernorm_bwd(dx0, gain0, bias0, dy, x, gain, stats, N, D);
                context c = {N, D, xd, gd, bd, dyd, check_doubles(n), check_doubles(2 * N)};
                check_direction("dx", layernorm_of_x, &c, x, dx0, n, 1e-5);
                check_direction("dgain", layernorm_of_gain, &c, gain, gain0, D, 1e-4);
                check_direction("dbias", layernorm_of_bias, &c, bias, bias0, D, 1e-4);
            }
            check_done();
        }
    }
}

// A constant row has variance 0: y is the bias, everything stays finite.
static void layernorm_constant_row(void **state) {
    (void)state;
    enum { D = 19 };
    CHECK_EACH_ISA(isa) {
        check_trying("layernorm of a constant row");
        float *x = check_filled(D, 3.0f), *gain = check_filled(D, 2.0f), *bias = check_random(D, -1, 1);
        float *y = check_floats(D), *stats = check_floats(2), *dx = check_floats(D),
              *dgain = check_filled(D, 0);
        float *dbias = check_filled(D, 0), *dy = check_random(D, -1, 1);
        smx_layernorm_fwd(y, stats, x, gain, bias, 1, D, EPS);
        check_same("y", y, bias, D);
        const double want[2] = {3.0, 1 / sqrt((double)EPS)};
        check_close("stats", stats, want, 2, 1e-6, -1);
        smx_layernorm_bwd(dx, dgain, dbias, dy, x, gain, stats, 1, D);
        check_same("dgain", dgain, check_filled(D, 0), D);
        check_same("dbias", dbias, dy, D);
        for (size_t i = 0; i < D; i++)
            if (!isfinite(dx[i])) check_fail("dx[%zu] is %g", i, dx[i]);
        check_done();
    }
}

static double rmsnorm_of_x(const double *x, void *p) {
    const context *c = p;
    ref_rmsnorm_fwd(c->y, c->stats, x, c->gain, c->N, c->D, EPS);
    return check_inner(c->weights, c->y, c->N * c->D);
}
static double rmsnorm_of_gain(const double *gain, void *p) {
    const context *c = p;
    ref_rmsnorm_fwd(c->y, c->stats, c->x, gain, c->N, c->D, EPS);
    return check_inner(c->weights, c->y, c->N * c->D);
}
static void rmsnorm(void **state) {
    (void)state;
    CHECK_EACH_ISA(isa) {
        for (size_t k = 0; k < CHECK_COUNT(shapes); k++) {
            const size_t N = shapes[k].N, D = shapes[k].D, n = N * D;
            check_trying("rmsnorm N=%zu D=%zu", N, D);
            float *x = check_random(n, -2, 2), *gain = check_random(D, 0.5, 1.5), *y = check_floats(n);
            float *rstd = check_floats(N), *dy = check_random(n, -1, 1), *dx = check_floats(n);
            float *dgain = check_random(D, -1, 1);
            if (n) memset(x, 0, D * sizeof *x); // the first row is zero: y = 0
            double *xd = check_widen(x, n), *gd = check_widen(gain, D), *dyd = check_widen(dy, n);
            double *want_y = check_doubles(n), *want_rstd = check_doubles(N), *want_dx = check_doubles(n);
            double *want_dgain = check_widen(dgain, D);
            ref_rmsnorm_fwd(want_y, want_rstd, xd, gd, N, D, EPS);
            ref_rmsnorm_bwd(want_dx, want_dgain, dyd, xd, gd, want_rstd, N, D);
            smx_rmsnorm_fwd(y, rstd, x, gain, N, D, EPS);
            check_close("y", y, want_y, n, ROW, 0);
            check_close("rstd", rstd, want_rstd, N, ROW, -1);
            smx_rmsnorm_bwd(dx, dgain, dy, x, gain, rstd, N, D);
            for (size_t i = 0; i < N; i++)
                check_close("dx", dx + i * D, want_dx + i * D, D, ROW, 2 * want_rstd[i]);
            check_close("dgain", dgain, want_dgain, D, GRADIENT, 0);
            if (N > 1 && D > 2) {
                float *gain0 = check_filled(D, 0), *dx0 = check_floats(n);
                smx_rmsnorm_bwd(dx0, gain0, dy, x, gain, rstd, N, D);
                context c = {N, D, xd, gd, NULL, dyd, check_doubles(n), check_doubles(N)};
                check_direction("dx", rmsnorm_of_x, &c, x, dx0, n, 1e-5);
                check_direction("dgain", rmsnorm_of_gain, &c, gain, gain0, D, 1e-4);
            }
            check_done();
        }
    }
}

static double unitnorm_of_x(const double *x, void *p) {
    const context *c = p;
    ref_unitnorm_fwd(c->y, c->stats, x, c->N, c->D);
    return check_inner(c->weights, c->y, c->N * c->D);
}
static void unitnorm(void **state) {
    (void)state;
    CHECK_EACH_ISA(isa) {
        for (size_t k = 0; k < CHECK_COUNT(shapes); k++) {
            const size_t N = shapes[k].N, D = shapes[k].D, n = N * D;
            check_trying("unitnorm N=%zu D=%zu", N, D);
            float *x = check_random(n, 0.25, 2), *y = check_floats(n), *rnorm = check_floats(N);
            float *dy = check_random(n, -1, 1), *dx = check_floats(n);
            for (size_t i = 0; i < n; i += 2) x[i] = -x[i];
            double *xd = check_widen(x, n), *dyd = check_widen(dy, n), *want_y = check_doubles(n);
            double *want_rnorm = check_doubles(N), *want_dx = check_doubles(n);
            ref_unitnorm_fwd(want_y, want_rnorm, xd, N, D);
            ref_unitnorm_bwd(want_dx, dyd, xd, want_rnorm, N, D);
            smx_unitnorm_fwd(y, rnorm, x, N, D);
            check_close("y", y, want_y, n, ROW, 0);
            check_close("rnorm", rnorm, want_rnorm, N, ROW, -1);
            smx_unitnorm_bwd(dx, dy, x, rnorm, N, D);
            for (size_t i = 0; i < N; i++)
                check_close("dx", dx + i * D, want_dx + i * D, D, ROW, 2 * want_rnorm[i]);
            if (N && D > 2) {
                context c = {N, D, xd, NULL, NULL, dyd, check_doubles(n), check_doubles(N)};
                check_direction("dx", unitnorm_of_x, &c, x, dx, n, 1e-5);
            }
            check_done();
        }
    }
}

// At and below |x| = 1e-12 the row is 0 with no gradient, just above it is not; a NaN shows.
static void unitnorm_zero_rows(void **state) {
    (void)state;
    enum { N = 5, D = 21 };
    CHECK_EACH_ISA(isa) {
        check_trying("unitnorm of tiny rows");
        float *x = check_filled(N * D, 0), *y = check_floats(N * D), *rnorm = check_floats(N),
              *dx = check_floats(N * D);
        float *dy = check_random(N * D, -1, 1);
        x[1 * D + 20] = 0.9e-12f;
        x[2 * D + 20] = -1.1e-12f;
        x[3 * D + 20] = 1e-10f;
        x[4 * D + 3] = NAN;
        smx_unitnorm_fwd(y, rnorm, x, N, D);
        smx_unitnorm_bwd(dx, dy, x, rnorm, N, D);
        for (size_t i = 0; i < 2 * D; i++)
            if (y[i] != 0 || dx[i] != 0)
                check_fail("row of zeros gave y = %g, dx = %g at %zu", y[i], dx[i], i);
        if (rnorm[0] != 0 || rnorm[1] != 0) check_fail("rnorm %g %g, expected 0 0", rnorm[0], rnorm[1]);
        const double ends[2] = {-1.0, 1.0};
        const float got[2] = {y[2 * D + 20], y[3 * D + 20]};
        check_close("y", got, ends, 2, 1e-6, 1);
        if (!isnan(rnorm[4]) || !isnan(y[4 * D]) || !isnan(dx[4 * D])) check_fail("a NaN was hidden");
        check_done();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layernorm), cmocka_unit_test(layernorm_constant_row), cmocka_unit_test(rmsnorm),
        cmocka_unit_test(unitnorm),  cmocka_unit_test(unitnorm_zero_rows),
    };
    return cmocka_run_group_tests_name("norm", tests, NULL, NULL);
}
