// scan.c: Mamba's selective scan (Gu & Dao 2023, Eq. 2 and Alg. 2), S states a channel, input dependent steps:
//   h_t[s] = exp(dt_t A_s) h_{t-1}[s] + dt_t b_t[s] x_t,  y_t = sum_s c_t[s] h_t[s] (+ skip x_t),  A = -exp(a_log)
// The decays are powers taken one step at a time, so no long product is ever formed; exp flushes below 2^-126. Lanes are
// channels, time runs in order. Backward keeps the states at the start of every SCAN_ROWS rows and runs the rows
// between again.
#include "scan_layout.h"
#include "scan_rows.h"

// Lanes past the last channel must not reach the sums over channels.
SMX_INLINE v16 channels(const float *x, size_t t, size_t n, size_t L, size_t ld) {
    return n == 16 ? scan_row(x, t, n, L, ld) : v16_load_n(x + t * ld, n, 0.0f);
}

static void load_a(float *A, const float *a_log, size_t n, size_t S) {
    scan_load(A, a_log, n, S);
    for (size_t i = 0; i < S * 16; i += 16) v16_store(A + i, v16_neg(v16_exp(v16_load(A + i))));
}

void SMX_FN(scan_fwd)(float *restrict y, const float *x, const float *dt, const float *a_log, const float *b,
                      const float *c, const float *skip, void *scratch, size_t B, size_t L, size_t D, size_t S) {
    float *A = scratch, *h = A + S * 16;
    for (size_t ch = 0; ch < D; ch += 16) {
        const size_t n = smx_min(16, D - ch);
        const v16 through = skip ? v16_load_n(skip + ch, n, 0.0f) : v16_set(0.0f);
        load_a(A, a_log + ch * S, n, S);
        for (size_t q = 0; q < B; q++) {
            const size_t at = q * L * D + ch;
            memset(h, 0, S * 16 * sizeof *h);
            for (size_t t = 0; t < L; t++) {
                const float *bt = b + (q * L + t) * S, *ct = c + (q * L + t) * S;
                const v16 now = scan_row(x + at, t, n, L, D), step = scan_row(dt + at, t, n, L, D);
                const v16 in = v16_mul(step, now);
                v16 sum = v16_mul(through, now);
                for (size_t s = 0; s < S; s++) {
                    const v16 decay = v16_exp(v16_mul(step, v16_load(A + s * 16)));
                    const v16 state =
                        v16_madd(in, v16_set(bt[s]), v16_mul(decay, v16_load(h + s * 16)));
                    v16_store(h + s * 16, state);
                    sum = v16_madd(v16_set(ct[s]), state, sum);
                }
                scan_store(y + at + t * D, sum, n);
            }
        }
    }
}

