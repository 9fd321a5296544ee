// steps.c: see steps.h.
#include "steps.h"

#include <seqmix/ref.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A new step of n numbers.
static step *make(steps *s, size_t n, step *a, step *b, step *c, int (*back)(const step *)) {
    step *t = &s->all[s->n];
    if (s->failed || s->n == STEPS_MOST) {
        s->failed = 1;
        return &s->nothing;
    }
    *t = (step){.n = n, .in = {a, b, c}, .back = back};
    t->own = ref_carve(&t->x, n, &t->d, s->gradients ? n : 0, REF_END);
    s->failed |= !t->own;
    if (!s->gradients) t->d = NULL;
    s->n++;
    return s->failed ? &s->nothing : t;
}

step *step_input(steps *s, double *x, double *d, size_t n) {
    if (!x) return NULL;
    if (s->failed || s->n == STEPS_MOST) {
        s->failed = 1;
        return &s->nothing;
    }
    s->all[s->n] = (step){.x = x, .d = d, .n = n};
    return &s->all[s->n++];
}

// What a backward makes that is not added in place.
static int add_to(step *to, int (*fill)(double *dx, const step *s), const step *s) {
    double *dx;
    void *memory = ref_carve(&dx, to->n, REF_END);
    if (!memory) return REF_NO_MEMORY;
    fill(dx, s);
    ref_axpy(to->d, dx, 1, to->n);
    free(memory);
    return REF_OK;
}

// ---- Products
static int fill_linear(double *dx, const step *s) {
    const step *x = s->in[0], *w = s->in[1], *b = s->in[2];
    ref_linear_bwd(dx, w->d, b ? b->d : NULL, s->d, x->x, w->x, s->size[0], s->size[1], s->size[2]);
    return REF_OK;
}
static int back_linear(const step *s) { return add_to(s->in[0], fill_linear, s); }
step *step_linear(steps *s, step *x, step *w, step *b, size_t in, size_t out) {
    const size_t N = x->n / in;
    step *t = make(s, N * out, x, w, b, back_linear);
    if (s->failed) return t;
    t->size[0] = N, t->size[1] = in, t->size[2] = out;
    ref_linear_fwd(t->x, x->x, w->x, b ? b->x : NULL, N, in, out);
    return t;
}

static int back_blocks(const step *s) {
    const step *x = s->in[0], *w = s->in[1], *b = s->in[2];
    const size_t d = s->size[1], D = s->size[0] * d;
    for (size_t i = 0; i < s->n; i++) {
        const size_t column = i % D, head = column / d;
        b->d[column] += s->d[i];
        for (size_t c = 0; c < d; c++) {
            const size_t from = i - column + head * d + c, at = (head * d + c) * d + column % d;
            x->d[from] += s->d[i] * w->x[at];
            w->d[at] += s->d[i] * x->x[from];
        }
    }
    return REF_OK;
}
step *step_blocks(steps *s, step *x, step *w, step *b, size_t H, size_t d) {
    step *t = make(s, x->n, x, w, b, back_blocks);
    if (s->failed) return t;
    t->size[0] = H, t->size[1] = d;
    for (size_t i = 0; i < t->n; i++) {
        const size_t column = i % (H * d), head = column / d;
        t->x[i] = b->x[column];
        for (size_t c = 0; c < d; c++)
            t->x[i] += x->x[i - column + head * d + c] * w->x[(head * d + c) * d + column % d];
    }
    return t;
}

static int fill_conv(double *dx, const step *s) {
    const size_t D = s->size[0], W = s->size[1];
    ref_conv_bwd(dx, s->in[1]->d, s->d, s->in[0]->x, s->in[1]->x, 1, s->n / D, D, D, W, 0, D, D);
    return REF_OK;
}
static int back_conv(const step *s) { return add_to(s->in[0], fill_conv, s); }
step *step_conv(steps *s, step *x, step *f, size_t D) {
    step *t = make(s, x->n, x, f, NULL, back_conv);
    if (s->failed) return t;
    t->size[0] = D, t->size[1] = f->n / D;
    ref_conv_fwd(t->x, x->x, f->x, 1, x->n / D, D, D, f->n / D, 0, D, D);
    return t;
}

// ---- Number by number
static int back_map(const step *s) {
    for (size_t i = 0; i < s->n; i++) s->in[0]->d[i] += s->d[i] * s->slope(s->in[0]->x[i]);
    return REF_OK;
}
step *step_map(steps *s, double (*f)(double), double (*slope)(double), step *x) {
    step *t = make(s, x->n, x, NULL, NULL, back_map);
    if (s->failed) return t;
    t->slope = slope;
    for (size_t i = 0; i < t->n; i++) t->x[i] = f(x->x[i]);
    return t;
}

