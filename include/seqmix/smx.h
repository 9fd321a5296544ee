// smx.h: the one public header of seqmix's float32 kernels. Every kernel works on the caller's memory:
// no allocation, no I/O, no globals but the chosen instruction set, no libm.
//
// Legend, used by every prototype
//   B batch (independent sequences)   L length (time steps)   D width   H heads   d = D/H head width
//   W filter taps   V vocabulary or classes   N rows (usually B*L)   n plain element count
//   Arrays are row-major and contiguous unless a stride is named: x [B][L][D] means x[(b*L + t)*D + c].
//   t (query i, key j) counts from 0; head h owns columns h*d .. h*d+d-1.
//
// Contracts
//   Order     outputs, inputs, what forward saved, scratch, sizes. Backward: gradients out, gradient in, then
//             what forward saw.
//   Structs   sizes, strides and options, where there are many, stand in one const struct p at the end;
//             arrays that make up one thing (weights of an average, the system of a scan) in a const struct
//             of pointers, their gradients in one with the same fields. Arrays of data stay arguments.
//   Gradients input gradients OVERWRITE; parameter gradients ACCUMULATE (the caller zeroes them once
//             per step).
//   Aliasing  arguments must not overlap unless "in place" is said: then y == x (or dx == dy) exactly.
//   Scratch   64-byte aligned, of smx_<op>_scratch_bytes(...) bytes; contents are lost. Data pointers need
//             only float alignment.
//   Bits      the result is the same to the last bit on every instruction set and compiler (exact mode): sums
//             run in 16 canonical lanes and one fixed tree, products over k run in order in blocks of
//             SMX_KC, nothing is contracted to FMA unless the thread asks for smx_fast. Rounding mode and
//             flush-to-zero of the caller are set aside for the call and restored.
//   Errors    kernels cannot fail; sizes are the caller's promise. Size 0 is allowed where the prototype does
//             not say otherwise and does nothing.
#ifndef SMX_H
#define SMX_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#define SMX_RESTRICT
#else
#define SMX_RESTRICT restrict
#endif

#define SMX_VERSION "0.1.0"
enum {
    SMX_KC = 256,  // products are summed in order within blocks of SMX_KC, then block by block
    SMX_ALIGN = 64 // of scratch
};

// ---- Instruction sets -----------------------------------------------------------------------------------
// One of "scalar", "sse2", "avx2", "avx512", "zen4" (those of avx512, products in 256 bits: the best on AMD's
// Zen 4, to be had wherever avx512 is), "neon", "wasm". The best that machine and system support is chosen at
// the first call; the environment variable SMX_ISA forces one.
const char *smx_isa(void);
// Choose by name; returns 0, or -1 when that one is unknown, not built in, or not supported here (then
// nothing changes). Not to be called while kernels run.
int smx_isa_choose(const char *name);
// Name of the i-th instruction set that is built in and usable here, or NULL past the last.
const char *smx_isa_name(size_t i);

// ---- Fast mode ------------------------------------------------------------------------------------------
// Kernels that the calling thread calls from now on may contract a product and a sum into one fused
// multiply-add, where the chosen instruction set has such copies and the machine the instruction (avx2,
// avx512). Faster, within the same tolerances, but not the same bits as elsewhere. off: exact again. Returns
// whether it was on. Each thread has its own.
int smx_fast(int on);
// Name of the copies that fast mode would use here ("avx512fma"), or NULL: it changes nothing.
const char *smx_fast_isa(void);

// ---- Floating-point environment -------------------------------------------------------------------------
// Round to nearest, denormals kept. Every kernel does this by itself; code that computes numbers between
// kernels brackets itself with the pair. leave takes what enter returned.
uint64_t smx_fpenv_enter(void);
void smx_fpenv_leave(uint64_t saved);

// ---- Matrix product -------------------------------------------------------------------------------------
enum { SMX_TRANS_A = 1, SMX_TRANS_B = 2, SMX_ACCUMULATE = 4 };
// C [m][n] = op(A) op(B), or += with SMX_ACCUMULATE. op(A) is [m][k]: A is [m][k] with row stride lda, or
// with SMX_TRANS_A [k][m]; op(B) is [k][n]: B is [k][n] with row stride ldb, or with SMX_TRANS_B [n][k].
// Without SMX_ACCUMULATE C is never read. k = 0 gives C = 0 (or unchanged). Each output is summed over k in
// order.
size_t smx_gemm_scratch_bytes(size_t m, size_t n, size_t k);
void smx_gemm(float *SMX_RESTRICT c, const float *a, const float *b, void *scratch, size_t m, size_t n,
              size_t k, size_t lda, size_t ldb, size_t ldc, unsigned flags);

// y [N][D] = x [N][D] + bias [D]. In place allowed.
void smx_bias_fwd(float *y, const float *x, const float *bias, size_t N, size_t D);
// dbias [D] += column sums of dy [N][D] (rows in order, in blocks of SMX_KC).
void smx_bias_bwd(float *SMX_RESTRICT dbias, const float *dy, size_t N, size_t D);

