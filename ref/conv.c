// conv.c: short convolutions over time: one filter per group of channels, and filters that mix heads.
#include <seqmix/ref.h>

#include <string.h>

// Row that tap w meets at time t, or L when it lies outside the sequence.
static size_t source(size_t t, size_t w, size_t future, size_t L) {
    if (t + future < w) return L;
    size_t s = t + future - w;
    return s < L ? s : L;
}

static void clear(double *x, size_t N, size_t D, size_t ld) {
    for (size_t r = 0; r < N; r++) memset(x + r * ld, 0, D * sizeof *x);
}

// [CAT] Def. 1: (F * x)_t = sum_w F_w x_{t-w}
void ref_conv_fwd(double *y, const double *x, const double *f, size_t B, size_t L, size_t D, size_t groups,
                  size_t W, size_t future, size_t ldx, size_t ldy) {
    for (size_t b = 0; b < B; b++)
        for (size_t t = 0; t < L; t++)
            for (size_t c = 0; c < D; c++) {
                double sum = 0;
                for (size_t w = 0; w < W; w++) {
                    size_t s = source(t, w, future, L);
                    if (s < L) sum += f[c / (D / groups) * W + w] * x[(b * L + s) * ldx + c];
                }
                y[(b * L + t) * ldy + c] = sum;
            }
}

void ref_conv_bwd(double *dx, double *df, const double *dy, const double *x, const double *f, size_t B,
                  size_t L, size_t D, size_t groups, size_t W, size_t future, size_t ldx, size_t ldy) {
    if (dx) clear(dx, B * L, D, ldx);
    for (size_t b = 0; b < B; b++)
        for (size_t t = 0; t < L; t++)
            for (size_t c = 0; c < D; c++)
                for (size_t w = 0; w < W; w++) {
                    size_t s = source(t, w, future, L), tap = c / (D / groups) * W + w;
                    if (s == L) continue;
                    double g = dy[(b * L + t) * ldy + c];
                    if (dx) dx[(b * L + s) * ldx + c] += f[tap] * g;
                    if (df) df[tap] += g * x[(b * L + s) * ldx + c];
                }
}

// [CAT], multi-head filters: output head h is sum_g F[:, h, g] * X_g
void ref_conv_heads_fwd(double *y, const double *x, const double *f, size_t B, size_t L, size_t D, size_t H,
                        size_t W, size_t ldx, size_t ldy) {
    size_t d = D / H;
    clear(y, B * L, D, ldy);
    for (size_t b = 0; b < B; b++)
        for (size_t t = 0; t < L; t++)
            for (size_t w = 0; w < W && w <= t; w++)
                for (size_t h = 0; h < H; h++)
                    for (size_t g = 0; g < H; g++)
                        ref_axpy(y + (b * L + t) * ldy + h * d, x + (b * L + t - w) * ldx + g * d,
                                 f[(w * H + h) * H + g], d);
}

void ref_conv_heads_bwd(double *dx, double *df, const double *dy, const double *x, const double *f, size_t B,
                        size_t L, size_t D, size_t H, size_t W, size_t ldx, size_t ldy) {
    size_t d = D / H;
    if (dx) clear(dx, B * L, D, ldx);
    for (size_t b = 0; b < B; b++)
        for (size_t t = 0; t < L; t++)
            for (size_t w = 0; w < W && w <= t; w++)
                for (size_t h = 0; h < H; h++)
                    for (size_t g = 0; g < H; g++) {
                        size_t tap = (w * H + h) * H + g, s = (b * L + t - w) * ldx + g * d;
                        const double *gy = dy + (b * L + t) * ldy + h * d;
                        if (dx) ref_axpy(dx + s, gy, f[tap], d);
                        if (df) df[tap] += ref_dot(gy, x + s, d);
                    }
}
