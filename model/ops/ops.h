// ops.h: the operations that mechanisms are written in, as functions that add a node to a graph. Shapes at
// each line; B, L as in the graph. What an operation is, its entry, stands in the file named above its group.
#ifndef SMX_OPS_H
#define SMX_OPS_H

#include "kernels/recurrent/program.h"
#include "model/graph/graph.h"

// ---- dropout.c
// y = x / (1 - share) or 0, drawn anew in each step of training (g->step); x itself where that is 0
tensor *op_dropout(graph *g, tensor *x, double share);

// ---- linear.c
// y [..][O] = x [..][I] w [I][O] (+ bias [O], or NULL)
tensor *op_linear(graph *g, tensor *x, tensor *w, tensor *bias);

// ---- elementwise.c: all arrays of one shape
tensor *op_add(graph *g, tensor *a, tensor *b);
tensor *op_mul(graph *g, tensor *a, tensor *b);
tensor *op_scale(graph *g, tensor *x, double factor);
tensor *op_max(graph *g, tensor *a, tensor *b);
tensor *op_gate(graph *g, tensor *by, tensor *a, tensor *b); // by a + (1 - by) b
tensor *op_gelu(graph *g, tensor *x);
tensor *op_silu(graph *g, tensor *x);
tensor *op_sigmoid(graph *g, tensor *x);
tensor *op_tanh(graph *g, tensor *x);
tensor *op_softplus(graph *g, tensor *x);
tensor *op_elu1(graph *g, tensor *x); // elu + 1
tensor *op_exp(graph *g, tensor *x);
tensor *op_log(graph *g, tensor *x); // of positive numbers
tensor *op_sin(graph *g, tensor *x); // |x| <= 8192, else NaN
tensor *op_cos(graph *g, tensor *x); // |x| <= 8192, else NaN
tensor *op_relu(graph *g, tensor *x);
tensor *op_abs(graph *g, tensor *x);
tensor *op_sqrt(graph *g, tensor *x);

// ---- broadcast.c
// y = x + b, b repeated over the leading rows: [D], or [L][D] for positions
tensor *op_bias(graph *g, tensor *x, tensor *b);
tensor *op_sinusoids(graph *g, tensor *x);                          // x + positions
tensor *op_affine(graph *g, tensor *x, tensor *gain, tensor *bias); // gain x + bias, both [D]
tensor *op_gain(graph *g, tensor *x, tensor *gain);                 // gain x, [D]
// A weight [..][last] for each bin of so many rows: [B][bins][..][last]
tensor *op_repeat(graph *g, tensor *w, size_t rows);
tensor *op_square(graph *g, tensor *w); // of a weight, number by number
// [..][n], or a weight [n], as [..][n times]: each number for so many columns
tensor *op_spread(graph *g, tensor *w, size_t times);

// ---- rows.c
tensor *op_shift(graph *g, tensor *x, size_t by); // y_t = x_{t - by}, zeros first
tensor *op_reverse(graph *g, tensor *x);          // y_t = x_{L - 1 - t}
// Of each of `parts` parts of the columns (1: the whole), such as heads: some of them, or a's and then b's
tensor *op_columns(graph *g, tensor *x, size_t from, size_t count, size_t parts);
tensor *op_join(graph *g, tensor *a, tensor *b, size_t parts);
// Of the rows so far: their sum, their mean, or what the sum has beyond a float (which has no gradient)
typedef enum { SUM_ALL, SUM_MEAN, SUM_REST } sum_kind;
tensor *op_running(graph *g, tensor *x, sum_kind kind);
tensor *op_mean(graph *g, tensor *x);
tensor *op_cumsum(graph *g, tensor *x);
// Some columns of x [L][n] as rows: [count][L]
tensor *op_turn(graph *g, tensor *x, size_t from, size_t count);

// ---- norm.c
tensor *op_layernorm(graph *g, tensor *x, tensor *gain, tensor *bias);
// Each row as `parts` (1: the whole) of one width d, such as heads; gain [d]
tensor *op_rmsnorm(graph *g, tensor *x, tensor *gain, size_t parts);
tensor *op_rms(graph *g, tensor *x, size_t parts); // the same without a gain
tensor *op_unitnorm(graph *g, tensor *x, size_t parts);