// ---- Elementwise ----------------------------------------------------------------------------------------
// In place allowed (y may be a or b; dx may be dy).
void smx_add(float *y, const float *a, const float *b, size_t n); // y = a + b
void smx_mul(float *y, const float *a, const float *b, size_t n); // y = a b
void smx_scale(float *y, const float *x, float s, size_t n);      // y = s x
void smx_axpy(float *y, const float *x, float s, size_t n);       // y += s x
void smx_gelu_fwd(float *y, const float *x, size_t n);            // tanh form, Hendrycks & Gimpel
void smx_gelu_bwd(float *dx, const float *dy, const float *x, size_t n);
void smx_silu_fwd(float *y, const float *x, size_t n); // x sigma(x)
void smx_silu_bwd(float *dx, const float *dy, const float *x, size_t n);
void smx_sigmoid_fwd(float *y, const float *x, size_t n);
void smx_sigmoid_bwd(float *dx, const float *dy, const float *y, size_t n); // takes the OUTPUT y
void smx_tanh_fwd(float *y, const float *x, size_t n);
void smx_tanh_bwd(float *dx, const float *dy, const float *y, size_t n); // takes the OUTPUT y
void smx_exp_fwd(float *y, const float *x, size_t n);
void smx_log_fwd(float *y, const float *x, size_t n);
void smx_sincos_fwd(float *s, float *c, const float *x, size_t n); // |x| <= 8192, else NaN

// ---- Reductions -----------------------------------------------------------------------------------------
float smx_sum(const float *x, size_t n);                 // 16 canonical lanes, then 16 -> 8 -> 4 -> 2 -> 1
float smx_dot(const float *x, const float *y, size_t n); // the same over products

// ---- Attention ------------------------------------------------------------------------------------------
// Softmax attention (Vaswani et al.; docs/MECHANISMS.md#attention and #las), all heads of B sequences:
//   s_ij = scale * q_i . k_j,  l_ij = s_ij * decay_h(i-j) + bias_h(i-j),
//   A = softmax over the allowed j,  o_i = sum_j A_ij v_j
typedef struct {
    size_t B, L, D, H;
    size_t stride; // floats between rows of q, k, v (and dq, dk, dv): D, or 3D when they share one array
    int causal;    // 1: j <= i only
    float scale;   // usually 1/sqrt(d)
    const float *decay_table; // [H][2L-1], entry (L-1) + j - i multiplies the scaled logit (LaS); NULL: 1
    const float *bias;        // [H][2L-1], entry (L-1) + j - i is added (ALiBi); NULL: 0
    size_t chunk; // M: rows [0,M), [M,2M), ... attend among themselves only, the last may be shorter; 0: off
    size_t pool_window; // P, odd: A is averaged over P columns, divisor always P, then cut to j <= i (LaS's
                        // masked pooling); needs causal; 0: off
    size_t sliding;     // W: row i sees i - W < j only, O(L W); needs causal, no pool_window; 0: off
    float cap;          // a > 0: a tanh(s / a) stands for s in the logits; 0: off
    int score;          // what A is made of
} smx_attention;
// A sink takes a share e^0 of each row's weights and has no value. A sigmoid's weights depend on no other,
// and are not divided by their sum.
enum { SMX_SCORE_SOFTMAX, SMX_SCORE_SINK, SMX_SCORE_SIGMOID };
// o [B][L][D]; stats [B][H][L][2] (row maximum, 1 / row sum) is what backward needs. Weights below e^-41.5 of
// a row's largest are 0. A row of logits all -inf gives 0, one with a NaN among them NaN and such gradients.
// Infinities and NaN of a later k stay out of a causal row. v has to be finite: up to 23 rows before it, and
// half a pool_window more, multiply it by a weight of 0 (which of them, the instruction set decides); a row
// that is pushed by itself does not.
// Scores are held for 24 query rows at a time, never L x L; scratch grows with the chunk, not with L.
size_t smx_attention_fwd_scratch_bytes(const smx_attention *p);
void smx_attention_fwd(float *SMX_RESTRICT o, float *SMX_RESTRICT stats, const float *q, const float *k,
                       const float *v, void *scratch, const smx_attention *p);
// dq, dk, dv with row stride p->stride (overwritten); dout, o [B][L][D].
size_t smx_attention_bwd_scratch_bytes(const smx_attention *p);
void smx_attention_bwd(float *dq, float *dk, float *dv, const float *dout, const float *q, const float *k,
                       const float *v, const float *o, const float *stats, void *scratch,
                       const smx_attention *p);
// Row by row: `rows` more rows of each of the B sequences, from number `at` on; q, k, v and o are
// [B][rows][..], L is the most that a sequence may have, causal is taken for granted. kept
// [smx_attention_kept_floats], zeros at first, holds the keys and values of the chunk so far, at every width
// alike; under a sliding window without tables of at most 2 W rows, W rounded up to 96, however long L is.
// Any pieces give the words of smx_attention_fwd over the whole sequence.
size_t smx_attention_kept_floats(const smx_attention *p);
size_t smx_attention_push_scratch_bytes(const smx_attention *p);
void smx_attention_push(float *SMX_RESTRICT o, float *SMX_RESTRICT kept, const float *q, const float *k,
                        const float *v, void *scratch, size_t at, size_t rows, const smx_attention *p);
// map [L][L]: the attention weights of one head of sequence b, for looking at.
void smx_attention_map(float *SMX_RESTRICT map, const float *q, const float *k, void *scratch,
                       const smx_attention *p, size_t b, size_t head); // scratch as for forward

// The same with the maps mixed across heads before they meet the values (CAT Table 2, W = 1):
// o_h = sum_g mix_hg A_g v_h, mix [H][H]. pool_window, cap and score of p are not used. dmix accumulates,
// the rest is overwritten.
size_t smx_attention_maps_fwd_scratch_bytes(const smx_attention *p);
void smx_attention_maps_fwd(float *SMX_RESTRICT o, float *SMX_RESTRICT stats, const float *q, const float *k,
                            const float *v, const float *mix, void *scratch, const smx_attention *p);
