// iir.c: Focus's adaptive second-order filters ([Focus] Eqs. 5-8; docs/MECHANISMS.md#focus), a pair of
// coefficients for each bin, channel and filter; the adaptive max pool and the squashing that lead to them.
// Lanes are channels, time runs in order.
#include "iir_layout.h"
#include "fft_rows.h"

SMX_USES(gemm)

// One bin's coefficients of 16 channels: th [F][2][16] from theta [D][F][2].
static void load_theta(float *th, const float *theta, size_t n, size_t F) {
    for (size_t i = 0; i < 2 * F; i++)
        for (size_t c = 0; c < FFT_LANES; c++) th[i * FFT_LANES + c] = c < n ? theta[c * 2 * F + i] : 0.0f;
}
static void store_theta(float *theta, const float *th, size_t n, size_t F) {
    for (size_t c = 0; c < n; c++)
        for (size_t i = 0; i < 2 * F; i++) theta[c * 2 * F + i] = th[i * FFT_LANES + c];
}

// ---- The recurrence: y_t = x_t - theta_0 y_{t-1} - theta_1 y_{t-2} --------------------------------------

// One filter of 16 channels over rows t0..end-1 of x [L][ld], from and to its state (y_{t-1}, y_{t-2}). The
// outputs go to s [end - t0][16] (or NULL), and are added to y (or NULL; `first` overwrites).
SMX_LARGE void recur(float *y, float *s, float *state, const float *x, const float *th, size_t t0, size_t end,
                     size_t n, const smx_iir *p, const int first) {
    const v16 a1 = v16_load(th), a2 = v16_load(th + FFT_LANES);
    v16 y1 = v16_load(state), y2 = v16_load(state + FFT_LANES);
    for (size_t t = t0; t < end; t++) {
        const v16 in = v16_sub(fft_load_row(x, t, n, p->L, p->D), v16_mul(a2, y2));
        y2 = y1;
        y1 = v16_sub(in, v16_mul(a1, y1));
        if (s) v16_store(s + (t - t0) * FFT_LANES, y1);
        if (y) fft_store_row(y + t * p->D, first ? y1 : v16_add(fft_load_row(y, t, n, p->L, p->D), y1), n);
    }
    v16_store(state, y1);
    v16_store(state + FFT_LANES, y2);
}

// One sequence. starts (or NULL): the state of every channel and filter at the start of each segment.
static void recur_sequence(float *y, float *starts, const float *x, const float *theta, float *base,
                           const iir_layout *l, const smx_iir *p) {
    const size_t R = p->L / p->bins, F = p->F, groups = (p->D + FFT_LANES - 1) / FFT_LANES;
    const size_t states = groups * F * 2 * FFT_LANES;
    float *th = base + l->theta, *state = base + l->state;
    memset(state, 0, states * sizeof *state);
    for (size_t t0 = 0, end; t0 < p->L; t0 = end) {
        const size_t b = t0 / R;
        end = smx_min(t0 + IIR_ROWS, (b + 1) * R);
        if (p->mode == SMX_IIR_CAUSAL && t0 == b * R) memset(state, 0, states * sizeof *state);
        smx_settle(state, states);
        if (starts) {
            memcpy(starts, state, states * sizeof *state);
            starts += states;
        }
        for (size_t g = 0; g < groups; g++) {
            const size_t c = g * FFT_LANES, n = smx_min(FFT_LANES, p->D - c);
            load_theta(th, theta + (b * p->D + c) * F * 2, n, F);
            for (size_t f = 0; f < F; f++) {
                float *now = state + (g * F + f) * 2 * FFT_LANES;
                const float *pair = th + 2 * f * FFT_LANES;
                if (!y)
                    recur(NULL, NULL, now, x + c, pair, t0, end, n, p, 0);
                else if (f == 0)
                    recur(y + c, NULL, now, x + c, pair, t0, end, n, p, 1);
                else
                    recur(y + c, NULL, now, x + c, pair, t0, end, n, p, 0);
            }
        }
    }
}

