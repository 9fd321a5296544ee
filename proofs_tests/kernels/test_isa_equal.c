// test_isa_equal.c: the exact-mode contract between the instruction sets of this machine. Every kernel's
// output words, on the cases of digest.c and three seeds, equal those of the scalar build; any NaN equals any
// NaN. A caller's rounding mode or flush-to-zero changes nothing, nor does where arrays begin or what was in
// memory before; what is beside them stays; and a result is the same where it takes an argument's place.
#include "proofs_tests/support/check.h"
#include "kernels/digest.h"
#if defined(__x86_64__)
#include <immintrin.h>
#endif

// All outputs of one run, one after the other, with their names.
enum { MAX_WORDS = 1 << 20, MAX_ARRAYS = 4096 };
typedef struct {
    uint32_t *words;
    size_t used, arrays;
    struct {
        const char *what;
        size_t start;
    } array[MAX_ARRAYS];
} record;
static record first, second;

static void keep(void *context, const char *what, const void *words, size_t n) {
    record *r = context;
    if (r->arrays == MAX_ARRAYS || n > MAX_WORDS - r->used) {
        check_fail("more outputs than the test has room for");
        return;
    }
    r->array[r->arrays].what = what;
    r->array[r->arrays++].start = r->used;
    memcpy(r->words + r->used, words, 4 * n);
    r->used += n;
}

// Whether the row of kernels.txt has such an `in place` pair.
static int run_in(record *r, size_t kernel, uint64_t seed, smx_digest_memory memory) {
    r->used = r->arrays = 0;
    const int found = smx_digest_run(kernel, seed, &memory, keep, r);
    if (found == 1) return 0;
    if (found == -2) check_fail("bytes beside an array or beyond the scratch were written");
    if (found != 0) check_fail("no memory");
    if (r->used == 0) check_fail("the kernel gave no output");
    return 1;
}
static void run_kernel(record *r, size_t kernel, uint64_t seed) {
    run_in(r, kernel, seed, (smx_digest_memory){4, 0xFF, 0});
}

static int is_nan(uint32_t w) { return (w & 0x7fffffffu) > 0x7f800000u; }

static void compare(const record *got, const record *want) {
    if (got->used != want->used || got->arrays != want->arrays)
        check_fail("%zu words in %zu arrays, expected %zu in %zu", got->used, got->arrays, want->used,
                   want->arrays);
    if (!memcmp(got->words, want->words, 4 * got->used)) return;
    for (size_t i = 0, a = 0; i < got->used; i++) {
        while (a + 1 < got->arrays && got->array[a + 1].start <= i) a++;
        const uint32_t g = got->words[i], w = want->words[i];
        if (g != w && !(is_nan(g) && is_nan(w)))
            check_fail("output %zu, %s[%zu] is 0x%08x, expected 0x%08x", a, got->array[a].what,
                       i - got->array[a].start, g, w);
    }
}

static void same_words(void **state) {
    (void)state;
    for (size_t k = 0; k < smx_digest_count(); k++)
        for (uint64_t seed = 1; seed <= 3; seed++) {
            assert_int_equal(smx_isa_choose("scalar"), 0);
            check_trying("%s seed %d", smx_digest_name(k), (int)seed);
            run_kernel(&first, k, seed);
            CHECK_EACH_ISA(isa) {
                run_kernel(&second, k, seed);
                compare(&second, &first);
            }
        }
}

// Nor does anything hang on where arrays begin, or on what was in results and scratch before.
static void any_memory(void **state) {
    (void)state;
    static const smx_digest_memory others[] = {{0, 0x00, 0}, {20, 0x41, 0}, {60, 0xC1, 0}};
    for (size_t k = 0; k < smx_digest_count(); k++) CHECK_EACH_ISA(isa) {
            check_trying("%s", smx_digest_name(k));
            run_kernel(&first, k, 1);
            for (size_t i = 0; i < CHECK_COUNT(others); i++) {
                check_trying("%s, arrays %u bytes past a multiple of 64, after bytes 0x%02x",
                             smx_digest_name(k), others[i].offset, others[i].fill);
                run_in(&second, k, 1, others[i]);
                compare(&second, &first);
            }
        }
}

// Where kernels.txt says that a result may be an argument.
static void in_place(void **state) {
    (void)state;
    size_t pairs = 0;
    for (size_t k = 0; k < smx_digest_count(); k++) CHECK_EACH_ISA(isa) {
            run_kernel(&first, k, 1);
            check_trying("%s in place", smx_digest_name(k));
            for (int pair = 1; run_in(&second, k, 1, (smx_digest_memory){4, 0xFF, pair}); pair++, pairs++)
                compare(&second, &first);
        }
    if (!pairs) check_fail("kernels.txt has no such pair");
}