// ---- by_head.c: of each head's columns
tensor *op_sum_heads(graph *g, tensor *x, size_t heads); // [..][heads]
tensor *op_softmax_heads(graph *g, tensor *x, size_t heads);

// ---- batchnorm.c
// Columns over all rows of the batch's samples in a step of training, by the running mean and variance [D]
// (graph_running) elsewhere; gain, bias [D]
tensor *op_batchnorm(graph *g, tensor *x, tensor *gain, tensor *bias, tensor *mean, tensor *variance);

// ---- tokens.c
// Tokens of the graph -> [B][L][D]
tensor *op_embedding(graph *g, tensor *table);
// Real values of the graph, [B][L][channels], as a tensor
tensor *op_values(graph *g, size_t channels);
// A table that does not learn, computed once by fill(data, shape)
tensor *op_constant(graph *g, void (*fill)(float *, const uint32_t *), uint32_t rank, const uint32_t *shape);
// The same by fill(data, shape, unit)
tensor *op_table(graph *g, void (*fill)(float *, const uint32_t *, double), uint32_t rank,
                 const uint32_t *shape, double unit);
// [B][L][D] -> [B][D]
tensor *op_meanpool(graph *g, tensor *x);
// ---- pool_rows.c
// Of each sequence [B][L][D] each column's largest number, the last row or the first: [B][D].
typedef enum { ROWS_LARGEST, ROWS_LAST, ROWS_FIRST } row_pool;
tensor *op_pool_rows(graph *g, tensor *x, row_pool how);
// Rows g->rows of x [B][L][D] -> [rows_n][D]
tensor *op_gather(graph *g, tensor *x);

// ---- conv.c
// Short convolution over time: f [groups][W], `future` taps ahead (CAT Def. 1)
tensor *op_conv(graph *g, tensor *x, tensor *f, size_t future);
// f [W][H][H] (CAT's multi-head filter)
tensor *op_conv_heads(graph *g, tensor *x, tensor *f);
// ---- unit_projection.c
// norm(X * F_h) W_h: rows of the filtered x scaled to unit length at full width, then the projection (CAT
// Theorem 1); f [H][W], `future` taps ahead
tensor *op_unit_projection(graph *g, tensor *x, tensor *w, tensor *f, size_t future);
// ---- rope.c
// Turn pairs of columns of each head by angle t * 10000^(-2m/d) (Su et al.)
tensor *op_rope(graph *g, tensor *x, size_t heads);

// ---- attention.c
typedef struct {
    size_t heads;
    int causal;
    // By distance, [H][2L-1], or NULL: factors of the logits (LaS), and what is added.
    // Must live as long as the graph.
    const float *decay_table, *bias;
    size_t chunk;       // rows [0,M), [M,2M), ... attend among themselves only; 0: off
    size_t pool_window; // of LaS's masked pooling; 0: off
    size_t sliding;     // rows that a row sees, itself included; 0: off
    double scale, cap;  // of logits, 0: 1 / sqrt(d), and none
    int score;          // SMX_SCORE_..
    size_t sink_column; // 1 + the column of each head of k that moves its logits beside a sink; 0: none
} attention_opts;
tensor *op_attention(graph *g, tensor *q, tensor *k, tensor *v, const attention_opts *opts);
// ---- attention_maps.c
// Softmax attention whose maps are mixed across heads, mix [H][H] (CAT Table 2)
tensor *op_attention_maps(graph *g, tensor *q, tensor *k, tensor *v, tensor *mix, const attention_opts *opts);
// ---- pool.c
// Mean over P rows, `future` of them ahead, divisor always P, inside chunks of `chunk` rows (0: the sequence)
tensor *op_pool(graph *g, tensor *x, size_t P, size_t future, size_t chunk);
// ---- landmark.c
// Keys filtered by a box of `block` rows, or by rho^i with rho = e^{-1/block}; gradient 0: only for choosing
tensor *op_block_filter(graph *g, tensor *x, size_t block, int rho, int gradient);
// Landmark attention (LCAT); marks may be k itself
tensor *op_landmark(graph *g, tensor *q, tensor *k, tensor *v, tensor *marks, size_t heads, size_t block);
// ---- linear_attention.c
// Causal linear attention in blocks of `block` rows; normaliser: SMX_LINATTN_NONE, _RMS (eps 1e-5) or _SUM
tensor *op_linear_attention(graph *g, tensor *q, tensor *k, tensor *v, size_t heads, int normaliser,
                            size_t block);

