// test_mathd.c: the bounds that mathd.h states, against libm in long double; special values; the circle's
// symmetries; a digest of the bits, which pins them across compilers and machines.
#include "proofs_tests/support/check.h"

#include "kernels/core/mathd.h"

enum { POINTS = 150000 };

// Units in the last place of `want` (of the smallest normal number's subnormals below it).
static double ulps(double got, long double want) {
    int exponent;
    frexpl(want, &exponent);
    if (exponent < -1021) exponent = -1021;
    return (double)(fabsl((long double)got - want) / ldexpl(1, exponent - 53));
}

static void near(const char *what, double x, double got, long double want, double bound) {
    double off = ulps(got, want);
    if (!(off <= bound)) {
        check_trying("%s(%a)", what, x);
        check_fail("%a is %.3f ULP off, allowed %.2f", got, off, bound);
    }
}

static double spread(double low, double high) { return check_uniform(low, high); }
static double magnitudes(double most) { return exp2(check_uniform(-most, most)); }

static void exp_and_log(void **state) {
    (void)state;
    check_seed(1);
    for (int i = 0; i < POINTS; i++) {
        double x = spread(-745, 709.7);
        near("exp", x, md_exp(x), expl(x), 0.9);
        x = spread(-1, 1);
        near("exp", x, md_exp(x), expl(x), 0.9);
        x = magnitudes(1022);
        near("log", x, md_log(x), logl(x), 0.9);
        x = spread(0.5, 2);
        near("log", x, md_log(x), logl(x), 0.9);
        x = 1 + spread(-1, 1) * magnitudes(40) * 0x1p-42;
        near("log", x, md_log(x), logl(x), 0.9);
    }
    near("log", 0x1p-1074, md_log(0x1p-1074), logl(0x1p-1074L), 0.9);
    assert_true(md_exp(0) == 1 && md_exp(1000) == INFINITY && md_exp(-1000) == 0 && md_exp(-INFINITY) == 0);
    assert_true(md_log(1) == 0 && md_log(0) == -INFINITY && md_log(INFINITY) == INFINITY);
    assert_true(isnan(md_log(-1)) && isnan(md_log(NAN)) && isnan(md_exp(NAN)));
    assert_true(md_exp(709.78) < INFINITY && md_exp(709.79) == INFINITY);
}

static void power(void **state) {
    (void)state;
    check_seed(2);
    for (int i = 0; i < POINTS; i++) {
        double b = magnitudes(400), y = spread(-2, 2);
        near("pow", b, md_pow(b, y), powl(b, y), 0.9);
        b = 1 - spread(0, 0.1), y = floor(spread(0, 5000)); // decays to a step number
        near("pow", b, md_pow(b, y), powl(b, y), 0.9);
        b = 1 + floor(spread(0, 5000)), y = -0.99; // the gap law
        near("pow", b, md_pow(b, y), powl(b, y), 0.9);
    }
    for (int k = -1000; k <= 1000; k++) assert_true(md_pow(2, k) == ldexp(1, k));
    assert_true(md_pow(0, 2) == 0 && md_pow(0, -1) == INFINITY && md_pow(0, 0) == 1 && md_pow(5, 0) == 1);
    assert_true(md_pow(2, 1e300) == INFINITY && md_pow(0.5, 1e300) == 0 && md_pow(0.5, -1e300) == INFINITY);
    assert_true(isnan(md_pow(-1, 0.5)) && isnan(md_pow(2, NAN)));
}

static void sine_and_cosine(void **state) {
    (void)state;
    check_seed(3);
    double s, c;
    for (int i = 0; i < POINTS; i++) {
        double x = i % 2 ? spread(-0x1p21, 0x1p21) : spread(-8, 8);
        md_sincos(&s, &c, x);
        near("sin", x, s, sinl(x), 0.9);
        near("cos", x, c, cosl(x), 0.9);
        // Next to multiples of pi/2 the result is tiny: x - n pi/2, up to sign. Told apart from sinl and
        // cosl, as these need more digits of pi than some machines have.
        double n = floor(spread(1, 1e6));
        x = n * 1.57079632679489661923;
        md_sincos(&s, &c, x);
        // x = n pi/2 rounded: the distance is n (pi/2 - p) plus the product's rounding, computed exactly in
        // parts
        md_dd p = md_two_prod(n, 0x1.921fb54442d18p+0);
        long double rest =
            (long double)(x - p.hi) - p.lo - (long double)n * 6.12323399573676588613032966137500529e-17L;
        double small = (int64_t)n % 2 ? c : s;
        if (fabsl(rest) > 1e-12L) near("near a zero", x, fabs(small), fabsl(rest), 0.9);
    }
    md_sincos(&s, &c, 0);
    assert_true(s == 0 && c == 1);
    md_sincos(&s, &c, 3e6);
    assert_true(isnan(s) && isnan(c));
    md_sincos(&s, &c, NAN);
    assert_true(isnan(s) && isnan(c));
}

