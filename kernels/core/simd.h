// simd.h: the whole SIMD vocabulary. One register is `vf` of SMX_W floats (compile-time: 1, 4, 8 or 16); one
// canonical group is `v16`, always 16 lanes in SMX_R registers. Kernels are written in v16 wherever lanes
// meet in a sum, so that the order of every sum is the same at each width. Compiler vector extensions, no
// intrinsics but square root. Longer than 420 lines by the contracts, comments for Frama-C, whose words are
// those of proofs_tests/frama_c/contracts.acsl.
#ifndef SMX_SIMD_H
#define SMX_SIMD_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(SMX_SCALAR)
#define SMX_W 1
#elif defined(__AVX512F__)
#define SMX_W 16
#include "intrinsics.h"
#elif defined(__AVX2__)
#define SMX_W 8
#include "intrinsics.h"
#elif defined(__SSE2__)
#define SMX_W 4
#include <emmintrin.h>
#elif defined(__wasm_simd128__)
#define SMX_W 4
#include <wasm_simd128.h>
#elif defined(__ARM_NEON)
#define SMX_W 4
#include <arm_neon.h>
#else
#define SMX_W 1
#endif
#define SMX_R (16 / SMX_W)

// What is large: inlined natively and in the files that a module spends its time in (SMX_HOT),
// else one function a file.
#if defined(__wasm__) && !defined(SMX_HOT)
#define SMX_LARGE static __attribute__((noinline, unused))
#define SMX_LARGE_EACH SMX_ROLLED_EACH
#else
#define SMX_LARGE SMX_INLINE
#define SMX_LARGE_EACH SMX_EACH
#endif
// Narrow tails, which the usual widths do not have, and functions that no kernel spends its time in: a module
// downloads them once a file, and what they do to the registers of 16 numbers as a loop (SMX_ROLLED_EACH).
#if defined(__wasm__)
#define SMX_TAIL static __attribute__((noinline, unused))
#define SMX_ROLLED_EACH _Pragma("clang loop unroll(disable)") for (int r = 0; r < SMX_R; r++)
#else
#define SMX_TAIL SMX_INLINE
#define SMX_ROLLED_EACH SMX_EACH
#endif
// Always inlined: no linker may keep another instruction set's copy.
#define SMX_INLINE static inline __attribute__((always_inline, unused))

#if SMX_W == 1
typedef float vf;
typedef int32_t vi;
typedef float vf_u __attribute__((may_alias));
typedef int32_t vi_u __attribute__((may_alias));
#else
typedef float vf __attribute__((vector_size(4 * SMX_W)));
typedef int32_t vi __attribute__((vector_size(4 * SMX_W)));
typedef float vf_u __attribute__((vector_size(4 * SMX_W), aligned(4), may_alias));
typedef int32_t vi_u __attribute__((vector_size(4 * SMX_W), aligned(4), may_alias));
#endif

/*@ requires \valid_read(p);
    PURE GIVES(word(\result) == word(*p)) */
SMX_INLINE vf vf_load(const float *p) { return *(const vf_u *)p; }
/*@ requires \valid(p);
    assigns *p; */
SMX_INLINE void vf_store(float *p, vf x) { *(vf_u *)p = x; }

// a * b + c, rounded twice: the one spelling, so that no reader expects an FMA. Once only in fast mode's
// copies: the compiler fuses there natively, while for WebAssembly it must be told.
/*@ PURE */
SMX_INLINE vf vf_madd(vf a, vf b, vf c) {
#if defined(__wasm_relaxed_simd__)
    return __builtin_wasm_relaxed_madd_f32x4(a, b, c);
#else
    return c + a * b;
#endif
}
/*@ PURE GIVES(word(\result) == word(x)) */
SMX_INLINE vf vf_set(float x) {
#if SMX_W == 1
    return x;
#elif SMX_W == 4
    return (vf){x, x, x, x};
#elif SMX_W == 8
    return (vf){x, x, x, x, x, x, x, x};
#else
    return (vf){x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x};
#endif
}
/*@ PURE */
SMX_INLINE vi vi_set(int32_t x) {
#if SMX_W == 1
    return x;
#elif SMX_W == 4
    return (vi){x, x, x, x};
#elif SMX_W == 8
    return (vi){x, x, x, x, x, x, x, x};
#else
    return (vi){x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x};
#endif
}