size_t smx_attention_maps_bwd_scratch_bytes(const smx_attention *p);
void smx_attention_maps_bwd(float *dq, float *dk, float *dv, float *dmix, const float *dout, const float *q,
                            const float *k, const float *v, const float *mix, const float *stats,
                            void *scratch, const smx_attention *p);

// ---- Linear attention -----------------------------------------------------------------------------------
// Feature map elu + 1 (Katharopoulos et al. 2020): x + 1 for x > 0, exp(x) otherwise. Backward takes the
// OUTPUT y.
void smx_elu1_fwd(float *y, const float *x, size_t n);
void smx_elu1_bwd(float *dx, const float *dy, const float *y, size_t n);
// Based's (Arora et al. 2024): phi(a) . phi(b) = 1 + s + s^2 / 2, s = a.b / sqrt(d). x [N][d], y [N][F],
// F = 1 + d + d (d + 1) / 2: 1, x / d^(1/4), then x_i x_j for i <= j, over sqrt(2 d) where i = j and sqrt(d)
// elsewhere.
void smx_taylor_fwd(float *SMX_RESTRICT y, const float *x, size_t N, size_t d);
void smx_taylor_bwd(float *SMX_RESTRICT dx, const float *dy, const float *x, size_t N, size_t d);
// Causal linear attention, all heads of B sequences (docs/MECHANISMS.md#linear):
// o_t = sum_{s<=t} (q_t . k_s) v_s, y_t = r_t o_t with
//   NONE r = 1;   RMS r = 1/sqrt(mean(o_t^2) + eps) over the head's d outputs;
//   SUM  r = 1/(q_t . sum_{s<=t} k_s), 0 with zero gradient where that is below FLT_MIN (q and k are to be
//        non-negative).
enum { SMX_LINATTN_NONE, SMX_LINATTN_RMS, SMX_LINATTN_SUM };
typedef struct {
    size_t B, L, D, H;
    size_t stride; // floats between rows of q, k, v (and dq, dk, dv)
    size_t C;      // rows of a block, between which a state is carried: 1 is the recurrence, 0 or >= L the
                   // quadratic form
    int norm;
    float eps; // of RMS
} smx_linattn;
// y [B][L][D]; norm [B][H][L], r of each row, is what backward needs.
size_t smx_linattn_fwd_scratch_bytes(const smx_linattn *p);
void smx_linattn_fwd(float *SMX_RESTRICT y, float *SMX_RESTRICT norm, const float *q, const float *k,
                     const float *v, void *scratch, const smx_linattn *p);
// Row by row, as smx_attention_push: carried [smx_linattn_carried_floats], zeros at first; scratch as for
// forward.
size_t smx_linattn_carried_floats(const smx_linattn *p);
void smx_linattn_push(float *SMX_RESTRICT y, float *SMX_RESTRICT carried, const float *q, const float *k,
                      const float *v, void *scratch, size_t at, size_t rows, const smx_linattn *p);
size_t smx_linattn_bwd_scratch_bytes(const smx_linattn *p);
void smx_linattn_bwd(float *dq, float *dk, float *dv, const float *dy, const float *q, const float *k,
                     const float *v, const float *y, const float *norm, void *scratch, const smx_linattn *p);

// ---- A state of keys and values -------------------------------------------------------------------------
// Every head carries a matrix S [dk][dv] along its sequence; each row lets it fade, writes into it and reads
// from it. With a = e^g, R = diag(a_t) S_{t-1}:
//   gla    S_t = R + k_t (beta_t v_t)^T             gated linear attention (Yang et al. 2023, Eq. 3),
//                                                   Mamba-2's SSD, retention
//   delta  S_t = R + k_t (beta_t (v_t - R^T k_t))^T the delta rule (Yang et al. 2024), gated or not;
//                                                   |k_t| <= 1 and beta in [0, 1]; with erase, R^T e_t in
//                                                   place of R^T k_t: another key is erased than is written
// y_t = scale S_t^T q_t. O(dk dv) a row: blocks of 16 rows, in which pairs are multiplied by products of a,
// never by e^-g.
enum { SMX_GATES_NONE, SMX_GATES_FIXED, SMX_GATES_HEAD, SMX_GATES_CHANNEL };
// Rows of a block: a sequence in parts gives the words of the whole where the parts, but for the last, are
// whole blocks.
enum { SMX_STATE_ROWS = 16 };
typedef struct {
    size_t B, L, H, dk, dv;
    int gates;  // g <= 0 is NULL, [H] for every row, [B][L][H] or [B][L][H][dk]; down to -infinity
    int shared; // 0: q and k are [B][L][H][dk]; else [B][L][dk], the same for all heads
    float scale;
} smx_state;
typedef struct {
    const float *q, *k;
    const float *v;    // [B][L][H][dv]
    const float *beta; // [B][L][H]; NULL in gla: 1
    const float *g;
    const float *erase; // delta: the keys that are erased, as k is; NULL: k itself. gla has none: NULL
} smx_state_rows;
typedef struct {
    float *q, *k, *v;
    float *beta, *g; // NULL: not wanted
    float *erase;    // where the rows have one
} smx_state_gradients;
// y [B][L][H][dv]. start [B][H][dk][dv] (NULL: zeros) is S before the first row, last (or NULL) S after the
// last, so that a sequence may come in parts. states [B][smx_state_floats], one in 64 rows, is what backward
// needs (NULL: not wanted). dstart may be NULL; dlast (NULL: zeros) is the gradient of last. That of fixed
// gates accumulates, everything else is overwritten.
size_t smx_state_floats(size_t L, size_t H, size_t dk, size_t dv);
size_t smx_state_fwd_scratch_bytes(const smx_state *p); // of both
size_t smx_state_bwd_scratch_bytes(const smx_state *p);
void smx_gla_fwd(float *SMX_RESTRICT y, float *SMX_RESTRICT last, float *SMX_RESTRICT states,
                 const smx_state_rows *x, const float *start, void *scratch, const smx_state *p);
