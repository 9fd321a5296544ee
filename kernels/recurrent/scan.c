// scan.c: Mamba's selective scan (Gu & Dao 2023, Eq. 2 and Alg. 2), S states a channel, input dependent
// steps:
//   h_t[s] = exp(dt_t A_s) h_{t-1}[s] + dt_t b_t[s] x_t,  y_t = sum_s c_t[s] h_t[s] (+ skip x_t),
//   A = -exp(a_log)
// The decays are powers taken one step at a time, so no long product is ever formed; exp flushes below
// 2^-126. Lanes are channels, time runs in order, SCAN_ROWS rows of all channels at a time. Forward keeps the
// states at the start of each such segment; backward runs the rows between again.
#include "scan_layout.h"
#include "scan_rows.h"

// Lanes past the last channel must not reach the sums over channels.
SMX_INLINE v16 channels(const float *x, size_t t, size_t n, size_t L, size_t ld) {
    return n == 16 ? scan_row(x, t, n, L, ld) : v16_load_n(x + t * ld, n, 0.0f);
}

static void load_a(float *A, const float *a_log, size_t D, size_t S) {
    for (size_t c = 0; c < D; c += 16, A += S * 16) {
        scan_load(A, a_log + c * S, smx_min(16, D - c), S);
        for (size_t i = 0; i < S * 16; i += 16) v16_store(A + i, v16_neg(v16_exp(v16_load(A + i))));
    }
}

// first: number of the first row; carried [B][all]: the states before it, then those after the last; NULL:
// zeros.
static void forward(float *restrict y, float *states, float *carried, const float *x,
                    const smx_scan_system *system, void *scratch, size_t first, const smx_scan *p) {
    const size_t B = p->B, L = p->L, D = p->D, S = p->S;
    const float *dt = system->dt, *b = system->b, *c = system->c, *skip = system->skip;
    const scan_layout l = scan_layout_of(L, D, S);
    float *A = (float *)scratch + l.coefficients, *state = (float *)scratch + l.state;
    load_a(A, system->a_log, D, S);
    for (size_t q = 0; q < B; q++) {
        if (carried)
            state = carried + q * l.all;
        else
            memset(state, 0, l.all * sizeof *state);
        for (size_t t0 = 0, end; t0 < L; t0 = end) {
            end = scan_segment_end(first, t0, L);
            if ((first + t0) % SCAN_ROWS == 0) smx_settle(state, l.all);
            if (states) memcpy(states, state, l.all * sizeof *states), states += l.all;
            for (size_t ch = 0; ch < D; ch += 16) {
                const size_t n = smx_min(16, D - ch), at = q * L * D + ch;
                const v16 through = skip ? v16_load_n(skip + ch, n, 0.0f) : v16_set(0.0f);
                const float *a = A + ch * S;
                float *h = state + ch * S;
                for (size_t t = t0; t < end; t++) {
                    const float *bt = b + (q * L + t) * S, *ct = c + (q * L + t) * S;
                    const v16 now = channels(x + at, t, n, L, D), step = channels(dt + at, t, n, L, D);
                    const v16 in = v16_mul(step, now);
                    v16 sum = v16_mul(through, now);
                    for (size_t s = 0; s < S; s++) {
                        const v16 decay = v16_exp_down(v16_mul(step, v16_load(a + s * 16)));
                        const v16 after = v16_madd(in, v16_set(bt[s]), v16_mul(decay, v16_load(h + s * 16)));
                        v16_store(h + s * 16, after);
                        sum = v16_madd(v16_set(ct[s]), after, sum);
                    }
                    scan_store(y + at + t * D, sum, n);
                }
            }
        }
    }
}
SMX_COPY(void, scan_fwd)
(float *restrict y, float *restrict states, const float *x, const smx_scan_system *system, void *scratch,
 const smx_scan *p) {
    forward(y, states, NULL, x, system, scratch, 0, p);
}
SMX_COPY(void, scan_push)
(float *restrict y, float *restrict carried, const float *x, const smx_scan_system *system, void *scratch,
 size_t at, const smx_scan *p) {
    forward(y, NULL, carried, x, system, scratch, at, p);
}