#if SMX_W == 1
/*@ PURE */
SMX_INLINE vi vf_bits(vf x) {
    vi b;
    memcpy(&b, &x, 4);
    return b;
}
/*@ PURE */
SMX_INLINE vf vi_float(vi b) {
    vf x;
    memcpy(&x, &b, 4);
    return x;
}
/*@ PURE */
SMX_INLINE vi vf_lt(vf a, vf b) { return -(a < b); }
/*@ PURE */
SMX_INLINE vi vf_le(vf a, vf b) { return -(a <= b); }
/*@ PURE */
SMX_INLINE vi vf_eq(vf a, vf b) { return -(a == b); }
/*@ PURE */
SMX_INLINE vi vi_gt(vi a, vi b) { return -(a > b); }
SMX_INLINE vf vi_convert(vi a) { return (float)a; }
/*@ requires 0 <= s < 32;
    PURE */
SMX_INLINE vi vi_shl(vi a, int s) { return (vi)((uint32_t)a << s); }
/*@ PURE */
SMX_INLINE vi vi_add(vi a, vi b) { return (vi)((uint32_t)a + (uint32_t)b); } // wraps
#else
SMX_INLINE vi vf_bits(vf x) { return (vi)x; }
SMX_INLINE vf vi_float(vi b) { return (vf)b; }
SMX_INLINE vi vf_lt(vf a, vf b) { return (vi)(a < b); } // all bits set where true
SMX_INLINE vi vf_le(vf a, vf b) { return (vi)(a <= b); }
SMX_INLINE vi vf_eq(vf a, vf b) { return (vi)(a == b); }
SMX_INLINE vi vi_gt(vi a, vi b) { return (vi)(a > b); }
SMX_INLINE vf vi_convert(vi a) { return __builtin_convertvector(a, vf); }
SMX_INLINE vi vi_shl(vi a, int s) { return a << s; }
SMX_INLINE vi vi_add(vi a, vi b) { return a + b; }
#endif

/*@ PURE */
SMX_INLINE vf vf_select(vi mask, vf yes, vf no) {
    return vi_float((vf_bits(yes) & mask) | (vf_bits(no) & ~mask));
}
/*@ PURE */
SMX_INLINE vf vf_abs(vf x) { return vi_float(vf_bits(x) & vi_set(0x7fffffff)); }
SMX_INLINE vf vf_neg(vf x) { return vi_float(vf_bits(x) ^ vi_set((int32_t)0x80000000u)); }
// a > b ? a : b: the second operand where either is NaN or both are zero, as x86's own instruction has it.
#if SMX_W == 16
SMX_INLINE vf vf_max(vf a, vf b) { return (vf)_mm512_max_ps((__m512)a, (__m512)b); }
SMX_INLINE vf vf_min(vf a, vf b) { return (vf)_mm512_min_ps((__m512)a, (__m512)b); }
#elif SMX_W == 8
SMX_INLINE vf vf_max(vf a, vf b) { return (vf)_mm256_max_ps((__m256)a, (__m256)b); }
SMX_INLINE vf vf_min(vf a, vf b) { return (vf)_mm256_min_ps((__m256)a, (__m256)b); }
#elif defined(__SSE2__) && SMX_W == 4
SMX_INLINE vf vf_max(vf a, vf b) { return (vf)_mm_max_ps((__m128)a, (__m128)b); }
SMX_INLINE vf vf_min(vf a, vf b) { return (vf)_mm_min_ps((__m128)a, (__m128)b); }
#elif defined(__wasm_simd128__) && SMX_W == 4
SMX_INLINE vf vf_max(vf a, vf b) { return (vf)wasm_f32x4_pmax((v128_t)b, (v128_t)a); }
SMX_INLINE vf vf_min(vf a, vf b) { return (vf)wasm_f32x4_pmin((v128_t)b, (v128_t)a); }
#else
// (On Arm clang takes a comparison and the choice by it for FMAXNM and FMINNM, which answer a signalling NaN
// by NaN: it does not see that they belong together.)
#if defined(__clang__) && defined(__aarch64__) && SMX_W == 1
#define SMX_UNSEEN(mask) __asm__("" : "+r"(mask))
#elif defined(__clang__) && defined(__aarch64__)
#define SMX_UNSEEN(mask) __asm__("" : "+w"(mask))
#else
#define SMX_UNSEEN(mask)
#endif
/*@ PURE */
SMX_INLINE vf vf_max(vf a, vf b) {
    vi more = vf_lt(b, a);
    SMX_UNSEEN(more);
    return vf_select(more, a, b);
}
/*@ PURE */
SMX_INLINE vf vf_min(vf a, vf b) {
    vi less = vf_lt(a, b);
    SMX_UNSEEN(less);
    return vf_select(less, a, b);
}
#endif