void smx_gla_bwd(const smx_state_gradients *dx, float *dstart, const float *dy, const float *dlast,
                 const smx_state_rows *x, const float *states, void *scratch, const smx_state *p);
void smx_delta_fwd(float *SMX_RESTRICT y, float *SMX_RESTRICT last, float *SMX_RESTRICT states,
                   const smx_state_rows *x, const float *start, void *scratch, const smx_state *p);
// Row by row: L rows more of each sequence, from number `at` on; carried [smx_state_carried_floats], zeros at
// first: S before the block of 16 rows, [B][H][dk][dv], then what was read of the block. Any pieces give the
// words of the whole sequence.
size_t smx_state_carried_floats(const smx_state *p);
size_t smx_state_push_scratch_bytes(const smx_state *p); // of both; neither hangs on L
void smx_gla_push(float *SMX_RESTRICT y, float *SMX_RESTRICT carried, const smx_state_rows *x, void *scratch,
                  size_t at, const smx_state *p);
void smx_delta_push(float *SMX_RESTRICT y, float *SMX_RESTRICT carried, const smx_state_rows *x,
                    void *scratch, size_t at, const smx_state *p);
void smx_delta_bwd(const smx_state_gradients *dx, float *dstart, const float *dy, const float *dlast,
                   const smx_state_rows *x, const float *states, void *scratch, const smx_state *p);

// ---- Recurrences as programs ----------------------------------------------------------------------------
// What a row computes as a list of steps over scalars, vectors and matrices of one head, made of a text's
// `scan` (docs/EQUATIONS.md). The struct is the library's own. y [B][L][columns of the outputs]; in: an
// array for each input, [B][L][its columns], then one for each weight and learnt start. saved [B]
// [smx_program_saved_floats], states that backward computes on from (NULL: not wanted). carried
// [B][smx_program_state_floats] (NULL: none): the states after the last row; before number `at` of the
// sequence, if that is not 0. din: input gradients are overwritten, those of weights accumulate, NULL ones
// are not wanted. Row by row is the definition: a sequence in parts gives the words of the whole. scratch
// is one thread's; nothing may overlap.
typedef struct smx_program smx_program;
size_t smx_program_state_floats(const smx_program *p);
size_t smx_program_saved_floats(size_t L, const smx_program *p);
size_t smx_program_fwd_scratch_bytes(const smx_program *p);
size_t smx_program_bwd_scratch_bytes(size_t L, const smx_program *p);
void smx_program_fwd(float *SMX_RESTRICT y, float *SMX_RESTRICT saved, float *carried, const float *const *in,
                     void *scratch, size_t at, size_t B, size_t L, const smx_program *p);
void smx_program_bwd(float *const *din, const float *dy, const float *const *in, const float *saved,
                     void *scratch, size_t B, size_t L, const smx_program *p);

// ---- Recurrent networks ---------------------------------------------------------------------------------
// z [B][L][gates E] is what the rows say to the gates, x W + b; h_t [E] is the row's output y_t, sigma the
// logistic function:
//   LSTM (Hochreiter & Schmidhuber 1997), gates i f g o:  a = z_t + h_{t-1} U,
//     c_t = sigma(a_f) c_{t-1} + sigma(a_i) tanh(a_g),  h_t = sigma(a_o) tanh(c_t)
//   GRU (Cho et al. 2014), gates r z n:  a = h_{t-1} U + bias,  r, z = sigma(z_t + a),
//     n = tanh(z_t + r a_n),  h_t = (1 - z) n + z h_{t-1}
typedef struct {
    size_t B, L, E;
} smx_recurrent;
// y [B][L][E]; u [E][gates E], bias [3 E]. start (NULL: zeros) and last (or NULL) are h before the first row
// and after the last, [B][E], of the LSTM h, then c: [B][2][E] (in place if wanted); a sequence in parts
// gives the words of the whole. saved, of the LSTM [B][L][5][E] (i, f, g, o, c), of the GRU [B][L][4][E]
// (r, z, n, a_n), is what backward needs (NULL: not wanted). dz and dstart (or NULL) are overwritten, du and
// dbias accumulate; dlast (NULL: zeros) is the gradient of last.
size_t smx_recurrent_fwd_scratch_bytes(const smx_recurrent *p); // of both
size_t smx_recurrent_bwd_scratch_bytes(const smx_recurrent *p);
void smx_lstm_fwd(float *SMX_RESTRICT y, float *last, float *SMX_RESTRICT saved, const float *z,
                  const float *u, const float *start, void *scratch, const smx_recurrent *p);
void smx_lstm_bwd(float *SMX_RESTRICT dz, float *SMX_RESTRICT du, float *dstart, const float *dy,
                  const float *dlast, const float *y, const float *u, const float *saved, const float *start,
                  void *scratch, const smx_recurrent *p);
