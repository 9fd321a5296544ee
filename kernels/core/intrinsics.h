// intrinsics.h: the few intrinsics of AVX and AVX-512 that the kernels use, under their names. <immintrin.h>
// declares six thousand, and takes a quarter of a second in each of a hundred objects. Where the compiler is
// a gcc whose header was compared (12 to 14), these are declared alone, as it has them; every other one is
// given its own header.
#ifndef SMX_INTRINSICS_H
#define SMX_INTRINSICS_H

#if defined(__clang__) || defined(__INTEL_COMPILER) || !defined(__GNUC__) || __GNUC__ < 12 || __GNUC__ > 14
#include <immintrin.h>
#else
#include <emmintrin.h>

#define SMX_X86(result)                                                                                      \
    extern __inline result __attribute__((__gnu_inline__, __always_inline__, __artificial__))
typedef float __m256 __attribute__((__vector_size__(32), __may_alias__));
typedef long long __m256i __attribute__((__vector_size__(32), __may_alias__));
typedef float smx_f8 __attribute__((__vector_size__(32)));
typedef int smx_i8 __attribute__((__vector_size__(32)));

SMX_X86(__m256) _mm256_set1_ps(float a) { return (__m256){a, a, a, a, a, a, a, a}; }
SMX_X86(__m256) _mm256_add_ps(__m256 a, __m256 b) { return a + b; }
SMX_X86(__m256) _mm256_max_ps(__m256 a, __m256 b) {
    return (__m256)__builtin_ia32_maxps256((smx_f8)a, (smx_f8)b);
}
SMX_X86(__m256) _mm256_min_ps(__m256 a, __m256 b) {
    return (__m256)__builtin_ia32_minps256((smx_f8)a, (smx_f8)b);
}
SMX_X86(__m256) _mm256_sqrt_ps(__m256 a) { return (__m256)__builtin_ia32_sqrtps256((smx_f8)a); }
SMX_X86(__m256) _mm256_maskload_ps(const float *p, __m256i mask) {
    return (__m256)__builtin_ia32_maskloadps256((const smx_f8 *)p, (smx_i8)mask);
}
SMX_X86(void) _mm256_maskstore_ps(float *p, __m256i mask, __m256 a) {
    __builtin_ia32_maskstoreps256((smx_f8 *)p, (smx_i8)mask, (smx_f8)a);
}
SMX_X86(__m128) _mm256_castps256_ps128(__m256 a) { return (__m128)__builtin_ia32_ps_ps256((smx_f8)a); }
#define _mm256_extractf128_ps(a, half) ((__m128)__builtin_ia32_vextractf128_ps256((smx_f8)(__m256)(a), half))

#ifdef __AVX512F__
typedef float __m512 __attribute__((__vector_size__(64), __may_alias__));
typedef float smx_f16 __attribute__((__vector_size__(64)));
typedef unsigned char __mmask8;
typedef unsigned short __mmask16;
enum { SMX_ROUND_AS_SET = 4 }; // _MM_FROUND_CUR_DIRECTION

SMX_X86(__m512) _mm512_set1_ps(float a) { return (__m512){a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a}; }
SMX_X86(__m512) _mm512_max_ps(__m512 a, __m512 b) {
    return (__m512)__builtin_ia32_maxps512_mask((smx_f16)a, (smx_f16)b, (smx_f16)a, (__mmask16)-1,
                                                SMX_ROUND_AS_SET);
}
SMX_X86(__m512) _mm512_min_ps(__m512 a, __m512 b) {
    return (__m512)__builtin_ia32_minps512_mask((smx_f16)a, (smx_f16)b, (smx_f16)a, (__mmask16)-1,
                                                SMX_ROUND_AS_SET);
}
SMX_X86(__m512) _mm512_sqrt_ps(__m512 a) {
    return (__m512)__builtin_ia32_sqrtps512_mask((smx_f16)a, (smx_f16)a, (__mmask16)-1, SMX_ROUND_AS_SET);
}
SMX_X86(__m512) _mm512_mask_loadu_ps(__m512 other, __mmask16 mask, const void *p) {
    return (__m512)__builtin_ia32_loadups512_mask((const float *)p, (smx_f16)other, mask);
}
SMX_X86(void) _mm512_mask_storeu_ps(void *p, __mmask16 mask, __m512 a) {
    __builtin_ia32_storeups512_mask((float *)p, (smx_f16)a, mask);
}
SMX_X86(__m512) _mm512_mask_mul_ps(__m512 other, __mmask16 mask, __m512 a, __m512 b) {
    return (__m512)__builtin_ia32_mulps512_mask((smx_f16)a, (smx_f16)b, (smx_f16)other, mask,
                                                SMX_ROUND_AS_SET);
}
SMX_X86(__m256) _mm256_mask_mul_ps(__m256 other, __mmask8 mask, __m256 a, __m256 b) {
    return (__m256)__builtin_ia32_mulps256_mask((smx_f8)a, (smx_f8)b, (smx_f8)other, mask);
}
#define _mm512_extractf32x8_ps(a, half)                                                                      \
    ((__m256)__builtin_ia32_extractf32x8_mask((smx_f16)(__m512)(a), half, (smx_f8){0}, (__mmask8)-1))
typedef double smx_d4 __attribute__((__vector_size__(32)));
typedef double smx_d8 __attribute__((__vector_size__(64)));
#define _mm512_castps512_ps256(a)                                                                            \
    ((__m256)__builtin_ia32_extractf64x4_mask((smx_d8)(__m512)(a), 0, (smx_d4){0}, (__mmask8)-1))
#endif
#endif

#endif
