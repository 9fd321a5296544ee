// ops.c: graph nodes over kernels. Work is cut into pieces whose number depends on shapes only, each writing its own
// outputs; where weights' gradients sum over rows or sequences, each piece sums its own part and the parts are added in
// order. So the bits do not depend on how many threads there are.
#include "ops_private.h"

#include <stdlib.h>

#include "kernels/mathd.h"

// ---- Row-wise operations, piece by piece -------------------------------------------------------------------
typedef struct {
    node *n;
    size_t unit;
    some_rows rows;
} units;
static void units_piece(void *arg, size_t i) {
    const units *u = arg;
    size_t from, count;
    unit_piece(rows_of(u->n->out), u->unit, i, &from, &count);
    u->rows(u->n, i, from, count);
}
void rows_in_units(graph *g, node *n, size_t unit, some_rows rows) {
    graph_pieces(g, unit_pieces(rows_of(n->out), unit), units_piece, &(units){n, unit, rows});
}
void rows_forward(graph *g, node *n) { rows_in_units(g, n, ROW_STEP, n->op->forward_rows); }
void rows_backward(graph *g, node *n) { rows_in_units(g, n, ROW_STEP, n->op->backward_rows); }

// ---- Linear ---------------------------------------------------------------------------------------------
static float *piece_scratch(float *scratch, size_t i, size_t total, size_t pieces) {
    return scratch + i * (total / pieces);
}

static void linear_rows(node *n, size_t piece, size_t from, size_t count) {
    const size_t I = n->a[1], O = n->a[2];
    float *y = n->out->data + from * O;
    smx_gemm(y, n->in[0]->data + from * I, n->in[1]->data,
             piece_scratch(n->scratch, piece, n->scratch_n, 2 * SHARDS), count, O, I, I, O, O, 0);
    if (n->n_in > 2) smx_bias_fwd(y, y, n->in[2]->data, count, O);
}

// Pieces: rows of dx, then rows of dW, then dbias.
static void linear_bwd_piece(void *arg, size_t i) {
    const node *n = ((job *)arg)->n;
    size_t from, count, N = n->a[0], I = n->a[1], O = n->a[2], for_dx = n->in_grad[0] ? row_pieces(N) : 0;
    const float *dy = n->out->grad;
    float *scratch = piece_scratch(n->back_scratch, i, n->scratch_n, 2 * SHARDS);
    if (i < for_dx) {
        row_piece(N, i, &from, &count);
        smx_gemm(n->in_grad[0] + from * I, dy + from * O, n->in[1]->data, scratch, count, I, O, O, O, I,
                 SMX_TRANS_B | (n->adds[0] ? SMX_ACCUMULATE : 0));
    } else if (i < for_dx + row_pieces(I)) {
        row_piece(I, i - for_dx, &from, &count);
        smx_gemm(n->in_grad[1] + from * O, n->in[0]->data + from, dy, scratch, count, O, N, I, O, O,
                 SMX_TRANS_A | SMX_ACCUMULATE);
    } else {
        smx_bias_bwd(n->in_grad[2], dy, N, O);
    }
}
// One thread takes rows while they are near: dx of some rows, then what they add to dW and dbias, in the same order of blocks.
static void linear_bwd_rows(node *n, size_t piece, size_t from, size_t count) {
    (void)piece;
    const size_t I = n->a[1], O = n->a[2];
    const float *dy = out_grad_rows(n, from);
    if (n->in_grad[0])
        smx_gemm(in_grad_rows(n, 0, from), dy, n->in[1]->data, n->back_scratch, count, I, O, O, O, I,
                 SMX_TRANS_B | (n->adds[0] ? SMX_ACCUMULATE : 0));
    smx_gemm(n->in_grad[1], n->in[0]->data + from * I, dy, n->back_scratch, I, O, count, I, O, O,
             SMX_TRANS_A | SMX_ACCUMULATE);
    if (n->n_in > 2) smx_bias_bwd(n->in_grad[2], dy, count, O);
}
static void linear_bwd(graph *g, node *n) {
    const size_t N = n->a[0];
    if (g->parallel)
        graph_pieces(g, (n->in_grad[0] ? row_pieces(N) : 0) + row_pieces(n->a[1]) + (n->n_in > 2),
                     linear_bwd_piece, &(job){g, n});
    else
        for (size_t from = 0; from < N; from += NEAR_ROWS)
            linear_bwd_rows(n, 0, from, N - from < NEAR_ROWS ? N - from : NEAR_ROWS);
}
static const op_kind linear = {"linear", rows_forward, linear_bwd, 3, 0, 1, linear_rows, linear_bwd_rows};

