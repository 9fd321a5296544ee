// loss.c: cross-entropy over rows of logits, and the column of the largest.
#include "kernels/core/kernel.h"

// sum over the row of exp(x - max)
SMX_INLINE float exp_sum(const float *x, float max, size_t V) {
    const v16 m = v16_set(max);
    v16 s = v16_set(0.0f);
    size_t i = 0;
    for (; i + 16 <= V; i += 16) s = v16_add(s, v16_softmax_exp(v16_sub(v16_load(x + i), m)));
    // The lanes past the end hold max - infinity, whose exp is 0 (NaN where the row is NaN anyway).
    if (i < V) s = v16_add(s, v16_softmax_exp(v16_sub(v16_load_n(x + i, V - i, -SMX_INF), m)));
    return v16_hsum(s);
}

SMX_INLINE float log_of(float x) {
    float t[16];
    v16_store(t, v16_log(v16_set(x)));
    return t[0];
}

SMX_COPY(size_t, cross_entropy_fwd)
(float *restrict loss, float *restrict stats, const float *logits, const int32_t *target, size_t N,
 size_t V) {
    size_t counted = 0;
    for (size_t i = 0; i < N; i++) {
        const float *x = logits + i * V;
        const uint32_t t = (uint32_t)target[i];
        if (t >= V) {
            loss[i] = stats[2 * i] = stats[2 * i + 1] = 0.0f;
            continue;
        }
        const float max = row_max(x, V), sum = exp_sum(x, max, V);
        loss[i] = log_of(sum) - (x[t] - max);
        stats[2 * i] = max;
        stats[2 * i + 1] = 1.0f / sum;
        counted++;
    }
    return counted;
}

SMX_COPY(void, cross_entropy_bwd)
(float *restrict dlogits, const float *logits, const int32_t *target, const float *stats, size_t N, size_t V,
 float scale) {
    for (size_t i = 0; i < N; i++) {
        const float *x = logits + i * V;
        float *dx = dlogits + i * V;
        const uint32_t t = (uint32_t)target[i];
        if (t >= V) {
            memset(dx, 0, V * sizeof *dx);
            continue;
        }
        const v16 max = v16_set(stats[2 * i]), weight = v16_set(scale * stats[2 * i + 1]);
        V16_MAP(dx, V, v16_mul(v16_softmax_exp(v16_sub(LOAD(x), max)), weight));
        dx[t] -= scale;
    }
}

SMX_COPY(void, argmax)(int32_t *restrict best, const float *x, size_t N, size_t V) {
    for (size_t i = 0; i < N; i++) {
        const float *row = x + i * V;
        const float max = row_max(row, V);
        size_t c = 0;
        while (c < V && row[c] != max) c++;
        best[i] = c < V ? (int32_t)c : 0; // a row of NaN: column 0
    }
}
