// test_scan.c: the comparators' kernels against the oracle: MEGA's moving average, Mamba's selective scan,
// S4D's convolution kernel; and the small pieces of gated layers. Lengths around the rows between kept states
// (32) and the block of powers (64).
#include "proofs_tests/support/check.h"
#include <seqmix/ref.h>

typedef struct {
    size_t B, L, D, S;
    int skip;
} shape;
static const shape shapes[] = {{1, 1, 1, 1, 1},    {2, 3, 5, 4, 0},   {1, 31, 16, 2, 1},  {2, 32, 17, 3, 1},
                               {1, 33, 12, 16, 0}, {3, 64, 20, 4, 1}, {1, 100, 33, 1, 1}, {1, 300, 4, 8, 1},
                               {0, 9, 16, 2, 1},   {2, 0, 16, 2, 1}};

static void ema(void **state) {
    (void)state;
    CHECK_EACH_ISA(isa) {
        for (const shape *s = shapes; s < shapes + CHECK_COUNT(shapes); s++) {
            check_trying("ema B=%zu L=%zu D=%zu S=%zu skip=%d", s->B, s->L, s->D, s->S, s->skip);
            const size_t n = s->B * s->L * s->D, ns = s->D * s->S;
            float *x = check_random(n, -1, 1), *dy = check_random(n, -1, 1), *w[5], *dw[5],
                  *y = check_floats(n);
            float *dx = check_floats(n);
            double *wd[5], *dwd[5], *want_y = check_doubles(n), *want_dx = check_doubles(n);
            for (int i = 0; i < 5; i++) {
                const size_t size = i < 4 ? ns : s->D;
                w[i] = check_random(size, -1, 1);
                dw[i] = check_random(size, -1, 1); // accumulates
                wd[i] = check_widen(w[i], size);
                dwd[i] = check_widen(dw[i], size);
            }
            if (!s->skip) w[4] = dw[4] = NULL, wd[4] = dwd[4] = NULL;
            const ref_mega_weights rw = {wd[0], wd[1], wd[2], wd[3], wd[4]},
                                   rdw = {dwd[0], dwd[1], dwd[2], dwd[3], dwd[4]};
            double *xd = check_widen(x, n), *dyd = check_widen(dy, n);
            for (size_t b = 0; b < s->B; b++) {
                const size_t at = b * s->L * s->D;
                ref_mega_ema_fwd(want_y + at, xd + at, &rw, s->L, s->D, s->S);
                ref_mega_ema_bwd(want_dx + at, &rdw, dyd + at, xd + at, &rw, s->L, s->D, s->S);
            }
            const size_t bytes = smx_scan_scratch_bytes(s->L, s->D, s->S);
            float *states = check_floats(s->B * smx_scan_state_floats(s->L, s->D, s->S));
            const smx_ema p = {s->B, s->L, s->D, s->S};
            const smx_ema_weights weights = {w[0], w[1], w[2], w[3], w[4]};
            const smx_ema_gradients dweights = {dw[0], dw[1], dw[2], dw[3], dw[4]};
            smx_ema_fwd(y, states, x, &weights, check_scratch(bytes), &p);
            check_close("y", y, want_y, n, 3e-6, 0);
            smx_ema_bwd(dx, &dweights, dy, x, &weights, states, check_scratch(bytes), &p);
            check_close("dx", dx, want_dx, n, 3e-6, 0);
            static const char *names[] = {"dalpha", "ddelta", "dbeta", "deta", "dskip"};
            for (int i = 0; i < 4 + s->skip; i++)
                check_close(names[i], dw[i], dwd[i], i < 4 ? ns : s->D, 1e-5, 0);
            check_done();
        }
    }
}