static void turns(void **state) {
    (void)state;
    check_seed(4);
    const long double tau = 6.283185307179586476925286766559005768L;
    double s, c, s2, c2;
    for (int i = 0; i < POINTS; i++) {
        uint64_t d = 1 + check_next() % (i % 2 ? 100000 : (uint64_t)1 << 53), n = check_next() % d;
        md_sincos_turn(&s, &c, n, d);
        if (n <
            d / 8) { // elsewhere the long double angle is not exact enough; symmetry carries the bound over
            near("sin of a turn", (double)n / (double)d, s, sinl(tau * (long double)n / (long double)d), 0.9);
            near("cos of a turn", (double)n / (double)d, c, cosl(tau * (long double)n / (long double)d), 0.9);
        }
        md_sincos_turn(&s2, &c2, d - n, d); // mirrored
        assert_true(s2 == -s && c2 == c);
        md_sincos_turn(&s2, &c2, 4 * n + d, 4 * d); // a quarter further
        assert_true(s2 == c && c2 == -s);
        md_sincos_turn(&s2, &c2, n + 5 * d, d); // whole turns
        assert_true(s2 == s && c2 == c);
        md_sincos_turn(&s2, &c2, 2 * n, 2 * d); // the same fraction
        assert_true(fabs(s2 - s) <= 0x1p-53 && fabs(c2 - c) <= 0x1p-53);
    }
    const double quarter[4][2] = {{0, 1}, {1, 0}, {0, -1}, {-1, 0}};
    for (uint64_t k = 0; k < 4; k++) {
        md_sincos_turn(&s, &c, k * 1000003, 4 * 1000003);
        assert_true(s == quarter[k][0] && c == quarter[k][1] && !signbit(s + 0.0) == !(quarter[k][0] < 0));
    }
    md_sincos_turn(&s, &c, 3, 24);
    assert_true(s == c && s == sqrt(0.5));
    md_sincos_turn(&s, &c, ((uint64_t)1 << 60) / 8, (uint64_t)1 << 60);
    assert_true(s == c && s == sqrt(0.5));
}

static void roots_and_rounding(void **state) {
    (void)state;
    check_seed(5);
    for (int i = 0; i < POINTS; i++) {
        double x = magnitudes(1000), y = spread(-1e6, 1e6);
        assert_true(md_sqrt(x) == sqrt(x));
        assert_true(md_floor(y) == floor(y) && (double)md_round(y) == round(y) && md_abs(y) == fabs(y));
    }
    assert_true(md_floor(-2) == -2 && md_floor(-0.5) == -1 && md_round(-2.5) == -3 && md_round(2.5) == 3);
}

static void same_bits_everywhere(void **state) {
    (void)state;
    uint64_t h = 0xcbf29ce484222325;
    for (int i = 0; i < 20000; i++) {
        double x = i * 0.0371 + 1e-3, s, c, s2, c2;
        md_sincos(&s, &c, x * 97);
        md_sincos_turn(&s2, &c2, (uint64_t)i * 7919, 20011);
        double v[] = {md_exp(x - 300), md_log(x), md_pow(x, -0.99), s, c, s2, c2};
        for (size_t k = 0; k < CHECK_COUNT(v); k++) h = (h ^ md_bits(v[k])) * 0x100000001b3;
    }
    if (h != 0x25e3a69ddf948438) check_fail("digest %016llx", (unsigned long long)h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exp_and_log),        cmocka_unit_test(power),
        cmocka_unit_test(sine_and_cosine),    cmocka_unit_test(turns),
        cmocka_unit_test(roots_and_rounding), cmocka_unit_test(same_bits_everywhere),
    };
    return cmocka_run_group_tests_name("double maths", tests, NULL, NULL);
}
