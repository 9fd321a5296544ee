// test_linattn.c: linear attention against the oracle, with each normaliser, and in its three forms
// (recurrent, quadratic, tiled at any block) against the oracle's three; the zero denominator; elu + 1 with
// its slope; the edge of causality.
#include "proofs_tests/support/check.h"
#include <seqmix/ref.h>
#include <float.h>

typedef struct {
    size_t L, d, H, C, pad;
    int norm;
} shape;
static const shape shapes[] = {
    {1, 1, 1, 1, 0, SMX_LINATTN_NONE},    {1, 4, 2, 8, 0, SMX_LINATTN_SUM},
    {5, 3, 2, 1, 0, SMX_LINATTN_RMS},     {17, 6, 2, 4, 5, SMX_LINATTN_NONE},
    {17, 2, 4, 5, 0, SMX_LINATTN_SUM},    {64, 4, 2, 16, 0, SMX_LINATTN_RMS},
    {64, 16, 1, 24, 16, SMX_LINATTN_SUM}, {65, 17, 1, 25, 0, SMX_LINATTN_SUM},
    {100, 33, 1, 64, 0, SMX_LINATTN_RMS}, {100, 8, 3, 0, 0, SMX_LINATTN_SUM},
    {100, 8, 3, 1, 0, SMX_LINATTN_SUM},   {130, 16, 2, 1000, 0, SMX_LINATTN_NONE},
    {300, 12, 1, 64, 0, SMX_LINATTN_SUM},
};

static ref_linattn_norm norm_of(int norm) {
    return norm == SMX_LINATTN_SUM   ? REF_LINATTN_SUM
           : norm == SMX_LINATTN_RMS ? REF_LINATTN_RMS
                                     : REF_LINATTN_NONE;
}
static double at_least_one(const double *x,
                           size_t n) { // a gradient that cancels to 0 keeps the rounding of its terms
    double largest = 1;
    for (size_t i = 0; i < n; i++) largest = fabs(x[i]) > largest ? fabs(x[i]) : largest;
    return largest;
}
// The oracle maps q and k by elu + 1 itself when it divides by the sum; the kernel takes them mapped.
static void one(const shape *s) {
    const size_t B = 2, L = s->L, D = s->d * s->H, stride = D + s->pad, n = B * L * stride, m = B * L * D;
    check_trying("L=%zu d=%zu H=%zu C=%zu norm=%d", L, s->d, s->H, s->C, s->norm);
    float *q = check_random(n, -1.5, 1.5), *k = check_random(n, -1.5, 1.5), *v = check_random(n, -1, 1);
    float *fq = check_floats(n), *fk = check_floats(n), *y = check_floats(m),
          *norm = check_floats(B * s->H * L);
    float *dq = check_filled(n, 0), *dk = check_filled(n, 0), *dv = check_filled(n, 0),
          *dy = check_random(m, -1, 1);
    const int mapped = s->norm == SMX_LINATTN_SUM;
    if (mapped) {
        smx_elu1_fwd(fq, q, n);
        smx_elu1_fwd(fk, k, n);
    }
    const float *in_q = mapped ? fq : q, *in_k = mapped ? fk : k;
    const smx_linattn p = {B, L, D, s->H, stride, s->C, s->norm, 1e-5f};
    smx_linattn_fwd(y, norm, in_q, in_k, v, check_scratch(smx_linattn_fwd_scratch_bytes(&p)), &p);
    smx_linattn_bwd(dq, dk, dv, dy, in_q, in_k, v, y, norm, check_scratch(smx_linattn_bwd_scratch_bytes(&p)),
                    &p);
    if (mapped) {
        smx_elu1_bwd(dq, dq, fq, n);
        smx_elu1_bwd(dk, dk, fk, n);
    }
    const ref_linattn r = {
        .B = 1, .L = L, .D = D, .H = s->H, .stride = D, .norm = norm_of(s->norm), .eps = 1e-5};
    double *qd = check_doubles(L * D), *kd = check_doubles(L * D), *vd = check_doubles(L * D),
           *yd = check_doubles(L * D);
    double *dqd = check_doubles(L * D), *dkd = check_doubles(L * D), *dvd = check_doubles(L * D);
    float *got[3] = {check_floats(L * D), check_floats(L * D), check_floats(L * D)};
    for (size_t b = 0; b < B; b++) {
        for (size_t t = 0; t < L; t++)
            for (size_t c = 0; c < D; c++) {
                const size_t from = (b * L + t) * stride + c, to = t * D + c;
                qd[to] = q[from], kd[to] = k[from], vd[to] = v[from];
                got[0][to] = dq[from], got[1][to] = dk[from], got[2][to] = dv[from];
            }
        assert_int_equal(ref_linear_attention_fwd(yd, qd, kd, vd, &r), REF_OK);
        assert_int_equal(
            ref_linear_attention_bwd(dqd, dkd, dvd, check_widen(dy + b * L * D, L * D), qd, kd, vd, &r),
            REF_OK);
        // Sums of up to L d products; rms divides by what can be small, so its error is that of a row near 0.
        const double tolerance = (s->norm == SMX_LINATTN_RMS ? 4e-6 : 1e-6) * sqrt((double)L);
        check_close("y", y + b * L * D, yd, L * D, tolerance, at_least_one(yd, L * D));
        check_close("dq", got[0], dqd, L * D, tolerance, at_least_one(dqd, L * D));
        check_close("dk", got[1], dkd, L * D, tolerance, at_least_one(dkd, L * D));
        check_close("dv", got[2], dvd, L * D, tolerance, at_least_one(dvd, L * D));
    }
    check_done();
}
static void against_oracle(void **state) {
    (void)state;
    CHECK_EACH_ISA(isa) {
        check_seed(41);
        for (size_t i = 0; i < CHECK_COUNT(shapes); i++) one(&shapes[i]);
    }
}