// Adjoint: a_t = dy_t - theta_1(t+2) a_{t+2} - theta_0(t+1) a_{t+1}, theta of the bin of the later row;
// dx = sum over filters of a, dtheta_m = - sum over the bin of a_t y_{t-m-1}, segment by segment from the
// end. s holds y from t0 - 2 on; back: theta_0(t+1) a_{t+1}, theta_1(t+2) a_{t+2}, theta_1(t+1) a_{t+1}.
SMX_LARGE void recur_back(float *dx, float *sum, float *back, const float *dy, const float *s,
                          const float *th, size_t t0, size_t end, size_t n, const smx_iir *p,
                          const int first) {
    const v16 a1 = v16_load(th), a2 = v16_load(th + FFT_LANES);
    v16 from1 = v16_load(back), from2 = v16_load(back + FFT_LANES), next2 = v16_load(back + 2 * FFT_LANES);
    v16 sum1 = v16_set(0.0f), sum2 = sum1;
    for (size_t t = end; t-- > t0;) {
        const float *before = s + (t - t0) * FFT_LANES; // y_{t-2}
        const v16 a = v16_sub(v16_sub(fft_load_row(dy, t, n, p->L, p->D), from2), from1);
        sum1 = v16_madd(a, v16_load(before + FFT_LANES), sum1);
        sum2 = v16_madd(a, v16_load(before), sum2);
        from1 = v16_mul(a1, a);
        from2 = next2;
        next2 = v16_mul(a2, a);
        if (dx) fft_store_row(dx + t * p->D, first ? a : v16_add(fft_load_row(dx, t, n, p->L, p->D), a), n);
    }
    v16_store(sum, v16_sub(v16_load(sum), sum1));
    v16_store(sum + FFT_LANES, v16_sub(v16_load(sum + FFT_LANES), sum2));
    v16_store(back, from1);
    v16_store(back + FFT_LANES, from2);
    v16_store(back + 2 * FFT_LANES, next2);
}

static void recur_back_sequence(float *dx, float *dtheta, const float *dy, const float *x, const float *theta,
                                float *base, const iir_layout *l, const smx_iir *p) {
    const size_t R = p->L / p->bins, F = p->F, groups = (p->D + FFT_LANES - 1) / FFT_LANES;
    const size_t per_bin = iir_segments(R), states = groups * F * 2 * FFT_LANES;
    float *th = base + l->theta, *sum = base + l->sum, *back = base + l->back, *s = base + l->rows;
    const int zero_starts =
        p->mode == SMX_IIR_CAUSAL && per_bin == 1; // then every segment starts from nothing
    if (!zero_starts) recur_sequence(NULL, base + l->starts, x, theta, base, l, p);
    memset(back, 0, groups * F * 3 * FFT_LANES * sizeof *back);
    for (size_t b = p->bins; b-- > 0;) {
        memset(sum, 0, states * sizeof *sum);
        if (p->mode == SMX_IIR_CAUSAL) memset(back, 0, groups * F * 3 * FFT_LANES * sizeof *back);
        for (size_t segment = per_bin; segment-- > 0;) {
            const size_t t0 = b * R + segment * IIR_ROWS, end = smx_min(t0 + IIR_ROWS, (b + 1) * R);
            const float *starts = base + l->starts + (b * per_bin + segment) * states;
            smx_settle(back, groups * F * 3 * FFT_LANES);
            for (size_t g = 0; g < groups; g++) {
                const size_t c = g * FFT_LANES, n = smx_min(FFT_LANES, p->D - c);
                load_theta(th, theta + (b * p->D + c) * F * 2, n, F);
                for (size_t f = 0; f < F; f++) {
                    const size_t at = g * F + f;
                    float state[2 * FFT_LANES] = {0};
                    if (!zero_starts) memcpy(state, starts + at * 2 * FFT_LANES, sizeof state);
                    memcpy(s, state + FFT_LANES, FFT_LANES * sizeof *s);
                    memcpy(s + FFT_LANES, state, FFT_LANES * sizeof *s);
                    recur(NULL, s + 2 * FFT_LANES, state, x + c, th + 2 * f * FFT_LANES, t0, end, n, p, 0);
                    float *sums = sum + at * 2 * FFT_LANES, *flow = back + at * 3 * FFT_LANES;
                    const float *pair = th + 2 * f * FFT_LANES;
                    if (!dx)
                        recur_back(NULL, sums, flow, dy + c, s, pair, t0, end, n, p, 0);
                    else if (f == 0)
                        recur_back(dx + c, sums, flow, dy + c, s, pair, t0, end, n, p, 1);
                    else
                        recur_back(dx + c, sums, flow, dy + c, s, pair, t0, end, n, p, 0);
                }
            }
        }
        for (size_t g = 0; g < groups; g++) {
            const size_t c = g * FFT_LANES;
            store_theta(dtheta + (b * p->D + c) * F * 2, sum + g * F * 2 * FFT_LANES,
                        smx_min(FFT_LANES, p->D - c), F);
        }
    }
}

