// ref.h: the oracle of seqmix: every kernel and every mechanism in double precision, as plain loops that can
// be read beside the papers. It is for judging other code, not for speed; it shares no code with what it
// judges. Long because it has a prototype for each of them.
//
// Legend, used by every prototype
//   B batch   L length   D width   H heads   d = D/H head width   W filter taps   N rows   n element count
//   V vocabulary or classes   F filters   O oversampling   M chunk length   R = L/n_bins bin length
//   S states of a channel
//   Arrays are row-major and contiguous unless a stride is named: x [L][D] means x[t*D + c]. Head h owns the
//   columns h*d .. h*d+d-1; t, i (query), j (key) count from 0. Every matrix is [in][out]: x W (+ b).
//
// Contracts
//   Order     outputs, inputs, saved state, sizes. Backward: gradients out, gradient in, what forward saw.
//   Gradients input gradients OVERWRITE; parameter gradients ACCUMULATE (the caller zeroes them).
//   Aliasing  none, except the elementwise functions (y may be an input).
//   Structs   a struct of weights serves for their gradients too: a NULL weight is switched off, its gradient
//             is NULL. Functions read weights and write gradients only.
//   Returns   the primitives (first half) cannot fail; the mechanisms (second half) that take memory return
//             0, or REF_NO_MEMORY. Sizes are the caller's promise (H divides D, n_bins divides L, ...).
#ifndef REF_H
#define REF_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { REF_OK = 0, REF_NO_MEMORY = -1 };

// One zeroed block cut into arrays: ref_carve(&a, n, &b, m, ..., REF_END), counts as size_t. NULL when there
// is not enough memory; free() the result to release all of them.
void *ref_carve(double **first, size_t count, ...);
#define REF_END ((double **)0)

// ==== Primitives: the twins of include/seqmix/smx.h, same names after the prefix, same order of parameters,
// no scratch.

// ---- gemm.c: matrix product
enum { REF_TRANS_A = 1, REF_TRANS_B = 2, REF_ACCUMULATE = 4 };
// C [m][n] = op(A) op(B), or += with REF_ACCUMULATE; op(A) [m][k], op(B) [k][n], row strides lda, ldb, ldc.
void ref_gemm(double *c, const double *a, const double *b, size_t m, size_t n, size_t k, size_t lda,
              size_t ldb, size_t ldc, unsigned flags);
void ref_bias_fwd(double *y, const double *x, const double *bias, size_t N, size_t D);
void ref_bias_bwd(double *dbias, const double *dy, size_t N, size_t D); // accumulates
// y [N][out] = x [N][in] w [in][out] (+ b [out], or NULL).
void ref_linear_fwd(double *y, const double *x, const double *w, const double *b, size_t N, size_t in,
                    size_t out);
// dx overwritten (or NULL: not wanted); dw, db (or NULL) accumulate.
void ref_linear_bwd(double *dx, double *dw, double *db, const double *dy, const double *x, const double *w,
                    size_t N, size_t in, size_t out);

// ---- elementwise.c
void ref_add(double *y, const double *a, const double *b, size_t n); // y = a + b
void ref_mul(double *y, const double *a, const double *b, size_t n); // y = a b
void ref_scale(double *y, const double *x, double s, size_t n);      // y = s x
void ref_axpy(double *y, const double *x, double s, size_t n);       // y += s x
void ref_gelu_fwd(double *y, const double *x, size_t n);             // tanh form (Hendrycks & Gimpel 2016)
void ref_gelu_bwd(double *dx, const double *dy, const double *x, size_t n);
void ref_silu_fwd(double *y, const double *x, size_t n); // x sigma(x)
void ref_silu_bwd(double *dx, const double *dy, const double *x, size_t n);
void ref_sigmoid_fwd(double *y, const double *x, size_t n);
void ref_sigmoid_bwd(double *dx, const double *dy, const double *y, size_t n); // takes the OUTPUT y
void ref_tanh_fwd(double *y, const double *x, size_t n);
void ref_tanh_bwd(double *dx, const double *dy, const double *y, size_t n); // takes the OUTPUT y
void ref_exp_fwd(double *y, const double *x, size_t n);
void ref_log_fwd(double *y, const double *x, size_t n);
void ref_sincos_fwd(double *s, double *c, const double *x, size_t n); // |x| <= 8192, else NaN, as the kernel
double ref_sum(const double *x, size_t n);
double ref_dot(const double *x, const double *y, size_t n);

// ---- attention.c: softmax attention
//   l_ij = scale q_i.k_j decay_h(i-j) + bias_h(i-j),  A = softmax over the allowed j,  o_i = sum_j A_ij v_j
typedef struct {
    size_t B, L, D, H;
    size_t stride;             // between rows of q, k, v, dq, dk, dv
    int causal;                // 1: j <= i only
    double scale;              // usually 1/sqrt(d)
    const double *decay_table; // [H][2L-1], entry (L-1) + j - i; NULL: 1
    const double *bias;        // [H][2L-1], entry (L-1) + j - i; NULL: 0
    size_t chunk;              // M: rows [0,M), [M,2M), ... attend among themselves only; 0: off
    size_t pool_window; // P, odd: A averaged over P columns, then cut to j <= i (LaS); needs causal; 0: off
    size_t sliding;     // W: row i sees j > i - W only; needs causal; 0: off
} ref_attention;
// o [B][L][D], stats [B][H][L][2] = (row maximum, 1 / row sum); a row whose logits are all -inf gives 0,
// stats (0, 0).
void ref_attention_fwd(double *o, double *stats, const double *q, const double *k, const double *v,
                       const ref_attention *p);
