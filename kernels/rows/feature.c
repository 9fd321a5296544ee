// feature.c: feature maps of linear attention. elu + 1 (Katharopoulos et al. 2020): x + 1 above 0, exp(x)
// below, which keeps the digits that elu(x) + 1 would lose. Its slope is the output where that is at most 1,
// and 1 above.
#include "kernels/core/kernel.h"

SMX_INLINE v16 elu1(v16 x) {
    const v16 one = v16_set(1.0f);
    return v16_select(v16_le(x, v16_set(0.0f)), v16_exp_down(x), v16_add(x, one)); // NaN stays NaN
}
SMX_COPY(void, elu1_fwd)(float *y, const float *x, size_t n) { V16_MAP(y, n, elu1(LOAD(x))); }
SMX_COPY(void, elu1_bwd)(float *dx, const float *dy, const float *y, size_t n) {
    V16_MAP(dx, n, v16_mul(LOAD(dy), v16_min(LOAD(y), v16_set(1.0f))));
}

// Based's (Arora et al. 2024): 1, x, and the products of pairs, scaled.
typedef struct {
    float one, square, pair; // d^(-1/4), (2 d)^(-1/2), d^(-1/2)
} taylor_scales;
static taylor_scales scales_of(size_t d) {
    float t[16];
    const v16 one = v16_set(1.0f), root = v16_sqrt(v16_set((float)d));
    v16_store(t, v16_div(one, v16_sqrt(root)));
    const float first = t[0];
    v16_store(t, v16_div(one, v16_sqrt(v16_set(2.0f * (float)d))));
    const float square = t[0];
    v16_store(t, v16_div(one, root));
    return (taylor_scales){first, square, t[0]};
}
SMX_COPY(void, taylor_fwd)(float *restrict y, const float *x, size_t N, size_t d) {
    const taylor_scales s = scales_of(d);
    const v16 one = v16_set(s.one);
    for (; N > 0; N--, x += d) {
        *y++ = 1.0f;
        V16_MAP(y, d, v16_mul(LOAD(x), one));
        y += d;
        for (size_t i = 0; i < d; i++, y += d - i + 1) {
            const float *from = x + i;
            const v16 factor = v16_set(x[i] * s.pair);
            V16_MAP(y, d - i, v16_mul(LOAD(from), factor));
            y[0] = x[i] * x[i] * s.square;
        }
    }
}
// dx_i = dy_i one + sum_j pair dy_ij x_j, the square counted twice
SMX_COPY(void, taylor_bwd)(float *restrict dx, const float *dy, const float *x, size_t N, size_t d) {
    const taylor_scales s = scales_of(d);
    const v16 one = v16_set(s.one);
    for (; N > 0; N--, x += d, dx += d) {
        dy++;
        V16_MAP(dx, d, v16_mul(LOAD(dy), one));
        dy += d;
        for (size_t i = 0; i < d; i++, dy += d - i + 1) {
            const float *to = x + i + 1, *of = dy + 1;
            float *more = dx + i + 1;
            const v16 factor = v16_set(x[i] * s.pair);
            float sum;
            V16_SUM(sum, d - i - 1, v16_mul(LOAD(to), LOAD(of)));
            V16_MAP(more, d - i - 1, v16_madd(LOAD(of), factor, LOAD(more)));
            dx[i] += sum * s.pair + 2.0f * dy[0] * x[i] * s.square;
        }
    }
}
