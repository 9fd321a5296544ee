// kernel_rows.c: rows of the kernels, at the shapes that the workloads use.
#include "rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- What other programs compute as well ------------------------------------------------------------------
// Element i of array `which` of a workload: a value that another program can make again.
static float shared_value(size_t which, size_t i) {
    const uint32_t h = ((uint32_t)i + 0x9e3779b9u * (uint32_t)(which + 1)) * 2654435761u;
    return (float)((double)(h >> 8) / 8388608.0 - 1.0);
}
// to [B][L][D] from an array numbered [B][D][L]
static void fill_shared(float *to, size_t which, size_t B, size_t L, size_t D, float scale) {
    for (size_t b = 0; b < B; b++)
        for (size_t c = 0; c < D; c++)
            for (size_t t = 0; t < L; t++)
                to[(b * L + t) * D + c] = shared_value(which, (b * D + c) * L + t) * scale;
}
// Sums in double, for comparison only: of y g, the loss that W3 to W7 start from;
static double dot(const float *a, const float *b, size_t n) {
    double s = 0.0;
    for (size_t i = 0; i < n; i++) s += (double)a[i] * (double)b[i];
    return s;
}
// of a product's elements, each with a weight of its own, so that no two can change places;
static double weighted(const float *a, size_t n) {
    double s = 0.0;
    for (size_t i = 0; i < n; i++) s += (double)a[i] * (double)shared_value(0, i);
    return s;
}
// of the energies of rows, each with its weight.
static double weighted_energy(const float *a, size_t rows, size_t D) {
    double s = 0.0;
    for (size_t i = 0; i < rows; i++) s += (double)shared_value(0, i) * dot(a + i * D, a + i * D, D);
    return s;
}

// ---- Products -------------------------------------------------------------------------------------------
// a: m, n, k, flags

static int open_gemm(bench_row *r, smx_error *error) {
    (void)error;
    const size_t m = r->a[0], n = r->a[1], k = r->a[2];
    r->flops = 2.0 * (double)m * (double)n * (double)k;
    if (!bench_floats(r, 0, m * n) || !bench_floats(r, 1, m * k) || !bench_floats(r, 2, k * n)) return -1;
    for (size_t i = 0; i < m * k; i++) r->x[1][i] = shared_value(1, i);
    for (size_t i = 0; i < k * n; i++) r->x[2][i] = shared_value(2, i);
    return bench_scratch(r, smx_gemm_scratch_bytes(m, n, k));
}
static void run_gemm(bench_row *r) {
    const size_t m = r->a[0], n = r->a[1], k = r->a[2], flags = r->a[3];
    smx_gemm(r->x[0], r->x[1], r->x[2], r->scratch, m, n, k, flags & SMX_TRANS_A ? m : k,
             flags & SMX_TRANS_B ? k : n, n, (unsigned)flags);
    if (r->check == 0.0) r->check = weighted(r->x[0], m * n);
}
static void add_gemm(const char *name, const char *isa, size_t m, size_t n, size_t k, size_t flags,
                     const char *target) {
    char full[96];
    snprintf(full, sizeof full, "%s %zux%zux%zu%s%s", name, m, n, k, isa ? "/" : "", isa ? isa : "");
    bench_row *r = bench_add(full, open_gemm, run_gemm);
    r->a[0] = m, r->a[1] = n, r->a[2] = k, r->a[3] = flags;
    r->isa = isa;
    r->target = target;
}

// ---- Attention, convolution, norms ----------------------------------------------------------------------
// a: B, L, D, H

