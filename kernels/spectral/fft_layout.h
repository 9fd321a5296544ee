// fft_layout.h: sizes, tables and orders of the Fourier transform along time. What fft_rows.h (the passes),
// fft.c, longconv.c, iir.c and fft_scratch.c (compiled once) must agree on.
//
// A buffer has rows of 16 channels. N = 2^e real rows are the polynomial P(z) = sum_n x_n z^n modulo
// z^N - 1, split by
//   z^N - 1 = (z^{N/2} - 1)(z^{N/2} + 1),
//   real coefficients modulo z^{N/2} + 1  =  complex ones, x_n + i x_{n + N/4}, modulo z^{N/4} - i,
//   z^M - c = (z^{M/2} - s)(z^{M/2} + s)  with s^2 = c,
// down to degree one: P at 1, at -1 and at one of each pair of conjugate N-th roots of unity. Every split is
// in place and has one twiddle s for a whole block, so rows are never reordered.
//
// Nodes of the complex part are numbered like a heap: the root z^M - i is node 1, the halves of node h are 2h
// and 2h + 1, and c of node h is e^{2 pi i a(h)}, a(1) = 1/4, a(2h) = a(h)/2, a(2h+1) = a(h)/2 + 1/2.
// Spectrum: row 0 is P(1), row 1 P(-1); for j = 1 .. e-1 rows 2^j .. 2^{j+1} - 1 are 2^{j-1} complex values,
// real parts first: the i-th is P(e^{2 pi i a(2^{j-1} + i)}).
#ifndef SMX_FFT_LAYOUT_H
#define SMX_FFT_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/core/sizes.h"

enum { FFT_LANES = 16, FFT_TWIDDLE = 6 }; // floats of a node: cos and sin of a/2, a/4 and 3a/4 turns

// a(h) as a fraction of a turn; h > 0.
static inline void fft_angle(size_t h, uint64_t *numerator, uint64_t *denominator) {
    uint64_t n = 1, d = 4;
    size_t bit = 1;
    while (2 * bit <= h) bit *= 2;
    for (bit /= 2; bit; bit /= 2) {
        if (h & bit) n += d;
        d *= 2;
    }
    *numerator = n;
    *denominator = d;
}

// Nodes that have a twiddle, 1 .. fft_nodes - 1: those of the largest complex part (N/4 values) above its
// leaves.
static inline size_t fft_nodes(size_t N) { return N >= 8 ? N / 4 : 1; }

// The transform that a linear convolution of length L needs: outputs 0..L-1 are not wrapped onto.
static inline uint64_t fft_longconv_rows(size_t L) {
    uint64_t N = 2;
    while (N < 2 * (uint64_t)L && N < SIZES_MOST) N *= 2;
    return N;
}

#endif
