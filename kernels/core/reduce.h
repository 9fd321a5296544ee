// reduce.h: the canonical sums. Element i goes to lane i mod 16 in order of i, the tail is padded with zeros,
// and the 16 lanes meet in the tree 16 -> 8 -> 4 -> 2 -> 1. The same bits at every register width.
#ifndef SMX_REDUCE_H
#define SMX_REDUCE_H

#include <seqmix/smx.h> // SMX_KC
#include "simd.h"

// The tree for one operation: lanes i and i + half meet, half = 8, 4, 2, 1. Narrow registers meet as they
// are, wide ones are folded.
#if SMX_W == 1
#define V16_FOLD(name, op8, op4, op, one)                                                                    \
    /*@ PURE GIVES(FOLDED_##name(x)) */                                                                      \
    SMX_INLINE float name(v16 x) {                                                                           \
        /*@ FOLD(8, one) */                                                                                  \
        SMX_UNROLL for (int i = 0; i < 8; i++) x.r[i] = one(x.r[i], x.r[i + 8]);                             \
        /*@ FOLD(4, one) */                                                                                  \
        SMX_UNROLL for (int i = 0; i < 4; i++) x.r[i] = one(x.r[i], x.r[i + 4]);                             \
        return one(one(x.r[0], x.r[2]), one(x.r[1], x.r[3]));                                                \
    }
#elif SMX_W == 4
#define V16_FOLD(name, op8, op4, op, one)                                                                    \
    SMX_INLINE float name(v16 x) {                                                                           \
        const vf q = op(op(x.r[0], x.r[2]), op(x.r[1], x.r[3]));                                             \
        return one(one(q[0], q[2]), one(q[1], q[3]));                                                        \
    }
#else
#if SMX_W == 16
#define V16_HALVES(x, op8)                                                                                   \
    op8(_mm512_castps512_ps256((__m512)(x).r[0]), _mm512_extractf32x8_ps((__m512)(x).r[0], 1))
#else
#define V16_HALVES(x, op8) op8((__m256)(x).r[0], (__m256)(x).r[1])
#endif
#define V16_FOLD(name, op8, op4, op, one)                                                                    \
    SMX_INLINE float name(v16 x) {                                                                           \
        const __m256 h = V16_HALVES(x, op8);                                                                 \
        const __m128 q = op4(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1));                        \
        return one(one(q[0], q[2]), one(q[1], q[3]));                                                        \
    }
#endif
/*@ PURE GIVES(word(\result) == plus(word(a), word(b))) */
SMX_INLINE float one_add(float a, float b) { return a + b; }
/*@ PURE */
SMX_INLINE float one_max(float a, float b) { return a > b ? a : b; }
#if SMX_W == 4
SMX_INLINE vf vf_add(vf a, vf b) { return a + b; }
#endif
V16_FOLD(v16_hsum, _mm256_add_ps, _mm_add_ps, vf_add, one_add)
// Exact in any order (NaN lanes may be passed over; whoever sums the row meets them again).
V16_FOLD(v16_hmax, _mm256_max_ps, _mm_max_ps, vf_max, one_max)

// s = canonical sum over n elements of EXPRESSION, in which LOAD(p) reads as in V16_MAP. The expression must
// be 0 where every LOAD is 0.
#if defined(__wasm__) && !defined(SMX_HOT)
#define V16_SUM(s, n, expression)                                                                            \
    do {                                                                                                     \
        v16 sum_ = v16_set(0.0f);                                                                            \
        for (size_t i_ = 0, n_ = (n); i_ < n_; i_ += 16) {                                                   \
            const size_t k_ = n_ - i_ < 16 ? n_ - i_ : 16;                                                   \
            sum_ = v16_add(sum_, (expression));                                                              \
        }                                                                                                    \
        (s) = v16_hsum(sum_);                                                                                \
    } while (0)
