// fft.c: the real Fourier transform along time of every channel, for powers of two; its frequencies in
// natural order. Convolutions do not come through here: longconv.c multiplies spectra in the order in which
// fft_rows.h leaves them.
#include "fft_rows.h"

// Where value i of part j (of 2^{j-1}) of the spectrum belongs: P(e^{2 pi i a}) is the conjugate of frequency
// a N for a < 1/2, and frequency (1 - a) N for a > 1/2.
static size_t frequency(size_t N, size_t node, int *conjugate) {
    uint64_t numerator, denominator;
    fft_angle(node, &numerator, &denominator);
    const size_t k = (size_t)(numerator * (N / denominator));
    *conjugate = k < N / 2;
    return *conjugate ? k : N - k;
}

SMX_COPY(void, rfft_fwd)
(float *restrict spectrum, const float *x, const float *table, void *scratch, size_t B, size_t N, size_t D) {
    float *rows = scratch;
    for (size_t b = 0; b < B; b++)
        for (size_t c = 0; c < D; c += FFT_LANES) {
            const size_t n = smx_min(FFT_LANES, D - c);
            const float *in = x + b * N * D + c;
            float *out = spectrum + b * (N / 2 + 1) * 2 * D + c;
            for (size_t t = 0; t < N; t++) v16_store(rows + t * FFT_LANES, fft_load_row(in, t, n, N, D));
            fft_split(rows, N, table);
            fft_store_row(out, v16_load(rows), n);
            fft_store_row(out + D, v16_set(0.0f), n);
            if (N == 1) continue;
            fft_store_row(out + N * D, v16_load(rows + FFT_LANES), n);
            fft_store_row(out + (N + 1) * D, v16_set(0.0f), n);
            for (size_t part = 1; 2 * part < N; part *= 2)
                for (size_t i = 0; i < part; i++) {
                    int conjugate;
                    const size_t k = frequency(N, part + i, &conjugate);
                    const float *re = rows + (2 * part + i) * FFT_LANES;
                    const v16 im = v16_load(re + part * FFT_LANES);
                    fft_store_row(out + 2 * k * D, v16_load(re), n);
                    fft_store_row(out + (2 * k + 1) * D, conjugate ? v16_neg(im) : im, n);
                }
        }
}

SMX_COPY(void, rfft_inv)
(float *restrict x, const float *spectrum, const float *table, void *scratch, size_t B, size_t N, size_t D) {
    float *rows = scratch;
    const v16 half = v16_set(1.0f / (float)N), whole = v16_set(2.0f / (float)N); // powers of two
    for (size_t b = 0; b < B; b++)
        for (size_t c = 0; c < D; c += FFT_LANES) {
            const size_t n = smx_min(FFT_LANES, D - c), last = N + 1;
            const float *in = spectrum + b * (N / 2 + 1) * 2 * D + c;
            float *out = x + b * N * D + c;
            v16_store(rows, v16_mul(half, fft_load_row(in, 0, n, last + 1, D)));
            if (N > 1) v16_store(rows + FFT_LANES, v16_mul(half, fft_load_row(in, N, n, last + 1, D)));
            for (size_t part = 1; 2 * part < N; part *= 2)
                for (size_t i = 0; i < part; i++) {
                    int conjugate;
                    const size_t k = frequency(N, part + i, &conjugate);
                    float *re = rows + (2 * part + i) * FFT_LANES;
                    const v16 im = v16_mul(whole, fft_load_row(in, 2 * k + 1, n, last + 1, D));
                    v16_store(re, v16_mul(whole, fft_load_row(in, 2 * k, n, last + 1, D)));
                    v16_store(re + part * FFT_LANES, conjugate ? v16_neg(im) : im);
                }
            fft_join(rows, N, table);
            for (size_t t = 0; t < N; t++) fft_store_row(out + t * D, v16_load(rows + t * FFT_LANES), n);
        }
}
