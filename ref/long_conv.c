// long_conv.c: the long convolution (Fu et al. 2023; docs/MECHANISMS.md#longconv), summed directly, and the
// real transform along time that fast versions of it use, by its definition.
#include <seqmix/ref.h>

#include <math.h>
#include <string.h>

// Squash: K = sign(K) max(|K| - lambda, 0); lambda = 0 leaves K alone, its gradient too.
static double squash(double k, double lambda) {
    return lambda == 0 ? k : copysign(fmax(fabs(k) - lambda, 0), k);
}

void ref_longconv_fwd(double *y, const double *x, const double *k, const double *skip, size_t B, size_t L,
                      size_t D, size_t taps, double lambda, size_t ld) {
    for (size_t b = 0; b < B; b++)
        for (size_t t = 0; t < L; t++)
            for (size_t c = 0; c < D; c++) {
                const double *in = x + b * L * ld + c;
                double sum = skip ? skip[c] * in[t * ld] : 0;
                for (size_t s = 0; s <= t && s < taps; s++)
                    sum += squash(k[c * taps + s], lambda) * in[(t - s) * ld];
                y[(b * L + t) * ld + c] = sum;
            }
}

void ref_longconv_bwd(double *dx, double *dk, double *dskip, const double *dy, const double *x,
                      const double *k, const double *skip, size_t B, size_t L, size_t D, size_t taps,
                      double lambda, size_t ld) {
    for (size_t b = 0; b < B; b++)
        for (size_t c = 0; c < D; c++) {
            const double *in = x + b * L * ld + c, *grad = dy + b * L * ld + c;
            for (size_t t = 0; t < L && dx; t++) {
                double sum = skip ? skip[c] * grad[t * ld] : 0;
                for (size_t s = 0; s < taps && t + s < L; s++)
                    sum += squash(k[c * taps + s], lambda) * grad[(t + s) * ld];
                dx[(b * L + t) * ld + c] = sum;
            }
            for (size_t s = 0; s < taps && s < L && dk; s++) {
                double sum = 0;
                for (size_t t = s; t < L; t++) sum += grad[t * ld] * in[(t - s) * ld];
                if (lambda == 0 || fabs(k[c * taps + s]) > lambda) dk[c * taps + s] += sum;
            }
            for (size_t t = 0; t < L && dskip; t++) dskip[c] += in[t * ld] * grad[t * ld];
        }
}

void ref_long_conv_ahead_fwd(double *y, const double *x, const double *k, size_t L, size_t D, double lambda) {
    for (size_t t = 0; t < L; t++)
        for (size_t c = 0; c < D; c++)
            for (size_t s = 0; t + 1 + s < L; s++)
                y[t * D + c] += squash(k[c * L + s], lambda) * x[(t + 1 + s) * D + c];
}

void ref_long_conv_ahead_bwd(double *dx, double *dk, const double *dy, const double *x, const double *k,
                             size_t L, size_t D, double lambda) {
    for (size_t t = 0; t < L; t++)
        for (size_t c = 0; c < D; c++)
            for (size_t s = 0; t + 1 + s < L; s++) {
                const double tap = squash(k[c * L + s], lambda);
                dx[(t + 1 + s) * D + c] += tap * dy[t * D + c];
                if (lambda == 0 || fabs(k[c * L + s]) > lambda)
                    dk[c * L + s] += dy[t * D + c] * x[(t + 1 + s) * D + c];
            }
}

static const double tau = 6.28318530717958647693; // 2 pi

// the angle 2 pi k t / N, the product reduced before it becomes one
static double angle(size_t k, size_t t, size_t N) { return tau * (double)(k * t % N) / (double)N; }

void ref_rfft_fwd(double *spectrum, const double *x, size_t B, size_t N, size_t D) {
    for (size_t b = 0; b < B; b++)
        for (size_t k = 0; k <= N / 2; k++)
            for (size_t c = 0; c < D; c++) {
                double re = 0, im = 0;
                for (size_t t = 0; t < N; t++) {
                    re += x[(b * N + t) * D + c] * cos(angle(k, t, N));
                    im -= x[(b * N + t) * D + c] * sin(angle(k, t, N));
                }
                spectrum[((b * (N / 2 + 1) + k) * 2) * D + c] = re;
                spectrum[((b * (N / 2 + 1) + k) * 2 + 1) * D + c] = im;
            }
}

// x_t = (1/N) sum_k X_k e^(2 pi i k t/N); the upper half of the spectrum is the conjugate of the lower one
void ref_rfft_inv(double *x, const double *spectrum, size_t B, size_t N, size_t D) {
    for (size_t b = 0; b < B; b++)
        for (size_t t = 0; t < N; t++)
            for (size_t c = 0; c < D; c++) {
                double sum = 0;
                for (size_t k = 0; k <= N / 2; k++) {
                    const double *X = spectrum + ((b * (N / 2 + 1) + k) * 2) * D + c;
                    if (k == 0 || 2 * k == N)
                        sum += X[0] * cos(angle(k, t, N));
                    else
                        sum += 2 * (X[0] * cos(angle(k, t, N)) - X[D] * sin(angle(k, t, N)));
                }
                x[(b * N + t) * D + c] = sum / (double)N;
            }
}
