// vmath.h: exp, log, tanh, sigmoid, sin and cos in lanes. No libm, no FMA, no table, no branch: the same bits
// at every width. Each states its range and the largest error there, |y - exact| in ULP of the exact result;
// test_vmath.c enforces it.
#ifndef SMX_VMATH_H
#define SMX_VMATH_H

#include "simd.h"

#define SMX_INF __builtin_inff()
#define SMX_NAN __builtin_nanf("")

// Round to the nearest integer by adding 1.5 * 2^23: valid for |x| < 2^22, needs round-to-nearest.
#define SMX_ROUND_MAGIC 12582912.0f

// Of each of n registers c, e^(c - k ln 2) on |c - k ln 2| <= 0.347, k = c / ln 2 to the nearest integer, in
// two halves; magic is k + SMX_ROUND_MAGIC, high - low = c - k ln 2. They go in step: chains this long, one
// after the other, fill the queue in which a processor looks for what can be done meanwhile.
#define SMX_STEP SMX_UNROLL for (int j = 0; j < n; j++)
#define SMX_LOW(k) ((k)*vf_set(1.42860677e-6f))
#if defined(SMX_FUSED) // fused with what it is taken from, in one half, or the words would hang on who asks
#define SMX_LOW_FIRST(k) (k)
#define SMX_LOW_THEN(k) SMX_LOW(k)
#else
#define SMX_LOW_FIRST(k) SMX_LOW(k)
#define SMX_LOW_THEN(low) (low)
#endif
/*@ requires 0 <= n <= 4 && \valid_read(c + (0 .. n - 1));
    requires \valid(high + (0 .. n - 1)) && \valid(low + (0 .. n - 1)) && \valid(magic + (0 .. n - 1));
    assigns high[0 .. n - 1], low[0 .. n - 1], magic[0 .. n - 1]; */
SMX_INLINE void rests(const vf *c, vf *high, vf *low, vf *magic, const int n) {
    vf k[4];
    /*@ STEP(magic) */ SMX_STEP magic[j] = c[j] * vf_set(1.44269504f) + vf_set(SMX_ROUND_MAGIC);
    /*@ STEP(k) */ SMX_STEP k[j] = magic[j] - vf_set(SMX_ROUND_MAGIC);
    // ln 2 = 0.693145751953125 (exact in 15 bits) + 1.42860677e-6
    /*@ STEP(high) */ SMX_STEP high[j] = c[j] - k[j] * vf_set(0.693145751953125f); // exact
    /*@ STEP(low) */ SMX_STEP low[j] = SMX_LOW_FIRST(k[j]);
}
/*@ requires 0 <= n <= 4 && \valid(c + (0 .. n - 1));
    requires \valid_read(high + (0 .. n - 1)) && \valid_read(of + (0 .. n - 1));
    assigns c[0 .. n - 1]; */
SMX_INLINE void exps_of_rest(vf *c, const vf *high, const vf *of, const int n) {
    vf low[4], r[4], p[4];
    /*@ STEP(low) */ SMX_STEP low[j] = SMX_LOW_THEN(of[j]);
    /*@ STEP(r) */ SMX_STEP r[j] = high[j] - low[j];
    // (e^r - 1 - r) / r^2: minimax, 4.3e-9 of e^r
    /*@ STEP(p) */ SMX_STEP p[j] = vf_set(0.00138144334f) * r[j] + vf_set(0.00836879668f);
    /*@ STEP(p) */ SMX_STEP p[j] = p[j] * r[j] + vf_set(0.0416683958f);
    /*@ STEP(p) */ SMX_STEP p[j] = p[j] * r[j] + vf_set(0.1666652f);
    /*@ STEP(p) */ SMX_STEP p[j] = p[j] * r[j] + vf_set(0.499999934f);
    // low joins the small term: r's own rounding is not seen
    /*@ STEP(c) */ SMX_STEP c[j] = (high[j] + ((p[j] * r[j]) * r[j] - low[j])) + vf_set(1.0f);
}

