// calls.c: what Frama-C's Eva follows: calls of the scalar kernels at fixed sizes, in arrays of exactly the
// extent that smx.h documents, whose floats may be anything, NaN and infinities too; outputs and scratch hold
// nothing at first. Widths have a whole group of 16 and a tail, or a tail alone.
#include "calls.h"

void norm(void) {
    enum { N = 2, D = 20 };
    ANY(N * D, x);
    ANY(N * D, dy);
    ANY(D, gain);
    ANY(D, bias);
    ANY(D, dgain);
    ANY(D, dbias);
    float y[N * D], dx[N * D], stats[2 * N], rnorm[N];
    smx_layernorm_fwd(y, stats, x, gain, bias, N, D, 1e-5f);
    smx_layernorm_bwd(dx, dgain, dbias, dy, x, gain, stats, N, D);
    smx_rmsnorm_fwd(y, rnorm, x, gain, N, D, 1e-5f);
    smx_rmsnorm_bwd(dx, dgain, dy, x, gain, rnorm, N, D);
    smx_unitnorm_fwd(y, rnorm, x, N, D);
    smx_unitnorm_bwd(dx, dy, x, rnorm, N, D);
}

// The last output is one float too short: an alarm, or the alarms of the others say nothing.
void norm_too_short(void) {
    enum { N = 2, D = 20 };
    ANY(N * D, x);
    float y[N * D - 1], rnorm[N];
    smx_unitnorm_fwd(y, rnorm, x, N, D);
}

static void conv_of(size_t L, size_t D, size_t W, const float *x, const float *f, float *y) {
    const smx_conv p = {.B = 1, .L = L, .D = D, .groups = D, .W = W, .future = 1, .ldx = D, .ldy = D};
    smx_conv_fwd(y, x, f, malloc(smx_conv_scratch_bytes(&p)), &p);
}
void conv(void) {
    enum { L = 5, WIDE = 18, NARROW = 3, W = 3 };
    ANY(L * WIDE, x);
    ANY(WIDE * W, f);
    ANY(L * NARROW, few);
    ANY(NARROW * W, short_f);
    float y[L * WIDE], z[L * NARROW];
    conv_of(L, WIDE, W, x, f, y);
    conv_of(L, NARROW, W, few, short_f, z);
}

// Products: as they lie, transposed with a sum, a single row, few columns of one with A^T.
void product(void) {
    enum { M = 5, N = 18, K = 7 };
    ANY(M * K, a);
    ANY(K * N, b);
    float c[M * N], row[N];
    void *scratch = malloc(smx_gemm_scratch_bytes(M, N, K));
    smx_gemm(c, a, b, scratch, M, N, K, K, N, N, 0);
    smx_gemm(c, a, b, scratch, M, N, K, K, K, N, SMX_TRANS_B | SMX_ACCUMULATE);
    smx_gemm(row, a, b, scratch, 1, N, K, K, N, N, 0);
    smx_gemm(c, a, b, scratch, M, 3, K, M, 3, 3, SMX_TRANS_A);
}

