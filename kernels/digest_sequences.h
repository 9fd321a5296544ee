// digest_sequences.h: the cases of digest.c for the kernels that run along time: transforms, long
// convolutions, recurrences. Included by digest.c only.

static const struct {
    size_t B, L, D;
} sequences[] = {{1, 1, 1}, {2, 3, 5}, {1, 17, 16}, {3, 64, 20}, {2, 100, 33}};
#define EACH_SEQUENCE(B, L, D)                                                                               \
    for (size_t s_ = 0, B, L, D;                                                                             \
         s_ < sizeof sequences / sizeof *sequences &&                                                        \
         (B = sequences[s_].B, L = sequences[s_].L, D = sequences[s_].D, r->used = 0, 1);                    \
         s_++)

static float *fft_table(run *r, size_t N) {
    float *table = blank(r, smx_fft_table_floats(N));
    smx_fft_table(table, N);
    return table;
}
static void run_rfft_fwd(run *r) {
    for (size_t N = 1; N <= 1024; N *= 2) {
        r->used = 0;
        const size_t D = N % 3 == 1 ? 16 : 5, words = (N / 2 + 1) * 2 * D;
        float *x = unit(r, N * D), *table = fft_table(r, N), *spectrum = blank(r, words);
        smx_rfft_fwd(spectrum, x, table, scratch(r, smx_rfft_scratch_bytes(N)), 1, N, D);
        out(r, "spectrum", spectrum, words);
    }
}
static void run_rfft_inv(run *r) {
    for (size_t N = 1; N <= 1024; N *= 2) {
        r->used = 0;
        const size_t D = N % 3 == 1 ? 5 : 16;
        float *spectrum = unit(r, (N / 2 + 1) * 2 * D), *table = fft_table(r, N), *x = blank(r, N * D);
        smx_rfft_inv(x, spectrum, table, scratch(r, smx_rfft_scratch_bytes(N)), 1, N, D);
        out(r, "x", x, N * D);
    }
}
static void longconv(run *r, const int backward) {
    EACH_SEQUENCE(B, L, D) {
        const size_t taps = L > 20 ? L - 3 : L + 2, n = B * L * D;
        const smx_longconv p = {B, L, D, taps, L % 2 ? 0.0f : 0.25f, D};
        float *x = unit(r, n), *k = unit(r, D * taps), *skip = unit(r, D),
              *table = fft_table(r, smx_longconv_rows(L));
        float *y = blank(r, n), *spectrum = blank(r, smx_longconv_spectrum_floats(L, D));
        void *work = scratch(r, smx_longconv_scratch_bytes(L));
        const smx_longconv_weights weights = {k, skip};
        smx_longconv_fwd(y, spectrum, x, &weights, table, work, &p);
        if (backward) {
            float *dy = unit(r, n), *dx = blank(r, n), *dk = unit(r, D * taps), *dskip = unit(r, D);
            const smx_longconv_gradients dweights = {dk, dskip};
            smx_longconv_bwd(dx, &dweights, dy, x, &weights, spectrum, table, work, &p);
            out(r, "dx", dx, n);
            out(r, "dk", dk, D * taps);
            out(r, "dskip", dskip, D);
        } else {
            out(r, "y", y, n);
        }
    }
}
static void run_longconv_fwd(run *r) { longconv(r, 0); }
static void run_longconv_bwd(run *r) { longconv(r, 1); }