tensor *op_linear(graph *g, tensor *x, tensor *w, tensor *bias) {
    size_t I = w->shape[0], O = w->shape[1], N = x->n / I;
    uint32_t shape[4];
    memcpy(shape, x->shape, sizeof shape);
    shape[x->rank - 1] = (uint32_t)O;
    tensor *y = graph_tensor(g, x->rank, shape);
    node *n = graph_node(g, &linear, y, bias ? 3 : 2, (tensor *[]){x, w, bias});
    n->a[0] = N, n->a[1] = I, n->a[2] = O;
    n->scratch_n = 2 * SHARDS * floats(smx_gemm_scratch_bytes(I > O ? I : O, I > O ? I : O, SMX_KC));
    n->flops = 2 * (uint64_t)N * I * O;
    return y;
}

// ---- Elementwise ----------------------------------------------------------------------------------------

static void add_rows(node *n, size_t piece, size_t from, size_t count) {
    (void)piece;
    const size_t D = last_dim(n->out), at = from * D;
    smx_add(n->out->data + at, n->in[0]->data + at, n->in[1]->data + at, count * D);
}
static void add_bwd_rows(node *n, size_t piece, size_t from, size_t count) {
    (void)piece;
    const size_t D = last_dim(n->out);
    const float *dy = out_grad_rows(n, from);
    for (size_t i = 0; i < 2; i++) {
        float *dx = in_grad_rows(n, i, from);
        if (!dx) continue;
        if (n->adds[i])
            smx_add(dx, dx, dy, count * D);
        else
            memcpy(dx, dy, count * D * sizeof(float));
    }
}
static const op_kind add = {"add", rows_forward, rows_backward, 0, 0, 1, add_rows, add_bwd_rows};
tensor *op_add(graph *g, tensor *a, tensor *b) {
    tensor *y = like(g, a);
    graph_node(g, &add, y, 2, (tensor *[]){a, b});
    return y;
}

static void mul_rows(node *n, size_t piece, size_t from, size_t count) {
    (void)piece;
    const size_t D = last_dim(n->out), at = from * D;
    smx_mul(n->out->data + at, n->in[0]->data + at, n->in[1]->data + at, count * D);
}
static void mul_bwd_rows(node *n, size_t piece, size_t from, size_t count) {
    (void)piece;
    const size_t D = last_dim(n->out), at = from * D;
    for (size_t i = 0; i < 2; i++)
        if (n->in_grad[i])
            smx_mul(in_grad_rows(n, i, from), out_grad_rows(n, from), n->in[1 - i]->data + at, count * D);
}
static const op_kind mul = {"mul", rows_forward, rows_backward, 3, 0, 0, mul_rows, mul_bwd_rows};
tensor *op_mul(graph *g, tensor *a, tensor *b) {
    tensor *y = like(g, a);
    graph_node(g, &mul, y, 2, (tensor *[]){a, b});
    return y;
}

static void bias_fwd(graph *g, node *n) {
    (void)g;
    smx_bias_fwd(n->out->data, n->in[0]->data, n->in[1]->data, n->a[0], n->a[1]);
}
static void bias_bwd(graph *g, node *n) {
    (void)g;
    if (n->in_grad[0]) memcpy(n->in_grad[0], n->out->grad, n->out->n * sizeof(float));
    if (n->in_grad[1]) smx_bias_bwd(n->in_grad[1], n->out->grad, n->a[0], n->a[1]);
}
static const op_kind bias = {"bias", bias_fwd, bias_bwd, 0, 0, 0, NULL, NULL};
tensor *op_bias(graph *g, tensor *x, tensor *b) {
    tensor *y = like(g, x);
    size_t used = b->n < x->n ? b->n : x->n; // a longer table of positions gives its first rows
    if (b->rank == 2) used = (size_t)g->L * last_dim(x);
    node *n = graph_node(g, &bias, y, 2, (tensor *[]){x, b});
    n->a[0] = x->n / used, n->a[1] = used;
    return y;
}

