// cmocka.h: the part of cmocka that tests of the library use, where cmocka itself is not: a 32-bit build and
// Windows (bits32.sh and windows.sh in package/elsewhere). A check that fails ends the program. The results
// are TAP.
#ifndef PLAIN_CMOCKA_H
#define PLAIN_CMOCKA_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _WIN32 // (what it aligns is not free's to take back; a test ends soon)
#include <malloc.h>
#define posix_memalign(p, to, size) (!(*(p) = _aligned_malloc(size, to)))
#define free(p) ((void)(p))
#endif

struct CMUnitTest {
    const char *name;
    void (*test)(void **state);
};
#define cmocka_unit_test(f)                                                                                  \
    { #f, f }
#define cmocka_run_group_tests_name(group, tests, setup, teardown)                                           \
    plain_run(tests, sizeof(tests) / sizeof *(tests))

static inline int plain_run(const struct CMUnitTest *tests, size_t n) {
    void *state = NULL;
    printf("1..%zu\n", n);
    for (size_t i = 0; i < n; i++) {
        tests[i].test(&state);
        printf("ok %zu - %s\n", i + 1, tests[i].name);
        fflush(stdout);
    }
    return 0;
}
__attribute__((format(printf, 1, 2))) static inline void print_message(const char *format, ...) {
    va_list list;
    va_start(list, format);
    printf("# ");
    vprintf(format, list);
    va_end(list);
}
__attribute__((format(printf, 1, 2))) _Noreturn static inline void fail_msg(const char *format, ...) {
    va_list list;
    va_start(list, format);
    printf("not ok - ");
    vprintf(format, list);
    va_end(list);
    putchar('\n');
    exit(1);
}
#define assert_true(x) ((x) ? (void)0 : fail_msg("%s:%d: %s does not hold", __FILE__, __LINE__, #x))
#define assert_false(x) assert_true(!(x))
#define assert_null(x) assert_true((x) == NULL)
#define assert_non_null(x) assert_true((x) != NULL)
#define assert_int_equal(a, b) assert_true((a) == (b))
#define assert_int_not_equal(a, b) assert_true((a) != (b))
#define assert_string_equal(a, b) assert_true(!strcmp(a, b))
#define assert_memory_not_equal(a, b, n) assert_true(memcmp(a, b, n))
#define assert_memory_equal(a, b, n) assert_true(!memcmp(a, b, n))

#endif
