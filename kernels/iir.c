// iir.c: Focus's adaptive second-order filters ([Focus] Eqs. 5-8; MECHANISMS 4, step 5), a pair of coefficients for each
// bin, channel and filter; the adaptive max pool and the squashing that lead to them. Lanes are channels, time runs in
// order.
#include "iir_layout.h"
#include "fft_rows.h"

// One bin's coefficients of 16 channels: th [F][2][16] from theta [D][F][2].
static void load_theta(float *th, const float *theta, size_t n, size_t F) {
    for (size_t i = 0; i < 2 * F; i++)
        for (size_t c = 0; c < FFT_LANES; c++) th[i * FFT_LANES + c] = c < n ? theta[c * 2 * F + i] : 0.0f;
}
static void store_theta(float *theta, const float *th, size_t n, size_t F) {
    for (size_t c = 0; c < n; c++)
        for (size_t i = 0; i < 2 * F; i++) theta[c * 2 * F + i] = th[i * FFT_LANES + c];
}

// ---- The recurrence: y_t = x_t - theta_0 y_{t-1} - theta_1 y_{t-2} ----------------------------------------------------

// Filter f of 16 channels over a sequence. Its states go to s [L][16] (or NULL), and are added to y (ld; or NULL; the
// first filter overwrites).
static void recur(float *y, float *s, const float *x, const float *theta, float *th, size_t n, size_t f,
                  const smx_iir *p) {
    const size_t R = p->L / p->bins, ld = p->D, F = p->F;
    v16 y1 = v16_set(0.0f), y2 = y1;
    for (size_t b = 0; b < p->bins; b++) {
        load_theta(th, theta + b * p->D * F * 2, n, F);
        const v16 a1 = v16_load(th + 2 * f * FFT_LANES), a2 = v16_load(th + (2 * f + 1) * FFT_LANES);
        if (p->mode == SMX_IIR_CAUSAL) y1 = y2 = v16_set(0.0f);
        for (size_t t = b * R; t < (b + 1) * R; t++) {
            const v16 in = v16_sub(fft_load_row(x, t, n, p->L, ld), v16_mul(a2, y2));
            y2 = y1;
            y1 = v16_sub(in, v16_mul(a1, y1));
            if (s) v16_store(s + t * FFT_LANES, y1);
            if (y) fft_store_row(y + t * ld, f ? v16_add(fft_load_row(y, t, n, p->L, ld), y1) : y1, n);
        }
    }
}

// Adjoint: a_t = dy_t - theta_1(t+2) a_{t+2} - theta_0(t+1) a_{t+1}, theta of the bin of the later row; dx = sum over
// filters of a, dtheta_m = - sum over the bin of a_t y_{t-m-1}, within blocks of SMX_KC rows from the end.
static void recur_back(float *dx, float *dtheta, const float *dy, const float *s, const float *theta, float *th,
                       size_t n, size_t f, const smx_iir *p) {
    const size_t R = p->L / p->bins, ld = p->D, F = p->F;
    const v16 zero = v16_set(0.0f);
    v16 from1 = zero, from2 = zero, next2 = zero; // theta_0(t+1) a_{t+1}, theta_1(t+2) a_{t+2}, theta_1(t+1) a_{t+1}
    for (size_t b = p->bins; b-- > 0;) {
        load_theta(th, theta + b * p->D * F * 2, n, F);
        const v16 a1 = v16_load(th + 2 * f * FFT_LANES), a2 = v16_load(th + (2 * f + 1) * FFT_LANES);
        const size_t first = p->mode == SMX_IIR_CARRY ? 0 : b * R; // states before this row are zero
        v16 d1 = zero, d2 = zero, sum1 = zero, sum2 = zero;
        if (p->mode == SMX_IIR_CAUSAL) from1 = from2 = next2 = zero;
        for (size_t t = (b + 1) * R; t-- > b * R;) {
            const v16 a = v16_sub(v16_sub(fft_load_row(dy, t, n, p->L, ld), from2), from1);
            if (t >= first + 1) sum1 = v16_madd(a, v16_load(s + (t - 1) * FFT_LANES), sum1);
            if (t >= first + 2) sum2 = v16_madd(a, v16_load(s + (t - 2) * FFT_LANES), sum2);
            from1 = v16_mul(a1, a);
            from2 = next2;
            next2 = v16_mul(a2, a);
            if (dx) fft_store_row(dx + t * ld, f ? v16_add(fft_load_row(dx, t, n, p->L, ld), a) : a, n);
            if ((t - b * R) % SMX_KC == 0) {
                d1 = v16_sub(d1, sum1);
                d2 = v16_sub(d2, sum2);
                sum1 = sum2 = zero;
            }
        }
        float d[2 * FFT_LANES];
        v16_store(d, d1);
        v16_store(d + FFT_LANES, d2);
        for (size_t c = 0; c < n; c++)
            for (size_t m = 0; m < 2; m++) dtheta[((b * p->D + c) * F + f) * 2 + m] = d[m * FFT_LANES + c];
    }
}