// Correctly rounded on every machine, so intrinsics here cost no bits.
/*@ PURE */
SMX_INLINE vf vf_sqrt(vf x) {
#if SMX_W == 16
    return (vf)_mm512_sqrt_ps((__m512)x);
#elif SMX_W == 8
    return (vf)_mm256_sqrt_ps((__m256)x);
#elif defined(__SSE2__) && SMX_W == 4
    return (vf)_mm_sqrt_ps((__m128)x);
#elif defined(__wasm_simd128__) && SMX_W == 4
    return (vf)wasm_f32x4_sqrt((v128_t)x);
#elif defined(__ARM_NEON) && SMX_W == 4
    return (vf)vsqrtq_f32((float32x4_t)x);
#else
    return __builtin_sqrtf(x);
#endif
}

// Loops over the registers of a group must vanish: gcc needs to be told, clang unrolls constant trips by
// itself. Sanitizers look at every access, and unrolled scalar groups would take them minutes to compile:
// loops stay loops, as where the build asks for it (SMX_LOOPS).
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(undefined_behavior_sanitizer)
#define SMX_LOOPS
#endif
#endif
#if defined(SMX_LOOPS) || defined(__SANITIZE_ADDRESS__)
#define SMX_UNROLL
#elif defined(__clang__)
#define SMX_UNROLL _Pragma("clang loop unroll(full)")
#else
#define SMX_UNROLL _Pragma("GCC unroll 16")
#endif

// The compiler forgets what it knows of a pointer: addresses of many rows, all computed ahead,
// would fill the registers.
#ifndef SMX_OPAQUE // (nothing to Frama-C, which reads no assembler)
#define SMX_OPAQUE(pointer) __asm__("" : "+r"(pointer))
#endif

// ---- The canonical group of 16 lanes --------------------------------------------------------------------
typedef struct {
    vf r[SMX_R];
} v16;
typedef struct {
    vi r[SMX_R];
} m16; // a mask, or 16 integers

#define SMX_EACH SMX_UNROLL for (int r = 0; r < SMX_R; r++)
#define V16_OP1(name, type, in, expression)                                                                  \
    /*@ PURE GIVES(LANES_OF_##name(\result, 16)) */                                                          \
    SMX_INLINE type name(in a) {                                                                             \
        type y;                                                                                              \
        /*@ EACH(y.r, LANES_OF_##name(y, r)) */                                                              \
        SMX_EACH y.r[r] = expression;                                                                        \
        return y;                                                                                            \
    }
#define V16_OP2(name, type, in, expression)                                                                  \
    /*@ PURE GIVES(LANES_OF_##name(\result, 16)) */                                                          \
    SMX_INLINE type name(in a, in b) {                                                                       \
        type y;                                                                                              \
        /*@ EACH(y.r, LANES_OF_##name(y, r)) */                                                              \
        SMX_EACH y.r[r] = expression;                                                                        \
        return y;                                                                                            \
    }
