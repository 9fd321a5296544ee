// calls.c: what Frama-C's Eva follows: calls of the scalar kernels at fixed sizes, in arrays of exactly the
// extent that smx.h documents, whose floats may be anything, NaN and infinities too; outputs and scratch hold
// nothing at first. Widths have a whole group of 16 and a tail, or a tail alone.
#include <__fc_builtin.h> // Frama-C's own: any bytes, of which all are written
#include <stdlib.h>
#include <seqmix/smx.h>

#define ANY(n, name)                                                                                         \
    float name[n];                                                                                           \
    Frama_C_make_unknown((char *)name, sizeof name)

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

// Rows of softmax, and attention around them.
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