// Another seed must give other words: a sink that saw nothing, or a generator that stuck, would pass
// everything above.
static void seeds_matter(void **state) {
    (void)state;
    for (size_t k = 0; k < smx_digest_count(); k++) {
        check_trying("%s", smx_digest_name(k));
        run_kernel(&first, k, 1);
        run_kernel(&second, k, 2);
        if (first.used == second.used && !memcmp(first.words, second.words, 4 * first.used))
            check_fail("seeds 1 and 2 give the same words");
    }
}

static void same_digests(void **state) {
    (void)state;
    for (size_t k = 0; k < smx_digest_count(); k++) {
        assert_int_equal(smx_isa_choose("scalar"), 0);
        const char *name;
        const uint64_t want = smx_digest_kernel(k, &name);
        check_trying("digest of %s", name);
        if (want == 0) check_fail("no digest");
        CHECK_EACH_ISA(isa) {
            const uint64_t got = smx_digest_kernel(k, NULL);
            if (got != want)
                check_fail("0x%016llx, expected 0x%016llx", (unsigned long long)got,
                           (unsigned long long)want);
        }
        for (size_t other = 0; other < k; other++)
            if (smx_digest_kernel(other, NULL) == want)
                check_fail("the same as that of %s", smx_digest_name(other));
    }
    assert_null(smx_digest_name(smx_digest_count()));
    assert_int_equal(smx_digest_kernel(smx_digest_count(), NULL), 0);
}

// The word that says how this thread computes (MXCSR, FPCR), and which of its bits say so. STRANGE rounds
// down, or towards zero, and takes subnormal numbers for 0.
#if defined(__x86_64__)
enum { STRANGE = 0x2000 | 0x8000 | 0x0040, CONTROL = 0xffc0 };
static uint64_t control_word(void) { return _mm_getcsr(); }
static void set_control_word(uint64_t is) { _mm_setcsr((unsigned)is); }
#elif defined(__aarch64__)
enum { STRANGE = 3 << 22 | 1 << 24, CONTROL = -1 };
static uint64_t control_word(void) {
    uint64_t is;
    __asm__ volatile("mrs %0, fpcr" : "=r"(is));
    return is;
}
static void set_control_word(uint64_t is) { __asm__ volatile("msr fpcr, %0" : : "r"(is)); }
#else
enum { STRANGE = 0 };
#endif
static void environment(void **state) {
    (void)state;
#if defined(__x86_64__) || defined(__aarch64__)
    const uint64_t saved = control_word(), strange = saved | STRANGE;
    CHECK_EACH_ISA(isa) {
        for (size_t i = 0; i < 2; i++) {
            static const float x[2] = {0x1p-149f, 1.0f / 3}, a[2] = {0.1f, 0.7f};
            float normal, odd;
            smx_axpy((normal = 1e-8f, &normal), x + i, a[i], 1);
            set_control_word(strange);
            smx_axpy((odd = 1e-8f, &odd), x + i, a[i], 1);
            const uint64_t after = control_word();
            set_control_word(saved);
            check_trying("axpy in a strange floating-point environment");
            check_same("y", &odd, &normal, 1);
            if ((after & (uint64_t)CONTROL) != (strange & (uint64_t)CONTROL))
                check_fail("the control word was 0x%llx, is 0x%llx after", (unsigned long long)strange,
                           (unsigned long long)after);
        }
        float tiny = 0x1p-140f, two = 0.5f, product;
        set_control_word(strange);
        smx_mul(&product, &tiny, &two, 1);
        set_control_word(saved);
        const float want = 0x1p-141f;
        check_trying("mul of a denormal where the caller flushes");
        check_same("y", &product, &want, 1);
    }
#else
    print_message("no floating-point environment to disturb on this machine\n");
    skip();
#endif
}

// zen4 differs from avx512 by its narrow products alone (kernels/core/tile_narrow.h), with the same words:
// were they not chosen, every test of zen4 would be one of avx512.
extern _Atomic int smx_private_narrow;
static void narrow_where_chosen(void **state) {
    (void)state;
    const char *const before = smx_isa(), *name;
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; (name = smx_isa_name(i)); i++) {
            assert_int_equal(smx_isa_choose(name), 0);
            assert_string_equal(smx_isa(), name);
            if (smx_private_narrow != !strcmp(name, "zen4")) check_fail("%s: %d", name, smx_private_narrow);
        }
    assert_int_equal(smx_isa_choose(before), 0);
}

static int start(void **state) {
    (void)state;
    first.words = malloc(4 * (size_t)MAX_WORDS);
    second.words = malloc(4 * (size_t)MAX_WORDS);
    return first.words && second.words ? 0 : -1;
}
static int finish(void **state) {
    (void)state;
    free(first.words);
    free(second.words);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_words),  cmocka_unit_test(seeds_matter),        cmocka_unit_test(same_digests),
        cmocka_unit_test(environment), cmocka_unit_test(narrow_where_chosen), cmocka_unit_test(any_memory),
        cmocka_unit_test(in_place),
    };
    return cmocka_run_group_tests_name("isa_equal", tests, start, finish);
}
