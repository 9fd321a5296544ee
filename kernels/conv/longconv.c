// longconv.c: the depthwise causal convolution with a kernel as long as the sequence, by the transform of
// fft_rows.h (docs/MECHANISMS.md#longconv). N >= 2L rows make the circular product linear; kernel and
// sequence fill half of them, so the first split copies.
#include "kernels/spectral/fft_rows.h"

// Soft threshold (Fu et al. 2023): sign(k) max(|k| - lambda, 0); lambda = 0 leaves k alone, its gradient too.
// k - k: 0, but NaN stays.
static float squash(float k, float lambda) {
    return k > lambda ? k - lambda : k < -lambda ? k + lambda : k - k;
}

// 16 channels of a sequence, padded to N rows and split down to complex parts: both halves of the first split
// are the sequence.
static void load_padded(float *rows, const float *x, size_t n, size_t L, size_t ld, size_t N) {
    float *second = rows + N / 2 * FFT_LANES;
    for (size_t t = 0; t < N / 2; t++) {
        const v16 row = fft_load_row(x, t, n, L, ld);
        v16_store(rows + t * FFT_LANES, row);
        v16_store(second + t * FFT_LANES, row);
    }
    fft_split_real(rows, N / 2);
}

// By powers of two: 1/N of a real value, 2/N of a complex one, which stands for its conjugate too.
static void scale_spectrum(float *rows, size_t count, float by) {
    for (size_t i = 0; i < count * FFT_LANES; i += SMX_W) vf_store(rows + i, vf_set(by) * vf_load(rows + i));
}

// Kernel k [n][taps] transposed to rows, squashed, cut at L, and transformed;
// scaled by 1/N once for all products.
static void kernel_spectrum(float *rows, const float *k, size_t n, size_t taps, float lambda, size_t L,
                            size_t N, const float *table) {
    memset(rows, 0, N / 2 * FFT_LANES * sizeof *rows);
    for (size_t t0 = 0; t0 < smx_min(taps, L); t0 += 16)
        for (size_t c = 0; c < n; c++)
            for (size_t t = t0; t < smx_min(smx_min(taps, L), t0 + 16); t++)
                rows[t * FFT_LANES + c] = squash(k[c * taps + t], lambda);
    memcpy(rows + N / 2 * FFT_LANES, rows, N / 2 * FFT_LANES * sizeof *rows);
    fft_split_real(rows, N / 2);
    fft_split_parts(rows, N, table);
    scale_spectrum(rows, 2, 1.0f / (float)N);
    scale_spectrum(rows + 2 * FFT_LANES, N - 2, 2.0f / (float)N);
}

// A complex part goes depth first, down, through the product, and up again: what fits the cache is read once.
// x = x k; `im` floats lie between real and imaginary parts.
static void convolve(float *x, const float *k, size_t im, size_t M, size_t h, const float *table) {
    if (M > FFT_NEAR) {
        const size_t quarter = M / 4 * FFT_LANES;
        fft_split_level(x, x + im, quarter, table + h * FFT_TWIDDLE);
        for (size_t i = 0; i < 4; i++)
            convolve(x + i * quarter, k + i * quarter, im, M / 4, 4 * h + i, table);
        fft_join_level(x, x + im, quarter, table + h * FFT_TWIDDLE);
        return;
    }
    fft_split_complex(x, x + im, M, h, table);
    for (size_t i = 0; i < M * FFT_LANES; i += SMX_W)
        vc_store(x, x + im, i, vc_mul(vc_load(x, x + im, i), vc_load(k, k + im, i)));
    fft_join_complex(x, x + im, M, h, table);
}

// dk += g conj(x), or =, for the first sequence; of the last one it is scaled and joined. Then g = g conj(k).
typedef struct {
    float *g, *x, *dk;
    const float *k;
    size_t N;
    int first, last;
} correlation;
SMX_INLINE void correlate_block(const correlation *s, size_t at, size_t im, size_t count, const int first) {
    float *g = s->g + at, *dk = s->dk + at;
    const float *x = s->x + at, *k = s->k + at;
    for (size_t i = 0; i < count; i += SMX_W) {
        const vc a = vc_load(g, g + im, i), p = vc_mul_conj(a, vc_load(x, x + im, i));
        vc_store(dk, dk + im, i, first ? p : vc_add(vc_load(dk, dk + im, i), p));
        vc_store(g, g + im, i, vc_mul_conj(a, vc_load(k, k + im, i)));
    }
}
static void correlate(const correlation *s, size_t at, size_t im, size_t M, size_t h, const float *table) {
    float *g = s->g + at, *x = s->x + at, *dk = s->dk + at;
    if (M > FFT_NEAR) {
        const size_t quarter = M / 4 * FFT_LANES;
        const float *twiddle = table + h * FFT_TWIDDLE;
        fft_split_level(x, x + im, quarter, twiddle);
        fft_split_level(g, g + im, quarter, twiddle);
        for (size_t i = 0; i < 4; i++) correlate(s, at + i * quarter, im, M / 4, 4 * h + i, table);
        fft_join_level(g, g + im, quarter, twiddle);
        if (s->last) fft_join_level(dk, dk + im, quarter, twiddle);
        return;
    }
    fft_split_complex(x, x + im, M, h, table);
    fft_split_complex(g, g + im, M, h, table);
    if (s->first)
        correlate_block(s, at, im, M * FFT_LANES, 1);
    else
        correlate_block(s, at, im, M * FFT_LANES, 0);
    fft_join_complex(g, g + im, M, h, table);
    if (!s->last) return;
    scale_spectrum(dk, M, 2.0f / (float)s->N);
    scale_spectrum(dk + im, M, 2.0f / (float)s->N);
    fft_join_complex(dk, dk + im, M, h, table);
}
// Rows 0 and 1 are real.
static void correlate_real(const correlation *s) {
    for (size_t i = 0; i < 2 * FFT_LANES; i += SMX_W) {
        const vf a = vf_load(s->g + i), p = a * vf_load(s->x + i);
        vf_store(s->dk + i, s->first ? p : vf_load(s->dk + i) + p);
        vf_store(s->g + i, a * vf_load(s->k + i));
    }
    if (s->last) scale_spectrum(s->dk, 2, 1.0f / (float)s->N);
}