static void iir(run *r, const int backward) {
    static const struct {
        size_t B, L, D, bins, F;
    } shapes[] = {{2, 32, 5, 2, 1}, {1, 60, 18, 4, 2}, {2, 14, 16, 2, 3}, {1, 12, 3, 1, 1}, {1, 8, 16, 8, 2}};
    for (size_t i = 0; i < 3 * (sizeof shapes / sizeof *shapes); i++) {
        r->used = 0;
        const smx_iir p = {shapes[i / 3].B,    shapes[i / 3].L, shapes[i / 3].D,
                           shapes[i / 3].bins, shapes[i / 3].F, (int)(i % 3)};
        const size_t n = p.B * p.L * p.D, nt = p.B * p.bins * p.D * p.F * 2, R = p.L / p.bins;
        float *x = unit(r, n), *theta = uniform(r, nt, 0.4f, 0.4f), *y = blank(r, n);
        float *table = blank(r, smx_iir_table_floats(R));
        smx_iir_table(table, R);
        void *work = scratch(r, smx_iir_scratch_bytes(&p));
        if (backward) {
            float *dtheta = blank(r, nt), *dy = unit(r, n);
            smx_iir_bwd(y, dtheta, dy, x, theta, table, work, &p);
            out(r, "dx", y, n);
            out(r, "dtheta", dtheta, nt);
        } else {
            smx_iir_fwd(y, x, theta, table, work, &p);
            out(r, "y", y, n);
        }
    }
}
static void run_iir_fwd(run *r) { iir(r, 0); }
static void run_iir_bwd(run *r) { iir(r, 1); }
static void run_theta_fwd(run *r) {
    EACH_LENGTH(half) {
        for (int triangle = 0; triangle < 2; triangle++) {
            r->used = 0;
            const size_t n = 2 * half;
            float *raw = uniform(r, n, 0.0f, 20.0f), *theta = blank(r, n);
            smx_theta_fwd(theta, raw, n, triangle);
            out(r, "theta", theta, n);
        }
    }
}
static void run_theta_bwd(run *r) {
    EACH_LENGTH(half) {
        for (int triangle = 0; triangle < 2; triangle++) {
            r->used = 0;
            const size_t n = 2 * half;
            float *raw = uniform(r, n, 0.0f, 20.0f), *d = unit(r, n), *draw = blank(r, n);
            smx_theta_bwd(draw, d, raw, n, triangle);
            out(r, "draw", draw, n);
        }
    }
}
static void maxpool(run *r, const int backward) {
    EACH_SEQUENCE(B, L, D) {
        const size_t bins = L > 2 ? 2 : 1, O = 3, n = B * bins * D * O;
        float *x = unit(r, B * L * D), *e = blank(r, n);
        for (size_t i = 0; i < B * L * D; i++) x[i] = (float)(int32_t)(9.0f * x[i]); // ties
        int32_t *where = blank_ints(r, n);
        smx_maxpool_fwd(e, where, x, B, L, D, bins, O);
        if (backward) {
            float *de = unit(r, n);
            smx_maxpool_bwd(x, de, where, B, L, D, bins, O);
            out(r, "dx", x, B * L * D);
        } else {
            out(r, "e", e, n);
            out(r, "where", where, n);
        }
    }
}
static void run_maxpool_fwd(run *r) { maxpool(r, 0); }
static void run_maxpool_bwd(run *r) { maxpool(r, 1); }

static void run_affine_fwd(run *r) {
    EACH_ROWS(N, D) {
        float *x = unit(r, N * D), *gain = unit(r, D), *bias = unit(r, D), *y = blank(r, N * D);
        smx_affine_fwd(y, x, gain, bias, N, D);
        out(r, "y", y, N * D);
    }
}
static void run_affine_bwd(run *r) {
    EACH_ROWS(N, D) {
        float *x = unit(r, N * D), *gain = unit(r, D), *dy = unit(r, N * D), *dx = blank(r, N * D);
        float *dgain = unit(r, D), *dbias = unit(r, D);
        smx_affine_bwd(dx, dgain, dbias, dy, x, gain, N, D);
        out(r, "dx", dx, N * D);
        out(r, "dgain", dgain, D);
        out(r, "dbias", dbias, D);
    }
}
static void run_gate_fwd(run *r) {
    EACH_LENGTH(n) {
        r->used = 0;
        float *g = unit(r, n), *a = unit(r, n), *b = unit(r, n), *y = blank(r, n);
        smx_gate_fwd(y, g, a, b, n);
        out(r, "y", y, n);
    }
}
static void run_gate_bwd(run *r) {
    EACH_LENGTH(n) {
        r->used = 0;
        float *g = unit(r, n), *a = unit(r, n), *b = unit(r, n), *dy = unit(r, n);
        float *dg = blank(r, n), *da = blank(r, n), *db = blank(r, n);
        smx_gate_bwd(dg, da, db, dy, g, a, b, n);
        out(r, "dg", dg, n);
        out(r, "da", da, n);
        out(r, "db", db, n);
    }
}
static void run_softplus_fwd(run *r) {
    EACH_LENGTH(n) {
        r->used = 0;
        float *x = uniform(r, n, 0.0f, 60.0f), *y = blank(r, n);
        smx_softplus_fwd(y, x, n);
        out(r, "y", y, n);
    }
}
static void run_softplus_bwd(run *r) {
    EACH_LENGTH(n) {
        r->used = 0;
        float *x = uniform(r, n, 0.0f, 60.0f), *dy = unit(r, n), *dx = blank(r, n);
        smx_softplus_bwd(dx, dy, x, n);
        out(r, "dx", dx, n);
    }
}