static void scan(void **state) {
    (void)state;
    CHECK_EACH_ISA(isa) {
        for (const shape *s = shapes; s < shapes + CHECK_COUNT(shapes); s++) {
            check_trying("scan B=%zu L=%zu D=%zu S=%zu skip=%d", s->B, s->L, s->D, s->S, s->skip);
            const size_t n = s->B * s->L * s->D, ns = s->D * s->S, nb = s->B * s->L * s->S;
            float *x = check_random(n, -1, 1), *dt = check_random(n, 0.01, 1),
                  *a_log = check_random(ns, -1, 2);
            float *b = check_random(nb, -1, 1), *c = check_random(nb, -1, 1),
                  *skip = check_random(s->D, -1, 1);
            float *dy = check_random(n, -1, 1), *y = check_floats(n), *dx = check_floats(n),
                  *ddt = check_floats(n);
            float *da = check_random(ns, -1, 1), *db = check_floats(nb), *dc = check_floats(nb);
            float *dskip = check_random(s->D, -1, 1);
            double *xd = check_widen(x, n), *dtd = check_widen(dt, n), *ad = check_widen(a_log, ns);
            double *bd = check_widen(b, nb), *cd = check_widen(c, nb), *sd = check_widen(skip, s->D);
            double *dyd = check_widen(dy, n), *want_y = check_doubles(n), *want_dx = check_doubles(n);
            double *want_ddt = check_doubles(n), *want_da = check_widen(da, ns), *want_db = check_doubles(nb);
            double *want_dc = check_doubles(nb), *want_ds = check_widen(dskip, s->D);
            if (!s->skip) skip = dskip = NULL, sd = want_ds = NULL;
            for (size_t q = 0; q < s->B; q++) {
                const size_t at = q * s->L * s->D, ab = q * s->L * s->S;
                ref_selective_scan_fwd(want_y + at, xd + at, dtd + at, ad, bd + ab, cd + ab, sd, s->L, s->D,
                                       s->S);
                ref_selective_scan_bwd(want_dx + at, want_ddt + at, want_da, want_db + ab, want_dc + ab,
                                       want_ds, dyd + at, xd + at, dtd + at, ad, bd + ab, cd + ab, sd, s->L,
                                       s->D, s->S);
            }
            const size_t bytes = smx_scan_scratch_bytes(s->L, s->D, s->S);
            float *states = check_floats(s->B * smx_scan_state_floats(s->L, s->D, s->S));
            const smx_scan p = {s->B, s->L, s->D, s->S};
            const smx_scan_system system = {dt, a_log, b, c, skip};
            const smx_scan_gradients dsystem = {ddt, da, db, dc, dskip};
            smx_scan_fwd(y, states, x, &system, check_scratch(bytes), &p);
            check_close("y", y, want_y, n, 3e-6, 0);
            smx_scan_bwd(dx, &dsystem, dy, x, &system, states, check_scratch(bytes), &p);
            check_close("dx", dx, want_dx, n, 3e-6, 0);
            check_close("ddt", ddt, want_ddt, n, 6e-6, 0);
            check_close("db", db, want_db, nb, 5e-6, 0);
            check_close("dc", dc, want_dc, nb, 5e-6, 0);
            check_close("da_log", da, want_da, ns, 1e-5, 0);
            if (skip) check_close("dskip", dskip, want_ds, s->D, 1e-5, 0);
            check_done();
        }
    }
}

// dt A of -1e4 underflows to a state that forgets at once; nothing else may happen.
static void scan_forgets(void **state) {
    (void)state;
    enum { L = 40, D = 16 };
    CHECK_EACH_ISA(isa) {
        check_trying("scan with steps of 1e4");
        float *x = check_random(L * D, -1, 1), *dt = check_filled(L * D, 1e4f), *a_log = check_filled(D, 0);
        float *b = check_filled(L, 1e-4f), *c = check_filled(L, 1), *y = check_floats(L * D),
              *dx = check_floats(L * D);
        float *ddt = check_floats(L * D), *da = check_filled(D, 0), *db = check_floats(L),
              *dc = check_floats(L);
        double *want = check_widen(x, L * D);
        const size_t bytes = smx_scan_scratch_bytes(L, D, 1);
        float *states = check_floats(smx_scan_state_floats(L, D, 1));
        const smx_scan p = {1, L, D, 1};
        const smx_scan_system system = {dt, a_log, b, c, NULL};
        const smx_scan_gradients dsystem = {ddt, da, db, dc, NULL};
        smx_scan_fwd(y, states, x, &system, check_scratch(bytes), &p);
        check_close("y", y, want, L * D, 1e-6, 1);
        smx_scan_bwd(dx, &dsystem, x, x, &system, states, check_scratch(bytes), &p);
        check_close("dx", dx, want, L * D, 1e-6, 1);
        double zero[D] = {0};
        check_close("da_log", da, zero, D, 0, 1);
        check_done();
    }
}

