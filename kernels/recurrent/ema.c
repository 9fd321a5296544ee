// ema.c: MEGA's multi-dimensional damped moving average (Ma et al. 2023, "Mega", Eqs. 5-6),
// S states a channel:
//   h_t[s] = a_s beta_s x_t + (1 - a_s d_s) h_{t-1}[s],  y_t = sum_s eta_s h_t[s] (+ skip x_t),
//   a = sigma(alpha), d = sigma(delta)
// Lanes are channels, time runs in order, SCAN_ROWS rows of all channels at a time. Forward keeps the states
// at the start of each such segment; backward runs the rows between again.
#include "scan_layout.h"
#include "scan_rows.h"

// Coefficients in, keep and eta of every group of 16 channels, each [S][16], one group after the other.
static void load_coefficients(float *k, const smx_ema_weights *weights, size_t D, size_t S) {
    for (size_t c = 0; c < D; c += 16, k += 3 * S * 16) {
        const size_t n = smx_min(16, D - c);
        float *in = k, *keep = in + S * 16, *out = keep + S * 16;
        scan_load(in, weights->alpha + c * S, n, S);
        scan_load(keep, weights->delta + c * S, n, S);
        scan_load(out, weights->beta + c * S, n, S);
        for (size_t i = 0; i < S * 16; i += 16) {
            const v16 a = v16_sigmoid(v16_load(in + i)), d = v16_sigmoid(v16_load(keep + i));
            v16_store(in + i, v16_mul(a, v16_load(out + i)));
            v16_store(keep + i, v16_sub(v16_set(1.0f), v16_mul(a, d)));
        }
        scan_load(out, weights->eta + c * S, n, S);
    }
}
// One row: the state after it from the one before.
SMX_INLINE void step(float *after, const float *before, const float *k, v16 now, size_t block) {
    for (size_t i = 0; i < block; i += 16)
        v16_store(after + i,
                  v16_madd(v16_load(k + i), now, v16_mul(v16_load(k + block + i), v16_load(before + i))));
}

// at: number of the first row; carried [B][all]: the states before it, then those after the last; NULL:
// zeros.
static void forward(float *restrict y, float *states, float *carried, const float *x,
                    const smx_ema_weights *weights, void *scratch, size_t at, const smx_ema *p) {
    const size_t B = p->B, L = p->L, D = p->D, S = p->S;
    const float *skip = weights->skip;
    const scan_layout l = scan_layout_of(L, D, S);
    float *coefficients = (float *)scratch + l.coefficients, *state = (float *)scratch + l.state;
    load_coefficients(coefficients, weights, D, S);
    for (size_t b = 0; b < B; b++) {
        if (carried)
            state = carried + b * l.all;
        else
            memset(state, 0, l.all * sizeof *state);
        for (size_t t0 = 0, end; t0 < L; t0 = end) {
            end = scan_segment_end(at, t0, L);
            if ((at + t0) % SCAN_ROWS == 0) smx_settle(state, l.all);
            if (states) memcpy(states, state, l.all * sizeof *states), states += l.all;
            for (size_t c = 0; c < D; c += 16) {
                const size_t n = smx_min(16, D - c);
                const float *in = x + b * L * D + c, *k = coefficients + 3 * c * S;
                float *out = y + b * L * D + c, *h = state + c * S;
                const v16 through = skip ? v16_load_n(skip + c, n, 0.0f) : v16_set(0.0f);
                for (size_t t = t0; t < end; t++) {
                    const v16 now = scan_row(in, t, n, L, D);
                    if (t + SCAN_ROWS < L) { // the rows that come next are on their way
                        scan_fetch(in, t + SCAN_ROWS, D);
                        scan_fetch(out, t + SCAN_ROWS, D);
                    }
                    v16 sum = v16_mul(through, now);
                    step(h, h, k, now, l.block);
                    for (size_t i = 0; i < l.block; i += 16)
                        sum = v16_madd(v16_load(k + 2 * l.block + i), v16_load(h + i), sum);
                    scan_store(out + t * D, sum, n);
                }
            }
        }
    }
}
SMX_COPY(void, ema_fwd)
(float *restrict y, float *restrict states, const float *x, const smx_ema_weights *weights, void *scratch,
 const smx_ema *p) {
    forward(y, states, NULL, x, weights, scratch, 0, p);
}
SMX_COPY(void, ema_push)
(float *restrict y, float *restrict carried, const float *x, const smx_ema_weights *weights, void *scratch,
 size_t at, const smx_ema *p) {
    forward(y, NULL, carried, x, weights, scratch, at, p);
}