// Functions of one array.
void unary_rows(node *n, size_t piece, size_t from, size_t count) {
    (void)piece;
    const size_t D = n->a[0];
    ((const unary *)n->op)->fwd(n->out->data + from * D, n->in[0]->data + from * D, count * D);
}
void unary_bwd_rows(node *n, size_t piece, size_t from, size_t count) {
    (void)piece;
    const float *seen = n->op->needs_out ? n->out->data : n->in[0]->data;
    if (n->in_grad[0])
        ((const unary *)n->op)
            ->bwd(in_grad_rows(n, 0, from), out_grad_rows(n, from), seen + from * n->a[0], count * n->a[0]);
}
static const unary gelu = {
    {"gelu", rows_forward, rows_backward, 1, 0, 0, unary_rows, unary_bwd_rows}, smx_gelu_fwd, smx_gelu_bwd};
static const unary silu = {
    {"silu", rows_forward, rows_backward, 1, 0, 0, unary_rows, unary_bwd_rows}, smx_silu_fwd, smx_silu_bwd};
static const unary sigmoid = {{"sigmoid", rows_forward, rows_backward, 0, 1, 0, unary_rows, unary_bwd_rows},
                              smx_sigmoid_fwd,
                              smx_sigmoid_bwd};
static const unary tanh_op = {
    {"tanh", rows_forward, rows_backward, 0, 1, 0, unary_rows, unary_bwd_rows}, smx_tanh_fwd, smx_tanh_bwd};
tensor *apply_unary(graph *g, const unary *u, tensor *x) {
    tensor *y = like(g, x);
    node *n = graph_node(g, &u->op, y, 1, &x);
    n->a[0] = last_dim(x);
    return y;
}
tensor *op_gelu(graph *g, tensor *x) { return apply_unary(g, &gelu, x); }
tensor *op_silu(graph *g, tensor *x) { return apply_unary(g, &silu, x); }
tensor *op_sigmoid(graph *g, tensor *x) { return apply_unary(g, &sigmoid, x); }
tensor *op_tanh(graph *g, tensor *x) { return apply_unary(g, &tanh_op, x); }

// ---- Norms ----------------------------------------------------------------------------------------------

static void layernorm_rows(node *n, size_t piece, size_t from, size_t count) {
    (void)piece;
    const size_t D = n->a[1];
    smx_layernorm_fwd(n->out->data + from * D, n->saved + from * 2, n->in[0]->data + from * D, n->in[1]->data,
                      n->in[2]->data, count, D, n->f[0]);
}
// Rows of a piece in blocks of SMX_KC: where dx is added to a gradient that is there, it is made beside the parts first.
static float *norm_dx(const node *n, size_t i, size_t row, float **dx) {
    *dx = n->in_grad[0] + row * n->a[1];
    return n->adds[0] ? n->back_scratch + i * n->a[9] + n->a[8] : *dx;
}
static size_t block_rows(size_t row, size_t end) { return end - row < SMX_KC ? end - row : SMX_KC; }

static void layernorm_bwd_piece(void *arg, size_t i) {
    const node *n = ((job *)arg)->n;
    size_t from, count, D = n->a[1];
    row_piece(n->a[0], i, &from, &count);
    float *parts = part(n, i, 2 * D), *dx;
    for (size_t row = from, end = from + count, rows; row < end; row += rows) {
        rows = block_rows(row, end);
        float *made = norm_dx(n, i, row, &dx);
        smx_layernorm_bwd(made, parts, parts + D, n->out->grad + row * D, n->in[0]->data + row * D,
                          n->in[1]->data, n->saved + row * 2, rows, D);
        if (made != dx) smx_add(dx, dx, made, rows * D);
    }
}
static void layernorm_bwd(graph *g, node *n) {
    graph_pieces(g, row_pieces(n->a[0]), layernorm_bwd_piece, &(job){g, n});
    add_parts(n, 1, row_pieces(n->a[0]), 0);
    add_parts(n, 2, row_pieces(n->a[0]), n->a[1]);
}
static const op_kind layernorm = {"layernorm", rows_forward, layernorm_bwd, 3, 0, 1, layernorm_rows, NULL};