// ---- The literal filter: a bin's spectrum times conj(H) -----------------------------------------------------------------
// The spectrum holds P(e^{i w}), the conjugate of frequency w; so it is multiplied by H(w) itself.

static void to_spectrum(float *rows, float *work, const iir_spectrum *s, const float *table, void *gemm, size_t R) {
    if (s->power) {
        fft_split(rows, R, table);
    } else {
        memcpy(work, rows, R * FFT_LANES * sizeof *rows);
        SMX_FN(gemm)(rows, table, work, gemm, R, FFT_LANES, R, R, FFT_LANES, FFT_LANES, 0);
    }
}
// Back, of a spectrum whose real values were divided by R and whose complex ones by R/2.
static void from_spectrum(float *rows, float *work, const iir_spectrum *s, const float *table, void *gemm, size_t R) {
    if (s->power) {
        fft_join(rows, R, table);
    } else {
        memcpy(work, rows, R * FFT_LANES * sizeof *rows);
        SMX_FN(gemm)(rows, table, work, gemm, R, FFT_LANES, R, R, FFT_LANES, FFT_LANES, SMX_TRANS_A);
    }
}

typedef struct {
    v16 re, im;
} c16;
SMX_INLINE c16 c16_mul(c16 a, c16 b) {
    return (c16){v16_sub(v16_mul(a.re, b.re), v16_mul(a.im, b.im)), v16_add(v16_mul(a.re, b.im), v16_mul(a.im, b.re))};
}
SMX_INLINE c16 c16_conj(c16 a) { return (c16){a.re, v16_neg(a.im)}; }
// H = 1 / (1 + theta_0 e^{-iw} + theta_1 e^{-2iw}), cs = cos w, sin w, cos 2w, sin 2w
SMX_INLINE c16 response(const float *th, size_t f, const float *cs) {
    const v16 a1 = v16_load(th + 2 * f * FFT_LANES), a2 = v16_load(th + (2 * f + 1) * FFT_LANES);
    const v16 re = v16_madd(a2, v16_set(cs[2]), v16_madd(a1, v16_set(cs[0]), v16_set(1.0f)));
    const v16 im = v16_madd(a2, v16_set(cs[3]), v16_mul(a1, v16_set(cs[1])));
    const v16 size = v16_madd(im, im, v16_mul(re, re));
    return (c16){v16_div(re, size), v16_div(im, size)};
}
static const float real_angle[2][4] = {{1, 0, 1, 0}, {-1, 0, 1, 0}}; // w = 0 and pi