static smx_attention attention_shape(const bench_row *r) {
    return (smx_attention){.B = r->a[0],
                           .L = r->a[1],
                           .D = r->a[2],
                           .H = r->a[3],
                           .stride = r->a[2],
                           .causal = 1,
                           .scale = 0.25f};
}
static int open_attention(bench_row *r, smx_error *error) {
    (void)error;
    const size_t n = r->a[0] * r->a[1] * r->a[2];
    const smx_attention p = attention_shape(r);
    for (size_t i = 0; i < 8; i++) // o, q, k, v, dout, dq, dk, dv
        if (!bench_floats(r, i, n)) return -1;
    if (!bench_floats(r, 8, r->a[0] * r->a[3] * r->a[1] * 2) ||
        bench_scratch(r, smx_attention_bwd_scratch_bytes(&p)))
        return -1;
    const double pairs = (double)r->a[0] * (double)r->a[1] * (double)(r->a[1] + 1) / 2.0 * (double)r->a[2];
    r->flops = (r->a[4] ? 10.0 : 4.0) * pairs; // the backward pass makes the scores again
    smx_attention_fwd(r->x[0], r->x[8], r->x[1], r->x[2], r->x[3], r->scratch, &p);
    return 0;
}
static void run_attention(bench_row *r) {
    const smx_attention p = attention_shape(r);
    if (r->a[4])
        smx_attention_bwd(r->x[5], r->x[6], r->x[7], r->x[4], r->x[1], r->x[2], r->x[3], r->x[0], r->x[8],
                          r->scratch, &p);
    else
        smx_attention_fwd(r->x[0], r->x[8], r->x[1], r->x[2], r->x[3], r->scratch, &p);
}
static void add_attention_row(size_t B, size_t L, size_t D, size_t H, size_t backward, const char *isa) {
    char name[96];
    snprintf(name, sizeof name, "attention %s B%zu L%zu D%zu H%zu%s%s", backward ? "bwd" : "fwd", B, L, D, H,
             isa ? "/" : "", isa ? isa : "");
    bench_row *r = bench_add(name, open_attention, run_attention);
    r->a[0] = B, r->a[1] = L, r->a[2] = D, r->a[3] = H, r->a[4] = backward;
    r->isa = isa;
    if (D / H < 64 || L == 64) return;
    r->target = backward ? ">= 70 % of the ceiling; wasm >= 65 %" : ">= 60 % of the ceiling; wasm >= 65 %";
    for (size_t i = 0; !isa && smx_isa_name(i); i++)
        if (!strcmp(smx_isa_name(i), "avx2") && strcmp(smx_isa(), "avx2"))
            add_attention_row(B, L, D, H, backward, "avx2");
}
static void add_attention(size_t B, size_t L, size_t D, size_t H) {
    for (size_t backward = 0; backward < 2; backward++) add_attention_row(B, L, D, H, backward, NULL);
}

enum { TAPS = 3 };
static smx_conv conv_of(const bench_row *r) {
    const size_t D = r->a[2];
    return (smx_conv){.B = r->a[0], .L = r->a[1], .D = D, .groups = 1, .W = TAPS, .ldx = D, .ldy = D};
}
static int open_conv(bench_row *r, smx_error *error) {
    (void)error;
    const smx_conv p = conv_of(r);
    const size_t D = p.D, n = p.B * p.L * D;
    for (size_t i = 0; i < 4; i++) // y, x, dy, dx
        if (!bench_floats(r, i, n)) return -1;
    r->flops = (r->a[4] ? 4.0 : 2.0) * TAPS * (double)n;
    r->moved = (r->a[4] ? 16.0 : 8.0) * (double)n;
    return bench_floats(r, 4, D * TAPS) && bench_floats(r, 5, D * TAPS)
               ? bench_scratch(r, smx_conv_scratch_bytes(&p))
               : -1;
}
static void run_conv(bench_row *r) {
    const smx_conv p = conv_of(r);
    if (r->a[4])
        smx_conv_bwd(r->x[3], r->x[5], r->x[2], r->x[1], r->x[4], r->scratch, &p);
    else
        smx_conv_fwd(r->x[0], r->x[1], r->x[4], r->scratch, &p);
}

