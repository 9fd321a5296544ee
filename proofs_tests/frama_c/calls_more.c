// calls_more.c: calls.c's other half: kernels of rows, convolutions back, transforms, filters, scans and
// recurrent networks, forward, backward and row by row.
#include "calls.h"

void elementwise(void) {
    enum { N = 20 };
    ANY(N, a);
    ANY(N, b);
    float y[N];
    smx_add(y, a, b, N);
    smx_mul(y, a, b, N);
    smx_scale(y, a, 2, N);
    smx_axpy(y, a, 2, N);
    smx_bias_fwd(y, a, b, 2, N / 2);
    smx_bias_bwd(a, b, 2, N / 2);
    smx_affine_fwd(y, a, b, b, 2, N / 2);
    float dx[N];
    ANY(N, dgain);
    ANY(N, dbias);
    smx_affine_bwd(dx, dgain, dbias, a, y, b, 2, N / 2);
    smx_sum(a, N);
    smx_dot(a, b, N);
    smx_sumsq(a, N);
}
void activation(void) {
    enum { N = 18 };
    ANY(N, x);
    ANY(N, dy);
    float y[N], c[N];
    smx_gelu_fwd(y, x, N);
    smx_gelu_bwd(c, dy, x, N);
    smx_silu_fwd(y, x, N);
    smx_silu_bwd(c, dy, x, N);
    smx_sigmoid_fwd(y, x, N);
    smx_sigmoid_bwd(c, dy, y, N);
    smx_tanh_fwd(y, x, N);
    smx_tanh_bwd(c, dy, y, N);
}
void feature(void) {
    enum { N = 3, D = 3, F = 10 };
    ANY(N * D, x);
    ANY(N * F, dy);
    float y[N * F], dx[N * D];
    smx_taylor_fwd(y, x, N, D);
    smx_taylor_bwd(dx, dy, x, N, D);
    smx_elu1_fwd(y, x, N * D);
    smx_elu1_bwd(dx, dy, y, N * D);
}
void gate(void) {
    enum { N = 18 };
    ANY(N, g);
    ANY(N, a);
    ANY(N, b);
    ANY(N, dy);
    float y[N], dg[N], da[N], db[N];
    smx_gate_fwd(y, g, a, b, N);
    smx_gate_bwd(dg, da, db, dy, g, a, b, N);
    smx_gate_bwd(0, 0, 0, dy, g, a, b, N);
    smx_softplus_fwd(y, a, N);
    smx_softplus_bwd(da, dy, a, N);
    for (int triangle = 0; triangle < 2; triangle++) {
        smx_theta_fwd(y, a, N, triangle);
        smx_theta_bwd(da, dy, a, N, triangle);
    }
}

// Tokens, targets and rows are any numbers at all, negative ones and those past the table too.
#define ANY_INTEGERS(n, name)                                                                                \
    int32_t name[n];                                                                                         \
    Frama_C_make_unknown((char *)name, sizeof name)
void embedding(void) {
    enum { N = 3, D = 18, ROWS = 4 };
    ANY(ROWS * D, table);
    ANY(N * D, dy);
    ANY_INTEGERS(N, tokens);
    float y[N * D], mean[D], dx[N * D];
    smx_embedding_fwd(y, table, tokens, N, D, ROWS);
    smx_embedding_bwd(table, dy, tokens, N, D, ROWS);
    smx_meanpool_fwd(mean, dy, 1, N, D);
    smx_meanpool_bwd(dx, mean, 1, N, D);
    const int32_t rows[] = {1, -1};
    smx_gather_fwd(y, dy, rows, 2, N, D);
    smx_gather_bwd(dx, dy, rows, 2, N, D);
}
void loss(void) {
    enum { N = 2, COLUMNS = 18 };
    ANY(N * COLUMNS, x);
    ANY_INTEGERS(N, target);
    float each[N], stats[2 * N], dx[N * COLUMNS];
    int32_t best[N];
    smx_cross_entropy_fwd(each, stats, x, target, N, COLUMNS);
    smx_cross_entropy_bwd(dx, x, target, stats, N, COLUMNS, 0.5f);
    smx_argmax(best, x, N, COLUMNS);
}
void mse(void) {
    enum { N = 18 };
    ANY(N, y);
    ANY(N, target);
    float each[N], dy[N];
    smx_mse_fwd(each, y, target, N);
    smx_mse_bwd(dy, y, target, N, 0.5f);
}
void rope(void) {
    enum { L = 2, D = 4, H = 1 };
    ANY(L * D, x);
    ANY(L * D, cs);
    float y[L * D];
    smx_rope_fwd(y, x, cs, 1, L, D, H, D, D);
    smx_rope_bwd(y, x, cs, 1, L, D, H, D, D);
}
void adamw(void) {
    enum { N = 18 };
    const smx_adamw_opts o = {1e-3f, 0.9f, 0.99f, 1e-8f, 0.1f, 0.1f, 0.01f, 1};
    ANY(N, p);
    ANY(N, m);
    ANY(N, v);
    ANY(N, g);
    smx_adamw(p, m, v, g, N, &o);
}