static void ema(run *r, const int backward, const int push) {
    EACH_SEQUENCE(B, L, D) {
        const size_t S = 1 + L % 4, n = B * L * D, ns = D * S;
        float *x = unit(r, n), *alpha = unit(r, ns), *delta = unit(r, ns), *beta = unit(r, ns),
              *eta = unit(r, ns);
        float *skip = unit(r, D), *y = blank(r, n);
        void *work = scratch(r, smx_scan_scratch_bytes(L, D, S));
        float *states = blank(r, B * smx_scan_state_floats(L, D, S));
        const smx_ema p = {B, L, D, S};
        const smx_ema_weights weights = {alpha, delta, beta, eta, skip};
        for (size_t t = 0, rows; t < L && push; t += rows) {
            rows = piece(t, L, B);
            if (!t) memset(states, 0, B * smx_scan_state_floats(1, D, S) * sizeof *states);
            smx_ema_push(y + t * D, states, x + t * D, &weights, work, t, &(smx_ema){B, rows, D, S});
        }
        if (push) {
            out(r, "y", y, n);
            out(r, "carried", states, B * smx_scan_state_floats(1, D, S));
            continue;
        }
        smx_ema_fwd(y, states, x, &weights, work, &p);
        if (backward) {
            float *d[4], *dskip = unit(r, D), *dy = unit(r, n);
            for (int i = 0; i < 4; i++) d[i] = unit(r, ns);
            const smx_ema_gradients dweights = {d[0], d[1], d[2], d[3], dskip};
            smx_ema_bwd(y, &dweights, dy, x, &weights, states, work, &p);
            out(r, "dx", y, n);
            for (int i = 0; i < 4; i++) out(r, "dalpha, ddelta, dbeta, deta", d[i], ns);
            out(r, "dskip", dskip, D);
        } else {
            out(r, "y", y, n);
        }
    }
}
static void run_ema_fwd(run *r) { ema(r, 0, 0); }
static void run_ema_bwd(run *r) { ema(r, 1, 0); }
static void run_ema_push(run *r) { ema(r, 0, 1); }

static void scan(run *r, const int backward, const int push) {
    EACH_SEQUENCE(B, L, D) {
        const size_t S = 1 + L % 4, n = B * L * D, ns = B * L * S;
        float *x = unit(r, n), *dt = uniform(r, n, 0.5f, 0.5f), *a_log = unit(r, D * S), *b = unit(r, ns);
        float *c = unit(r, ns), *skip = unit(r, D), *y = blank(r, n);
        void *work = scratch(r, smx_scan_scratch_bytes(L, D, S));
        float *states = blank(r, B * smx_scan_state_floats(L, D, S));
        const smx_scan p = {B, L, D, S};
        const smx_scan_system system = {dt, a_log, b, c, skip};
        for (size_t t = 0, rows; t < L && push; t += rows) {
            rows = piece(t, L, B);
            if (!t) memset(states, 0, B * smx_scan_state_floats(1, D, S) * sizeof *states);
            const smx_scan_system later = {dt + t * D, a_log, b + t * S, c + t * S, skip};
            smx_scan_push(y + t * D, states, x + t * D, &later, work, t, &(smx_scan){B, rows, D, S});
        }
        if (push) {
            out(r, "y", y, n);
            out(r, "carried", states, B * smx_scan_state_floats(1, D, S));
            continue;
        }
        smx_scan_fwd(y, states, x, &system, work, &p);
        if (backward) {
            float *dy = unit(r, n), *ddt = blank(r, n), *da_log = unit(r, D * S), *db = blank(r, ns);
            float *dc = blank(r, ns), *dskip = unit(r, D);
            const smx_scan_gradients dsystem = {ddt, da_log, db, dc, dskip};
            smx_scan_bwd(y, &dsystem, dy, x, &system, states, work, &p);
            out(r, "dx", y, n);
            out(r, "ddt", ddt, n);
            out(r, "da_log", da_log, D * S);
            out(r, "db", db, ns);
            out(r, "dc", dc, ns);
            out(r, "dskip", dskip, D);
        } else {
            out(r, "y", y, n);
        }
    }
}
static void run_scan_fwd(run *r) { scan(r, 0, 0); }
static void run_scan_bwd(run *r) { scan(r, 1, 0); }
static void run_scan_push(run *r) { scan(r, 0, 1); }