// a: N, D
static int open_rows(bench_row *r, smx_error *error) {
    (void)error;
    const size_t n = r->a[0] * r->a[1];
    for (size_t i = 0; i < 4; i++) // y, x, dy, dx
        if (!bench_floats(r, i, n)) return -1;
    for (size_t i = 4; i < 8; i++) // gain, bias and their gradients
        if (!bench_floats(r, i, r->a[1])) return -1;
    if (!bench_floats(r, 8, 2 * r->a[0])) return -1;
    r->moved = (r->a[4] ? 12.0 : 8.0) * (double)n;
    smx_layernorm_fwd(r->x[0], r->x[8], r->x[1], r->x[4], r->x[5], r->a[0], r->a[1], 1e-5f);
    return 0;
}
static void run_layernorm_fwd(bench_row *r) {
    smx_layernorm_fwd(r->x[0], r->x[8], r->x[1], r->x[4], r->x[5], r->a[0], r->a[1], 1e-5f);
}
static void run_layernorm_bwd(bench_row *r) {
    smx_layernorm_bwd(r->x[3], r->x[6], r->x[7], r->x[2], r->x[1], r->x[4], r->x[8], r->a[0], r->a[1]);
}
static void run_gelu_fwd(bench_row *r) { smx_gelu_fwd(r->x[0], r->x[1], r->a[0] * r->a[1]); }
static void run_gelu_bwd(bench_row *r) { smx_gelu_bwd(r->x[3], r->x[2], r->x[1], r->a[0] * r->a[1]); }
static void add_rows(const char *name, void (*run)(bench_row *), size_t N, size_t D, size_t backward) {
    bench_row *r = bench_add(name, open_rows, run);
    r->a[0] = N, r->a[1] = D, r->a[4] = backward;
}
static int open_adamw(bench_row *r, smx_error *error) {
    (void)error;
    for (size_t i = 0; i < 4; i++) // p, m, v, g
        if (!bench_floats(r, i, r->a[0])) return -1;
    for (size_t i = 0; i < r->a[0]; i++) r->x[2][i] = 0.5f;
    r->moved = 28.0 * (double)r->a[0];
    return 0;
}
static void run_adamw(bench_row *r) {
    const smx_adamw_opts o = {
        .lr = 1e-3f, .b1 = 0.9f, .b2 = 0.999f, .eps = 1e-8f, .wd = 0.01f, .c1 = 1, .c2 = 1, .clip = 1};
    smx_adamw(r->x[0], r->x[1], r->x[2], r->x[3], r->a[0], &o);
}

// ---- Long sequences -------------------------------------------------------------------------------------
// a: B, L, D, H

static int open_fft(bench_row *r, smx_error *error) {
    (void)error;
    const size_t N = r->a[1], D = r->a[2];
    double levels = 0;
    for (size_t n = N; n > 1; n /= 2) levels++;
    r->flops = (double)D * 2.5 * (double)N * levels; // the customary count of a real transform
    if (!bench_floats(r, 0, (N / 2 + 1) * 2 * D) || !bench_floats(r, 1, N * D) ||
        !bench_floats(r, 2, smx_fft_table_floats(N)))
        return -1;
    smx_fft_table(r->x[2], N);
    fill_shared(r->x[1], 1, 1, N, D, 1.0f);
    fill_shared(r->x[0], 2, 1, N + 2, D, 1.0f); // rows 2k and 2k + 1: real and imaginary part
    return bench_scratch(r, smx_rfft_scratch_bytes(N));
}
static void run_rfft(bench_row *r) {
    const size_t N = r->a[1], D = r->a[2];
    smx_rfft_fwd(r->x[0], r->x[1], r->x[2], r->scratch, 1, N, D);
    if (r->check == 0.0) r->check = weighted_energy(r->x[0], N / 2 + 1, 2 * D);
}
static void run_irfft(bench_row *r) {
    const size_t N = r->a[1], D = r->a[2];
    smx_rfft_inv(r->x[1], r->x[0], r->x[2], r->scratch, 1, N, D);
    if (r->check == 0.0) r->check = weighted_energy(r->x[1], N, D);
}