// Convolutions back, by heads, and through transforms.
void conv_back(void) {
    enum { L = 4, D = 3, W = 3 };
    const smx_conv p = {.B = 1, .L = L, .D = D, .groups = 1, .W = W, .future = 1, .ldx = D, .ldy = D};
    const smx_conv each = {.B = 1, .L = L, .D = D, .groups = D, .W = W, .ldx = D, .ldy = D};
    ANY(L * D, x);
    ANY(L * D, dy);
    ANY(D * W, f);
    ANY(D * W, df);
    float dx[L * D];
    smx_conv_bwd(dx, df, dy, x, f, malloc(smx_conv_scratch_bytes(&p)), &p);
    smx_conv_bwd(dx, df, dy, x, f, malloc(smx_conv_scratch_bytes(&each)), &each);
}
void conv_heads(void) {
    enum { L = 3, D = 4, H = 2, W = 2 };
    const smx_conv_heads p = {.B = 1, .L = L, .D = D, .H = H, .W = W, .ldx = D, .ldy = D};
    ANY(L * D, x);
    ANY(L * D, dy);
    ANY(W * H * H, f);
    ANY(W * H * H, df);
    float y[L * D], dx[L * D];
    void *scratch = malloc(smx_conv_heads_scratch_bytes(&p));
    smx_conv_heads_fwd(y, x, f, scratch, &p);
    smx_conv_heads_bwd(dx, df, dy, x, f, scratch, &p);
}
static float *fft_table(size_t n) {
    float *table = malloc(smx_fft_table_floats(n) * sizeof *table);
    Frama_C_make_unknown((char *)table, smx_fft_table_floats(n) * sizeof *table);
    return table;
}
void fft(void) {
    enum { N = 8, D = 2 };
    ANY(N * D, x);
    float spectrum[(N / 2 + 1) * 2 * D], *table = fft_table(N);
    void *scratch = malloc(smx_rfft_scratch_bytes(N));
    smx_rfft_fwd(spectrum, x, table, scratch, 1, N, D);
    smx_rfft_inv(x, spectrum, table, scratch, 1, N, D);
}
void longconv(void) {
    enum { L = 3, D = 2 };
    const smx_longconv p = {.B = 1, .L = L, .D = D, .taps = L, .lambda = 0.1f, .ld = D};
    ANY(L * D, x);
    ANY(L * D, dy);
    ANY(D * L, k);
    ANY(D, skip);
    ANY(D * L, dk);
    ANY(D, dskip);
    const smx_longconv_weights weights = {k, skip};
    const smx_longconv_gradients dweights = {dk, dskip};
    float y[L * D], dx[L * D], *table = fft_table(smx_longconv_rows(L));
    float *spectrum = malloc(smx_longconv_spectrum_floats(L, D) * sizeof *spectrum);
    void *scratch = malloc(smx_longconv_scratch_bytes(L));
    smx_longconv_fwd(y, spectrum, x, &weights, table, scratch, &p);
    smx_longconv_bwd(dx, &dweights, dy, x, &weights, spectrum, table, scratch, &p);
}