static void rmsnorm_rows(node *n, size_t piece, size_t from, size_t count) {
    (void)piece;
    const size_t D = n->a[1];
    smx_rmsnorm_fwd(n->out->data + from * D, n->saved + from, n->in[0]->data + from * D, n->in[1]->data,
                    count, D, n->f[0]);
}
static void rmsnorm_bwd_piece(void *arg, size_t i) {
    const node *n = ((job *)arg)->n;
    size_t from, count, D = n->a[1];
    row_piece(n->a[0], i, &from, &count);
    float *dgain = part(n, i, D), *dx;
    for (size_t row = from, end = from + count, rows; row < end; row += rows) {
        rows = block_rows(row, end);
        float *made = norm_dx(n, i, row, &dx);
        smx_rmsnorm_bwd(made, dgain, n->out->grad + row * D, n->in[0]->data + row * D, n->in[1]->data,
                        n->saved + row, rows, D);
        if (made != dx) smx_add(dx, dx, made, rows * D);
    }
}
static void rmsnorm_bwd(graph *g, node *n) {
    graph_pieces(g, row_pieces(n->a[0]), rmsnorm_bwd_piece, &(job){g, n});
    add_parts(n, 1, row_pieces(n->a[0]), 0);
}
static const op_kind rmsnorm = {"rmsnorm", rows_forward, rmsnorm_bwd, 3, 0, 1, rmsnorm_rows, NULL};

static void unitnorm_fwd(graph *g, node *n) {
    (void)g;
    smx_unitnorm_fwd(n->out->data, n->saved, n->in[0]->data, n->a[0], n->a[1]);
}
static void unitnorm_bwd(graph *g, node *n) {
    (void)g;
    smx_unitnorm_bwd(n->in_grad[0], n->out->grad, n->in[0]->data, n->saved, n->a[0], n->a[1]);
}
static const op_kind unitnorm = {"unitnorm", unitnorm_fwd, unitnorm_bwd, 1, 0, 0, NULL, NULL};

static tensor *norm_node(graph *g, const op_kind *op, tensor *x, tensor *gain, tensor *bias,
                         size_t saved_per_row) {
    tensor *y = like(g, x);
    node *n = graph_node(g, op, y, 1 + (gain != NULL) + (bias != NULL), (tensor *[]){x, gain, bias});
    n->a[0] = rows_of(x), n->a[1] = last_dim(x);
    n->a[8] = floats(2 * n->a[1] * sizeof(float));
    n->a[9] = n->a[8] + floats(block_rows(0, n->a[0]) * n->a[1] * sizeof(float));
    n->f[0] = 1e-5f;
    n->saved_n = saved_per_row * n->a[0];
    n->scratch_n = gain ? SHARDS * n->a[9] : 0;
    return y;
}
tensor *op_layernorm(graph *g, tensor *x, tensor *gain, tensor *b) {
    return norm_node(g, &layernorm, x, gain, b, 2);
}
tensor *op_rmsnorm(graph *g, tensor *x, tensor *gain) { return norm_node(g, &rmsnorm, x, gain, NULL, 1); }
tensor *op_unitnorm(graph *g, tensor *x) { return norm_node(g, &unitnorm, x, NULL, NULL, 1); }

// ---- Tokens, values, pooling ----------------------------------------------------------------------------

static void embedding_fwd(graph *g, node *n) {
    smx_embedding_fwd(n->out->data, n->in[0]->data, g->tokens, n->a[0], n->a[1], n->a[2]);
}
static void embedding_bwd(graph *g, node *n) {
    smx_embedding_bwd(n->in_grad[0], n->out->grad, g->tokens, n->a[0], n->a[1], n->a[2]);
}
static const op_kind embedding = {"embedding", embedding_fwd, embedding_bwd, 0, 0, 0, NULL, NULL};
tensor *op_embedding(graph *g, tensor *table) {
    uint32_t shape[3] = {(uint32_t)g->B, (uint32_t)g->L, table->shape[1]};
    tensor *y = graph_tensor(g, 3, shape);
    node *n = graph_node(g, &embedding, y, 1, &table);
    n->a[0] = g->B * g->L, n->a[1] = table->shape[1], n->a[2] = table->shape[0];
    return y;
}

