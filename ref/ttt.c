// ttt.c: TTT-Linear (2407.04620; test-time-training/ttt-lm-pytorch ttt.py): the state is a linear model that
// learns from each row; gradients of a batch of rows are taken at the batch's first weights,
//   W_t = W - tau_i sum_{s<=t} eta_s k_s^T grad_s,  b_t likewise without k
//   plain  grad = k W - v,  y = q W_t
//   norm   grad of |LN(z) - (v - k)|^2 / 2 by z = k W + b,  y = q + LN(q W_t + b_t)
#include <seqmix/ref_cores.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- Layer norm of one row, and the loss's gradient through it:
//   u = (z - mean) s, s = 1 / sqrt(var + eps);  e = gain o (gain o u + bias - target);
//   grad = s (e - mean(e) - u mean(e o u))
static double standardise(double *u, const double *z, size_t n, double eps) {
    const double mean = ref_sum(z, n) / (double)n;
    for (size_t c = 0; c < n; c++) u[c] = z[c] - mean;
    const double s = 1 / sqrt(ref_dot(u, u, n) / (double)n + eps);
    ref_scale(u, u, s, n);
    return s;
}
// to = s (x - mean(x) - u mean(x o u)): the norm's transposed slope, which is symmetric.
static void project(double *to, const double *x, const double *u, double s, size_t n) {
    const double mean = ref_sum(x, n) / (double)n, along = ref_dot(x, u, n) / (double)n;
    for (size_t c = 0; c < n; c++) to[c] = s * (x[c] - mean - u[c] * along);
}

// One head's view of the arrays, and of their gradients.
typedef struct {
    const ref_ttt_arrays *x, *d;
    const ref_ttt *p;
    const double *gain, *bias;
    double *dgain, *dbias;
    double *u, *e, *dz, *de, *du; // [d]: scratch
    size_t head;
} view;
enum { SCRATCH = 5 };

static const double *row_of(const double *x, const view *a, size_t t) {
    return x + (t * a->p->H + a->head) * a->p->d;
}
static double *to_row(double *x, const view *a, size_t t) { return x + (t * a->p->H + a->head) * a->p->d; }

// z = k W + b of a row (b NULL: 0).
static void linear(double *z, const double *k, const double *W, const double *b, size_t n) {
    ref_gemm(z, k, W, 1, n, n, n, n, n, 0);
    if (b) ref_axpy(z, b, 1, n);
}

// grad [d] of row t at the weights W, b.
static void loss_slope(double *grad, const double *W, const double *b, const view *a, size_t t) {
    const size_t n = a->p->d;
    const double *k = row_of(a->x->k, a, t), *v = row_of(a->x->v, a, t);
    linear(grad, k, W, b, n);
    if (!a->gain) {
        ref_axpy(grad, v, -1, n);
        return;
    }
    const double s = standardise(a->u, grad, n, a->p->eps);
    for (size_t c = 0; c < n; c++) a->e[c] = a->gain[c] * (a->gain[c] * a->u[c] + a->bias[c] - (v[c] - k[c]));
    project(grad, a->e, a->u, s, n);
}

// From h = dgrad of row t: into k, v, gain, bias, and dW, db at the batch's first weights.
static void loss_slope_back(double *dW, double *db, const double *h, const double *W, const double *b,
                            const view *a, size_t t) {
    const size_t n = a->p->d;
    const double *k = row_of(a->x->k, a, t), *v = row_of(a->x->v, a, t);
    double *dk = to_row(a->d->k, a, t), *dv = to_row(a->d->v, a, t), *dz = a->dz, *du = a->du, *de = a->de;
    memcpy(dz, h, n * sizeof *dz);
    if (!a->gain) {
        ref_axpy(dv, h, -1, n);
    } else {
        linear(du, k, W, b, n);
        const double s = standardise(a->u, du, n, a->p->eps);
        for (size_t c = 0; c < n; c++)
            a->e[c] = a->gain[c] * (a->gain[c] * a->u[c] + a->bias[c] - (v[c] - k[c]));
        project(de, h, a->u, s, n);
        project(du, a->e, a->u, s, n); // grad itself
        const double ds = ref_dot(h, du, n) / s, eu = ref_dot(a->e, a->u, n) / (double)n,
                     hu = ref_dot(h, a->u, n) / (double)n;
        for (size_t c = 0; c < n; c++) {
            const double gain = a->gain[c], r = gain * a->u[c] + a->bias[c] - (v[c] - k[c]);
            du[c] = -s * (h[c] * eu + a->e[c] * hu) + gain * gain * de[c];
            a->dgain[c] += de[c] * (r + gain * a->u[c]);
            a->dbias[c] += gain * de[c];
            dv[c] -= gain * de[c];
            dk[c] += gain * de[c];
        }
        project(dz, du, a->u, s, n);
        ref_axpy(dz, a->u, -ds * s * s / (double)n, n); // s hangs on z as well
        ref_axpy(db, dz, 1, n);
    }
    for (size_t c = 0; c < n; c++) {
        dk[c] += ref_dot(W + c * n, dz, n);
        ref_axpy(dW + c * n, dz, k[c], n);
    }
}