// exp(x): 0.95 ULP for -87.33 <= x <= 88.72; +inf above; 0 below (results under FLT_MIN are flushed on
// purpose: they cost 100 cycles each on some machines and weigh nothing in a softmax). NaN stays NaN.
#define SMX_EXP_FLOOR -87.33654f
#define SMX_EXP_CEILING 88.72283f
SMX_INLINE vf vf_exp(vf x) {
    const vf lo = vf_set(SMX_EXP_FLOOR), hi = vf_set(SMX_EXP_CEILING);
    vf high, low, magic, p = vf_min(vf_max(x, lo), hi); // NaN falls to lo; restored below
    rests(&p, &high, &low, &magic, 1);
    exps_of_rest(&p, &high, &low, 1);
    // 2^k in two factors, since k = 128 occurs
    vi n = vf_bits(magic) - vi_set(0x4B400000), half = n >> 1;
    vf y = p * vi_float(vi_shl(half + vi_set(127), 23)) * vi_float(vi_shl(n - half + vi_set(127), 23));
    y = vf_select(vf_lt(x, lo), vf_set(0.0f), y);
    y = vf_select(vf_lt(hi, x), vf_set(SMX_INF), y);
    return vf_select(vf_eq(x, x), y, x);
}

// 2^k: the shift drops the magic (and is last: above the range a sum of what it leaves would overflow);
// k = 128 gives inf
/*@ PURE */
SMX_INLINE vf power_of_two(vf magic) { return vi_float(vi_shl(vi_add(vf_bits(magic), vi_set(127)), 23)); }
// The same of n registers in two thirds of the work for SMX_EXP_FLOOR <= c <= SMX_EXP_CEILING,
// but +inf from 88.37 on. NaN stays NaN. Within 1.48 2^-24 e^c for -86 <= c <= 88: proved, rocq/Exp.v.
/*@ requires 0 <= n <= 4 && \valid(c + (0 .. n - 1));
    assigns c[0 .. n - 1]; */
SMX_INLINE void exps_between(vf *c, const int n) {
    vf high[4], low[4], magic[4];
    rests(c, high, low, magic, n);
    exps_of_rest(c, high, low, n);
    /*@ STEP(c) */ SMX_STEP c[j] = c[j] * power_of_two(magic[j]);
}
SMX_INLINE vf exp_between(vf c) {
    exps_between(&c, 1);
    return c;
}
// exp(x) for x <= 88: the same bits down to `floor` >= SMX_EXP_FLOOR, 0 below;
// anything above 88. NaN stays NaN.
/*@ requires 0 <= n <= 4 && \valid(x + (0 .. n - 1));
    assigns x[0 .. n - 1]; */
SMX_INLINE void vf_exps_down(vf *x, float floor, const int n) {
    const vf lo = vf_set(floor);
    vf y[4];
    /*@ STEP(y) */ SMX_STEP y[j] = vf_max(lo, x[j]); // the second operand where one is NaN
    exps_between(y, n);
    /*@ STEP(x) */ SMX_STEP x[j] = vf_select(vf_lt(x[j], lo), vf_set(0.0f), y[j]);
}
/*@ PURE */
SMX_INLINE vf vf_exp_down(vf x, float floor) {
    vf_exps_down(&x, floor, 1);
    return x;
}

// vf_exp_down in two halves, the same words: who has other work goes on between them.
typedef struct {
    vf high, low, power;
} exp_begun;
SMX_INLINE exp_begun vf_exp_begin(vf x, float floor) {
    const vf lo = vf_set(floor), c = vf_max(lo, x);
    exp_begun b;
    vf magic;
    rests(&c, &b.high, &b.low, &magic, 1);
    b.power = vf_select(vf_lt(x, lo), vf_set(0.0f), power_of_two(magic));
    return b;
}
SMX_INLINE vf vf_exp_end(exp_begun b) {
    vf y;
    exps_of_rest(&y, &b.high, &b.low, 1);
    return y * b.power;
}

