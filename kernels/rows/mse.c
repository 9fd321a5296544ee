// mse.c: squared error against real-valued targets, NaN meaning no target.
#include "kernels/core/kernel.h"

SMX_COPY(size_t, mse_fwd)(float *restrict loss, const float *y, const float *target, size_t N) {
    size_t count = 0;
    for (size_t i = 0; i < N; i++) {
        const int asked = target[i] == target[i];
        const float e = asked ? y[i] - target[i] : 0.0f;
        loss[i] = e * e;
        count += (size_t)asked;
    }
    return count;
}

SMX_COPY(void, mse_bwd)(float *dy, const float *y, const float *target, size_t N, float scale) {
    const float twice = 2.0f * scale;
    for (size_t i = 0; i < N; i++) dy[i] = target[i] == target[i] ? twice * (y[i] - target[i]) : 0.0f;
}