static void literal(float *y, const float *x, const float *theta, const float *table, float *th, float *rows,
                    void *gemm, size_t n, const smx_iir *p) {
    const size_t R = p->L / p->bins;
    const iir_spectrum s = iir_spectrum_of(R);
    const float *matrix = table + 4 * s.values;
    const v16 one = v16_set(1.0f / (float)R), two = v16_set(2.0f / (float)R);
    for (size_t b = 0; b < p->bins; b++) {
        const size_t at = b * R * p->D;
        load_theta(th, theta + b * p->D * p->F * 2, n, p->F);
        for (size_t t = 0; t < R; t++)
            v16_store(rows + t * FFT_LANES, fft_load_row(x + at, t, n, p->L - b * R, p->D));
        to_spectrum(rows, rows + R * FFT_LANES, &s, matrix, gemm, R);
        for (size_t q = 0; q < s.reals; q++) {
            v16 sum = v16_set(0.0f);
            for (size_t f = 0; f < p->F; f++) sum = v16_add(sum, response(th, f, real_angle[q]).re);
            v16_store(rows + q * FFT_LANES, v16_mul(v16_mul(v16_load(rows + q * FFT_LANES), sum), one));
        }
        for (size_t q = 0; q < s.values; q++) {
            float *re = rows + iir_real_row(&s, q) * FFT_LANES, *im = rows + iir_imaginary_row(&s, q) * FFT_LANES;
            c16 sum = {v16_set(0.0f), v16_set(0.0f)};
            for (size_t f = 0; f < p->F; f++) {
                const c16 h = response(th, f, table + 4 * q);
                sum = (c16){v16_add(sum.re, h.re), v16_add(sum.im, h.im)};
            }
            const c16 out = c16_mul((c16){v16_load(re), v16_load(im)}, sum);
            v16_store(re, v16_mul(out.re, two));
            v16_store(im, v16_mul(out.im, two));
        }
        from_spectrum(rows, rows + R * FFT_LANES, &s, matrix, gemm, R);
        for (size_t t = 0; t < R; t++) fft_store_row(y + at + t * p->D, v16_load(rows + t * FFT_LANES), n);
    }
}

// With Y = H X on each value: dX = conj(H) dY, dtheta_m -= weight Re(conj(dY) X H^2 e^{-i (m+1) w}), weight 1/R for real
// values and 2/R for complex ones.
static void literal_back(float *dx, float *dtheta, const float *dy, const float *x, const float *theta,
                         const float *table, float *th, float *dth, float *rows, void *gemm, size_t n,
                         const smx_iir *p) {
    const size_t R = p->L / p->bins, block = R * FFT_LANES;
    const iir_spectrum s = iir_spectrum_of(R);
    const float *matrix = table + 4 * s.values;
    const v16 one = v16_set(1.0f / (float)R), two = v16_set(2.0f / (float)R), zero = v16_set(0.0f);
    float *grads = rows + block;
    for (size_t b = 0; b < p->bins; b++) {
        const size_t at = b * R * p->D;
        load_theta(th, theta + b * p->D * p->F * 2, n, p->F);
        memset(dth, 0, 2 * p->F * FFT_LANES * sizeof *dth);
        for (size_t t = 0; t < R; t++) {
            v16_store(rows + t * FFT_LANES, fft_load_row(x + at, t, n, p->L - b * R, p->D));
            v16_store(grads + t * FFT_LANES, fft_load_row(dy + at, t, n, p->L - b * R, p->D));
        }
        to_spectrum(rows, rows + 2 * block, &s, matrix, gemm, R);
        to_spectrum(grads, rows + 2 * block, &s, matrix, gemm, R);
        for (size_t q = 0; q < s.reals + s.values; q++) {
            const int complex_value = q >= s.reals;
            const size_t k = complex_value ? q - s.reals : q;
            const float *cs = complex_value ? table + 4 * k : real_angle[k];
            const size_t re = (complex_value ? iir_real_row(&s, k) : k) * FFT_LANES;
            const size_t im = complex_value ? iir_imaginary_row(&s, k) * FFT_LANES : 0;
            const v16 weight = complex_value ? two : one;
            const c16 in = {v16_load(rows + re), complex_value ? v16_load(rows + im) : zero};
            const c16 grad = {v16_mul(v16_load(grads + re), weight),
                              complex_value ? v16_mul(v16_load(grads + im), weight) : zero};
            const c16 both = c16_mul(c16_conj(grad), in);
            c16 sum = {zero, zero};
            for (size_t f = 0; f < p->F; f++) {
                const c16 h = response(th, f, cs), slope = c16_mul(both, c16_mul(h, h));
                sum = (c16){v16_add(sum.re, h.re), v16_add(sum.im, h.im)};
                for (size_t m = 0; m < 2; m++) { // Re(slope e^{-i (m+1) w})
                    float *d = dth + (2 * f + m) * FFT_LANES;
                    const v16 real = v16_madd(slope.im, v16_set(cs[2 * m + 1]), v16_mul(slope.re, v16_set(cs[2 * m])));
                    v16_store(d, v16_sub(v16_load(d), real));
                }
            }
            const c16 out = c16_mul(c16_conj(sum), grad);
            v16_store(grads + re, out.re);
            if (complex_value) v16_store(grads + im, out.im);
        }
        store_theta(dtheta + b * p->D * p->F * 2, dth, n, p->F);
        if (!dx) continue;
        from_spectrum(grads, rows + 2 * block, &s, matrix, gemm, R);
        for (size_t t = 0; t < R; t++) fft_store_row(dx + at + t * p->D, v16_load(grads + t * FFT_LANES), n);
    }
}

