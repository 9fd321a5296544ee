// test_print.c: the modules' snprintf (wasm/print.c, included here under other names) against the C
// library's: every conversion that the modules' sources ask for, extreme values, every room; and that they
// ask for no other.
#include "proofs_tests/support/check.h"

#include <glob.h>
#include <limits.h>

#define vsnprintf print_vsnprintf
#define snprintf print_snprintf
#define sprintf print_sprintf
#include "wasm/print.c"
#undef vsnprintf
#undef snprintf
#undef sprintf

// Without a constant format gcc and clang cannot check it: these are pairs on purpose.
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
enum { ROOM = 80 };
#define SAME(format, ...)                                                                                    \
    for (size_t room = 0; room <= ROOM; room++) {                                                            \
        char expected[ROOM], got[ROOM];                                                                      \
        memset(expected, '#', sizeof expected);                                                              \
        memset(got, '#', sizeof got);                                                                        \
        const int n = snprintf(expected, room, format, __VA_ARGS__),                                         \
                  m = print_snprintf(got, room, format, __VA_ARGS__);                                        \
        check_trying("%s in %zu characters", format, room);                                                  \
        if (n != m) check_fail("says %d, the C library %d", m, n);                                           \
        if (memcmp(expected, got, sizeof got))                                                               \
            check_fail("writes '%.*s', the C library '%.*s'", ROOM, got, ROOM, expected);                    \
    }

static void writes_what_the_c_library_writes(void **state) {
    (void)state;
    static const char *const signed_ones[] = {"%lld", "<%lld>", "%3lld", "%03lld", "%024lld"};
    static const char *const unsigned_ones[] = {"%llu", "%llx", "%llX", "%02llX", "%08llx", "%9llu|"};
    static const long long values[] = {0,   1,    -1,      9,       10,        -10,
                                       255, 4096, INT_MAX, INT_MIN, LLONG_MAX, LLONG_MIN};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        for (size_t f = 0; f < sizeof signed_ones / sizeof *signed_ones; f++) SAME(signed_ones[f], values[i]);
        for (size_t f = 0; f < sizeof unsigned_ones / sizeof *unsigned_ones; f++)
            SAME(unsigned_ones[f], (unsigned long long)values[i]);
        SAME("%d %u %08x %04x", (int)values[i], (unsigned)values[i], (unsigned)values[i],
             (unsigned)values[i]);
        SAME("%016d|", (int)values[i]);
        SAME("%ld %zu %02X%%", (long)values[i], (size_t)values[i], (unsigned)values[i]);
    }
    static const char *const texts[] = {"", "x", "a sentence of some length", "% signs %s"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        SAME("%s", texts[i]);
        SAME("%s and %s.", texts[i], texts[3 - i]);
        SAME("%.100s %.9s: it must be %.1s", texts[i], texts[i], texts[i]);
        for (int most = -1; most < 12; most += 3) SAME("%c%.*s|", 'a' + most, most, texts[i]);
    }
}

static void writes_unterminated_text(void **state) {
    (void)state;
    const char letters[3] = {'a', 'b', 'c'};
    SAME("%.*s", 3, letters);
}

// Conversions inside the sources' strings. What writes tables for the program alone may use others.
static void sources_ask_for_nothing_else(void **state) {
    (void)state;
    static const char *const known[] = {"%",   "s",   "d",   "u",   "c",    "zu",  "ld", "lld",
                                        "llu", "02X", "04x", "08x", "016d", ".*s", "X" /* of %%XX */};
    glob_t files;
    size_t found = 0;
    assert_int_equal(glob("model/*/*.c", 0, NULL, &files), 0);
    glob("tasks/*.[ch]", GLOB_APPEND, NULL, &files);
    glob("tasks/*/*.[ch]", GLOB_APPEND, NULL, &files);
    glob("wasm/*.c", GLOB_APPEND, NULL, &files);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        if (strstr(files.gl_pathv[i], "/audit/") || strstr(files.gl_pathv[i], "print.c")) continue;
        FILE *file = fopen(files.gl_pathv[i], "r");
        assert_non_null(file);
        char line[4096];
        while (fgets(line, sizeof line, file))
            for (const char *at = line; (at = strchr(at, '%'));) {
                const size_t n = strspn(++at, "0123456789.*lz") + 1;
                char conversion[16];
                snprintf(conversion, sizeof conversion, "%.*s", (int)n, at);
                if (!strchr("%abcdefgiopsuxEFGX", at[n - 1]) || at[n - 1] == 0) continue; // the operator
                at += n;
                found++;
                int ok = conversion[0] == '.' && conversion[n - 1] == 's' &&
                         strspn(conversion + 1, "0123456789") == n - 2;
                for (size_t k = 0; k < sizeof known / sizeof *known; k++) ok |= !strcmp(conversion, known[k]);
                check_trying("%s", files.gl_pathv[i]);
                if (!ok) check_fail("asks for %%%s, which wasm/print.c does not know", conversion);
            }
        fclose(file);
    }
    globfree(&files);
    assert_true(found > 200);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_what_the_c_library_writes),
        cmocka_unit_test(writes_unterminated_text),
        cmocka_unit_test(sources_ask_for_nothing_else),
    };
    return cmocka_run_group_tests_name("print", tests, NULL, NULL);
}
