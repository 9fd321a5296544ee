// check.h: what the kernel tests share: seeded inputs, guarded and deliberately unaligned arrays, comparison
// with the double oracle, and the loop over instruction sets. A failure names the case, the instruction set
// and the index.
#ifndef CHECK_H
#define CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <seqmix/smx.h>

#define CHECK_UNUSED __attribute__((unused))
#define CHECK_COUNT(array) (sizeof(array) / sizeof *(array))

// One line that says what is being tried; every failure repeats it.
static char check_case[256];
static CHECK_UNUSED __attribute__((format(printf, 1, 2))) void check_trying(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(check_case, sizeof check_case, format, arguments);
    va_end(arguments);
}
#define check_fail(...)                                                                                      \
    do {                                                                                                     \
        char text_[256];                                                                                     \
        snprintf(text_, sizeof text_, __VA_ARGS__);                                                          \
        fail_msg("%s [%s]: %s", check_case, smx_isa(), text_);                                               \
    } while (0)

// Runs the statement that follows once for each usable instruction set; `name` is bound to its name. With
// SMX_FAST=1 in the environment: in fast mode, on those that have one.
#define CHECK_EACH_ISA(name)                                                                                 \
    for (const char *name = smx_isa_name(0), **once_ = &name; *once_; *once_ = check_next_isa(name))         \
        if (smx_isa_choose(name) != 0)                                                                       \
            check_fail("instruction set %s cannot be chosen", name);                                         \
        else if (check_other_mode())                                                                         \
            continue;                                                                                        \
        else
static CHECK_UNUSED int check_other_mode(void) {
    const char *fast = getenv("SMX_FAST");
    const int wanted = fast && !strcmp(fast, "1");
    smx_fast(wanted);
    return wanted && !smx_fast_isa();
}
static CHECK_UNUSED const char *check_next_isa(const char *name) {
    for (size_t i = 0;; i++)
        if (!strcmp(smx_isa_name(i), name)) return smx_isa_name(i + 1);
}

// ---- Seeded numbers (splitmix64) ------------------------------------------------------------------------
static uint64_t check_state = 1;
static CHECK_UNUSED void check_seed(uint64_t seed) { check_state = seed; }
static CHECK_UNUSED uint64_t check_next(void) {
    uint64_t z = check_state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}
static CHECK_UNUSED double check_uniform(double low, double high) {
    return low + (high - low) * ((double)(check_next() >> 11) * 0x1p-53);
}

// ---- Guarded arrays -------------------------------------------------------------------------------------
// Data starts 4 bytes past a multiple of 64 (scratch: at one). 64 guard bytes stand on both sides; with
// AddressSanitizer the array ends where the block ends, so that reading past it is caught as well. check_done
// looks at every guard.
#if defined(__SANITIZE_ADDRESS__)
#define CHECK_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CHECK_ASAN 1
#endif
#endif
#ifdef CHECK_ASAN
enum { CHECK_AFTER = 0 };
#else
enum { CHECK_AFTER = 64 };
#endif
enum { CHECK_GUARD = 0xA5, CHECK_MAX_BLOCKS = 1024 };
static struct {
    unsigned char *block;
    size_t before, bytes;
} check_blocks[CHECK_MAX_BLOCKS];
static size_t check_n_blocks;

static CHECK_UNUSED void *check_memory(size_t bytes, size_t before) {
    void *block = NULL;
#ifdef __GLIBC__ // what is released is given out again: pages fresh from the kernel take longer than a test
    static int kept;
    if (!kept++) mallopt(M_MMAP_THRESHOLD, 1 << 25), mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
    if (check_n_blocks == CHECK_MAX_BLOCKS || posix_memalign(&block, 64, before + bytes + CHECK_AFTER) != 0)
        check_fail("no memory for %zu bytes", bytes);
    unsigned char *data = (unsigned char *)block + before;
    memset(block, CHECK_GUARD, before);
    memset(data, 0xFF, bytes); // NaN: whatever is not written, or read too soon, shows
    memset(data + bytes, CHECK_GUARD, CHECK_AFTER);
    check_blocks[check_n_blocks].block = block;
    check_blocks[check_n_blocks].before = before;
    check_blocks[check_n_blocks++].bytes = bytes;
    return data;
}
static CHECK_UNUSED float *check_floats(size_t n) { return check_memory(n * sizeof(float), 68); }
static CHECK_UNUSED int32_t *check_ints(size_t n) { return check_memory(n * sizeof(int32_t), 68); }
static CHECK_UNUSED double *check_doubles(size_t n) { return check_memory(n * sizeof(double), 64); }
static CHECK_UNUSED void *check_scratch(size_t bytes) { return check_memory(bytes, 64); }

