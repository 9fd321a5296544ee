// ref_cores.h: the oracle, continued: generalised delta rules, gated attention and the newer recurrences, as
// plain loops in double precision. ref.h has the legend. docs/MECHANISMS.md has what the page can train; what
// is here alone is for judging kernels that live elsewhere.
//
// Contracts, besides ref.h's
//   Structs   NAME_arrays are a mechanism's arrays, NAME its sizes. The same struct holds their gradients.
//             An array that may be absent is NULL; then so is its gradient.
//   Gradients every gradient is ADDED to what is there (the caller zeroes them), of y and, where a function
//             takes dstate (NULL: 0), of the last state. All fields of a gradient are there where the array
//             is.
//   Gates     g are logarithms, g <= 0; minus infinity is shut. sigma is the sigmoid.
//   Sizes     one sequence of L rows, or B of them where the sizes are a ref_state. q, k have H heads of dk
//             columns, v and y H heads of dv, a state is [H][dk][dv]. start: before the first row, NULL: 0.
//   Returns   0, or REF_NO_MEMORY.
#ifndef REF_CORES_H
#define REF_CORES_H

#include <seqmix/ref.h>

#ifdef __cplusplus
extern "C" {
#endif

// ==== The delta family: diagonal plus low rank, and its instances. Sizes: ref_state of ref.h.

// ---- dplr.c: the general core; a and b [B][L][H][dk], g as ref_state's gates say
//   S_t = diag(e^{g_t}) S_{t-1} + a_t (b_t^T S_{t-1}) + k_t v_t^T,  y_t = scale S_t^T q_t
// b reads the state before it decays.
typedef struct {
    double *q, *k, *v, *a, *b, *g, *start;
} ref_dplr_arrays;
int ref_dplr_fwd(double *y, double *state, const ref_dplr_arrays *x, const ref_state *p);
int ref_dplr_bwd(const ref_dplr_arrays *d, const double *dy, const double *dstate, const ref_dplr_arrays *x,
                 const ref_state *p);

// ---- kda.c: Kimi delta attention (2510.26692), the delta rule for any gates; beta [B][L][H], from 0 to 2
//   R = diag(e^{g_t}) S_{t-1},  S_t = R + k_t (beta_t (v_t - R^T k_t))^T
typedef struct {
    double *q, *k, *v, *beta, *g, *start;
} ref_kda_arrays;
int ref_kda_fwd(double *y, double *state, const ref_kda_arrays *x, const ref_state *p);
int ref_kda_bwd(const ref_kda_arrays *d, const double *dy, const double *dstate, const ref_kda_arrays *x,
                const ref_state *p);

// ---- gdn2.c: Gated DeltaNet-2 (2605.22791); b [B][L][H][dk] erases, w [B][L][H][dv] writes
//   S_t = R + k_t (w_t o v_t - R^T (b_t o k_t))^T
typedef struct {
    double *q, *k, *v, *g, *b, *w, *start;
} ref_gdn2_arrays;
int ref_gdn2_fwd(double *y, double *state, const ref_gdn2_arrays *x, const ref_state *p);
int ref_gdn2_bwd(const ref_gdn2_arrays *d, const double *dy, const double *dstate, const ref_gdn2_arrays *x,
                 const ref_state *p);

// ---- rwkv7.c: RWKV-7 (2503.14456); r, kappa, a [B][L][H][dk]; the scale is usually 1
//   S_t = diag(e^{g_t}) S_{t-1} - (a_t o kappa_t) (kappa_t^T S_{t-1}) + k_t v_t^T,  y_t = scale S_t^T r_t
typedef struct {
    double *r, *g, *k, *v, *kappa, *a, *start;
} ref_rwkv7_arrays;
int ref_rwkv7_fwd(double *y, double *state, const ref_rwkv7_arrays *x, const ref_state *p);
int ref_rwkv7_bwd(const ref_rwkv7_arrays *d, const double *dy, const double *dstate,
                  const ref_rwkv7_arrays *x, const ref_state *p);

// ---- comba.c: Comba (2506.02475); p [B][L][H][dk] reads before the decay, beta [B][L][H]
//   S_t = e^{g_t} S_{t-1} + k_t (beta_t (v_t - S_{t-1}^T p_t))^T
typedef struct {
    double *q, *k, *v, *p, *beta, *g, *start;
} ref_comba_arrays;
int ref_comba_fwd(double *y, double *state, const ref_comba_arrays *x, const ref_state *p);
int ref_comba_bwd(const ref_comba_arrays *d, const double *dy, const double *dstate,
                  const ref_comba_arrays *x, const ref_state *p);

// ---- deltaproduct.c: n delta steps a row (2502.10297), the gate once, before the first
//   S <- e^{g_t} S;  S <- S + beta_j k_j (v_j - S^T k_j)^T, j = 0 .. n-1;  y_t = scale S^T q_t
// k [B][L][n][H][dk], v [B][L][n][H][dv], beta [B][L][n][H]; g [B][L][H] or none.
typedef struct {
    double *q, *k, *v, *beta, *g, *start;
} ref_deltaproduct_arrays;
int ref_deltaproduct_fwd(double *y, double *state, const ref_deltaproduct_arrays *x, const ref_state *p,
                         size_t n);
int ref_deltaproduct_bwd(const ref_deltaproduct_arrays *d, const double *dy, const double *dstate,
                         const ref_deltaproduct_arrays *x, const ref_state *p, size_t n);

// ---- grouped.c: cores whose heads share. Heads of `from` [N][few][d] copied to [N][many][d], head h from
// head h / (many / few); and the sums of gradients back, added.
void ref_heads_spread(double *to, const double *from, size_t N, size_t many, size_t few, size_t d);
void ref_heads_gather(double *to, const double *from, size_t N, size_t few, size_t many, size_t d);
// ONNX's LinearAttention (opset 27) and its inverse grouping: Hq heads of queries, Hk of keys, Hv of values,
// gates and states; y has max(Hq, Hv) heads. beta [L][Hv] or, beta_columns = 1, [L][1]; NULL: gla.c's rule,
// else kda.c's. Also KDA with grouped values (Hq = Hk).
typedef struct {
    double *q, *k, *v, *beta, *g, *start;
} ref_grouped_arrays;
typedef struct {
    size_t L, Hq, Hk, Hv, dk, dv;
    ref_gates gates; // none, head or channel, of the Hv heads
    size_t beta_columns;
    double scale;
} ref_grouped;
int ref_grouped_fwd(double *y, double *state, const ref_grouped_arrays *x, const ref_grouped *p);
int ref_grouped_bwd(const ref_grouped_arrays *d, const double *dy, const ref_grouped_arrays *x,
                    const ref_grouped *p);

// ==== Attention

// ---- attn.c: q [L][H dk], k [L][Hkv dk], v [L][Hkv dv], y [L][H dv]. Query head h uses head h / (H / Hkv).
// In this order: rms norm of each head's q and k (where there are gains) -> scale q.k -> c tanh(s / c) ->
// + g_{j+1} + .. + g_i -> mask -> softmax with e^{sink_h} in the denominator -> values.
typedef struct {
    double *q, *k, *v;
    double *g;               // [L][H] or NULL: FoX (2503.02130); causal only
    double *sinks;           // [H] or NULL
    double *q_gain, *k_gain; // [dk] or NULL: no norm
} ref_attn_arrays;
typedef struct {
    size_t L, H, Hkv, dk, dv;
    int causal;
    size_t window;              // the last W rows, the row included; 0: all; causal only
    double scale, softcap, eps; // softcap 0: none; eps of the norms
    int sigmoid;                // 1: weights 1 / (1 + e^-logit), not divided by a sum; no sinks
    const double *y; // backward: [L][H dv], the outputs as they were rounded, for dy . y; NULL: exact ones
} ref_attn;
int ref_attn_fwd(double *y, const ref_attn_arrays *x, const ref_attn *p);
int ref_attn_bwd(const ref_attn_arrays *d, const double *dy, const ref_attn_arrays *x, const ref_attn *p);

// ---- path.c: PaTH (2505.16381); w [L][H dk], beta [L][H], g [L][H] or NULL (its sum is not scaled)
//   logit_ij = scale q_i^T M_i .. M_{j+1} k_j + g_{j+1} + .. + g_i,  M_t = I - beta_t w_t w_t^T
typedef struct {
    double *q, *k, *v, *w, *beta, *g;
} ref_path_arrays;
int ref_path_fwd(double *y, const ref_path_arrays *x, const ref_state *p);
int ref_path_bwd(const ref_path_arrays *d, const double *dy, const ref_path_arrays *x, const ref_state *p);

// ---- differential.c: differential attention (2410.05258); q [L][2 H d], k [L][2 Hkv d], v, y [L][.. 2 d]
//   A = softmax(q_2h k_2h) - lambda softmax(q_2h+1 k_2h+1),  lambda = e^{lq1.lk1} - e^{lq2.lk2} + start,
//   y_h = (1 - start) rms(A v) gain
typedef struct {
    double *q, *k, *v, *lq1, *lk1, *lq2, *lk2; // l.. [d]
    double *gain;                              // [2 d]
} ref_differential_arrays;
typedef struct {
    size_t L, H, Hkv, d;
    double lambda_start, eps;
} ref_differential;
int ref_differential_fwd(double *y, const ref_differential_arrays *x, const ref_differential *p);
int ref_differential_bwd(const ref_differential_arrays *d, const double *dy, const ref_differential_arrays *x,
                         const ref_differential *p);

// ---- loglinear.c: log-linear attention (2506.04761); g [L][H], level [L][H][levels] > 0
//   y_i = scale sum_{j<=i} e^{g_{j+1}+..+g_i} level_i[l(i, j)] (q_i.k_j) v_j
// l(i, i) = 0, else b + 1 with b the bit of i whose block [i' - 2^b, i') holds j, i' = i with the bits below
// b
// cleared. levels: at least bits of L - 1, plus 1.
typedef struct {
    double *q, *k, *v, *g, *level;
} ref_loglinear_arrays;
size_t ref_loglinear_level(size_t i, size_t j);
int ref_loglinear_fwd(double *y, const ref_loglinear_arrays *x, const ref_state *p, size_t levels);
int ref_loglinear_bwd(const ref_loglinear_arrays *d, const double *dy, const ref_loglinear_arrays *x,
                      const ref_state *p, size_t levels);

// ==== Recurrences

// ---- mlstm.c: xLSTM's matrix memory (2405.04517); i, f [L][H] preactivations
//   m_t = max(F + m_{t-1}, i), C = e^{F + m_{t-1} - m_t} C + e^{i - m_t} k v^T, n likewise with k,
//   y = C^T q' / max(|n^T q'|, e^{-m_t}), q' = scale q; F = log sigma(f), or f itself (exponential)
// last: C [H][dk][dv], n [H][dk] and m [H] after the last row; of the start any may be NULL: 0.
typedef struct {
    double *q, *k, *v, *i, *f, *C, *n, *m;
} ref_mlstm_arrays;
typedef struct {
    double *C, *n, *m;
} ref_mlstm_state;
int ref_mlstm_fwd(double *y, const ref_mlstm_state *last, const ref_mlstm_arrays *x, const ref_state *p,
                  int exponential);
int ref_mlstm_bwd(const ref_mlstm_arrays *d, const double *dy, const ref_mlstm_arrays *x, const ref_state *p,
                  int exponential);

// ---- slstm.c: xLSTM's scalar memory; w [D][4][H d], u [4][H][d][d], b [4][H d], order i f z o
//   m as above (the first row without a start: m = i), c = e^{F + m' - m} c + e^{i - m} tanh z, n likewise
//   with 1, y = h = sigma(o) c / n
// start and last: h, c, n, m [H d]; a start has all four.
typedef struct {
    double *x, *w, *u, *b, *h, *c, *n, *m;
} ref_slstm_arrays;
typedef struct {
    size_t L, D, H, d;
    int exponential;
} ref_slstm;
typedef struct {
    double *c, *n, *m;
} ref_slstm_state;
int ref_slstm_fwd(double *y, const ref_slstm_state *last, const ref_slstm_arrays *x, const ref_slstm *p);
int ref_slstm_bwd(const ref_slstm_arrays *d, const double *dy, const ref_slstm_arrays *x, const ref_slstm *p);

// ---- hgrn2.c: HGRN2 (2404.07904): gla.c with the key 1 - e^g
typedef struct {
    double *q, *g, *v, *start;
} ref_hgrn2_arrays;
int ref_hgrn2_fwd(double *y, double *state, const ref_hgrn2_arrays *x, const ref_state *p);
int ref_hgrn2_bwd(const ref_hgrn2_arrays *d, const double *dy, const double *dstate,
                  const ref_hgrn2_arrays *x, const ref_state *p);

// ---- rglru.c: Griffin's RG-LRU (2402.19427); x, ga, gi [L][D], lam [D], h [D] the start
//   log a = -c softplus(lam) sigma(ga),  h_t = a h_{t-1} + sqrt(1 - a^2) sigma(gi) x
// first_whole: row 0 has the factor 1 instead of the root (the published code; who goes on from a state
// leaves it out).
typedef struct {
    double *x, *ga, *gi, *lam, *h;
} ref_rglru_arrays;
typedef struct {
    size_t L, D;
    double c; // 8
    int first_whole;
} ref_rglru;
int ref_rglru_fwd(double *y, double *last, const ref_rglru_arrays *x, const ref_rglru *p);
int ref_rglru_bwd(const ref_rglru_arrays *d, const double *dy, const ref_rglru_arrays *x, const ref_rglru *p);

// ---- mingru.c: minGRU and minLSTM (2410.01201); all [L][D], h [D] the start
//   minGRU   h_t = (1 - sigma(z)) h_{t-1} + sigma(z) c~
//   minLSTM  F = sigma(f) / (sigma(f) + sigma(i)),  h_t = F h_{t-1} + (1 - F) c~
//   c~ = c, or (positive) c + 1/2 for c >= 0 and sigma(c) below
typedef struct {
    double *z, *c, *h;
} ref_mingru_arrays;
typedef struct {
    double *f, *i, *c, *h;
} ref_minlstm_arrays;
typedef struct {
    size_t L, D;
    int positive;
} ref_mingru;
int ref_mingru_fwd(double *y, double *last, const ref_mingru_arrays *x, const ref_mingru *p);
int ref_mingru_bwd(const ref_mingru_arrays *d, const double *dy, const ref_mingru_arrays *x,
                   const ref_mingru *p);
int ref_minlstm_fwd(double *y, double *last, const ref_minlstm_arrays *x, const ref_mingru *p);
int ref_minlstm_bwd(const ref_minlstm_arrays *d, const double *dy, const ref_minlstm_arrays *x,
                    const ref_mingru *p);

// ---- causal_conv.c: a depthwise filter that goes on from the rows before: ONNX's CausalConvWithState (opset
// 27), Mamba's causal_conv1d; x, y [L][D], filter [D][W], whose last tap meets its row, bias [D] or NULL
//   z_t = bias + sum_w filter[w] x_{t+w-(W-1)},  y = z, or (silu) z sigma(z)
// start, last [W-1][D]: the rows before the first and up to the last; start may be NULL: 0.
typedef struct {
    double *x, *filter, *bias, *start;
} ref_causal_conv_arrays;
typedef struct {
    size_t L, D, W;
    int silu;
} ref_causal_conv;
void ref_causal_conv_fwd(double *y, double *last, const ref_causal_conv_arrays *x, const ref_causal_conv *p);
void ref_causal_conv_bwd(const ref_causal_conv_arrays *d, const double *dy, const ref_causal_conv_arrays *x,
                         const ref_causal_conv *p);

// ---- mamba3.c: Mamba-3, one input and output a head (2603.15569); q, k [L][H N], v, y [L][H P],
// g, dt, lam [L][H], theta [L][H R], skip [H] or NULL
//   angle_t = angle_{t-1} + theta_t; k~, q~: columns 2j, 2j+1 of k and q turned by angle j, j < R
//   S_t = e^g S_{t-1} + (1 - lam) dt e^g k~_{t-1} v_{t-1}^T + lam dt k~_t v_t^T,  y = S_t^T q~ + skip v
// start: S [H][N][P], k~ [H][N] and v [H][P] of the row before, angle [H][R]; any may be NULL: 0.
typedef struct {
    double *q, *k, *v, *g, *dt, *lam, *theta, *skip, *S, *k_before, *v_before, *angle;
} ref_mamba3_arrays;
typedef struct {
    size_t L, H, N, P, R;
} ref_mamba3;
// last: S after the last row; k_last (or NULL): its k~.
int ref_mamba3_fwd(double *y, double *last, double *k_last, const ref_mamba3_arrays *x, const ref_mamba3 *p);
int ref_mamba3_bwd(const ref_mamba3_arrays *d, const double *dy, const ref_mamba3_arrays *x,
                   const ref_mamba3 *p);

// ---- mesa.c: MesaNet (2506.05233), exact; beta, g [L][H], lam [H dk] > 0
//   P = e^g P + beta k k^T, S = e^g S + beta k v^T, y = scale S^T (P + diag lam)^{-1} q
// start: S [H][dk][dv] and P [H][dk][dk] (symmetric) or NULL: 0. state, state_kk: after the last row.
typedef struct {
    double *q, *k, *v, *beta, *g, *lam, *S, *P;
} ref_mesa_arrays;
int ref_mesa_fwd(double *y, double *state, double *state_kk, const ref_mesa_arrays *x, const ref_state *p);
int ref_mesa_bwd(const ref_mesa_arrays *d, const double *dy, const ref_mesa_arrays *x, const ref_state *p);

// ---- ttt.c: TTT-Linear (2407.04620); q, k, v, y [L][H d], eta [L][H]; W [H][d][d] the weights at the start
// (NULL: 0). Gradients of `batch` rows are taken at the batch's first weights:
//   W_t = W - tau_i sum_{s<=t} eta_s k_s^T grad_s,  i the row's number in its batch, tau [batch] or NULL: 1
//   plain  grad = k W - v,  y = q W_t
//   norm   grad of |LN(k W + b) - (v - k)|^2 / 2 by k W + b,  y = q + LN(q W_t + b_t), where gain is there
typedef struct {
    double *q, *k, *v, *eta, *tau, *W;
    double *b, *gain, *bias; // [H][d], [H d], [H d], all or none
} ref_ttt_arrays;
typedef struct {
    size_t L, H, d, batch;
    double eps;
} ref_ttt;
// last [H][d][d], b_last [H][d] (or NULL): the weights after the last row.
int ref_ttt_fwd(double *y, double *last, double *b_last, const ref_ttt_arrays *x, const ref_ttt *p);
int ref_ttt_bwd(const ref_ttt_arrays *d, const double *dy, const ref_ttt_arrays *x, const ref_ttt *p);

#ifdef __cplusplus
}
#endif
#endif
