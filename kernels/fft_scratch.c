// fft_scratch.c: tables and scratch sizes of the kernels of fft.c and longconv.c. The same for every
// instruction set; the angles are computed in double (float32 ones are off by 4e-3 rad at L = 65,536).
#include "fft_layout.h"
#include "mathd.h"
#include <seqmix/smx.h>

size_t smx_fft_table_floats(size_t N) { return size_fits(size_mul(fft_nodes(N), FFT_TWIDDLE)); }
void smx_fft_table(float *table, size_t N) {
    for (size_t h = 0; h < fft_nodes(N); h++)
        for (uint64_t m = 0; m < 3; m++) {
            uint64_t numerator = 0, denominator = 1;
            double s, c;
            if (h) fft_angle(h, &numerator, &denominator);
            md_sincos_turn(&s, &c, m == 2 ? 3 * numerator : numerator, denominator * (m == 0 ? 2 : 4));
            table[h * FFT_TWIDDLE + 2 * m] = (float)c;
            table[h * FFT_TWIDDLE + 2 * m + 1] = (float)s;
        }
}
size_t smx_rfft_scratch_bytes(size_t N) { return size_floats(size_mul(N, FFT_LANES)); }

size_t smx_longconv_rows(size_t L) { return size_fits(fft_longconv_rows(L)); }
size_t smx_longconv_spectrum_floats(size_t L, size_t D) {
    return size_fits(size_mul(fft_longconv_rows(L), (D + FFT_LANES - 1) / FFT_LANES * FFT_LANES));
}
size_t smx_longconv_scratch_bytes(size_t L) {
    return size_floats(size_mul(3, fft_longconv_rows(L), FFT_LANES));
}