static void values_fwd(graph *g, node *n) { memcpy(n->out->data, g->values, n->out->n * sizeof(float)); }
static const op_kind values = {"values", values_fwd, NULL, 0, 0, 0, NULL, NULL};
tensor *op_values(graph *g, size_t channels) {
    uint32_t shape[3] = {(uint32_t)g->B, (uint32_t)g->L, (uint32_t)channels};
    tensor *y = graph_tensor(g, 3, shape);
    graph_node(g, &values, y, 0, NULL);
    return y;
}

static void constant_fwd(graph *g, node *n) {
    (void)g;
    memcpy(n->out->data, n->p, n->out->n * sizeof(float));
}
static const op_kind constant = {"constant", constant_fwd, NULL, 0, 0, 0, NULL, NULL};
tensor *op_constant(graph *g, void (*fill)(float *, const uint32_t *, const void *), uint32_t rank,
                    const uint32_t *shape) {
    tensor *y = graph_tensor(g, rank, shape);
    float *table = graph_own(g, y->n * sizeof *table);
    if (table) fill(table, shape, NULL);
    node *n = graph_node(g, &constant, y, 0, NULL);
    n->p = table;
    return y;
}

static void meanpool_fwd(graph *g, node *n) {
    (void)g;
    smx_meanpool_fwd(n->out->data, n->in[0]->data, n->a[0], n->a[1], n->a[2]);
}
static void meanpool_bwd(graph *g, node *n) {
    (void)g;
    smx_meanpool_bwd(n->in_grad[0], n->out->grad, n->a[0], n->a[1], n->a[2]);
}
static const op_kind meanpool = {"meanpool", meanpool_fwd, meanpool_bwd, 0, 0, 0, NULL, NULL};
tensor *op_meanpool(graph *g, tensor *x) {
    uint32_t shape[2] = {x->shape[0], x->shape[2]};
    tensor *y = graph_tensor(g, 2, shape);
    node *n = graph_node(g, &meanpool, y, 1, &x);
    n->a[0] = x->shape[0], n->a[1] = x->shape[1], n->a[2] = x->shape[2];
    return y;
}

static void gather_fwd(graph *g, node *n) {
    smx_gather_fwd(n->out->data, n->in[0]->data, g->rows, g->rows_n, n->a[0], n->a[1]);
}
static void gather_bwd(graph *g, node *n) {
    smx_gather_bwd(n->in_grad[0], n->out->grad, g->rows, g->rows_n, n->a[0], n->a[1]);
}
static const op_kind gather = {"gather", gather_fwd, gather_bwd, 0, 0, 0, NULL, NULL};
tensor *op_gather(graph *g, tensor *x) {
    uint32_t shape[2] = {(uint32_t)g->rows_n, (uint32_t)last_dim(x)};
    tensor *y = graph_tensor(g, 2, shape);
    node *n = graph_node(g, &gather, y, 1, &x);
    n->a[0] = rows_of(x), n->a[1] = last_dim(x);
    return y;
}

