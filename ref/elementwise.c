// elementwise.c: arithmetic and activations on n numbers, with their derivatives, and two plain sums.
#include <seqmix/ref.h>

#include <math.h>

#define GELU_A 0.79788456080286535588 // sqrt(2/pi)
#define GELU_B 0.044715

void ref_add(double *y, const double *a, const double *b, size_t n) {
    for (size_t i = 0; i < n; i++) y[i] = a[i] + b[i];
}

void ref_mul(double *y, const double *a, const double *b, size_t n) {
    for (size_t i = 0; i < n; i++) y[i] = a[i] * b[i];
}

void ref_scale(double *y, const double *x, double s, size_t n) {
    for (size_t i = 0; i < n; i++) y[i] = s * x[i];
}

void ref_axpy(double *y, const double *x, double s, size_t n) {
    for (size_t i = 0; i < n; i++) y[i] += s * x[i];
}

// Hendrycks & Gimpel 2016: 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
void ref_gelu_fwd(double *y, const double *x, size_t n) {
    for (size_t i = 0; i < n; i++) {
        double v = x[i];
        y[i] = 0.5 * v * (1 + tanh(GELU_A * (v + GELU_B * v * v * v)));
    }
}

void ref_gelu_bwd(double *dx, const double *dy, const double *x, size_t n) {
    for (size_t i = 0; i < n; i++) {
        double v = x[i];
        double t = tanh(GELU_A * (v + GELU_B * v * v * v));
        double slope = GELU_A * (1 + 3 * GELU_B * v * v);
        dx[i] = dy[i] * (0.5 * (1 + t) + 0.5 * v * (1 - t * t) * slope);
    }
}

// exp never overflows here: its argument is not positive.
static double sigmoid(double x) {
    double e = exp(-fabs(x));
    return x >= 0 ? 1 / (1 + e) : e / (1 + e);
}

void ref_silu_fwd(double *y, const double *x, size_t n) {
    for (size_t i = 0; i < n; i++) y[i] = x[i] * sigmoid(x[i]);
}

void ref_silu_bwd(double *dx, const double *dy, const double *x, size_t n) {
    for (size_t i = 0; i < n; i++) {
        double s = sigmoid(x[i]);
        dx[i] = dy[i] * s * (1 + x[i] * (1 - s));
    }
}

void ref_sigmoid_fwd(double *y, const double *x, size_t n) {
    for (size_t i = 0; i < n; i++) y[i] = sigmoid(x[i]);
}

void ref_sigmoid_bwd(double *dx, const double *dy, const double *y, size_t n) {
    for (size_t i = 0; i < n; i++) dx[i] = dy[i] * y[i] * (1 - y[i]);
}

void ref_tanh_fwd(double *y, const double *x, size_t n) {
    for (size_t i = 0; i < n; i++) y[i] = tanh(x[i]);
}

void ref_tanh_bwd(double *dx, const double *dy, const double *y, size_t n) {
    for (size_t i = 0; i < n; i++) dx[i] = dy[i] * (1 - y[i] * y[i]);
}

void ref_exp_fwd(double *y, const double *x, size_t n) {
    for (size_t i = 0; i < n; i++) y[i] = exp(x[i]);
}

void ref_log_fwd(double *y, const double *x, size_t n) {
    for (size_t i = 0; i < n; i++) y[i] = log(x[i]);
}

void ref_sincos_fwd(double *s, double *c, const double *x, size_t n) {
    for (size_t i = 0; i < n; i++) {
        double v = x[i];
        int inside = fabs(v) <= 8192;
        s[i] = inside ? sin(v) : NAN;
        c[i] = inside ? cos(v) : NAN;
    }
}

double ref_sum(const double *x, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i];
    return sum;
}

double ref_dot(const double *x, const double *y, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}
