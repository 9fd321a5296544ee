// test_rng.c: Philox against its authors' known answers; uniform, bounded and normal draws against their
// laws, at fixed seeds; streams and positions that do not meet.
#include "proofs_tests/support/check.h"

#include <seqmix/ref.h>

#include "kernels/core/philox.h"

// From the authors' kat_vectors (Random123): counter, key, result.
static void known_answers(void **state) {
    (void)state;
    static const uint32_t known[3][10] = {
        {0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
        {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0x408f276d, 0x41c83b0e,
         0xa20bc7c6, 0x6d5451fd},
        {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0, 0xd16cfe09, 0x94fdcceb,
         0x5001e420, 0x24126ea1},
    };
    for (size_t i = 0; i < 3; i++) {
        uint32_t out[4];
        philox4x32(out, known[i], known[i] + 4);
        for (size_t k = 0; k < 4; k++) assert_int_equal(out[k], known[i][6 + k]);
    }
}

static void words_in_order(void **state) {
    (void)state;
    smx_rng r = rng_open(0x1122334455667788, RNG_EVAL, 0x99aabbccddeeff00);
    const uint32_t key[2] = {0x55667788, 0x11223344};
    for (uint32_t block = 0; block < 5; block++) {
        uint32_t out[4];
        philox4x32(out, (const uint32_t[]){block, RNG_EVAL, 0xddeeff00, 0x99aabbcc}, key);
        for (size_t k = 0; k < 4; k++) assert_int_equal(rng_u32(&r), out[k]);
    }
}

// 5 standard deviations of chi^2 with k degrees of freedom (Wilson & Hilferty): one false alarm in 3 million.
static double chi2_limit(double k) {
    double t = 1 - 2 / (9 * k) + 5 * sqrt(2 / (9 * k));
    return k * t * t * t;
}

static void below_is_uniform(void **state) {
    (void)state;
    static const uint32_t sizes[] = {1, 2, 3, 7, 10, 64, 100, 1000};
    for (size_t s = 0; s < CHECK_COUNT(sizes); s++) {
        uint32_t n = sizes[s], draws = 200 * n + 20000;
        int *count = calloc(n, sizeof *count);
        assert_non_null(count);
        smx_rng r = rng_open(7, RNG_TRAIN, n);
        for (uint32_t i = 0; i < draws; i++) {
            uint32_t x = rng_below(&r, n);
            assert_true(x < n);
            count[x]++;
        }
        double chi2 = 0, expected = (double)draws / n;
        for (uint32_t i = 0; i < n; i++) chi2 += (count[i] - expected) * (count[i] - expected) / expected;
        free(count);
        check_trying("rng_below(%u)", n);
        if (n > 1 && !(chi2 < chi2_limit(n - 1)))
            check_fail("chi^2 %.1f, allowed %.1f", chi2, chi2_limit(n - 1));
    }
}

// A range of 3/4 of 2^32: high words of word * n without rejection would make every third value twice as
// likely.
static void below_has_no_bias(void **state) {
    (void)state;
    smx_rng r = rng_open(8, RNG_TRAIN, 0);
    int third = 0, low = 0, draws = 60000;
    for (int i = 0; i < draws; i++) {
        uint32_t x = rng_below(&r, 3u << 30);
        third += x % 3 == 0;
        low += x < 1u << 30;
    }
    assert_true(fabs(third - draws / 3.0) < 5 * sqrt(draws * 2 / 9.0));
    assert_true(fabs(low - draws / 3.0) < 5 * sqrt(draws * 2 / 9.0));
}

static void uniform_and_normal_moments(void **state) {
    (void)state;
    enum { N = 400000 };
    smx_rng r = rng_open(9, RNG_START, 0);
    double sum = 0, sum2 = 0;
    for (int i = 0; i < N; i++) {
        double u = rng_uniform(&r);
        assert_true(u >= 0 && u < 1 && u * 0x1p53 == floor(u * 0x1p53));
        sum += u;
        sum2 += u * u;
    }
    assert_true(fabs(sum / N - 0.5) < 5 * sqrt(1.0 / 12 / N));
    assert_true(fabs(sum2 / N - 1.0 / 3) < 5 * sqrt(4.0 / 45 / N));
    double m[7] = {0}, pairs = 0, last = 0;
    int bins[16] = {0};
    for (int i = 0; i < N; i++) {
        double z = rng_normal(&r), power = 1;
        assert_true(fabs(z) < 8.6);
        for (int k = 1; k < 7; k++) m[k] += power *= z;
        if (i % 2) pairs += z * last;
        last = z;
        bins[(int)fmin(fmax(floor(z * 2 + 8), 0), 15)]++;
    }
    // Moment k has mean 0, 1, 0, 3, 0, 15 and variance E z^2k - (E z^k)^2.
    static const double mean[7] = {1, 0, 1, 0, 3, 0, 15}, variance[7] = {0, 1, 2, 15, 96, 945, 10170};
    for (int k = 1; k < 7; k++) {
        check_trying("normal moment %d", k);
        if (!(fabs(m[k] / N - mean[k]) < 5 * sqrt(variance[k] / N)))
            check_fail("%g, expected %g", m[k] / N, mean[k]);
    }
    assert_true(fabs(pairs / (N / 2)) < 5 / sqrt(N / 2.0)); // cosine and sine of a pair do not correlate
    double chi2 = 0;
    for (int b = 0; b < 16; b++) {
        double from = b ? (b - 8) / 2.0 : -40, to = b < 15 ? (b - 7) / 2.0 : 40;
        double expected = N * 0.5 * (erfc(-to / sqrt(2)) - erfc(-from / sqrt(2)));
        chi2 += (bins[b] - expected) * (bins[b] - expected) / expected;
    }
    check_trying("normal histogram");
    if (!(chi2 < chi2_limit(15))) check_fail("chi^2 %.1f, allowed %.1f", chi2, chi2_limit(15));
}

static void streams_do_not_meet(void **state) {
    (void)state;
    // The first words of neighbours in seed, stream and index: all different.
    uint32_t seen[2 * 4 * 50];
    size_t n = 0;
    for (uint64_t seed = 0; seed < 2; seed++)
        for (uint32_t stream = RNG_START; stream <= RNG_SHUFFLE; stream++)
            for (uint64_t index = 0; index < 50; index++) {
                smx_rng r = rng_open(seed, stream, index);
                seen[n++] = rng_u32(&r);
            }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) assert_true(seen[i] != seen[j]);
}