void ref_attention_bwd(double *dq, double *dk, double *dv, const double *dout, const double *q,
                       const double *k, const double *v, const double *o, const double *stats,
                       const ref_attention *p);
// map [L][L]: A of one head of sequence b before any pooling, 0 where masked.
void ref_attention_map(double *map, const double *q, const double *k, const ref_attention *p, size_t b,
                       size_t head);
// Backward of the map: ADDS to that head's part of dq and dk.
void ref_attention_map_bwd(double *dq, double *dk, const double *dmap, const double *map, const double *q,
                           const double *k, const ref_attention *p, size_t b, size_t head);
// Maps mixed across heads, o_h = sum_g mix[h][g] A_g v_h; p->pool_window is not used.
// dmix [H][H] accumulates.
void ref_attention_maps_fwd(double *o, double *stats, const double *q, const double *k, const double *v,
                            const double *mix, const ref_attention *p);
void ref_attention_maps_bwd(double *dq, double *dk, double *dv, double *dmix, const double *dout,
                            const double *q, const double *k, const double *v, const double *mix,
                            const double *stats, const ref_attention *p);

// ---- linattn.c: causal linear attention, y_t = r_t o_t with o_t = sum_{s<=t} (q_t . k_s) v_s
//   none  r = 1
//   rms   r = 1/sqrt(mean(o_t^2) + eps) over the head's d outputs
//   sum   r = 1/(q_t . sum_{s<=t} k_s), 0 with zero gradient where that is below FLT_MIN (q, k non-negative)
void ref_elu1_fwd(double *y, const double *x, size_t n);                    // elu + 1
void ref_elu1_bwd(double *dx, const double *dy, const double *y, size_t n); // takes the OUTPUT y
typedef enum { REF_LINATTN_NONE, REF_LINATTN_RMS, REF_LINATTN_SUM } ref_linattn_norm;
typedef struct {
    size_t B, L, D, H;
    size_t stride; // between rows of q, k, v, dq, dk, dv
    size_t C;      // the kernel's block length; the result does not depend on it
    ref_linattn_norm norm;
    double eps; // for rms
    int both;   // 1: sums over all rows s
} ref_linattn;
// y [B][L][D]; norm [B][H][L] is r.
void ref_linattn_fwd(double *y, double *norm, const double *q, const double *k, const double *v,
                     const ref_linattn *p);
void ref_linattn_bwd(double *dq, double *dk, double *dv, const double *dy, const double *q, const double *k,
                     const double *v, const double *y, const double *norm, const ref_linattn *p);

// ---- gla.c, delta.c: a state S [B][H][dk][dv] that rows are written into and read from; q, k [B][L][H][dk],
// v, y [B][L][H][dv]
typedef enum { REF_GATES_NONE, REF_GATES_FIXED, REF_GATES_HEAD, REF_GATES_CHANNEL } ref_gates;
typedef struct {
    size_t B, L, H, dk, dv;
    ref_gates gates; // g <= 0: none, [H], [B][L][H] or [B][L][H][dk]
    double scale;    // of y, usually 1/sqrt(dk)
} ref_state;
// S_t = diag(e^{g_t}) S_{t-1} + k_t v_t^T, y_t = scale S_t^T q_t. start: S before the first row, NULL: 0;
// state: S after the last. dg accumulates (NULL: not wanted), dstart (NULL: not wanted) and the others are
// overwritten; dstate: gradient of the last state, NULL: 0.
void ref_gla_fwd(double *y, double *state, const double *q, const double *k, const double *v, const double *g,
                 const double *start, const ref_state *p);
int ref_gla_bwd(double *dq, double *dk, double *dv, double *dg, double *dstart, const double *dy,
                const double *dstate, const double *q, const double *k, const double *v, const double *g,
                const double *start, const ref_state *p);
// The delta rule: R = diag(e^{g_t}) S_{t-1}, S_t = R + k_t (beta_t (v_t - R^T k_t))^T, y_t = scale S_t^T q_t;
// beta [B][L][H]. Gradients as above.
int ref_delta_fwd(double *y, double *state, const double *q, const double *k, const double *v,
                  const double *beta, const double *g, const double *start, const ref_state *p);
int ref_delta_bwd(double *dq, double *dk, double *dv, double *dbeta, double *dg, double *dstart,
                  const double *dy, const double *dstate, const double *q, const double *k, const double *v,
                  const double *beta, const double *g, const double *start, const ref_state *p);

// ---- recurrent.c: z [B][L][gates E] = x W + b of every row; h_t [E] is the row's output y_t
//   LSTM, gates i f g o: a = z_t + h_{t-1} U, c_t = sigma(a_f) c_{t-1} + sigma(a_i) tanh(a_g),
//     h_t = sigma(a_o) tanh(c_t)
//   GRU, gates r z n: a = h_{t-1} U + bias, r, z = sigma(z_t + a), n = tanh(z_t + r a_n),
//     h_t = (1 - z) n + z h_{t-1}
typedef struct {
    size_t B, L, E;
} ref_recurrent;
// start, last: h before the first row (NULL: 0) and after the last (or NULL), [B][E]; of the LSTM [B][2][E],
// h and c. dz and dstart (or NULL) are overwritten, du and dbias accumulate; dlast: gradient of last, NULL:
// 0.
int ref_lstm_fwd(double *y, double *last, const double *z, const double *u, const double *start,
                 const ref_recurrent *p);
