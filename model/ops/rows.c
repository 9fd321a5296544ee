// rows.c: rows moved in time, columns taken and joined, the mean so far. Pieces are sequences, or rows.
#include "pieces.h"
#include "ops.h"

#include <string.h>

// ---- y_t = x_{t - by}, rows before the first are 0 --------------------------------------------------------
typedef struct {
    size_t by;
} shift_attributes;
static size_t shifted(const graph *g, const node *n) {
    const size_t by = ((const shift_attributes *)n->attributes)->by;
    return (by < g->L ? by : g->L) * last_dim(n->out);
}
static void shift_piece(graph *g, node *n, size_t piece, size_t from, size_t count) {
    (void)piece;
    const size_t size = g->L * last_dim(n->out), zeros = shifted(g, n);
    for (size_t b = from; b < from + count; b++) {
        memset(n->out->data + b * size, 0, zeros * sizeof(float));
        memcpy(n->out->data + b * size + zeros, n->in[0]->data + b * size, (size - zeros) * sizeof(float));
    }
}
static void shift_bwd_piece(graph *g, node *n, size_t piece, size_t from, size_t count) {
    (void)piece;
    const size_t size = g->L * last_dim(n->out), zeros = shifted(g, n);
    for (size_t b = from; b < from + count; b++) {
        memcpy(n->in_grad[0] + b * size, n->out->grad + b * size + zeros, (size - zeros) * sizeof(float));
        memset(n->in_grad[0] + (b + 1) * size - zeros, 0, zeros * sizeof(float));
    }
}
static void shift_fwd(graph *g, node *n) { sequences_in_pieces(g, n, shift_piece); }
static void shift_bwd(graph *g, node *n) {
    if (n->in_grad[0]) sequences_in_pieces(g, n, shift_bwd_piece);
}
static op_reach shift_reach(const graph *g, const node *n) {
    (void)g;
    return (op_reach){((const shift_attributes *)n->attributes)->by, 1};
}
static const op shift = {.name = "shift",
                         .attributes = sizeof(shift_attributes),
                         .forward = shift_fwd,
                         .backward = shift_bwd,
                         .reach = shift_reach};
tensor *op_shift(graph *g, tensor *x, size_t by) {
    return graph_node(g, &shift, 1, &x, &(shift_attributes){by});
}

// ---- The last row first: y_t = x_{L - 1 - t}, and the same for gradients ----------------------------------
static void reverse_rows(const graph *g, float *y, const float *x, size_t D, size_t from, size_t count) {
    for (size_t b = from; b < from + count; b++)
        for (size_t t = 0; t < g->L; t++)
            memcpy(y + (b * g->L + t) * D, x + ((b + 1) * g->L - 1 - t) * D, D * sizeof *y);
}
static void reverse_piece(graph *g, node *n, size_t piece, size_t from, size_t count) {
    (void)piece;
    reverse_rows(g, n->out->data, n->in[0]->data, last_dim(n->out), from, count);
}
static void reverse_bwd_piece(graph *g, node *n, size_t piece, size_t from, size_t count) {
    (void)piece;
    reverse_rows(g, n->in_grad[0], n->out->grad, last_dim(n->out), from, count);
}
static void reverse_fwd(graph *g, node *n) { sequences_in_pieces(g, n, reverse_piece); }
static void reverse_bwd(graph *g, node *n) {
    if (n->in_grad[0]) sequences_in_pieces(g, n, reverse_bwd_piece);
}
static const op reverse = {.name = "reverse", .whole = 1, .forward = reverse_fwd, .backward = reverse_bwd};
tensor *op_reverse(graph *g, tensor *x) { return graph_node(g, &reverse, 1, &x, NULL); }

// What each row hangs on, where columns are taken and joined: itself.
static op_reach own_row(const graph *g, const node *n) {
    (void)g, (void)n;
    return (op_reach){0, 1};
}