// Every kind of gates, some closed; a start and the gradient of the end; shared keys;
// lengths around the blocks of 16 and 64.
static void state(run *r, const int backward, const int delta, const int push) {
    static const smx_state shapes[] = {
        {.B = 2, .L = 1, .H = 2, .dk = 1, .dv = 3, .gates = SMX_GATES_CHANNEL, .scale = 1},
        {.B = 1, .L = 17, .H = 3, .dk = 5, .dv = 16, .gates = SMX_GATES_NONE, .scale = 0.5f},
        {.B = 2, .L = 65, .H = 2, .dk = 18, .dv = 6, .gates = SMX_GATES_CHANNEL, .scale = 0.25f},
        {.B = 1, .L = 79, .H = 2, .dk = 4, .dv = 20, .gates = SMX_GATES_HEAD, .shared = 1, .scale = 1},
        {.B = 1, .L = 130, .H = 2, .dk = 16, .dv = 16, .gates = SMX_GATES_FIXED, .scale = 0.25f},
    };
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        r->used = 0;
        const smx_state p = shapes[s];
        const size_t rows = p.B * p.L, nk = rows * p.dk * (p.shared ? 1 : p.H), nv = rows * p.H * p.dv;
        const size_t ends = p.B * p.H * p.dk * p.dv, kept = p.B * smx_state_floats(p.L, p.H, p.dk, p.dv);
        const size_t ng = p.gates == SMX_GATES_FIXED     ? p.H
                          : p.gates == SMX_GATES_CHANNEL ? rows * p.H * p.dk
                                                         : rows * p.H;
        const float size = 1.0f / (float)p.dk;
        float *q = unit(r, nk), *k = uniform(r, nk, 0, delta ? size : 1.0f), *v = unit(r, nv);
        float *beta = uniform(r, rows * p.H, 0.5f, 0.5f), *g = uniform(r, ng, -0.5f, 0.5f);
        for (size_t i = 0; i < ng; i++)
            if (next(r) % 16 == 0) g[i] *= 200.0f;
        float *start = s % 2 ? NULL : unit(r, ends), *y = blank(r, nv), *last = blank(r, ends);
        float *states = blank(r, kept);
        const smx_state_rows x = {q, k, v, beta, g};
        if (push) {
            float *carried = uniform(r, smx_state_carried_floats(&p), 0, 0);
            void *work = scratch(r, smx_state_push_scratch_bytes(&p));
            for (size_t t = 0; t < p.L;) {
                const size_t keys = t * p.dk * (p.shared ? 1 : p.H), heads = t * p.H;
                const size_t gates = p.gates == SMX_GATES_FIXED     ? 0
                                     : p.gates == SMX_GATES_CHANNEL ? heads * p.dk
                                                                    : heads;
                const smx_state_rows later = {q + keys, k + keys, v + heads * p.dv, beta + heads, g + gates};
                smx_state part = p;
                part.L = piece(t, p.L, p.B);
                (delta ? smx_delta_push : smx_gla_push)(y + heads * p.dv, carried, &later, work, t, &part);
                t += part.L;
            }
            out(r, "y", y, nv);
            continue;
        }
        (delta ? smx_delta_fwd : smx_gla_fwd)(y, last, states, &x, start,
                                              scratch(r, smx_state_fwd_scratch_bytes(&p)), &p);
        if (!backward) {
            out(r, "y", y, nv);
            out(r, "last", last, ends);
            continue;
        }
        float *dq = blank(r, nk), *dk = blank(r, nk), *dv = blank(r, nv), *dbeta = blank(r, rows * p.H);
        float *dg = unit(r, ng), *dstart = blank(r, ends), *dy = unit(r, nv);
        float *dlast = s % 2 ? NULL : unit(r, ends);
        (delta ? smx_delta_bwd : smx_gla_bwd)(&(smx_state_gradients){dq, dk, dv, dbeta, dg}, dstart, dy,
                                              dlast, &x, states, scratch(r, smx_state_bwd_scratch_bytes(&p)),
                                              &p);
        out(r, "dq", dq, nk);
        out(r, "dk", dk, nk);
        out(r, "dv", dv, nv);
        out(r, "dbeta", dbeta, rows * p.H);
        if (p.gates) out(r, "dg", dg, ng);
        out(r, "dstart", dstart, ends);
    }
}
static void run_gla_fwd(run *r) { state(r, 0, 0, 0); }
static void run_gla_bwd(run *r) { state(r, 1, 0, 0); }
static void run_gla_push(run *r) { state(r, 0, 0, 1); }
static void run_delta_fwd(run *r) { state(r, 0, 1, 0); }
static void run_delta_bwd(run *r) { state(r, 1, 1, 0); }
static void run_delta_push(run *r) { state(r, 0, 1, 1); }

