// mathd.h: exp, log, sin, cos, pow and sqrt in double with the same bits on every machine and compiler: plain
// IEEE additions, products and divisions, no libm, no FMA (build with -ffp-contract=off), no tables. For what
// is computed once (schedules, angles, random normals, sampling weights); the float kernels have vmath.h.
// Errors are in units in the last place of the exact result, measured by test_mathd.c over their whole range.
#ifndef SMX_MATHD_H
#define SMX_MATHD_H

#include <stdint.h>
#include <string.h>

static inline double md_from_bits(uint64_t u) {
    double x;
    memcpy(&x, &u, sizeof x);
    return x;
}

static inline uint64_t md_bits(double x) {
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

#define MD_INF md_from_bits(0x7ff0000000000000)
#define MD_NAN md_from_bits(0x7ff8000000000000)

// Correctly rounded, as IEEE 754 asks.
static inline double md_sqrt(double x) { return __builtin_sqrt(x); }
static inline double md_abs(double x) { return md_from_bits(md_bits(x) & 0x7fffffffffffffff); }
// Largest integer <= x; |x| < 2^62.
static inline double md_floor(double x) {
    double t = (double)(int64_t)x;
    return t > x ? t - 1 : t;
}
// Nearest integer, halves away from zero; |x| < 2^62.
static inline int64_t md_round(double x) { return (int64_t)(x < 0 ? x - 0.5 : x + 0.5); }

// ---- double-double: an unevaluated sum hi + lo with |lo| <= ulp(hi)/2 ----
typedef struct {
    double hi, lo;
} md_dd;

// Exact: a + b = hi + lo (Knuth).
static inline md_dd md_two_sum(double a, double b) {
    double s = a + b, t = s - a;
    return (md_dd){s, (a - (s - t)) + (b - t)};
}

// Exact for |a|, |b| < 2^480 while the product is above 2^-960: a b = hi + lo (Dekker, Veltkamp).
static inline md_dd md_two_prod(double a, double b) {
    double p = a * b, ta = 134217729.0 * a, tb = 134217729.0 * b;
    double ah = ta - (ta - a), al = a - ah, bh = tb - (tb - b), bl = b - bh;
    return (md_dd){p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
}

static inline md_dd md_dd_add(md_dd a, md_dd b) {
    md_dd s = md_two_sum(a.hi, b.hi);
    return md_two_sum(s.hi, s.lo + (a.lo + b.lo));
}

static inline md_dd md_dd_mul(md_dd a, md_dd b) {
    md_dd p = md_two_prod(a.hi, b.hi);
    return md_two_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

static inline md_dd md_dd_div(md_dd a, md_dd b) {
    double q = a.hi / b.hi;
    md_dd p = md_two_prod(q, b.hi);
    double rest = ((a.hi - p.hi) - p.lo) + (a.lo - q * b.lo);
    return md_two_sum(q, rest / b.hi);
}

// ---- exp ----
// exp(x + tail) for |tail| <= ulp(x). x = k ln2 + r, |r| <= ln2/2; exp r by its Taylor sum to r^13/13! (cut:
// 5e-18).
static inline double md_exp_tail(double x, double tail) {
    if (x != x) return MD_NAN;
    if (x > 709.8) return MD_INF;
    if (x < -745.2) return 0;
    int64_t k = md_round(x * 0x1.71547652b82fep+0);
    double hi = x - (double)k * 0x1.62e42feep-1; // exact: that part of ln2 has 32 bits
    double lo = (double)k * 0x1.a39ef35793c76p-33;
    double r = hi - lo, e = ((hi - r) - lo) + tail;
    double q = 1.0 / 6227020800.0;
    q = q * r + 1.0 / 479001600.0;
    q = q * r + 1.0 / 39916800.0;
    q = q * r + 1.0 / 3628800.0;
    q = q * r + 1.0 / 362880.0;
    q = q * r + 1.0 / 40320.0;
    q = q * r + 1.0 / 5040.0;
    q = q * r + 1.0 / 720.0;
    q = q * r + 1.0 / 120.0;
    q = q * r + 1.0 / 24.0;
    q = q * r + 1.0 / 6.0;
    q = q * r + 0.5;
    q = r * r * q;
    double y = 1 + (r + (q + e * (1 + r + q)));
    if (k > 1023) return y * 2 * md_from_bits((uint64_t)(k - 1 + 1023) << 52);
    if (k < -1021) return y * md_from_bits((uint64_t)(k + 60 + 1023) << 52) * 0x1p-60; // may be subnormal
    return y * md_from_bits((uint64_t)(k + 1023) << 52);
}

// e^x. Error < 0.9 ulp, also where the result is subnormal; overflow gives inf, underflow 0.
static inline double md_exp(double x) { return md_exp_tail(x, 0); }

// x = 2^k m with m in [sqrt(1/2), sqrt 2), for finite x > 0.
static inline double md_split(double x, int64_t *k) {
    int64_t e = 0;
    if (x < 0x1p-1022) {
        x *= 0x1p54;
        e = -54;
    }
    uint64_t u = md_bits(x);
    e += (int64_t)(u >> 52) - 1023;
    double m = md_from_bits((u & 0xfffffffffffff) | 0x3ff0000000000000);
    if (m > 0x1.6a09e667f3bcdp+0) {
        m *= 0.5;
        e++;
    }
    *k = e;
    return m;
}

// ---- log ----
// Natural logarithm. Error < 0.9 ulp. log 0 = -inf, of a negative number NaN.
// m = 1 + f, s = f/(2 + f): log m = 2 atanh s = f - f^2/2 + s (f^2/2 + R), R = 2 s^2/3 + 2 s^4/5 + ... (cut:
// 2e-17).
static inline double md_log(double x) {
    if (x != x || x < 0) return MD_NAN;
    if (x == 0) return -MD_INF;
    if (x == MD_INF) return x;
    int64_t k;
    double f = md_split(x, &k) - 1, s = f / (2 + f), z = s * s, h = 0.5 * f * f;
    double r = 2.0 / 23;
    r = r * z + 2.0 / 21;
    r = r * z + 2.0 / 19;
    r = r * z + 2.0 / 17;
    r = r * z + 2.0 / 15;
    r = r * z + 2.0 / 13;
    r = r * z + 2.0 / 11;
    r = r * z + 2.0 / 9;
    r = r * z + 2.0 / 7;
    r = r * z + 2.0 / 5;
    r = r * z + 2.0 / 3;
    r *= z;
    double small = s * (h + r) + (double)k * 0x1.a39ef35793c76p-33;
    return (double)k * 0x1.62e42feep-1 - ((h - small) - f);
}

// log x to about 2^-68 of it, x > 0 and finite: the same series, its first four terms in double-double.
static inline md_dd md_log_dd(double x) {
    int64_t k;
    double m = md_split(x, &k);
    md_dd s = md_dd_div((md_dd){m - 1, 0}, md_two_sum(m, 1)), z = md_dd_mul(s, s);
    double r = 2.0 / 29;
    for (int n = 27; n >= 9; n -= 2) r = r * z.hi + 2.0 / n;
    md_dd sum = md_dd_mul(z, (md_dd){r, 0});
    for (int n = 7; n >= 3; n -= 2)
        sum = md_dd_mul(z, md_dd_add(md_dd_div((md_dd){2, 0}, (md_dd){n, 0}), sum));
    sum = md_dd_mul(s, md_dd_add((md_dd){2, 0}, sum));
    md_dd ln2 = md_dd_mul((md_dd){(double)k, 0}, (md_dd){0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56});
    return md_dd_add(ln2, sum);
}

// x^y for x > 0 (x = 0: 0, 1 or inf as y > 0, = 0, < 0; x < 0: NaN). Error < 0.9 ulp where the result is
// normal.
static inline double md_pow(double x, double y) {
    if (y == 0 || x == 1) return 1;
    if (x != x || y != y || x < 0) return MD_NAN;
    if (x == 0) return y > 0 ? 0 : MD_INF;
    if (x == MD_INF) return y > 0 ? MD_INF : 0;
    if (md_abs(y) > 0x1p80) return (x > 1) == (y > 0) ? MD_INF : 0;
    md_dd l = md_log_dd(x);
    if (md_abs(l.hi) < 0x1p-300) return 1;
    md_dd p = md_dd_mul(l, (md_dd){y, 0});
    return md_exp_tail(p.hi, p.lo);
}

// ---- sin, cos ----
// sin and cos of r + tail for |r| <= pi/4, |tail| <= ulp(r): Taylor to r^17 and r^18 (cut: 1e-19).
static inline double md_sin_small(double r, double tail) {
    double z = r * r, p = 1.0 / 355687428096000.0;
    p = p * z - 1.0 / 1307674368000.0;
    p = p * z + 1.0 / 6227020800.0;
    p = p * z - 1.0 / 39916800.0;
    p = p * z + 1.0 / 362880.0;
    p = p * z - 1.0 / 5040.0;
    p = p * z + 1.0 / 120.0;
    p = p * z - 1.0 / 6.0;
    return r + (r * z * p + tail * (1 - 0.5 * z));
}

static inline double md_cos_small(double r, double tail) {
    double z = r * r, p = -1.0 / 6402373705728000.0;
    p = p * z + 1.0 / 20922789888000.0;
    p = p * z - 1.0 / 87178291200.0;
    p = p * z + 1.0 / 479001600.0;
    p = p * z - 1.0 / 3628800.0;
    p = p * z + 1.0 / 40320.0;
    p = p * z - 1.0 / 720.0;
    p = p * z + 1.0 / 24.0;
    double h = 0.5 * z, w = 1 - h;
    return w + (((1 - w) - h) + (z * z * p - r * tail));
}

static inline void md_quadrant(double *sine, double *cosine, double r, double tail, unsigned quadrant) {
    double s = md_sin_small(r, tail), c = md_cos_small(r, tail);
    double sn = quadrant & 1 ? c : s, cs = quadrant & 1 ? s : c;
    *sine = quadrant & 2 ? -sn : sn;
    *cosine = (quadrant + 1) & 2 ? -cs : cs;
}

// sin x and cos x for |x| <= 2^21 (beyond: NaN). Error < 0.8 ulp: x - n pi/2 with pi/2 in four parts of 33
// bits, so that n times a part is exact and the nearest double to a multiple of pi/2 keeps its digits.
static inline void md_sincos(double *sine, double *cosine, double x) {
    if (!(md_abs(x) <= 0x1p21)) {
        *sine = *cosine = MD_NAN;
        return;
    }
    int64_t n = md_round(x * 0x1.45f306dc9c883p-1);
    double k = (double)n;
    md_dd a = md_two_sum(x - k * 0x1.921fb544p+0, -(k * 0x1.0b4611a6p-34));
    md_dd b = md_two_sum(a.hi, -(k * 0x1.3198a2ep-69));
    md_dd r = md_two_sum(b.hi, (a.lo + b.lo) - k * 0x1.b839a252049c1p-104);
    md_quadrant(sine, cosine, r.hi, r.lo, (unsigned)(n & 3));
}

// sin and cos of numerator/denominator of a full turn (2 pi), denominator in 1..2^60, any numerator: the
// quadrant is taken in integers. Error < 0.8 ulp; quarter turns are exact 0 and +-1, and the eight symmetries
// of the circle hold bit for bit. For FFT twiddles and random directions.
static inline void md_sincos_turn(double *sine, double *cosine, uint64_t numerator, uint64_t denominator) {
    uint64_t four = 4 * (numerator % denominator);
    uint64_t quadrant = four / denominator, rest = four % denominator;
    int mirror = rest > denominator - rest; // beyond an eighth: measure back from the next quarter
    if (mirror) {
        rest = denominator - rest;
        quadrant++;
    }
    int shift = 0; // integers above 2^53 are not doubles: the low bits are below the result's rounding
    for (uint64_t d = denominator; d >> 53; d >>= 1) shift++;
    double num = (double)(rest >> shift), den = (double)(denominator >> shift);
    double t = num / den;
    md_dd p = md_two_prod(t, den), a = md_two_prod(t, 0x1.921fb54442d18p+0);
    double e = ((num - p.hi) - p.lo) / den;
    md_dd r = md_two_sum(a.hi, a.lo + (t * 0x1.1a62633145c07p-54 + e * 0x1.921fb54442d18p+0));
    double s = md_sin_small(r.hi, r.lo), c = md_cos_small(r.hi, r.lo);
    if (2 * rest == denominator) s = c = 0x1.6a09e667f3bcdp-1; // an eighth: sqrt(1/2) both
    if (mirror) s = -s;
    double sn = quadrant & 1 ? c : s, cs = quadrant & 1 ? 0 - s : c;
    *sine = quadrant & 2 ? 0 - sn : sn;
    *cosine = quadrant & 2 ? 0 - cs : cs;
}

#endif