// W3: y = k * x per channel, gradients of k and x. 0 y, 1 x, 2 k, 3 g, 4 dx, 5 dk, 6 table, 7 spectrum
static int open_w3(bench_row *r, smx_error *error) {
    (void)error;
    const size_t B = r->a[0], L = r->a[1], D = r->a[2], n = B * L * D;
    double levels = 1;
    for (size_t m = smx_longconv_rows(L); m > 2; m /= 2) levels++;
    for (size_t i = 0; i < 6; i++)
        if (!bench_floats(r, i, i == 2 || i == 5 ? D * L : n)) return -1;
    const size_t N = smx_longconv_rows(L);
    if (!bench_floats(r, 6, smx_fft_table_floats(N)) ||
        !bench_floats(r, 7, smx_longconv_spectrum_floats(L, D)))
        return -1;
    smx_fft_table(r->x[6], N);
    fill_shared(r->x[1], 0, B, L, D, 1.0f);
    fill_shared(r->x[3], 1, B, L, D, 0.01f);
    for (size_t i = 0; i < D * L; i++) r->x[2][i] = shared_value(2, i) * 0.0625f;
    r->flops = (double)(4 * B * D + 2 * D) * 2.5 * (double)N * levels; // transforms: x, y, g, dx; k, dk
    return bench_scratch(r, smx_longconv_scratch_bytes(L));
}
static void run_w3(bench_row *r) {
    const size_t B = r->a[0], L = r->a[1], D = r->a[2];
    const smx_longconv p = {.B = B, .L = L, .D = D, .taps = L, .ld = D};
    const smx_longconv_weights weights = {.k = r->x[2]};
    const smx_longconv_gradients dweights = {.k = r->x[5]};
    smx_longconv_fwd(r->x[0], r->x[7], r->x[1], &weights, r->x[6], r->scratch, &p);
    if (r->check == 0.0) r->check = dot(r->x[0], r->x[3], B * L * D);
    memset(r->x[5], 0, D * L * sizeof(float));
    smx_longconv_bwd(r->x[4], &dweights, r->x[3], r->x[1], &weights, r->x[7], r->x[6], r->scratch, &p);
}

// W4: o_t = 1/d sum_{s <= t} (q_t.k_s) v_s. 0 y, 1 q, 2 k, 3 v, 4 g, 5.. dq, dk, dv, 8 norm.
// The factor 1/d lies in q.
static smx_linattn linattn_shape(const bench_row *r) {
    return (smx_linattn){.B = r->a[0],
                         .L = r->a[1],
                         .D = r->a[2],
                         .H = r->a[3],
                         .stride = r->a[2],
                         .C = r->a[4],
                         .norm = SMX_LINATTN_NONE};
}
static int open_w4(bench_row *r, smx_error *error) {
    (void)error;
    const size_t B = r->a[0], L = r->a[1], D = r->a[2], H = r->a[3], C = r->a[4], d = D / H;
    const smx_linattn p = linattn_shape(r);
    for (size_t i = 0; i < 8; i++)
        if (!bench_floats(r, i, B * L * D)) return -1;
    if (!bench_floats(r, 8, B * H * L)) return -1;
    for (size_t i = 0; i < 4; i++)
        fill_shared(r->x[1 + i], i, B, L, D, i == 0 ? 1.0f / (float)d : i == 3 ? 1e-3f : 1.0f);
    // Of each row: the state in and out, and half a block of scores, three times over.
    r->flops = 3.0 * (double)(B * H * L) * (4.0 * (double)(d * d) + 2.0 * (double)((C + 1) * d));
    return bench_scratch(r, smx_linattn_bwd_scratch_bytes(&p));
}
static void run_w4(bench_row *r) {
    const smx_linattn p = linattn_shape(r);
    smx_linattn_fwd(r->x[0], r->x[8], r->x[1], r->x[2], r->x[3], r->scratch, &p);
    if (r->check == 0.0) r->check = dot(r->x[0], r->x[4], p.B * p.L * p.D);
    smx_linattn_bwd(r->x[5], r->x[6], r->x[7], r->x[4], r->x[1], r->x[2], r->x[3], r->x[0], r->x[8],
                    r->scratch, &p);
}