void smx_gru_fwd(float *SMX_RESTRICT y, float *last, float *SMX_RESTRICT saved, const float *z,
                 const float *u, const float *bias, const float *start, void *scratch,
                 const smx_recurrent *p);
void smx_gru_bwd(float *SMX_RESTRICT dz, float *SMX_RESTRICT du, float *SMX_RESTRICT dbias, float *dstart,
                 const float *dy, const float *dlast, const float *y, const float *u, const float *saved,
                 const float *start, void *scratch, const smx_recurrent *p);

// ---- Landmark attention (LCAT, CAT Sec. 5) --------------------------------------------------------------
// The filter of the landmarks, x, y [B][L][D]: forget = 0: y_t = sum of the `block` rows up to t;
// forget in (0,1]: y_t = x_t + (1 - forget) y_{t-1} (the rho filter with forget = 1 - e^{-1/block}, which
// keeps more digits than rho).
void smx_block_filter_fwd(float *SMX_RESTRICT y, const float *x, size_t B, size_t L, size_t D, size_t block,
                          float forget);
void smx_block_filter_bwd(float *SMX_RESTRICT dx, const float *dy, size_t B, size_t L, size_t D, size_t block,
                          float forget);
// Query i of a head picks, among the blocks of `block` rows that ended before its own, the one whose landmark
// (last row of the block in `marks`) has the largest q_i . landmark, the first on a tie (NaN: so is o); then
// softmax attention over the rows of that block and of its own up to i. O(d (L/block + block)) a query.
typedef struct {
    size_t B, L, D, H;
    size_t stride; // floats between rows of q, k, v, marks (and dq, dk, dv)
    size_t block;  // > 0; the last block may be shorter and is never picked
    float scale;   // of the softmax, usually 1/sqrt(d)
} smx_landmark;
// o [B][L][D]; stats [B][H][L][2] as for attention; chosen [B][H][L]:
// the block picked, -1 where there is none.
size_t smx_landmark_fwd_scratch_bytes(const smx_landmark *p);
void smx_landmark_fwd(float *SMX_RESTRICT o, float *SMX_RESTRICT stats, int32_t *SMX_RESTRICT chosen,
                      const float *q, const float *k, const float *v, const float *marks, void *scratch,
                      const smx_landmark *p);
// No gradient flows through the choice.
size_t smx_landmark_bwd_scratch_bytes(const smx_landmark *p);
void smx_landmark_bwd(float *dq, float *dk, float *dv, const float *dout, const float *q, const float *k,
                      const float *v, const float *o, const float *stats, const int32_t *chosen,
                      void *scratch, const smx_landmark *p);

// ---- Short convolution ----------------------------------------------------------------------------------
// Causal convolution over time, one filter per group of channels (CAT Def. 1; groups = D: depthwise):
//   y_t[c] = sum_w f[g(c)][w] x_{t - w + future}[c],   rows outside 0..L-1 are 0, g(c) = c / (D/groups).
// x, y [B][L][D], f [groups][W].
typedef struct {
    size_t B, L, D;
    size_t groups;   // divides D
    size_t W;        // taps of a filter; CAT's two-sided value filter of W taps to either side has 2W+1
    size_t future;   // taps that look ahead, < W; 0: causal
    size_t ldx, ldy; // floats between rows of x (and dx) and of y (and dy), at least D
} smx_conv;
size_t smx_conv_scratch_bytes(const smx_conv *p); // of both; from L, D and W alone
void smx_conv_fwd(float *SMX_RESTRICT y, const float *x, const float *f, void *scratch, const smx_conv *p);
// dx overwritten; df [groups][W] accumulates, sequence by sequence in order.
// dx or df may be NULL (not wanted).
void smx_conv_bwd(float *dx, float *df, const float *dy, const float *x, const float *f, void *scratch,
                  const smx_conv *p);
// Multi-head filter (CAT Sec. 3): f [W][H][H], y_t[h d + e] = sum_{w,g} f[w][h][g] x_{t-w}[g d + e].
// Backward: dx overwritten, df accumulates; either may be NULL.
typedef struct {
    size_t B, L, D, H;
    size_t W;        // taps
    size_t ldx, ldy; // as in smx_conv
} smx_conv_heads;
size_t smx_conv_heads_scratch_bytes(const smx_conv_heads *p); // of both; from L, D, H and W alone
void smx_conv_heads_fwd(float *SMX_RESTRICT y, const float *x, const float *f, void *scratch,
                        const smx_conv_heads *p);
void smx_conv_heads_bwd(float *dx, float *df, const float *dy, const float *x, const float *f, void *scratch,
                        const smx_conv_heads *p);

// ---- Norms over rows of [N][D] --------------------------------------------------------------------------
// LayerNorm (Ba et al.): y = (x - mean) rstd * gain + bias, biased variance, rstd = 1/sqrt(var + eps).
// stats [N][2] (mean, rstd) is what backward needs. dgain, dbias [D] accumulate.
void smx_layernorm_fwd(float *SMX_RESTRICT y, float *SMX_RESTRICT stats, const float *x, const float *gain,
                       const float *bias, size_t N, size_t D, float eps);
void smx_layernorm_bwd(float *SMX_RESTRICT dx, float *SMX_RESTRICT dgain, float *SMX_RESTRICT dbias,
                       const float *dy, const float *x, const float *gain, const float *stats, size_t N,
                       size_t D);