int ref_lstm_bwd(double *dz, double *du, double *dstart, const double *dy, const double *dlast,
                 const double *z, const double *u, const double *start, const ref_recurrent *p);
int ref_gru_fwd(double *y, double *last, const double *z, const double *u, const double *bias,
                const double *start, const ref_recurrent *p);
int ref_gru_bwd(double *dz, double *du, double *dbias, double *dstart, const double *dy, const double *dlast,
                const double *z, const double *u, const double *bias, const double *start,
                const ref_recurrent *p);

// ---- based.c: the features of Based, x [N][d], y [N][1 + d + d (d + 1) / 2]: 1, x / d^(1/4), then x_i x_j
// for i <= j, over sqrt(2 d) where i = j and sqrt(d) elsewhere; and its attention, from the weights of pairs
//   w_ts = 1 + s + s^2 / 2, s = q_t . k_s / sqrt(dk),  y_t = sum_{s<=t} w_ts v_s / sum_{s<=t} w_ts
void ref_taylor_fwd(double *y, const double *x, size_t N, size_t d);
void ref_taylor_bwd(double *dx, const double *dy, const double *x, size_t N, size_t d);
void ref_based_fwd(double *y, const double *q, const double *k, const double *v, size_t L, size_t H,
                   size_t dk, size_t dv);
int ref_based_bwd(double *dq, double *dk_, double *dv_, const double *dy, const double *q, const double *k,
                  const double *v, size_t L, size_t H, size_t dk, size_t dv);

// ---- hyena.c: z = v; for n = 1 .. N: z = x_n o (h_n * z + skip_n z); y the last z, all [L][D]
enum { REF_HYENA_MOST = 4 };
typedef struct {
    size_t L, D, N;
    double *x[REF_HYENA_MOST];    // [L][D]
    double *h[REF_HYENA_MOST];    // [D][L]
    double *skip[REF_HYENA_MOST]; // [D] or NULL
} ref_hyena;
int ref_hyena_fwd(double *y, const double *v, const ref_hyena *p);
// Gradients in d, in the same fields: those of h and skip accumulate, those of x are overwritten.
int ref_hyena_bwd(double *dv, const ref_hyena *d, const double *dy, const double *v, const ref_hyena *p);
// Its filters k [D][L] from positions pos [L][e]:
//   k_ct = (sin(f (sin(f (pos W1 + b1)) W2 + b2)) W3)_tc (e^{-rate_c t / (L - 1)} + shift)
typedef struct {
    size_t L, D, e, hidden;
    double freq, shift;
    double *pos, *w1, *b1, *w2, *b2, *w3, *rates;
} ref_hyena_filters;
int ref_hyena_filters_fwd(double *k, const ref_hyena_filters *p);
// Gradients of the arrays in d: that of pos is overwritten, the others accumulate.
int ref_hyena_filters_bwd(const ref_hyena_filters *d, const double *dk, const ref_hyena_filters *p);

// ---- landmark.c: landmark attention ([CAT] LCAT)
// x, y [B][L][D]. forget = 0: y_t = sum of the `block` rows up to t; else y_t = x_t + (1 - forget) y_{t-1}.
void ref_block_filter_fwd(double *y, const double *x, size_t B, size_t L, size_t D, size_t block,
                          double forget);
void ref_block_filter_bwd(double *dx, const double *dy, size_t B, size_t L, size_t D, size_t block,
                          double forget);
typedef struct {
    size_t B, L, D, H;
    size_t stride; // between rows of q, k, v, marks, dq, dk, dv
    size_t block;
    double scale; // of the softmax
} ref_landmark;
// A query picks, among the complete blocks before its own, the one whose last row in marks has the largest q
// . mark (the lowest on a tie), and attends to it and to its own block up to itself. o [B][L][D], stats
// The smallest lead of a chosen landmark's score over the next best, relative to the scores' root mean
// square: a choice that rounding could turn has a small one. Infinite where no query has two landmarks to
// choose from.
double ref_landmark_lead(const double *q, const double *marks, const ref_landmark *p);
// [B][H][L][2], chosen [B][H][L], -1 where there is none.
void ref_landmark_fwd(double *o, double *stats, int32_t *chosen, const double *q, const double *k,
                      const double *v, const double *marks, const ref_landmark *p);
void ref_landmark_bwd(double *dq, double *dk, double *dv, const double *dout, const double *q,
                      const double *k, const double *v, const double *o, const double *stats,
                      const int32_t *chosen, const ref_landmark *p);

// ---- conv.c: short convolution
// y_t[c] = sum_w f[g(c)][w] x_{t - w + future}[c], g(c) = c / (D/groups), rows outside 0..L-1 are 0.
void ref_conv_fwd(double *y, const double *x, const double *f, size_t B, size_t L, size_t D, size_t groups,
                  size_t W, size_t future, size_t ldx, size_t ldy);