// y = sum of the halves (+ skip x)
static void store_sum(float *y, const float *rows, const float *x, const float *skip, size_t n, size_t L,
                      size_t ld, size_t N) {
    const v16 s = skip ? v16_load_n(skip, n, 0.0f) : v16_set(0.0f);
    for (size_t t = 0; t < L; t++) {
        v16 sum = v16_add(v16_load(rows + t * FFT_LANES), v16_load(rows + (N / 2 + t) * FFT_LANES));
        if (skip) sum = v16_madd(s, fft_load_row(x, t, n, L, ld), sum);
        fft_store_row(y + t * ld, sum, n);
    }
}

SMX_COPY(void, longconv_fwd)
(float *restrict y, float *restrict spectrum, const float *x, const smx_longconv_weights *weights,
 const float *table, void *scratch, const smx_longconv *p) {
    const size_t B = p->B, L = p->L, D = p->D, taps = p->taps, ld = p->ld, N = fft_longconv_rows(L);
    const float *skip = weights->skip;
    float *rows = scratch;
    for (size_t c = 0; L > 0 && c < D; c += FFT_LANES) {
        const size_t n = smx_min(FFT_LANES, D - c);
        float *kernel = spectrum + c * N;
        kernel_spectrum(kernel, weights->k + c * taps, n, taps, p->lambda, L, N, table);
        for (size_t b = 0; b < B; b++) {
            const float *in = x + b * L * ld + c;
            load_padded(rows, in, n, L, ld, N);
            for (size_t i = 0; i < 2 * FFT_LANES; i += SMX_W)
                vf_store(rows + i, vf_load(rows + i) * vf_load(kernel + i));
            for (size_t M = 1; 2 * M < N; M *= 2)
                convolve(rows + 2 * M * FFT_LANES, kernel + 2 * M * FFT_LANES, M * FFT_LANES, M, 1, table);
            fft_join_real(rows, N / 2);
            store_sum(y + b * L * ld + c, rows, in, skip ? skip + c : NULL, n, L, ld, N);
        }
    }
}

// dskip += sum over time of x dy, in blocks of SMX_KC
static void skip_gradient(float *dskip, const float *dy, const float *x, size_t n, size_t L, size_t ld) {
    for (size_t t0 = 0; t0 < L; t0 += SMX_KC) {
        v16 s = v16_set(0.0f);
        for (size_t t = t0; t < smx_min(L, t0 + SMX_KC); t++)
            s = v16_madd(fft_load_row(x, t, n, L, ld), fft_load_row(dy, t, n, L, ld), s);
        v16_accumulate(dskip, s, n);
    }
}

SMX_COPY(void, longconv_bwd)
(float *dx, const smx_longconv_gradients *dweights, const float *dy, const float *x,
 const smx_longconv_weights *weights, const float *spectrum, const float *table, void *scratch,
 const smx_longconv *p) {
    const size_t B = p->B, L = p->L, D = p->D, taps = p->taps, ld = p->ld, N = fft_longconv_rows(L);
    const float *k = weights->k, *skip = weights->skip, lambda = p->lambda;
    float *dk = dweights->k, *dskip = dweights->skip;
    float *xs = scratch, *gs = xs + N * FFT_LANES, *ks = gs + N * FFT_LANES;
    for (size_t c = 0; L > 0 && B > 0 && c < D; c += FFT_LANES) {
        const size_t n = smx_min(FFT_LANES, D - c);
        for (size_t b = 0; b < B; b++) {
            const float *in = x + b * L * ld + c, *grad = dy + b * L * ld + c;
            const correlation s = {gs, xs, ks, spectrum + c * N, N, b == 0, b + 1 == B};
            load_padded(xs, in, n, L, ld, N);
            load_padded(gs, grad, n, L, ld, N);
            correlate_real(&s);
            for (size_t M = 1; 2 * M < N; M *= 2)
                correlate(&s, 2 * M * FFT_LANES, M * FFT_LANES, M, 1, table);
            if (dskip) skip_gradient(dskip + c, grad, in, n, L, ld);
            if (!dx) continue;
            fft_join_real(gs, N / 2);
            store_sum(dx + b * L * ld + c, gs, grad, skip ? skip + c : NULL, n, L, ld, N);
        }
        fft_join_real(ks, N / 2);
        const size_t end = smx_min(taps, L);
        for (size_t t0 = 0; t0 < end; t0 += 16)
            for (size_t ch = 0; ch < n; ch++)
                for (size_t t = t0; t < smx_min(end, t0 + 16); t++) {
                    const size_t at = (c + ch) * taps + t;
                    if (lambda == 0.0f || squash(k[at], lambda) != 0.0f)
                        dk[at] += ks[t * FFT_LANES + ch] + ks[(N / 2 + t) * FFT_LANES + ch];
                }
    }
}