// RMSNorm (Zhang & Sennrich): y = x rstd * gain, rstd = 1/sqrt(mean(x^2) + eps). rstd [N] saved.
void smx_rmsnorm_fwd(float *SMX_RESTRICT y, float *SMX_RESTRICT rstd, const float *x, const float *gain,
                     size_t N, size_t D, float eps);
void smx_rmsnorm_bwd(float *SMX_RESTRICT dx, float *SMX_RESTRICT dgain, const float *dy, const float *x,
                     const float *gain, const float *rstd, size_t N, size_t D);
// Unit l2 norm (CAT's norm): y = x / |x|; rows with |x| <= 1e-12 give 0 with zero gradient.
// rnorm [N] saved (1/|x| or 0).
void smx_unitnorm_fwd(float *SMX_RESTRICT y, float *SMX_RESTRICT rnorm, const float *x, size_t N, size_t D);
void smx_unitnorm_bwd(float *SMX_RESTRICT dx, const float *dy, const float *x, const float *rnorm, size_t N,
                      size_t D);

// ---- Positions, tokens, pooling -------------------------------------------------------------------------
// Rotary positions (Su et al.): adjacent pairs (2m, 2m+1) of each head turned by the angle whose cosine and
// sine are cs [L][d/2][2]. x, y [B][L][D] (row strides ldx, ldy), d even. In place allowed. Backward is the
// turn back.
void smx_rope_fwd(float *y, const float *x, const float *cs, size_t B, size_t L, size_t D, size_t H,
                  size_t ldx, size_t ldy);
void smx_rope_bwd(float *dx, const float *dy, const float *cs, size_t B, size_t L, size_t D, size_t H,
                  size_t ldx, size_t ldy);
// y [N][D] = table [V][D] rows by tokens [N]; a token outside 0..V-1 gives a zero row and no gradient.
void smx_embedding_fwd(float *SMX_RESTRICT y, const float *table, const int32_t *tokens, size_t N, size_t D,
                       size_t V);
void smx_embedding_bwd(float *SMX_RESTRICT dtable, const float *dy, const int32_t *tokens, size_t N, size_t D,
                       size_t V); // accumulates, rows in order
// y [B][D] = mean over t of x [B][L][D]; L > 0.
void smx_meanpool_fwd(float *SMX_RESTRICT y, const float *x, size_t B, size_t L, size_t D);
void smx_meanpool_bwd(float *SMX_RESTRICT dx, const float *dy, size_t B, size_t L, size_t D);
// Rows of x [N][D] picked by index: y [M][D] = x[rows[m]]; a negative index gives a zero row and no gradient.
// Backward: dx overwritten, rows not picked get 0; no row is picked twice.
void smx_gather_fwd(float *SMX_RESTRICT y, const float *x, const int32_t *rows, size_t M, size_t N, size_t D);
void smx_gather_bwd(float *SMX_RESTRICT dx, const float *dy, const int32_t *rows, size_t M, size_t N,
                    size_t D);

// ---- Loss -----------------------------------------------------------------------------------------------
// Cross-entropy of logits [N][V] against target [N], rows with target outside 0..V-1 ignored. loss [N] (0 for
// ignored rows), stats [N][2] (row maximum, 1 / row sum). Returns the number of rows that count.
size_t smx_cross_entropy_fwd(float *SMX_RESTRICT loss, float *SMX_RESTRICT stats, const float *logits,
                             const int32_t *target, size_t N, size_t V);
// dlogits [N][V] = scale (softmax - onehot), 0 for ignored rows. scale is d(total)/d(row loss), e.g. 1/count.
void smx_cross_entropy_bwd(float *SMX_RESTRICT dlogits, const float *logits, const int32_t *target,
                           const float *stats, size_t N, size_t V, float scale);
// Squared error of y [N] against target [N], NaN: no target. loss [N] = (y - target)^2, 0 where there is
// none. Returns the number of targets. Backward: dy = 2 scale (y - target), overwritten.
size_t smx_mse_fwd(float *SMX_RESTRICT loss, const float *y, const float *target, size_t N);
void smx_mse_bwd(float *dy, const float *y, const float *target, size_t N, float scale);
// best [N]: column of the largest of each row of x [N][V], the first one on a tie; V > 0.
void smx_argmax(int32_t *SMX_RESTRICT best, const float *x, size_t N, size_t V);

// ---- Transforms along time ------------------------------------------------------------------------------
// Tables of twiddles, computed once (in double) and only read afterwards; one for N serves every smaller
// power of two.
size_t smx_fft_table_floats(size_t N);
void smx_fft_table(float *SMX_RESTRICT table, size_t N);
// Real transform of every channel, N a power of two: spectrum [B][N/2+1][2][D], row (k, 0) the real and (k,
// 1) the imaginary part of sum_t x_t e^{-2 pi i k t / N}, from x [B][N][D]. Inverse: divided by N, so that it
// gives x back; the imaginary parts of k = 0 and N/2 are not read. Error: see test_fft.c.
size_t smx_rfft_scratch_bytes(size_t N);
void smx_rfft_fwd(float *SMX_RESTRICT spectrum, const float *x, const float *table, void *scratch, size_t B,
                  size_t N, size_t D);
void smx_rfft_inv(float *SMX_RESTRICT x, const float *spectrum, const float *table, void *scratch, size_t B,
                  size_t N, size_t D);