// dx overwritten, df accumulates; either may be NULL.
void ref_conv_bwd(double *dx, double *df, const double *dy, const double *x, const double *f, size_t B,
                  size_t L, size_t D, size_t groups, size_t W, size_t future, size_t ldx, size_t ldy);
// f [W][H][H]: y_t[h d + e] = sum_{w,g} f[w][h][g] x_{t-w}[g d + e].
void ref_conv_heads_fwd(double *y, const double *x, const double *f, size_t B, size_t L, size_t D, size_t H,
                        size_t W, size_t ldx, size_t ldy);
void ref_conv_heads_bwd(double *dx, double *df, const double *dy, const double *x, const double *f, size_t B,
                        size_t L, size_t D, size_t H, size_t W, size_t ldx, size_t ldy);

// ---- long_conv.c: transforms along time and the long convolution, summed directly
// spectrum [B][N/2+1][2][D] of x [B][N][D]: row (k, 0) the real, (k, 1) the imaginary part of
// sum_t x_t e^(-2 pi i k t/N); the inverse divides by N and reads no imaginary part of k = 0 and k = N/2. N
// even or 1.
void ref_rfft_fwd(double *spectrum, const double *x, size_t B, size_t N, size_t D);
void ref_rfft_inv(double *x, const double *spectrum, size_t B, size_t N, size_t D);
// y_t[c] = sum_{s<=t, s<taps} K_c[s] x_{t-s}[c] + skip_c x_t[c], K = sign(k) max(|k| - lambda, 0),
// k [D][taps]; lambda = 0: off; skip NULL: 0. Row stride ld >= D.
void ref_longconv_fwd(double *y, const double *x, const double *k, const double *skip, size_t B, size_t L,
                      size_t D, size_t taps, double lambda, size_t ld);
// dx overwritten (or NULL); dk, dskip (or NULL) accumulate.
void ref_longconv_bwd(double *dx, double *dk, double *dskip, const double *dy, const double *x,
                      const double *k, const double *skip, size_t B, size_t L, size_t D, size_t taps,
                      double lambda, size_t ld);
// Of the rows after each, k_0 meeting the next: y_t += sum_s k_s x_{t+1+s}. dx and dk are added to.
void ref_long_conv_ahead_fwd(double *y, const double *x, const double *k, size_t L, size_t D, double lambda);
void ref_long_conv_ahead_bwd(double *dx, double *dk, const double *dy, const double *x, const double *k,
                             size_t L, size_t D, double lambda);

// ---- norm.c: norms over rows of [N][D]
// stats [N][2] = (mean, rstd); biased variance, eps inside the root.
void ref_layernorm_fwd(double *y, double *stats, const double *x, const double *gain, const double *bias,
                       size_t N, size_t D, double eps);
void ref_layernorm_bwd(double *dx, double *dgain, double *dbias, const double *dy, const double *x,
                       const double *gain, const double *stats, size_t N, size_t D);
// The same over rows: stats [D][2]. Of fewer rows than N, the first `rows`, statistics are taken (Ioffe &
// Szegedy 2015, Alg. 1); the others' gradient is 0.
void ref_batchnorm_fwd(double *y, double *stats, const double *x, const double *gain, const double *bias,
                       size_t N, size_t rows, size_t D, double eps);
void ref_batchnorm_bwd(double *dx, double *dgain, double *dbias, const double *dy, const double *x,
                       const double *gain, const double *stats, size_t N, size_t rows, size_t D);
// Running statistics [D] after the batch x [N][D]: momentum of the way to its mean and variance; unbiased:
// the variance over N - 1 (of one row 0).
void ref_batchnorm_running(double *mean_new, double *variance_new, const double *mean, const double *variance,
                           const double *x, size_t N, size_t D, double momentum, int unbiased);
// By given statistics (Alg. 2).
void ref_batchnorm_given_fwd(double *y, const double *x, const double *gain, const double *bias,
                             const double *mean, const double *variance, size_t N, size_t D, double eps);
void ref_batchnorm_given_bwd(double *dx, double *dgain, double *dbias, const double *dy, const double *x,
                             const double *gain, const double *mean, const double *variance, size_t N,
                             size_t D, double eps);
// gain (and with it dgain) may be NULL: 1.
void ref_rmsnorm_fwd(double *y, double *rstd, const double *x, const double *gain, size_t N, size_t D,
                     double eps);
void ref_rmsnorm_bwd(double *dx, double *dgain, const double *dy, const double *x, const double *gain,
                     const double *rstd, size_t N, size_t D);
// y = x / |x|; rows with |x| <= 1e-12 give 0 with zero gradient; rnorm [N] = 1/|x| or 0.
void ref_unitnorm_fwd(double *y, double *rnorm, const double *x, size_t N, size_t D);
void ref_unitnorm_bwd(double *dx, const double *dy, const double *x, const double *rnorm, size_t N, size_t D);

// ---- tokens.c: positions, tokens, pooling
// cs [L][d/2][2] = cos, sin of t base^(-2m/d).
void ref_rope_table(double *cs, size_t L, size_t d, double base);
void ref_rope_fwd(double *y, const double *x, const double *cs, size_t B, size_t L, size_t D, size_t H,
                  size_t ldx, size_t ldy);
void ref_rope_bwd(double *dx, const double *dy, const double *cs, size_t B, size_t L, size_t D, size_t H,
                  size_t ldx, size_t ldy);