static int back_add(const step *s) {
    for (size_t i = 0; i < s->n; i++) {
        s->in[0]->d[i] += s->d[i];
        s->in[1]->d[i / s->size[0] % s->in[1]->n] += s->d[i];
    }
    return REF_OK;
}
step *step_add(steps *s, step *x, step *b, size_t each) {
    step *t = make(s, x->n, x, b, NULL, back_add);
    if (s->failed) return t;
    t->size[0] = each;
    for (size_t i = 0; i < t->n; i++) t->x[i] = x->x[i] + b->x[i / each % b->n];
    return t;
}

static int back_mul(const step *s) {
    for (size_t i = 0; i < s->n; i++) {
        const size_t at = i / s->size[0] % s->in[1]->n;
        s->in[0]->d[i] += s->d[i] * s->in[1]->x[at];
        s->in[1]->d[at] += s->d[i] * s->in[0]->x[i];
    }
    return REF_OK;
}
step *step_mul(steps *s, step *x, step *b, size_t each) {
    step *t = make(s, x->n, x, b, NULL, back_mul);
    if (s->failed) return t;
    t->size[0] = each;
    for (size_t i = 0; i < t->n; i++) t->x[i] = x->x[i] * b->x[i / each % b->n];
    return t;
}

static int back_scale(const step *s) {
    ref_axpy(s->in[0]->d, s->d, s->number, s->n);
    return REF_OK;
}
step *step_scale(steps *s, step *x, double factor) {
    step *t = make(s, x->n, x, NULL, NULL, back_scale);
    if (s->failed) return t;
    t->number = factor;
    ref_scale(t->x, x->x, factor, t->n);
    return t;
}

static int back_shift(const step *s) {
    ref_axpy(s->in[0]->d, s->d + s->size[0], 1, s->n - s->size[0]);
    return REF_OK;
}
step *step_shift(steps *s, step *x, size_t D) {
    step *t = make(s, x->n, x, NULL, NULL, back_shift);
    if (s->failed) return t;
    t->size[0] = D;
    memcpy(t->x + D, x->x, (x->n - D) * sizeof *t->x);
    return t;
}

static int back_heads(const step *s) {
    const size_t d = s->size[0], H = s->size[1];
    for (size_t i = 0; i < s->n; i++) s->in[0]->d[i / (H * d) * d + i % d] += s->d[i];
    return REF_OK;
}
step *step_heads(steps *s, step *x, size_t d, size_t H) {
    step *t = make(s, x->n * H, x, NULL, NULL, back_heads);
    if (s->failed) return t;
    t->size[0] = d, t->size[1] = H;
    for (size_t i = 0; i < t->n; i++) t->x[i] = x->x[i / (H * d) * d + i % d];
    return t;
}

static int back_sums(const step *s) {
    for (size_t i = 0; i < s->in[0]->n; i++) s->in[0]->d[i] += s->d[i / s->size[0]];
    return REF_OK;
}
step *step_sums(steps *s, step *x, size_t d) {
    step *t = make(s, x->n / d, x, NULL, NULL, back_sums);
    if (s->failed) return t;
    t->size[0] = d;
    for (size_t i = 0; i < t->n; i++) t->x[i] = ref_sum(x->x + i * d, d);
    return t;
}

// ---- Norms of rows of d; what forward knew of a row is found again.
static int rows_of(double **stats, void **memory, const step *s) {
    *memory = ref_carve(stats, s->n / s->size[0], REF_END);
    return *memory ? REF_OK : REF_NO_MEMORY;
}
static int fill_unit(double *dx, const step *s) {
    const size_t d = s->size[0], N = s->n / d;
    for (size_t r = 0; r < N; r++) {
        double norm = sqrt(ref_dot(s->in[0]->x + r * d, s->in[0]->x + r * d, d));
        const double rnorm = norm <= 1e-12 ? 0 : 1 / norm;
        ref_unitnorm_bwd(dx + r * d, s->d + r * d, s->in[0]->x + r * d, &rnorm, 1, d);
    }
    return REF_OK;
}
static int back_unit(const step *s) { return add_to(s->in[0], fill_unit, s); }
step *step_unit(steps *s, step *x, size_t d) {
    step *t = make(s, x->n, x, NULL, NULL, back_unit);
    double *rnorm;
    void *memory;
    if (s->failed) return t;
    t->size[0] = d;
    if ((s->failed = rows_of(&rnorm, &memory, t) != REF_OK)) return &s->nothing;
    ref_unitnorm_fwd(t->x, rnorm, x->x, t->n / d, d);
    free(memory);
    return t;
}

