// bounds.c: see bounds.h. The names are those of the theorems: u, eta, tail, the roundings of a sum, a,
// excess, b, G.
#include "bounds.h"

#include <math.h>

static const double u = 0x1p-24;
static const double eta = 0x1p-150;
static const double tail = 9.479359654e-19; // above e^-41.5
static const double ROUND_UP = 1 + 1e-6;    // see bounds.h
static const double LARGE = 0x1p126;        // what stays below it, with its roundings, is finite

// ---- Roundings --------------------------------------------------------------------------------------------

static double log_power(size_t k) { return (double)k * log1p(u); } // log (1 + u)^k
static double grown(size_t k) { return expm1(log_power(k)); }      // (1 + u)^k - 1
static size_t groups(size_t n) { return (n + 15) / 16; }
static size_t tile_roundings(size_t n) { return (n < 256 ? n : 256) + (n ? (n - 1) / 256 : 0); }
static size_t dot_roundings(size_t n) { return groups(n) + 4; }
// (1 + u)^k (A + n eta) - A
static double of_products(double A, size_t n, size_t k) {
    return grown(k) * A + (1 + grown(k)) * (double)n * eta;
}

static int is_float(double x) { return (double)(float)x == x && isfinite(x); }
static int are_floats(const double *x, size_t step, size_t n) {
    int all = 1;
    for (size_t i = 0; i < n; i++) all &= is_float(x[i * step]);
    return all;
}
static double rounded_up(double bound, int premises) { return premises ? ROUND_UP * bound : INFINITY; }

// ---- TileSums.v -------------------------------------------------------------------------------------------

static void products(double *exact, double *bound, const double *x, size_t x_step, const double *y,
                     size_t y_step, size_t n, size_t roundings) {
    double sizes = 0;
    *exact = 0;
    for (size_t i = 0; i < n; i++) {
        const double term = x[i * x_step] * y[i * y_step];
        *exact += term;
        sizes += fabs(term);
    }
    *bound = rounded_up(of_products(sizes, n, roundings),
                        are_floats(x, x_step, n) && are_floats(y, y_step, n) && sizes < LARGE);
}
void ref_bound_tile(double *exact, double *bound, const double *x, size_t x_step, const double *y,
                    size_t y_step, size_t n) {
    products(exact, bound, x, x_step, y, y_step, n, tile_roundings(n));
}
void ref_bound_dot(double *exact, double *bound, const double *x, const double *y, size_t n) {
    products(exact, bound, x, 1, y, 1, n, dot_roundings(n));
}

// ---- SoftmaxRow.v -----------------------------------------------------------------------------------------

static double log_a(double D) { return log1p(1.48 * u) + u * fmin(D, 42); } // log (1 + a)
static double excess(double D, size_t n, size_t k) {
    return expm1(log_power(k) + log_a(D)) + (double)n * tail;
}
// (1 + u)^2 (V + T) / (1 - b) - V + eta
static double quotient(double V, double T, double b) {
    return ((grown(2) + b) * V + (1 + grown(2)) * T) / (1 - b) + eta;
}

// The softmax of n numbers in place; the difference of the largest and the least.
static double softmax_of(double *t, size_t n) {
    double most = -INFINITY, least = INFINITY, sum = 0;
    for (size_t i = 0; i < n; i++) {
        most = fmax(most, t[i]);
        least = fmin(least, t[i]);
    }
    for (size_t i = 0; i < n; i++) sum += t[i] = exp(t[i] - most);
    for (size_t i = 0; i < n; i++) t[i] /= sum;
    return most - least;
}

void ref_bound_softmax(double *exact, double *bound, const double *scores, size_t n) {
    for (size_t i = 0; i < n; i++) exact[i] = scores[i];
    const double D = softmax_of(exact, n), b = excess(D, n, groups(n) + 3);
    const int premises = are_floats(scores, 1, n) && D < LARGE && b <= 0.5;
    for (size_t i = 0; i < n; i++)
        bound[i] = rounded_up(quotient(exact[i], expm1(log_a(D)) * exact[i] + tail, b), premises);
}