// Adjoint: g_t = c_t dy_t + decay_{t+1} g_{t+1}. db and dc sum over channels: 16 lanes, then group by group.
void SMX_FN(scan_bwd)(float *dx, float *ddt, float *da_log, float *db, float *dc, float *dskip, const float *dy,
                      const float *x, const float *dt, const float *a_log, const float *b, const float *c,
                      const float *skip, void *scratch, size_t B, size_t L, size_t D, size_t S) {
    const size_t block = S * 16;
    float *A = scratch, *g = A + block, *d_log = g + block, *part = d_log + block;
    float *states = part + block, *decays = states + (SCAN_ROWS + 1) * block, *starts = decays + SCAN_ROWS * block;
    for (size_t i = 0; i < B * L * S; i++) db[i] = dc[i] = 0.0f;
    for (size_t ch = 0; ch < D; ch += 16) {
        const size_t n = smx_min(16, D - ch);
        const v16 through = skip ? v16_load_n(skip + ch, n, 0.0f) : v16_set(0.0f);
        load_a(A, a_log + ch * S, n, S);
        memset(d_log, 0, block * sizeof *d_log);
        for (size_t q = 0; q < B; q++) {
            const size_t at = q * L * D + ch;
            memset(states, 0, block * sizeof *states);
            for (size_t t = 0; t < L; t++) {
                if (t % SCAN_ROWS == 0) memcpy(starts + t / SCAN_ROWS * block, states, block * sizeof *states);
                const v16 now = channels(x + at, t, n, L, D), step = channels(dt + at, t, n, L, D);
                const v16 in = v16_mul(step, now);
                for (size_t s = 0; s < S; s++) {
                    const v16 decay = v16_exp(v16_mul(step, v16_load(A + s * 16)));
                    v16_store(states + s * 16, v16_madd(in, v16_set(b[(q * L + t) * S + s]),
                                                        v16_mul(decay, v16_load(states + s * 16))));
                }
            }
            memset(g, 0, block * sizeof *g);
            for (size_t t0 = L / SCAN_ROWS * SCAN_ROWS + SCAN_ROWS; t0 > 0;) {
                t0 -= SCAN_ROWS;
                if (t0 >= L) continue;
                const size_t end = smx_min(L, t0 + SCAN_ROWS);
                memcpy(states, starts + t0 / SCAN_ROWS * block, block * sizeof *states);
                for (size_t t = t0; t < end; t++) {
                    const v16 now = channels(x + at, t, n, L, D), step = channels(dt + at, t, n, L, D);
                    const v16 in = v16_mul(step, now);
                    const float *before = states + (t - t0) * block;
                    for (size_t s = 0; s < S; s++) {
                        const v16 decay = v16_exp(v16_mul(step, v16_load(A + s * 16)));
                        v16_store(decays + (t - t0) * block + s * 16, decay);
                        v16_store(states + (t - t0 + 1) * block + s * 16,
                                  v16_madd(in, v16_set(b[(q * L + t) * S + s]),
                                           v16_mul(decay, v16_load(before + s * 16))));
                    }
                }
                memset(part, 0, block * sizeof *part);
                v16 d_skip = v16_set(0.0f);
                for (size_t t = end; t-- > t0;) {
                    const float *bt = b + (q * L + t) * S, *ct = c + (q * L + t) * S;
                    const float *before = states + (t - t0) * block, *after = before + block;
                    const float *decay = decays + (t - t0) * block;
                    const v16 now = channels(x + at, t, n, L, D), step = channels(dt + at, t, n, L, D);
                    const v16 gy = channels(dy + at, t, n, L, D);
                    const v16 in = v16_mul(step, now);
                    v16 to_x = v16_set(0.0f), to_step = to_x;
                    d_skip = v16_madd(now, gy, d_skip);
                    for (size_t s = 0; s < S; s++) {
                        const v16 a = v16_load(A + s * 16), keep = v16_load(decay + s * 16);
                        const v16 gs = v16_madd(v16_set(ct[s]), gy, v16_load(g + s * 16));
                        const v16 flow = v16_mul(a, v16_mul(keep, v16_load(before + s * 16))); // d state / d dt, A's part
                        dc[(q * L + t) * S + s] += v16_hsum(v16_mul(gy, v16_load(after + s * 16)));
                        db[(q * L + t) * S + s] += v16_hsum(v16_mul(gs, in));
                        to_x = v16_madd(gs, v16_set(bt[s]), to_x);
                        to_step = v16_madd(gs, v16_madd(v16_set(bt[s]), now, flow), to_step);
                        v16_store(part + s * 16,
                                  v16_madd(gs, v16_mul(step, flow), v16_load(part + s * 16)));
                        v16_store(g + s * 16, v16_mul(keep, gs));
                    }
                    scan_store(dx + at + t * D, v16_madd(step, to_x, v16_mul(through, gy)), n);
                    scan_store(ddt + at + t * D, to_step, n);
                }
                for (size_t i = 0; i < block; i += 16)
                    v16_store(d_log + i, v16_add(v16_load(d_log + i), v16_load(part + i)));
                if (dskip) v16_accumulate(dskip + ch, d_skip, n);
            }
        }
        scan_add(da_log + ch * S, d_log, n, S);
    }
}
