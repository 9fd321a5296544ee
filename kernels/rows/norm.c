// norm.c: LayerNorm, RMSNorm and the unit l2 norm over rows. The gradients of gain and bias run over blocks
// of SMX_KC rows, whose partial sums stay in registers, so no scratch is needed.
#include "kernels/core/kernel.h"

/*@ PURE */
SMX_INLINE float reciprocal_root(float x) {
    float t[16];
    v16_store(t, v16_div(v16_set(1.0f), v16_sqrt(v16_set(x))));
    return t[0];
}

// sum over the row of (x - mean)^2; the padding lanes hold the mean and so give 0.
/*@ requires D <= MOST && \valid_read(x + (0 .. D - 1));
    PURE */
SMX_INLINE float sum_of_squared_deviations(const float *x, float mean, size_t D) {
    const v16 m = v16_set(mean);
    v16 s = v16_set(0.0f);
    size_t i = 0;
    /*@ loop invariant 0 <= i <= D; loop assigns i, s; loop variant D - i; */
    for (; i + 16 <= D; i += 16) {
        const v16 c = v16_sub(v16_load(x + i), m);
        s = v16_madd(c, c, s);
    }
    if (i < D) {
        const v16 c = v16_sub(v16_load_n(x + i, D - i, mean), m);
        s = v16_madd(c, c, s);
    }
    return v16_hsum(s);
}

/*@ requires N * D <= MOST && D <= MOST && N <= MOST;
    requires \valid(y + (0 .. N * D - 1)) && \valid(stats + (0 .. 2 * N - 1));
    requires \valid_read(x + (0 .. N * D - 1)) && \valid_read(gain + (0 .. D - 1)) && \valid_read(bias + (0 .. D - 1));
    assigns y[0 .. N * D - 1], stats[0 .. 2 * N - 1]; */
SMX_COPY(void, layernorm_fwd)
(float *restrict y, float *restrict stats, const float *x, const float *gain, const float *bias, size_t N,
 size_t D, float eps) {
    /*@ loop invariant 0 <= i <= N;
        loop assigns i, y[0 .. N * D - 1], stats[0 .. 2 * N - 1];
        loop variant N - i; */
    for (size_t i = 0; i < N; i++) {
        /*@ assert within(i, D, N); */
        const float *row = x + i * D;
        const float mean = row_sum(row, D) / (float)D;
        const float rstd = reciprocal_root(sum_of_squared_deviations(row, mean, D) / (float)D + eps);
        const v16 m = v16_set(mean), s = v16_set(rstd);
        V16_MAP(y + i * D, D, v16_madd(v16_mul(v16_sub(LOAD(row), m), s), LOAD(gain), LOAD(bias)));
        stats[2 * i] = mean;
        stats[2 * i + 1] = rstd;
    }
}

// With h = (x - mean) rstd and u = dy gain: dx = rstd (u - mean(u) - h mean(u h)).
static void layernorm_row(float *dx, const float *dy, const float *x, const float *gain, float mean,
                          float rstd, size_t D) {
    const v16 m = v16_set(mean), s = v16_set(rstd);
    float sum_u, sum_uh;
    V16_SUM(sum_u, D, v16_mul(LOAD(dy), LOAD(gain)));
    // The padding lanes are 0 because dy is 0 there.
    V16_SUM(sum_uh, D, v16_mul(v16_mul(LOAD(dy), LOAD(gain)), v16_mul(v16_sub(LOAD(x), m), s)));
    const v16 mu = v16_set(sum_u / (float)D), muh = v16_set(sum_uh / (float)D);
    V16_MAP(dx, D,
            v16_mul(s, v16_sub(v16_sub(v16_mul(LOAD(dy), LOAD(gain)), mu),
                               v16_mul(v16_mul(v16_sub(LOAD(x), m), s), muh))));
}

SMX_COPY(void, layernorm_bwd)
(float *restrict dx, float *restrict dgain, float *restrict dbias, const float *dy, const float *x,
 const float *gain, const float *stats, size_t N, size_t D) {
    for (size_t i0 = 0; i0 < N; i0 += SMX_KC) {
        const size_t end = smx_min(N, i0 + SMX_KC);
        for (size_t i = i0; i < end; i++)
            layernorm_row(dx + i * D, dy + i * D, x + i * D, gain, stats[2 * i], stats[2 * i + 1], D);
        for (size_t c = 0; c < D; c += 16) {
            const size_t n = smx_min(16, D - c);
            v16 sum_gain = v16_set(0.0f), sum_bias = sum_gain;
            for (size_t i = i0; i < end; i++) {
                const size_t at = i * D + c, room = N * D - at;
                const v16 d = v16_load_columns(dy + at, n, room);
                const v16 h = v16_mul(v16_sub(v16_load_columns(x + at, n, room), v16_set(stats[2 * i])),
                                      v16_set(stats[2 * i + 1]));
                sum_gain = v16_madd(d, h, sum_gain);
                sum_bias = v16_add(sum_bias, d);
            }
            v16_accumulate(dgain + c, sum_gain, n);
            v16_accumulate(dbias + c, sum_bias, n);
        }
    }
}

