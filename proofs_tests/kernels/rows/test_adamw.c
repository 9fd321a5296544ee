// test_adamw.c: the update over several steps against the oracle, its edge settings, and the sum of squares.
#include "proofs_tests/support/check.h"
#include <seqmix/ref.h>

static const size_t sizes[] = {0, 1, 2, 15, 16, 17, 31, 32, 33, 257, 1000};

static smx_adamw_opts opts_at(int step, float clip) {
    smx_adamw_opts o = {.lr = 3e-3f, .b1 = 0.9f, .b2 = 0.98f, .eps = 1e-8f, .wd = 0.1f, .clip = clip};
    o.c1 = (float)(1.0 - pow(o.b1, step));
    o.c2 = (float)(1.0 - pow(o.b2, step));
    return o;
}
static ref_adamw_opts widened(const smx_adamw_opts *o) {
    return (ref_adamw_opts){o->lr, o->b1, o->b2, o->eps, o->wd, o->c1, o->c2, o->clip};
}

static void adamw(void **state) {
    (void)state;
    CHECK_EACH_ISA(isa) {
        for (size_t k = 0; k < CHECK_COUNT(sizes); k++) {
            const size_t n = sizes[k];
            float *p = check_random(n, -1, 1), *m = check_filled(n, 0), *v = check_filled(n, 0);
            double *pd = check_widen(p, n), *md = check_widen(m, n), *vd = check_widen(v, n);
            for (int step = 1; step <= 5; step++) {
                check_trying("adamw n=%zu step %d", n, step);
                const smx_adamw_opts o = opts_at(step, step == 3 ? 0.25f : 1.0f);
                const ref_adamw_opts od = widened(&o);
                float *g = check_random(n, -2, 2);
                smx_adamw(p, m, v, g, n, &o);
                ref_adamw(pd, md, vd, check_widen(g, n), n, &od);
                // A step moves a weight by about lr, to a few roundings; the weight itself is rounded twice a
                // step.
                check_close("p", p, pd, n, 1.2e-7, step);
                check_close("m", m, md, n, 1.2e-7, 1); // sums of at most 2, two roundings
                check_close("v", v, vd, n, 3e-7 * step, -1);
            }
            check_done();
        }
    }
}

// A zero gradient moves nothing but the decay; eps is outside the root: g = 1e-20 at the first step moves p
// by lr 1e-20 / (1e-20 + 1e-8), not by lr.
static void adamw_edges(void **state) {
    (void)state;
    CHECK_EACH_ISA(isa) {
        check_trying("adamw edges");
        smx_adamw_opts o = opts_at(1, 1.0f);
        const ref_adamw_opts od = widened(&o);
        float p[3] = {0.5f, 0.0f, 0.0f}, m[3] = {0}, v[3] = {0};
        const float g[3] = {0.0f, 1e-20f, 1e-8f};
        double pd[3] = {0.5, 0, 0}, md[3] = {0}, vd[3] = {0};
        const double gd[3] = {0.0, g[1], g[2]};
        smx_adamw(p, m, v, g, 3, &o);
        ref_adamw(pd, md, vd, gd, 3, &od);
        check_close("p", p, pd, 3, 1e-4,
                    -1); // (g^2) is rounded as a denormal for g = 1e-8 only in its last bits
        o.wd = 0;
        float still = 0.5f, zero_m = 0, zero_v = 0, no_gradient = 0;
        smx_adamw(&still, &zero_m, &zero_v, &no_gradient, 1, &o);
        if (still != 0.5f) check_fail("moved to %g without gradient or decay", still);
        const float nan_gradient = NAN;
        smx_adamw(&still, &zero_m, &zero_v, &nan_gradient, 1, &o);
        if (!isnan(still)) check_fail("a NaN gradient was hidden");
    }
}

static void sumsq(void **state) {
    (void)state;
    const size_t counts[] = {0, 1, 15, 16, 17, 4095, 4096, 4097, 10000};
    CHECK_EACH_ISA(isa) {
        for (size_t k = 0; k < CHECK_COUNT(counts); k++) {
            const size_t n = counts[k];
            check_trying("sumsq n=%zu", n);
            float *g = check_random(n, -1, 1);
            const double got = smx_sumsq(g, n), want = ref_sumsq(check_widen(g, n), n);
            // 256 roundings at most within a lane of a block, all terms positive
            if (!(fabs(got - want) <= 2e-6 * want)) check_fail("%.9g, expected %.9g", got, want);
            check_done();
        }
        // Blocks are added in double: 2^24 + 1 would be lost in float.
        check_trying("sumsq across blocks");
        float *g = check_filled(2 * 4096, 0);
        g[0] = 4096.0f;
        g[4096] = 1.0f;
        if (smx_sumsq(g, 2 * 4096) != 16777217.0)
            check_fail("%.9g, expected 16777217", smx_sumsq(g, 2 * 4096));
        check_done();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adamw),
        cmocka_unit_test(adamw_edges),
        cmocka_unit_test(sumsq),
    };
    return cmocka_run_group_tests_name("adamw", tests, NULL, NULL);
}