// W5 and W6: gated linear attention, a gate a channel, and the delta rule. a: B, L, H, d, delta.
// 0 y, 1 q, 2 k, 3 v, 4 g of y, 5 gates or beta, 6 states, 7.. their gradients, as 1, 2, 3, 5.
static smx_state state_shape(const bench_row *r) {
    return (smx_state){.B = r->a[0],
                       .L = r->a[1],
                       .H = r->a[2],
                       .dk = r->a[3],
                       .dv = r->a[3],
                       .gates = r->a[4] ? SMX_GATES_NONE : SMX_GATES_CHANNEL,
                       .scale = 1.0f / (float)r->a[3]};
}
static int open_state(bench_row *r, smx_error *error) {
    (void)error;
    const smx_state p = state_shape(r);
    const size_t d = p.dk, D = p.H * d, N = p.B * p.L, gates = r->a[4] ? p.H : D;
    for (size_t i = 0; i < 11; i++)
        if (!bench_floats(r, i, i == 6 ? p.B * smx_state_floats(p.L, p.H, d, d) : N * D)) return -1;
    for (size_t i = 0; i < 4; i++) fill_shared(r->x[1 + i], i, p.B, p.L, D, i == 3 ? 1e-3f : 1.0f);
    fill_shared(r->x[5], 4, p.B, p.L, gates, 1.0f);
    for (size_t i = 0; i < N * gates; i++) // gates in -1/16..0, beta in 0..1
        r->x[5][i] = r->a[4] ? (r->x[5][i] + 1.0f) / 2.0f : (r->x[5][i] - 1.0f) / 32.0f;
    for (size_t i = 0; i < N * D; i += d) { // keys of unit length
        float square = 0.0f;
        for (size_t c = 0; c < d; c++) square += r->x[2][i + c] * r->x[2][i + c];
        for (size_t c = 0; c < d; c++) r->x[2][i + c] /= sqrtf(square);
    }
    // Of each row: the state in and out, and a block's pairs, three times over.
    r->flops = 3.0 * (double)(N * p.H) * (4.0 * (double)(d * d) + 4.0 * (double)(SMX_STATE_ROWS * d));
    const size_t fwd = smx_state_fwd_scratch_bytes(&p), bwd = smx_state_bwd_scratch_bytes(&p);
    return bench_scratch(r, fwd > bwd ? fwd : bwd);
}
static void run_state(bench_row *r) {
    const smx_state p = state_shape(r);
    const int delta = r->a[4] != 0;
    const smx_state_rows x = {.q = r->x[1],
                              .k = r->x[2],
                              .v = r->x[3],
                              .beta = delta ? r->x[5] : NULL,
                              .g = delta ? NULL : r->x[5]};
    const smx_state_gradients dx = {.q = r->x[7],
                                    .k = r->x[8],
                                    .v = r->x[9],
                                    .beta = delta ? r->x[10] : NULL,
                                    .g = delta ? NULL : r->x[10]};
    (delta ? smx_delta_fwd : smx_gla_fwd)(r->x[0], NULL, r->x[6], &x, NULL, r->scratch, &p);
    if (r->check == 0.0) r->check = dot(r->x[0], r->x[4], p.B * p.L * p.H * p.dv);
    (delta ? smx_delta_bwd : smx_gla_bwd)(&dx, NULL, r->x[4], NULL, &x, r->x[6], r->scratch, &p);
}