// A score of |q| <= Q and |k| <= K.
static double score_bound(size_t d, double scale, double Q, double K) {
    const size_t j = tile_roundings(d);
    const double x = fabs(scale) * Q, power = 1 + grown(j);
    return (double)d * K * (grown(j + 1) * x + power * eta) + power * (double)d * eta;
}
static double largest(const double *x, size_t step, size_t rows, size_t columns, int *floats) {
    double most = 0;
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < columns; c++) {
            most = fmax(most, fabs(x[r * step + c]));
            *floats &= is_float(x[r * step + c]);
        }
    return most;
}
void ref_bound_attention(double *exact, double *bound, const double *q, const double *k, const double *v,
                         double *weights, const ref_bound_heads *p) {
    const size_t n = p->n, N = p->n + p->after, r = tile_roundings(N);
    int floats = is_float(p->scale);
    const double Q = largest(q, p->d, 1, p->d, &floats), K = largest(k, p->k_step, n, p->d, &floats);
    for (size_t i = 0; i < n; i++) {
        weights[i] = 0;
        for (size_t c = 0; c < p->d; c++) weights[i] += q[c] * k[i * p->k_step + c];
        weights[i] *= p->scale;
    }
    // (the spread is that of the computed scores)
    const double off = score_bound(p->d, p->scale, Q, K), D = softmax_of(weights, n) + 2 * off;
    const double b = excess(D, n, groups(n) + 3);
    const int premises = floats && n && (double)p->d * fabs(p->scale) * Q * K < LARGE &&
                         fabs(p->scale) * Q < LARGE && off < LARGE && b <= 0.5;
    for (size_t c = 0; c < p->dv; c++) {
        int are = 1;
        const double V = largest(v + c, p->v_step, n, 1, &are);
        const double T = excess(D, n, r) * V + (1 + grown(r)) * (double)N * eta;
        exact[c] = 0;
        for (size_t i = 0; i < n; i++) exact[c] += weights[i] * v[i * p->v_step + c];
        bound[c] =
            rounded_up(quotient(V, T, b) + expm1(2 * off) * V, premises && are && (double)n * V < LARGE);
    }
}

// ---- NormRow.v --------------------------------------------------------------------------------------------

// (1 + u)^k G b - 1
static double scaled(size_t k, double b) { return expm1(log_power(k + 1) - log1p(-u) - 0.5 * log1p(-b)); }
static double gain_of(const double *gain, size_t i) { return gain ? gain[i] : 1; }
// (float)n is n, and sums of n numbers stay finite
static int row_fits(const double *x, const double *gain, size_t n, double sum) {
    return n && n <= (size_t)1 << 24 && sum < LARGE && are_floats(x, 1, n) &&
           (!gain || are_floats(gain, 1, n));
}

void ref_bound_unit_norm(double *exact, double *bound, const double *x, size_t n) {
    double Z = 0;
    for (size_t i = 0; i < n; i++) Z += x[i] * x[i];
    const double b = expm1(log_power(dot_roundings(n)) + log1p((double)n * eta / Z));
    // the kernel's sum is above 1e-24 where this one is by more than b
    const int premises = row_fits(x, NULL, n, Z) && b < 0.5 && Z * (1 - b) > 1.0000001e-24;
    for (size_t i = 0; i < n; i++) {
        exact[i] = Z > 0 ? x[i] / sqrt(Z) : 0;
        bound[i] = rounded_up(scaled(1, b) * fabs(exact[i]) + eta, premises);
    }
}

void ref_bound_rms_norm(double *exact, double *bound, const double *x, const double *gain, size_t n,
                        double eps) {
    double Z = 0;
    for (size_t i = 0; i < n; i++) Z += x[i] * x[i];
    const double W = Z / (double)n + eps;
    const double b = expm1(log_power(dot_roundings(n) + 2) + log1p(2 * eta / W));
    const int premises =
        row_fits(x, gain, n, Z) && is_float(eps) && eps >= 0 && eps < LARGE && W > 0 && b < 1;
    for (size_t i = 0; i < n; i++) {
        const double g = gain_of(gain, i);
        exact[i] = g * (x[i] / sqrt(W));
        bound[i] = rounded_up(scaled(2, b) * fabs(exact[i]) + (1 + u) * fabs(g) * eta + eta,
                              premises && fabs(exact[i]) < LARGE);
    }
}

void ref_bound_layer_norm(double *exact, double *bound, const double *x, const double *gain,
                          const double *bias, size_t n, double eps) {
    double mean = 0, variance = 0, sizes = 0;
    for (size_t i = 0; i < n; i++) {
        mean += x[i];
        sizes += fabs(x[i]);
    }
    mean /= (double)n;
    for (size_t i = 0; i < n; i++) variance += (x[i] - mean) * (x[i] - mean);
    variance /= (double)n;
    const size_t k = dot_roundings(n);
    const double W = variance + eps, root = sqrt(W), d = grown(k) * sizes / (double)n + eta;
    const double b = expm1(log_power(k + 4) + log1p((d * d + 2 * eta) / W)), factor = scaled(3, b);
    const int premises = row_fits(x, gain, n, (double)n * (variance + d * d)) && are_floats(bias, 1, n) &&
                         sizes < LARGE && is_float(eps) && eps >= 0 && eps < LARGE && W > 0 && b < 1;
    for (size_t i = 0; i < n; i++) {
        const double X = fabs(x[i] - mean), g = fabs(gain_of(gain, i));
        const double product = g * (factor * (X + d) + d) / root + (1 + u) * g * eta + eta;
        exact[i] = gain_of(gain, i) * ((x[i] - mean) / root) + bias[i];
        bound[i] = rounded_up((1 + u) * product + u * fabs(exact[i]),
                              premises && g * (X + d) / root < LARGE && fabs(bias[i]) < LARGE);
    }
}
