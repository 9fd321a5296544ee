// reduce.h: the canonical sums. Element i goes to lane i mod 16 in order of i, the tail is padded with zeros, and the
// 16 lanes meet in the tree 16 -> 8 -> 4 -> 2 -> 1. The same bits at every register width.
#ifndef SMX_REDUCE_H
#define SMX_REDUCE_H

#include "smx.h" // SMX_KC
#include "simd.h"

SMX_INLINE float v16_hsum(v16 x) {
    float t[16];
    v16_store(t, x);
    for (int half = 8; half >= 1; half /= 2)
        for (int i = 0; i < half; i++) t[i] += t[i + half];
    return t[0];
}

// Exact in any order (NaN lanes may be passed over; whoever sums the row meets them again).
SMX_INLINE float v16_hmax(v16 x) {
    float t[16];
    v16_store(t, x);
    for (int half = 8; half >= 1; half /= 2)
        for (int i = 0; i < half; i++) t[i] = t[i] > t[i + half] ? t[i] : t[i + half];
    return t[0];
}

// s = canonical sum over n elements of EXPRESSION, in which LOAD(p) reads as in V16_MAP. The expression must be 0 where
// every LOAD is 0.
#define V16_SUM(s, n, expression)                                                                                      \
    do {                                                                                                               \
        size_t i_ = 0, n_ = (n);                                                                                       \
        v16 sum_ = v16_set(0.0f);                                                                                      \
        for (; i_ + 16 <= n_; i_ += 16) {                                                                              \
            const size_t k_ = 16;                                                                                      \
            sum_ = v16_add(sum_, (expression));                                                                        \
            (void)k_;                                                                                                  \
        }                                                                                                              \
        if (i_ < n_) {                                                                                                 \
            const size_t k_ = n_ - i_;                                                                                 \
            sum_ = v16_add(sum_, (expression));                                                                        \
        }                                                                                                              \
        (s) = v16_hsum(sum_);                                                                                          \
    } while (0)

SMX_INLINE float row_sum(const float *x, size_t n) {
    float s;
    V16_SUM(s, n, LOAD(x));
    return s;
}
SMX_INLINE float row_dot(const float *x, const float *y, size_t n) {
    float s;
    V16_SUM(s, n, v16_mul(LOAD(x), LOAD(y)));
    return s;
}
SMX_INLINE float row_max(const float *x, size_t n) {
    v16 m = v16_set(-__builtin_inff());
    size_t i = 0;
    for (; i + 16 <= n; i += 16) m = v16_max(v16_load(x + i), m);
    if (i < n) m = v16_max(v16_load_n(x + i, n - i, -__builtin_inff()), m);
    return v16_hmax(m);
}

// Sixteen columns of a row-major array, of which `n` mean something: all 16 are read where `room`, the floats from p
// to the end of the array, allows it, so that only the last rows pay for a narrow tail.
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