void SMX_FN(iir_fwd)(float *restrict y, const float *x, const float *theta, const float *table, void *scratch,
                     const smx_iir *p) {
    const iir_layout l = iir_layout_of(p);
    float *base = scratch;
    if (p->L == 0 || p->F == 0) return;
    for (size_t b = 0; b < p->B; b++)
        for (size_t c = 0; c < p->D; c += FFT_LANES) {
            const size_t n = smx_min(FFT_LANES, p->D - c), at = b * p->L * p->D + c;
            const float *th = theta + (b * p->bins * p->D + c) * p->F * 2;
            if (p->mode == SMX_IIR_LITERAL)
                literal(y + at, x + at, th, table, base + l.theta, base + l.rows, base + l.gemm, n, p);
            else
                for (size_t f = 0; f < p->F; f++) recur(y + at, NULL, x + at, th, base + l.theta, n, f, p);
        }
}

void SMX_FN(iir_bwd)(float *dx, float *restrict dtheta, const float *dy, const float *x, const float *theta,
                     const float *table, void *scratch, const smx_iir *p) {
    const iir_layout l = iir_layout_of(p);
    float *base = scratch;
    if (p->L == 0 || p->F == 0) return;
    for (size_t b = 0; b < p->B; b++)
        for (size_t c = 0; c < p->D; c += FFT_LANES) {
            const size_t n = smx_min(FFT_LANES, p->D - c), at = b * p->L * p->D + c;
            const size_t at_theta = (b * p->bins * p->D + c) * p->F * 2;
            float *out = dx ? dx + at : NULL;
            if (p->mode == SMX_IIR_LITERAL) {
                literal_back(out, dtheta + at_theta, dy + at, x + at, theta + at_theta, table, base + l.theta,
                             base + l.sum, base + l.rows, base + l.gemm, n, p);
                continue;
            }
            for (size_t f = 0; f < p->F; f++) {
                recur(NULL, base + l.rows, x + at, theta + at_theta, base + l.theta, n, f, p);
                recur_back(out, dtheta + at_theta, dy + at, base + l.rows, theta + at_theta, base + l.theta, n, f, p);
            }
        }
}

// ---- The adaptive max pool ------------------------------------------------------------------------------------------------

// Window i of n over L rows: floor(i L / n) .. ceil((i+1) L / n) - 1.
static size_t window_start(size_t i, size_t L, size_t n) { return i * L / n; }
static size_t window_end(size_t i, size_t L, size_t n) { return ((i + 1) * L + n - 1) / n; }

