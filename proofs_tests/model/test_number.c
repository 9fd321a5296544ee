// test_number.c: reading decimals against the C library's strtod, to the bit, ties and subnormals
// included; writing them so that they read back, in the fewest digits.
#include "proofs_tests/support/check.h"

#include <float.h>

#include "model/base/number.h"

enum { NUMBERS = 12000 };

static uint64_t word(void) { return check_next() << 32 ^ check_next(); }
static double any_double(void) {
    double x;
    do {
        const uint64_t w = word();
        memcpy(&x, &w, sizeof x);
    } while (!isfinite(x));
    return x;
}

static void reads(const char *text) {
    char *end = NULL, *expected_end = NULL;
    const double got = number_read(text, &end), expected = strtod(text, &expected_end);
    check_trying("%.200s", text);
    if (memcmp(&got, &expected, sizeof got)) check_fail("%a, the C library reads %a", got, expected);
    if (end != expected_end)
        check_fail("ends after %td characters, the C library's after %td", end - text, expected_end - text);
}

static void reads_every_double(void **state) {
    (void)state;
    check_seed(1);
    char text[2048];
    for (int i = 0; i < NUMBERS; i++) {
        const double x = any_double();
        for (int digits = 1; digits <= 17; digits += 4) {
            snprintf(text, sizeof text, "%.*g", digits, x);
            reads(text);
        }
        snprintf(text, sizeof text, "%.6f", check_uniform(-1e6, 1e6));
        reads(text);
        snprintf(text, sizeof text, "%.*e", (int)(word() % 60), check_uniform(-1, 1));
        reads(text);
    }
}

// Exactly half way between two doubles, and a digit beyond: an 80-bit long double holds the middle.
static void reads_ties(void **state) {
    (void)state;
    if (LDBL_MANT_DIG < 54) {
        print_message("a long double is no longer than a double on this machine\n");
        skip();
    }
    check_seed(2);
    char text[2048];
    for (int i = 0; i < 3000; i++) {
        double x = fabs(any_double());
        if (i % 3 == 0) x = ldexp((double)(word() >> 11), -1074); // subnormal and just above
        if (i % 3 == 1) x = ldexp((double)(word() >> 11), (int)(word() % 200) - 120);
        const double next = nextafter(x, INFINITY);
        if (!isfinite(next)) continue;
        const long double middle = ((long double)x + (long double)next) / 2;
        snprintf(text, sizeof text, "%.1100Le", middle);
        reads(text);
        char *exponent = strchr(text, 'e'), tail[32];
        snprintf(tail, sizeof tail, "1%s", exponent);
        memcpy(exponent, tail, strlen(tail) + 1);
        reads(text);
    }
}

static void reads_edges(void **state) {
    (void)state;
    static const char *const texts[] = {
        "0",
        "-0",
        "0.0",
        ".5",
        "5.",
        "-.5e1",
        "+3",
        "1e",
        "1e+",
        "1e-",
        "1.5e3x",
        "00012.500",
        "1e400",
        "-1e400",
        "1e-400",
        "1e99999999999",
        "1e-99999999999",
        "0e99999999999",
        "4.9e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "2.2250738585072011e-308",
        "2.2250738585072014e-308",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "9007199254740993",
        "9007199254740992.5",
        "18446744073709551616",
        "1e22",
        "1e23",
        "8.5e22",
        "123456789012345678901234567890",
        "0.000000000000000000000000000000000000001",
        "",
        "-",
        ".",
        "e5",
        "-.e5",
        "1..5",
        "1.5.5",
    };
    for (size_t i = 0; i < CHECK_COUNT(texts); i++) reads(texts[i]);
    // More digits than are kept: the last ones still break the tie.
    char text[3000] = "9007199254740993.";
    memset(text + strlen(text), '0', 2000);
    text[2017] = 0;
    reads(text);
    text[2016] = '1';
    reads(text);
    // What strtod would read and this does not.
    const char *const refused[] = {" 1", "inf", "nan", "x", "infinity"};
    for (size_t i = 0; i < CHECK_COUNT(refused); i++) {
        char *end;
        assert_true(number_read(refused[i], &end) == 0.0);
        assert_ptr_equal(end, refused[i]);
    }
    char *end;
    assert_true(number_read("0x10", &end) == 0.0);
    assert_string_equal(end, "x10");
}

static void writes(double x, const char *expected) {
    char text[NUMBER_TEXT];
    assert_string_equal(number_write(text, x), expected);
}
static void writes_what_reads_back(void **state) {
    (void)state;
    writes(0.0, "0");
    writes(-0.0, "-0");
    writes(1.0, "1");
    writes(0.1, "0.1");
    writes(-0.99999, "-0.99999");
    writes(65536.0, "65536");
    writes(4294967295.0, "4294967295");
    writes(9007199254740991.0, "9007199254740991");
    writes(1e16, "10000000000000000");
    writes(1e17, "1e17");
    writes(1e-12, "1e-12");
    writes(0.00012, "0.00012");
    writes(1.5e-7, "1.5e-7");
    writes(123.456, "123.456");
    writes(1e30, "1e30");
    writes(0.1 + 0.2, "0.30000000000000004");
    check_seed(3);
    for (int i = 0; i < NUMBERS; i++) {
        char text[NUMBER_TEXT], other[64];
        const double x =
            i % 2 ? ldexp((double)(int64_t)word(), (int)(word() % 120) - 120) : check_uniform(-100, 100);
        check_trying("%a", x);
        if (number_read(number_write(text, x), NULL) != x) check_fail("is written as %s", text);
        for (int digits = 1; digits < 17; digits++) {
            snprintf(other, sizeof other, "%.*e", digits - 1, x);
            if (strtod(other, NULL) != x) continue;
            size_t used = 0, zeros = 0;
            for (const char *p = text; *p && *p != 'e'; p++)
                if (*p >= '1' && *p <= '9')
                    used += 1 + zeros, zeros = 0;
                else if (*p == '0' && used)
                    zeros++;
            if (used > (size_t)digits)
                check_fail("is written as %s, %d digits are enough: %s", text, digits, other);
            break;
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_double),
        cmocka_unit_test(reads_ties),
        cmocka_unit_test(reads_edges),
        cmocka_unit_test(writes_what_reads_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