// y [L][D]: sin in even columns 2m, cos in odd ones 2m+1, of t base^(-2m/D) (Vaswani et al. 2017, Sec. 3.5).
void ref_sinusoidal(double *y, size_t L, size_t D, double base);
// A token outside 0..V-1 gives a zero row and no gradient. dtable accumulates.
void ref_embedding_fwd(double *y, const double *table, const int32_t *tokens, size_t N, size_t D, size_t V);
void ref_embedding_bwd(double *dtable, const double *dy, const int32_t *tokens, size_t N, size_t D, size_t V);
void ref_meanpool_fwd(double *y, const double *x, size_t B, size_t L, size_t D);
void ref_meanpool_bwd(double *dx, const double *dy, size_t B, size_t L, size_t D);
void ref_gather_fwd(double *y, const double *x, const int32_t *rows, size_t M, size_t N, size_t D);
void ref_gather_bwd(double *dx, const double *dy, const int32_t *rows, size_t M, size_t N, size_t D);

// ---- dropout.c
// y [n] = x / (1 - p) or 0 (Srivastava et al. 2014), p = share to the nearest 1/65536: number i is dropped
// where its 16 bits are below 65536 p. They are halves, low first, of the words of Philox4x32-10 (Salmon et
// al. 2011) under the key seed (low, high word), eight numbers a block; counter: block (low), 5 + 256 place,
// step, block (high). The gradient is the same function of dy.
void ref_dropout(double *y, const double *x, size_t n, double share, uint64_t seed, uint32_t step,
                 uint32_t place);

// ---- loss.c
// loss [N], 0 where target is outside 0..V-1; stats [N][2] = (row maximum, 1 / row sum). Returns the rows
// that count.
size_t ref_cross_entropy_fwd(double *loss, double *stats, const double *logits, const int32_t *target,
                             size_t N, size_t V);
// dlogits [N][V] = scale (softmax - onehot), 0 for ignored rows.
void ref_cross_entropy_bwd(double *dlogits, const double *logits, const int32_t *target, const double *stats,
                           size_t N, size_t V, double scale);
// Squared error, NaN target: none; as smx_mse_fwd and _bwd.
size_t ref_mse_fwd(double *loss, const double *y, const double *target, size_t N);
void ref_mse_bwd(double *dy, const double *y, const double *target, size_t N, double scale);
void ref_argmax(int32_t *best, const double *x, size_t N, size_t V);

// ---- adamw.c
typedef struct {
    double lr, b1, b2, eps, wd, c1, c2, clip; // c1 = 1 - b1^step, c2 = 1 - b2^step, clip: factor on g
} ref_adamw_opts;
void ref_adamw(double *p, double *m, double *v, const double *g, size_t n, const ref_adamw_opts *o);
// Of the others, p [n] and the moment m [n] change. g is what is left after clipping.
void ref_sgd(double *p, double *m, const double *g, size_t n, double lr, double momentum, double wd);
void ref_lion(double *p, double *m, const double *g, size_t n, double lr, double b1, double b2, double wd);
// p, m, g [rows][cols]. -1: no memory.
int ref_muon(double *p, double *m, const double *g, size_t rows, size_t cols, double lr, double momentum,
             double wd);
// x [rows][cols] = five rounds of Newton and Schulz's iteration on x over its Frobenius norm + 1e-7. -1: no
// memory.
int ref_newton_schulz(double *x, size_t rows, size_t cols);
double ref_sumsq(const double *g, size_t n);
double ref_clip_factor(double sumsq, double max_norm); // min(1, max_norm / sqrt(sumsq)); 1 when max_norm <= 0

// ==== Mechanisms, one sequence [L][D] at a time, L >= 1

// ---- softmax_attention.c: docs/MECHANISMS.md#attention
typedef enum { REF_POS_NONE, REF_POS_ROPE, REF_POS_ALIBI, REF_POS_ALIBI_SCALED } ref_pos;
typedef struct {
    size_t L, D, H;
    int causal;
    ref_pos pos;
    double rope_base; // 10000 in Su et al.
} ref_heads;
typedef struct {
    double *wq, *wk, *wv, *wo; // [D][D]
} ref_qkvo;
// bias [H][2L-1]: -slope_h |i-j| factor, slope_h = 2^(-8(h+1)/H) (Press et al. 2022).
void ref_alibi_bias(double *bias, size_t L, size_t H, double factor);
// o [L][D]: positioned softmax attention of given q, k, v, logits scaled by 1/sqrt(d). mix [H][H] (or NULL)
// combines the maps across heads before they meet v, A'_h = sum_g mix[h][g] A_g ([CAT] Table 2).
int ref_heads_fwd(double *o, const double *q, const double *k, const double *v, const double *mix,
                  const ref_heads *p);
int ref_heads_bwd(double *dq, double *dk, double *dv, double *dmix, const double *dout, const double *q,
                  const double *k, const double *v, const double *mix, const ref_heads *p);
int ref_softmax_attention_fwd(double *y, const double *x, const ref_qkvo *w, const ref_heads *p);
int ref_softmax_attention_bwd(double *dx, const ref_qkvo *dw, const double *dy, const double *x,
                              const ref_qkvo *w, const ref_heads *p);

