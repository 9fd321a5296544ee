// reduce.h: the canonical sums. Element i goes to lane i mod 16 in order of i, the tail is padded with zeros, and the
// 16 lanes meet in the tree 16 -> 8 -> 4 -> 2 -> 1. The same bits at every register width.
#ifndef SMX_REDUCE_H
#define SMX_REDUCE_H

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

#endif