// ---- longconv.c
// k [D][taps] cut or extended by zeros to L and squashed by lambda (0: off); skip [D] or NULL
tensor *op_longconv(graph *g, tensor *x, tensor *k, tensor *skip, double lambda);
// ---- s4d_kernel.c
// S4D's kernel [D][L] from log_dt [D], log_a, a_im [D][S] and C [D][S][2]; a_im NULL: real, C [D][S]
tensor *op_s4d_kernel(graph *g, tensor *log_dt, tensor *log_a, tensor *a_im, tensor *C);

// ---- maxpool.c
// Adaptive max pool over time to O values a bin of so many rows: [B][bins][D][O], or joint [B][bins][D O]
tensor *op_maxpool(graph *g, tensor *x, size_t rows, size_t O, int joint);
// Rows of the bins whose maxima t is made of; 0: of none.
size_t op_bin_rows(const graph *g, const tensor *t);
// ---- iir.c
// Raw [B][bins][..] to filter coefficients times factor; shift:
// bin b takes what bin b-1 said, bin 0 gets zeros
tensor *op_theta(graph *g, tensor *raw, int triangle, double factor, int shift);
// Sum over F second-order filters of x with coefficients [B][bins][D][F][2], a bin of so many rows; mode:
// SMX_IIR_...
tensor *op_iir(graph *g, tensor *x, tensor *coefficients, size_t rows, size_t F, int mode);

// ---- scan.c
// MEGA's damped moving average; alpha, delta, beta, eta [D][S], skip [D]
tensor *op_ema(graph *g, tensor *x, tensor *alpha, tensor *delta, tensor *beta, tensor *eta, tensor *skip);
// Mamba's selective scan; dt as x, a_log [D][S], b, c [B][L][S], skip [D]
tensor *op_selective_scan(graph *g, tensor *x, tensor *dt, tensor *a_log, tensor *b, tensor *c, tensor *skip);

// ---- state.c
// Gated linear attention: q, k [B][L][H dk], or [B][L][dk] that all heads share, v [B][L][H dv], beta
// [B][L][H] or NULL, gates g [H] that do not learn, [B][L][H] or [B][L][H dk], or NULL
tensor *op_gla(graph *g, tensor *q, tensor *k, tensor *v, tensor *beta, tensor *gates, size_t heads,
               int shared, double scale);
// The same with fixed gates, 1 - 2^(-5 - h) for head h (Sun et al. 2023)
tensor *op_retention(graph *g, tensor *q, tensor *k, tensor *v, size_t heads, double scale);
// The delta rule, gated or not
tensor *op_delta(graph *g, tensor *q, tensor *k, tensor *v, tensor *beta, tensor *gates, tensor *erase,
                 size_t heads, double scale);

// ---- recurrent.c
// z [B][L][4 E] is x W + b, gates i f g o; u [E][4 E]; [B][L][E]
tensor *op_lstm(graph *g, tensor *z, tensor *u);
// z [B][L][3 E], gates r z n; u [E][3 E], bias [3 E], of h u
tensor *op_gru(graph *g, tensor *z, tensor *u, tensor *bias);
// ---- taylor.c
// Linear attention by the exponential's series (Based): q, k [B][L][H d'], v [B][L][H d]
tensor *op_taylor_attention(graph *g, tensor *q, tensor *k, tensor *v, size_t heads);

// ---- program.c
// A recurrence given as a program: in: its inputs [B][L][columns], then weights and learnt starts;
// [B][L][out_columns]. The program is copied.
tensor *op_program(graph *g, tensor *const *in, size_t n_in, const program *p);

#endif