// ---- Convolution ----------------------------------------------------------------------------------------
// a: L, D, groups or H, W, future, floats of one piece's scratch; a[9] = that + the filter's part.
static void conv_fwd_piece(void *arg, size_t i) {
    const job *j = arg;
    const node *n = j->n;
    size_t B = j->g->B, from = shard_start(B, i), count = shard_start(B, i + 1) - from,
           at = from * n->a[0] * n->a[1];
    float *scratch = n->scratch + i * n->a[9];
    const float *x = n->in[0]->data + at;
    if (n->a[6])
        smx_conv_heads_fwd(n->out->data + at, x, n->in[1]->data, scratch, count, n->a[0], n->a[1], n->a[2],
                           n->a[3], n->a[1], n->a[1]);
    else
        smx_conv_fwd(n->out->data + at, x, n->in[1]->data, scratch, count, n->a[0], n->a[1], n->a[2], n->a[3],
                     n->a[4], n->a[1], n->a[1]);
}
static void conv_fwd(graph *g, node *n) { graph_pieces(g, shard_count(g->B), conv_fwd_piece, &(job){g, n}); }
static void conv_bwd_piece(void *arg, size_t i) {
    const job *j = arg;
    const node *n = j->n;
    size_t B = j->g->B, from = shard_start(B, i), count = shard_start(B, i + 1) - from,
           at = from * n->a[0] * n->a[1];
    float *df = part(n, i, n->in[1]->n), *scratch = n->back_scratch + i * n->a[9] + n->a[5];
    const float *dy = n->out->grad + at, *x = n->in[0]->data + at;
    float *dx = n->in_grad[0] ? n->in_grad[0] + at : NULL;
    if (n->a[6])
        smx_conv_heads_bwd(dx, df, dy, x, n->in[1]->data, scratch, count, n->a[0], n->a[1], n->a[2], n->a[3],
                           n->a[1], n->a[1]);
    else
        smx_conv_bwd(dx, df, dy, x, n->in[1]->data, scratch, count, n->a[0], n->a[1], n->a[2], n->a[3],
                     n->a[4], n->a[1], n->a[1]);
}
static void conv_bwd(graph *g, node *n) {
    graph_pieces(g, shard_count(g->B), conv_bwd_piece, &(job){g, n});
    add_parts(n, 1, shard_count(g->B), 0);
}
static const op_kind conv = {"conv", conv_fwd, conv_bwd, 3, 0, 0, NULL, NULL};

static tensor *conv_node(graph *g, tensor *x, tensor *f, size_t groups, size_t W, size_t future, int heads) {
    tensor *y = like(g, x);
    node *n = graph_node(g, &conv, y, 2, (tensor *[]){x, f});
    size_t L = g->L, D = last_dim(x);
    n->a[0] = L, n->a[1] = D, n->a[2] = groups, n->a[3] = W, n->a[4] = future, n->a[6] = (size_t)heads;
    n->a[5] = floats(f->n * sizeof(float));
    n->a[9] = n->a[5] + floats(heads ? smx_conv_heads_scratch_bytes(L, D, groups, W)
                                     : smx_conv_scratch_bytes(L, D, groups, W));
    n->scratch_n = shard_count(g->B) * n->a[9];
    n->flops = 2 * (uint64_t)x->n * W * (heads ? groups : 1);
    return y;
}
tensor *op_conv(graph *g, tensor *x, tensor *f, size_t future) {
    return conv_node(g, x, f, f->shape[0], f->shape[1], future, 0);
}
tensor *op_conv_heads(graph *g, tensor *x, tensor *f) {
    return conv_node(g, x, f, f->shape[1], f->shape[0], 0, 1);
}

// ---- Attention ------------------------------------------------------------------------------------------

static smx_attention shape_of(const node *n, const attention_opts *o, size_t B, size_t L) {
    return (smx_attention){.B = B,
                           .L = L,
                           .D = n->a[1],
                           .H = o->heads,
                           .stride = n->a[1],
                           .causal = o->causal,
                           .scale = n->f[0],
                           .mult = o->mult,
                           .bias = o->bias,
                           .chunk = o->chunk,
                           .masked = o->masked};
}
smx_attention attention_shape(const node *n, size_t B) { return shape_of(n, n->p, B, n->a[0]); }
static void attention_fwd_piece(void *arg, size_t i) {
    const job *j = arg;
    const node *n = j->n;
    size_t B = j->g->B, from = shard_start(B, i), at = from * n->a[0] * n->a[1];
    smx_attention p = attention_shape(n, shard_start(B, i + 1) - from);
    smx_attention_fwd(n->out->data + at, n->saved + from * p.H * p.L * 2, n->in[0]->data + at,
                      n->in[1]->data + at, n->in[2]->data + at, n->scratch + i * n->a[9], &p);
}
static void attention_fwd(graph *g, node *n) {
    graph_pieces(g, shard_count(g->B), attention_fwd_piece, &(job){g, n});
}
static void attention_bwd_piece(void *arg, size_t i) {
    const job *j = arg;
    const node *n = j->n;
    size_t B = j->g->B, from = shard_start(B, i), at = from * n->a[0] * n->a[1];
    smx_attention p = attention_shape(n, shard_start(B, i + 1) - from);
    smx_attention_bwd(n->in_grad[0] + at, n->in_grad[1] + at, n->in_grad[2] + at, n->out->grad + at,
                      n->in[0]->data + at, n->in[1]->data + at, n->in[2]->data + at, n->out->data + at,
                      n->saved + from * p.H * p.L * 2, n->back_scratch + i * n->a[9], &p);
}
static void attention_bwd(graph *g, node *n) {
    graph_pieces(g, shard_count(g->B), attention_bwd_piece, &(job){g, n});
}
static const op_kind attention = {"attention", attention_fwd, attention_bwd, 7, 1, 0, NULL, NULL};

