// broadcast.c: weights that meet every row: a bias, a gain with a bias, a weight repeated.
#include "pieces.h"
#include "ops.h"

#include <string.h>

#include "kernels/core/mathd.h"

// ---- y = x + b ------------------------------------------------------------------------------------------
// The numbers of b that are used: of a longer table of positions its first rows.
static size_t bias_width(const graph *g, const node *n) {
    const tensor *x = n->in[0], *b = n->in[1];
    return b->rank == 2 ? g->L * last_dim(x) : b->n < x->n ? b->n : x->n;
}
static void bias_fwd(graph *g, node *n) {
    const size_t width = bias_width(g, n);
    smx_bias_fwd(n->out->data, n->in[0]->data, n->in[1]->data, n->out->n / width, width);
}
static void bias_bwd_part(graph *g, node *n, size_t piece, float *sums, size_t from, size_t count) {
    (void)piece;
    const size_t width = bias_width(g, n);
    smx_bias_bwd(sums ? sums : n->in_grad[1], n->out->grad + from * width, count, width);
}
static void bias_bwd(graph *g, node *n) {
    if (n->in_grad[0]) memcpy(n->in_grad[0], n->out->grad, n->out->n * sizeof(float));
    begin_sum(g, n, 1);
    if (n->in_grad[1]) rows_in_one_sum(g, n, bias_bwd_part);
}
static void bias_size(graph *g, node *n) { open_sums(g, n, n->out->n / bias_width(g, n), 0, n->in[1]->n); }
static void bias_push(graph *g, node *n, float *state, size_t at, size_t rows) {
    (void)state;
    const size_t D = last_dim(n->out), size = rows * D;
    const int positions = n->in[1]->rank == 2;
    for (size_t b = 0; b < g->B; b++)
        smx_bias_fwd(n->out->data + b * size, n->in[0]->data + b * size,
                     n->in[1]->data + (positions ? at * D : 0), positions ? 1 : rows, positions ? size : D);
}
static int bias_grows(const graph *g, const node *n) {
    (void)g;
    return n->in[1]->rank == 2;
}
static const op bias = {
    .name = "bias",
    .size = bias_size,
    .forward = bias_fwd,
    .backward = bias_bwd,
    .push = bias_push,
    .grows = bias_grows,
};
tensor *op_bias(graph *g, tensor *x, tensor *b) { return graph_node(g, &bias, 2, (tensor *[]){x, b}, NULL); }

// ---- Sinusoidal positions (Vaswani et al.) ----------------------------------------------------------------
// Column 2m is sin(t / 10000^(2m/D)), column 2m+1 its cosine.
static void sinusoids(float *data, size_t from, size_t rows, size_t D) {
    for (size_t c = 0; c < D; c++) {
        const double rate = md_exp(-(double)(c / 2 * 2) / (double)D * 9.21034037197618273607); // ln 10000
        for (size_t t = 0; t < rows; t++) {
            double s, k;
            md_sincos(&s, &k, (double)(from + t) * rate);
            data[t * D + c] = (float)(c % 2 ? k : s);
        }
    }
}
static void fill_sinusoids(float *data, const uint32_t *shape) { sinusoids(data, 0, shape[0], shape[1]); }
static void sinusoids_push(graph *g, node *n, float *state, size_t at, size_t rows) {
    (void)state;
    const size_t D = last_dim(n->out), size = rows * D;
    sinusoids(n->scratch, at, rows, D);
    for (size_t b = 0; b < g->B; b++)
        smx_bias_fwd(n->out->data + b * size, n->in[0]->data + b * size, n->scratch, 1, size);
}
static void sinusoids_size(graph *g, node *n) {
    scratch_size(n, 1, 0, size_mul(g->span, last_dim(n->out), sizeof(float)));
}
static int sinusoids_grow(const graph *g, const node *n) {
    (void)g, (void)n;
    return 1; // shorter ones have a table
}
static const op stream_sinusoids = {
    .name = "bias",
    .size = sinusoids_size,
    .push = sinusoids_push,
    .grows = sinusoids_grow,
};
tensor *op_sinusoids(graph *g, tensor *x) {
    const uint32_t D = x->shape[x->rank - 1];
    if (g->mode == GRAPH_STREAM && size_mul(g->L, D) > STREAM_TABLE)
        return graph_node(g, &stream_sinusoids, 1, &x, NULL);
    return op_bias(g, x, op_constant(g, fill_sinusoids, 2, (uint32_t[]){(uint32_t)g->L, D}));
}

