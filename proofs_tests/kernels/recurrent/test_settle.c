// test_settle.c: recurrences leave no subnormal numbers (kernel.h, smx_settle). An impulse in one row decays
// over 2,048: what is above 2^-90 agrees with the oracle, no result is subnormal, and where the oracle is
// below every float all is 0 (without settling, rounding holds a state at the smallest float for ever).
// Forward from the first row, backward from the last.
#include "proofs_tests/support/check.h"
#include <seqmix/ref.h>

enum { L = 2048, D = 20, S = 3 };

// Rows far enough below what is lost at 2^-96 in S states or D channels, and half of all rows are to be far.
static void check_settled(const char *what, const float *got, const double *want, size_t width) {
    size_t far = 0, near = 0;
    for (size_t i = 0; i < L * width; i++) {
        const double g = got[i], w = fabs(want[i]);
        if (fpclassify(got[i]) == FP_SUBNORMAL)
            check_fail("%s[%zu][%zu] is subnormal: %g", what, i / width, i % width, g);
        if (w > 0x1p-90 && fabs(g - want[i]) > 1e-4 * w + 0x1p-93)
            check_fail("%s[%zu][%zu] is %g, expected %g", what, i / width, i % width, g, want[i]);
        if (w <= 0x1p-90 && fabs(g) > 0x1p-89)
            check_fail("%s[%zu][%zu] is %g, expected %g", what, i / width, i % width, g, want[i]);
        if (w < 0x1p-149 && g != 0)
            check_fail("%s[%zu][%zu] is %g, expected 0", what, i / width, i % width, g);
        far += w < 0x1p-149;
        near += w > 0x1p-90;
    }
    if (far < L * width / 2 || near < 100 * width)
        check_fail("%s: %zu far and %zu near values try nothing", what, far, near);
}
// Zeros but in one row. No signs: sums do not cancel, so that each value is as precise as its terms.
static float *impulse(size_t row) {
    float *x = check_filled(L * D, 0);
    for (size_t c = 0; c < D; c++) x[row * D + c] = (float)check_uniform(0.5, 1);
    return x;
}

static void ema(void **state) {
    (void)state;
    CHECK_EACH_ISA(isa) {
        check_trying("ema");
        const size_t n = L * D, ns = D * S, bytes = smx_scan_scratch_bytes(L, D, S);
        float *x = impulse(0), *dy = impulse(L - 1), *y = check_floats(n), *dx = check_floats(n), *w[4],
              *dw[4];
        double *wd[4], *dwd[4], *xd = check_widen(x, n), *dyd = check_widen(dy, n), *want = check_doubles(n);
        for (int i = 0; i < 4; i++) { // alpha, delta: states keep 0.69 to 0.84 of themselves
            w[i] = i < 2 ? check_random(ns, -0.4, 0.2) : check_random(ns, 0.5, 1);
            dw[i] = check_filled(ns, 0);
            wd[i] = check_widen(w[i], ns);
            dwd[i] = check_widen(dw[i], ns);
        }
        const ref_mega_weights rw = {wd[0], wd[1], wd[2], wd[3], NULL},
                               rdw = {dwd[0], dwd[1], dwd[2], dwd[3], NULL};
        float *states = check_floats(smx_scan_state_floats(L, D, S));
        const smx_ema p = {1, L, D, S};
        const smx_ema_weights weights = {w[0], w[1], w[2], w[3], NULL};
        const smx_ema_gradients dweights = {dw[0], dw[1], dw[2], dw[3], NULL};
        smx_ema_fwd(y, states, x, &weights, check_scratch(bytes), &p);
        ref_mega_ema_fwd(want, xd, &rw, L, D, S);
        check_settled("y", y, want, D);
        smx_ema_bwd(dx, &dweights, dy, x, &weights, states, check_scratch(bytes), &p);
        ref_mega_ema_bwd(want, &rdw, dyd, xd, &rw, L, D, S);
        check_settled("dx", dx, want, D);
        check_done();
    }
}