// W7: an LSTM, its input product and the gradients of x, W and U with it. a: B, L, E.
// 0 y, 1 x, 2 W, 3 U, 4 g of y, 5 z, 6 saved, 7 dz, 8 dx, 9 dW, 10 dU.
static int open_w7(bench_row *r, smx_error *error) {
    (void)error;
    const smx_recurrent p = {r->a[0], r->a[1], r->a[2]};
    const size_t N = p.B * p.L, E = p.E;
    const size_t size[11] = {N * E,     N * E,     4 * E * E, 4 * E * E, N * E,    4 * N * E,
                             5 * N * E, 4 * N * E, N * E,     4 * E * E, 4 * E * E};
    for (size_t i = 0; i < 11; i++)
        if (!bench_floats(r, i, size[i])) return -1;
    for (size_t k = 0; k < 4; k++)
        for (size_t i = 0; i < size[1 + k]; i++)
            r->x[1 + k][i] = shared_value(k, i) * (k == 0 ? 1.0f : k == 3 ? 1e-2f : 0.125f);
    r->flops = 6.0 * (double)N * 2.0 * (double)(4 * E * E);
    size_t most = smx_recurrent_fwd_scratch_bytes(&p);
    const size_t others[] = {smx_recurrent_bwd_scratch_bytes(&p), smx_gemm_scratch_bytes(N, 4 * E, E),
                             smx_gemm_scratch_bytes(N, E, 4 * E), smx_gemm_scratch_bytes(E, 4 * E, N)};
    for (size_t i = 0; i < 4; i++) most = others[i] > most ? others[i] : most;
    return bench_scratch(r, most);
}
static void run_w7(bench_row *r) {
    const smx_recurrent p = {r->a[0], r->a[1], r->a[2]};
    const size_t N = p.B * p.L, E = p.E, G = 4 * E;
    smx_gemm(r->x[5], r->x[1], r->x[2], r->scratch, N, G, E, E, G, G, 0);
    smx_lstm_fwd(r->x[0], NULL, r->x[6], r->x[5], r->x[3], NULL, r->scratch, &p);
    if (r->check == 0.0) r->check = dot(r->x[0], r->x[4], N * E);
    memset(r->x[10], 0, E * G * sizeof(float));
    smx_lstm_bwd(r->x[7], r->x[10], NULL, r->x[4], NULL, r->x[0], r->x[3], r->x[6], NULL, r->scratch, &p);
    smx_gemm(r->x[8], r->x[7], r->x[2], r->scratch, N, E, G, G, G, E, SMX_TRANS_B);
    smx_gemm(r->x[9], r->x[1], r->x[7], r->scratch, E, G, N, E, G, G, SMX_TRANS_A);
}

// ---- The list -------------------------------------------------------------------------------------------