V16_OP2(v16_add, v16, v16, a.r[r] + b.r[r])
V16_OP2(v16_sub, v16, v16, a.r[r] - b.r[r])
V16_OP2(v16_mul, v16, v16, a.r[r] * b.r[r])
V16_OP2(v16_div, v16, v16, a.r[r] / b.r[r])
V16_OP2(v16_max, v16, v16, vf_max(a.r[r], b.r[r]))
V16_OP2(v16_min, v16, v16, vf_min(a.r[r], b.r[r]))
V16_OP2(v16_lt, m16, v16, vf_lt(a.r[r], b.r[r]))
V16_OP2(v16_le, m16, v16, vf_le(a.r[r], b.r[r]))
V16_OP2(v16_eq, m16, v16, vf_eq(a.r[r], b.r[r]))
V16_OP1(v16_sqrt, v16, v16, vf_sqrt(a.r[r]))
V16_OP1(v16_abs, v16, v16, vf_abs(a.r[r]))
V16_OP1(v16_neg, v16, v16, vf_neg(a.r[r]))
/*@ PURE */
SMX_INLINE v16 v16_madd(v16 a, v16 b, v16 c) {
    /*@ EACH(c.r, \true) */
    SMX_EACH c.r[r] = vf_madd(a.r[r], b.r[r], c.r[r]);
    return c;
}
/*@ PURE */
SMX_INLINE v16 v16_select(m16 m, v16 yes, v16 no) {
    /*@ EACH(yes.r, \true) */
    SMX_EACH yes.r[r] = vf_select(m.r[r], yes.r[r], no.r[r]);
    return yes;
}
/*@ PURE GIVES(\forall integer j; 0 <= j < 16 ==> word(\result.r[j]) == word(x)) */
SMX_INLINE v16 v16_set(float x) {
    v16 y;
    /*@ EACH(y.r, \forall integer j; 0 <= j < r ==> word(y.r[j]) == word(x)) */
    SMX_EACH y.r[r] = vf_set(x);
    return y;
}
/*@ requires in_group: \valid_read(p + (0 .. 15));
    PURE GIVES(\forall integer j; 0 <= j < 16 ==> word(\result.r[j]) == word(p[j])) */
SMX_INLINE v16 v16_load(const float *p) {
    v16 y;
    /*@ EACH(y.r, \forall integer j; 0 <= j < r ==> word(y.r[j]) == word(p[j])) */
    SMX_EACH y.r[r] = vf_load(p + r * SMX_W);
    return y;
}
/*@ requires in_group: \valid(p + (0 .. 15));
    assigns p[0 .. 15]; */
SMX_INLINE void v16_store(float *p, v16 x) {
    /*@ EACH(p, \true) */
    SMX_EACH vf_store(p + r * SMX_W, x.r[r]);
}
// The first n <= 16 of p, the other lanes `fill`; nothing past p + n is touched.
/*@ requires in_part: n <= 16 && \valid_read(p + (0 .. n - 1));
    PURE GIVES(\forall integer j; 0 <= j < 16 ==> word(\result.r[j]) == word(j < n ? p[j] : fill)) */
SMX_TAIL v16 v16_load_n(const float *p, size_t n, float fill) {
    v16 y;
#if SMX_W == 16
    y.r[0] = (vf)_mm512_mask_loadu_ps(_mm512_set1_ps(fill), (__mmask16)((1u << n) - 1), p);
#elif SMX_W == 8
    for (int r = 0; r < 2; r++) {
        const vi lane = (vi){0, 1, 2, 3, 4, 5, 6, 7} + vi_set(8 * r), mask = vi_gt(vi_set((int32_t)n), lane);
        y.r[r] = vf_select(mask, (vf)_mm256_maskload_ps(p + 8 * r, (__m256i)mask), vf_set(fill));
    }
#elif SMX_W == 4
    SMX_EACH {
        const size_t at = 4 * (size_t)r;
        vf x = vf_set(fill);
        if (n >= at + 4) {
            x = vf_load(p + at);
        } else if (n > at) {
            x[0] = p[at];
            if (n > at + 1) x[1] = p[at + 1];
            if (n > at + 2) x[2] = p[at + 2];
        }
        y.r[r] = x;
    }
#else
    /*@ EACH(y.r, \forall integer j; 0 <= j < r ==> word(y.r[j]) == word(j < n ? p[j] : fill)) */
    SMX_EACH y.r[r] = (size_t)r < n ? p[r] : fill;
#endif
    return y;
}
/*@ requires in_part: n <= 16 && \valid(p + (0 .. n - 1));
    assigns p[0 .. n - 1]; */
