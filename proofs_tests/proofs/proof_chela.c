// proof_chela.c
// Claim: [CHELA] Eqs. 7-11: linear attention's three forms agree, short kernels fuse exactly, the FFT
//   computes the convolution.
// Statement: o_t = q_t^T sum_{s<=t} k_s v_s^T as the masked product (Q K^T o mask) V, as a recurrence over a
//   d x d state, and in tiles with a state between them; the two parallel short convolutions equal one with
//   the sum of their kernels; the long convolution with K_bar = sign(K) max(|K| - lambda, 0) by FFTs of
//   length >= 2L equals the direct sum.
// Needs: exact arithmetic for equality; so each pair is compared within the rounding of its sums.
// Model: the kernels with block C = 1, 7, 64 and L, the oracle's three functions; smx_conv and the oracle;
//   smx_longconv with transforms against the oracle's direct sum.
// Check: differences in u, measured over 1,000 draws: of attention and of fusing relative to the sum of the
//   absolute terms, of the FFT to |K|_2 |x|_2, as norm-wise error bounds of the FFT are. On whole numbers
//   below 8 every sum is exact, and so attention and short convolutions must be.
#include "proof.h"

#include <seqmix/ref.h>

enum { L = 200, H = 2, d = 5, D = H * d };

// Difference of a from b where row t, head h may be off by tolerance * sum_s |q_t|.|k_s| |v_s|.
static double in_terms(const double *a, const double *b, const double *q, const double *k, const double *v) {
    double worst = 0;
    for (size_t t = 0; t < L; t++)
        for (size_t c = 0; c < D; c++) {
            double scale = 0;
            for (size_t s = 0; s <= t; s++) {
                double dot = 0;
                for (size_t e = c / d * d; e < c / d * d + d; e++) dot += fabs(q[t * D + e] * k[s * D + e]);
                scale += dot * fabs(v[s * D + c]);
            }
            worst = proof_largest(worst, fabs(a[t * D + c] - b[t * D + c]) / scale);
        }
    return worst;
}
static void three_forms(void **state) {
    (void)state;
    proof_seed(91);
    float *q = check_random(L * D, -1, 1), *k = check_random(L * D, -1, 1), *v = check_random(L * D, -1, 1);
    double *qd = check_widen(q, L * D), *kd = check_widen(k, L * D), *vd = check_widen(v, L * D);
    double *quadratic = check_doubles(L * D), *other = check_doubles(L * D);
    ref_linattn_quadratic(quadratic, qd, kd, vd, L, D, H);
    proof_ok(ref_linattn_recurrent(other, qd, kd, vd, L, D, H));
    proof_measured(in_terms(other, quadratic, qd, kd, vd) / 0x1p-53, 6,
                   "double: recurrence and masked product, in u");
    proof_ok(ref_linattn_tiled(other, qd, kd, vd, L, D, H, 7));
    proof_measured(in_terms(other, quadratic, qd, kd, vd) / 0x1p-53, 6,
                   "double: tiles of 7 and masked product, in u");
    static const size_t blocks[] = {1, 7, 64, L};
    for (size_t n = 0; n < CHECK_COUNT(blocks); n++) {
        const smx_linattn p = {1, L, D, H, D, blocks[n], SMX_LINATTN_NONE, 0};
        float *y = check_floats(L * D), *norm = check_floats(H * L);
        smx_linattn_fwd(y, norm, q, k, v, check_scratch(smx_linattn_fwd_scratch_bytes(&p)), &p);
        proof_measured(in_terms(check_widen(y, L * D), quadratic, qd, kd, vd) / 0x1p-24, 6,
                       "float32, blocks of %zu%s: from the masked product in double, in u", blocks[n],
                       blocks[n] == 1   ? " (recurrence)"
                       : blocks[n] == L ? " (masked product)"
                                        : "");
    }
    check_done();
}

// Small integers: every product and every sum of them is below 2^24, so no form may lose anything.
static void whole_numbers_are_exact(void **state) {
    (void)state;
    enum { N = 6 };
    proof_seed(94);
    float *x[3], *y = check_floats(L * D), *norm = check_floats(H * L), *taps = check_floats(D * N);
    double *want = check_doubles(L * D), *wide[3];
    for (int n = 0; n < 3; n++) {
        x[n] = check_floats(L * D);
        for (size_t i = 0; i < L * D; i++) x[n][i] = (float)((int)(check_next() % 15) - 7);
        wide[n] = check_widen(x[n], L * D);
    }
    ref_linattn_quadratic(want, wide[0], wide[1], wide[2], L, D, H);
    static const size_t blocks[] = {1, 7, 64, L};
    double off = 0;
    for (size_t n = 0; n < CHECK_COUNT(blocks); n++) {
        const smx_linattn p = {1, L, D, H, D, blocks[n], SMX_LINATTN_NONE, 0};
        smx_linattn_fwd(y, norm, x[0], x[1], x[2], check_scratch(smx_linattn_fwd_scratch_bytes(&p)), &p);
        for (size_t i = 0; i < L * D; i++) off = proof_largest(off, fabs((double)y[i] - want[i]));
    }
    proof_at_most(off, 0, "float32, whole numbers: linear attention in blocks of 1, 7, 64 and %d, error", L);
    for (size_t i = 0; i < D * N; i++) taps[i] = (float)((int)(check_next() % 15) - 7);
    const smx_conv all = {.B = 1, .L = L, .D = D, .groups = D, .W = N, .ldx = D, .ldy = D};
    smx_conv_fwd(y, x[0], taps, check_scratch(smx_conv_scratch_bytes(&all)), &all);
    ref_conv_fwd(want, wide[0], check_widen(taps, D * N), 1, L, D, D, N, 0, D, D);
    off = 0;
    for (size_t i = 0; i < L * D; i++) off = proof_largest(off, fabs((double)y[i] - want[i]));
    proof_at_most(off, 0, "float32, whole numbers: a short convolution, error");
    check_done();
}