static int fill_rms(double *dx, const step *s) {
    const size_t d = s->size[0], N = s->n / d;
    const step *gain = s->in[1];
    for (size_t r = 0; r < N; r++) {
        const double *x = s->in[0]->x + r * d, rstd = 1 / sqrt(ref_dot(x, x, d) / (double)d + s->number);
        ref_rmsnorm_bwd(dx + r * d, gain ? gain->d : NULL, s->d + r * d, x, gain ? gain->x : NULL, &rstd, 1,
                        d);
    }
    return REF_OK;
}
static int back_rms(const step *s) { return add_to(s->in[0], fill_rms, s); }
step *step_rms(steps *s, step *x, step *gain, size_t d, double eps) {
    step *t = make(s, x->n, x, gain, NULL, back_rms);
    double *rstd;
    void *memory;
    if (s->failed) return t;
    t->size[0] = d;
    t->number = eps;
    if ((s->failed = rows_of(&rstd, &memory, t) != REF_OK)) return &s->nothing;
    ref_rmsnorm_fwd(t->x, rstd, x->x, gain ? gain->x : NULL, t->n / d, d, eps);
    free(memory);
    return t;
}

// dx = rstd (dy - mean(dy) - y mean(dy y))
static int back_centre(const step *s) {
    const size_t d = s->size[0];
    for (size_t r = 0; r < s->n / d; r++) {
        const double *x = s->in[0]->x + r * d, *y = s->x + r * d, *dy = s->d + r * d;
        const double mean = ref_sum(x, d) / (double)d, along = ref_dot(dy, y, d) / (double)d,
                     all = ref_sum(dy, d) / (double)d;
        double square = 0;
        for (size_t c = 0; c < d; c++) square += (x[c] - mean) * (x[c] - mean);
        const double rstd = 1 / sqrt(square / (double)d + s->number);
        for (size_t c = 0; c < d; c++) s->in[0]->d[r * d + c] += rstd * (dy[c] - all - y[c] * along);
    }
    return REF_OK;
}
step *step_centre(steps *s, step *x, size_t d, double eps) {
    step *t = make(s, x->n, x, NULL, NULL, back_centre);
    if (s->failed) return t;
    t->size[0] = d;
    t->number = eps;
    for (size_t r = 0; r < t->n / d; r++) {
        const double *from = x->x + r * d, mean = ref_sum(from, d) / (double)d;
        double square = 0;
        for (size_t c = 0; c < d; c++) square += (from[c] - mean) * (from[c] - mean);
        for (size_t c = 0; c < d; c++) t->x[r * d + c] = (from[c] - mean) / sqrt(square / (double)d + eps);
    }
    return t;
}

// ---- Cores
static int back_core(const step *s) {
    double *x[STEP_INPUTS], *d[STEP_INPUTS];
    for (size_t i = 0; i < STEP_INPUTS; i++) {
        x[i] = s->in[i] ? s->in[i]->x : NULL;
        d[i] = s->in[i] ? s->in[i]->d : NULL;
    }
    return s->core_back(d, s->d, x, s->sizes);
}
step *step_core(steps *s, size_t n, step *const *in, size_t count,
                int (*forward)(double *y, double *const *x, const void *sizes),
                int (*backward)(double *const *d, const double *dy, double *const *x, const void *sizes),
                const void *sizes) {
    step *t = make(s, n, NULL, NULL, NULL, back_core);
    double *x[STEP_INPUTS] = {0};
    if (s->failed) return t;
    t->core_back = backward;
    t->sizes = sizes;
    for (size_t i = 0; i < count; i++) {
        t->in[i] = in[i];
        x[i] = in[i] ? in[i]->x : NULL;
    }
    s->failed = forward(t->x, x, sizes) != REF_OK;
    return t;
}

// ---- The end
static int finish(steps *s, int status) {
    for (size_t i = 0; i < s->n; i++) free(s->all[i].own);
    return s->failed ? REF_NO_MEMORY : status;
}
int steps_forward(steps *s, double *y) {
    if (!s->failed) memcpy(y, s->all[s->n - 1].x, s->all[s->n - 1].n * sizeof *y);
    return finish(s, REF_OK);
}
int steps_backward(steps *s, const double *dy) {
    int status = REF_OK;
    if (!s->failed) memcpy(s->all[s->n - 1].d, dy, s->all[s->n - 1].n * sizeof *dy);
    for (size_t i = s->failed ? 0 : s->n; i-- > 0 && !status;)
        if (s->all[i].back) status = s->all[i].back(&s->all[i]);
    return finish(s, status);
}

// ---- Functions
double step_sigma(double x) { return x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x)); }
double step_sigma_slope(double x) { return step_sigma(x) * step_sigma(-x); }
double step_silu(double x) { return x * step_sigma(x); }
double step_silu_slope(double x) { return step_sigma(x) * (1 + x * step_sigma(-x)); }
double step_softplus(double x) { return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x)); }
double step_gelu(double x) {
    double y;
    ref_gelu_fwd(&y, &x, 1);
    return y;
}
double step_gelu_slope(double x) {
    const double one = 1;
    double slope;
    ref_gelu_bwd(&slope, &one, &x, 1);
    return slope;
}
double step_tanh_slope(double x) { return 1 - tanh(x) * tanh(x); }
double step_inverse(double x) { return 1 / x; }