// Recurrent (C = 1), quadratic (C = L) and tiled, the last block shorter or not,
// against the oracle's own three.
static void three_forms(void **state) {
    (void)state;
    enum { L = 77, D = 20, H = 2, N = L * D };
    static const size_t blocks[] = {1, 2, 7, 11, 24, 64, 76, 77, 0};
    CHECK_EACH_ISA(isa) {
        check_seed(42);
        float *q = check_random(N, -1, 1), *k = check_random(N, -1, 1), *v = check_random(N, -1, 1),
              *y = check_floats(N), *norm = check_floats(H * L);
        double *qd = check_widen(q, N), *kd = check_widen(k, N), *vd = check_widen(v, N);
        double *recurrent = check_doubles(N), *quadratic = check_doubles(N), *tiled = check_doubles(N);
        ref_linattn_quadratic(quadratic, qd, kd, vd, L, D, H);
        ref_linattn_recurrent(recurrent, qd, kd, vd, L, D, H);
        for (size_t i = 0; i < CHECK_COUNT(blocks); i++) {
            check_trying("C=%zu", blocks[i]);
            const smx_linattn p = {1, L, D, H, D, blocks[i], SMX_LINATTN_NONE, 0};
            ref_linattn_tiled(tiled, qd, kd, vd, L, D, H, blocks[i] ? blocks[i] : L);
            smx_linattn_fwd(y, norm, q, k, v, check_scratch(smx_linattn_fwd_scratch_bytes(&p)), &p);
            check_close("y against quadratic", y, quadratic, N, 1e-6, 0);
            check_close("y against recurrent", y, recurrent, N, 1e-6, 0);
            check_close("y against tiled", y, tiled, N, 1e-6, 0);
        }
        check_done();
    }
}