// Adjoint: g_t = eta dy_t + keep g_{t+1}. Rows t0..end-1 of 16 channels: h holds their states, that before t0
// first; sums [3][S][16] over time of g x, g h_{t-1}, dy h.
SMX_INLINE v16 back_segment(float *dx, float *sums, float *g, const float *dy, const float *x, const float *h,
                            const float *k, v16 through, size_t t0, size_t end, size_t n, size_t L, size_t D,
                            size_t block) {
    v16 d_skip = v16_set(0.0f);
    for (size_t t = end; t-- > t0;) {
        const float *before = h + (t - t0) * block, *after = before + block;
        const v16 now = scan_row(x, t, n, L, D), gy = scan_row(dy, t, n, L, D);
        v16 sum = v16_mul(through, gy);
        d_skip = v16_madd(now, gy, d_skip);
        for (size_t i = 0; i < block; i += 16) {
            float *in = sums + i, *keep = in + block, *eta = keep + block;
            const v16 gi =
                v16_madd(v16_load(k + 2 * block + i), gy, v16_mul(v16_load(k + block + i), v16_load(g + i)));
            v16_store(g + i, gi);
            v16_store(in, v16_madd(gi, now, v16_load(in)));
            v16_store(keep, v16_madd(gi, v16_load(before + i), v16_load(keep)));
            v16_store(eta, v16_madd(gy, v16_load(after + i), v16_load(eta)));
            sum = v16_madd(v16_load(k + i), gi, sum);
        }
        if (dx) scan_store(dx + t * D, sum, n);
    }
    return d_skip;
}

SMX_COPY(void, ema_bwd)
(float *dx, const smx_ema_gradients *dweights, const float *dy, const float *x,
 const smx_ema_weights *weights, const float *states, void *scratch, const smx_ema *p) {
    const size_t B = p->B, L = p->L, D = p->D, S = p->S;
    const float *skip = weights->skip;
    float *dskip = dweights->skip;
    const scan_layout l = scan_layout_of(L, D, S);
    float *base = scratch, *coefficients = base + l.coefficients, *state = base + l.state,
          *part = base + l.part;
    float *total = base + l.total, *h = base + l.rows;
    load_coefficients(coefficients, weights, D, S);
    memset(total, 0, 3 * l.all * sizeof *total);
    for (size_t b = 0; b < B; b++) {
        memset(state, 0, l.all * sizeof *state);
        for (size_t segment = l.segments; segment-- > 0;) {
            const size_t t0 = segment * SCAN_ROWS, end = smx_min(L, t0 + SCAN_ROWS);
            smx_settle(state, l.all);
            for (size_t c = 0; c < D; c += 16) {
                const size_t n = smx_min(16, D - c), at = b * L * D + c;
                const float *k = coefficients + 3 * c * S;
                memcpy(h, states + (b * l.segments + segment) * l.all + c * S, l.block * sizeof *h);
                for (size_t t = t0; t < end; t++) {
                    float *before = h + (t - t0) * l.block;
                    if (segment) { // the rows that come next are on their way
                        scan_fetch(x + at, t - SCAN_ROWS, D);
                        scan_fetch(dy + at, t - SCAN_ROWS, D);
                        if (dx) scan_fetch(dx + at, t - SCAN_ROWS, D);
                    }
                    step(before + l.block, before, k, scan_row(x + at, t, n, L, D), l.block);
                }
                memset(part, 0, 3 * l.block * sizeof *part);
                const v16 through = skip ? v16_load_n(skip + c, n, 0.0f) : v16_set(0.0f);
                const v16 d_skip = back_segment(dx ? dx + at : NULL, part, state + c * S, dy + at, x + at, h,
                                                k, through, t0, end, n, L, D, l.block);
                scan_sum(total + 3 * c * S, part, 3 * l.block);
                if (dskip) v16_accumulate(dskip + c, d_skip, n);
            }
        }
    }
    // in = a beta, keep = 1 - a d; a' = a (1 - a), d' = d (1 - d)
    for (size_t c = 0; c < D; c += 16) {
        const size_t n = smx_min(16, D - c);
        const float *sums = total + 3 * c * S;
        scan_load(part, weights->alpha + c * S, n, S);
        scan_load(part + l.block, weights->delta + c * S, n, S);
        scan_load(part + 2 * l.block, weights->beta + c * S, n, S);
        for (size_t i = 0; i < l.block; i += 16) {
            const v16 one = v16_set(1.0f), a = v16_sigmoid(v16_load(part + i));
            const v16 d = v16_sigmoid(v16_load(part + l.block + i)), bt = v16_load(part + 2 * l.block + i);
            const v16 di = v16_load(sums + i), dk = v16_load(sums + l.block + i);
            const v16 da = v16_sub(v16_mul(bt, di), v16_mul(d, dk));
            v16_store(part + i, v16_mul(da, v16_mul(a, v16_sub(one, a))));
            v16_store(part + l.block + i, v16_neg(v16_mul(v16_mul(a, dk), v16_mul(d, v16_sub(one, d)))));
            v16_store(part + 2 * l.block + i, v16_mul(a, di));
        }
        scan_add(dweights->alpha + c * S, part, n, S);
        scan_add(dweights->delta + c * S, part + l.block, n, S);
        scan_add(dweights->beta + c * S, part + 2 * l.block, n, S);
        scan_add(dweights->eta + c * S, sums + 2 * l.block, n, S);
    }
}