// ---- las.c: docs/MECHANISMS.md#las, [LaS] Eq. 4
typedef enum { REF_DECAY_NONE, REF_DECAY_EXP, REF_DECAY_ALIBI, REF_DECAY_ALIBI_SCALED } ref_decay;
typedef enum { REF_POOL_NONE, REF_POOL_CENTRED, REF_POOL_MASKED, REF_POOL_TRAILING } ref_pool;
typedef struct {
    size_t L, D, H;
    size_t P;     // pooling window; odd for centred and masked
    size_t chunk; // 0: off; M: rows [0,M), [M,2M), ... are independent, the last one shorter
    ref_decay decay;
    ref_pool pool;
    const double *alphas; // [H], for the exp decay
    int both;             // 1: rows see later ones too, decays by |i-j|; pool: none, centred, trailing
} ref_las;
void ref_las_alphas(double *alphas, size_t H, double bound);
// table [H][2L-1]: exp(-alpha_h |i-j|).
void ref_las_decay(double *table, const double *alphas, size_t L, size_t H);
// pooled [L][L] from a map [L][L]; backward overwrites dmap.
void ref_pool_fwd(double *pooled, const double *map, size_t L, size_t P, ref_pool pool);
void ref_pool_bwd(double *dmap, const double *dpooled, size_t L, size_t P, ref_pool pool);
int ref_las_heads_fwd(double *o, const double *q, const double *k, const double *v, const ref_las *p);
int ref_las_heads_bwd(double *dq, double *dk, double *dv, const double *dout, const double *q,
                      const double *k, const double *v, const ref_las *p);
int ref_las_attention_fwd(double *y, const double *x, const ref_qkvo *w, const ref_las *p);
int ref_las_attention_bwd(double *dx, const ref_qkvo *dw, const double *dy, const double *x,
                          const ref_qkvo *w, const ref_las *p);

// ---- linear_attention.c: docs/MECHANISMS.md#linear, the mechanism: ref_linattn on q, k, v, with
// phi = elu + 1 on q and k for the sum normaliser. B = 1, stride = D.
int ref_linear_attention_fwd(double *y, const double *q, const double *k, const double *v,
                             const ref_linattn *p);
int ref_linear_attention_bwd(double *dq, double *dk, double *dv, const double *dy, const double *q,
                             const double *k, const double *v, const ref_linattn *p);
// The un-normalised o_t = q_t^T sum_{s<=t} k_s v_s^T in its three equal forms; C > 0 is the block length.
void ref_linattn_quadratic(double *o, const double *q, const double *k, const double *v, size_t L, size_t D,
                           size_t H);
int ref_linattn_recurrent(double *o, const double *q, const double *k, const double *v, size_t L, size_t D,
                          size_t H);
int ref_linattn_tiled(double *o, const double *q, const double *k, const double *v, size_t L, size_t D,
                      size_t H, size_t C);

// ---- cat.c: docs/MECHANISMS.md#cat, [CAT] Def. 1
typedef struct {
    size_t L, D, H, W;
    int multi_head; // 0: f [H][W]; 1: f [W][H][H] on projected heads
    int two_sided;  // f [H][2W+1], tap j meets row t - (j - W)
    int unit;       // rows of x*f scaled to unit length, at full width, before the projection (per-head only)
} ref_filtered;
// y [L][D] = the filtered projection of x: head h is norm(x * f_h) W[:, head h]. f NULL: no filter.
int ref_filtered_linear_fwd(double *y, const double *x, const double *w, const double *f,
                            const ref_filtered *p);
int ref_filtered_linear_bwd(double *dx, double *dw, double *df, const double *dy, const double *x,
                            const double *w, const double *f, const ref_filtered *p);
typedef struct {
    double *wq, *wk, *wv, *wo;              // [D][D]
    double *filter_q, *filter_k, *filter_v; // as ref_filtered says; each may be NULL
    double *filter_maps;                    // [H][H] or NULL: mixes the attention maps
} ref_cat_weights;
typedef struct {
    size_t L, D, H, W;
    int multi_head;
    int two_sided;    // of filter_v only
    int norm, norm_v; // unit rows for q and k; for v too
    ref_pos pos;
    double rope_base;
} ref_cat;
int ref_cat_attention_fwd(double *y, const double *x, const ref_cat_weights *w, const ref_cat *p);
int ref_cat_attention_bwd(double *dx, const ref_cat_weights *dw, const double *dy, const double *x,
                          const ref_cat_weights *w, const ref_cat *p);
// LinCAT: linear attention on the filtered q, k, v, `sum` normaliser; p->pos and filter_maps are not used.
int ref_lincat_fwd(double *y, const double *x, const ref_cat_weights *w, const ref_cat *p);
int ref_lincat_bwd(double *dx, const ref_cat_weights *dw, const double *dy, const double *x,
                   const ref_cat_weights *w, const ref_cat *p);

// ---- lcat.c: landmark CAT
typedef enum { REF_LCAT_BOX, REF_LCAT_RHO } ref_lcat_filter;
typedef struct {
    double *wq, *wk, *wv, *wo; // [D][D]
    double *filter_v;          // [H][W] or NULL
} ref_lcat_weights;
typedef struct {
    size_t L, D, H;
    size_t block; // B of the paper: landmark distance
    size_t W;     // taps of filter_v
    ref_lcat_filter filter;
    int filtered; // dense keys: 0 plain x wk, 1 the landmark-filtered rows
} ref_lcat;
// chosen [H][L] (or NULL): the block each query chose, -1 in the first block.
int ref_lcat_fwd(double *y, int32_t *chosen, const double *x, const ref_lcat_weights *w, const ref_lcat *p);
int ref_lcat_bwd(double *dx, const ref_lcat_weights *dw, const double *dy, const double *x,
                 const ref_lcat_weights *w, const ref_lcat *p);
