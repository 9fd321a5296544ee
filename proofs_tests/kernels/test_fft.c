// test_fft.c: the real transform against a sum in double, there and back; the long convolution by it against
// the oracle's direct sums: lengths around powers of two, taps short of L and past it, squash, skip, part of
// a wider array.
#include "proofs_tests/support/check.h"
#include <seqmix/ref.h>

static float *table_for(size_t N) {
    float *table = check_floats(smx_fft_table_floats(N));
    smx_fft_table(table, N);
    return table;
}

// log2 N levels of rounding on values that add up like a random walk: eps log2 N of the largest is generous.
static double fft_tolerance(size_t N) { return 6e-8 * (2 + log2((double)N)); }

static void rfft(void **state) {
    (void)state;
    static const size_t widths[] = {1, 15, 16, 17, 35};
    CHECK_EACH_ISA(isa) {
        for (size_t N = 1; N <= 1024; N *= 2) {
            const size_t B = N < 64 ? 2 : 1, D = widths[N % 5], F = N / 2 + 1;
            check_trying("rfft B=%zu N=%zu D=%zu", B, N, D);
            float *x = check_random(B * N * D, -1, 1), *table = table_for(N), *back = check_floats(B * N * D);
            float *spectrum = check_floats(B * F * 2 * D);
            double *want = check_doubles(B * F * 2 * D), *xd = check_widen(x, B * N * D);
            for (size_t b = 0; b < B; b++)
                for (size_t k = 0; k < F; k++)
                    for (size_t c = 0; c < D; c++) {
                        double re = 0, im = 0;
                        for (size_t t = 0; t < N; t++) {
                            const double a = 2 * M_PI * (double)(k * t % N) / (double)N,
                                         v = x[(b * N + t) * D + c];
                            re += v * cos(a);
                            im -= v * sin(a);
                        }
                        if (k == 0 || 2 * k == N) im = 0; // exact zeros
                        want[((b * F + k) * 2) * D + c] = re;
                        want[((b * F + k) * 2 + 1) * D + c] = im;
                    }
            smx_rfft_fwd(spectrum, x, table, check_scratch(smx_rfft_scratch_bytes(N)), B, N, D);
            check_close("spectrum", spectrum, want, B * F * 2 * D, fft_tolerance(N), 0);
            smx_rfft_inv(back, spectrum, table, check_scratch(smx_rfft_scratch_bytes(N)), B, N, D);
            check_close("there and back", back, xd, B * N * D, fft_tolerance(N), 0);
            // A table for a longer transform serves a shorter one, to the last bit.
            float *other = check_floats(B * F * 2 * D);
            smx_rfft_fwd(other, x, table_for(4 * N), check_scratch(smx_rfft_scratch_bytes(N)), B, N, D);
            check_same("with a longer table", other, spectrum, B * F * 2 * D);
            check_done();
        }
    }
}

// Long ones: there and back, and a few frequencies by their sums.
static void long_rfft(void **state) {
    (void)state;
    CHECK_EACH_ISA(isa) {
        for (size_t N = 8192; N <= 131072; N *= 16) {
            const size_t F = N / 2 + 1, asked[] = {0, 1, 2, N / 8 + 1, N / 4, N / 3, N / 2 - 1, N / 2};
            check_trying("rfft N=%zu", N);
            float *x = check_random(N, -1, 1), *spectrum = check_floats(2 * F), *back = check_floats(N);
            float *table = table_for(N);
            smx_rfft_fwd(spectrum, x, table, check_scratch(smx_rfft_scratch_bytes(N)), 1, N, 1);
            for (size_t i = 0; i < CHECK_COUNT(asked); i++) {
                double re = 0, im = 0;
                for (size_t t = 0; t < N; t++) {
                    const double a = 2 * M_PI * (double)(asked[i] * t % N) / (double)N;
                    re += (double)x[t] * cos(a), im -= (double)x[t] * sin(a);
                }
                const float *is = spectrum + 2 * asked[i];
                if (fabs((double)is[0] - re) + fabs((double)is[1] - im) >
                    fft_tolerance(N) * 2 * sqrt((double)N))
                    check_fail("frequency %zu is (%g, %g), not (%g, %g)", asked[i], (double)is[0],
                               (double)is[1], re, im);
            }
            smx_rfft_inv(back, spectrum, table, check_scratch(smx_rfft_scratch_bytes(N)), 1, N, 1);
            check_close("there and back", back, check_widen(x, N), N, fft_tolerance(N), 0);
            check_done();
        }
    }
}

