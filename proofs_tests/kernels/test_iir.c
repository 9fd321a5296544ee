// test_iir.c: Focus's adaptive filters against the oracle in their three modes (a bin's length a power of two
// or not), the max pool with its ties, the squashing of coefficients at and beyond its limit.
#include "proofs_tests/support/check.h"
#include <seqmix/ref.h>

typedef struct {
    size_t B, L, D, bins, F;
} shape;
static const shape shapes[] = {
    {1, 1, 1, 1, 1},   {2, 6, 5, 2, 1},   {1, 16, 16, 1, 2}, {2, 32, 17, 4, 1},
    {1, 98, 20, 1, 1}, {1, 60, 33, 6, 3}, {3, 64, 12, 8, 2}, {1, 64, 16, 64, 1},
    {1, 600, 4, 2, 1}, {2, 28, 7, 14, 2}, {0, 8, 16, 2, 1},
};
static const char *mode_name[] = {"causal", "carry", "literal"};
static const ref_focus_mode twin[] = {REF_FOCUS_CAUSAL, REF_FOCUS_CARRY, REF_FOCUS_LITERAL};

static void want_filter(double *y, double *dx, double *dtheta, const double *dy, const double *x,
                        const double *theta, const smx_iir *p) {
    const ref_focus_filter f = {p->L, p->D, p->bins, p->F, twin[p->mode]};
    for (size_t b = 0; b < p->B; b++) {
        const size_t at = b * p->L * p->D, at_theta = b * p->bins * p->D * p->F * 2;
        ref_focus_filter_fwd(y + at, x + at, theta + at_theta, &f);
        if (dx) ref_focus_filter_bwd(dx + at, dtheta + at_theta, dy + at, x + at, theta + at_theta, &f);
    }
}
typedef struct {
    const smx_iir *p;
    const double *x, *theta, *weights;
    double *y;
} context;
static double of_x(const double *x, void *arg) {
    context *c = arg;
    want_filter(c->y, NULL, NULL, NULL, x, c->theta, c->p);
    return check_inner(c->weights, c->y, c->p->B * c->p->L * c->p->D);
}
static double of_theta(const double *theta, void *arg) {
    context *c = arg;
    want_filter(c->y, NULL, NULL, NULL, c->x, theta, c->p);
    return check_inner(c->weights, c->y, c->p->B * c->p->L * c->p->D);
}

static void iir(void **state) {
    (void)state;
    CHECK_EACH_ISA(isa) {
        for (const shape *s = shapes; s < shapes + CHECK_COUNT(shapes); s++)
            for (int mode = 0; mode < 3; mode++) {
                const smx_iir p = {s->B, s->L, s->D, s->bins, s->F, mode};
                check_trying("iir %s B=%zu L=%zu D=%zu bins=%zu F=%zu", mode_name[mode], p.B, p.L, p.D,
                             p.bins, p.F);
                const size_t n = p.B * p.L * p.D, nt = p.B * p.bins * p.D * p.F * 2, R = p.L / p.bins;
                // Poles at most 0.87 from the origin: rounding of the state is not carried further than ~8
                // steps.
                float *x = check_random(n, -1, 1), *theta = check_random(nt, 0.02, 0.75),
                      *dy = check_random(n, -1, 1);
                float *y = check_floats(n), *dx = check_floats(n), *dtheta = check_floats(nt),
                      *again = check_floats(nt);
                float *table = check_floats(smx_iir_table_floats(R));
                smx_iir_table(table, R);
                double *xd = check_widen(x, n), *td = check_widen(theta, nt), *dyd = check_widen(dy, n);
                double *want_y = check_doubles(n), *want_dx = check_doubles(n), *want_dt = check_doubles(nt);
                want_filter(want_y, want_dx, want_dt, dyd, xd, td, &p);
                const size_t bytes = smx_iir_scratch_bytes(&p);
                const float *needed = mode == SMX_IIR_LITERAL ? table : NULL;
                smx_iir_fwd(y, x, theta, needed, check_scratch(bytes), &p);
                check_close("y", y, want_y, n, 4e-6, 0);
                smx_iir_bwd(dx, dtheta, dy, x, theta, needed, check_scratch(bytes), &p);
                check_close("dx", dx, want_dx, n, 4e-6, 0);
                check_close("dtheta", dtheta, want_dt, nt, 1e-5, 0);
                smx_iir_bwd(NULL, again, dy, x, theta, needed, check_scratch(bytes), &p);
                check_same("dtheta without dx", again, dtheta, nt);
                context c = {&p, xd, td, dyd, check_doubles(n)};
                check_direction("dx", of_x, &c, x, dx, n, 3e-5);
                check_direction("dtheta", of_theta, &c, theta, dtheta, nt, 1e-4);
                check_done();
            }
    }
}

// theta = 0 in bin 0 (the shift by one bin): every filter is the identity there,
// to the last bit, and y = F x.
static void identity(void **state) {
    (void)state;
    enum { L = 24, D = 18, F = 2 };
    CHECK_EACH_ISA(isa) {
        for (int mode = 0; mode < 2; mode++) {
            check_trying("%s filters with theta = 0", mode_name[mode]);
            const smx_iir p = {1, L, D, 1, F, mode};
            float *x = check_random(L * D, -1, 1), *theta = check_filled(D * F * 2, 0),
                  *y = check_floats(L * D);
            float *twice = check_floats(L * D);
            smx_iir_fwd(y, x, theta, NULL, check_scratch(smx_iir_scratch_bytes(&p)), &p);
            for (size_t i = 0; i < L * D; i++) twice[i] = 2 * x[i];
            check_same("y", y, twice, L * D);
            check_done();
        }
    }
}

