// feature.c: elu + 1, the feature map of linear attention (Katharopoulos et al. 2020): x + 1 above 0, exp(x)
// below, which keeps the digits that elu(x) + 1 would lose. Its slope is the output where that is at most 1,
// and 1 above.
#include "kernel.h"

SMX_INLINE v16 elu1(v16 x) {
    const v16 one = v16_set(1.0f);
    return v16_select(v16_le(x, v16_set(0.0f)), v16_exp_down(x), v16_add(x, one)); // NaN stays NaN
}
void SMX_FN(elu1_fwd)(float *y, const float *x, size_t n) { V16_MAP(y, n, elu1(LOAD(x))); }
void SMX_FN(elu1_bwd)(float *dx, const float *dy, const float *y, size_t n) {
    V16_MAP(dx, n, v16_mul(LOAD(dy), v16_min(LOAD(y), v16_set(1.0f))));
}