// Rows of softmax, and attention around them; back, row by row, and in the modes and with the tables that go
// together.
void attention(void) {
    enum { L = 5, D = 6, H = 2 };
    const smx_attention p = {.B = 1, .L = L, .D = D, .H = H, .stride = D, .causal = 1, .scale = 0.5f};
    ANY(L * D, q);
    ANY(L * D, k);
    ANY(L * D, v);
    float o[L * D], stats[2 * H * L], map[L * L];
    void *scratch = malloc(smx_attention_fwd_scratch_bytes(&p));
    smx_attention_fwd(o, stats, q, k, v, scratch, &p);
    smx_attention_map(map, q, k, scratch, &p, 0, 1);
}
static void attention_back_of(const smx_attention *p) {
    enum { L = 3, D = 2 };
    ANY(L * D, q);
    ANY(L * D, k);
    ANY(L * D, v);
    ANY(L * D, dout);
    float o[L * D], stats[2 * L], dq[L * D], dk[L * D], dv[L * D];
    smx_attention_fwd(o, stats, q, k, v, malloc(smx_attention_fwd_scratch_bytes(p)), p);
    smx_attention_bwd(dq, dk, dv, dout, q, k, v, o, stats, malloc(smx_attention_bwd_scratch_bytes(p)), p);
}
#define SMALL .B = 1, .L = 3, .D = 2, .H = 1, .stride = 2, .scale = 0.5f
void attention_back(void) {
    const smx_attention all = {SMALL};
    const smx_attention pooled = {SMALL, .causal = 1, .pool_window = 3};
    attention_back_of(&all);
    attention_back_of(&pooled);
}
void attention_modes(void) {
    ANY(5, table);
    ANY(5, bias);
    const smx_attention window = {SMALL, .causal = 1, .sliding = 2, .score = SMX_SCORE_SINK};
    const smx_attention chunks = {SMALL, .chunk = 2, .decay_table = table, .bias = bias};
    const smx_attention sigmoid = {SMALL, .causal = 1, .score = SMX_SCORE_SIGMOID};
    attention_back_of(&window);
    attention_back_of(&chunks);
    attention_back_of(&sigmoid);
}
// Capped scores of rows that end within a group, and of rows that are whole groups.
void attention_cap(void) {
    const smx_attention p = {SMALL, .causal = 1, .sliding = 2, .cap = 3, .score = SMX_SCORE_SINK};
    attention_back_of(&p);
}
void attention_capped(void) {
    enum { L = 16 };
    const smx_attention p = {.B = 1, .L = L, .D = 1, .H = 1, .stride = 1, .cap = 3, .scale = 0.5f};
    ANY(L, q);
    ANY(L, k);
    ANY(L, v);
    ANY(L, dout);
    float o[L], stats[2 * L], dq[L], dk[L], dv[L];
    smx_attention_fwd(o, stats, q, k, v, malloc(smx_attention_fwd_scratch_bytes(&p)), &p);
    smx_attention_bwd(dq, dk, dv, dout, q, k, v, o, stats, malloc(smx_attention_bwd_scratch_bytes(&p)), &p);
}
void attention_rows(void) {
    const smx_attention p = {SMALL, .causal = 1};
    ANY(6, q);
    ANY(6, k);
    ANY(6, v);
    float o[6], *kept = calloc(smx_attention_kept_floats(&p), sizeof *kept);
    void *scratch = malloc(smx_attention_push_scratch_bytes(&p));
    smx_attention_push(o, kept, q, k, v, scratch, 0, 2, &p);
    smx_attention_push(o + 4, kept, q + 4, k + 4, v + 4, scratch, 2, 1, &p);
}
void attention_maps(void) {
    enum { L = 3, D = 2, H = 2 };
    const smx_attention p = {.B = 1, .L = L, .D = D, .H = H, .stride = D, .causal = 1, .scale = 0.5f};
    ANY(L * D, q);
    ANY(L * D, k);
    ANY(L * D, v);
    ANY(L * D, dout);
    ANY(H * H, mix);
    ANY(H * H, dmix);
    float o[L * D], stats[2 * H * L], dq[L * D], dk[L * D], dv[L * D];
    smx_attention_maps_fwd(o, stats, q, k, v, mix, malloc(smx_attention_maps_fwd_scratch_bytes(&p)), &p);
    smx_attention_maps_bwd(dq, dk, dv, dmix, dout, q, k, v, mix, stats,
                           malloc(smx_attention_maps_bwd_scratch_bytes(&p)), &p);
}
void landmark(void) {
    enum { L = 5, D = 2 };
    const smx_landmark p = {.B = 1, .L = L, .D = D, .H = 1, .stride = D, .block = 2, .scale = 0.5f};
    ANY(L * D, q);
    ANY(L * D, k);
    ANY(L * D, v);
    ANY(L * D, dout);
    float marks[L * D], o[L * D], stats[2 * L], dq[L * D], dk[L * D], dv[L * D];
    int32_t chosen[L];
    smx_block_filter_fwd(marks, k, 1, L, D, 2, 0);
    smx_block_filter_bwd(dk, dout, 1, L, D, 2, 0);
    smx_block_filter_bwd(dk, dout, 1, L, D, 2, 0.5f);
    smx_block_filter_fwd(marks, k, 1, L, D, 2, 0.5f);
    smx_landmark_fwd(o, stats, chosen, q, k, v, marks, malloc(smx_landmark_fwd_scratch_bytes(&p)), &p);
    smx_landmark_bwd(dq, dk, dv, dout, q, k, v, o, stats, chosen, malloc(smx_landmark_bwd_scratch_bytes(&p)),
                     &p);
}
static void linattn_of(int norm) {
    enum { L = 3, D = 2 };
    const smx_linattn p = {.B = 1, .L = L, .D = D, .H = 1, .stride = D, .C = 2, .norm = norm, .eps = 1e-5f};
    ANY(L * D, q);
    ANY(L * D, k);
    ANY(L * D, v);
    ANY(L * D, dy);
    float y[L * D], r[L], dq[L * D], dk[L * D], dv[L * D];
    float *carried = calloc(smx_linattn_carried_floats(&p), sizeof *carried);
    void *scratch = malloc(smx_linattn_fwd_scratch_bytes(&p));
    smx_linattn_fwd(y, r, q, k, v, scratch, &p);
    smx_linattn_bwd(dq, dk, dv, dy, q, k, v, y, r, malloc(smx_linattn_bwd_scratch_bytes(&p)), &p);
    smx_linattn_push(y, carried, q, k, v, scratch, 0, L, &p);
}
void linattn(void) {
    linattn_of(SMX_LINATTN_NONE);
    linattn_of(SMX_LINATTN_RMS);
    linattn_of(SMX_LINATTN_SUM);
}