// Filters, scans, recurrent networks.
static void iir_of(int mode) { // (a call each: Eva knows what is allocated in a loop as one)
    enum { L = 4, D = 2, BINS = 2, F = 2, R = L / BINS };
    const smx_iir p = {.B = 1, .L = L, .D = D, .bins = BINS, .F = F, .mode = mode};
    ANY(L * D, x);
    ANY(L * D, dy);
    ANY(BINS * D * F * 2, theta);
    float y[L * D], dx[L * D], dtheta[BINS * D * F * 2];
    float *table = malloc(smx_iir_table_floats(R) * sizeof *table);
    Frama_C_make_unknown((char *)table, smx_iir_table_floats(R) * sizeof *table);
    void *scratch = malloc(smx_iir_scratch_bytes(&p));
    smx_iir_fwd(y, x, theta, table, scratch, &p);
    smx_iir_bwd(dx, dtheta, dy, x, theta, table, scratch, &p);
}
void iir(void) {
    iir_of(SMX_IIR_CAUSAL);
    iir_of(SMX_IIR_CARRY);
    iir_of(SMX_IIR_LITERAL);
}
void maxpool(void) {
    enum { L = 5, D = 2, BINS = 2, O = 1 };
    ANY(L * D, x);
    float e[BINS * D * O], dx[L * D];
    int32_t where[BINS * D * O];
    smx_maxpool_fwd(e, where, x, 1, L, D, BINS, O);
    smx_maxpool_bwd(dx, e, where, 1, L, D, BINS, O);
}
enum { ROWS = 3, WIDE = 2, STATES = 2 };
void ema(void) {
    const smx_ema p = {.B = 1, .L = ROWS, .D = WIDE, .S = STATES};
    ANY(ROWS * WIDE, x);
    ANY(ROWS * WIDE, dy);
    ANY(WIDE * STATES, w);
    ANY(WIDE * STATES, d1);
    ANY(WIDE * STATES, d2);
    ANY(WIDE * STATES, d3);
    ANY(WIDE * STATES, d4);
    ANY(WIDE, skip);
    ANY(WIDE, dskip);
    const smx_ema_weights weights = {w, w, w, w, skip};
    const smx_ema_gradients dweights = {d1, d2, d3, d4, dskip};
    float y[ROWS * WIDE], dx[ROWS * WIDE];
    float *states = malloc(smx_scan_state_floats(ROWS, WIDE, STATES) * sizeof *states);
    float *carried = calloc(smx_scan_state_floats(1, WIDE, STATES), sizeof *carried);
    void *scratch = malloc(smx_scan_scratch_bytes(ROWS, WIDE, STATES));
    smx_ema_fwd(y, states, x, &weights, scratch, &p);
    smx_ema_bwd(dx, &dweights, dy, x, &weights, states, scratch, &p);
    smx_ema_push(y, carried, x, &weights, scratch, 0, &p);
}
void scan(void) {
    const smx_scan p = {.B = 1, .L = ROWS, .D = WIDE, .S = STATES};
    ANY(ROWS * WIDE, x);
    ANY(ROWS * WIDE, dy);
    ANY(ROWS * WIDE, dt);
    ANY(WIDE * STATES, a);
    ANY(ROWS * STATES, b);
    ANY(WIDE, skip);
    ANY(WIDE * STATES, da);
    ANY(WIDE, dskip);
    const smx_scan_system system = {dt, a, b, b, skip};
    float y[ROWS * WIDE], dx[ROWS * WIDE], ddt[ROWS * WIDE], db[ROWS * STATES], dc[ROWS * STATES];
    const smx_scan_gradients dsystem = {ddt, da, db, dc, dskip};
    float *states = malloc(smx_scan_state_floats(ROWS, WIDE, STATES) * sizeof *states);
    float *carried = calloc(smx_scan_state_floats(1, WIDE, STATES), sizeof *carried);
    void *scratch = malloc(smx_scan_scratch_bytes(ROWS, WIDE, STATES));
    smx_scan_fwd(y, states, x, &system, scratch, &p);
    smx_scan_bwd(dx, &dsystem, dy, x, &system, states, scratch, &p);
    smx_scan_push(y, carried, x, &system, scratch, 0, &p);
}
void s4d(void) {
    const smx_s4d p = {.L = ROWS, .D = WIDE, .S = STATES};
    ANY(WIDE, log_dt);
    ANY(WIDE * STATES, log_a);
    ANY(WIDE * STATES, a_im);
    ANY(WIDE * STATES * 2, c);
    ANY(WIDE, d1);
    ANY(WIDE * STATES, d2);
    ANY(WIDE * STATES, d3);
    ANY(WIDE * STATES * 2, d4);
    ANY(WIDE * ROWS, dkernel);
    const smx_s4d_weights weights = {log_dt, log_a, a_im, c}, real = {log_dt, log_a, 0, c};
    const smx_s4d_gradients dweights = {d1, d2, d3, d4};
    float kernel[WIDE * ROWS];
    void *scratch = malloc(smx_s4d_scratch_bytes(ROWS));
    smx_s4d_fwd(kernel, &weights, scratch, &p);
    smx_s4d_bwd(&dweights, dkernel, &weights, scratch, &p);
    smx_s4d_fwd(kernel, &real, scratch, &p);
    smx_s4d_bwd(&dweights, dkernel, &real, scratch, &p);
}
// What all sequences carry ends within a group of 16, or with one.
#define RECURRENT(COUNT)                                                                                     \
    enum { B = COUNT, L = 2, E = 2 };                                                                        \
    const smx_recurrent p = {.B = B, .L = L, .E = E};                                                        \
    ANY(B *L * 4 * E, z);                                                                                    \
    ANY(E * 4 * E, u);                                                                                       \
    ANY(E * 4 * E, du);                                                                                      \
    ANY(3 * E, bias);                                                                                        \
    ANY(3 * E, dbias);                                                                                       \
    ANY(B *L *E, dy);                                                                                        \
    float y[B * L * E], last[B * 2 * E], saved[B * L * 5 * E], dz[B * L * 4 * E], dstart[B * 2 * E];         \
    void *scratch = malloc(smx_recurrent_fwd_scratch_bytes(&p));                                             \
    void *back = malloc(smx_recurrent_bwd_scratch_bytes(&p));                                                \
    smx_lstm_fwd(y, last, saved, z, u, 0, scratch, &p);                                                      \
    smx_lstm_bwd(dz, du, dstart, dy, last, y, u, saved, 0, back, &p);                                        \
    smx_gru_fwd(y, last, saved, z, u, bias, 0, scratch, &p);                                                 \
    smx_gru_bwd(dz, du, dbias, dstart, dy, last, y, u, saved, 0, back, &p)
void recurrent(void) { RECURRENT(1); }
void recurrent_whole(void) { RECURRENT(8); }