typedef struct {
    size_t L, D, S;
    int real;
} s4d_shape;
static void s4d(void **state) {
    (void)state;
    static const s4d_shape sizes[] = {{1, 1, 1, 0},   {5, 3, 2, 0},    {64, 2, 4, 0}, {65, 4, 3, 1},
                                      {200, 5, 8, 0}, {1000, 2, 4, 0}, {63, 3, 1, 1}, {300, 16, 2, 1}};
    CHECK_EACH_ISA(isa) {
        for (size_t i = 0; i < CHECK_COUNT(sizes); i++) {
            const size_t L = sizes[i].L, D = sizes[i].D, S = sizes[i].S, ns = D * S;
            const int real = sizes[i].real;
            check_trying("s4d L=%zu D=%zu S=%zu real=%d", L, D, S, real);
            const size_t nc = real ? ns : 2 * ns;
            float *log_dt = check_random(D, -7, -1), *log_a = check_random(ns, -1, 1),
                  *a_im = check_random(ns, -40, 40);
            float *C = check_random(nc, -1, 1), *K = check_floats(D * L), *dK = check_random(D * L, -1, 1);
            float *d_dt = check_filled(D, 0), *d_a = check_filled(ns, 0), *d_im = check_filled(ns, 0),
                  *dC = check_filled(nc, 0);
            log_a[0] = -12, a_im[0] = 0; // |dt A| far below 1: the series
            double *x0 = check_doubles(L * D), *want_K = check_doubles(D * L);
            double *wd[4] = {check_widen(log_dt, D), check_widen(log_a, ns), check_widen(a_im, ns),
                             check_widen(C, nc)};
            double *gd[4] = {check_widen(d_dt, D), check_widen(d_a, ns), check_widen(d_im, ns),
                             check_widen(dC, nc)};
            const ref_s4d_weights w = {wd[0], wd[1], real ? NULL : wd[2], wd[3], NULL};
            const ref_s4d_weights g = {gd[0], gd[1], real ? NULL : gd[2], gd[3], NULL};
            ref_s4d_kernel_fwd(want_K, &w, L, D, S);
            // The gradient of <K, dK>: the impulse at t = 0 makes y_t = K[t], so dy = dK transposed.
            double *dy = check_doubles(L * D), *dx = check_doubles(L * D);
            for (size_t t = 0; t < L; t++)
                for (size_t c = 0; c < D; c++) x0[t * D + c] = t == 0, dy[t * D + c] = dK[c * L + t];
            ref_s4d_bwd(dx, &g, dy, x0, &w, L, D, S);
            const size_t bytes = smx_s4d_scratch_bytes(L);
            const smx_s4d p = {L, D, S};
            const smx_s4d_weights weights = {log_dt, log_a, real ? NULL : a_im, C};
            const smx_s4d_gradients dweights = {d_dt, d_a, real ? NULL : d_im, dC};
            smx_s4d_fwd(K, &weights, check_scratch(bytes), &p);
            check_close("kernel", K, want_K, D * L, 1e-6, 0);
            smx_s4d_bwd(&dweights, dK, &weights, check_scratch(bytes), &p);
            check_close("dlog_dt", d_dt, gd[0], D, 2e-5, 0);
            check_close("dlog_a", d_a, gd[1], ns, 2e-5, 0);
            if (!real) check_close("da_im", d_im, gd[2], ns, 2e-5, 0);
            check_close("dC", dC, gd[3], nc, 2e-5, 0);
            check_done();
        }
    }
}