enum { ROWS = 3, KEYS = 3, VALUES = 4 };
static const smx_state shape = {
    .B = 1, .L = ROWS, .H = 1, .dk = KEYS, .dv = VALUES, .gates = SMX_GATES_HEAD, .scale = 0.5f};
#define STATE_INPUTS                                                                                         \
    ANY(ROWS *KEYS, q);                                                                                      \
    ANY(ROWS *KEYS, k);                                                                                      \
    ANY(ROWS *VALUES, v);                                                                                    \
    ANY(ROWS, beta);                                                                                         \
    ANY(ROWS, g);                                                                                            \
    const smx_state_rows x = {q, k, v, beta, g};                                                             \
    float y[ROWS * VALUES], last[KEYS * VALUES];                                                             \
    float *states = malloc(smx_state_floats(ROWS, 1, KEYS, VALUES) * sizeof(float));                         \
    void *scratch = malloc(smx_state_fwd_scratch_bytes(&shape))
void gla(void) {
    STATE_INPUTS;
    smx_gla_fwd(y, last, states, &x, 0, scratch, &shape);
}
void delta(void) {
    STATE_INPUTS;
    smx_delta_fwd(y, last, states, &x, 0, scratch, &shape);
}
void state_rows(void) {
    STATE_INPUTS;
    void *own = malloc(smx_state_push_scratch_bytes(&shape));
    float *carried = calloc(smx_state_carried_floats(&shape), sizeof *carried);
    smx_gla_push(y, carried, &x, own, 0, &shape);
    carried = calloc(smx_state_carried_floats(&shape), sizeof *carried);
    smx_delta_push(y, carried, &x, own, 0, &shape);
}

// Back, without gates: with them it takes Eva minutes.
#define STATE_BACK                                                                                           \
    enum { L = 1, DK = 1, DV = 1 };                                                                          \
    const smx_state p = {.B = 1, .L = L, .H = 1, .dk = DK, .dv = DV, .scale = 0.5f};                         \
    ANY(L *DK, q);                                                                                           \
    ANY(L *DK, k);                                                                                           \
    ANY(L *DV, v);                                                                                           \
    ANY(L, beta);                                                                                            \
    ANY(L *DV, dy);                                                                                          \
    ANY(DK *DV, dlast);                                                                                      \
    const smx_state_rows x = {q, k, v, beta, 0};                                                             \
    float y[L * DV], last[DK * DV], dq[L * DK], dk[L * DK], dv[L * DV], dbeta[L], dstart[DK * DV];           \
    const smx_state_gradients dx = {dq, dk, dv, dbeta, 0};                                                   \
    float *states = malloc(smx_state_floats(L, 1, DK, DV) * sizeof *states);                                 \
    void *scratch = malloc(smx_state_fwd_scratch_bytes(&p)), *back = malloc(smx_state_bwd_scratch_bytes(&p))
void gla_back(void) {
    STATE_BACK;
    smx_gla_fwd(y, last, states, &x, 0, scratch, &p);
    smx_gla_bwd(&dx, dstart, dy, dlast, &x, states, back, &p);
}
void delta_back(void) {
    STATE_BACK;
    smx_delta_fwd(y, last, states, &x, 0, scratch, &p);
    smx_delta_bwd(&dx, dstart, dy, dlast, &x, states, back, &p);
}