SMX_TAIL void v16_store_n(float *p, v16 x, size_t n) {
#if SMX_W == 16
    _mm512_mask_storeu_ps(p, (__mmask16)((1u << n) - 1), (__m512)x.r[0]);
#elif SMX_W == 8
    for (int r = 0; r < 2; r++) {
        const vi lane = (vi){0, 1, 2, 3, 4, 5, 6, 7} + vi_set(8 * r);
        _mm256_maskstore_ps(p + 8 * r, (__m256i)vi_gt(vi_set((int32_t)n), lane), (__m256)x.r[r]);
    }
#elif SMX_W == 4
    SMX_EACH {
        const size_t at = 4 * (size_t)r;
        if (n >= at + 4) {
            vf_store(p + at, x.r[r]);
        } else if (n > at) {
            p[at] = x.r[r][0];
            if (n > at + 1) p[at + 1] = x.r[r][1];
            if (n > at + 2) p[at + 2] = x.r[r][2];
        }
    }
#else
    /*@ loop invariant 0 <= r <= 16;
        loop assigns r, p[0 .. n - 1];
        loop variant 16 - r; */
    SMX_EACH if ((size_t)r < n) p[r] = x.r[r];
#endif
}

// x, of which lanes below n are multiplied by a.
/*@ PURE */
SMX_INLINE v16 v16_scale_below(v16 x, float a, int n) {
#if SMX_W == 16
    x.r[0] =
        (vf)_mm512_mask_mul_ps((__m512)x.r[0], (__mmask16)((1u << n) - 1), (__m512)x.r[0], _mm512_set1_ps(a));
#else
    static const int32_t lanes[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    /*@ EACH(x.r, \true) */
    SMX_EACH {
        const vi lane = *(const vi_u *)(lanes + r * SMX_W);
        if (n >= (r + 1) * SMX_W)
            x.r[r] = x.r[r] * vf_set(a);
        else if (n > r * SMX_W)
            x.r[r] = x.r[r] * vf_select(vi_gt(vi_set(n), lane), vf_set(a), vf_set(1.0f));
    }
#endif
    return x;
}

// Neighbours 2m, 2m+1: swapped, both the even one, both the odd one;
// and lanes +-a, a of the sign given for even lanes.
#if SMX_W == 1
#define VF_PAIRS(name, even, odd)                                                                            \
    SMX_INLINE v16 name(v16 x) {                                                                             \
        v16 y;                                                                                               \
        SMX_UNROLL for (int r = 0; r < 16; r += 2) y.r[r] = x.r[r + even], y.r[r + 1] = x.r[r + odd];        \
        return y;                                                                                            \
    }
#else
#if SMX_W == 4
#define VF_PAIR_LANES(e, o) e, o, 2 + e, 2 + o
#elif SMX_W == 8
#define VF_PAIR_LANES(e, o) e, o, 2 + e, 2 + o, 4 + e, 4 + o, 6 + e, 6 + o
#else
#define VF_PAIR_LANES(e, o)                                                                                  \
    e, o, 2 + e, 2 + o, 4 + e, 4 + o, 6 + e, 6 + o, 8 + e, 8 + o, 10 + e, 10 + o, 12 + e, 12 + o, 14 + e,    \
        14 + o
#endif
#if defined(__clang__)
#define VF_SHUFFLE(x, e, o) __builtin_shufflevector(x, x, VF_PAIR_LANES(e, o))
#else
#define VF_SHUFFLE(x, e, o) __builtin_shuffle(x, (vi){VF_PAIR_LANES(e, o)})
#endif
#define VF_PAIRS(name, even, odd) V16_OP1(name, v16, v16, VF_SHUFFLE(a.r[r], even, odd))
#endif
VF_PAIRS(v16_swap_pairs, 1, 0)
VF_PAIRS(v16_even_pairs, 0, 0)
VF_PAIRS(v16_odd_pairs, 1, 1)
SMX_INLINE v16 v16_alternating(float even) {
    const float t[16] = {even, -even, even, -even, even, -even, even, -even,
                         even, -even, even, -even, even, -even, even, -even};
    return v16_load(t);
}

// to [4][ldt] = the transpose of 4 x 4 floats of from [4][ldf].
#if SMX_W == 1
/*@ requires ldt <= MOST && ldf <= MOST && ROWS_OF(to, 4, ldt, 4) && READ_ROWS(from, 4, ldf, 4);
    assigns to[0 .. 3 * ldt + 3];
    exits \false; */
SMX_INLINE void transpose4(float *to, size_t ldt, const float *from, size_t ldf) {
    /*@ loop invariant 0 <= i <= 4; loop assigns i, to[0 .. 3 * ldt + 3]; loop variant 4 - i; */
    for (size_t i = 0; i < 4; i++) /*@ assert reaches(i, 4, ldf); */
        /*@ loop invariant 0 <= j <= 4; loop assigns j, to[0 .. 3 * ldt + 3]; loop variant 4 - j; */
        for (size_t j = 0; j < 4; j++) /*@ assert reaches(j, 4, ldt); */
            to[j * ldt + i] = from[i * ldf + j];
}
#else
typedef float f4 __attribute__((vector_size(16)));
typedef float f4_u __attribute__((vector_size(16), aligned(4), may_alias));
typedef int32_t i4 __attribute__((vector_size(16)));
#if defined(__clang__)
#define F4_SHUFFLE(x, y, a, b, c, d) __builtin_shufflevector(x, y, a, b, c, d)
#else
#define F4_SHUFFLE(x, y, a, b, c, d) __builtin_shuffle(x, y, (i4){a, b, c, d})
#endif
SMX_INLINE void transpose4(float *to, size_t ldt, const float *from, size_t ldf) {
    const f4 a = *(const f4_u *)from, b = *(const f4_u *)(from + ldf), c = *(const f4_u *)(from + 2 * ldf),
             d = *(const f4_u *)(from + 3 * ldf);
    const f4 ab = F4_SHUFFLE(a, b, 0, 4, 1, 5), cd = F4_SHUFFLE(c, d, 0, 4, 1, 5);
    const f4 AB = F4_SHUFFLE(a, b, 2, 6, 3, 7), CD = F4_SHUFFLE(c, d, 2, 6, 3, 7);
    *(f4_u *)to = F4_SHUFFLE(ab, cd, 0, 1, 4, 5);
    *(f4_u *)(to + ldt) = F4_SHUFFLE(ab, cd, 2, 3, 6, 7);
    *(f4_u *)(to + 2 * ldt) = F4_SHUFFLE(AB, CD, 0, 1, 4, 5);
    *(f4_u *)(to + 3 * ldt) = F4_SHUFFLE(AB, CD, 2, 3, 6, 7);
}
#endif

// y[i] = EXPRESSION over n elements, 16 at a time; LOAD(p) inside reads p[i .. i+15] (the tail padded with
// zeros).
// Elementwise, so in place is safe. Usage: V16_MAP(y, n, v16_add(LOAD(a), LOAD(b)))
#if defined(__wasm__) && !defined(SMX_HOT)
// The module is downloaded: one copy of the expression, a short tail through memory. (Choosing between two
// addresses keeps values in registers; choosing between two values sent all of them through memory.)
SMX_TAIL const float *padded(float *room, const float *p, size_t n) {
    memset(room, 0, 16 * sizeof *room);
    return memcpy(room, p, n * sizeof *p);
}
#define V16_MAP(y, n, expression)                                                                            \
    do {                                                                                                     \
        for (size_t i_ = 0, n_ = (n); i_ < n_; i_ += 16) {                                                   \
            const size_t k_ = n_ - i_ < 16 ? n_ - i_ : 16;                                                   \
            float tail_[16], *to_ = k_ == 16 ? (y) + i_ : tail_;                                             \
            v16_store(to_, (expression));                                                                    \
            if (k_ < 16) memcpy((y) + i_, tail_, k_ * sizeof *tail_);                                        \
        }                                                                                                    \
    } while (0)
#define LOAD(p)                                                                                              \
    ({                                                                                                       \
        float room_[16];                                                                                     \
        v16_load(k_ == 16 ? (p) + i_ : padded(room_, (p) + i_, k_));                                         \
    })
#else
#define V16_MAP(y, n, expression)                                                                            \
    do {                                                                                                     \
        size_t i_ = 0, n_ = (n);                                                                             \
        /*@ loop invariant 0 <= i_ <= n_; loop assigns i_, (y)[0 .. n_ - 1]; loop variant n_ - i_; */        \
        for (; i_ + 16 <= n_; i_ += 16) {                                                                    \
            const size_t k_ = 16;                                                                            \
            v16_store((y) + i_, (expression));                                                               \
            (void)k_;                                                                                        \
        }                                                                                                    \
        if (i_ < n_) {                                                                                       \
            const size_t k_ = n_ - i_;                                                                       \
            v16_store_n((y) + i_, (expression), k_);                                                         \
        }                                                                                                    \
    } while (0)
#define LOAD(p) (k_ == 16 ? v16_load((p) + i_) : v16_load_n((p) + i_, k_, 0.0f))
#endif

#endif