static void same_bits_everywhere(void **state) {
    (void)state;
    smx_rng r = rng_open(1, RNG_START, 0);
    uint64_t h = 0xcbf29ce484222325;
    for (int i = 0; i < 20000; i++) h = (h ^ md_bits(rng_normal(&r))) * 0x100000001b3;
    if (h != 0x788c23ec9b492c77) check_fail("digest %016llx", (unsigned long long)h);
}

// The oracle's dropout: what is kept is scaled so that the mean stays, the share holds within five standard
// deviations, and neither steps, places, seeds nor neighbours are drawn alike.
static void dropped_numbers(void **state) {
    (void)state;
    enum { N = 1 << 16 };
    double *ones = malloc(N * sizeof *ones), *y = malloc(N * sizeof *y), *z = malloc(N * sizeof *z);
    for (size_t i = 0; i < N; i++) ones[i] = 1;
    static const double shares[] = {0.1, 0.25, 0.5, 0.9};
    for (size_t s = 0; s < CHECK_COUNT(shares); s++) {
        const double p = floor(shares[s] * 65536 + 0.5) / 65536, deviation = sqrt(p * (1 - p) * N);
        ref_dropout(y, ones, N, shares[s], 7, 3, 2);
        double dropped = 0;
        for (size_t i = 0; i < N; i++) {
            assert_true(y[i] == 0 || fabs(y[i] * (1 - p) - 1) < 1e-12);
            dropped += y[i] == 0;
        }
        if (fabs(dropped - p * N) > 5 * deviation) fail_msg("%g of %g are dropped", dropped / N, p);
        // Pairs dropped together: of the same number at another seed, step or place, and of neighbours.
        for (int other = 0; other < 4; other++) {
            ref_dropout(z, ones, N, shares[s], other == 0 ? 7ull << 32 : 7, other == 1 ? 4 : 3,
                        other == 2 ? 3 : 2);
            double both = 0;
            for (size_t i = 0; i + 1 < N; i++) both += y[i] == 0 && z[other == 3 ? i + 1 : i] == 0;
            if (fabs(both - p * p * N) > 5 * sqrt(p * p * (1 - p * p) * N) + 2 * p * 5 * deviation)
                fail_msg("pair %d: %g are dropped together, not %g", other, both, p * p * N);
        }
    }
    free(ones);
    free(y);
    free(z);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answers),
        cmocka_unit_test(words_in_order),
        cmocka_unit_test(below_is_uniform),
        cmocka_unit_test(below_has_no_bias),
        cmocka_unit_test(uniform_and_normal_moments),
        cmocka_unit_test(streams_do_not_meet),
        cmocka_unit_test(same_bits_everywhere),
        cmocka_unit_test(dropped_numbers),
    };
    return cmocka_run_group_tests_name("random numbers", tests, NULL, NULL);
}
