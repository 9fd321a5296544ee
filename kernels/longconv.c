// longconv.c: the depthwise causal convolution with a kernel as long as the sequence, by the transform of fft_rows.h
// (MECHANISMS 5). N >= 2L rows make the circular product linear; kernel and sequence fill half of them, so the first
// split copies.
#include "fft_rows.h"

// Soft threshold (Fu et al. 2023): sign(k) max(|k| - lambda, 0); lambda = 0 leaves k alone, its gradient too.
static float squash(float k, float lambda) {
    return k > lambda ? k - lambda : k < -lambda ? k + lambda : 0.0f;
}

// 16 channels of a sequence, padded to N rows, to their spectrum: both halves of the first split are the sequence.
static void split_halves(float *rows, size_t N, const float *table) {
    fft_split_negacyclic(rows + N / 2 * FFT_LANES, N / 2, table);
    fft_split(rows, N / 2, table);
}
static void load_padded(float *rows, const float *x, size_t n, size_t L, size_t ld, size_t N,
                        const float *table) {
    float *second = rows + N / 2 * FFT_LANES;
    for (size_t t = 0; t < N / 2; t++) {
        const v16 row = fft_load_row(x, t, n, L, ld);
        v16_store(rows + t * FFT_LANES, row);
        v16_store(second + t * FFT_LANES, row);
    }
    split_halves(rows, N, table);
}
// Back, unscaled: row t of the sequence is the sum of rows t and N/2 + t.
static void join_padded(float *rows, size_t N, const float *table) {
    fft_join_negacyclic(rows + N / 2 * FFT_LANES, N / 2, table);
    fft_join(rows, N / 2, table);
}

// Each complex value stands for itself and its conjugate: it counts twice. All factors are powers of two.
static void scale_spectrum(float *rows, size_t N) {
    const v16 one = v16_set(1.0f / (float)N), two = v16_set(2.0f / (float)N);
    for (size_t r = 0; r < N; r++)
        v16_store(rows + r * FFT_LANES, v16_mul(r < 2 ? one : two, v16_load(rows + r * FFT_LANES)));
}

// Kernel k [n][taps] transposed to rows, squashed, cut at L, and transformed; scaled by 1/N once for all products.
static void kernel_spectrum(float *rows, const float *k, size_t n, size_t taps, float lambda, size_t L,
                            size_t N, const float *table) {
    memset(rows, 0, N / 2 * FFT_LANES * sizeof *rows);
    for (size_t t0 = 0; t0 < smx_min(taps, L); t0 += 16)
        for (size_t c = 0; c < n; c++)
            for (size_t t = t0; t < smx_min(smx_min(taps, L), t0 + 16); t++)
                rows[t * FFT_LANES + c] = squash(k[c * taps + t], lambda);
    memcpy(rows + N / 2 * FFT_LANES, rows, N / 2 * FFT_LANES * sizeof *rows);
    split_halves(rows, N, table);
    scale_spectrum(rows, N);
}

// a times b, a times conj(b) over whole spectra: OUT(re or im offset) is written by `body` from a and b.
#define EACH_VALUE(N, re, im)                                                                                \
    for (size_t part_ = 1; 2 * part_ < (N); part_ *= 2)                                                      \
        for (size_t re = 2 * part_ * FFT_LANES, im = re + part_ * FFT_LANES, end_ = im; re < end_;           \
             re += SMX_W, im += SMX_W)

static void multiply(float *x, const float *k, size_t N) {
    for (size_t i = 0; i < 2 * FFT_LANES; i += SMX_W) vf_store(x + i, vf_load(x + i) * vf_load(k + i));
    EACH_VALUE(N, re, im) {
        vc y = vc_mul((vc){vf_load(x + re), vf_load(x + im)}, (vc){vf_load(k + re), vf_load(k + im)});
        vf_store(x + re, y.re);
        vf_store(x + im, y.im);
    }
}
// dk += g conj(x) (or =, for the first), then g = g conj(k).
SMX_INLINE void multiply_back(float *g, float *dk, const float *x, const float *k, size_t N,
                              const int first) {
    for (size_t i = 0; i < 2 * FFT_LANES; i += SMX_W) {
        vf a = vf_load(g + i), p = a * vf_load(x + i);
        vf_store(dk + i, first ? p : vf_load(dk + i) + p);
        vf_store(g + i, a * vf_load(k + i));
    }
    EACH_VALUE(N, re, im) {
        vc a = {vf_load(g + re), vf_load(g + im)};
        vc p = vc_mul_conj(a, (vc){vf_load(x + re), vf_load(x + im)});
        vc q = vc_mul_conj(a, (vc){vf_load(k + re), vf_load(k + im)});
        vf_store(dk + re, first ? p.re : vf_load(dk + re) + p.re);
        vf_store(dk + im, first ? p.im : vf_load(dk + im) + p.im);
        vf_store(g + re, q.re);
        vf_store(g + im, q.im);
    }
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

void SMX_FN(longconv_fwd)(float *restrict y, float *restrict spectrum, const float *x, const float *k,
                          const float *skip, const float *table, void *scratch, size_t B, size_t L, size_t D,
                          size_t taps, float lambda, size_t ld) {
    const size_t N = fft_longconv_rows(L);
    float *rows = scratch;
    for (size_t c = 0; L > 0 && c < D; c += FFT_LANES) {
        const size_t n = smx_min(FFT_LANES, D - c);
        float *kernel = spectrum + c * N;
        kernel_spectrum(kernel, k + c * taps, n, taps, lambda, L, N, table);
        for (size_t b = 0; b < B; b++) {
            const float *in = x + b * L * ld + c;
            load_padded(rows, in, n, L, ld, N, table);
            multiply(rows, kernel, N);
            join_padded(rows, N, table);
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

void SMX_FN(longconv_bwd)(float *dx, float *dk, float *dskip, const float *dy, const float *x, const float *k,
                          const float *skip, const float *spectrum, const float *table, void *scratch,
                          size_t B, size_t L, size_t D, size_t taps, float lambda, size_t ld) {
    const size_t N = fft_longconv_rows(L);
    float *xs = scratch, *gs = xs + N * FFT_LANES, *ks = gs + N * FFT_LANES;
    for (size_t c = 0; L > 0 && B > 0 && c < D; c += FFT_LANES) {
        const size_t n = smx_min(FFT_LANES, D - c);
        for (size_t b = 0; b < B; b++) {
            const float *in = x + b * L * ld + c, *grad = dy + b * L * ld + c;
            load_padded(xs, in, n, L, ld, N, table);
            load_padded(gs, grad, n, L, ld, N, table);
            if (b == 0)
                multiply_back(gs, ks, xs, spectrum + c * N, N, 1);
            else
                multiply_back(gs, ks, xs, spectrum + c * N, N, 0);
            if (dskip) skip_gradient(dskip + c, grad, in, n, L, ld);
            if (!dx) continue;
            join_padded(gs, N, table);
            store_sum(dx + b * L * ld + c, gs, grad, skip ? skip + c : NULL, n, L, ld, N);
        }
        scale_spectrum(ks, N);
        join_padded(ks, N, table);
        for (size_t ch = 0; ch < n; ch++)
            for (size_t t = 0; t < smx_min(taps, L); t++) {
                const size_t at = (c + ch) * taps + t;
                if (lambda == 0.0f || squash(k[at], lambda) != 0.0f)
                    dk[at] += ks[t * FFT_LANES + ch] + ks[(N / 2 + t) * FFT_LANES + ch];
            }
    }
}