// Adjoint: g_t = c_t dy_t + decay_{t+1} g_{t+1}. db and dc sum over channels: 16 lanes, then group by group.
SMX_COPY(void, scan_bwd)
(float *dx, const smx_scan_gradients *dsystem, const float *dy, const float *x, const smx_scan_system *system,
 const float *states, void *scratch, const smx_scan *p) {
    const size_t B = p->B, L = p->L, D = p->D, S = p->S;
    const float *dt = system->dt, *b = system->b, *c = system->c, *skip = system->skip;
    float *ddt = dsystem->dt, *db = dsystem->b, *dc = dsystem->c, *dskip = dsystem->skip;
    const scan_layout l = scan_layout_of(L, D, S);
    float *base = scratch, *A = base + l.coefficients, *state = base + l.state, *total = base + l.total;
    float *part = base + l.part, *h = base + l.rows, *decays = base + l.decays;
    load_a(A, system->a_log, D, S);
    memset(total, 0, l.all * sizeof *total);
    for (size_t i = 0; i < B * L * S; i++) db[i] = dc[i] = 0.0f;
    for (size_t q = 0; q < B; q++) {
        memset(state, 0, l.all * sizeof *state); // decay_{t+1} g_{t+1}
        for (size_t segment = l.segments; segment-- > 0;) {
            const size_t t0 = segment * SCAN_ROWS, end = smx_min(L, t0 + SCAN_ROWS);
            smx_settle(state, l.all);
            for (size_t ch = 0; ch < D; ch += 16) {
                const size_t n = smx_min(16, D - ch), at = q * L * D + ch;
                const float *a = A + ch * S;
                float *g = state + ch * S;
                memcpy(h, states + (q * l.segments + segment) * l.all + ch * S, l.block * sizeof *h);
                for (size_t t = t0; t < end; t++) {
                    const v16 now = channels(x + at, t, n, L, D), step = channels(dt + at, t, n, L, D);
                    const v16 in = v16_mul(step, now);
                    const float *before = h + (t - t0) * l.block, *bt = b + (q * L + t) * S;
                    for (size_t s = 0; s < S; s++) {
                        const v16 decay = v16_exp_down(v16_mul(step, v16_load(a + s * 16)));
                        v16_store(decays + (t - t0) * l.block + s * 16, decay);
                        v16_store(h + (t - t0 + 1) * l.block + s * 16,
                                  v16_madd(in, v16_set(bt[s]), v16_mul(decay, v16_load(before + s * 16))));
                    }
                }
                memset(part, 0, l.block * sizeof *part);
                const v16 through = skip ? v16_load_n(skip + ch, n, 0.0f) : v16_set(0.0f);
                v16 d_skip = v16_set(0.0f);
                for (size_t t = end; t-- > t0;) {
                    const size_t row = (q * L + t) * S;
                    const float *before = h + (t - t0) * l.block, *after = before + l.block;
                    const float *decay = decays + (t - t0) * l.block;
                    const v16 now = channels(x + at, t, n, L, D), step = channels(dt + at, t, n, L, D);
                    const v16 gy = channels(dy + at, t, n, L, D), in = v16_mul(step, now);
                    v16 to_x = v16_set(0.0f), to_step = to_x;
                    d_skip = v16_madd(now, gy, d_skip);
                    for (size_t s = 0; s < S; s++) {
                        const v16 keep = v16_load(decay + s * 16), bs = v16_set(b[row + s]);
                        const v16 gs = v16_madd(v16_set(c[row + s]), gy, v16_load(g + s * 16));
                        const v16 flow =
                            v16_mul(v16_load(a + s * 16), v16_mul(keep, v16_load(before + s * 16)));
                        dc[row + s] += v16_hsum(v16_mul(gy, v16_load(after + s * 16)));
                        db[row + s] += v16_hsum(v16_mul(gs, in));
                        to_x = v16_madd(gs, bs, to_x);
                        to_step = v16_madd(gs, v16_madd(bs, now, flow), to_step);
                        v16_store(part + s * 16, v16_madd(gs, v16_mul(step, flow), v16_load(part + s * 16)));
                        v16_store(g + s * 16, v16_mul(keep, gs));
                    }
                    scan_store(dx + at + t * D, v16_madd(step, to_x, v16_mul(through, gy)), n);
                    scan_store(ddt + at + t * D, to_step, n);
                }
                scan_sum(total + ch * S, part, l.block);
                if (dskip) v16_accumulate(dskip + ch, d_skip, n);
            }
        }
    }
    for (size_t ch = 0; ch < D; ch += 16)
        scan_add(dsystem->a_log + ch * S, total + ch * S, smx_min(16, D - ch), S);
}