void SMX_FN(maxpool_fwd)(float *restrict e, int32_t *restrict where, const float *x, size_t B, size_t L, size_t D,
                         size_t bins, size_t O) {
    for (size_t b = 0; b < B; b++)
        for (size_t w = 0; w < bins * O; w++)
            for (size_t c = 0; c < D; c += FFT_LANES) {
                const size_t n = smx_min(FFT_LANES, D - c), first = window_start(w, L, bins * O);
                const float *p = x + b * L * D + c;
                v16 best = fft_load_row(p, first, n, L, D), row = v16_set((float)first); // exact below 2^24 rows
                for (size_t t = first + 1; t < window_end(w, L, bins * O); t++) {
                    const v16 now = fft_load_row(p, t, n, L, D);
                    const m16 larger = v16_lt(best, now);
                    best = v16_select(larger, now, best);
                    row = v16_select(larger, v16_set((float)t), row);
                }
                float value[FFT_LANES], at_row[FFT_LANES];
                v16_store(value, best);
                v16_store(at_row, row);
                for (size_t i = 0; i < n; i++) {
                    const size_t at = ((b * bins + w / O) * D + c + i) * O + w % O;
                    e[at] = value[i];
                    where[at] = (int32_t)at_row[i];
                }
            }
}
void SMX_FN(maxpool_bwd)(float *restrict dx, const float *de, const int32_t *where, size_t B, size_t L, size_t D,
                         size_t bins, size_t O) {
    for (size_t i = 0; i < B * L * D; i++) dx[i] = 0.0f;
    for (size_t b = 0; b < B; b++)
        for (size_t w = 0; w < bins * O; w++)
            for (size_t c = 0; c < D; c++) {
                const size_t at = ((b * bins + w / O) * D + c) * O + w % O;
                dx[(b * L + (size_t)where[at]) * D + c] += de[at];
            }
}

// ---- Squashing ------------------------------------------------------------------------------------------------------------

#define THETA_LIMIT 0x1.ffffep-1f // 1 - 2^-20: in float32 sigma is 1 from 17.4 on, and the pole would sit on the circle

SMX_INLINE v16 limited(v16 x) { // NaN stays
    return v16_max(v16_set(-THETA_LIMIT), v16_min(v16_set(THETA_LIMIT), x));
}
// pairs (theta_0, theta_1): tanh of both, then theta_0 times 1 + theta_1
SMX_INLINE v16 theta_16(v16 raw, const int triangle) {
    if (!triangle) return limited(v16_sigmoid(raw));
    const v16 t = limited(v16_tanh(raw)), one = v16_set(1.0f);
    const m16 odd = v16_lt(v16_alternating(1.0f), v16_set(0.0f));
    return v16_select(odd, t, v16_mul(v16_add(one, v16_odd_pairs(t)), t));
}
SMX_INLINE v16 theta_back_16(v16 d, v16 raw, const int triangle) {
    const v16 zero = v16_set(0.0f), one = v16_set(1.0f), limit = v16_set(THETA_LIMIT);
    if (!triangle) {
        const v16 s = v16_sigmoid(raw);
        return v16_select(v16_lt(limit, s), zero, v16_mul(d, v16_mul(s, v16_sub(one, s))));
    }
    const v16 t = v16_tanh(raw), held = limited(t), other = v16_swap_pairs(held);
    const m16 odd = v16_lt(v16_alternating(1.0f), zero);
    const v16 through = v16_select(odd, v16_madd(v16_swap_pairs(d), other, d), v16_mul(d, v16_add(one, other)));
    const v16 slope = v16_mul(v16_sub(one, t), v16_add(one, t));
    return v16_select(v16_lt(limit, v16_abs(t)), zero, v16_mul(through, slope));
}
void SMX_FN(theta_fwd)(float *theta, const float *raw, size_t n, int triangle) {
    if (triangle)
        V16_MAP(theta, n, theta_16(LOAD(raw), 1));
    else
        V16_MAP(theta, n, theta_16(LOAD(raw), 0));
}
void SMX_FN(theta_bwd)(float *draw, const float *dtheta, const float *raw, size_t n, int triangle) {
    if (triangle)
        V16_MAP(draw, n, theta_back_16(LOAD(dtheta), LOAD(raw), 1));
    else
        V16_MAP(draw, n, theta_back_16(LOAD(dtheta), LOAD(raw), 0));
}
