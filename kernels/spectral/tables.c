// tables.c: the tables that the kernels of fft.c, longconv.c and iir.c are given. The same for every
// instruction set; the angles are computed in double (float32 ones are off by 4e-3 rad at L = 65,536).
#include "iir_layout.h"
#include "kernels/core/mathd.h"
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

size_t smx_iir_table_floats(size_t R) {
    const iir_spectrum s = iir_spectrum_of(R);
    return size_fits(size_mul(4, s.values) + (s.power ? smx_fft_table_floats(R) : size_mul(R, R)));
}
void smx_iir_table(float *table, size_t R) {
    const iir_spectrum s = iir_spectrum_of(R);
    double sine, cosine;
    for (size_t q = 0; q < s.values; q++) {
        uint64_t numerator = q + 1, denominator = R;
        if (s.power) fft_angle(q + 1, &numerator, &denominator);
        for (uint64_t m = 0; m < 2; m++) {
            md_sincos_turn(&sine, &cosine, (m + 1) * numerator, denominator);
            table[4 * q + 2 * m] = (float)cosine;
            table[4 * q + 2 * m + 1] = (float)sine;
        }
    }
    table += 4 * s.values;
    if (s.power) {
        smx_fft_table(table, R);
        return;
    }
    for (size_t t = 0; t < R; t++) {
        table[t] = 1.0f;
        if (s.reals == 2) table[R + t] = t % 2 ? -1.0f : 1.0f;
        for (size_t q = 0; q < s.values; q++) {
            md_sincos_turn(&sine, &cosine, (uint64_t)(q + 1) * t % R, R);
            table[iir_real_row(&s, q) * R + t] = (float)cosine;
            table[iir_imaginary_row(&s, q) * R + t] = (float)sine;
        }
    }
}