static void gates(void **state) {
    (void)state;
    static const size_t rows[][2] = {{1, 1}, {3, 15}, {5, 16}, {300, 17}, {0, 8}, {2100, 3}, {4200, 17}};
    CHECK_EACH_ISA(isa) {
        for (size_t i = 0; i < CHECK_COUNT(rows); i++) {
            const size_t N = rows[i][0], D = rows[i][1], n = N * D;
            check_trying("affine and gate N=%zu D=%zu", N, D);
            float *x = check_random(n, -1, 1), *gain = check_random(D, -1, 1), *bias = check_random(D, -1, 1);
            float *dy = check_random(n, -1, 1), *y = check_floats(n), *dx = check_floats(n),
                  *b = check_random(n, -1, 1);
            float *dgain = check_random(D, -1, 1), *dbias = check_random(D, -1, 1),
                  *g = check_random(n, 0, 1);
            double *want_gain = check_widen(dgain, D), *want_bias = check_widen(dbias, D),
                   *want = check_doubles(n);
            double *want_dx = check_doubles(n);
            for (size_t j = 0; j < n; j++) {
                want[j] = (double)gain[j % D] * x[j] + bias[j % D];
                want_dx[j] = (double)gain[j % D] * dy[j];
                want_gain[j % D] += (double)x[j] * dy[j];
                want_bias[j % D] += dy[j];
            }
            smx_affine_fwd(y, x, gain, bias, N, D);
            check_close("y", y, want, n, 2e-7, 1);
            smx_affine_bwd(dx, dgain, dbias, dy, x, gain, N, D);
            check_close("dx", dx, want_dx, n, 2e-7, 1);
            // (Of thousands of rows the sums within blocks of 256 count, which stay under about 3 sqrt(256).)
            check_close("dgain", dgain, want_gain, D, 1e-6, N > 1000 ? 50 : 0);
            check_close("dbias", dbias, want_bias, D, 1e-6, N > 1000 ? 50 : 0);
            float *da = check_floats(n), *db = check_floats(n);
            smx_gate_fwd(y, g, x, b, n);
            smx_gate_bwd(dx, da, db, dy, g, x, b, n);
            for (size_t j = 0; j < n; j++) {
                const double tol = 4e-7;
                if (fabs(y[j] - ((double)g[j] * x[j] + (1.0 - g[j]) * b[j])) > tol)
                    check_fail("gate y[%zu]", j);
                if (fabs(dx[j] - (double)dy[j] * ((double)x[j] - b[j])) > tol) check_fail("gate dg[%zu]", j);
                if (fabs(da[j] - (double)dy[j] * g[j]) > tol) check_fail("gate da[%zu]", j);
                if (fabs(db[j] - (double)dy[j] * (1.0 - g[j])) > tol) check_fail("gate db[%zu]", j);
            }
            check_done();
        }
    }
}

static void softplus(void **state) {
    (void)state;
    static const float points[] = {-200, -87, -40, -17, -9, -1,   -0.0f,    0,   1e-7f,
                                   0.5f, 3,   16,  17,  40, 1e5f, INFINITY, NAN, -3.3f};
    enum { N = sizeof points / sizeof *points };
    CHECK_EACH_ISA(isa) {
        check_trying("softplus");
        float *x = check_copy(points, N), *y = check_floats(N), *ones = check_filled(N, 1),
              *dx = check_floats(N);
        double *want = check_doubles(N), *slope = check_doubles(N);
        for (size_t i = 0; i < N; i++) {
            want[i] = fmax((double)x[i], 0) + log1p(exp(-fabs((double)x[i])));
            if (isnan(x[i])) want[i] = NAN;
            if (x[i] < -87.33) want[i] = 0; // exp flushes there
            slope[i] = 1 / (1 + exp(-(double)x[i]));
            if (x[i] < -88) slope[i] = 0;
        }
        smx_softplus_fwd(y, x, N);
        check_close("y", y, want, N, 3e-7, -1); // relative, each
        smx_softplus_bwd(dx, ones, x, N);
        check_close("dx", dx, slope, N, 4e-7, -1);
        check_done();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ema), cmocka_unit_test(scan),  cmocka_unit_test(scan_forgets),
        cmocka_unit_test(s4d), cmocka_unit_test(gates), cmocka_unit_test(softplus),
    };
    return cmocka_run_group_tests_name("scan", tests, NULL, NULL);
}