// ref_landmark_lead of the landmarks that the forward pass chooses among.
int ref_lcat_lead(double *lead, const double *x, const ref_lcat_weights *w, const ref_lcat *p);

// ---- short_long.c: docs/MECHANISMS.md#chela, [CHELA] Eqs. 7-8
// The long convolution of one sequence with a kernel of its length, [D][L].
void ref_long_conv_fwd(double *y, const double *x, const double *k, const double *skip, size_t L, size_t D,
                       double lambda);
void ref_long_conv_bwd(double *dx, double *dk, double *dskip, const double *dy, const double *x,
                       const double *k, const double *skip, size_t L, size_t D, double lambda);
size_t ref_short_n(size_t L); // 1 + least k with 10^k >= L^2
typedef struct {
    double *short_3;    // [D][3]
    double *short_n;    // [D][n]
    double *conv_k;     // [D][L]
    double *conv_skip;  // [D] or NULL
    double *conv_ahead; // [D][L] or NULL: the long kernel of the rows after each
} ref_short_long_weights;
typedef struct {
    size_t L, D, n;
    double lambda;
} ref_short_long;
// fused [D][max(3,n)] = short_3 + short_n, tap by tap.
void ref_short_fuse(double *fused, const double *short_3, const double *short_n, size_t D, size_t n);
int ref_short_sum_fwd(double *y, const double *x, const double *short_3, const double *short_n, size_t L,
                      size_t D, size_t n);
int ref_short_sum_bwd(double *dx, double *dshort_3, double *dshort_n, const double *dy, const double *x,
                      const double *short_3, const double *short_n, size_t L, size_t D, size_t n);
int ref_short_long_fwd(double *z, const double *x, const ref_short_long_weights *w, const ref_short_long *p);
int ref_short_long_bwd(double *dx, const ref_short_long_weights *dw, const double *dz, const double *x,
                       const ref_short_long_weights *w, const ref_short_long *p);

// ---- mlp.c
typedef enum { REF_ACT_GELU, REF_ACT_SILU } ref_act;
typedef struct {
    double *w1, *b1, *w2, *b2; // [D][E], [E], [E][D], [D]
} ref_mlp_weights;
int ref_mlp_fwd(double *y, const double *x, const ref_mlp_weights *w, size_t N, size_t D, size_t E,
                ref_act act);
int ref_mlp_bwd(double *dx, const ref_mlp_weights *dw, const double *dy, const double *x,
                const ref_mlp_weights *w, size_t N, size_t D, size_t E, ref_act act);

// ---- chela.c: [CHELA] Eqs. 9-15
typedef struct {
    ref_short_long_weights conv;
    double *alpha_q, *beta_q, *alpha_k, *beta_k; // [D]
    double *w_v, *b_v, *w_g, *b_g, *w_o, *b_o;   // [D][D], [D]
} ref_chela_weights;
typedef struct {
    size_t L, D, H, n;
    double lambda, eps;
    int both; // the attention is over all rows; conv.conv_ahead is the convolution's part of it
} ref_chela;
// z [L][D] (short-long output) and m [L][D] (normed attention after the gate G_a) are for looking at,
// or NULL.
int ref_chela_layer_fwd(double *u, double *z, double *m, const double *x, const ref_chela_weights *w,
                        const ref_chela *p);
int ref_chela_layer_bwd(double *dx, const ref_chela_weights *dw, const double *du, const double *x,
                        const ref_chela_weights *w, const ref_chela *p);
typedef struct {
    ref_chela_weights layer;
    double *ln1_gain, *ln1_bias, *ln2_gain, *ln2_bias; // [D]
    ref_mlp_weights ffn;
} ref_chela_block_weights;
typedef struct {
    ref_chela layer;
    size_t E; // inner width of the FFN
    ref_act act;
    int residual; // 0: X_a = CHELA(LN(X)) as printed; 1: X_a = X + CHELA(LN(X))
} ref_chela_block;
int ref_chela_block_fwd(double *y, const double *x, const ref_chela_block_weights *w,
                        const ref_chela_block *p);
int ref_chela_block_bwd(double *dx, const ref_chela_block_weights *dw, const double *dy, const double *x,
                        const ref_chela_block_weights *w, const ref_chela_block *p);

// ---- focus_filter.c: [Focus] Eqs. 5-8, the adaptive IIR filters
typedef enum { REF_FOCUS_LITERAL, REF_FOCUS_CAUSAL, REF_FOCUS_CARRY } ref_focus_mode;
typedef struct {
    size_t L, D, n_bins, F;
    ref_focus_mode mode;
} ref_focus_filter;
// y [L][D] = sum over F of x through 1/(1 + theta_0 z^-1 + theta_1 z^-2); theta [n_bins][D][F][2].
int ref_focus_filter_fwd(double *y, const double *x, const double *theta, const ref_focus_filter *p);
// dx, dtheta overwritten (theta is an input here).
int ref_focus_filter_bwd(double *dx, double *dtheta, const double *dy, const double *x, const double *theta,
                         const ref_focus_filter *p);