// Long convolution (Fu et al. 2023; [CHELA] Eq. 7):
//   y_t[c] = sum_{s <= t, s < taps} K_c[s] x_{t-s}[c] (+ skip_c x_t[c]),
// K = sign(k) max(|k| - lambda, 0). x, y [B][L] rows of D floats; table for smx_longconv_rows(L). spectrum
// [smx_longconv_spectrum_floats] is kept for backward; that of channels c.. of a wider array (c a multiple of
// 16) starts at c * smx_longconv_rows(L), and needs the same scratch.
typedef struct {
    size_t B, L, D;
    size_t taps;  // of a kernel; those from L on are not used
    float lambda; // >= 0, squashes the kernels' taps
    size_t ld;    // floats between rows of x and y (and dx and dy), at least D
} smx_longconv;
typedef struct {
    const float *k;    // [D][taps]
    const float *skip; // [D] or NULL
} smx_longconv_weights;
typedef struct {
    float *k;    // [D][taps]
    float *skip; // [D], or NULL: not wanted
} smx_longconv_gradients;
size_t smx_longconv_rows(size_t L); // the power of two >= 2L, at least 2
size_t smx_longconv_spectrum_floats(size_t L, size_t D);
size_t smx_longconv_scratch_bytes(size_t L);
void smx_longconv_fwd(float *SMX_RESTRICT y, float *SMX_RESTRICT spectrum, const float *x,
                      const smx_longconv_weights *weights, const float *table, void *scratch,
                      const smx_longconv *p);
// dx overwritten (or NULL: not wanted), the gradients of the weights accumulate.
void smx_longconv_bwd(float *dx, const smx_longconv_gradients *dweights, const float *dy, const float *x,
                      const smx_longconv_weights *weights, const float *spectrum, const float *table,
                      void *scratch, const smx_longconv *p);

// ---- Adaptive filters and state space models ------------------------------------------------------------
// Focus's second-order filters ([Focus] Eqs. 5-8): y = sum over F filters of x through
// 1/(1 + theta_0 z^-1 + theta_1 z^-2), coefficients theta [B][bins][D][F][2] for each bin of R = L/bins rows.
enum {
    SMX_IIR_CAUSAL, // y_t = x_t - theta_0 y_{t-1} - theta_1 y_{t-2}, the state zero at the start of each bin
    SMX_IIR_CARRY,  // the state carried from bin to bin
    SMX_IIR_LITERAL // the DFT of length R of a bin times conj(H): circular and reversed in time, a token sees
                    // later ones
};
typedef struct {
    size_t B, L, D, bins, F; // bins divides L
    int mode;
} smx_iir;
// Table for bins of R rows; the literal filter reads it, the others take NULL.
// R not a power of two costs R^2 a bin.
size_t smx_iir_table_floats(size_t R);
void smx_iir_table(float *SMX_RESTRICT table, size_t R);
size_t smx_iir_scratch_bytes(const smx_iir *p);
void smx_iir_fwd(float *SMX_RESTRICT y, const float *x, const float *theta, const float *table, void *scratch,
                 const smx_iir *p);
// dx (or NULL) and dtheta [B][bins][D][F][2] overwritten.
void smx_iir_bwd(float *dx, float *SMX_RESTRICT dtheta, const float *dy, const float *x, const float *theta,
                 const float *table, void *scratch, const smx_iir *p);
// Raw pairs to coefficients, n floats (even): sigma of both, or with `triangle` theta_1 = tanh u_1 and
// theta_0 = (1 + theta_1) tanh u_0, which covers every stable filter. sigma and |tanh| are held at 1 - 2^-20,
// with zero gradient beyond. In place allowed.
void smx_theta_fwd(float *theta, const float *raw, size_t n, int triangle);
void smx_theta_bwd(float *draw, const float *dtheta, const float *raw, size_t n, int triangle);
// Adaptive max pool over time: window w = i O + o of bins * O takes rows floor(w L / n) ..
// ceil((w+1) L / n) - 1, n = bins O. e [B][bins][D][O], where [B][bins][D][O] the rows (0 .. L-1) of the
// maxima, the first on a tie, of NaN the first. L > 0, L < 2^24.
void smx_maxpool_fwd(float *SMX_RESTRICT e, int32_t *SMX_RESTRICT where, const float *x, size_t B, size_t L,
                     size_t D, size_t bins, size_t O);
void smx_maxpool_bwd(float *SMX_RESTRICT dx, const float *de, const int32_t *where, size_t B, size_t L,
                     size_t D, size_t bins, size_t O);
// y [N][D] = gain [D] x + bias [D]; in place allowed. Backward: dx overwritten, dgain and dbias accumulate.
void smx_affine_fwd(float *y, const float *x, const float *gain, const float *bias, size_t N, size_t D);
void smx_affine_bwd(float *SMX_RESTRICT dx, float *SMX_RESTRICT dgain, float *SMX_RESTRICT dbias,
                    const float *dy, const float *x, const float *gain, size_t N, size_t D);
// y = g a + (1 - g) b; in place allowed. Backward overwrites; each gradient may be NULL.
void smx_gate_fwd(float *y, const float *g, const float *a, const float *b, size_t n);
void smx_gate_bwd(float *SMX_RESTRICT dg, float *SMX_RESTRICT da, float *SMX_RESTRICT db, const float *dy,
                  const float *g, const float *a, const float *b, size_t n);