// ---- The literal filter: a bin's spectrum times conj(H) -------------------------------------------------
// The spectrum holds P(e^{i w}), the conjugate of frequency w; so it is multiplied by H(w) itself.

static void to_spectrum(float *rows, float *work, const iir_spectrum *s, const float *table, void *gemm,
                        size_t R) {
    if (s->power) {
        fft_split(rows, R, table);
    } else {
        memcpy(work, rows, R * FFT_LANES * sizeof *rows);
        SMX_FN(gemm)(rows, table, work, gemm, R, FFT_LANES, R, R, FFT_LANES, FFT_LANES, 0);
    }
}
// Back, of a spectrum whose real values were divided by R and whose complex ones by R/2.
static void from_spectrum(float *rows, float *work, const iir_spectrum *s, const float *table, void *gemm,
                          size_t R) {
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
    return (c16){v16_sub(v16_mul(a.re, b.re), v16_mul(a.im, b.im)),
                 v16_add(v16_mul(a.re, b.im), v16_mul(a.im, b.re))};
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
            float *re = rows + iir_real_row(&s, q) * FFT_LANES,
                  *im = rows + iir_imaginary_row(&s, q) * FFT_LANES;
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

// With Y = H X on each value: dX = conj(H) dY, dtheta_m -= weight Re(conj(dY) X H^2 e^{-i (m+1) w}), weight
// 1/R for real values and 2/R for complex ones.
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
                    const v16 real =
                        v16_madd(slope.im, v16_set(cs[2 * m + 1]), v16_mul(slope.re, v16_set(cs[2 * m])));
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

SMX_COPY(void, iir_fwd)
(float *restrict y, const float *x, const float *theta, const float *table, void *scratch, const smx_iir *p) {
    const iir_layout l = iir_layout_of(p);
    float *base = scratch;
    if (p->L == 0 || p->F == 0) return;
    for (size_t b = 0; b < p->B; b++) {
        const size_t at = b * p->L * p->D;
        const float *th = theta + b * p->bins * p->D * p->F * 2;
        if (p->mode != SMX_IIR_LITERAL) {
            recur_sequence(y + at, NULL, x + at, th, base, &l, p);
            continue;
        }
        for (size_t c = 0; c < p->D; c += FFT_LANES)
            literal(y + at + c, x + at + c, th + c * p->F * 2, table, base + l.theta, base + l.rows,
                    base + l.gemm, smx_min(FFT_LANES, p->D - c), p);
    }
}

SMX_COPY(void, iir_bwd)
(float *dx, float *restrict dtheta, const float *dy, const float *x, const float *theta, const float *table,
 void *scratch, const smx_iir *p) {
    const iir_layout l = iir_layout_of(p);
    float *base = scratch;
    if (p->L == 0 || p->F == 0) return;
    for (size_t b = 0; b < p->B; b++) {
        const size_t at = b * p->L * p->D, at_theta = b * p->bins * p->D * p->F * 2;
        if (p->mode != SMX_IIR_LITERAL) {
            recur_back_sequence(dx ? dx + at : NULL, dtheta + at_theta, dy + at, x + at, theta + at_theta,
                                base, &l, p);
            continue;
        }
        for (size_t c = 0; c < p->D; c += FFT_LANES) {
            const size_t t = at_theta + c * p->F * 2;
            literal_back(dx ? dx + at + c : NULL, dtheta + t, dy + at + c, x + at + c, theta + t, table,
                         base + l.theta, base + l.sum, base + l.rows, base + l.gemm,
                         smx_min(FFT_LANES, p->D - c), p);
        }
    }
}

// ---- The adaptive max pool ------------------------------------------------------------------------------

// Window i of n over L rows: floor(i L / n) .. ceil((i+1) L / n) - 1.
static size_t window_start(size_t i, size_t L, size_t n) { return i * L / n; }
static size_t window_end(size_t i, size_t L, size_t n) { return ((i + 1) * L + n - 1) / n; }

// A NaN is larger than any number, and stays where it is the first.
SMX_INLINE m16 still_best(v16 best, v16 now) {
    const m16 before = v16_le(now, best), number = v16_eq(best, best);
    m16 stays;
    SMX_EACH stays.r[r] = before.r[r] | ~number.r[r];
    return stays;
}

SMX_COPY(void, maxpool_fwd)
(float *restrict e, int32_t *restrict where, const float *x, size_t B, size_t L, size_t D, size_t bins,
 size_t O) {
    for (size_t b = 0; b < B; b++)
        for (size_t w = 0; w < bins * O; w++)
            for (size_t c = 0; c < D; c += FFT_LANES) {
                const size_t n = smx_min(FFT_LANES, D - c), first = window_start(w, L, bins * O);
                const float *p = x + b * L * D + c;
                v16 best = fft_load_row(p, first, n, L, D),
                    row = v16_set((float)first); // exact below 2^24 rows
                for (size_t t = first + 1; t < window_end(w, L, bins * O); t++) {
                    const v16 now = fft_load_row(p, t, n, L, D);
                    const m16 stays = still_best(best, now);
                    best = v16_select(stays, best, now);
                    row = v16_select(stays, row, v16_set((float)t));
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
SMX_COPY(void, maxpool_bwd)
(float *restrict dx, const float *de, const int32_t *where, size_t B, size_t L, size_t D, size_t bins,
 size_t O) {
    for (size_t i = 0; i < B * L * D; i++) dx[i] = 0.0f;
    for (size_t b = 0; b < B; b++)
        for (size_t w = 0; w < bins * O; w++)
            for (size_t c = 0; c < D; c++) {
                const size_t at = ((b * bins + w / O) * D + c) * O + w % O;
                dx[(b * L + (size_t)where[at]) * D + c] += de[at];
            }
}

// ---- Squashing ------------------------------------------------------------------------------------------

#define THETA_LIMIT                                                                                          \
    0x1.ffffep-1f // 1 - 2^-20: in float32 sigma is 1 from 17.4 on, and the pole would sit on the circle

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
    const v16 through =
        v16_select(odd, v16_madd(v16_swap_pairs(d), other, d), v16_mul(d, v16_add(one, other)));
    const v16 slope = v16_mul(v16_sub(one, t), v16_add(one, t));
    return v16_select(v16_lt(limit, v16_abs(t)), zero, v16_mul(through, slope));
}
SMX_COPY(void, theta_fwd)(float *theta, const float *raw, size_t n, int triangle) {
    if (triangle)
        V16_MAP(theta, n, theta_16(LOAD(raw), 1));
    else
        V16_MAP(theta, n, theta_16(LOAD(raw), 0));
}
SMX_COPY(void, theta_bwd)(float *draw, const float *dtheta, const float *raw, size_t n, int triangle) {
    if (triangle)
        V16_MAP(draw, n, theta_back_16(LOAD(dtheta), LOAD(raw), 1));
    else
        V16_MAP(draw, n, theta_back_16(LOAD(dtheta), LOAD(raw), 0));
}