/*@ requires N * D <= MOST && D <= MOST && N <= MOST;
    requires \valid(y + (0 .. N * D - 1)) && \valid(rstd + (0 .. N - 1));
    requires \valid_read(x + (0 .. N * D - 1)) && \valid_read(gain + (0 .. D - 1));
    assigns y[0 .. N * D - 1], rstd[0 .. N - 1]; */
SMX_COPY(void, rmsnorm_fwd)
(float *restrict y, float *restrict rstd, const float *x, const float *gain, size_t N, size_t D, float eps) {
    /*@ loop invariant 0 <= i <= N;
        loop assigns i, y[0 .. N * D - 1], rstd[0 .. N - 1];
        loop variant N - i; */
    for (size_t i = 0; i < N; i++) {
        /*@ assert within(i, D, N); */
        const float *row = x + i * D;
        rstd[i] = reciprocal_root(row_dot(row, row, D) / (float)D + eps);
        const v16 s = v16_set(rstd[i]);
        V16_MAP(y + i * D, D, v16_mul(v16_mul(LOAD(row), s), LOAD(gain)));
    }
}

// With h = x rstd and u = dy gain: dx = rstd (u - h mean(u h)).
static void rmsnorm_row(float *dx, const float *dy, const float *x, const float *gain, float rstd, size_t D) {
    const v16 s = v16_set(rstd);
    float sum_uh;
    V16_SUM(sum_uh, D, v16_mul(v16_mul(LOAD(dy), LOAD(gain)), v16_mul(LOAD(x), s)));
    const v16 muh = v16_set(sum_uh / (float)D);
    V16_MAP(dx, D, v16_mul(s, v16_sub(v16_mul(LOAD(dy), LOAD(gain)), v16_mul(v16_mul(LOAD(x), s), muh))));
}

SMX_COPY(void, rmsnorm_bwd)
(float *restrict dx, float *restrict dgain, const float *dy, const float *x, const float *gain,
 const float *rstd, size_t N, size_t D) {
    for (size_t i0 = 0; i0 < N; i0 += SMX_KC) {
        const size_t end = smx_min(N, i0 + SMX_KC);
        for (size_t i = i0; i < end; i++) rmsnorm_row(dx + i * D, dy + i * D, x + i * D, gain, rstd[i], D);
        for (size_t c = 0; c < D; c += 16) {
            const size_t n = smx_min(16, D - c);
            v16 sum = v16_set(0.0f);
            for (size_t i = i0; i < end; i++) {
                const size_t at = i * D + c, room = N * D - at;
                const v16 h = v16_mul(v16_load_columns(x + at, n, room), v16_set(rstd[i]));
                sum = v16_madd(v16_load_columns(dy + at, n, room), h, sum);
            }
            v16_accumulate(dgain + c, sum, n);
        }
    }
}

/*@ requires N * D <= MOST && D <= MOST && N <= MOST;
    requires \valid(y + (0 .. N * D - 1)) && \valid(rnorm + (0 .. N - 1));
    requires \valid_read(x + (0 .. N * D - 1));
    assigns y[0 .. N * D - 1], rnorm[0 .. N - 1]; */
SMX_COPY(void, unitnorm_fwd)(float *restrict y, float *restrict rnorm, const float *x, size_t N, size_t D) {
    /*@ loop invariant 0 <= i <= N;
        loop assigns i, y[0 .. N * D - 1], rnorm[0 .. N - 1];
        loop variant N - i; */
    for (size_t i = 0; i < N; i++) {
        /*@ assert within(i, D, N); */
        const float *row = x + i * D;
        const float square = row_dot(row, row, D);
        // 1e-12 squared; a NaN goes the other way and shows.
        rnorm[i] = square <= 1e-24f ? 0.0f : reciprocal_root(square);
        const v16 s = v16_set(rnorm[i]);
        V16_MAP(y + i * D, D, v16_mul(LOAD(row), s));
    }
}

// With y = x rnorm: dx = rnorm (dy - y (y . dy)).
SMX_COPY(void, unitnorm_bwd)
(float *restrict dx, const float *dy, const float *x, const float *rnorm, size_t N, size_t D) {
    for (size_t i = 0; i < N; i++) {
        const float *row = x + i * D, *d = dy + i * D;
        const v16 s = v16_set(rnorm[i]);
        float dot;
        V16_SUM(dot, D, v16_mul(v16_mul(LOAD(row), s), LOAD(d)));
        const v16 along = v16_set(dot);
        V16_MAP(dx + i * D, D, v16_mul(s, v16_sub(LOAD(d), v16_mul(v16_mul(LOAD(row), s), along))));
    }
}
