// test_gemm.c: the matrix product against the oracle, all four transposes, sizes around every register tile
// and the block of SMX_KC products, with row strides larger than the rows.
#include "proofs_tests/support/check.h"
#include <seqmix/ref.h>

// A product of k terms of size <= 1: each term is rounded once, the running sum of a block of 256 once a
// term. The error is bounded by (256 + k/256 + 1) 2^-24 times the sum of |terms|; random signs keep it near
// the root. 4e-6 sqrt(k) |C| scale.
static double tolerance(size_t k) { return 2e-7 * sqrt((double)k) + 2e-7; }

static void one(size_t m, size_t n, size_t k, unsigned flags, size_t pad) {
    const int ta = (flags & SMX_TRANS_A) != 0, tb = (flags & SMX_TRANS_B) != 0;
    const size_t lda = (ta ? m : k) + pad, ldb = (tb ? k : n) + pad, ldc = n + pad;
    const size_t an = (ta ? k : m) * lda, bn = (tb ? n : k) * ldb, cn = m * ldc;
    check_trying("gemm m=%zu n=%zu k=%zu flags=%u pad=%zu", m, n, k, flags, pad);
    float *a = check_random(an, -1, 1), *b = check_random(bn, -1, 1);
    // Without SMX_ACCUMULATE C must never be read: it starts as NaN.
    float *c = flags & SMX_ACCUMULATE ? check_random(cn, -1, 1) : check_floats(cn),
          *start = check_copy(c, cn);
    double *ad = check_widen(a, an), *bd = check_widen(b, bn), *cd = check_widen(c, cn);
    void *scratch = check_scratch(smx_gemm_scratch_bytes(m, n, k));
    smx_gemm(c, a, b, scratch, m, n, k, lda, ldb, ldc, flags);
    ref_gemm(cd, ad, bd, m, n, k, lda, ldb, ldc, flags);
    for (size_t i = 0; i < m; i++) {
        check_close("c", c + i * ldc, cd + i * ldc, n, tolerance(k), sqrt((double)k) + 1);
        check_same("between rows", c + i * ldc + n, start + i * ldc + n, pad);
    }
    check_done();
}

static void shapes(void **state) {
    (void)state;
    static const size_t sizes[] = {0, 1, 3, 4, 5, 8, 11, 12, 13, 16, 17, 24, 31, 32, 33, 48, 65};
    CHECK_EACH_ISA(isa) {
        check_seed(11);
        for (size_t i = 0; i < CHECK_COUNT(sizes); i++)
            for (size_t j = 0; j < CHECK_COUNT(sizes); j++)
                for (unsigned flags = 0; flags < 8; flags++)
                    one(sizes[i], sizes[j], sizes[(i * 7 + j * 3) % CHECK_COUNT(sizes)], flags, (i + j) % 3);
    }
}

static void long_sums(void **state) {
    (void)state;
    static const size_t ks[] = {255, 256, 257, 511, 512, 513, 2048, 4200};
    CHECK_EACH_ISA(isa) {
        check_seed(12);
        for (size_t i = 0; i < CHECK_COUNT(ks); i++)
            for (unsigned flags = 0; flags < 8; flags++)
                one(13, 33, ks[i], flags, 1), one(48, 3, ks[i], flags, 1);
    }
}

// A row stride beyond 256 floats takes the packed path.
static void wide_rows(void **state) {
    (void)state;
    CHECK_EACH_ISA(isa) {
        check_seed(13);
        for (unsigned flags = 0; flags < 8; flags++) one(40, 320, 70, flags, 7), one(40, 20, 300, flags, 300);
    }
}

// Packed panels meet rows of A 1,024 at a time.
static void many_rows(void **state) {
    (void)state;
    CHECK_EACH_ISA(isa) {
        check_seed(14);
        for (unsigned flags = 0; flags < 8; flags++) one(1030, 33, 3, flags, 1);
    }
}

static void empty_sum(void **state) {
    (void)state;
    float c[4] = {1, 2, 3, 4}, a[1] = {0}, scratch[1];
    smx_gemm(c, a, a, scratch, 2, 2, 0, 1, 2, 2, SMX_ACCUMULATE);
    assert_true(c[0] == 1 && c[3] == 4);
    smx_gemm(c, a, a, scratch, 2, 2, 0, 1, 2, 2, 0);
    assert_true(c[0] == 0 && c[1] == 0 && c[2] == 0 && c[3] == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(shapes), cmocka_unit_test(long_sums),
                                       cmocka_unit_test(wide_rows), cmocka_unit_test(many_rows),
                                       cmocka_unit_test(empty_sum)};
    return cmocka_run_group_tests_name("gemm", tests, NULL, NULL);
}