#else
#define V16_SUM(s, n, expression)                                                                            \
    do {                                                                                                     \
        size_t i_ = 0, n_ = (n);                                                                             \
        v16 sum_ = v16_set(0.0f);                                                                            \
        /*@ ghost size_t g_ = 0; */                                                                          \
        /*@ loop invariant i_ == 16 * g_ && 0 <= i_ <= n_ && (SUMMED_##expression); \
            loop assigns i_, g_, sum_; loop variant n_ - i_; */                        \
        for (; i_ + 16 <= n_; i_ += 16) {                                                                    \
            const size_t k_ = 16;                                                                            \
            sum_ = v16_add(sum_, (expression));                                                              \
            (void)k_;                                                                                        \
            /*@ STEP_##expression */                                                                         \
            /*@ ghost g_++; */                                                                               \
        }                                                                                                    \
        if (i_ < n_) {                                                                                       \
            const size_t k_ = n_ - i_;                                                                       \
            sum_ = v16_add(sum_, (expression));                                                              \
            /*@ STEP_##expression */                                                                         \
            /*@ ghost g_++; */                                                                               \
        }                                                                                                    \
        /*@ WHOLE_##expression */                                                                            \
        (s) = v16_hsum(sum_);                                                                                \
    } while (0)
#endif

/*@ requires n <= MOST && \valid_read(x + (0 .. n - 1));
    PURE GIVES(word(\result) == row_sum_of(x, n)) */
SMX_TAIL float row_sum(const float *x, size_t n) {
    float s;
    V16_SUM(s, n, LOAD(x));
    return s;
}
/*@ requires n <= MOST && \valid_read(x + (0 .. n - 1)) && \valid_read(y + (0 .. n - 1));
    PURE */
SMX_TAIL float row_dot(const float *x, const float *y, size_t n) {
    float s;
    V16_SUM(s, n, v16_mul(LOAD(x), LOAD(y)));
    return s;
}
/*@ requires n <= MOST && \valid_read(x + (0 .. n - 1));
    PURE */
SMX_TAIL float row_max(const float *x, size_t n) {
    v16 m = v16_set(-__builtin_inff());
    size_t i = 0;
    /*@ loop invariant 0 <= i <= n; loop assigns i, m; loop variant n - i; */
    for (; i + 16 <= n; i += 16) m = v16_max(v16_load(x + i), m);
    if (i < n) m = v16_max(v16_load_n(x + i, n - i, -__builtin_inff()), m);
    return v16_hmax(m);
}

// Sixteen columns of a row-major array, of which `n` mean something: all 16 are read where `room`, the floats
// from p to the end of the array, allows it, so that only the last rows pay for a narrow tail.
SMX_INLINE v16 v16_load_columns(const float *p, size_t n, size_t room) {
    return room >= 16 ? v16_load(p) : v16_load_n(p, n, 0.0f);
}
SMX_INLINE void v16_accumulate(float *out, v16 x, size_t n) { // out[i] += x[i], i < n <= 16
    if (n == 16)
        v16_store(out, v16_add(v16_load(out), x));
    else
        v16_store_n(out, v16_add(v16_load_n(out, n, 0.0f), x), n);
}

// out [D] += column sums of x [N][D]: rows in order within blocks of SMX_KC, then block by block.
static __attribute__((unused)) void column_sums(float *out, const float *x, size_t N, size_t D) {
    for (size_t i0 = 0; i0 < N; i0 += SMX_KC) {
        const size_t end = N - i0 < SMX_KC ? N : i0 + SMX_KC;
        size_t c = 0;
        for (; c + 32 <= D; c += 32) {
            v16 s0 = v16_set(0.0f), s1 = s0;
            for (size_t i = i0; i < end; i++) {
                s0 = v16_add(s0, v16_load(x + i * D + c));
                s1 = v16_add(s1, v16_load(x + i * D + c + 16));
            }
            v16_accumulate(out + c, s0, 16);
            v16_accumulate(out + c + 16, s1, 16);
        }
        for (; c < D; c += 16) {
            const size_t n = D - c < 16 ? D - c : 16;
            v16 s = v16_set(0.0f);
            for (size_t i = i0; i < end; i++)
                s = v16_add(s, v16_load_columns(x + i * D + c, n, N * D - i * D - c));
            v16_accumulate(out + c, s, n);
        }
    }
}

#endif
