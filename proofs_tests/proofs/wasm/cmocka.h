// cmocka.h: the part of cmocka that the proofs use, for the WebAssembly module that runs them in a browser. A
// group's tests are listed instead of run; a check that fails says why and traps, which ends the instance, as
// a failed process would.
#ifndef VERIFY_CMOCKA_H
#define VERIFY_CMOCKA_H

#include <stddef.h>

struct CMUnitTest {
    const char *name;
    void (*test)(void **state);
};
#define cmocka_unit_test(f)                                                                                  \
    { #f, f }
#define cmocka_run_group_tests_name(group, tests, setup, teardown)                                           \
    verify_list(group, tests, sizeof(tests) / sizeof *(tests))
int verify_list(const char *group, const struct CMUnitTest *tests, size_t n);

void print_message(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void fail_msg(const char *format, ...) __attribute__((format(printf, 1, 2)));
#define assert_true(x) ((x) ? (void)0 : fail_msg("%s:%d: %s does not hold", __FILE__, __LINE__, #x))
#define assert_int_equal(a, b) verify_equal((long long)(a), (long long)(b), __FILE__, __LINE__, #a)
static inline void verify_equal(long long a, long long b, const char *file, int line, const char *what) {
    if (a != b) fail_msg("%s:%d: %s is %lld, not %lld", file, line, what, a, b);
}

#endif