#if defined(__wasm__)
#define FAST_TARGET ">= 75 % [85 %] of relaxed multiply-and-add"
#else
#define FAST_TARGET ">= 0.85 x [1.0 x] the better of OpenBLAS and oneDNN"
#endif
void bench_add_kernels(void) {
    static const size_t shape[3][3] = {{2048, 64, 64}, {2048, 256, 64}, {512, 512, 512}};
    static const char *const target = ">= 75 % [85 %] of the ceiling";
    for (size_t s = 0; s < 3; s++) {
        add_gemm("sgemm", NULL, shape[s][0], shape[s][1], shape[s][2], 0, target);
        for (size_t i = 0; smx_isa_name(i); i++)
            if (strcmp(smx_isa_name(i), "scalar") && strcmp(smx_isa_name(i), smx_isa()))
                add_gemm("sgemm", smx_isa_name(i), shape[s][0], shape[s][1], shape[s][2], 0, target);
        char name[96];
        snprintf(name, sizeof name, "sgemm %zux%zux%zu", shape[s][0], shape[s][1], shape[s][2]);
        bench_add_variant(name, "fast=1", FAST_TARGET);
    }
    // As the layers call it: dx = dy W^T, dW += x^T dy, and a small model's three.
    add_gemm("sgemm dx", NULL, 2048, 64, 64, SMX_TRANS_B, NULL);
    add_gemm("sgemm dW", NULL, 64, 64, 2048, SMX_TRANS_A | SMX_ACCUMULATE, NULL);
    add_gemm("sgemm", NULL, 512, 32, 32, 0, NULL);
    add_gemm("sgemm dx", NULL, 512, 32, 32, SMX_TRANS_B, NULL);
    add_gemm("sgemm dW", NULL, 32, 32, 512, SMX_TRANS_A | SMX_ACCUMULATE, NULL);
    add_attention(32, 64, 64, 1);
    add_attention(16, 196, 64, 4);
    add_attention(16, 196, 64, 1);
    add_attention(4, 1024, 64, 1);
    add_attention(8, 64, 32, 1);
    for (size_t backward = 0; backward < 2; backward++) {
        bench_row *r =
            bench_add(backward ? "conv bwd B32 L64 D64 W3" : "conv fwd B32 L64 D64 W3", open_conv, run_conv);
        r->a[0] = 32, r->a[1] = 64, r->a[2] = 64, r->a[4] = backward;
    }
    add_rows("layernorm fwd 3136x64", run_layernorm_fwd, 3136, 64, 0);
    add_rows("layernorm bwd 3136x64", run_layernorm_bwd, 3136, 64, 1);
    add_rows("gelu fwd 3136x128", run_gelu_fwd, 3136, 128, 0);
    add_rows("gelu bwd 3136x128", run_gelu_bwd, 3136, 128, 1);
    bench_add("adamw 65536", open_adamw, run_adamw)->a[0] = 65536;

    bench_row *r = bench_add("rfft 64x4096", open_fft, run_rfft);
    r->a[1] = 4096, r->a[2] = 64, r->target = ">= 0.6 x [1.0 x] FFTW";
    bench_add_variant("rfft 64x4096", "fast=1", ">= 0.8 x [1.2 x] FFTW");
    r = bench_add("irfft 64x4096", open_fft, run_irfft);
    r->a[1] = 4096, r->a[2] = 64, r->target = ">= 0.6 x [1.0 x] FFTW";
    bench_add_variant("irfft 64x4096", "fast=1", ">= 0.8 x [1.2 x] FFTW");
    r = bench_add("W3", open_w3, run_w3);
    r->a[0] = 4, r->a[1] = 4096, r->a[2] = 64, r->target = ">= 2 x [3 x] PyTorch";
    bench_add_variant("W3", "fast=1", ">= 3 x [4 x] PyTorch");
    r = bench_add("W4", open_w4, run_w4);
    r->a[0] = 4, r->a[1] = 4096, r->a[2] = 64, r->a[3] = 4, r->a[4] = 24,
    r->target = ">= 3 x [4 x] PyTorch; >= 3.5 x [5 x] jax-js";
    bench_add_variant("W4", "fast=1", ">= 4 x [6 x] PyTorch");
    for (size_t delta = 0; delta < 2; delta++)
        for (size_t d = 16; d <= 64; d *= 4) {
            char name[96];
            snprintf(name, sizeof name, "W%d %s d%zu", delta ? 6 : 5, delta ? "delta" : "gla", d);
            r = bench_add(name, open_state, run_state);
            r->a[0] = 4, r->a[1] = 4096, r->a[2] = 4, r->a[3] = d, r->a[4] = delta;
            r->target = ">= 3 x PyTorch";
        }
    r = bench_add("W7 lstm", open_w7, run_w7);
    r->a[0] = 32, r->a[1] = 256, r->a[2] = 64, r->target = ">= 2 x PyTorch";
}
