// ref_layers.h: the oracle, continued: whole layers around the cores of ref_cores.h, projections, short
// convolutions, gates and norms. ref.h has the legend.
//
// x, y [L][D]; H heads of d = D / H columns; weights [in][out]; a convolution is depthwise and causal,
// [D][W],
// tap 0 meets the row itself. "unit" rows have length 1. The same struct holds the gradients, which are ADDED
// to what is there. An array that is switched off is NULL, and so is its gradient. Functions return REF_OK or
// REF_NO_MEMORY.
#ifndef REF_LAYERS_H
#define REF_LAYERS_H

#include <seqmix/ref_cores.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- kda_layer.c: Kimi delta attention (2510.26692; fla/layers/kda.py)
//   q, k, v = SiLU(conv(x W)), q and k unit by head; g = -e^{a_log} softplus(x Wf1 Wf2 + dt_bias), or (safe)
//   lower sigma(e^{a_log} (x Wf1 Wf2 + dt_bias)); beta = sigma(x Wbeta), twice that (negative);
//   y = (rms(core) gain o sigma(x Wg1 Wg2 + b_g)) Wo
typedef struct {
    double *x, *wq, *wk, *wv, *wo, *conv_q, *conv_k, *conv_v, *gain; // gain [d]
    double *a_log, *w_f1, *w_f2, *dt_bias;                           // [H], [D][f_rank], [f_rank][D], [D]
    double *w_g1, *w_g2, *b_g, *w_beta;                              // [D][g_rank], [g_rank][D], [D], [D][H]
} ref_kda_layer_arrays;
typedef struct {
    size_t L, D, H, W, f_rank, g_rank;
    double eps, lower; // lower: 0, or of the safe gate, -5
    int negative;
} ref_kda_layer;
int ref_kda_layer_fwd(double *y, const ref_kda_layer_arrays *x, const ref_kda_layer *p);
int ref_kda_layer_bwd(const ref_kda_layer_arrays *d, const double *dy, const ref_kda_layer_arrays *x,
                      const ref_kda_layer *p);

// ---- gdn2_layer.c: Gated DeltaNet-2 (2605.22791; fla/layers/gdn2.py): KDA's layer with b = sigma(x Wb) on
// the
// key's channels (twice that: negative) and w = sigma(x Ww) on the value's
typedef struct {
    double *x, *wq, *wk, *wv, *wo, *conv_q, *conv_k, *conv_v, *gain;
    double *a_log, *w_f1, *w_f2, *dt_bias;
    double *w_g1, *w_g2, *b_g, *w_b, *w_w; // [D][D]
} ref_gdn2_layer_arrays;
int ref_gdn2_layer_fwd(double *y, const ref_gdn2_layer_arrays *x, const ref_kda_layer *p);
int ref_gdn2_layer_bwd(const ref_gdn2_layer_arrays *d, const double *dy, const ref_gdn2_layer_arrays *x,
                       const ref_kda_layer *p);

// ---- deltaproduct_layer.c: Gated DeltaProduct (2502.10297; fla/layers/gated_deltaproduct.py): n keys,
// values
// and betas a row, step j's columns together
//   beta = 2 sigma(x Wbeta), g = -e^{a_log} softplus(x Wa + dt_bias) or none,
//   y = (rms(core) gain o SiLU(x Wgate)) Wo
typedef struct {
    double *x, *wq, *wk, *wv, *wo, *conv_q, *conv_k, *conv_v,
        *gain;                     // wk, wv [D][n D], conv_k, conv_v [n D][W]
    double *a_log, *w_a, *dt_bias; // [H], [D][H], [H]; or all NULL
    double *w_gate, *w_beta;       // [D][D], [D][n H]
} ref_deltaproduct_layer_arrays;
typedef struct {
    size_t L, D, H, W, n;
    double eps;
} ref_deltaproduct_layer;
int ref_deltaproduct_layer_fwd(double *y, const ref_deltaproduct_layer_arrays *x,
                               const ref_deltaproduct_layer *p);
int ref_deltaproduct_layer_bwd(const ref_deltaproduct_layer_arrays *d, const double *dy,
                               const ref_deltaproduct_layer_arrays *x, const ref_deltaproduct_layer *p);

// ---- comba_layer.c: Comba (2506.02475; fla/layers/comba.py)
//   p = sigma(decay_h) k, q <- q - skip_h p, with q and k unit before (the paper) or q, k and p unit after
//   (the
//   code); beta = sigma(x Wbeta), g as above; y = (rms(core) gain o sigma(x Wgate)) Wo
typedef struct {
    double *x, *wq, *wk, *wv, *wo, *w_gate, *conv_q, *conv_k, *conv_v, *w_beta, *w_a, *dt_bias, *a_log, *gain;
    double *decay, *skip; // [H]
} ref_comba_layer_arrays;
typedef struct {
    size_t L, D, H, W;
    double eps;
    int code; // 0: as the paper, 1: as the published code
} ref_comba_layer;
int ref_comba_layer_fwd(double *y, const ref_comba_layer_arrays *x, const ref_comba_layer *p);
int ref_comba_layer_bwd(const ref_comba_layer_arrays *d, const double *dy, const ref_comba_layer_arrays *x,
                        const ref_comba_layer *p);