// ---- Some columns, of each of `parts` parts ---------------------------------------------------------------
typedef struct {
    size_t from, count, parts;
} columns_attributes;
static uint32_t columns_shape(const graph *g, const node *n, uint32_t *shape) {
    (void)g;
    const tensor *x = n->in[0];
    memcpy(shape, x->shape, x->rank * sizeof *shape);
    const columns_attributes *c = n->attributes;
    shape[x->rank - 1] = (uint32_t)(c->count * c->parts);
    return x->rank;
}
// d columns of so many rows, from rows of `from_width` to rows of `to_width`.
static void copy_columns(float *to, size_t to_width, const float *from, size_t from_width, size_t d,
                         size_t rows) {
    for (; rows > 0; rows--, to += to_width, from += from_width) memcpy(to, from, d * sizeof *to);
}
static void columns_fwd(graph *g, node *n) {
    (void)g;
    const columns_attributes *c = n->attributes;
    copy_columns(n->out->data, c->count, n->in[0]->data + c->from, last_dim(n->in[0]) / c->parts, c->count,
                 rows_of(n->out) * c->parts);
}
static void columns_bwd(graph *g, node *n) {
    (void)g;
    const columns_attributes *c = n->attributes;
    if (!n->in_grad[0]) return;
    memset(n->in_grad[0], 0, n->in[0]->n * sizeof(float));
    copy_columns(n->in_grad[0] + c->from, last_dim(n->in[0]) / c->parts, n->out->grad, c->count, c->count,
                 rows_of(n->out) * c->parts);
}
static const op columns = {
    .name = "columns",
    .attributes = sizeof(columns_attributes),
    .shape = columns_shape,
    .forward = columns_fwd,
    .backward = columns_bwd,
    .reach = own_row,
};
tensor *op_columns(graph *g, tensor *x, size_t from, size_t count, size_t parts) {
    return graph_node(g, &columns, 1, &x, &(columns_attributes){from, count, parts});
}

// ---- Some columns of a table as rows ---------------------------------------------------------------------
static uint32_t turn_shape(const graph *g, const node *n, uint32_t *shape) {
    (void)g;
    shape[0] = (uint32_t)((const columns_attributes *)n->attributes)->count;
    shape[1] = n->in[0]->shape[0];
    return 2;
}
static void turn_fwd(graph *g, node *n) {
    (void)g;
    const size_t L = n->in[0]->shape[0], width = n->in[0]->shape[1], count = n->out->shape[0];
    const float *x = n->in[0]->data + ((const columns_attributes *)n->attributes)->from;
    for (size_t t = 0; t < L; t++)
        for (size_t c = 0; c < count; c++) n->out->data[c * L + t] = x[t * width + c];
}
static void turn_bwd(graph *g, node *n) {
    (void)g;
    const size_t L = n->in[0]->shape[0], width = n->in[0]->shape[1], count = n->out->shape[0];
    if (!n->in_grad[0]) return;
    memset(n->in_grad[0], 0, n->in[0]->n * sizeof(float));
    float *dx = n->in_grad[0] + ((const columns_attributes *)n->attributes)->from;
    for (size_t t = 0; t < L; t++)
        for (size_t c = 0; c < count; c++) dx[t * width + c] = n->out->grad[c * L + t];
}
static const op turn = {
    .name = "turn",
    .attributes = sizeof(columns_attributes),
    .shape = turn_shape,
    .forward = turn_fwd,
    .backward = turn_bwd,
};
tensor *op_turn(graph *g, tensor *x, size_t from, size_t count) {
    return graph_node(g, &turn, 1, &x, &(columns_attributes){from, count, 1});
}

// ---- Columns of a, then those of b, of each of `parts` parts ----------------------------------------------
typedef struct {
    size_t parts;
} join_attributes;
static uint32_t join_shape(const graph *g, const node *n, uint32_t *shape) {
    (void)g;
    const tensor *a = n->in[0], *b = n->in[1];
    memcpy(shape, a->shape, a->rank * sizeof *shape);
    shape[a->rank - 1] += b->shape[b->rank - 1];
    return a->rank;
}
static void join_fwd(graph *g, node *n) {
    (void)g;
    const size_t parts = ((const join_attributes *)n->attributes)->parts;
    for (size_t k = 0, at = 0, d; k < 2; k++, at += d) {
        d = last_dim(n->in[k]) / parts;
        copy_columns(n->out->data + at, last_dim(n->out) / parts, n->in[k]->data, d, d,
                     rows_of(n->out) * parts);
    }
}
static void join_bwd(graph *g, node *n) {
    (void)g;
    const size_t parts = ((const join_attributes *)n->attributes)->parts;
    for (size_t k = 0, at = 0, d; k < 2; k++, at += d) {
        d = last_dim(n->in[k]) / parts;
        if (n->in_grad[k])
            copy_columns(n->in_grad[k], d, n->out->grad + at, last_dim(n->out) / parts, d,
                         rows_of(n->out) * parts);
    }
}
static const op join = {.name = "join",
                        .attributes = sizeof(join_attributes),
                        .shape = join_shape,
                        .forward = join_fwd,
                        .backward = join_bwd,
                        .reach = own_row};