// ---- y = gain x + bias ----------------------------------------------------------------------------------
static void affine_rows(graph *g, node *n, size_t piece, size_t from, size_t count) {
    (void)g, (void)piece;
    const size_t D = last_dim(n->out), at = from * D;
    smx_affine_fwd(n->out->data + at, n->in[0]->data + at, n->in[1]->data, n->in[2]->data, count, D);
}
static void affine_bwd_part(graph *g, node *n, size_t piece, float *sums, size_t from, size_t count) {
    (void)g, (void)piece;
    const size_t D = last_dim(n->out), at = from * D;
    smx_affine_bwd(n->in_grad[0] + at, sums, sums + D, n->out->grad + at, n->in[0]->data + at, n->in[1]->data,
                   count, D);
}
static void affine_bwd(graph *g, node *n) {
    const size_t pieces = rows_in_sums(g, n, affine_bwd_part);
    for (size_t i = 1; i < 3; i++) begin_sum(g, n, i);
    add_sums(n, 1, pieces, 0);
    add_sums(n, 2, pieces, last_dim(n->out));
}
static void affine_size(graph *g, node *n) {
    scratch_size(n, SHARDS, 2 * last_dim(n->out), 0);
    open_sums(g, n, rows_of(n->out), ROW_UNIT, n->sums_n);
}
static const op affine = {
    .name = "affine",
    .size = affine_size,
    .forward = rows_forward,
    .backward = affine_bwd,
    .backward_reads = READS_IN(0) | READS_IN(1),
    .forward_rows = affine_rows,
};
tensor *op_affine(graph *g, tensor *x, tensor *gain, tensor *b) {
    return graph_node(g, &affine, 3, (tensor *[]){x, gain, b}, NULL);
}
static void fill_zeros(float *data, const uint32_t *shape) {
    for (size_t i = 0; i < shape[0]; i++) data[i] = 0.0f;
}
tensor *op_gain(graph *g, tensor *x, tensor *gain) {
    return op_affine(g, x, gain, op_constant(g, fill_zeros, 1, &x->shape[x->rank - 1]));
}

// ---- A weight, once for each bin of each sequence -------------------------------------------------------
typedef struct {
    size_t times;
} repeat_attributes;
static size_t copies(const graph *g, const node *n) {
    return g->B * ((const repeat_attributes *)n->attributes)->times;
}
static uint32_t repeat_shape(const graph *g, const node *n, uint32_t *shape) {
    const tensor *w = n->in[0];
    const uint32_t last = w->shape[w->rank - 1];
    shape[0] = (uint32_t)g->B;
    shape[1] = (uint32_t)((const repeat_attributes *)n->attributes)->times;
    shape[2] = (uint32_t)(w->n / last);
    shape[3] = last;
    return 4;
}
static void repeat_fwd(graph *g, node *n) {
    const size_t size = n->in[0]->n;
    for (size_t i = 0; i < copies(g, n); i++)
        memcpy(n->out->data + i * size, n->in[0]->data, size * sizeof(float));
}
static void repeat_push(graph *g, node *n, float *state, size_t at, size_t rows) {
    (void)state, (void)at;
    const size_t size = n->in[0]->n;
    for (size_t i = 0; i < g->B * rows; i++)
        memcpy(n->out->data + i * size, n->in[0]->data, size * sizeof(float));
}
static void repeat_bwd_part(graph *g, node *n, size_t piece, float *sums, size_t from, size_t count) {
    (void)g, (void)piece;
    const size_t size = n->in[0]->n;
    smx_bias_bwd(sums ? sums : n->in_grad[0], n->out->grad + from * size, count, size);
}
static void repeat_bwd(graph *g, node *n) {
    if (n->in_grad[0]) rows_in_one_sum(g, n, repeat_bwd_part);
}
static void repeat_size(graph *g, node *n) { open_sums(g, n, copies(g, n), 0, n->in[0]->n); }
static const op repeat = {
    .name = "repeat",
    .attributes = sizeof(repeat_attributes),
    .shape = repeat_shape,
    .size = repeat_size,
    .enters = 1,
    .push = repeat_push,
    .forward = repeat_fwd,
    .backward = repeat_bwd,
};
tensor *op_repeat(graph *g, tensor *w, size_t rows) {
    const size_t times = g->mode == GRAPH_STREAM ? g->span : g->L / rows;
    return graph_node(g, &repeat, 1, &w, &(repeat_attributes){times});
}

