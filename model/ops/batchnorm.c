// batchnorm.c: columns scaled to mean 0 and variance 1 over all rows of the batch (Ioffe & Szegedy 2015,
// Alg. 1), outside steps of training by running statistics (Alg. 2). A step leaves the batch's mean and
// unbiased variance in params.batch, which the running ones follow once the step is taken (params_follow).
#include "pieces.h"
#include "ops.h"

#include <string.h>

#include "kernels/core/mathd.h"

static const float eps = 1e-5f;

// in: x, gain, bias, running mean, running variance. saved [5][D]: mean, variance and 1 / deviation that
// forward took; backward's sums of dy and of dy xhat.
enum { MEAN, VARIANCE, SCALE, SUM, SUM_X, SAVED };
static float *saved_of(const node *n, int which) { return n->saved + (size_t)which * last_dim(n->out); }

static void scales(float *scale, const float *variance, size_t n) {
    for (size_t c = 0; c < n; c++) scale[c] = (float)(1.0 / md_sqrt((double)variance[c] + (double)eps));
}
static void normalise(float *y, const float *x, const float *mean, const float *scale, const float *gain,
                      const float *bias, size_t n) {
    for (size_t c = 0; c < n; c++) y[c] = (x[c] - mean[c]) * scale[c] * gain[c] + bias[c];
}

// ---- Sums over rows: pieces of rows, in each blocks of SMX_KC, all in order -------------------------------
// What a row adds to sums [SUM's width].
typedef void row_term(const node *n, float *sums, size_t row);
static void mean_term(const node *n, float *sums, size_t row) {
    const size_t D = last_dim(n->out);
    const float *x = n->in[0]->data + row * D;
    for (size_t c = 0; c < D; c++) sums[c] += x[c];
}
static void variance_term(const node *n, float *sums, size_t row) {
    const size_t D = last_dim(n->out);
    const float *x = n->in[0]->data + row * D, *mean = saved_of(n, MEAN);
    for (size_t c = 0; c < D; c++) sums[c] += (x[c] - mean[c]) * (x[c] - mean[c]);
}
static void gradient_term(const node *n, float *sums, size_t row) {
    const size_t D = last_dim(n->out);
    const float *x = n->in[0]->data + row * D, *dy = n->out->grad + row * D;
    const float *mean = saved_of(n, MEAN), *scale = saved_of(n, SCALE);
    for (size_t c = 0; c < D; c++) {
        sums[c] += dy[c];
        sums[D + c] += dy[c] * ((x[c] - mean[c]) * scale[c]);
    }
}
// A piece's sums [2][D], then those of its open block.
static void sum_piece(const node *n, float *sums, size_t from, size_t count, row_term *term) {
    const size_t D = last_dim(n->out);
    float *open = sums + n->sums_n;
    memset(sums, 0, n->piece_n * sizeof *sums);
    for (size_t i = 0; i < count; i++) {
        term(n, open, from + i);
        if ((i + 1) % SMX_KC && i + 1 < count) continue;
        for (size_t c = 0; c < 2 * D; c++) sums[c] += open[c], open[c] = 0.0f;
    }
}
static void mean_piece(graph *g, node *n, size_t piece, size_t from, size_t count) {
    (void)g;
    sum_piece(n, n->scratch + piece * n->piece_n, from, count, mean_term);
}
static void variance_piece(graph *g, node *n, size_t piece, size_t from, size_t count) {
    (void)g;
    sum_piece(n, n->scratch + piece * n->piece_n, from, count, variance_term);
}
static void gradient_piece(graph *g, node *n, size_t piece, size_t from, size_t count) {
    (void)g;
    sum_piece(n, n->back_scratch + piece * n->piece_n, from, count, gradient_term);
}
// `width` sums of all pieces of so many rows, in order.
static void total(graph *g, node *n, float *sums, size_t width, size_t rows, const float *scratch,
                  op_part *piece) {
    in_pieces(g, n, rows, ROW_UNIT, piece);
    memset(sums, 0, width * sizeof *sums);
    for (size_t i = 0; i < pieces_of(rows, ROW_UNIT); i++)
        smx_axpy(sums, scratch + i * n->piece_n, 1.0f, width);
}