// log(x): 0.85 ULP for every positive float, denormals included; log(0) = -inf, log(<0) = NaN, log(inf) =
// inf. Within 1.72 2^-24 |ln x|: proved, rocq/Log.v.
SMX_INLINE vf vf_log(vf x) {
    vi tiny = vf_lt(x, vf_set(1.17549435e-38f));
    vf a = vf_abs(
        vf_select(tiny, x * vf_set(16777216.0f), x)); // abs: no overflow below for signed zero and negatives
    // a = m 2^e with m in [sqrt(1/2), sqrt(2))
    vi b = vf_bits(a) - vi_set(0x3f3504f3);
    vi e = (b >> 23) - (tiny & vi_set(24));
    vf m = vi_float((b & vi_set(0x007fffff)) + vi_set(0x3f3504f3));
    vf f = m - vf_set(1.0f);
    // log m = f - f^2/2 + f^3 q(f), in s = f/(2+f): 2 atanh s = f - s (f - R), Tang's form
    vf s = f / (vf_set(2.0f) + f);
    vf z = s * s;
    vf R = z * (vf_set(0.66666662693f) +
                z * (vf_set(0.40000972152f) + z * (vf_set(0.28498786688f) + z * vf_set(0.24279078841f))));
    vf h = vf_set(0.5f) * f * f;
    vf k = vi_convert(e);
    vf y = k * vf_set(0.693138123f) - ((h - (s * (h + R) + k * vf_set(9.05800061e-6f))) - f);
    y = vf_select(vf_eq(x, vf_set(SMX_INF)), x, y);
    y = vf_select(vf_eq(x, vf_set(0.0f)), vf_set(-SMX_INF), y);
    y = vf_select(vf_lt(x, vf_set(0.0f)), vf_set(SMX_NAN), y);
    return vf_select(vf_eq(x, x), y, x);
}

// sigmoid(x) = 1/(1 + e^-x): 2.6 ULP for x >= -87; 0 below -88.37, 1 from 17.4 up.
SMX_INLINE vf vf_sigmoid(vf x) {
    vf c = vf_min(vf_set(SMX_EXP_CEILING), vf_max(vf_set(SMX_EXP_FLOOR), vf_neg(x))); // NaN stays
    return vf_set(1.0f) / (vf_set(1.0f) + exp_between(c));
}

// tanh(x): 1.4 ULP, all floats. Odd polynomial below 5/8, else 1 - 2/(e^{2|x|} + 1) with the sign put back.
// Within 1.51 2^-24 |tanh x| below 5/8, 3.81 2^-24 |tanh x| above, 1 or -1 from |x| = 43.5 on: proved,
// rocq/Tanh.v.
SMX_INLINE vf vf_tanh(vf x) {
    vf a = vf_abs(x), z = x * x;
    vf p = vf_set(-5.70498872745e-3f);
    p = p * z + vf_set(2.06390887954e-2f);
    p = p * z + vf_set(-5.37397155531e-2f);
    p = p * z + vf_set(1.33314422036e-1f);
    p = p * z + vf_set(-3.33332819422e-1f);
    vf small = p * z * a + a;
    vf big =
        vf_set(1.0f) - vf_set(2.0f) / (exp_between(vf_min(vf_set(SMX_EXP_CEILING), a + a)) + vf_set(1.0f));
    vf y = vf_select(vf_lt(a, vf_set(0.625f)), small, big);
    y = vi_float(vf_bits(y) | (vf_bits(x) & vi_set((int32_t)0x80000000u)));
    return vf_select(vf_eq(x, x), y, x);
}

