// test_embedding.c: rows picked by number (embedding, gather), mean over time and rotary positions against
// the oracle.
#include "proofs_tests/support/check.h"
#include <seqmix/ref.h>

static const size_t widths[] = {1, 2, 7, 15, 16, 17, 31, 32, 33, 48, 65};

static void embedding(void **state) {
    (void)state;
    CHECK_EACH_ISA(isa) {
        for (size_t k = 0; k < CHECK_COUNT(widths); k++)
            for (size_t N = 0; N <= 4200; N = N < 40 ? N + 20 : N + 4160) {
                const size_t D = widths[k], V = N > 40 ? 4100 : 6;
                check_trying("embedding N=%zu D=%zu", N, D);
                float *table = check_random(V * D, -1, 1), *y = check_floats(N * D),
                      *dy = check_random(N * D, -1, 1);
                float *dtable = check_random(V * D, -1, 1);
                int32_t *tokens = check_random_ints(N, -2, (int32_t)V + 2); // some outside on both sides
                if (N) tokens[0] = INT32_MIN, tokens[1] = INT32_MAX, tokens[2] = (int32_t)V, tokens[3] = -1;
                double *want = check_doubles(N * D), *want_table = check_widen(dtable, V * D);
                ref_embedding_fwd(want, check_widen(table, V * D), tokens, N, D, V);
                ref_embedding_bwd(want_table, check_widen(dy, N * D), tokens, N, D, V);
                smx_embedding_fwd(y, table, tokens, N, D, V);
                check_close("y", y, want, N * D, 0, 1); // copies are exact
                smx_embedding_bwd(dtable, dy, tokens, N, D, V);
                check_close("dtable", dtable, want_table, V * D, 1e-6, 4); // about 8 additions each
                check_done();
            }
    }
}

static void gather(void **state) {
    (void)state;
    CHECK_EACH_ISA(isa) {
        for (size_t k = 0; k < CHECK_COUNT(widths); k++)
            for (size_t M = 0; M <= 9; M += 3) {
                const size_t D = widths[k], N = M > 6 ? 4200 : 9;
                check_trying("gather M=%zu D=%zu", M, D);
                const int32_t picks[9] = {8, -1, 0, 5, INT32_MIN, 3, 2100, 4199, 4096};
                float *x = check_random(N * D, -1, 1), *y = check_floats(M * D),
                      *dy = check_random(M * D, -1, 1);
                float *dx = check_floats(N * D);
                int32_t *rows = check_ints(M);
                if (M) memcpy(rows, picks, M * sizeof *rows);
                double *want = check_doubles(M * D), *want_dx = check_doubles(N * D);
                ref_gather_fwd(want, check_widen(x, N * D), rows, M, N, D);
                ref_gather_bwd(want_dx, check_widen(dy, M * D), rows, M, N, D);
                smx_gather_fwd(y, x, rows, M, N, D);
                check_close("y", y, want, M * D, 0, 1);
                smx_gather_bwd(dx, dy, rows, M, N, D);
                check_close("dx", dx, want_dx, N * D, 0, 1);
                check_done();
            }
    }
}

static void meanpool(void **state) {
    (void)state;
    const size_t lengths[] = {1, 2, 16, 31, 255, 256, 257, 600, 2100, 4200};
    CHECK_EACH_ISA(isa) {
        for (size_t k = 0; k < CHECK_COUNT(widths); k++)
            for (size_t l = 0; l < CHECK_COUNT(lengths); l++) {
                const size_t B = 3, L = lengths[l], D = widths[k], n = B * L * D;
                check_trying("meanpool L=%zu D=%zu", L, D);
                float *x = check_random(n, -1, 1), *y = check_floats(B * D), *dy = check_random(B * D, -1, 1);
                float *dx = check_floats(n);
                double *want = check_doubles(B * D), *want_dx = check_doubles(n);
                ref_meanpool_fwd(want, check_widen(x, n), B, L, D);
                ref_meanpool_bwd(want_dx, check_widen(dy, B * D), B, L, D);
                smx_meanpool_fwd(y, x, B, L, D);
                // Partial sums under 3 sqrt(L), rounded L times, over L.
                check_close("y", y, want, B * D, 6e-8 * (4 + 3 * sqrt((double)L)), 1);
                smx_meanpool_bwd(dx, dy, B, L, D);
                check_close("dx", dx, want_dx, n, 6e-8, -1);
                check_done();
            }
    }
}