void smx_softplus_fwd(float *y, const float *x, size_t n); // log(1 + e^x); in place allowed
void smx_softplus_bwd(float *dx, const float *dy, const float *x, size_t n);
// S below: states a channel. MEGA's damped moving average (Ma et al. 2023, Eqs. 5-6), a = sigma(alpha),
// d = sigma(delta):
//   h_t[s] = a_s beta_s x_t + (1 - a_s d_s) h_{t-1}[s],  y_t = sum_s eta_s h_t[s] (+ skip x_t)
// x, y [B][L][D]; states [B][smx_scan_state_floats], one in 32 rows, is what backward needs, as in the scan
// below. dx overwritten (or NULL), the gradients of the weights accumulate.
typedef struct {
    size_t B, L, D, S;
} smx_ema;
typedef struct {
    const float *alpha, *delta, *beta, *eta; // [D][S]
    const float *skip;                       // [D] or NULL
} smx_ema_weights;
typedef struct {
    float *alpha, *delta, *beta, *eta; // [D][S]
    float *skip;                       // [D], or NULL: not wanted
} smx_ema_gradients;
size_t smx_scan_state_floats(size_t L, size_t D, size_t S);
size_t smx_scan_scratch_bytes(size_t L, size_t D, size_t S); // of both
void smx_ema_fwd(float *SMX_RESTRICT y, float *SMX_RESTRICT states, const float *x,
                 const smx_ema_weights *weights, void *scratch, const smx_ema *p);
// Row by row: L rows more of each sequence, from number `at` on; carried [B][smx_scan_state_floats of one
// row], zeros at first. Any pieces give the words of the whole sequence; smx_scan_push likewise.
void smx_ema_push(float *SMX_RESTRICT y, float *SMX_RESTRICT carried, const float *x,
                  const smx_ema_weights *weights, void *scratch, size_t at, const smx_ema *p);
void smx_ema_bwd(float *dx, const smx_ema_gradients *dweights, const float *dy, const float *x,
                 const smx_ema_weights *weights, const float *states, void *scratch, const smx_ema *p);
// Mamba's selective scan (Gu & Dao 2023, Eq. 2, Alg. 2), A = -exp(a_log) [D][S]:
//   h_t[s] = exp(dt_t A_s) h_{t-1}[s] + dt_t b_t[s] x_t,  y_t = sum_s c_t[s] h_t[s] (+ skip x_t)
// x, y [B][L][D]. The system is what the paper calls Delta, A, B, C, D. dx and the gradients of dt, b, c are
// overwritten, those of a_log and skip accumulate.
typedef struct {
    size_t B, L, D, S;
} smx_scan;
typedef struct {
    const float *dt;    // [B][L][D], > 0
    const float *a_log; // [D][S]
    const float *b, *c; // [B][L][S], shared by the channels
    const float *skip;  // [D] or NULL
} smx_scan_system;
typedef struct {
    float *dt;    // [B][L][D]
    float *a_log; // [D][S]
    float *b, *c; // [B][L][S]
    float *skip;  // [D], or NULL: not wanted
} smx_scan_gradients;
void smx_scan_fwd(float *SMX_RESTRICT y, float *SMX_RESTRICT states, const float *x,
                  const smx_scan_system *system, void *scratch, const smx_scan *p);
void smx_scan_push(float *SMX_RESTRICT y, float *SMX_RESTRICT carried, const float *x,
                   const smx_scan_system *system, void *scratch, size_t at, const smx_scan *p);
void smx_scan_bwd(float *dx, const smx_scan_gradients *dsystem, const float *dy, const float *x,
                  const smx_scan_system *system, const float *states, void *scratch, const smx_scan *p);
// The convolution kernel [D][L] of S4D (Gu et al. 2022): K[l] = m Re sum_s C_s B_s e^{dt A_s l},
// B_s = (e^{dt A_s} - 1)/A_s, A = -e^{log_a} + i a_im, dt = e^{log_dt}, m = 2; a_im NULL: real, m = 1.
// |a_im| dt <= 2^15. Gradients accumulate.
typedef struct {
    size_t L, D, S;
} smx_s4d;
typedef struct {
    const float *log_dt; // [D]
    const float *log_a;  // [D][S]
    const float *a_im;   // [D][S] or NULL
    const float *C;      // [D][S][2], or [D][S] where a_im is NULL
} smx_s4d_weights;
typedef struct {
    float *log_dt, *log_a, *a_im, *C; // as the weights; a_im is read only where the weights have one
} smx_s4d_gradients;
size_t smx_s4d_scratch_bytes(size_t L);
void smx_s4d_fwd(float *SMX_RESTRICT kernel, const smx_s4d_weights *weights, void *scratch, const smx_s4d *p);
void smx_s4d_bwd(const smx_s4d_gradients *dweights, const float *dkernel, const smx_s4d_weights *weights,
                 void *scratch, const smx_s4d *p);

// ---- Optimiser ------------------------------------------------------------------------------------------
// AdamW (Loshchilov & Hutter), one array: m, v, p updated in place.
//   m = b1 m + (1-b1) s g, v = b2 v + (1-b2) (s g)^2, p = p - lr wd p - lr (m/c1) / (sqrt(v/c2) + eps)
// with c1 = 1 - b1^step, c2 = 1 - b2^step computed by the caller in double, s the clip factor (1: none).
typedef struct {
    float lr, b1, b2, eps, wd, c1, c2, clip;
} smx_adamw_opts;
void smx_adamw(float *SMX_RESTRICT p, float *SMX_RESTRICT m, float *SMX_RESTRICT v, const float *g, size_t n,
               const smx_adamw_opts *o);
// Sum of squares of g [n], float lanes within blocks of 4096 and double across blocks:
// the global norm's square.
double smx_sumsq(const float *g, size_t n);

#ifdef __cplusplus
}
#endif
#endif