static void pool(void **state) {
    (void)state;
    static const size_t sizes[][5] = {// B L D bins O
                                      {1, 1, 1, 1, 1},   {2, 12, 5, 3, 2},  {1, 10, 16, 2, 3},
                                      {2, 17, 33, 1, 4}, {1, 64, 20, 8, 8}, {1, 3, 4, 3, 5}};
    CHECK_EACH_ISA(isa) {
        for (size_t i = 0; i < CHECK_COUNT(sizes); i++) {
            const size_t B = sizes[i][0], L = sizes[i][1], D = sizes[i][2], bins = sizes[i][3],
                         O = sizes[i][4];
            check_trying("maxpool B=%zu L=%zu D=%zu bins=%zu O=%zu", B, L, D, bins, O);
            const size_t n = B * bins * D * O, windows = bins * O;
            float *x = check_floats(B * L * D), *e = check_floats(n), *de = check_random(n, -1, 1);
            float *dx = check_floats(B * L * D);
            for (size_t j = 0; j < B * L * D; j++) x[j] = (float)((int)(check_next() % 4) - 2); // many ties
            int32_t *where = check_ints(n);
            double *want = check_doubles(n), *want_dx = check_doubles(B * L * D);
            for (size_t j = 0; j < B * L * D; j++) want_dx[j] = 0;
            for (size_t b = 0; b < B; b++)
                for (size_t w = 0; w < windows; w++)
                    for (size_t c = 0; c < D; c++) {
                        size_t best = w * L / windows;
                        for (size_t t = best; t * windows < (w + 1) * L; t++) // t < ceil((w+1) L / windows)
                            if (x[(b * L + t) * D + c] > x[(b * L + best) * D + c]) best = t;
                        const size_t at = ((b * bins + w / O) * D + c) * O + w % O;
                        want[at] = x[(b * L + best) * D + c];
                        want_dx[(b * L + best) * D + c] += de[at];
                    }
            smx_maxpool_fwd(e, where, x, B, L, D, bins, O);
            check_close("e", e, want, n, 0, 1);
            smx_maxpool_bwd(dx, de, where, B, L, D, bins, O);
            check_close("dx", dx, want_dx, B * L * D, 1e-6, 1); // a wrong row on a tie moves a gradient
            check_done();
        }
    }
}

static double squash_loss(const double *raw, void *arg, int triangle) {
    double *weights = arg, sum = 0;
    for (size_t i = 0; i < 40; i += 2) {
        double t0 = triangle ? tanh(raw[i]) : 1 / (1 + exp(-raw[i]));
        double t1 = triangle ? tanh(raw[i + 1]) : 1 / (1 + exp(-raw[i + 1]));
        if (triangle) t0 *= 1 + t1;
        sum += weights[i] * t0 + weights[i + 1] * t1;
    }
    return sum;
}
static double sigmoid_loss(const double *raw, void *arg) { return squash_loss(raw, arg, 0); }
static double triangle_loss(const double *raw, void *arg) { return squash_loss(raw, arg, 1); }

static void theta(void **state) {
    (void)state;
    enum { N = 40 };
    const double limit = 1 - 0x1p-20;
    CHECK_EACH_ISA(isa) {
        for (int triangle = 0; triangle < 2; triangle++) {
            check_trying("theta triangle=%d", triangle);
            float *raw = check_random(N, -5, 5), *y = check_floats(N), *d = check_random(N, -1, 1),
                  *draw = check_floats(N);
            double *want = check_doubles(N), *weights = check_widen(d, N);
            for (size_t i = 0; i < N; i += 2) {
                want[i] = triangle ? tanh(raw[i]) * (1 + tanh(raw[i + 1])) : 1 / (1 + exp(-raw[i]));
                want[i + 1] = triangle ? tanh(raw[i + 1]) : 1 / (1 + exp(-raw[i + 1]));
            }
            smx_theta_fwd(y, raw, N, triangle);
            check_close("theta", y, want, N, 3e-7, 1);
            smx_theta_bwd(draw, d, raw, N, triangle);
            check_direction("draw", triangle ? triangle_loss : sigmoid_loss, weights, raw, draw, N, 1e-5);

            // Far out: held inside the circle, no gradient; NaN is passed on.
            float *far = check_filled(6, 30), *held = check_floats(6), *ones = check_filled(6, 1),
                  *none = check_floats(6);
            far[2] = far[3] = 10; // tanh is 1 in float32, sigma is not
            far[4] = far[5] = NAN;
            smx_theta_fwd(held, far, 6, triangle);
            smx_theta_bwd(none, ones, far, 6, triangle);
            const double want_even = triangle ? (1 + limit) * limit : limit;
            if (fabs((double)held[0] - want_even) > 1e-6 || held[1] != (float)limit)
                check_fail("theta of (30, 30) is (%.9g, %.9g)", held[0], held[1]);
            if (triangle && held[3] != (float)limit) check_fail("tanh of 10 is not held: %.9g", held[3]);
            if (none[0] != 0 || none[1] != 0)
                check_fail("gradient (%g, %g) beyond the limit", none[0], none[1]);
            if (!isnan(held[4]) || !isnan(held[5])) check_fail("NaN became (%g, %g)", held[4], held[5]);
            check_done();
        }
    }
}

// A size is told of any shape.
static void no_bins(void **state) {
    (void)state;
    for (int mode = 0; mode < 3; mode++)
        assert_true(smx_iir_scratch_bytes(&(smx_iir){.B = 1, .D = 3, .F = 2, .mode = mode}) > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(iir),   cmocka_unit_test(identity), cmocka_unit_test(pool),
        cmocka_unit_test(theta), cmocka_unit_test(no_bins),
    };
    return cmocka_run_group_tests_name("iir", tests, NULL, NULL);
}