static void rope(void **state) {
    (void)state;
    static const struct {
        size_t B, L, D, H, extra;
    } shapes[] = {{0, 3, 4, 1, 0},  {1, 1, 2, 1, 0},  {2, 5, 12, 3, 1},   {1, 7, 16, 1, 0},
                  {2, 9, 32, 2, 3}, {2, 4, 36, 2, 0}, {1, 33, 64, 2, 64}, {2, 3, 46, 1, 0}};
    CHECK_EACH_ISA(isa) {
        for (size_t k = 0; k < CHECK_COUNT(shapes); k++) {
            const size_t B = shapes[k].B, L = shapes[k].L, D = shapes[k].D, H = shapes[k].H, d = D / H;
            const size_t ldx = D + shapes[k].extra, ldy = D + 2 * shapes[k].extra, nx = B * L * ldx,
                         ny = B * L * ldy;
            check_trying("rope B=%zu L=%zu D=%zu H=%zu extra=%zu", B, L, D, H, shapes[k].extra);
            double *table = check_doubles(L * d);
            ref_rope_table(table, L, d, 10000.0);
            float *cs = check_floats(L * d), *x = check_random(nx, -1, 1), *y = check_filled(ny, 0.5f);
            for (size_t i = 0; i < L * d; i++) cs[i] = (float)table[i];
            double *csd = check_widen(cs, L * d), *want = check_widen(y, ny);
            ref_rope_fwd(want, check_widen(x, nx), csd, B, L, D, H, ldx, ldy);
            smx_rope_fwd(y, x, cs, B, L, D, H, ldx, ldy);
            check_close("y", y, want, ny, 1.5e-7, 1);
            float *in_place = check_copy(x, nx), *apart = check_copy(x, nx);
            smx_rope_fwd(apart, x, cs, B, L, D, H, ldx, ldx);
            smx_rope_fwd(in_place, in_place, cs, B, L, D, H, ldx, ldx);
            check_same("in place", in_place, apart, nx);

            float *dy = check_random(ny, -1, 1), *dx = check_filled(nx, 0.5f), *back = check_filled(nx, 0.5f);
            double *want_dx = check_widen(dx, nx), *there = check_widen(x, nx);
            ref_rope_bwd(want_dx, check_widen(dy, ny), csd, B, L, D, H, ldx, ldy);
            smx_rope_bwd(dx, dy, cs, B, L, D, H, ldx, ldy);
            check_close("dx", dx, want_dx, nx, 1.5e-7, 1);
            smx_rope_bwd(back, y, cs, B, L, D, H, ldx, ldy); // a turn and the turn back
            for (size_t i = 0; i < nx; i++)
                if (i % ldx >= D) there[i] = 0.5;
            check_close("turned back", back, there, nx, 4e-7, 1);
            check_done();
        }
    }
}

// The oracle's angles, as printed: pair m of d columns turns by t 10000^(-2m/d) (Su et al. 2021, Eq. 15), and
// the same in sinusoidal positions (Vaswani et al. 2017, Sec. 3.5), here written out.
static void angles(void **state) {
    (void)state;
    enum { L = 40, D = 8 };
    static const double rate[D / 2] = {1, 0.1, 0.01, 0.001},
                                 of_6[3] = {1, 0.046415888336127795, 0.0021544346900318843};
    double table[L * D], positions[L * D];
    ref_rope_table(table, L, D, 10000);
    ref_sinusoidal(positions, L, D, 10000);
    for (size_t t = 0; t < L; t++)
        for (size_t m = 0; m < D / 2; m++) {
            const double c = cos((double)t * rate[m]), s = sin((double)t * rate[m]);
            const double *pair = table + t * D + 2 * m, *column = positions + t * D + 2 * m;
            if (!(fabs(pair[0] - c) < 1e-14 && fabs(pair[1] - s) < 1e-14))
                check_fail("pair %zu of row %zu turns by (%g, %g), not (%g, %g)", m, t, pair[0], pair[1], c,
                           s);
            if (!(fabs(column[0] - s) < 1e-14 && fabs(column[1] - c) < 1e-14))
                check_fail("position %zu, columns %zu: (%g, %g), not (%g, %g)", t, 2 * m, column[0],
                           column[1], s, c);
        }
    // Three pairs, an odd number of columns, another base.
    ref_rope_table(table, L, 6, 10000);
    ref_sinusoidal(positions, L, 5, 32);
    for (size_t t = 0; t < L; t++) {
        for (size_t m = 0; m < 3; m++)
            assert_true(fabs(table[t * 6 + 2 * m] - cos((double)t * of_6[m])) < 1e-13);
        for (size_t c = 0; c < 5; c++) { // 32^(-2m/5) = 4^-m
            const double angle = (double)t / (double)(1 << 2 * (c / 2));
            assert_true(fabs(positions[t * 5 + c] - (c % 2 ? cos(angle) : sin(angle))) < 1e-13);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(embedding), cmocka_unit_test(gather), cmocka_unit_test(meanpool),
        cmocka_unit_test(rope),      cmocka_unit_test(angles),
    };
    return cmocka_run_group_tests_name("embedding", tests, NULL, NULL);
}