// ---- focus.c: [Focus] Eqs. 1-14, the whole layer
// BOUNDED: sum/2 times sigma, so that theta_0 + theta_1 < sum.
typedef enum { REF_THETA_SIGMOID, REF_THETA_TRIANGLE, REF_THETA_BOUNDED } ref_theta;
typedef struct {
    double *conv_k, *conv_skip;                        // [D][L], [D] or NULL
    double *hyper_w1, *hyper_b1, *hyper_w2, *hyper_b2; // [in][hidden], [hidden], [hidden][out], [out]
    double *theta_raw;    // [D][F][2]: Focus-H (then no conv, no hyper); else NULL
    double *wq, *wk, *wv; // [D][D]
    double *w_gamma, *b_gamma, *w_phi, *b_phi, *w_h, *u_h, *b_h;
    double *local_k; // [D][local], H_local; NULL where local is 0
} ref_focus_weights;
typedef struct {
    size_t L, D, H, n_bins, F, O, C, hidden; // C chunks of L/C rows
    ref_focus_mode mode;
    ref_theta theta;
    int joint;     // hyper: 0 per channel, in = O, out = 2F; 1 joint, in = D*O, out = D*F*2
    double sum;    // REF_THETA_BOUNDED only
    double lambda; // soft threshold on conv_k (Fu et al. 2023); 0: off
    size_t local;  // taps of the local convolution of a hypernetwork split in two (per channel): in = 2*O,
                   // first what the global one's pool gives, then the local one's; 0: not split
} ref_focus;
// What the layer computed on its way; any may be NULL. g, x_f, y_attn [L][D], e [n_bins][D][O] (split: 2*O),
// theta [n_bins][D][F][2] after the shift.
typedef struct {
    double *g, *e, *theta, *x_f, *y_attn;
} ref_focus_mid;
int ref_focus_layer_fwd(double *o, const ref_focus_mid *mid, const double *x, const ref_focus_weights *w,
                        const ref_focus *p);
int ref_focus_layer_bwd(double *dx, const ref_focus_weights *dw, const double *dout, const double *x,
                        const ref_focus_weights *w, const ref_focus *p);

// ---- Comparators: mega.c, s4d.c, selective_scan.c
// MEGA's damped EMA (Ma et al. 2023): alpha, delta [D][S] go through the sigmoid; beta, eta [D][S]; skip [D].
typedef struct {
    double *alpha, *delta, *beta, *eta, *skip; // skip may be NULL
} ref_mega_weights;
int ref_mega_ema_fwd(double *y, const double *x, const ref_mega_weights *w, size_t L, size_t D, size_t S);
int ref_mega_ema_bwd(double *dx, const ref_mega_weights *dw, const double *dy, const double *x,
                     const ref_mega_weights *w, size_t L, size_t D, size_t S);
// S4D (Gu et al. 2022): log_dt [D], log_a [D][S] (A = -exp(log_a) + i a_im), c [D][S][2] (real: [D][S]),
// skip [D].
typedef struct {
    double *log_dt, *log_a, *a_im, *c, *skip; // a_im NULL: real diagonal; skip may be NULL
} ref_s4d_weights;
int ref_s4d_kernel_fwd(double *kernel, const ref_s4d_weights *w, size_t L, size_t D, size_t S); // [D][L]
int ref_s4d_fwd(double *y, const double *x, const ref_s4d_weights *w, size_t L, size_t D, size_t S);
int ref_s4d_bwd(double *dx, const ref_s4d_weights *dw, const double *dy, const double *x,
                const ref_s4d_weights *w, size_t L, size_t D, size_t S);
// Selective scan (Gu & Dao 2023, Eq. 2 and Alg. 2): dt [L][D] > 0, a_log [D][S], b, c [L][S],
// skip [D] or NULL.
int ref_selective_scan_fwd(double *y, const double *x, const double *dt, const double *a_log, const double *b,
                           const double *c, const double *skip, size_t L, size_t D, size_t S);
// dx, ddt, db, dc overwritten; da_log, dskip accumulate.
int ref_selective_scan_bwd(double *dx, double *ddt, double *da_log, double *db, double *dc, double *dskip,
                           const double *dy, const double *x, const double *dt, const double *a_log,
                           const double *b, const double *c, const double *skip, size_t L, size_t D,
                           size_t S);
typedef struct {
    double *conv_k, *conv_b;      // [D][W], [D]: depthwise causal convolution, then SiLU
    double *w_b, *w_c;            // [D][S]
    double *w_dt1, *w_dt2, *b_dt; // [D][rank], [rank][D], [D]: dt = softplus(u w_dt1 w_dt2 + b_dt)
    double *a_log, *skip;         // [D][S], [D]
} ref_s6_weights;
typedef struct {
    size_t L, D, S, W, rank;
} ref_s6;
int ref_s6_layer_fwd(double *y, const double *x, const ref_s6_weights *w, const ref_s6 *p);
int ref_s6_layer_bwd(double *dx, const ref_s6_weights *dw, const double *dy, const double *x,
                     const ref_s6_weights *w, const ref_s6 *p);

#ifdef __cplusplus
}
#endif
#endif