// y of row t at its own weights.
static void read_row(double *y, const double *W, const double *b, const view *a, size_t t) {
    const size_t n = a->p->d;
    const double *q = row_of(a->x->q, a, t);
    linear(y, q, W, b, n);
    if (!a->gain) return;
    standardise(a->u, y, n, a->p->eps);
    for (size_t c = 0; c < n; c++) y[c] = q[c] + a->gain[c] * a->u[c] + a->bias[c];
}
// Its gradient into q, gain, bias and dW, db of the row's weights.
static void read_row_back(double *dW, double *db, const double *dy, const double *W, const double *b,
                          const view *a, size_t t) {
    const size_t n = a->p->d;
    const double *q = row_of(a->x->q, a, t);
    double *dq = to_row(a->d->q, a, t), *dz = a->dz;
    memcpy(dz, dy, n * sizeof *dz);
    if (a->gain) {
        linear(a->e, q, W, b, n);
        const double s = standardise(a->u, a->e, n, a->p->eps);
        for (size_t c = 0; c < n; c++) {
            a->dgain[c] += dy[c] * a->u[c];
            a->dbias[c] += dy[c];
            a->e[c] = dy[c] * a->gain[c];
        }
        project(dz, a->e, a->u, s, n);
        ref_axpy(dq, dy, 1, n);
        ref_axpy(db, dz, 1, n);
    }
    for (size_t c = 0; c < n; c++) {
        dq[c] += ref_dot(W + c * n, dz, n);
        ref_axpy(dW + c * n, dz, q[c], n);
    }
}

static view view_of(const ref_ttt_arrays *d, const ref_ttt_arrays *x, const ref_ttt *p, double *scratch,
                    size_t h) {
    const size_t n = p->d;
    view a = {.x = x, .d = d, .p = p, .head = h};
    double **const to[SCRATCH] = {&a.u, &a.e, &a.dz, &a.de, &a.du};
    for (size_t i = 0; i < SCRATCH; i++) *to[i] = scratch + i * n;
    if (x->gain) a.gain = x->gain + h * n, a.bias = x->bias + h * n;
    if (x->gain && d) a.dgain = d->gain + h * n, a.dbias = d->bias + h * n;
    return a;
}
static double temperature(const ref_ttt_arrays *x, size_t i) { return x->tau ? x->tau[i] : 1; }
// The weights and the bias of a row in one: [d][d] and [d].
static size_t size_of(const ref_ttt *p) { return p->d * p->d + p->d; }
static void begin(double *to, const ref_ttt_arrays *x, const ref_ttt *p, size_t h) {
    const size_t n = p->d;
    memset(to, 0, size_of(p) * sizeof *to);
    if (x->W) memcpy(to, x->W + h * n * n, n * n * sizeof *to);
    if (x->b) memcpy(to + n * n, x->b + h * n, n * sizeof *to);
}
// all -= eta (k^T grad, grad)
static void learn(double *all, const double *grad, double eta, const double *k, size_t n) {
    for (size_t c = 0; c < n; c++) ref_axpy(all + c * n, grad, -eta * k[c], n);
    ref_axpy(all + n * n, grad, -eta, n);
}

// All rows of a head: first [batches + 1] the weights at each batch's start, sums [L] what each row adds to
// them, over tau, grads [L][d]; own, of one row: its weights.
static void own_of(double *own, const double *first, const double *sum, const view *a, size_t t) {
    const size_t size = size_of(a->p);
    memcpy(own, first + t / a->p->batch * size, size * sizeof *own);
    ref_axpy(own, sum, temperature(a->x, t % a->p->batch), size);
}
static void run(double *first, double *sums, double *grads, const view *a) {
    const ref_ttt *p = a->p;
    const size_t n = p->d, size = size_of(p);
    begin(first, a->x, p, a->head);
    for (size_t t = 0; t < p->L; t++) {
        double *at = first + t / p->batch * size, *sum = sums + t * size;
        if (t % p->batch)
            memcpy(sum, sum - size, size * sizeof *sum);
        else
            memset(sum, 0, size * sizeof *sum);
        loss_slope(grads + t * n, at, a->gain ? at + n * n : NULL, a, t);
        learn(sum, grads + t * n, a->x->eta[t * p->H + a->head], row_of(a->x->k, a, t), n);
        if (t % p->batch + 1 == p->batch || t + 1 == p->L) own_of(at + size, first, sum, a, t);
    }
}