typedef struct {
    size_t B, L, D, taps, extra; // extra floats in each row
    float lambda;
    int skip;
} conv_shape;
static const conv_shape shapes[] = {
    {1, 1, 1, 1, 0, 0, 1},       {2, 2, 16, 2, 0, 0, 0},      {1, 3, 5, 3, 2, 0.3f, 1},
    {2, 7, 17, 4, 0, 0, 1},      {1, 8, 16, 20, 0, 0.2f, 1},  {3, 17, 12, 17, 4, 0, 0},
    {2, 64, 32, 64, 0, 0.4f, 0}, {1, 65, 20, 65, 0, 0, 1},    {1, 300, 18, 300, 0, 0, 1},
    {2, 513, 3, 600, 1, 0, 1},   {1, 1100, 16, 900, 0, 0, 1}, {0, 4, 16, 4, 0, 0, 1},
    {2, 0, 16, 0, 0, 0, 1},
};

// The largest value, but at least that of one product: kernel and skip may cancel.
static double scale_of(const double *want, size_t n) {
    double largest = 1;
    for (size_t i = 0; i < n; i++) largest = fmax(largest, fabs(want[i]));
    return largest;
}

static void longconv(void **state) {
    (void)state;
    CHECK_EACH_ISA(isa) {
        for (const conv_shape *s = shapes; s < shapes + CHECK_COUNT(shapes); s++) {
            check_trying("longconv B=%zu L=%zu D=%zu taps=%zu extra=%zu lambda=%g skip=%d", s->B, s->L, s->D,
                         s->taps, s->extra, (double)s->lambda, s->skip);
            const size_t ld = s->D + s->extra, n = s->B * s->L * ld, nk = s->D * s->taps;
            float *x = check_random(n, -1, 1), *dy = check_random(n, -1, 1), *k = check_random(nk, -1, 1);
            float *skip = check_random(s->D, -1, 1), *table = table_for(smx_longconv_rows(s->L));
            float *y = check_filled(n, 0.5f), *dx = check_filled(n, 0.5f), *dk = check_filled(nk, 0);
            float *dskip = check_filled(s->D, 0), *dk_only = check_filled(nk, 0);
            float *spectrum = check_floats(smx_longconv_spectrum_floats(s->L, s->D));
            const size_t bytes = smx_longconv_scratch_bytes(s->L);
            const double tolerance = 2 * fft_tolerance(smx_longconv_rows(s->L));
            double *xd = check_widen(x, n), *dyd = check_widen(dy, n), *kd = check_widen(k, nk);
            double *skip_d = s->skip ? check_widen(skip, s->D) : NULL;
            double *want_y = check_widen(y, n), *want_dx = check_widen(dx, n), *want_dk = check_widen(dk, nk);
            double *want_dskip = check_widen(dskip, s->D);
            ref_longconv_fwd(want_y, xd, kd, skip_d, s->B, s->L, s->D, s->taps, s->lambda, ld);
            ref_longconv_bwd(want_dx, want_dk, s->skip ? want_dskip : NULL, dyd, xd, kd, skip_d, s->B, s->L,
                             s->D, s->taps, s->lambda, ld);
            const smx_longconv p = {s->B, s->L, s->D, s->taps, s->lambda, ld};
            const smx_longconv_weights weights = {k, s->skip ? skip : NULL};
            smx_longconv_fwd(y, spectrum, x, &weights, table, check_scratch(bytes), &p);
            check_close("y", y, want_y, n, tolerance, scale_of(want_y, n)); // the gaps between rows stay 0.5
            smx_longconv_bwd(dx, &(smx_longconv_gradients){dk, s->skip ? dskip : NULL}, dy, x, &weights,
                             spectrum, table, check_scratch(bytes), &p);
            check_close("dx", dx, want_dx, n, tolerance, scale_of(want_dx, n));
            check_close("dk", dk, want_dk, nk, tolerance, scale_of(want_dk, nk));
            if (s->skip) check_close("dskip", dskip, want_dskip, s->D, tolerance, scale_of(want_dskip, s->D));
            smx_longconv_bwd(NULL, &(smx_longconv_gradients){dk_only, NULL}, dy, x, &weights, spectrum, table,
                             check_scratch(bytes), &p);
            check_same("dk without dx", dk_only, dk, nk);
            check_done();
        }
    }
}

