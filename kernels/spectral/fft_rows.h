// fft_rows.h: the passes of the Fourier transform along time, on rows of 16 channels. See fft_layout.h for
// what they compute and in which order. Not scaled: fft_inverse gives N times the sequence where the complex
// values were doubled.
#ifndef SMX_FFT_ROWS_H
#define SMX_FFT_ROWS_H

#include "fft_layout.h"
#include "kernels/core/kernel.h"

enum { FFT_NEAR = 256 }; // complex rows that stay in the nearest cache while all their levels are run

typedef struct {
    vf re, im;
} vc;
SMX_INLINE vc vc_load(const float *re, const float *im, size_t i) {
    return (vc){vf_load(re + i), vf_load(im + i)};
}
SMX_INLINE void vc_store(float *re, float *im, size_t i, vc a) {
    vf_store(re + i, a.re);
    vf_store(im + i, a.im);
}
SMX_INLINE vc vc_add(vc a, vc b) { return (vc){a.re + b.re, a.im + b.im}; }
SMX_INLINE vc vc_sub(vc a, vc b) { return (vc){a.re - b.re, a.im - b.im}; }
SMX_INLINE vc vc_add_i(vc a, vc b) { return (vc){a.re - b.im, a.im + b.re}; } // a + i b
SMX_INLINE vc vc_sub_i(vc a, vc b) { return (vc){a.re + b.im, a.im - b.re}; } // a - i b
SMX_INLINE vc vc_mul(vc a, vc b) { return (vc){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
SMX_INLINE vc vc_mul_conj(vc a, vc b) {
    return (vc){a.re * b.re + a.im * b.im, a.im * b.re - a.re * b.im};
} // a conj(b)
SMX_INLINE vc vc_set(const float *w) { return (vc){vf_set(w[0]), vf_set(w[1])}; }

// Two levels of a node with 4 * quarter complex values (quarter in floats): with t, u, tu of its twiddles
//   a0 + t a2 +- u (a1 + t a3),  a0 - t a2 +- i u (a1 - t a3)
SMX_INLINE void fft_split_four(float *re, float *im, size_t quarter, const float *twiddle) {
    const vc t = vc_set(twiddle), u = vc_set(twiddle + 2), tu = vc_set(twiddle + 4);
    for (size_t i = 0; i < quarter; i += SMX_W) {
        vc a = vc_load(re, im, i), b = vc_mul(u, vc_load(re, im, i + quarter));
        vc c = vc_mul(t, vc_load(re, im, i + 2 * quarter)), d = vc_mul(tu, vc_load(re, im, i + 3 * quarter));
        vc p = vc_add(a, c), q = vc_sub(a, c), r = vc_add(b, d), s = vc_sub(b, d);
        vc_store(re, im, i, vc_add(p, r));
        vc_store(re, im, i + quarter, vc_sub(p, r));
        vc_store(re, im, i + 2 * quarter, vc_add_i(q, s));
        vc_store(re, im, i + 3 * quarter, vc_sub_i(q, s));
    }
}
SMX_INLINE void fft_join_four(float *re, float *im, size_t quarter, const float *twiddle) {
    const vc t = vc_set(twiddle), u = vc_set(twiddle + 2), tu = vc_set(twiddle + 4);
    for (size_t i = 0; i < quarter; i += SMX_W) {
        vc a = vc_load(re, im, i), b = vc_load(re, im, i + quarter);
        vc c = vc_load(re, im, i + 2 * quarter), d = vc_load(re, im, i + 3 * quarter);
        vc p = vc_add(a, b), r = vc_sub(a, b), q = vc_add(c, d), s = vc_sub(c, d); // s = i (b1 - b3)
        vc_store(re, im, i, vc_add(p, q));
        vc_store(re, im, i + quarter, vc_mul_conj(vc_sub_i(r, s), u));
        vc_store(re, im, i + 2 * quarter, vc_mul_conj(vc_sub(p, q), t));
        vc_store(re, im, i + 3 * quarter, vc_mul_conj(vc_add_i(r, s), tu));
    }
}
// The same for nodes that are worth a call.
static __attribute__((unused, noinline)) void fft_split_level(float *re, float *im, size_t quarter,
                                                              const float *twiddle) {
    fft_split_four(re, im, quarter, twiddle);
}
static __attribute__((unused, noinline)) void fft_join_level(float *re, float *im, size_t quarter,
                                                             const float *twiddle) {
    fft_join_four(re, im, quarter, twiddle);
}
SMX_INLINE void fft_split_two(float *re, float *im, const float *twiddle) {
    const vc t = vc_set(twiddle);
    for (size_t i = 0; i < FFT_LANES; i += SMX_W) {
        vc a = vc_load(re, im, i), b = vc_mul(t, vc_load(re, im, i + FFT_LANES));
        vc_store(re, im, i, vc_add(a, b));
        vc_store(re, im, i + FFT_LANES, vc_sub(a, b));
    }
}
SMX_INLINE void fft_join_two(float *re, float *im, const float *twiddle) {
    const vc t = vc_set(twiddle);
    for (size_t i = 0; i < FFT_LANES; i += SMX_W) {
        vc a = vc_load(re, im, i), b = vc_load(re, im, i + FFT_LANES);
        vc_store(re, im, i, vc_add(a, b));
        vc_store(re, im, i + FFT_LANES, vc_mul_conj(vc_sub(a, b), t));
    }
}

// All levels below node h, which has M complex rows.
static __attribute__((unused, noinline)) void fft_split_complex(float *re, float *im, size_t M, size_t h,
                                                                const float *table) {
    if (M > FFT_NEAR) {
        const size_t quarter = M / 4 * FFT_LANES;
        fft_split_level(re, im, quarter, table + h * FFT_TWIDDLE);
        for (size_t k = 0; k < 4; k++)
            fft_split_complex(re + k * quarter, im + k * quarter, M / 4, 4 * h + k, table);
        return;
    }
    size_t size = M, blocks = 1;
    for (; size >= 4; size /= 4, blocks *= 4)
        for (size_t k = 0; k < blocks; k++)
            fft_split_four(re + k * size * FFT_LANES, im + k * size * FFT_LANES, size / 4 * FFT_LANES,
                           table + (h * blocks + k) * FFT_TWIDDLE);
    for (size_t k = 0; size == 2 && k < blocks; k++)
        fft_split_two(re + 2 * k * FFT_LANES, im + 2 * k * FFT_LANES, table + (h * blocks + k) * FFT_TWIDDLE);
}
static __attribute__((unused, noinline)) void fft_join_complex(float *re, float *im, size_t M, size_t h,
                                                               const float *table) {
    if (M > FFT_NEAR) {
        const size_t quarter = M / 4 * FFT_LANES;
        for (size_t k = 0; k < 4; k++)
            fft_join_complex(re + k * quarter, im + k * quarter, M / 4, 4 * h + k, table);
        fft_join_level(re, im, quarter, table + h * FFT_TWIDDLE);
        return;
    }
    size_t size = 1, blocks = M;
    for (size_t m = M; m >= 2; m /= 4)
        if (m == 2) size = 2, blocks = M / 2;
    for (size_t k = 0; size == 2 && k < blocks; k++)
        fft_join_two(re + 2 * k * FFT_LANES, im + 2 * k * FFT_LANES, table + (h * blocks + k) * FFT_TWIDDLE);
    for (size *= 4, blocks /= 4; size <= M; size *= 4, blocks /= 4)
        for (size_t k = 0; k < blocks; k++)
            fft_join_four(re + k * size * FFT_LANES, im + k * size * FFT_LANES, size / 4 * FFT_LANES,
                          table + (h * blocks + k) * FFT_TWIDDLE);
}

// Real rows modulo z^N - 1, N a power of two, down to the complex parts: two real levels at a time,
//   (a0 + a2) +- (a1 + a3) modulo z^{N/4} -+ 1,  a0 - a2 + i (a1 - a3) modulo z^{N/4} - i
static __attribute__((unused, noinline)) void fft_split_real(float *rows, size_t N) {
    for (; N >= 4; N /= 4) {
        const size_t quarter = N / 4 * FFT_LANES;
        for (size_t i = 0; i < quarter; i += SMX_W) {
            float *p = rows + i;
            vf a = vf_load(p), b = vf_load(p + quarter), c = vf_load(p + 2 * quarter),
               d = vf_load(p + 3 * quarter);
            vf e = a + c, f = b + d;
            vf_store(p, e + f);
            vf_store(p + quarter, e - f);
            vf_store(p + 2 * quarter, a - c);
            vf_store(p + 3 * quarter, b - d);
        }
    }
    for (size_t i = 0; N == 2 && i < FFT_LANES; i += SMX_W) {
        vf a = vf_load(rows + i), b = vf_load(rows + FFT_LANES + i);
        vf_store(rows + i, a + b);
        vf_store(rows + FFT_LANES + i, a - b);
    }
}
static __attribute__((unused, noinline)) void fft_join_real(float *rows, size_t N) {
    size_t M = 1;
    for (size_t m = N; m >= 2; m /= 4)
        if (m == 2) M = 2;
    for (size_t i = 0; M == 2 && i < FFT_LANES; i += SMX_W) {
        vf a = vf_load(rows + i), b = vf_load(rows + FFT_LANES + i);
        vf_store(rows + i, a + b);
        vf_store(rows + FFT_LANES + i, a - b);
    }
    for (M *= 4; M <= N; M *= 4) {
        const size_t quarter = M / 4 * FFT_LANES;
        for (size_t i = 0; i < quarter; i += SMX_W) {
            float *p = rows + i;
            vf a = vf_load(p), b = vf_load(p + quarter), c = vf_load(p + 2 * quarter),
               d = vf_load(p + 3 * quarter);
            vf e = a + b, f = a - b;
            vf_store(p, e + c);
            vf_store(p + quarter, f + d);
            vf_store(p + 2 * quarter, e - c);
            vf_store(p + 3 * quarter, f - d);
        }
    }
}

// The complex parts of N real rows have M = 1, 2, 4 .. N/4 values, those of node 1:
// from row 2M on, imaginary parts from 3M.
SMX_INLINE void fft_split_parts(float *rows, size_t N, const float *table) {
    for (size_t M = 1; 2 * M < N; M *= 2)
        fft_split_complex(rows + 2 * M * FFT_LANES, rows + 3 * M * FFT_LANES, M, 1, table);
}
static __attribute__((unused, noinline)) void fft_split(float *rows, size_t N, const float *table) {
    fft_split_real(rows, N);
    fft_split_parts(rows, N, table);
}
static __attribute__((unused, noinline)) void fft_join(float *rows, size_t N, const float *table) {
    for (size_t M = 1; 2 * M < N; M *= 2)
        fft_join_complex(rows + 2 * M * FFT_LANES, rows + 3 * M * FFT_LANES, M, 1, table);
    fft_join_real(rows, N);
}

// Row t of 16 channels (n of them meant) of x [L][ld]; zeros from row L on.
SMX_INLINE v16 fft_load_row(const float *x, size_t t, size_t n, size_t L, size_t ld) {
    if (t >= L) return v16_set(0.0f);
    return v16_load_columns(x + t * ld, n, (L - 1 - t) * ld + n);
}
SMX_INLINE void fft_store_row(float *y, v16 row, size_t n) {
    if (n == FFT_LANES)
        v16_store(y, row);
    else
        v16_store_n(y, row, n);
}

#endif