// ---- A graph that trains ----------------------------------------------------------------------------------
static size_t counted_rows(const graph *g, const node *n) {
    return rows_of(n->out) / g->B * (g->step ? g->given : g->B);
}
static void take_statistics(graph *g, node *n) {
    const size_t D = last_dim(n->out), rows = counted_rows(g, n);
    float *mean = saved_of(n, MEAN), *variance = saved_of(n, VARIANCE);
    float *batch_mean = g->params->batch + n->in[3]->weight->batch,
          *batch_variance = g->params->batch + n->in[4]->weight->batch;
    total(g, n, mean, D, rows, n->scratch, mean_piece);
    for (size_t c = 0; c < D; c++) batch_mean[c] = mean[c] /= (float)rows;
    total(g, n, variance, D, rows, n->scratch, variance_piece);
    for (size_t c = 0; c < D; c++) {
        batch_variance[c] = variance[c] / (float)(rows > 1 ? rows - 1 : 1);
        variance[c] /= (float)rows;
    }
}
static void train_rows(graph *g, node *n, size_t piece, size_t from, size_t count) {
    (void)g, (void)piece;
    const size_t D = last_dim(n->out);
    for (size_t row = from; row < from + count; row++)
        normalise(n->out->data + row * D, n->in[0]->data + row * D, saved_of(n, MEAN), saved_of(n, SCALE),
                  n->in[1]->data, n->in[2]->data, D);
}
static void train_fwd(graph *g, node *n) {
    const size_t D = last_dim(n->out);
    if (g->step) {
        take_statistics(g, n);
    } else {
        memcpy(saved_of(n, MEAN), n->in[3]->data, D * sizeof(float));
        memcpy(saved_of(n, VARIANCE), n->in[4]->data, D * sizeof(float));
    }
    scales(saved_of(n, SCALE), saved_of(n, VARIANCE), D);
    in_pieces(g, n, rows_of(n->out), ROW_UNIT, train_rows);
}
// dx = gain scale (dy - (sum dy + xhat sum dy xhat) / rows); by running statistics, which x does not move,
// gain scale dy.
static void train_dx_rows(graph *g, node *n, size_t piece, size_t from, size_t count) {
    (void)piece;
    const size_t D = last_dim(n->out), rows = counted_rows(g, n);
    const float *gain = n->in[1]->data, *mean = saved_of(n, MEAN), *scale = saved_of(n, SCALE);
    const float *sum = saved_of(n, SUM), *sum_x = saved_of(n, SUM_X), share = 1.0f / (float)rows;
    for (size_t row = from; row < from + count; row++) {
        float *dx = n->in_grad[0] + row * D;
        const float *dy = n->out->grad + row * D, *x = n->in[0]->data + row * D;
        if (row >= rows)
            memset(dx, 0, D * sizeof *dx);
        else if (g->step)
            for (size_t c = 0; c < D; c++) {
                const float xhat = (x[c] - mean[c]) * scale[c];
                dx[c] = gain[c] * scale[c] * (dy[c] - (sum[c] + xhat * sum_x[c]) * share);
            }
        else
            for (size_t c = 0; c < D; c++) dx[c] = gain[c] * scale[c] * dy[c];
    }
}
static void train_bwd(graph *g, node *n) {
    const size_t D = last_dim(n->out);
    total(g, n, saved_of(n, SUM), 2 * D, counted_rows(g, n), n->back_scratch, gradient_piece);
    smx_axpy(n->in_grad[1], saved_of(n, SUM_X), 1.0f, D);
    smx_axpy(n->in_grad[2], saved_of(n, SUM), 1.0f, D);
    if (n->in_grad[0]) in_pieces(g, n, rows_of(n->out), ROW_UNIT, train_dx_rows);
}
static void train_size(graph *g, node *n) {
    (void)g;
    const size_t D = last_dim(n->out);
    n->saved_n = SAVED * D;
    scratch_size(n, SHARDS, 2 * D, size_mul(2, D, sizeof(float)));
}
static const op batchnorm = {
    .name = "batchnorm",
    .size = train_size,
    .forward = train_fwd,
    .backward = train_bwd,
    .backward_reads = READS_IN(0) | READS_IN(1),
};

// ---- Others: by the running statistics, row by row --------------------------------------------------------
static void running_rows(graph *g, node *n, size_t piece, size_t from, size_t count) {
    (void)g, (void)piece;
    enum { SOME = 64 };
    const size_t D = last_dim(n->out);
    float scale[SOME];
    for (size_t c = 0; c < D; c += SOME) {
        const size_t some = D - c < SOME ? D - c : SOME;
        scales(scale, n->in[4]->data + c, some);
        for (size_t row = from; row < from + count; row++)
            normalise(n->out->data + row * D + c, n->in[0]->data + row * D + c, n->in[3]->data + c, scale,
                      n->in[1]->data + c, n->in[2]->data + c, some);
    }
}
static const op running = {
    .name = "batchnorm",
    .forward = rows_forward,
    .forward_rows = running_rows,
};

tensor *op_batchnorm(graph *g, tensor *x, tensor *gain, tensor *bias, tensor *mean, tensor *variance) {
    return graph_node(g, g->mode == GRAPH_TRAIN ? &batchnorm : &running, 5,
                      (tensor *[]){x, gain, bias, mean, variance}, NULL);
}
