// ops.h: the operations that mechanisms are written in: kernel <-> graph node. Shapes at each line; B, L as in the graph.
#ifndef SMX_OPS_H
#define SMX_OPS_H

#include "config.h"
#include "graph.h"

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
tensor *op_constant(graph *g, void (*fill)(float *, const uint32_t *, const void *), uint32_t rank, const uint32_t *shape);
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

#endif