// Where the sum of weights is below FLT_MIN the row is 0 and sends no gradient;
// the rows after it are as ever.
static void zero_denominator(void **state) {
    (void)state;
    enum { L = 9, D = 4, N = L * D };
    CHECK_EACH_ISA(isa)
    for (size_t C = 1; C < 12; C += 5) {
        check_seed(43);
        check_trying("zero denominator, C=%zu", C);
        float *q = check_random(N, 0.1, 1), *k = check_random(N, 0.1, 1), *v = check_random(N, -1, 1),
              *dy = check_random(N, -1, 1);
        for (size_t c = 0; c < 3 * D; c++) k[c] = 0;
        for (size_t c = 0; c < D; c++) q[5 * D + c] = 0;
        float *y = check_floats(N), *norm = check_floats(L), *dq = check_floats(N), *dk = check_floats(N),
              *dv = check_floats(N);
        const smx_linattn p = {1, L, D, 1, D, C, SMX_LINATTN_SUM, 0};
        smx_linattn_fwd(y, norm, q, k, v, check_scratch(smx_linattn_fwd_scratch_bytes(&p)), &p);
        smx_linattn_bwd(dq, dk, dv, dy, q, k, v, y, norm, check_scratch(smx_linattn_bwd_scratch_bytes(&p)),
                        &p);
        for (size_t t = 0; t < L; t++)
            for (size_t c = 0; c < D; c++) {
                const int dead = t < 3 || t == 5;
                if (dead ? y[t * D + c] != 0 || dq[t * D + c] != 0
                         : !(fabsf(y[t * D + c]) <= 1.00001f) || y[t * D + c] == 0)
                    check_fail("row %zu is %g with gradient %g", t, y[t * D + c], dq[t * D + c]);
                if (!isfinite(dk[t * D + c]) || !isfinite(dv[t * D + c]))
                    check_fail("gradient of row %zu is not finite", t);
            }
        check_done();
    }
}

static void elu1(void **state) {
    (void)state;
    CHECK_EACH_ISA(isa)
    for (size_t n = 0; n < 40; n += 13) {
        check_seed(44);
        check_trying("elu1 n=%zu", n);
        float *x = check_random(n, -8, 8), *y = check_floats(n), *dy = check_random(n, -1, 1),
              *dx = check_floats(n);
        double *want = check_doubles(n), *slope = check_doubles(n);
        if (n > 4) x[0] = 0, x[1] = -0.0f, x[2] = -200, x[3] = INFINITY;
        for (size_t i = 0; i < n; i++) {
            want[i] = x[i] > 0 ? (double)x[i] + 1 : x[i] < -100 ? 0 : exp((double)x[i]);
            slope[i] = dy[i] * (want[i] > 1 ? 1 : want[i]);
        }
        smx_elu1_fwd(y, x, n);
        check_close("y", y, want, n, 1.5e-7, -1);
        smx_elu1_bwd(dx, dy, y, n);
        check_close("dx", dx, slope, n, 2e-7, -1);
        if (n) {
            x[0] = NAN;
            smx_elu1_fwd(y, x, n);
            assert_true(isnan(y[0]));
        }
        check_done();
    }
}

static void causal_words(void **state) {
    (void)state;
    enum { L = 60, D = 16 };
    CHECK_EACH_ISA(isa)
    for (int norm = 0; norm < 3; norm++) {
        check_seed(45);
        float *x = check_random(3 * L * D, 0, 1), *y = check_floats(L * D), *again = check_floats(L * D),
              *r = check_floats(L);
        const smx_linattn p = {1, L, D, 1, D, 13, norm, 1e-5f};
        void *scratch = check_scratch(smx_linattn_fwd_scratch_bytes(&p));
        smx_linattn_fwd(y, r, x, x + L * D, x + 2 * L * D, scratch, &p);
        for (size_t t = 0; t < L; t += 5) {
            check_trying("norm=%d, row %zu changed", norm, t);
            for (size_t c = 0; c < 3 * D; c++) x[(c / D * L + t) * D + c % D] += 10;
            smx_linattn_fwd(again, r, x, x + L * D, x + 2 * L * D, scratch, &p);
            check_same("earlier rows", again, y, t * D);
            memcpy(y, again, L * D * sizeof *y);
        }
        check_done();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(against_oracle), cmocka_unit_test(three_forms),
                                       cmocka_unit_test(zero_denominator), cmocka_unit_test(elu1),
                                       cmocka_unit_test(causal_words)};
    return cmocka_run_group_tests_name("linattn", tests, NULL, NULL);
}
