// ops.h: the operations that mechanisms are written in: kernel <-> graph node. Shapes at each line; B, L as in the graph.
#ifndef SMX_OPS_H
#define SMX_OPS_H

#include "model/settings/config.h"
#include "model/graph/graph.h"

// y [..][O] = x [..][I] w [I][O] (+ bias [O], or NULL)
tensor *op_linear(graph *g, tensor *x, tensor *w, tensor *bias);
tensor *op_add(graph *g, tensor *a, tensor *b);
tensor *op_mul(graph *g, tensor *a, tensor *b);
// y = x + b, b repeated over the leading rows: [D], or [L][D] for positions
tensor *op_bias(graph *g, tensor *x, tensor *b);
tensor *op_gelu(graph *g, tensor *x);
tensor *op_silu(graph *g, tensor *x);
tensor *op_sigmoid(graph *g, tensor *x);
tensor *op_tanh(graph *g, tensor *x);

tensor *op_layernorm(graph *g, tensor *x, tensor *gain, tensor *bias);
tensor *op_rmsnorm(graph *g, tensor *x, tensor *gain);
tensor *op_unitnorm(graph *g, tensor *x);

// Tokens of the graph -> [B][L][D]
tensor *op_embedding(graph *g, tensor *table);
// Real values of the graph, [B][L][channels], as a tensor
tensor *op_values(graph *g, size_t channels);
// A table that does not learn, computed once by fill(data, shape, NULL)
tensor *op_constant(graph *g, void (*fill)(float *, const uint32_t *, const void *), uint32_t rank,
                    const uint32_t *shape);
// [B][L][D] -> [B][D]
tensor *op_meanpool(graph *g, tensor *x);
// Rows g->rows of x [B][L][D] -> [rows_n][D]
tensor *op_gather(graph *g, tensor *x);

// Short convolution over time: f [groups][W], `future` taps ahead (CAT Def. 1)
tensor *op_conv(graph *g, tensor *x, tensor *f, size_t future);
// f [W][H][H] (CAT's multi-head filter)
tensor *op_conv_heads(graph *g, tensor *x, tensor *f);
// Turn pairs of columns of each head by angle t * 10000^(-2m/d) (Su et al.)
tensor *op_rope(graph *g, tensor *x, size_t heads);

typedef struct {
    size_t heads;
    int causal;
    const float *mult, *bias; // [H][2L-1] by distance, or NULL; must live as long as the graph
    size_t chunk;             // rows [0,M), [M,2M), ... attend among themselves only; 0: off
    size_t masked;            // window of LaS's masked pooling; 0: off
} attention_opts;
tensor *op_attention(graph *g, tensor *q, tensor *k, tensor *v, const attention_opts *opts);

// ---- CAT, LaS, landmarks: ops_cat.c
// norm(X * F_h) W_h: rows of the filtered x scaled to unit length at full width, then the projection (CAT Theorem 1);
// f [H][W], `future` taps ahead
tensor *op_unit_projection(graph *g, tensor *x, tensor *w, tensor *f, size_t future);
// Softmax attention whose maps are mixed across heads, mix [H][H] (CAT Table 2)
tensor *op_attention_maps(graph *g, tensor *q, tensor *k, tensor *v, tensor *mix, const attention_opts *opts);
// Mean over P rows, `future` of them ahead, divisor always P, inside chunks of `chunk` rows (0: the sequence)
tensor *op_pool(graph *g, tensor *x, size_t P, size_t future, size_t chunk);
// Keys filtered by a box of `block` rows, or by rho^i with rho = e^{-1/block}; gradient 0: only for choosing
tensor *op_block_filter(graph *g, tensor *x, size_t block, int rho, int gradient);
// Landmark attention (LCAT); marks may be k itself
tensor *op_landmark(graph *g, tensor *q, tensor *k, tensor *v, tensor *marks, size_t heads, size_t block);
// Blocks that the queries of that node chose in the last forward, [B][H][L], -1: none; NULL: o is something else
const int32_t *op_landmark_chosen(const graph *g, const tensor *o);

// ---- Linear attention: ops_linear.c
tensor *op_elu1(graph *g, tensor *x); // elu + 1
// Causal linear attention in blocks of `block` rows; normaliser: SMX_LINATTN_NONE, _RMS (eps 1e-5) or _SUM
tensor *op_linear_attention(graph *g, tensor *q, tensor *k, tensor *v, size_t heads, int normaliser,
                            size_t block);

// Heads of the attention that computed o (0: o is something else), and, on a graph that was replayed forward with every
// tensor kept, its weights on sequence 0: map [H][L][L].
size_t op_attention_heads(const graph *g, const tensor *o);
void op_attention_map(graph *g, const tensor *o, float *map);

// Tables by distance, [H][2L-1], owned by the graph. ALiBi (Press et al.): -m_h |i-j|, m_h = 2^(-8(h+1)/H), times `scale`.
const float *table_alibi(graph *g, size_t heads, double scale);

// Weights by their usual shapes and starts
tensor *weight_matrix(graph *g, const char *name, size_t in, size_t out, init start);
tensor *weight_vector(graph *g, const char *name, size_t n, double start);

// Starts (MECHANISMS: N(0, 1/fan_in), N(0, 0.02^2) or Xavier uniform, by the key init), for a matrix [in][out]; a residual
// output projection is scaled by 1/sqrt(2 blocks).
init start_matrix(const config *c, size_t in, size_t out);
init start_output(const config *c, size_t in, size_t out);

// ---- Gated layers: ops_gate.c
tensor *op_affine(graph *g, tensor *x, tensor *gain, tensor *bias); // gain x + bias, both [D]
tensor *op_gate(graph *g, tensor *by, tensor *a, tensor *b);        // by a + (1 - by) b
tensor *op_softplus(graph *g, tensor *x);
// A weight [..][last] as [B][times][..][last]
tensor *op_repeat(graph *g, tensor *w, size_t times);

// ---- Long convolution: ops_longconv.c
// k [D][taps] cut or extended by zeros to L and squashed by lambda (0: off); skip [D] or NULL
tensor *op_longconv(graph *g, tensor *x, tensor *k, tensor *skip, double lambda);
// S4D's kernel [D][L] from log_dt [D], log_a, a_im [D][S] and C [D][S][2]; a_im NULL: real, C [D][S]
tensor *op_s4d_kernel(graph *g, tensor *log_dt, tensor *log_a, tensor *a_im, tensor *C);

// ---- Focus: ops_focus.c
// Adaptive max pool over time to O values a bin: [B][bins][D][O], or joint [B][bins][D O]
tensor *op_maxpool(graph *g, tensor *x, size_t bins, size_t O, int joint);
// Raw [B][bins][..] to filter coefficients times factor; shift: bin b takes what bin b-1 said, bin 0 gets zeros
tensor *op_theta(graph *g, tensor *raw, int triangle, double factor, int shift);
// Sum over F second-order filters of x with coefficients [B][bins][D][F][2]; mode: SMX_IIR_...
tensor *op_iir(graph *g, tensor *x, tensor *coefficients, size_t bins, size_t F, int mode);

// ---- Comparators: ops_scan.c
// MEGA's damped moving average; alpha, delta, beta, eta [D][S], skip [D]
tensor *op_ema(graph *g, tensor *x, tensor *alpha, tensor *delta, tensor *beta, tensor *eta, tensor *skip);
// Mamba's selective scan; dt as x, a_log [D][S], b, c [B][L][S], skip [D]
tensor *op_selective_scan(graph *g, tensor *x, tensor *dt, tensor *a_log, tensor *b, tensor *c, tensor *skip);

#endif
