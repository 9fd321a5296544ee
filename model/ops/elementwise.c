// elementwise.c: sums, products and functions of arrays of one shape, row-wise.
#include "pieces.h"
#include "ops.h"

#include "kernels/core/mathd.h"

#include <string.h>

// ---- y = a + b ------------------------------------------------------------------------------------------
static void add_rows(graph *g, node *n, size_t piece, size_t from, size_t count) {
    (void)g, (void)piece;
    const size_t D = last_dim(n->out), at = from * D;
    smx_add(n->out->data + at, n->in[0]->data + at, n->in[1]->data + at, count * D);
}
static void add_bwd_rows(graph *g, node *n, size_t piece, size_t from, size_t count) {
    (void)g, (void)piece;
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
static const op add = {
    .name = "add",
    .forward = rows_forward,
    .backward = rows_backward,
    .can_add = 1,
    .forward_rows = add_rows,
    .backward_rows = add_bwd_rows,
};
tensor *op_add(graph *g, tensor *a, tensor *b) { return graph_node(g, &add, 2, (tensor *[]){a, b}, NULL); }

// ---- y = a b --------------------------------------------------------------------------------------------
static void mul_rows(graph *g, node *n, size_t piece, size_t from, size_t count) {
    (void)g, (void)piece;
    const size_t D = last_dim(n->out), at = from * D;
    smx_mul(n->out->data + at, n->in[0]->data + at, n->in[1]->data + at, count * D);
}
static void mul_bwd_rows(graph *g, node *n, size_t piece, size_t from, size_t count) {
    (void)g, (void)piece;
    const size_t D = last_dim(n->out), at = from * D;
    for (size_t i = 0; i < 2; i++)
        if (n->in_grad[i])
            smx_mul(in_grad_rows(n, i, from), out_grad_rows(n, from), n->in[1 - i]->data + at, count * D);
}
static const op mul = {
    .name = "mul",
    .forward = rows_forward,
    .backward = rows_backward,
    .backward_reads = READS_IN(0) | READS_IN(1),
    .forward_rows = mul_rows,
    .backward_rows = mul_bwd_rows,
};
tensor *op_mul(graph *g, tensor *a, tensor *b) { return graph_node(g, &mul, 2, (tensor *[]){a, b}, NULL); }

// ---- y = max(a, b), b where they are equal, NaN where one is ----------------------------------------------
static int takes_first(float a, float b) { return a > b || a != a; }
static void max_rows(graph *g, node *n, size_t piece, size_t from, size_t count) {
    (void)g, (void)piece;
    const size_t D = last_dim(n->out), at = from * D;
    const float *a = n->in[0]->data + at, *b = n->in[1]->data + at;
    for (size_t i = 0; i < count * D; i++) n->out->data[at + i] = takes_first(a[i], b[i]) ? a[i] : b[i];
}
static void max_bwd_rows(graph *g, node *n, size_t piece, size_t from, size_t count) {
    (void)g, (void)piece;
    const size_t D = last_dim(n->out), at = from * D;
    const float *a = n->in[0]->data + at, *b = n->in[1]->data + at, *dy = out_grad_rows(n, from);
    for (size_t k = 0; k < 2; k++) {
        float *dx = in_grad_rows(n, k, from);
        for (size_t i = 0; dx && i < count * D; i++)
            dx[i] = takes_first(a[i], b[i]) == (k == 0) ? dy[i] : 0.0f;
    }
}
static const op max = {
    .name = "max",
    .forward = rows_forward,
    .backward = rows_backward,
    .backward_reads = READS_IN(0) | READS_IN(1),
    .forward_rows = max_rows,
    .backward_rows = max_bwd_rows,
};
tensor *op_max(graph *g, tensor *a, tensor *b) { return graph_node(g, &max, 2, (tensor *[]){a, b}, NULL); }

// ---- y = s x --------------------------------------------------------------------------------------------
typedef struct {
    float factor;
} scale_attributes;
static void scale_rows(graph *g, node *n, size_t piece, size_t from, size_t count) {
    (void)g, (void)piece;
    const size_t D = last_dim(n->out), at = from * D;
    smx_scale(n->out->data + at, n->in[0]->data + at, ((const scale_attributes *)n->attributes)->factor,
              count * D);
}
static void scale_bwd_rows(graph *g, node *n, size_t piece, size_t from, size_t count) {
    (void)g, (void)piece;
    if (n->in_grad[0])
        smx_scale(in_grad_rows(n, 0, from), out_grad_rows(n, from),
                  ((const scale_attributes *)n->attributes)->factor, count * last_dim(n->out));
}
static const op scale = {
    .name = "scale",
    .attributes = sizeof(scale_attributes),
    .forward = rows_forward,
    .backward = rows_backward,
    .forward_rows = scale_rows,
    .backward_rows = scale_bwd_rows,
};
tensor *op_scale(graph *g, tensor *x, double factor) {
    return graph_node(g, &scale, 1, &x, &(scale_attributes){(float)factor});
}

// ---- y = gate a + (1 - gate) b --------------------------------------------------------------------------
static void gate_rows(graph *g, node *n, size_t piece, size_t from, size_t count) {
    (void)g, (void)piece;
    const size_t D = last_dim(n->out), at = from * D;
    smx_gate_fwd(n->out->data + at, n->in[0]->data + at, n->in[1]->data + at, n->in[2]->data + at, count * D);
}
static void gate_bwd_rows(graph *g, node *n, size_t piece, size_t from, size_t count) {
    (void)g, (void)piece;
    const size_t D = last_dim(n->out), at = from * D;
    smx_gate_bwd(in_grad_rows(n, 0, from), in_grad_rows(n, 1, from), in_grad_rows(n, 2, from),
                 out_grad_rows(n, from), n->in[0]->data + at, n->in[1]->data + at, n->in[2]->data + at,
                 count * D);
}
static const op gate = {
    .name = "gate",
    .forward = rows_forward,
    .backward = rows_backward,
    .backward_reads = READS_IN(0) | READS_IN(1) | READS_IN(2),
    .forward_rows = gate_rows,
    .backward_rows = gate_bwd_rows,
};
tensor *op_gate(graph *g, tensor *by, tensor *a, tensor *b) {
    return graph_node(g, &gate, 3, (tensor *[]){by, a, b}, NULL);
}

// ---- Functions of one array -----------------------------------------------------------------------------
// The entry, then its kernels; backward's takes x or y, whichever the entry says that it reads.
typedef struct {
    op op;
    void (*fwd)(float *y, const float *x, size_t n);
    void (*bwd)(float *dx, const float *dy, const float *x_or_y, size_t n);
} function;

static void function_rows(graph *g, node *n, size_t piece, size_t from, size_t count) {
    (void)g, (void)piece;
    const size_t D = last_dim(n->out);
    ((const function *)n->op)->fwd(n->out->data + from * D, n->in[0]->data + from * D, count * D);
}
static void function_bwd_rows(graph *g, node *n, size_t piece, size_t from, size_t count) {
    (void)g, (void)piece;
    const size_t D = last_dim(n->out);
    const float *seen = n->op->backward_reads & READS_OUT ? n->out->data : n->in[0]->data;
    if (n->in_grad[0])
        ((const function *)n->op)
            ->bwd(in_grad_rows(n, 0, from), out_grad_rows(n, from), seen + from * D, count * D);
}
#define FUNCTION(NAME, READS)                                                                                \
    {                                                                                                        \
        .name = NAME, .forward = rows_forward, .backward = rows_backward, .backward_reads = READS,           \
        .forward_rows = function_rows, .backward_rows = function_bwd_rows                                    \
    }
static const function gelu = {FUNCTION("gelu", READS_IN(0)), smx_gelu_fwd, smx_gelu_bwd};
static const function silu = {FUNCTION("silu", READS_IN(0)), smx_silu_fwd, smx_silu_bwd};
static const function sigmoid = {FUNCTION("sigmoid", READS_OUT), smx_sigmoid_fwd, smx_sigmoid_bwd};
static const function hyperbolic = {FUNCTION("tanh", READS_OUT), smx_tanh_fwd, smx_tanh_bwd};
static const function softplus = {FUNCTION("softplus", READS_IN(0)), smx_softplus_fwd, smx_softplus_bwd};
static const function exponential = {FUNCTION("exp", READS_OUT), smx_exp_fwd, smx_mul}; // dx = dy y
static void log_bwd(float *dx, const float *dy, const float *y, size_t n) {             // dy / x = dy e^-y
    smx_scale(dx, y, -1.0f, n);
    smx_exp_fwd(dx, dx, n);
    smx_mul(dx, dx, dy, n);
}
static const function logarithm = {FUNCTION("log", READS_OUT), smx_log_fwd, log_bwd};
// sin, and dx = dy cos x: some numbers at a time, for the half that is not asked for.
enum { SINES = 64 };
static void sin_fwd(float *y, const float *x, size_t n) {
    float rest[SINES];
    for (size_t i = 0; i < n; i += SINES) smx_sincos_fwd(y + i, rest, x + i, n - i < SINES ? n - i : SINES);
}
static void sin_bwd(float *dx, const float *dy, const float *x, size_t n) {
    float sine[SINES], cosine[SINES];
    for (size_t i = 0; i < n; i += SINES) {
        const size_t some = n - i < SINES ? n - i : SINES;
        smx_sincos_fwd(sine, cosine, x + i, some);
        smx_mul(dx + i, dy + i, cosine, some);
    }
}
static const function sine = {FUNCTION("sin", READS_IN(0)), sin_fwd, sin_bwd};
static void cos_fwd(float *y, const float *x, size_t n) {
    float rest[SINES];
    for (size_t i = 0; i < n; i += SINES) smx_sincos_fwd(rest, y + i, x + i, n - i < SINES ? n - i : SINES);
}
static void cos_bwd(float *dx, const float *dy, const float *x, size_t n) {
    float sine[SINES], cosine[SINES];
    for (size_t i = 0; i < n; i += SINES) {
        const size_t some = n - i < SINES ? n - i : SINES;
        smx_sincos_fwd(sine, cosine, x + i, some);
        for (size_t k = i; k < i + some; k++) dx[k] = -dy[k] * sine[k - i];
    }
}
static const function cosine = {FUNCTION("cos", READS_IN(0)), cos_fwd, cos_bwd};
// Exact to the last bit wherever they are computed: plain loops. Slopes at 0 are 0.
static void relu_fwd(float *y, const float *x, size_t n) {
    for (size_t i = 0; i < n; i++) y[i] = x[i] <= 0.0f ? 0.0f : x[i];
}
static void relu_bwd(float *dx, const float *dy, const float *x, size_t n) {
    for (size_t i = 0; i < n; i++) dx[i] = x[i] <= 0.0f ? 0.0f : dy[i];
}
static const function relu = {FUNCTION("relu", READS_IN(0)), relu_fwd, relu_bwd};
static void abs_fwd(float *y, const float *x, size_t n) {
    for (size_t i = 0; i < n; i++) y[i] = x[i] < 0.0f ? -x[i] : x[i] + 0.0f; // (-0 is 0)
}
static void abs_bwd(float *dx, const float *dy, const float *x, size_t n) {
    for (size_t i = 0; i < n; i++) dx[i] = x[i] == 0.0f ? 0.0f : x[i] < 0.0f ? -dy[i] : dy[i];
}
static const function size = {FUNCTION("abs", READS_IN(0)), abs_fwd, abs_bwd};
static void sqrt_fwd(float *y, const float *x, size_t n) {
    for (size_t i = 0; i < n; i++) y[i] = (float)md_sqrt((double)x[i]); // (rounds as a float's root does)
}
static void sqrt_bwd(float *dx, const float *dy, const float *y, size_t n) {
    for (size_t i = 0; i < n; i++) dx[i] = y[i] == 0.0f ? 0.0f : dy[i] * 0.5f / y[i];
}
static const function root = {FUNCTION("sqrt", READS_OUT), sqrt_fwd, sqrt_bwd};
static const function elu1 = {FUNCTION("elu1", READS_OUT), smx_elu1_fwd, smx_elu1_bwd};

tensor *op_gelu(graph *g, tensor *x) { return graph_node(g, &gelu.op, 1, &x, NULL); }
tensor *op_silu(graph *g, tensor *x) { return graph_node(g, &silu.op, 1, &x, NULL); }
tensor *op_sigmoid(graph *g, tensor *x) { return graph_node(g, &sigmoid.op, 1, &x, NULL); }
tensor *op_tanh(graph *g, tensor *x) { return graph_node(g, &hyperbolic.op, 1, &x, NULL); }
tensor *op_softplus(graph *g, tensor *x) { return graph_node(g, &softplus.op, 1, &x, NULL); }
tensor *op_sin(graph *g, tensor *x) { return graph_node(g, &sine.op, 1, &x, NULL); }
tensor *op_cos(graph *g, tensor *x) { return graph_node(g, &cosine.op, 1, &x, NULL); }
tensor *op_relu(graph *g, tensor *x) { return graph_node(g, &relu.op, 1, &x, NULL); }
tensor *op_abs(graph *g, tensor *x) { return graph_node(g, &size.op, 1, &x, NULL); }
tensor *op_sqrt(graph *g, tensor *x) { return graph_node(g, &root.op, 1, &x, NULL); }
tensor *op_elu1(graph *g, tensor *x) { return graph_node(g, &elu1.op, 1, &x, NULL); }
tensor *op_log(graph *g, tensor *x) { return graph_node(g, &logarithm.op, 1, &x, NULL); }
tensor *op_exp(graph *g, tensor *x) { return graph_node(g, &exponential.op, 1, &x, NULL); }