int ref_ttt_fwd(double *y, double *last, double *b_last, const ref_ttt_arrays *x, const ref_ttt *p) {
    const size_t n = p->d, size = size_of(p), batches = (p->L + p->batch - 1) / p->batch;
    double *first, *sums, *grads, *own, *scratch;
    void *memory = ref_carve(&first, (batches + 1) * size, &sums, p->L * size, &grads, p->L * n, &own, size,
                             &scratch, SCRATCH * n, REF_END);
    if (!memory) return REF_NO_MEMORY;
    for (size_t h = 0; h < p->H; h++) {
        const view a = view_of(NULL, x, p, scratch, h);
        run(first, sums, grads, &a);
        for (size_t t = 0; t < p->L; t++) {
            own_of(own, first, sums + t * size, &a, t);
            read_row(to_row(y, &a, t), own, a.gain ? own + n * n : NULL, &a, t);
        }
        memcpy(last + h * n * n, first + batches * size, n * n * sizeof *last);
        if (b_last) memcpy(b_last + h * n, first + batches * size + n * n, n * sizeof *b_last);
    }
    free(memory);
    return REF_OK;
}

// From the last batch back: G gradient of the weights at its end; D the sum over the rows from s on of
// tau dW_t, through which eta_s, k_s and grad_s act; dW_t itself goes to the weights at the start.
int ref_ttt_bwd(const ref_ttt_arrays *d, const double *dy, const ref_ttt_arrays *x, const ref_ttt *p) {
    const size_t n = p->d, size = size_of(p), batches = (p->L + p->batch - 1) / p->batch;
    double *first, *sums, *grads, *own, *scratch, *G, *D, *dW, *dgrad, *at_start;
    void *memory =
        ref_carve(&first, (batches + 1) * size, &sums, p->L * size, &grads, p->L * n, &own, size, &scratch,
                  SCRATCH * n, &G, size, &D, size, &dW, size, &dgrad, n, &at_start, size, REF_END);
    if (!memory) return REF_NO_MEMORY;
    for (size_t h = 0; h < p->H; h++) {
        const view a = view_of(d, x, p, scratch, h);
        run(first, sums, grads, &a);
        memset(G, 0, size * sizeof *G);
        for (size_t batch = batches; batch-- > 0;) {
            const double *W = first + batch * size, *b = a.gain ? W + n * n : NULL;
            const size_t from = batch * p->batch, end = from + p->batch < p->L ? from + p->batch : p->L;
            memset(D, 0, size * sizeof *D);
            memset(at_start, 0, size * sizeof *at_start);
            for (size_t t = end; t-- > from;) {
                const double *k = row_of(x->k, &a, t), *grad = grads + t * n;
                double *dk = to_row(d->k, &a, t), eta = x->eta[t * p->H + h];
                own_of(own, first, sums + t * size, &a, t);
                memset(dW, 0, size * sizeof *dW);
                if (t + 1 == end) memcpy(dW, G, size * sizeof *dW);
                read_row_back(dW, dW + n * n, row_of(dy, &a, t), own, a.gain ? own + n * n : NULL, &a, t);
                if (d->tau) d->tau[t - from] += ref_dot(dW, sums + t * size, size);
                ref_axpy(at_start, dW, 1, size);
                ref_axpy(D, dW, temperature(x, t - from), size);
                // sum_s = -eta (k^T grad, grad)
                memcpy(dgrad, D + n * n, n * sizeof *dgrad);
                double along = ref_dot(D + n * n, grad, n);
                for (size_t c = 0; c < n; c++) {
                    const double Dg = ref_dot(D + c * n, grad, n);
                    along += k[c] * Dg;
                    dk[c] -= eta * Dg;
                    ref_axpy(dgrad, D + c * n, k[c], n);
                }
                d->eta[t * p->H + h] -= along;
                ref_scale(dgrad, dgrad, -eta, n);
                loss_slope_back(at_start, at_start + n * n, dgrad, W, b, &a, t);
            }
            memcpy(G, at_start, size * sizeof *G);
        }
        if (d->W) ref_axpy(d->W + h * n * n, G, 1, n * n);
        if (d->b) ref_axpy(d->b + h * n, G + n * n, 1, n);
    }
    free(memory);
    return REF_OK;
}
