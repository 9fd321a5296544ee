// norm.c: LayerNorm, RMSNorm, and rows of unit length.
#include "pieces.h"
#include "ops.h"

static const float eps = 1e-5f;

// Backward takes a piece's rows in blocks of SMX_KC: where dx is added to a gradient that is there,
// it is made in scratch first.
static size_t block_rows(size_t row, size_t end) { return end - row < SMX_KC ? end - row : SMX_KC; }
static float *made_dx(const node *n, size_t piece, float *dx) {
    return n->adds[0] ? back_scratch_of(n, piece) : dx;
}
static void scratch_of_norm(graph *g, node *n, size_t parts) {
    const size_t D = last_dim(n->out), N = rows_of(n->out), rows = block_rows(0, N);
    scratch_size(n, SHARDS, 2 * D, size_mul(rows, D, sizeof(float)));
    open_sums(g, n, N * parts, ROW_UNIT * parts, n->sums_n);
}

// ---- LayerNorm: saved: mean and 1 / deviation of each row -------------------------------------------------
static void layernorm_rows(graph *g, node *n, size_t piece, size_t from, size_t count) {
    (void)g, (void)piece;
    const size_t D = last_dim(n->out);
    smx_layernorm_fwd(n->out->data + from * D, n->saved + from * 2, n->in[0]->data + from * D, n->in[1]->data,
                      n->in[2]->data, count, D, eps);
}
static void layernorm_bwd_part(graph *g, node *n, size_t piece, float *sums, size_t from, size_t count) {
    (void)g;
    const size_t D = last_dim(n->out);
    for (size_t row = from, end = from + count, rows; row < end; row += rows) {
        rows = block_rows(row, end);
        float *dx = n->in_grad[0] + row * D, *made = made_dx(n, piece, dx);
        smx_layernorm_bwd(made, sums, sums + D, n->out->grad + row * D, n->in[0]->data + row * D,
                          n->in[1]->data, n->saved + row * 2, rows, D);
        if (made != dx) smx_add(dx, dx, made, rows * D);
    }
}
static void layernorm_bwd(graph *g, node *n) {
    const size_t pieces = rows_in_sums(g, n, layernorm_bwd_part);
    add_sums(n, 1, pieces, 0);
    add_sums(n, 2, pieces, last_dim(n->out));
}
static void layernorm_size(graph *g, node *n) {
    n->saved_n = size_mul(2, rows_of(n->out));
    scratch_of_norm(g, n, 1);
}
static const op layernorm = {
    .name = "layernorm",
    .size = layernorm_size,
    .forward = rows_forward,
    .backward = layernorm_bwd,
    .backward_reads = READS_IN(0) | READS_IN(1),
    .can_add = 1,
    .forward_rows = layernorm_rows,
};
tensor *op_layernorm(graph *g, tensor *x, tensor *gain, tensor *b) {
    return graph_node(g, &layernorm, 3, (tensor *[]){x, gain, b}, NULL);
}

// ---- RMSNorm: saved: 1 / root mean square of each row, or of each of its parts ----------------------------
typedef struct {
    size_t parts;
} parts_attributes;
static size_t parts_of(const node *n) { return ((const parts_attributes *)n->attributes)->parts; }

static void rmsnorm_rows(graph *g, node *n, size_t piece, size_t from, size_t count) {
    (void)g, (void)piece;
    const size_t H = parts_of(n), d = last_dim(n->out) / H, at = from * H;
    smx_rmsnorm_fwd(n->out->data + at * d, n->saved + at, n->in[0]->data + at * d, n->in[1]->data, count * H,
                    d, eps);
}
static void rmsnorm_bwd_part(graph *g, node *n, size_t piece, float *sums, size_t from, size_t count) {
    (void)g;
    const size_t d = last_dim(n->out) / parts_of(n);
    for (size_t row = from, end = from + count, rows; row < end; row += rows) {
        rows = block_rows(row, end);
        float *dx = n->in_grad[0] + row * d, *made = made_dx(n, piece, dx);
        smx_rmsnorm_bwd(made, sums, n->out->grad + row * d, n->in[0]->data + row * d, n->in[1]->data,
                        n->saved + row, rows, d);
        if (made != dx) smx_add(dx, dx, made, rows * d);
    }
}
static void rmsnorm_bwd(graph *g, node *n) { add_sums(n, 1, rows_in_sums(g, n, rmsnorm_bwd_part), 0); }
static void rmsnorm_size(graph *g, node *n) {
    n->saved_n = size_mul(rows_of(n->out), parts_of(n));
    scratch_of_norm(g, n, parts_of(n));
}
static const op rmsnorm = {
    .name = "rmsnorm",
    .attributes = sizeof(parts_attributes),
    .size = rmsnorm_size,
    .forward = rows_forward,
    .backward = rmsnorm_bwd,
    .backward_reads = READS_IN(0) | READS_IN(1),
    .can_add = 1,
    .forward_rows = rmsnorm_rows,
};
tensor *op_rmsnorm(graph *g, tensor *x, tensor *gain, size_t parts) {
    return graph_node(g, &rmsnorm, 2, (tensor *[]){x, gain}, &(parts_attributes){parts});
}
static void fill_ones(float *data, const uint32_t *shape) {
    for (size_t i = 0; i < shape[0]; i++) data[i] = 1.0f;
}
tensor *op_rms(graph *g, tensor *x, size_t parts) {
    const uint32_t d = (uint32_t)(last_dim(x) / parts);
    return op_rmsnorm(g, x, op_constant(g, fill_ones, 1, &d), parts);
}

// ---- Rows of unit length, or parts of them: saved: 1 / length of each -------------------------------------
static void unitnorm_fwd(graph *g, node *n) {
    (void)g;
    const size_t H = parts_of(n);
    smx_unitnorm_fwd(n->out->data, n->saved, n->in[0]->data, rows_of(n->out) * H, last_dim(n->out) / H);
}
static void unitnorm_bwd(graph *g, node *n) {
    (void)g;
    const size_t H = parts_of(n);
    smx_unitnorm_bwd(n->in_grad[0], n->out->grad, n->in[0]->data, n->saved, rows_of(n->out) * H,
                     last_dim(n->out) / H);
}
static void unitnorm_size(graph *g, node *n) {
    (void)g;
    n->saved_n = size_mul(rows_of(n->out), parts_of(n));
}
static op_reach unitnorm_reach(const graph *g, const node *n) {
    (void)g, (void)n;
    return (op_reach){0, 1};
}
static const op unitnorm = {
    .name = "unitnorm",
    .reach = unitnorm_reach,
    .attributes = sizeof(parts_attributes),
    .size = unitnorm_size,
    .forward = unitnorm_fwd,
    .backward = unitnorm_bwd,
    .backward_reads = READS_IN(0),
};
tensor *op_unitnorm(graph *g, tensor *x, size_t parts) {
    return graph_node(g, &unitnorm, 1, &x, &(parts_attributes){parts});
}
