// ema.c: MEGA's multi-dimensional damped moving average (Ma et al. 2023, "Mega", Eqs. 5-6), S states a channel:
//   h_t[s] = a_s beta_s x_t + (1 - a_s d_s) h_{t-1}[s],  y_t = sum_s eta_s h_t[s] (+ skip x_t),  a = sigma(alpha), d = sigma(delta)
// Lanes are channels, time runs in order. Backward keeps the states at the start of every SCAN_ROWS rows and runs the
// rows between again.
#include "scan_layout.h"
#include "scan_rows.h"

// Coefficients of 16 channels, each [S][16].
typedef struct {
    float *in, *keep, *eta;
} coefficients;
static coefficients load_coefficients(float *memory, const float *alpha, const float *delta, const float *beta,
                                      const float *eta, size_t n, size_t S) {
    const coefficients k = {memory, memory + S * 16, memory + 2 * S * 16};
    scan_load(k.in, alpha, n, S);
    scan_load(k.keep, delta, n, S);
    scan_load(k.eta, beta, n, S);
    for (size_t i = 0; i < S * 16; i += 16) {
        const v16 a = v16_sigmoid(v16_load(k.in + i)), d = v16_sigmoid(v16_load(k.keep + i));
        v16_store(k.in + i, v16_mul(a, v16_load(k.eta + i)));
        v16_store(k.keep + i, v16_sub(v16_set(1.0f), v16_mul(a, d)));
    }
    scan_load(k.eta, eta, n, S);
    return k;
}

void SMX_FN(ema_fwd)(float *restrict y, const float *x, const float *alpha, const float *delta, const float *beta,
                     const float *eta, const float *skip, void *scratch, size_t B, size_t L, size_t D, size_t S) {
    float *h = (float *)scratch + 3 * S * 16;
    for (size_t c = 0; c < D; c += 16) {
        const size_t n = smx_min(16, D - c);
        const coefficients k =
            load_coefficients(scratch, alpha + c * S, delta + c * S, beta + c * S, eta + c * S, n, S);
        const v16 through = skip ? v16_load_n(skip + c, n, 0.0f) : v16_set(0.0f);
        for (size_t b = 0; b < B; b++) {
            const float *in = x + b * L * D + c;
            memset(h, 0, S * 16 * sizeof *h);
            for (size_t t = 0; t < L; t++) {
                const v16 now = scan_row(in, t, n, L, D);
                v16 sum = v16_mul(through, now);
                for (size_t i = 0; i < S * 16; i += 16) {
                    const v16 state =
                        v16_madd(v16_load(k.in + i), now, v16_mul(v16_load(k.keep + i), v16_load(h + i)));
                    v16_store(h + i, state);
                    sum = v16_madd(v16_load(k.eta + i), state, sum);
                }
                scan_store(y + (b * L + t) * D + c, sum, n);
            }
        }
    }
}