// sin and cos: |x| <= 8192, absolute error 8e-8 (1.6 ULP where |result| > 2^-9); NaN outside. With
// u = 2^-24, 1.38 u = 8.23e-8, and within 2.72 u |result| + 8.4e-15 |x|: proved, rocq/SinCos.v.
SMX_INLINE void vf_sincos(vf x, vf *sine, vf *cosine) {
    vi ok = vf_le(vf_abs(x), vf_set(8192.0f));
    vf c = vi_float(vf_bits(x) & ok);
    vf k = c * vf_set(0.636619772f) + vf_set(SMX_ROUND_MAGIC);
    vi q = vf_bits(k);
    k = k - vf_set(SMX_ROUND_MAGIC);
    // pi/2 in three parts, the first two short enough that k times them is exact for k <= 5216
    vf r = ((c - k * vf_set(1.5703125f)) - k * vf_set(4.837512969970703125e-4f)) -
           k * vf_set(7.549790126404332e-8f);
    vf z = r * r;
    vf s =
        ((vf_set(-1.9515295891e-4f) * z + vf_set(8.3321608736e-3f)) * z + vf_set(-1.6666654611e-1f)) * z * r +
        r;
    vf t = ((vf_set(2.443315711809948e-5f) * z + vf_set(-1.388731625493765e-3f)) * z +
            vf_set(4.166664568298827e-2f)) *
               z * z -
           vf_set(0.5f) * z + vf_set(1.0f);
    vi odd = vi_set(0) - (q & vi_set(1));
    vf sn = vf_select(odd, t, s), cs = vf_select(odd, s, t);
    sn = vi_float(vf_bits(sn) ^ vi_shl(q & vi_set(2), 30));
    cs = vi_float(vf_bits(cs) ^ vi_shl((q + vi_set(1)) & vi_set(2), 30));
    *sine = vf_select(ok, sn, vf_set(SMX_NAN));
    *cosine = vf_select(ok, cs, vf_set(SMX_NAN));
}

SMX_TAIL v16 v16_exp(v16 a) {
    SMX_ROLLED_EACH a.r[r] = vf_exp(a.r[r]);
    return a;
}
SMX_TAIL v16 v16_log(v16 a) {
    SMX_ROLLED_EACH a.r[r] = vf_log(a.r[r]);
    return a;
}
SMX_TAIL v16 v16_sigmoid(v16 a) {
    SMX_ROLLED_EACH a.r[r] = vf_sigmoid(a.r[r]);
    return a;
}
SMX_TAIL v16 v16_tanh(v16 a) {
    SMX_ROLLED_EACH a.r[r] = vf_tanh(a.r[r]);
    return a;
}

/*@ PURE */
SMX_LARGE v16 v16_exp_down(v16 a) {
    /*@ EACH(a.r, \true) */
    SMX_LARGE_EACH a.r[r] = vf_exp_down(a.r[r], SMX_EXP_FLOOR);
    return a;
}

// exp(x) of a softmax, x <= 0: 0 below x = -41.5 (2^-60). Beside a largest term of 1 such weights are 2^36
// times smaller than the rounding of their sum, but their products with small gradients are denormal, which
// halves the speed of a solved model.
/*@ PURE */
SMX_LARGE v16 v16_softmax_exp(v16 a) {
    /*@ EACH(a.r, \true) */
    SMX_LARGE_EACH a.r[r] = vf_exp_down(a.r[r], -41.5f);
    return a;
}

typedef struct {
    exp_begun r[SMX_R];
} v16_exp_begun;
SMX_INLINE v16_exp_begun v16_softmax_exp_begin(v16 a) {
    v16_exp_begun b;
    SMX_EACH b.r[r] = vf_exp_begin(a.r[r], -41.5f);
    return b;
}
SMX_INLINE v16 v16_softmax_exp_end(v16_exp_begun b) {
    v16 y;
    SMX_EACH y.r[r] = vf_exp_end(b.r[r]);
    return y;
}

// The same of SMX_EXPS groups, four registers that go in step.
#if SMX_W > 4
enum { SMX_EXPS = SMX_W / 4 };
SMX_INLINE void exps_in_step(v16 *x, float floor) {
    vf y[4];
    SMX_UNROLL for (int j = 0; j < 4; j++) y[j] = x[j / SMX_R].r[j % SMX_R];
    vf_exps_down(y, floor, 4);
    SMX_UNROLL for (int j = 0; j < 4; j++) x[j / SMX_R].r[j % SMX_R] = y[j];
}
SMX_INLINE void v16_exps_down(v16 *x) { exps_in_step(x, SMX_EXP_FLOOR); }
SMX_INLINE void v16_softmax_exps(v16 *x) { exps_in_step(x, -41.5f); }
#else
enum { SMX_EXPS = 1 };
/*@ requires \valid(x);
    assigns *x; */
SMX_INLINE void v16_exps_down(v16 *x) { *x = v16_exp_down(*x); }
/*@ requires \valid(x);
    assigns *x; */
SMX_INLINE void v16_softmax_exps(v16 *x) { *x = v16_softmax_exp(*x); }
#endif

#endif