static void short_kernels_fuse(void **state) {
    (void)state;
    enum { N = 6 };
    proof_seed(92);
    float *x = check_random(L * D, -1, 1), *s3 = check_random(D * 3, -1, 1), *sn = check_random(D * N, -1, 1);
    float *a = check_floats(L * D), *b = check_floats(L * D), *y = check_floats(L * D),
          *fused = check_floats(D * N);
    double *fused_d = check_doubles(D * N), *yd = check_doubles(L * D), *want = check_doubles(L * D);
    ref_short_fuse(fused_d, check_widen(s3, D * 3), check_widen(sn, D * N), D, N);
    for (size_t i = 0; i < D * N; i++) fused[i] = (float)fused_d[i];
    proof_ok(ref_short_sum_fwd(want, check_widen(x, L * D), check_widen(s3, D * 3), check_widen(sn, D * N), L,
                               D, N));
    ref_conv_fwd(yd, check_widen(x, L * D), fused_d, 1, L, D, D, N, 0, D, D);
    const smx_conv three = {.B = 1, .L = L, .D = D, .groups = D, .W = 3, .ldx = D, .ldy = D};
    const smx_conv all = {.B = 1, .L = L, .D = D, .groups = D, .W = N, .ldx = D, .ldy = D};
    void *scratch = check_scratch(smx_conv_scratch_bytes(&all));
    smx_conv_fwd(a, x, s3, scratch, &three);
    smx_conv_fwd(b, x, sn, scratch, &all);
    smx_add(a, a, b, L * D);
    smx_conv_fwd(y, x, fused, scratch, &all);
    double in_double = 0, in_float = 0;
    for (size_t t = 0; t < L; t++)
        for (size_t c = 0; c < D; c++) {
            double scale = 0;
            for (size_t w = 0; w < N && w <= t; w++)
                scale += (fabs((double)sn[c * N + w]) + (w < 3 ? fabs((double)s3[c * 3 + w]) : 0)) *
                         fabs((double)x[(t - w) * D + c]);
            in_double = proof_largest(in_double, fabs(yd[t * D + c] - want[t * D + c]) / scale);
            in_float = proof_largest(in_float, fabs((double)y[t * D + c] - (double)a[t * D + c]) / scale);
        }
    proof_measured(in_double / 0x1p-53, 7, "double: fused and the sum of two, in u");
    proof_measured(in_float / 0x1p-24, 7, "float32: fused and the sum of two, in u");
    check_done();
}

static void transforms_convolve(void **state) {
    (void)state;
    static const size_t lengths[] = {1, 5, 64, 200, 1000};
    static const double most[] = {4, 4, 3, 2, 1};
    for (size_t n = 0; n < CHECK_COUNT(lengths); n++)
        for (int squash = 0; squash < 2; squash++) {
            const size_t M = lengths[n], N = smx_longconv_rows(M);
            const double lambda = squash ? 0.25 : 0;
            proof_seed(93 + n);
            float *x = check_random(M * D, -1, 1), *k = check_random(M * D, -1, 1),
                  *skip = check_random(D, -1, 1);
            float *y = check_floats(M * D), *spectrum = check_floats(smx_longconv_spectrum_floats(M, D));
            float *table = check_floats(smx_fft_table_floats(N));
            double *want = check_doubles(M * D), worst = 0;
            smx_fft_table(table, N);
            smx_longconv_fwd(
                y, spectrum, x, &(smx_longconv_weights){k, skip}, table,
                check_scratch(smx_longconv_scratch_bytes(M)),
                &(smx_longconv){.B = 1, .L = M, .D = D, .taps = M, .lambda = (float)lambda, .ld = D});
            ref_long_conv_fwd(want, check_widen(x, M * D), check_widen(k, M * D), check_widen(skip, D), M, D,
                              lambda);
            for (size_t c = 0; c < D; c++) {
                double xx = 0, kk = fabs((double)skip[c]);
                for (size_t t = 0; t < M; t++) {
                    const double tap = proof_largest(fabs((double)k[c * M + t]) - lambda, 0);
                    xx += (double)x[t * D + c] * (double)x[t * D + c];
                    kk += tap * tap;
                }
                for (size_t t = 0; t < M; t++)
                    worst =
                        proof_largest(worst, fabs((double)y[t * D + c] - want[t * D + c]) / sqrt(xx * kk));
            }
            proof_measured(worst / 0x1p-24, most[n],
                           "float32, L = %zu, lambda = %g: transforms and direct sum, in u", M, lambda);
            check_done();
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_forms), cmocka_unit_test(whole_numbers_are_exact),
        cmocka_unit_test(short_kernels_fuse), cmocka_unit_test(transforms_convolve)};
    return cmocka_run_group_tests_name("chela", tests, NULL, NULL);
}