// ---- rwkv7_layer.c: RWKV-7's time mix (2503.14456; BlinkDL/RWKV-LM rwkv_v7_demo.py)
//   x_n = x + mu_n (x_{t-1} - x_t), n of r w k v a g; r, k, v = x_n W; g = -e^{-1/2} sigma(d0 + tanh(x_w D1)
//   D2);
//   a = sigma(a0 + x_a A1 A2); kappa = unit(k o k_k) by head; k <- k (1 + (a - 1) k_a);
//   v <- v + (v_first - v) sigma(v0 + x_v V1 V2) (later layers);
//   y = ((norm by head(core) gain + bias + (sum_head r k r_k) v) o sigma(x_g G1) G2) Wo
typedef struct {
    double *x, *mu_r, *mu_w, *mu_k, *mu_v, *mu_a, *mu_g, *w_r, *w_k, *w_v, *wo;
    double *d0, *d1, *d2, *a0, *a1, *a2, *g1, *g2; // [D], [D][rank], [rank][D]
    double *k_k, *k_a, *r_k, *gn_gain, *gn_bias;   // [D]
    double *v_first, *v0, *v1, *v2;                // [L][D], ..; all NULL in the first layer
} ref_rwkv7_layer_arrays;
typedef struct {
    size_t L, D, H, d_rank, a_rank, g_rank, v_rank;
    double gn_eps;
} ref_rwkv7_layer;
int ref_rwkv7_layer_fwd(double *y, const ref_rwkv7_layer_arrays *x, const ref_rwkv7_layer *p);
int ref_rwkv7_layer_bwd(const ref_rwkv7_layer_arrays *d, const double *dy, const ref_rwkv7_layer_arrays *x,
                        const ref_rwkv7_layer *p);

// ---- hgrn2_layer.c: HGRN2 (2404.07904; fla/layers/hgrn2.py)
//   q = SiLU(x Wq), f = lb + (1 - lb) sigma(x Wf), g = log f, v = x Wi; y = rms over the row(core) gain Wo
typedef struct {
    double *x, *wq, *w_f, *w_i, *wo, *gain, *lb; // gain, lb [D]; lb NULL: 0
} ref_hgrn2_layer_arrays;
typedef struct {
    size_t L, D, H;
    double eps;
} ref_hgrn2_layer;
int ref_hgrn2_layer_fwd(double *y, const ref_hgrn2_layer_arrays *x, const ref_hgrn2_layer *p);
int ref_hgrn2_layer_bwd(const ref_hgrn2_layer_arrays *d, const double *dy, const ref_hgrn2_layer_arrays *x,
                        const ref_hgrn2_layer *p);

// ---- griffin_layer.c: Griffin's recurrent block (2402.19427; recurrentgemma/torch/layers.py)
//   u = conv(x Wx + b_x) + conv_bias; ga, gi = u times a block a head, + bias;
//   y = (GELU(x Wy + b_y) o RG-LRU(u)) Wo + b_o
typedef struct {
    double *x, *w_x, *b_x, *w_y, *b_y, *conv_x, *conv_bias; // conv_bias [D]
    double *w_ga, *b_ga, *w_gi, *b_gi, *lam, *wo, *b_o;     // w_ga, w_gi [H][d][d]
} ref_griffin_layer_arrays;
typedef struct {
    size_t L, D, H, W;
    double c;
    int first_whole;
} ref_griffin_layer;
int ref_griffin_layer_fwd(double *y, const ref_griffin_layer_arrays *x, const ref_griffin_layer *p);
int ref_griffin_layer_bwd(const ref_griffin_layer_arrays *d, const double *dy,
                          const ref_griffin_layer_arrays *x, const ref_griffin_layer *p);

// ---- fox_layer.c: the forgetting transformer's attention (2503.02130; modeling_forgetting_transformer.py)
//   g = log sigma(x Wf + b_f); y = core Wo. With w_ks ("Pro"): k <- a k_{t-1} + (1 - a) k, a = sigma(x Wks)
//   by
//   head, v likewise by Wvs; q and k rms by head, gain [D]; y = (rms by head(core) gain o sigma(x Wgate)) Wo
typedef struct {
    double *x, *wq, *wk, *wv, *wo, *w_f, *b_f;             // [D][H], [H]
    double *w_ks, *w_vs, *q_gain, *k_gain, *gain, *w_gate; // all NULL: "LLaMA"
} ref_fox_layer_arrays;
typedef struct {
    size_t L, D, H;
    double eps;
} ref_fox_layer;
int ref_fox_layer_fwd(double *y, const ref_fox_layer_arrays *x, const ref_fox_layer *p);
int ref_fox_layer_bwd(const ref_fox_layer_arrays *d, const double *dy, const ref_fox_layer_arrays *x,
                      const ref_fox_layer *p);

// ---- mamba3_layer.c: Mamba-3 (2603.15569; state-spaces/mamba modules/mamba3.py); P = 2 D / H
//   v, z = x Wx, x Wz; k, q = rms(x Wb), rms(x Wc) with gains [N], + a bias by head [H][N];
//   dt = softplus(x Wdt + dt_bias), lam = sigma(x Wlam), theta = dt pi tanh(x Wth); g = dt A, A at most
//   -1e-4:
//   -softplus(x Wa), or (heavy) -(1 + a) for a >= 0 and -1 / (1 - a) below; y = (core o SiLU(z)) Wo
typedef struct {
    double *x, *w_x, *w_z, *w_b, *w_c, *w_dt, *w_a, *w_lam, *w_th, *wo; // [D][2 D], [D][N], [D][H], [D][R]
    double *dt_bias, *b_gain, *c_gain, *b_bias, *c_bias, *skip;
} ref_mamba3_layer_arrays;
typedef struct {
    size_t L, D, H, N, R;
    double eps;
    int heavy;
} ref_mamba3_layer;
int ref_mamba3_layer_fwd(double *y, const ref_mamba3_layer_arrays *x, const ref_mamba3_layer *p);
int ref_mamba3_layer_bwd(const ref_mamba3_layer_arrays *d, const double *dy, const ref_mamba3_layer_arrays *x,
                         const ref_mamba3_layer *p);

#ifdef __cplusplus
}
#endif
#endif