// Odd and whole widths; a start in every other shape.
static void recurrent(run *r, const int backward, const int gru) {
    EACH_SEQUENCE(B, L, D) {
        const size_t E = D;
        const smx_recurrent p = {B, L, E};
        const size_t gates = gru ? 3 : 4, kept = gru ? 4 : 5, n = B * L * E, nz = n * gates;
        const size_t nu = E * E * gates, ends = B * E * (gru ? 1 : 2);
        float *z = uniform(r, nz, 0.0f, 2.0f), *u = uniform(r, nu, 0.0f, 0.3f), *bias = unit(r, 3 * E);
        float *start = L % 2 ? unit(r, ends) : NULL, *y = blank(r, n), *last = blank(r, ends);
        float *saved = blank(r, n * kept);
        void *work = scratch(r, smx_recurrent_bwd_scratch_bytes(&p));
        if (gru)
            smx_gru_fwd(y, last, saved, z, u, bias, start, work, &p);
        else
            smx_lstm_fwd(y, last, saved, z, u, start, work, &p);
        if (!backward) {
            out(r, "y", y, n);
            out(r, "last", last, ends);
            continue;
        }
        float *dy = unit(r, n), *dlast = L % 2 ? unit(r, ends) : NULL, *dz = blank(r, nz), *du = unit(r, nu);
        float *dbias = unit(r, 3 * E), *dstart = blank(r, ends);
        if (gru)
            smx_gru_bwd(dz, du, dbias, dstart, dy, dlast, y, u, saved, start, work, &p);
        else
            smx_lstm_bwd(dz, du, dstart, dy, dlast, y, u, saved, start, work, &p);
        out(r, "dz", dz, nz);
        out(r, "du", du, nu);
        if (gru) out(r, "dbias", dbias, 3 * E);
        out(r, "dstart", dstart, ends);
    }
}
static void run_lstm_fwd(run *r) { recurrent(r, 0, 0); }
static void run_lstm_bwd(run *r) { recurrent(r, 1, 0); }
static void run_gru_fwd(run *r) { recurrent(r, 0, 1); }
static void run_gru_bwd(run *r) { recurrent(r, 1, 1); }
static void taylor(run *r, const int backward) {
    static const size_t widths[] = {1, 3, 16, 19};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        r->used = 0;
        const size_t d = widths[i], N = 3, n = N * (1 + d + d * (d + 1) / 2);
        float *x = unit(r, N * d), *y = backward ? unit(r, n) : blank(r, n), *dx = blank(r, N * d);
        if (backward) {
            smx_taylor_bwd(dx, y, x, N, d);
            out(r, "dx", dx, N * d);
        } else {
            smx_taylor_fwd(y, x, N, d);
            out(r, "y", y, n);
        }
    }
}
static void run_taylor_fwd(run *r) { taylor(r, 0); }
static void run_taylor_bwd(run *r) { taylor(r, 1); }

static void s4d(run *r, const int backward) {
    EACH_SEQUENCE(B, L, D) {
        const size_t S = B, real = L % 2;
        float *log_dt = uniform(r, D, -3.0f, 2.0f), *log_a = uniform(r, D * S, -1.0f, 1.0f);
        float *a_im = uniform(r, D * S, 0.0f, 20.0f), *C = unit(r, 2 * D * S), *K = unit(r, D * L);
        void *work = scratch(r, smx_s4d_scratch_bytes(L));
        const smx_s4d p = {L, D, S};
        const smx_s4d_weights weights = {log_dt, log_a, real ? NULL : a_im, C};
        if (backward) {
            float *dlog_dt = unit(r, D), *dlog_a = unit(r, D * S), *da_im = unit(r, D * S),
                  *dC = unit(r, 2 * D * S);
            const smx_s4d_gradients dweights = {dlog_dt, dlog_a, real ? NULL : da_im, dC};
            smx_s4d_bwd(&dweights, K, &weights, work, &p);
            out(r, "dlog_dt", dlog_dt, D);
            out(r, "dlog_a", dlog_a, D * S);
            out(r, "da_im", da_im, D * S);
            out(r, "dC", dC, 2 * D * S);
        } else {
            smx_s4d_fwd(K, &weights, work, &p);
            out(r, "kernel", K, D * L);
        }
    }
}
static void run_s4d_fwd(run *r) { s4d(r, 0); }
static void run_s4d_bwd(run *r) { s4d(r, 1); }
