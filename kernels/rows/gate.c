// gate.c: the small rowwise pieces of gated layers: a scale and shift per channel, the mix of two arrays by a
// gate, softplus.
#include "kernels/core/kernel.h"

// y = gain x + bias
SMX_COPY(void, affine_fwd)
(float *y, const float *x, const float *gain, const float *bias, size_t N, size_t D) {
    for (size_t i = 0; i < N; i++) V16_MAP(y + i * D, D, v16_madd(LOAD(gain), LOAD(x + i * D), LOAD(bias)));
}
SMX_COPY(void, affine_bwd)
(float *restrict dx, float *restrict dgain, float *restrict dbias, const float *dy, const float *x,
 const float *gain, size_t N, size_t D) {
    for (size_t i = 0; i < N; i++) V16_MAP(dx + i * D, D, v16_mul(LOAD(gain), LOAD(dy + i * D)));
    for (size_t i0 = 0; i0 < N; i0 += SMX_KC)
        for (size_t c = 0; c < D; c += 16) {
            const size_t n = smx_min(16, D - c);
            v16 s = v16_set(0.0f);
            for (size_t i = i0; i < smx_min(N, i0 + SMX_KC); i++)
                s = v16_madd(v16_load_columns(x + i * D + c, n, (N - i) * D - c),
                             v16_load_columns(dy + i * D + c, n, (N - i) * D - c), s);
            v16_accumulate(dgain + c, s, n);
        }
    column_sums(dbias, dy, N, D);
}

// y = g a + (1 - g) b
SMX_COPY(void, gate_fwd)(float *y, const float *g, const float *a, const float *b, size_t n) {
    const v16 one = v16_set(1.0f);
    V16_MAP(y, n, v16_madd(v16_sub(one, LOAD(g)), LOAD(b), v16_mul(LOAD(g), LOAD(a))));
}
SMX_COPY(void, gate_bwd)
(float *restrict dg, float *restrict da, float *restrict db, const float *dy, const float *g, const float *a,
 const float *b, size_t n) {
    const v16 one = v16_set(1.0f);
    if (dg) V16_MAP(dg, n, v16_mul(LOAD(dy), v16_sub(LOAD(a), LOAD(b))));
    if (da) V16_MAP(da, n, v16_mul(LOAD(dy), LOAD(g)));
    if (db) V16_MAP(db, n, v16_mul(LOAD(dy), v16_sub(one, LOAD(g))));
}

// log(1 + e^x) = max(x, 0) + log1p(e^-|x|); log1p(e) = e log(u) / (u - 1) with u = 1 + e rounded (Kahan).
SMX_INLINE v16 softplus_16(v16 x) {
    const v16 one = v16_set(1.0f), zero = v16_set(0.0f);
    const v16 e = v16_exp_down(v16_neg(v16_abs(x))), u = v16_add(one, e), step = v16_sub(u, one);
    const m16 tiny = v16_eq(step, zero);
    const v16 quotient = v16_div(v16_mul(e, v16_log(u)), v16_select(tiny, one, step));
    return v16_add(v16_max(x, zero), v16_select(tiny, e, quotient));
}
SMX_COPY(void, softplus_fwd)(float *y, const float *x, size_t n) { V16_MAP(y, n, softplus_16(LOAD(x))); }
SMX_COPY(void, softplus_bwd)(float *dx, const float *dy, const float *x, size_t n) {
    V16_MAP(dx, n, v16_mul(LOAD(dy), v16_sigmoid(LOAD(x))));
}
