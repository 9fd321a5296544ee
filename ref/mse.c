// mse.c: squared error against real-valued targets, NaN meaning no target.
#include <seqmix/ref.h>

#include <math.h>

size_t ref_mse_fwd(double *loss, const double *y, const double *target, size_t N) {
    size_t count = 0;
    for (size_t i = 0; i < N; i++) {
        loss[i] = isnan(target[i]) ? 0 : (y[i] - target[i]) * (y[i] - target[i]);
        count += !isnan(target[i]);
    }
    return count;
}

void ref_mse_bwd(double *dy, const double *y, const double *target, size_t N, double scale) {
    for (size_t i = 0; i < N; i++) dy[i] = isnan(target[i]) ? 0 : 2 * scale * (y[i] - target[i]);
}