// ---- A weight squared, number by number -------------------------------------------------------------------
static void square_fwd(graph *g, node *n) {
    (void)g;
    smx_mul(n->out->data, n->in[0]->data, n->in[0]->data, n->out->n);
}
static void square_bwd(graph *g, node *n) {
    (void)g;
    if (!n->in_grad[0]) return;
    smx_mul(n->back_scratch, n->out->grad, n->in[0]->data, n->out->n);
    smx_axpy(n->in_grad[0], n->back_scratch, 2.0f, n->out->n);
}
static void square_size(graph *g, node *n) {
    (void)g;
    scratch_size(n, 1, n->out->n, 0);
}
static const op square = {
    .name = "square",
    .size = square_size,
    .forward = square_fwd,
    .backward = square_bwd,
    .backward_reads = READS_IN(0),
};
tensor *op_square(graph *g, tensor *w) { return graph_node(g, &square, 1, &w, NULL); }

// ---- Each number for so many columns --------------------------------------------------------------------
static uint32_t spread_shape(const graph *g, const node *n, uint32_t *shape) {
    (void)g;
    const tensor *x = n->in[0];
    memcpy(shape, x->shape, sizeof x->shape);
    shape[x->rank - 1] *= (uint32_t)((const repeat_attributes *)n->attributes)->times;
    return x->rank;
}
static void spread_rows(graph *g, node *n, size_t piece, size_t from, size_t count) {
    (void)g, (void)piece;
    const size_t D = last_dim(n->out), times = ((const repeat_attributes *)n->attributes)->times;
    for (size_t i = from * D; i < (from + count) * D; i++) n->out->data[i] = n->in[0]->data[i / times];
}
// (To a weight's gradient it adds, another tensor's it writes.)
static void spread_bwd_rows(graph *g, node *n, size_t piece, size_t from, size_t count) {
    (void)g, (void)piece;
    const size_t D = last_dim(n->out), times = ((const repeat_attributes *)n->attributes)->times;
    float *dx = in_grad_rows(n, 0, from);
    const float *dy = out_grad_rows(n, from);
    for (size_t i = 0; dx && i < count * D / times; i++) {
        float sum = n->in[0]->weight ? dx[i] : 0.0f;
        for (size_t k = 0; k < times; k++) sum += dy[i * times + k];
        dx[i] = sum;
    }
}
static const op spread = {
    .name = "spread",
    .attributes = sizeof(repeat_attributes),
    .shape = spread_shape,
    .forward = rows_forward,
    .backward = rows_backward,
    .forward_rows = spread_rows,
    .backward_rows = spread_bwd_rows,
};
tensor *op_spread(graph *g, tensor *w, size_t times) {
    return graph_node(g, &spread, 1, &w, &(repeat_attributes){times});
}