// Chunks of a[2] rows that fill every sequence and every block of rows: each is a sequence of its own, and rows hang together
// within them only. n->p[1]: the options of one.
static smx_attention chunks_shape(const node *n, size_t rows) {
    return shape_of(n, (const attention_opts *)n->p + 1, rows / n->a[2], n->a[2]);
}
static void chunks_rows(node *n, size_t piece, size_t from, size_t count) {
    const size_t at = from * n->a[1];
    const smx_attention p = chunks_shape(n, count);
    smx_attention_fwd(n->out->data + at, n->saved + from * p.H * 2, n->in[0]->data + at, n->in[1]->data + at,
                      n->in[2]->data + at, n->scratch + piece * n->a[9], &p);
}
static void chunks_bwd_rows(node *n, size_t piece, size_t from, size_t count) {
    const size_t at = from * n->a[1];
    const smx_attention p = chunks_shape(n, count);
    smx_attention_bwd(in_grad_rows(n, 0, from), in_grad_rows(n, 1, from), in_grad_rows(n, 2, from),
                      out_grad_rows(n, from), n->in[0]->data + at, n->in[1]->data + at, n->in[2]->data + at,
                      n->out->data + at, n->saved + from * p.H * 2, n->back_scratch + piece * n->a[9], &p);
}
static void chunks_fwd(graph *g, node *n) { rows_in_units(g, n, n->a[2], chunks_rows); }
static void chunks_bwd(graph *g, node *n) { rows_in_units(g, n, n->a[2], chunks_bwd_rows); }
static const op_kind attention_chunks = {"attention", chunks_fwd, chunks_bwd,  7,
                                         1,           0,          chunks_rows, chunks_bwd_rows};

int chunks_are_rows(const graph *g, size_t M) { return M && M < g->L && g->L % M == 0 && NEAR_ROWS % M == 0; }
// table [H][2L-1] by distance: what chunks of M rows see of it, [H][2M-1].
static const float *table_of_chunk(graph *g, const float *table, size_t H, size_t M) {
    float *t = table ? graph_own(g, H * (2 * M - 1) * sizeof *t) : NULL;
    for (size_t h = 0; t && h < H; h++)
        memcpy(t + h * (2 * M - 1), table + h * (2 * g->L - 1) + g->L - M, (2 * M - 1) * sizeof *t);
    return t;
}

tensor *op_attention(graph *g, tensor *q, tensor *k, tensor *v, const attention_opts *opts) {
    tensor *o = like(g, q);
    const int in_chunks = chunks_are_rows(g, opts->chunk);
    attention_opts *own = graph_own(g, 2 * sizeof *own);
    if (own && in_chunks) {
        own[1] = *opts;
        own[1].chunk = 0;
        own[1].mult = table_of_chunk(g, opts->mult, opts->heads, opts->chunk);
        own[1].bias = table_of_chunk(g, opts->bias, opts->heads, opts->chunk);
    }
    if (own) own[0] = *opts;
    node *n = graph_node(g, in_chunks ? &attention_chunks : &attention, o, 3, (tensor *[]){q, k, v});
    n->p = own;
    n->a[0] = g->L, n->a[1] = last_dim(q), n->a[2] = opts->chunk;
    n->f[0] = (float)(1.0 / md_sqrt((double)(n->a[1] / opts->heads)));
    if (g->failed) return o;
    smx_attention p = attention_shape(n, 1);
    n->saved_n = g->B * p.H * p.L * 2;
    n->a[9] = floats(g->mode == GRAPH_TRAIN ? smx_attention_bwd_scratch_bytes(&p)
                                            : smx_attention_fwd_scratch_bytes(&p));
    n->scratch_n = unit_pieces(rows_of(o), in_chunks ? opts->chunk : g->L) * n->a[9];
    uint64_t M = p.chunk && p.chunk < p.L ? p.chunk : p.L, pairs = p.L * (opts->causal ? M + 1 : 2 * M) / 2;
    n->flops = 4 * g->B * pairs * p.D;
    return o;
}