static void scan(void **state) {
    (void)state;
    CHECK_EACH_ISA(isa) {
        check_trying("selective scan");
        const size_t n = L * D, ns = D * S, nb = L * S, bytes = smx_scan_scratch_bytes(L, D, S);
        float *x = impulse(0), *everywhere = check_random(n, 0.5, 1), *dy = impulse(L - 1),
              *y = check_floats(n);
        float *dt = check_random(n, 0.16, 0.25),
              *a_log = check_random(ns, -0.1, 0.3); // keeps 0.71 to 0.86 a row
        float *b = check_random(nb, 0.5, 1), *c = check_random(nb, 0.5, 1), *dx = check_floats(n),
              *ddt = check_floats(n);
        float *da = check_filled(ns, 0), *db = check_floats(nb), *dc = check_floats(nb);
        double *xd = check_widen(x, n), *ed = check_widen(everywhere, n), *dyd = check_widen(dy, n),
               *dtd = check_widen(dt, n);
        double *ad = check_widen(a_log, ns), *bd = check_widen(b, nb), *cd = check_widen(c, nb),
               *want = check_doubles(n);
        double *want_ddt = check_doubles(n), *want_da = check_widen(da, ns), *want_db = check_doubles(nb);
        double *want_dc = check_doubles(nb);
        float *states = check_floats(smx_scan_state_floats(L, D, S));
        const smx_scan p = {1, L, D, S};
        const smx_scan_system system = {dt, a_log, b, c, NULL};
        const smx_scan_gradients dsystem = {ddt, da, db, dc, NULL};
        smx_scan_fwd(y, states, x, &system, check_scratch(bytes), &p);
        ref_selective_scan_fwd(want, xd, dtd, ad, bd, cd, NULL, L, D, S);
        check_settled("y", y, want, D);
        smx_scan_fwd(y, states, everywhere, &system, check_scratch(bytes), &p);
        smx_scan_bwd(dx, &dsystem, dy, everywhere, &system, states, check_scratch(bytes), &p);
        ref_selective_scan_bwd(want, want_ddt, want_da, want_db, want_dc, NULL, dyd, ed, dtd, ad, bd, cd,
                               NULL, L, D, S);
        check_settled("dx", dx, want, D);
        check_settled("db", db, want_db, S);
        check_done();
    }
}

// Poles at -0.75 to -0.85 and -0.1 to -0.4; one bin, and four with the state carried over.
static void iir(void **state) {
    (void)state;
    enum { F = 2 };
    CHECK_EACH_ISA(isa) {
        for (size_t bins = 1; bins <= 4; bins += 3) {
            check_trying("iir, %zu bins", bins);
            const smx_iir p = {1, L, D, bins, F, SMX_IIR_CARRY};
            const ref_focus_filter f = {L, D, bins, F, REF_FOCUS_CARRY};
            const size_t n = L * D, nt = bins * D * F * 2, bytes = smx_iir_scratch_bytes(&p);
            float *x = impulse(0), *dy = impulse(L - 1), *theta = check_floats(nt), *y = check_floats(n),
                  *dx = check_floats(n);
            float *dtheta = check_floats(nt);
            for (size_t i = 0; i < nt; i += 2) {
                const double far = check_uniform(0.75, 0.85), near = check_uniform(0.1, 0.4);
                theta[i] = (float)(far + near);
                theta[i + 1] = (float)(far * near);
            }
            double *xd = check_widen(x, n), *dyd = check_widen(dy, n), *td = check_widen(theta, nt),
                   *want = check_doubles(n);
            double *want_dt = check_doubles(nt);
            smx_iir_fwd(y, x, theta, NULL, check_scratch(bytes), &p);
            ref_focus_filter_fwd(want, xd, td, &f);
            check_settled("y", y, want, D);
            smx_iir_bwd(dx, dtheta, dy, x, theta, NULL, check_scratch(bytes), &p);
            ref_focus_filter_bwd(want, want_dt, dyd, xd, td, &f);
            check_settled("dx", dx, want, D);
            check_done();
        }
    }
}

static void block_filter(void **state) {
    (void)state;
    CHECK_EACH_ISA(isa) {
        check_trying("filter of landmarks");
        float *x = impulse(0), *dy = impulse(L - 1), *y = check_floats(L * D), *dx = check_floats(L * D);
        double *xd = check_widen(x, L * D), *dyd = check_widen(dy, L * D), *want = check_doubles(L * D);
        smx_block_filter_fwd(y, x, 1, L, D, 8, 0.2f);
        ref_block_filter_fwd(want, xd, 1, L, D, 8, 0.2f);
        check_settled("y", y, want, D);
        smx_block_filter_bwd(dx, dy, 1, L, D, 8, 0.2f);
        ref_block_filter_bwd(want, dyd, 1, L, D, 8, 0.2f);
        check_settled("dx", dx, want, D);
        check_done();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ema),
        cmocka_unit_test(scan),
        cmocka_unit_test(iir),
        cmocka_unit_test(block_filter),
    };
    return cmocka_run_group_tests_name("settle", tests, NULL, NULL);
}
