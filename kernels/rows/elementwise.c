// elementwise.c: bias, sums, products, exp, log, sine and cosine over arrays, and the two plain reductions.
// Activations are in activation.c.
#include "kernels/core/kernel.h"

SMX_COPY(void, bias_fwd)(float *y, const float *x, const float *bias, size_t N, size_t D) {
    if (D && 16 % D == 0) { // narrow rows lie end to end
        float row[16];
        for (size_t i = 0; i < 16; i++) row[i] = bias[i % D];
        const v16 b = v16_load(row);
        V16_MAP(y, N * D, v16_add(LOAD(x), b));
        return;
    }
    for (size_t i = 0; i < N; i++) V16_MAP(y + i * D, D, v16_add(LOAD(x + i * D), LOAD(bias)));
}

SMX_COPY(void, bias_bwd)(float *restrict dbias, const float *dy, size_t N, size_t D) {
    column_sums(dbias, dy, N, D);
}

SMX_COPY(void, add)(float *y, const float *a, const float *b, size_t n) {
    V16_MAP(y, n, v16_add(LOAD(a), LOAD(b)));
}

SMX_COPY(void, mul)(float *y, const float *a, const float *b, size_t n) {
    V16_MAP(y, n, v16_mul(LOAD(a), LOAD(b)));
}

SMX_COPY(void, scale)(float *y, const float *x, float s, size_t n) {
    const v16 k = v16_set(s);
    V16_MAP(y, n, v16_mul(LOAD(x), k));
}

SMX_COPY(void, axpy)(float *y, const float *x, float s, size_t n) {
    const v16 k = v16_set(s);
    V16_MAP(y, n, v16_madd(LOAD(x), k, LOAD(y)));
}

SMX_COPY(void, exp_fwd)(float *y, const float *x, size_t n) { V16_MAP(y, n, v16_exp(LOAD(x))); }

SMX_COPY(void, log_fwd)(float *y, const float *x, size_t n) { V16_MAP(y, n, v16_log(LOAD(x))); }

SMX_COPY(void, sincos_fwd)(float *s, float *c, const float *x, size_t n) {
    for (size_t i = 0; i < n; i += 16) {
        const size_t k = smx_min(16, n - i);
        const v16 a = k == 16 ? v16_load(x + i) : v16_load_n(x + i, k, 0.0f);
        v16 sine, cosine;
        SMX_ROLLED_EACH vf_sincos(a.r[r], &sine.r[r], &cosine.r[r]);
        if (k == 16) {
            v16_store(s + i, sine);
            v16_store(c + i, cosine);
        } else {
            v16_store_n(s + i, sine, k);
            v16_store_n(c + i, cosine, k);
        }
    }
}

SMX_COPY(float, sum)(const float *x, size_t n) { return row_sum(x, n); }

SMX_COPY(float, dot)(const float *x, const float *y, size_t n) { return row_dot(x, y, n); }