// Sixteen channels at a time, each with its own part of the spectrum, give the words of the whole call.
static void longconv_splits(void **state) {
    (void)state;
    enum { B = 2, L = 50, D = 40, N = B * L * D };
    CHECK_EACH_ISA(isa) {
        check_trying("longconv of %d channels in parts", D);
        const size_t rows = smx_longconv_rows(L), bytes = smx_longconv_scratch_bytes(L);
        float *x = check_random(N, -1, 1), *k = check_random(D * L, -1, 1), *table = table_for(rows);
        float *y = check_floats(N), *part = check_floats(N), *dk = check_filled(D * L, 0),
              *dk1 = check_filled(D * L, 0);
        float *spectrum = check_floats(smx_longconv_spectrum_floats(L, D));
        float *spectrum1 = check_floats(smx_longconv_spectrum_floats(L, D));
        float *dx = check_floats(N), *dx1 = check_floats(N);
        const smx_longconv whole = {B, L, D, L, 0, D};
        smx_longconv_fwd(y, spectrum, x, &(smx_longconv_weights){k, NULL}, table, check_scratch(bytes),
                         &whole);
        smx_longconv_bwd(dx, &(smx_longconv_gradients){dk, NULL}, y, x, &(smx_longconv_weights){k, NULL},
                         spectrum, table, check_scratch(bytes), &whole);
        for (size_t c = 0; c < D; c += 16) {
            const smx_longconv some = {B, L, D - c < 16 ? D - c : 16, L, 0, D};
            const smx_longconv_weights weights = {k + c * L, NULL};
            smx_longconv_fwd(part + c, spectrum1 + c * rows, x + c, &weights, table, check_scratch(bytes),
                             &some);
            smx_longconv_bwd(dx1 + c, &(smx_longconv_gradients){dk1 + c * L, NULL}, y + c, x + c, &weights,
                             spectrum1 + c * rows, table, check_scratch(bytes), &some);
        }
        check_same("y", part, y, N);
        check_same("dx", dx1, dx, N);
        check_same("dk", dk1, dk, D * L);
        check_done();
    }
}

// As long as the transform recurses: rows, input gradients and taps' gradients here and there against the
// direct sum in double. (2^15 rows and more transform in two levels; some lengths are no power of two.) A
// wrong twiddle, a block that is read at the wrong place or a wrap at the far end moves some of the rows
// by more than rounding does.
static void long_rows(void **state) {
    (void)state;
    static const size_t lengths[] = {1 << 13, 20000, 1 << 15, 1 << 16, 100003, 1 << 17};
    enum { D = 2, ROWS = 48 };
    for (size_t l = 0; l < CHECK_COUNT(lengths); l++) {
        const size_t L = lengths[l], n = L * D;
        check_trying("longconv of %zu rows", L);
        check_seed(80 + l);
        float *x = check_random(n, -1, 1), *k = check_random(n, -1, 1), *dy = check_random(n, -1, 1);
        float *y = check_floats(n), *dx = check_floats(n), *dk = check_filled(n, 0);
        float *table = table_for(smx_longconv_rows(L)),
              *spectrum = check_floats(smx_longconv_spectrum_floats(L, D));
        void *scratch = check_scratch(smx_longconv_scratch_bytes(L));
        const smx_longconv p = {1, L, D, L, 0, D};
        const smx_longconv_weights weights = {k, NULL};
        smx_longconv_fwd(y, spectrum, x, &weights, table, scratch, &p);
        smx_longconv_bwd(dx, &(smx_longconv_gradients){dk, NULL}, dy, x, &weights, spectrum, table, scratch,
                         &p);
        // Rounding errors go in all directions: in proportion to the root of the rows.
        const double tolerance = 2 * fft_tolerance(smx_longconv_rows(L)) * sqrt((double)L);
        double worst = 0;
        for (size_t r = 0; r < ROWS; r++) {
            static const size_t ends[] = {0, 1, 15, 16};
            const size_t t = r < 4   ? ends[r]
                             : r < 8 ? L - 1 - ends[r - 4]
                                     : (size_t)(check_next() % L),
                         c = r % D;
            double want[3] = {0, 0, 0};
            for (size_t s = 0; s < L; s++) {
                if (s <= t) want[0] += (double)k[c * L + s] * (double)x[(t - s) * D + c];
                if (s + t < L) {
                    want[1] += (double)k[c * L + s] * (double)dy[(t + s) * D + c];
                    want[2] += (double)x[s * D + c] * (double)dy[(t + s) * D + c];
                }
            }
            const double got[3] = {y[t * D + c], dx[t * D + c], dk[c * L + t]};
            static const char *const names[] = {"y", "dx", "dk"};
            for (int a = 0; a < 3; a++) worst = fmax(worst, fabs(got[a] - want[a]));
            for (int a = 0; a < 3; a++)
                if (!(fabs(got[a] - want[a]) <= tolerance))
                    check_fail("%s at row %zu is %.9g, expected %.9g: off by %.3g, allowed %.3g", names[a], t,
                               got[a], want[a], fabs(got[a] - want[a]), tolerance);
        }
        print_message("%zu rows: off by at most %.3g, allowed %.3g\n", L, worst, tolerance);
        check_done();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rfft),      cmocka_unit_test(long_rfft),
        cmocka_unit_test(longconv),  cmocka_unit_test(longconv_splits),
        cmocka_unit_test(long_rows),
    };
    return cmocka_run_group_tests_name("fft", tests, NULL, NULL);
}