static CHECK_UNUSED float *check_random(size_t n, double low, double high) {
    float *x = check_floats(n);
    for (size_t i = 0; i < n; i++) x[i] = (float)check_uniform(low, high);
    return x;
}
static CHECK_UNUSED float *check_filled(size_t n, float value) {
    float *x = check_floats(n);
    for (size_t i = 0; i < n; i++) x[i] = value;
    return x;
}
static CHECK_UNUSED float *check_copy(const float *from, size_t n) {
    float *x = check_floats(n);
    if (n) memcpy(x, from, n * sizeof *x);
    return x;
}
static CHECK_UNUSED int32_t *check_random_ints(size_t n, int32_t low, int32_t high) { // low <= x < high
    int32_t *x = check_ints(n);
    for (size_t i = 0; i < n; i++) x[i] = low + (int32_t)(check_next() % (uint64_t)(high - low));
    return x;
}
static CHECK_UNUSED double *check_widen(const float *from, size_t n) {
    double *x = check_doubles(n);
    for (size_t i = 0; i < n; i++) x[i] = from[i];
    return x;
}

// The guards of every array since the last call, which are then released.
static CHECK_UNUSED void check_guard(const unsigned char *data, size_t array, size_t bytes, ptrdiff_t from,
                                     ptrdiff_t to) {
    for (ptrdiff_t i = from; i < to; i++)
        if (data[i] != CHECK_GUARD)
            check_fail("array %zu of %zu bytes was overrun at byte %td", array, bytes, i);
}
static CHECK_UNUSED void check_done(void) {
    for (size_t b = 0; b < check_n_blocks; b++) {
        const size_t before = check_blocks[b].before, bytes = check_blocks[b].bytes;
        const unsigned char *data = check_blocks[b].block + before;
        check_guard(data, b, bytes, -(ptrdiff_t)before, 0);
        check_guard(data, b, bytes, (ptrdiff_t)bytes, (ptrdiff_t)bytes + CHECK_AFTER);
    }
    while (check_n_blocks) free(check_blocks[--check_n_blocks].block);
}

// ---- Comparison -----------------------------------------------------------------------------------------
// |got - want| <= tolerance scale; scale 0 takes the largest |want|, a negative one each |want| by itself.
// NaN on one side only, and infinities that differ, fail.
static CHECK_UNUSED void check_close(const char *what, const float *got, const double *want, size_t n,
                                     double tolerance, double scale) {
    double largest = 0.0;
    for (size_t i = 0; i < n; i++)
        if (isfinite(want[i]) && fabs(want[i]) > largest) largest = fabs(want[i]);
    for (size_t i = 0; i < n; i++) {
        const double g = got[i], w = want[i];
        if (isnan(g) != isnan(w)) check_fail("%s[%zu] of %zu is %g, expected %g", what, i, n, g, w);
        if (isnan(w) || g == w) continue;
        if (isinf(w) || isinf(g)) check_fail("%s[%zu] of %zu is %g, expected %g", what, i, n, g, w);
        const double bound = tolerance * (scale > 0 ? scale : scale == 0 ? largest : fabs(w));
        if (!(fabs(g - w) <= bound))
            check_fail("%s[%zu] of %zu is %.9g, expected %.9g: off by %.3g, allowed %.3g", what, i, n, g, w,
                       fabs(g - w), bound);
    }
}
// The same words; any NaN equals any NaN.
static CHECK_UNUSED void check_same(const char *what, const float *got, const float *want, size_t n) {
    for (size_t i = 0; i < n; i++) {
        uint32_t g, w;
        memcpy(&g, got + i, 4);
        memcpy(&w, want + i, 4);
        if (g != w && !(isnan(got[i]) && isnan(want[i])))
            check_fail("%s[%zu] of %zu is %.9g (0x%08x), expected the word of %.9g (0x%08x)", what, i, n,
                       got[i], g, want[i], w);
    }
}

// ---- The cheap gradient check ---------------------------------------------------------------------------
// loss(x, context) = <weights, forward(x)> in double. Its central difference along a random direction must
// equal the kernel's gradient along it. `tolerance` is relative to sum |gradient direction|: float kernel
// against h = 1e-5.
typedef double check_loss(const double *x, void *context);
static CHECK_UNUSED void check_direction(const char *what, check_loss *loss, void *context, const float *x,
                                         const float *gradient, size_t n, double tolerance) {
    const double h = 1e-5;
    double *at = check_doubles(n), *direction = check_doubles(n), along = 0.0, scale = 0.0;
    for (size_t i = 0; i < n; i++) {
        direction[i] = check_uniform(-1, 1);
        along += direction[i] * (double)gradient[i];
        scale += fabs(direction[i] * (double)gradient[i]);
    }
    for (size_t i = 0; i < n; i++) at[i] = (double)x[i] + h * direction[i];
    const double up = loss(at, context);
    for (size_t i = 0; i < n; i++) at[i] = (double)x[i] - h * direction[i];
    const double slope = (up - loss(at, context)) / (2 * h);
    if (!(fabs(slope - along) <= tolerance * scale))
        check_fail("%s: slope %.9g, gradient along the direction %.9g, allowed difference %.3g", what, slope,
                   along, tolerance * scale);
}
static CHECK_UNUSED double check_inner(const double *a, const double *b, size_t n) {
    double s = 0.0;
    for (size_t i = 0; i < n; i++) s += a[i] * b[i];
    return s;
}

#endif