tensor *op_join(graph *g, tensor *a, tensor *b, size_t parts) {
    return graph_node(g, &join, 2, (tensor *[]){a, b}, &(join_attributes){parts});
}

// ---- y_t = x_0 + ... + x_t, that / (t + 1), or what a float lacks of it ----------------------------------
// Scratch: the sum so far, in double: a float's digits are gone after some thousand rows.
typedef struct {
    sum_kind kind;
} sum_attributes;
static sum_kind kind_of(const node *n) { return ((const sum_attributes *)n->attributes)->kind; }
static double weight_at(const node *n, size_t t) {
    return kind_of(n) == SUM_MEAN ? 1.0 / (double)(t + 1) : 1.0;
}
static void mean_piece(graph *g, node *n, size_t piece, size_t from, size_t count) {
    const size_t D = last_dim(n->out);
    double *sum = (double *)scratch_of(n, piece);
    for (size_t b = from; b < from + count; b++) {
        memset(sum, 0, D * sizeof *sum);
        for (size_t t = 0; t < g->L; t++) {
            const float *x = n->in[0]->data + (b * g->L + t) * D;
            float *y = n->out->data + (b * g->L + t) * D;
            const double weight = weight_at(n, t);
            for (size_t c = 0; c < D; c++) {
                sum[c] += (double)x[c];
                y[c] = (float)(kind_of(n) == SUM_REST ? sum[c] - (double)(float)sum[c] : sum[c] * weight);
            }
        }
    }
}
// dx_t = dy_t / (t + 1) + dy_{t+1} / (t + 2) + ..
static void mean_bwd_piece(graph *g, node *n, size_t piece, size_t from, size_t count) {
    const size_t D = last_dim(n->out);
    double *sum = (double *)back_scratch_of(n, piece);
    for (size_t b = from; b < from + count; b++) {
        memset(sum, 0, D * sizeof *sum);
        for (size_t t = g->L; t-- > 0;) {
            const float *dy = n->out->grad + (b * g->L + t) * D;
            float *dx = n->in_grad[0] + (b * g->L + t) * D;
            const double weight = weight_at(n, t);
            for (size_t c = 0; c < D; c++) {
                sum[c] += (double)dy[c] * weight;
                dx[c] = (float)sum[c];
            }
        }
    }
}
static void mean_fwd(graph *g, node *n) { sequences_in_pieces(g, n, mean_piece); }
static void mean_bwd(graph *g, node *n) {
    if (!n->in_grad[0]) return;
    if (kind_of(n) == SUM_REST) // its slope is that of a rounding
        memset(n->in_grad[0], 0, n->in[0]->n * sizeof(float));
    else
        sequences_in_pieces(g, n, mean_bwd_piece);
}
static void mean_size(graph *g, node *n) {
    scratch_size(n, shard_count(g->B), 0, last_dim(n->out) * sizeof(double));
}
static const op mean = {.name = "mean",
                        .attributes = sizeof(sum_attributes),
                        .size = mean_size,
                        .forward = mean_fwd,
                        .backward = mean_bwd};
tensor *op_running(graph *g, tensor *x, sum_kind kind) {
    return graph_node(g, &mean, 1, &x, &(sum_attributes){kind});
}
tensor *op_mean(graph *g, tensor *x) { return op_running(g, x, SUM_MEAN); }
tensor *op_cumsum(graph *g, tensor *x) { return op_running(g, x, SUM_ALL); }