// Adjoint: g_t = eta dy_t + keep g_{t+1}. Sums over time: SCAN_ROWS at a time from the end.
void SMX_FN(ema_bwd)(float *dx, float *dalpha, float *ddelta, float *dbeta, float *deta, float *dskip, const float *dy,
                     const float *x, const float *alpha, const float *delta, const float *beta, const float *eta,
                     const float *skip, void *scratch, size_t B, size_t L, size_t D, size_t S) {
    const size_t block = S * 16;
    float *g = (float *)scratch + 3 * block, *d_in = g + block, *d_keep = d_in + block, *d_eta = d_keep + block;
    float *part = d_eta + block, *states = part + 3 * block, *starts = states + (SCAN_ROWS + 1) * block;
    for (size_t c = 0; c < D; c += 16) {
        const size_t n = smx_min(16, D - c);
        const coefficients k =
            load_coefficients(scratch, alpha + c * S, delta + c * S, beta + c * S, eta + c * S, n, S);
        const v16 through = skip ? v16_load_n(skip + c, n, 0.0f) : v16_set(0.0f);
        memset(d_in, 0, 3 * block * sizeof *d_in);
        for (size_t b = 0; b < B; b++) {
            const float *in = x + b * L * D + c, *grad = dy + b * L * D + c;
            memset(states, 0, block * sizeof *states);
            for (size_t t = 0; t < L; t++) {
                if (t % SCAN_ROWS == 0) memcpy(starts + t / SCAN_ROWS * block, states, block * sizeof *states);
                const v16 now = scan_row(in, t, n, L, D);
                for (size_t i = 0; i < block; i += 16)
                    v16_store(states + i, v16_madd(v16_load(k.in + i), now,
                                                   v16_mul(v16_load(k.keep + i), v16_load(states + i))));
            }
            memset(g, 0, block * sizeof *g);
            for (size_t t0 = L / SCAN_ROWS * SCAN_ROWS + SCAN_ROWS; t0 > 0;) {
                t0 -= SCAN_ROWS;
                if (t0 >= L) continue;
                const size_t end = smx_min(L, t0 + SCAN_ROWS);
                memcpy(states, starts + t0 / SCAN_ROWS * block, block * sizeof *states);
                for (size_t t = t0; t < end; t++) {
                    const v16 now = scan_row(in, t, n, L, D);
                    const float *before = states + (t - t0) * block;
                    for (size_t i = 0; i < block; i += 16)
                        v16_store(states + (t - t0 + 1) * block + i,
                                  v16_madd(v16_load(k.in + i), now,
                                           v16_mul(v16_load(k.keep + i), v16_load(before + i))));
                }
                memset(part, 0, 3 * block * sizeof *part);
                v16 d_skip = v16_set(0.0f);
                for (size_t t = end; t-- > t0;) {
                    const float *before = states + (t - t0) * block, *after = before + block;
                    const v16 now = scan_row(in, t, n, L, D), gy = scan_row(grad, t, n, L, D);
                    v16 sum = v16_mul(through, gy);
                    d_skip = v16_madd(now, gy, d_skip);
                    for (size_t i = 0; i < block; i += 16) {
                        const v16 gi =
                            v16_madd(v16_load(k.eta + i), gy, v16_mul(v16_load(k.keep + i), v16_load(g + i)));
                        v16_store(g + i, gi);
                        v16_store(part + i, v16_madd(gi, now, v16_load(part + i)));
                        v16_store(part + block + i,
                                  v16_madd(gi, v16_load(before + i), v16_load(part + block + i)));
                        v16_store(part + 2 * block + i,
                                  v16_madd(gy, v16_load(after + i), v16_load(part + 2 * block + i)));
                        sum = v16_madd(v16_load(k.in + i), gi, sum);
                    }
                    if (dx) scan_store(dx + (b * L + t) * D + c, sum, n);
                }
                for (size_t i = 0; i < 3 * block; i += 16)
                    v16_store(d_in + i, v16_add(v16_load(d_in + i), v16_load(part + i)));
                if (dskip) v16_accumulate(dskip + c, d_skip, n);
            }
        }
        // in = a beta, keep = 1 - a d; a' = a (1 - a), d' = d (1 - d)
        scan_load(part, alpha + c * S, n, S);
        scan_load(part + block, delta + c * S, n, S);
        scan_load(part + 2 * block, beta + c * S, n, S);
        for (size_t i = 0; i < block; i += 16) {
            const v16 one = v16_set(1.0f), a = v16_sigmoid(v16_load(part + i));
            const v16 d = v16_sigmoid(v16_load(part + block + i)), bt = v16_load(part + 2 * block + i);
            const v16 di = v16_load(d_in + i), dk = v16_load(d_keep + i);
            const v16 da = v16_sub(v16_mul(bt, di), v16_mul(d, dk));
            v16_store(part + i, v16_mul(da, v16_mul(a, v16_sub(one, a))));
            v16_store(part + block + i, v16_neg(v16_mul(v16_mul(a, dk), v16_mul(d, v16_sub(one, d)))));
            v16_store(part + 2 * block + i, v16_mul(a, di));
        }
        scan_add(dalpha + c * S, part, n, S);
        scan_add(ddelta + c * S, part + block, n, S);
        scan_add(dbeta + c * S, part + 2 * block, n, S);
        scan_add(deta + c * S, d_eta, n, S);
    }
}