static int attends(const node *n) { return n->op == &attention || n->op == &attention_chunks; }
size_t op_attention_heads(const graph *g, const tensor *o) {
    const node *n = o->produced_by < 0 ? NULL : &g->nodes[o->produced_by];
    if (!n) return 0;
    return attends(n) ? ((const attention_opts *)n->p)->heads : cat_map_heads(n);
}
void op_attention_map(graph *g, const tensor *o, float *map) {
    const node *n = &g->nodes[o->produced_by];
    if (!attends(n)) {
        cat_map(g, n, map);
        return;
    }
    smx_attention p = attention_shape(n, g->B);
    for (size_t h = 0; h < p.H; h++)
        smx_attention_map(map + h * p.L * p.L, n->in[0]->data, n->in[1]->data, n->scratch, &p, 0, h);
}

const float *table_alibi(graph *g, size_t heads, double scale) {
    size_t L = g->L;
    float *t = graph_own(g, heads * (2 * L - 1) * sizeof *t);
    for (size_t h = 0; t && h < heads; h++) {
        double slope = scale * md_exp(-8.0 * (double)(h + 1) / (double)heads * 0.69314718055994530942);
        for (size_t i = 0; i < 2 * L - 1; i++) {
            double distance = i < L - 1 ? (double)(L - 1 - i) : (double)(i - (L - 1));
            t[h * (2 * L - 1) + i] = (float)(-slope * distance);
        }
    }
    return t;
}

// ---- Rotary positions -----------------------------------------------------------------------------------

static void rope_fwd(graph *g, node *n) {
    smx_rope_fwd(n->out->data, n->in[0]->data, n->p, g->B, g->L, n->a[0], n->a[1], n->a[0], n->a[0]);
}
static void rope_bwd(graph *g, node *n) {
    smx_rope_bwd(n->in_grad[0], n->out->grad, n->p, g->B, g->L, n->a[0], n->a[1], n->a[0], n->a[0]);
}
static const op_kind rope = {"rope", rope_fwd, rope_bwd, 0, 0, 0, NULL, NULL};
tensor *op_rope(graph *g, tensor *x, size_t heads) {
    tensor *y = like(g, x);
    size_t d = last_dim(x) / heads;
    float *cs = graph_own(g, g->L * d * sizeof *cs);
    for (size_t t = 0; cs && t < g->L; t++)
        for (size_t m = 0; m < d / 2; m++) {
            double s, c,
                angle = (double)t * md_exp(-2.0 * (double)m / (double)d * 9.21034037197618273607); // ln 10000
            md_sincos(&s, &c, angle);
            cs[(t * (d / 2) + m) * 2] = (float)c;
            cs[(t * (d / 2) + m) * 2 + 1] = (float)s;
        }
    node *n = graph_node(g, &rope, y, 1, &x);
    n->p = cs;
    n->a[0] = last_dim(x), n->a[1] = heads;
    return y;
}

// ---- Weights --------------------------------------------------------------------------------------------

tensor *weight_matrix(graph *g, const char *name, size_t in, size_t out, init start) {
    return graph_param(g, name, start, 1, 2, (uint32_t[]){(uint32_t)in, (uint32_t)out});
}
tensor *weight_vector(graph *g, const char *name, size_t n, double start) {
    return graph_param(g, name, (init){INIT_CONSTANT, start}, 0, 1, (uint32_t[]){(uint32_t)n});
}

init start_matrix(const config *c, size_t in, size_t out) {
    if (config_is(c, "init", "normal")) return (init){INIT_NORMAL, 0.02};
    if (config_is(c, "init", "xavier")) return (init){INIT_UNIFORM, md_sqrt(6.0 / (double)(in + out))};
    return (init){INIT_NORMAL, 1.0 / md_sqrt((double)in)};
}
init start_output(const config *c, size_t in, size_t out) {
    init s = start_matrix(c, in, out);
    s.scale /= md_sqrt(2.0 * config_real(c, "blocks"));
    return s;
}
