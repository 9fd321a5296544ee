// iir_layout.h: how iir.c divides its scratch and its table of frequencies, in floats. Also what
// iir_scratch.c reports and fills.
#ifndef SMX_IIR_LAYOUT_H
#define SMX_IIR_LAYOUT_H

#include "fft_layout.h"
#include <seqmix/smx.h>

// Literal filters multiply the spectrum of a bin of R rows. A power of two has the spectrum of fft_layout.h;
// any other length that of a direct sum: row 0 is P(1), row 1 P(-1) where R is even, then the real and the
// imaginary parts of P(e^{2 pi i k / R}), 0 < k < R/2. The table: cos and sin of the angle and of twice the
// angle for each complex value, then twiddles or the matrix [R][R] of the sum.
typedef struct {
    int power;            // R is a power of two
    size_t reals, values; // rows that are real; complex values
} iir_spectrum;
static inline iir_spectrum iir_spectrum_of(size_t R) {
    iir_spectrum s = {R > 0 && (R & (R - 1)) == 0, R % 2 == 0 ? 2 : 1, 0};
    s.values = (R - s.reals) / 2;
    return s;
}
// Rows of complex value q.
static inline size_t iir_real_row(const iir_spectrum *s, size_t q) {
    if (!s->power) return s->reals + q;
    size_t part = 1;
    while (2 * part <= q + 1) part *= 2;
    return part + q + 1;
}
static inline size_t iir_imaginary_row(const iir_spectrum *s, size_t q) {
    if (!s->power) return s->reals + s->values + q;
    return iir_real_row(s, q) + (iir_real_row(s, q) - (q + 1));
}

// The recurrence runs over all channels in segments of a bin,
// so that rows are still near when they are read again.
enum { IIR_ROWS = 64 };
static inline size_t iir_segments(size_t R) { return (R + IIR_ROWS - 1) / IIR_ROWS; } // of a bin

// Scratch. Recurrence: coefficients of 16 channels; the state of every channel and filter (two rows), sums of
// its coefficients' gradients (two), what flows back (three); states of a segment; states at the start of
// every segment.
// Literal: coefficients, their gradients, three blocks of R rows, what their product needs.
typedef struct {
    size_t theta, state, sum, back, rows, starts, gemm;
    uint64_t floats;
} iir_layout;
static inline iir_layout iir_layout_of(const smx_iir *p) {
    const size_t R = p->bins ? p->L / p->bins : 0;
    const size_t groups = (p->D + FFT_LANES - 1) / FFT_LANES;
    const uint64_t block = size_mul(p->F, FFT_LANES), all = size_mul(groups, block);
    iir_layout l = {0};
    uint64_t at = 0;
    l.theta = at, at += 2 * block;
    if (p->mode == SMX_IIR_LITERAL) {
        l.sum = at, at += 2 * block;
        l.rows = at, at += size_mul(3, R, FFT_LANES);
        l.gemm = at, at += smx_gemm_scratch_bytes(R, FFT_LANES, R) / sizeof(float);
        l.floats = at;
        return l;
    }
    l.state = at, at += 2 * all;
    l.sum = at, at += 2 * all;
    l.back = at, at += 3 * all;
    l.rows = at, at += (IIR_ROWS + 2) * FFT_LANES;
    l.starts = at, at += size_mul(p->bins, iir_segments(R), 2, all);
    l.floats = at;
    return l;
}

#endif
