// twins.c: see twins.h. Long because it has an entry for each operation.
#include "twins.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <seqmix/ref.h>
#include <seqmix/ref_cores.h>

#include "scan.h"

#define NUMBERS(c) ((c)->step->call.number)
static const tensor *input(const twin_call *c, size_t i) { return c->step->call.tensor[i]; }
static size_t last(const tensor *t) { return t->shape[t->rank - 1]; }
static size_t count(const twin_call *c) { return c->step->out->n; }
static size_t columns(const twin_call *c) { return last(c->step->out); }
static size_t rows(const twin_call *c) { return count(c) / columns(c); }

// ---- Entry by entry ---------------------------------------------------------------------------------------
#define OF_ONE(NAME, SEEN)                                                                                   \
    static int NAME##_fwd(const twin_call *c) { return ref_##NAME##_fwd(c->out, c->in[0], count(c)), 0; }    \
    static int NAME##_bwd(const twin_call *c) {                                                              \
        return ref_##NAME##_bwd(c->din[0], c->dout, SEEN, count(c)), 0;                                      \
    }
OF_ONE(gelu, c->in[0])
OF_ONE(silu, c->in[0])
OF_ONE(sigmoid, c->out)
OF_ONE(tanh, c->out)
OF_ONE(elu1, c->out)
static int softplus_fwd(const twin_call *c) {
    for (size_t i = 0; i < count(c); i++) {
        const double x = c->in[0][i];
        c->out[i] = (x > 0 ? x : 0) + log1p(exp(-fabs(x)));
    }
    return 0;
}
static int softplus_bwd(const twin_call *c) {
    for (size_t i = 0; i < count(c); i++) c->din[0][i] = c->dout[i] / (1 + exp(-c->in[0][i]));
    return 0;
}
static int exp_fwd(const twin_call *c) { return ref_exp_fwd(c->out, c->in[0], count(c)), 0; }
static int exp_bwd(const twin_call *c) { return ref_mul(c->din[0], c->dout, c->out, count(c)), 0; }
static int log_fwd(const twin_call *c) { return ref_log_fwd(c->out, c->in[0], count(c)), 0; }
static int log_bwd(const twin_call *c) {
    for (size_t i = 0; i < count(c); i++) c->din[0][i] = c->dout[i] / c->in[0][i];
    return 0;
}
static int add_fwd(const twin_call *c) { return ref_add(c->out, c->in[0], c->in[1], count(c)), 0; }
static int add_bwd(const twin_call *c) {
    for (size_t k = 0; k < 2; k++) memcpy(c->din[k], c->dout, count(c) * sizeof(double));
    return 0;
}
static int mul_fwd(const twin_call *c) { return ref_mul(c->out, c->in[0], c->in[1], count(c)), 0; }
static int mul_bwd(const twin_call *c) {
    for (size_t k = 0; k < 2; k++) ref_mul(c->din[k], c->dout, c->in[1 - k], count(c));
    return 0;
}
static int divide_fwd(const twin_call *c) {
    for (size_t i = 0; i < count(c); i++) c->out[i] = c->in[0][i] / c->in[1][i];
    return 0;
}
static int divide_bwd(const twin_call *c) {
    for (size_t i = 0; i < count(c); i++) {
        c->din[0][i] = c->dout[i] / c->in[1][i];
        c->din[1][i] = -c->dout[i] * c->out[i] / c->in[1][i];
    }
    return 0;
}
static int offset_fwd(const twin_call *c) {
    for (size_t i = 0; i < count(c); i++) c->out[i] = c->in[0][i] + c->step->call.real[1];
    return 0;
}
static int same_bwd(const twin_call *c) { return memcpy(c->din[0], c->dout, count(c) * sizeof(double)), 0; }
static int offset_bwd(const twin_call *c) { return same_bwd(c); }
static int value_fwd(const twin_call *c) { return memcpy(c->out, c->in[0], count(c) * sizeof(double)), 0; }
static int value_bwd(const twin_call *c) { return same_bwd(c); }
static int power_fwd(const twin_call *c) {
    for (size_t i = 0; i < count(c); i++) c->out[i] = pow(c->in[0][i], (double)NUMBERS(c)[1]);
    return 0;
}
static int power_bwd(const twin_call *c) {
    const double n = (double)NUMBERS(c)[1];
    for (size_t i = 0; i < count(c); i++) c->din[0][i] = c->dout[i] * n * pow(c->in[0][i], n - 1);
    return 0;
}
// y = f(x): its value, or its slope.
#define SIMPLE(NAME, VALUE, SLOPE)                                                                           \
    static int NAME##_fwd(const twin_call *c) {                                                              \
        for (size_t i = 0; i < count(c); i++) {                                                              \
            const double x = c->in[0][i];                                                                    \
            c->out[i] = VALUE;                                                                               \
        }                                                                                                    \
        return 0;                                                                                            \
    }                                                                                                        \
    static int NAME##_bwd(const twin_call *c) {                                                              \
        for (size_t i = 0; i < count(c); i++) {                                                              \
            const double x = c->in[0][i];                                                                    \
            c->din[0][i] = c->dout[i] * (SLOPE);                                                             \
        }                                                                                                    \
        return 0;                                                                                            \
    }
SIMPLE(relu, fmax(x, 0), x > 0)
SIMPLE(sqrt, sqrt(x), x > 0 ? 0.5 / sqrt(x) : 0)
SIMPLE(abs, fabs(x), (x > 0) - (x < 0))
SIMPLE(sin, sin(x), cos(x))
SIMPLE(cos, cos(x), -sin(x))
static int max_fwd(const twin_call *c) {
    for (size_t i = 0; i < count(c); i++) c->out[i] = c->in[0][i] > c->in[1][i] ? c->in[0][i] : c->in[1][i];
    return 0;
}
static int max_bwd(const twin_call *c) {
    for (size_t i = 0; i < count(c); i++) c->din[c->in[0][i] > c->in[1][i] ? 0 : 1][i] = c->dout[i];
    return 0;
}
static int scale_fwd(const twin_call *c) {
    return ref_scale(c->out, c->in[0], c->step->call.real[1], count(c)), 0;
}
static int scale_bwd(const twin_call *c) {
    return ref_scale(c->din[0], c->dout, c->step->call.real[1], count(c)), 0;
}
static int gate_fwd(const twin_call *c) {
    for (size_t i = 0; i < count(c); i++)
        c->out[i] = c->in[0][i] * c->in[1][i] + (1 - c->in[0][i]) * c->in[2][i];
    return 0;
}
static int gate_bwd(const twin_call *c) {
    for (size_t i = 0; i < count(c); i++) {
        c->din[0][i] = c->dout[i] * (c->in[1][i] - c->in[2][i]);
        c->din[1][i] = c->dout[i] * c->in[0][i];
        c->din[2][i] = c->dout[i] * (1 - c->in[0][i]);
    }
    return 0;
}

// ---- Weights that meet every row --------------------------------------------------------------------------
static int linear_fwd(const twin_call *c) {
    return ref_linear_fwd(c->out, c->in[0], c->in[1], c->in[2], rows(c), last(input(c, 0)), columns(c)), 0;
}
static int linear_bwd(const twin_call *c) {
    ref_linear_bwd(c->din[0], c->din[1], c->din[2], c->dout, c->in[0], c->in[1], rows(c), last(input(c, 0)),
                   columns(c));
    return 0;
}
static int bias_fwd(const twin_call *c) {
    return ref_bias_fwd(c->out, c->in[0], c->in[1], rows(c), columns(c)), 0;
}
static int bias_bwd(const twin_call *c) {
    memcpy(c->din[0], c->dout, count(c) * sizeof(double));
    return ref_bias_bwd(c->din[1], c->dout, rows(c), columns(c)), 0;
}
// y = gain x (+ bias): gain[i / each] times `sign` of it where it is e^gain.
static int gains_fwd(const twin_call *c, size_t each, int rates) {
    for (size_t i = 0; i < count(c); i++) {
        const size_t col = i % columns(c);
        const double w = c->in[1][col / each];
        c->out[i] = c->in[0][i] * (rates ? -exp(w) : w) + (c->in[2] ? c->in[2][col] : 0);
    }
    return 0;
}
static int gains_bwd(const twin_call *c, size_t each, int rates) {
    for (size_t i = 0; i < count(c); i++) {
        const size_t col = i % columns(c);
        const double w = c->in[1][col / each], gain = rates ? -exp(w) : w;
        c->din[0][i] = c->dout[i] * gain;
        c->din[1][col / each] += c->dout[i] * c->in[0][i] * (rates ? gain : 1);
        if (c->din[2]) c->din[2][col] += c->dout[i];
    }
    return 0;
}
static int gain_fwd(const twin_call *c) { return gains_fwd(c, 1, 0); }
static int gain_bwd(const twin_call *c) { return gains_bwd(c, 1, 0); }
static int gain_heads_fwd(const twin_call *c) { return gains_fwd(c, columns(c) / c->H, 0); }
static int gain_heads_bwd(const twin_call *c) { return gains_bwd(c, columns(c) / c->H, 0); }
static int decays_fwd(const twin_call *c) { return gains_fwd(c, 1, 1); }
static int decays_bwd(const twin_call *c) { return gains_bwd(c, 1, 1); }

// ---- Norms ------------------------------------------------------------------------------------------------
static const double usual_eps = 1e-5;
static double eps_at(const twin_call *c, size_t at) {
    const double eps = c->step->call.real[at];
    return eps < 0 ? usual_eps : fmax(eps, 1e-20);
}
// A norm's gradient is a difference of terms: each rounds to its own size, |dout gain| over the row's scale,
// however little is left of them (nothing but eps's share where a layer norm has two columns).
static void round_terms(const twin_call *c, const double *scale, size_t step, size_t D, const double *gain) {
    for (size_t from = 0; c->rounding > 0 && from < count(c); from += D) {
        double largest = 0;
        for (size_t i = from; i < from + D; i++)
            largest = fmax(largest, fabs(c->dout[i] * (gain ? gain[i % columns(c)] : 1)));
        for (size_t i = from; i < from + D; i++)
            c->din[0][i] += largest * scale[from / D * step] * c->rounding * (2 * rng_uniform(c->random) - 1);
    }
}
static int layernorm_fwd(const twin_call *c) {
    double *stats = malloc(2 * rows(c) * sizeof *stats);
    if (stats)
        ref_layernorm_fwd(c->out, stats, c->in[0], c->in[1], c->in[2], rows(c), columns(c), eps_at(c, 3));
    free(stats);
    return stats ? 0 : -1;
}
static int layernorm_bwd(const twin_call *c) {
    double *y, *stats;
    void *memory = ref_carve(&y, count(c), &stats, 2 * rows(c), REF_END);
    if (!memory) return -1;
    ref_layernorm_fwd(y, stats, c->in[0], c->in[1], c->in[2], rows(c), columns(c), eps_at(c, 3));
    ref_layernorm_bwd(c->din[0], c->din[1], c->din[2], c->dout, c->in[0], c->in[1], stats, rows(c),
                      columns(c));
    round_terms(c, stats + 1, 2, columns(c), c->in[1]);
    free(memory);
    return 0;
}
// Rows, or the heads of rows, over their root mean square (gain may be NULL) or to length 1; at: of eps among
// the call's arguments.
static int norms(const twin_call *c, size_t parts, size_t at, int unit, int back) {
    const size_t N = rows(c) * parts, D = columns(c) / parts;
    double *y, *scale, *gain, *dgain;
    void *memory = ref_carve(&y, count(c), &scale, N, &gain, D, &dgain, D, REF_END);
    if (!memory) return -1;
    double *to = back ? y : c->out;
    // (with eps a length is a root mean square whose gain is the root of 1 / D)
    const int soft = unit && c->step->call.real[at] > 0;
    for (size_t i = 0; i < D; i++) gain[i] = sqrt(1 / (double)D), dgain[i] = 0;
    const double *g = soft ? gain : c->in[1], eps = soft ? eps_at(c, at) / (double)D : eps_at(c, at);
    if (unit && !soft)
        ref_unitnorm_fwd(to, scale, c->in[0], N, D);
    else
        ref_rmsnorm_fwd(to, scale, c->in[0], g, N, D, eps);
    if (back && unit && !soft) ref_unitnorm_bwd(c->din[0], c->dout, c->in[0], scale, N, D);
    if (back && (!unit || soft))
        ref_rmsnorm_bwd(c->din[0], soft ? dgain : c->din[1], c->dout, c->in[0], g, scale, N, D);
    if (back) round_terms(c, scale, 1, D, unit ? NULL : c->in[1]);
    free(memory);
    return 0;
}
static int rmsnorm_fwd(const twin_call *c) { return norms(c, 1, 2, 0, 0); }
static int rmsnorm_bwd(const twin_call *c) { return norms(c, 1, 2, 0, 1); }
static int rms_heads_fwd(const twin_call *c) { return norms(c, c->H, 1, 0, 0); }
static int rms_heads_bwd(const twin_call *c) { return norms(c, c->H, 1, 0, 1); }
static int unitnorm_fwd(const twin_call *c) { return norms(c, 1, 1, 1, 0); }
static int unitnorm_bwd(const twin_call *c) { return norms(c, 1, 1, 1, 1); }
static int unitnorm_heads_fwd(const twin_call *c) { return norms(c, c->H, 1, 1, 0); }
static int unitnorm_heads_bwd(const twin_call *c) { return norms(c, c->H, 1, 1, 1); }

// Of each head's columns
static int sum_heads_fwd(const twin_call *c) {
    const size_t d = last(input(c, 0)) / c->H;
    for (size_t i = 0; i < count(c); i++) {
        c->out[i] = 0;
        for (size_t k = 0; k < d; k++) c->out[i] += c->in[0][i * d + k];
    }
    return 0;
}
static int sum_heads_bwd(const twin_call *c) {
    const size_t d = last(input(c, 0)) / c->H;
    for (size_t i = 0; i < count(c) * d; i++) c->din[0][i] = c->dout[i / d];
    return 0;
}
static int per_head_fwd(const twin_call *c) {
    const size_t d = columns(c) / last(input(c, 0));
    for (size_t i = 0; i < count(c); i++) c->out[i] = c->in[0][i / d];
    return 0;
}
static int per_head_bwd(const twin_call *c) {
    const size_t d = columns(c) / last(input(c, 0));
    for (size_t i = 0; i < count(c); i++) c->din[0][i / d] += c->dout[i];
    return 0;
}
static int softmax_heads_fwd(const twin_call *c) {
    const size_t d = columns(c) / c->H;
    for (size_t i = 0; i < count(c); i += d) {
        double most = c->in[0][i], weights = 0;
        for (size_t k = 0; k < d; k++) most = fmax(most, c->in[0][i + k]);
        for (size_t k = 0; k < d; k++) weights += exp(c->in[0][i + k] - most);
        for (size_t k = 0; k < d; k++) c->out[i + k] = exp(c->in[0][i + k] - most) / weights;
    }
    return 0;
}
static int softmax_heads_bwd(const twin_call *c) {
    const size_t d = columns(c) / c->H;
    for (size_t i = 0; i < count(c); i++) {
        double along = 0;
        for (size_t k = i / d * d; k < i / d * d + d; k++) along += c->dout[k] * c->out[k];
        c->din[0][i] = c->out[i] * (c->dout[i] - along);
    }
    return 0;
}
// The oracle's layer norm on heads as rows, without a gain; then gain and bias.
static int layernorm_heads(const twin_call *c, int back) {
    const size_t d = columns(c) / c->H, N = count(c) / d;
    double *y, *stats, *ones, *zeros, *dy, *none_of;
    void *memory =
        ref_carve(&y, count(c), &stats, 2 * N, &ones, d, &zeros, d, &dy, count(c), &none_of, 2 * d, REF_END);
    if (!memory) return -1;
    for (size_t i = 0; i < d; i++) ones[i] = 1, zeros[i] = 0, none_of[i] = none_of[d + i] = 0;
    ref_layernorm_fwd(y, stats, c->in[0], ones, zeros, N, d, eps_at(c, 3));
    for (size_t i = 0; i < count(c); i++) {
        const size_t col = i % columns(c);
        if (!back) {
            c->out[i] = y[i] * c->in[1][col] + c->in[2][col];
            continue;
        }
        dy[i] = c->dout[i] * c->in[1][col];
        c->din[1][col] += c->dout[i] * y[i];
        c->din[2][col] += c->dout[i];
    }
    if (back) {
        ref_layernorm_bwd(c->din[0], none_of, none_of + d, dy, c->in[0], ones, stats, N, d);
        round_terms(c, stats + 1, 2, d, c->in[1]);
    }
    free(memory);
    return 0;
}
static int layernorm_heads_fwd(const twin_call *c) { return layernorm_heads(c, 0); }
static int layernorm_heads_bwd(const twin_call *c) { return layernorm_heads(c, 1); }

// ---- Rows and columns -------------------------------------------------------------------------------------
static int shift_of(const twin_call *c, const double *from, double *to, int back) {
    const size_t D = columns(c), by = NUMBERS(c)[1];
    for (size_t b = 0; b < c->B; b++)
        for (size_t t = by; t < c->L; t++) {
            const size_t now = (b * c->L + t) * D, then = now - by * D;
            memcpy(to + (back ? then : now), from + (back ? now : then), D * sizeof(double));
        }
    return 0;
}
static int shift_fwd(const twin_call *c) {
    memset(c->out, 0, count(c) * sizeof(double));
    return shift_of(c, c->in[0], c->out, 0);
}
static int shift_bwd(const twin_call *c) { return shift_of(c, c->dout, c->din[0], 1); }
static int reverse_of(const twin_call *c, const double *from, double *to, int add) {
    const size_t D = columns(c);
    for (size_t b = 0; b < c->B; b++)
        for (size_t t = 0; t < c->L; t++)
            for (size_t i = 0; i < D; i++) {
                double *at = to + (b * c->L + t) * D + i;
                *at = from[((b + 1) * c->L - 1 - t) * D + i] + (add ? *at : 0);
            }
    return 0;
}
static int reverse_fwd(const twin_call *c) { return reverse_of(c, c->in[0], c->out, 0); }
static int reverse_bwd(const twin_call *c) { return reverse_of(c, c->dout, c->din[0], 1); }
static int columns_fwd(const twin_call *c) {
    for (size_t i = 0; i < count(c); i++)
        c->out[i] = c->in[0][i / columns(c) * last(input(c, 0)) + NUMBERS(c)[1] + i % columns(c)];
    return 0;
}
static int columns_bwd(const twin_call *c) {
    for (size_t i = 0; i < count(c); i++)
        c->din[0][i / columns(c) * last(input(c, 0)) + NUMBERS(c)[1] + i % columns(c)] = c->dout[i];
    return 0;
}
static int join_fwd(const twin_call *c) {
    const size_t a = last(input(c, 0)), b = last(input(c, 1));
    for (size_t i = 0; i < count(c); i++) {
        const size_t row = i / (a + b), col = i % (a + b);
        c->out[i] = col < a ? c->in[0][row * a + col] : c->in[1][row * b + col - a];
    }
    return 0;
}
static int join_bwd(const twin_call *c) {
    const size_t a = last(input(c, 0)), b = last(input(c, 1));
    for (size_t i = 0; i < count(c); i++) {
        const size_t row = i / (a + b), col = i % (a + b);
        *(col < a ? &c->din[0][row * a + col] : &c->din[1][row * b + col - a]) = c->dout[i];
    }
    return 0;
}
static int sum_so_far(const twin_call *c, int mean) {
    const size_t D = columns(c);
    for (size_t i = 0; i < count(c); i++) {
        const size_t t = i / D % c->L;
        double sum = 0;
        for (size_t s = 0; s <= t; s++) sum += c->in[0][i - s * D];
        c->out[i] = mean ? sum / (double)(t + 1) : sum;
    }
    return 0;
}
static int sum_so_far_bwd(const twin_call *c, int mean) {
    const size_t D = columns(c);
    for (size_t i = 0; i < count(c); i++) {
        const size_t t = i / D % c->L;
        for (size_t s = 0; s <= t; s++) c->din[0][i - s * D] += c->dout[i] / (mean ? (double)(t + 1) : 1);
    }
    return 0;
}
static int mean_fwd(const twin_call *c) { return sum_so_far(c, 1); }
static int mean_bwd(const twin_call *c) { return sum_so_far_bwd(c, 1); }
static int cumsum_fwd(const twin_call *c) { return sum_so_far(c, 0); }
static int cumsum_bwd(const twin_call *c) { return sum_so_far_bwd(c, 0); }

// ---- Filters ----------------------------------------------------------------------------------------------
static int conv_fwd(const twin_call *c) {
    const tensor *f = input(c, 1);
    ref_conv_fwd(c->out, c->in[0], c->in[1], c->B, c->L, columns(c), f->shape[0], f->shape[1], NUMBERS(c)[2],
                 columns(c), columns(c));
    return 0;
}
static int conv_bwd(const twin_call *c) {
    const tensor *f = input(c, 1);
    ref_conv_bwd(c->din[0], c->din[1], c->dout, c->in[0], c->in[1], c->B, c->L, columns(c), f->shape[0],
                 f->shape[1], NUMBERS(c)[2], columns(c), columns(c));
    return 0;
}
static int conv_heads_fwd(const twin_call *c) {
    const tensor *f = input(c, 1);
    ref_conv_heads_fwd(c->out, c->in[0], c->in[1], c->B, c->L, columns(c), f->shape[1], f->shape[0],
                       columns(c), columns(c));
    return 0;
}
static int conv_heads_bwd(const twin_call *c) {
    const tensor *f = input(c, 1);
    ref_conv_heads_bwd(c->din[0], c->din[1], c->dout, c->in[0], c->in[1], c->B, c->L, columns(c), f->shape[1],
                       f->shape[0], columns(c), columns(c));
    return 0;
}
// norm(x * f_h) W_h, head by head, from the primitives.
static int unit_projection(const twin_call *c, int back) {
    const size_t D = last(input(c, 0)), O = columns(c), o = O / c->H, N = c->B * c->L, W = last(input(c, 2));
    const size_t future = NUMBERS(c)[3];
    double *filtered, *unit, *norm, *y, *dy, *w, *dw, *dunit, *dfiltered, *dx;
    void *memory = ref_carve(&filtered, N * D, &unit, N * D, &norm, N, &y, N * o, &dy, N * o, &w, D * o, &dw,
                             D * o, &dunit, N * D, &dfiltered, N * D, &dx, N * D, REF_END);
    if (!memory) return -1;
    for (size_t h = 0; h < c->H; h++) {
        for (size_t i = 0; i < D * o; i++) w[i] = c->in[1][i / o * O + h * o + i % o];
        ref_conv_fwd(filtered, c->in[0], c->in[2] + h * W, c->B, c->L, D, 1, W, future, D, D);
        ref_unitnorm_fwd(unit, norm, filtered, N, D);
        if (!back) {
            ref_linear_fwd(y, unit, w, NULL, N, D, o);
            for (size_t i = 0; i < N * o; i++) c->out[i / o * O + h * o + i % o] = y[i];
            continue;
        }
        for (size_t i = 0; i < N * o; i++) dy[i] = c->dout[i / o * O + h * o + i % o];
        memset(dw, 0, D * o * sizeof *dw);
        ref_linear_bwd(dunit, dw, NULL, dy, unit, w, N, D, o);
        for (size_t i = 0; i < D * o; i++) c->din[1][i / o * O + h * o + i % o] = dw[i];
        ref_unitnorm_bwd(dfiltered, dunit, filtered, norm, N, D);
        ref_conv_bwd(dx, c->din[2] + h * W, dfiltered, c->in[0], c->in[2] + h * W, c->B, c->L, D, 1, W,
                     future, D, D);
        for (size_t i = 0; i < N * D; i++) c->din[0][i] += dx[i];
    }
    free(memory);
    return 0;
}
static int unit_projection_fwd(const twin_call *c) { return unit_projection(c, 0); }
static int unit_projection_bwd(const twin_call *c) { return unit_projection(c, 1); }
// The mean over P rows inside chunks, row by row.
static int pool(const twin_call *c, int back) {
    const size_t D = columns(c), P = NUMBERS(c)[1], M = NUMBERS(c)[2] ? NUMBERS(c)[2] : c->L,
                 future = NUMBERS(c)[3];
    if (!back) memset(c->out, 0, count(c) * sizeof(double));
    for (size_t b = 0; b < c->B; b++)
        for (size_t t = 0; t < c->L; t++)
            for (size_t p = 0; p < P; p++) {
                const size_t s = t + future - p; // wraps below 0
                if (s >= c->L || s / M != t / M) continue;
                for (size_t k = 0; k < D; k++) {
                    const size_t to = (b * c->L + t) * D + k, from = (b * c->L + s) * D + k;
                    if (back)
                        c->din[0][from] += c->dout[to] / (double)P;
                    else
                        c->out[to] += c->in[0][from] / (double)P;
                }
            }
    return 0;
}
static int pool_fwd(const twin_call *c) { return pool(c, 0); }
static int pool_bwd(const twin_call *c) { return pool(c, 1); }
static int rope(const twin_call *c, int back) {
    const size_t D = columns(c), d = D / c->H;
    double *cs = malloc(c->L * d * sizeof *cs);
    if (!cs) return -1;
    ref_rope_table(cs, c->L, d, 10000);
    if (back)
        ref_rope_bwd(c->din[0], c->dout, cs, c->B, c->L, D, c->H, D, D);
    else
        ref_rope_fwd(c->out, c->in[0], cs, c->B, c->L, D, c->H, D, D);
    free(cs);
    return 0;
}
static int rope_fwd(const twin_call *c) { return rope(c, 0); }
static int rope_bwd(const twin_call *c) { return rope(c, 1); }

// ---- Attention --------------------------------------------------------------------------------------------
// kind: none, exp, alibi, alibi_scaled. tables: room for two, [H][2L-1] each.
static ref_attention attention_of(const twin_call *c, size_t kind, double *tables, double *alphas) {
    const size_t D = columns(c), H = c->H;
    const double root = 1 / sqrt((double)(D / H));
    ref_attention p = {.B = c->B, .L = c->L, .D = D, .H = H, .stride = D, .causal = 1, .scale = root};
    if (kind == 1) {
        ref_las_alphas(alphas, H, c->step->call.real[4]);
        ref_las_decay(tables, alphas, c->L, H);
        p.decay_table = tables;
    } else if (kind) {
        ref_alibi_bias(tables, c->L, H, kind == 2 ? 1 : root);
        p.bias = tables;
    }
    return p;
}
// With gates, a cap, a sink, grouped keys or a sigmoid: each chunk is a sequence of its own.
static int attention_core(const twin_call *c, int back) {
    const size_t *n = NUMBERS(c), D = columns(c), d = D / c->H, groups = n[11] ? n[11] : c->H,
                 chunk = n[5] && n[5] < c->L ? n[5] : c->L, wide = groups * d;
    int status = 0;
    for (size_t at = 0, rows; at < c->B * c->L; at += rows) {
        rows = chunk < c->L - at % c->L ? chunk : c->L - at % c->L;
        const ref_attn p = {.L = rows,
                            .H = c->H,
                            .Hkv = groups,
                            .dk = d,
                            .dv = d,
                            .causal = n[7] == 0,
                            .scale = 1 / sqrt((double)d),
                            .softcap = c->step->call.real[9],
                            .sigmoid = n[12] == 1,
                            .y = c->out + at * D}; // float32 has what it gave, rounded
        double *const *in = (double *const *)c->in;
        const ref_attn_arrays x = {.q = in[0] + at * D,
                                   .k = in[1] + at * wide,
                                   .v = in[2] + at * wide,
                                   .g = in[8] ? in[8] + at * c->H : NULL,
                                   .sinks = in[10]};
        if (!back) {
            status |= ref_attn_fwd(c->out + at * D, &x, &p);
            continue;
        }
        const ref_attn_arrays dx = {.q = c->din[0] + at * D,
                                    .k = c->din[1] + at * wide,
                                    .v = c->din[2] + at * wide,
                                    .g = in[8] ? c->din[8] + at * c->H : NULL,
                                    .sinks = c->din[10]};
        status |= ref_attn_bwd(&dx, c->dout + at * D, &x, &p);
    }
    return status ? -1 : 0;
}
static int attention(const twin_call *c, int back) {
    if (c->in[8] || c->in[10] || NUMBERS(c)[11] || NUMBERS(c)[12] || c->step->call.real[9] > 0)
        return attention_core(c, back);
    double *tables, *alphas, *stats, *o;
    void *memory = ref_carve(&tables, c->H * 2 * c->L, &alphas, c->H, &stats, c->B * c->H * c->L * 2, &o,
                             count(c), REF_END);
    if (!memory) return -1;
    ref_attention p = attention_of(c, NUMBERS(c)[3], tables, alphas);
    p.chunk = NUMBERS(c)[5];
    p.pool_window = NUMBERS(c)[6];
    p.causal = NUMBERS(c)[7] == 0;
    ref_attention_fwd(back ? o : c->out, stats, c->in[0], c->in[1], c->in[2], &p);
    if (back) // float32 has what it gave, rounded
        ref_attention_bwd(c->din[0], c->din[1], c->din[2], c->dout, c->in[0], c->in[1], c->in[2], c->out,
                          stats, &p);
    free(memory);
    return 0;
}
static int sliding(const twin_call *c, int back) {
    double *tables, *alphas, *stats, *o;
    void *memory = ref_carve(&tables, c->H * 2 * c->L, &alphas, c->H, &stats, c->B * c->H * c->L * 2, &o,
                             count(c), REF_END);
    if (!memory) return -1;
    const size_t kind = NUMBERS(c)[4];
    ref_attention p = attention_of(c, kind ? kind + 1 : 0, tables, alphas);
    p.sliding = NUMBERS(c)[3];
    p.chunk = NUMBERS(c)[5];
    ref_attention_fwd(back ? o : c->out, stats, c->in[0], c->in[1], c->in[2], &p);
    if (back)
        ref_attention_bwd(c->din[0], c->din[1], c->din[2], c->dout, c->in[0], c->in[1], c->in[2], c->out,
                          stats, &p);
    free(memory);
    return 0;
}
static int sliding_fwd(const twin_call *c) { return sliding(c, 0); }
static int sliding_bwd(const twin_call *c) { return sliding(c, 1); }
static int attention_fwd(const twin_call *c) { return attention(c, 0); }
static int attention_bwd(const twin_call *c) { return attention(c, 1); }
static int attention_maps(const twin_call *c, int back) {
    double *tables, *alphas, *stats, *o;
    void *memory = ref_carve(&tables, c->H * 2 * c->L, &alphas, c->H, &stats, c->B * c->H * c->L * 2, &o,
                             count(c), REF_END);
    if (!memory) return -1;
    const size_t kind = NUMBERS(c)[4];
    const ref_attention p = attention_of(c, kind ? kind + 1 : 0, tables, alphas);
    ref_attention_maps_fwd(back ? o : c->out, stats, c->in[0], c->in[1], c->in[2], c->in[3], &p);
    if (back)
        ref_attention_maps_bwd(c->din[0], c->din[1], c->din[2], c->din[3], c->dout, c->in[0], c->in[1],
                               c->in[2], c->in[3], stats, &p);
    free(memory);
    return 0;
}
static int attention_maps_fwd(const twin_call *c) { return attention_maps(c, 0); }
static int attention_maps_bwd(const twin_call *c) { return attention_maps(c, 1); }
static int linear_attention(const twin_call *c, int back) {
    static const ref_linattn_norm norms_of[] = {REF_LINATTN_SUM, REF_LINATTN_RMS, REF_LINATTN_NONE};
    const size_t D = columns(c);
    const ref_linattn p = {c->B, c->L, D, c->H, D, NUMBERS(c)[4], norms_of[NUMBERS(c)[3]], usual_eps, 0};
    double *norm, *y;
    void *memory = ref_carve(&norm, c->B * c->H * c->L, &y, count(c), REF_END);
    if (!memory) return -1;
    ref_linattn_fwd(back ? y : c->out, norm, c->in[0], c->in[1], c->in[2], &p);
    if (back)
        ref_linattn_bwd(c->din[0], c->din[1], c->din[2], c->dout, c->in[0], c->in[1], c->in[2], y, norm, &p);
    free(memory);
    return 0;
}
static int linear_attention_fwd(const twin_call *c) { return linear_attention(c, 0); }
static int linear_attention_bwd(const twin_call *c) { return linear_attention(c, 1); }
static int landmark_keys(const twin_call *c, int back) {
    const size_t block = NUMBERS(c)[1];
    const double forget = NUMBERS(c)[2] ? 1 - exp(-1 / (double)block) : 0;
    if (!back)
        ref_block_filter_fwd(c->out, c->in[0], c->B, c->L, columns(c), block, forget);
    else if (NUMBERS(c)[3]) // what only chooses learns nothing
        ref_block_filter_bwd(c->din[0], c->dout, c->B, c->L, columns(c), block, forget);
    return 0;
}
static int landmark_keys_fwd(const twin_call *c) { return landmark_keys(c, 0); }
static int landmark_keys_bwd(const twin_call *c) { return landmark_keys(c, 1); }
static int landmark(const twin_call *c, int back) {
    const size_t D = columns(c), H = c->H;
    const ref_landmark p = {c->B, c->L, D, H, D, NUMBERS(c)[4], 1 / sqrt((double)(D / H))};
    double *stats, *o;
    void *memory = ref_carve(&stats, c->B * H * c->L * 2, &o, count(c), REF_END);
    int32_t *chosen = malloc(c->B * H * c->L * sizeof *chosen);
    if (memory && chosen) {
        ref_landmark_fwd(back ? o : c->out, stats, chosen, c->in[0], c->in[1], c->in[2], c->in[3], &p);
        if (back)
            ref_landmark_bwd(c->din[0], c->din[1], c->din[2], c->dout, c->in[0], c->in[1], c->in[2], o, stats,
                             chosen, &p);
    }
    const int status = memory && chosen ? 0 : -1;
    free(memory);
    free(chosen);
    return status;
}
static int landmark_fwd(const twin_call *c) { return landmark(c, 0); }
static int landmark_bwd(const twin_call *c) { return landmark(c, 1); }

// ---- States -----------------------------------------------------------------------------------------------
// The state keeps beta v; with `shared` all heads have the same q and k, copied for the oracle.
static int state(const twin_call *c, int delta, int shared, int back) {
    const size_t H = c->H, V = columns(c), N = c->B * c->L, K = last(input(c, 0)) * (shared ? H : 1);
    const size_t dk = K / H, dv = V / H;
    const tensor *gates = input(c, 4);
    ref_state p = {c->B, c->L, H, dk, dv, REF_GATES_NONE, shared ? 1 : 1 / sqrt((double)dk)};
    if (gates) p.gates = last(gates) == H ? REF_GATES_HEAD : REF_GATES_CHANNEL;
    double *q, *k, *v, *dq, *dkeys, *dvalues, *S, *y, *dg;
    void *memory = ref_carve(&q, N * K, &k, N * K, &v, N * V, &dq, N * K, &dkeys, N * K, &dvalues, N * V, &S,
                             c->B * H * dk * dv, &y, N * V, &dg, N * K + N * H, REF_END);
    if (!memory) return -1;
    const double *beta = c->in[3];
    for (size_t i = 0; i < N * K; i++) {
        const size_t from = shared ? i / K * dk + i % dk : i;
        q[i] = c->in[0][from];
        k[i] = c->in[1][from];
    }
    for (size_t i = 0; i < N * V; i++) v[i] = c->in[2][i] * (beta && !delta ? beta[i / dv] : 1);
    int status = 0;
    if (!back && delta)
        status = ref_delta_fwd(c->out, S, q, k, v, beta, c->in[4], NULL, &p);
    else if (!back)
        ref_gla_fwd(c->out, S, q, k, v, c->in[4], NULL, &p);
    else if (delta)
        status = ref_delta_bwd(dq, dkeys, dvalues, c->din[3], gates ? dg : NULL, NULL, c->dout, NULL, q, k, v,
                               beta, c->in[4], NULL, &p);
    else
        status = ref_gla_bwd(dq, dkeys, dvalues, gates ? dg : NULL, NULL, c->dout, NULL, q, k, v, c->in[4],
                             NULL, &p);
    for (size_t i = 0; back && i < N * K; i++) {
        const size_t to = shared ? i / K * dk + i % dk : i;
        c->din[0][to] += dq[i];
        c->din[1][to] += dkeys[i];
    }
    for (size_t i = 0; back && i < N * V; i++) {
        c->din[2][i] = dvalues[i] * (beta && !delta ? beta[i / dv] : 1);
        if (beta && !delta) c->din[3][i / dv] += dvalues[i] * c->in[2][i];
    }
    for (size_t i = 0; back && gates && i < gates->n; i++) c->din[4][i] = dg[i];
    free(memory);
    return status;
}
static int gla_fwd(const twin_call *c) { return state(c, 0, 0, 0); }
static int gla_bwd(const twin_call *c) { return state(c, 0, 0, 1); }
static int ssd_fwd(const twin_call *c) { return state(c, 0, 1, 0); }
static int ssd_bwd(const twin_call *c) { return state(c, 0, 1, 1); }
// With keys of their own to erase, the oracle's diagonal plus low rank: a = -beta k, b = e^g erase, beta v.
static int erasing(const twin_call *c, int back) {
    const size_t H = c->H, V = columns(c), N = c->B * c->L, K = last(input(c, 0)), dk = K / H, dv = V / H;
    const tensor *gates = input(c, 4);
    const size_t G = gates ? last(gates) : 0;
    ref_state p = {c->B, c->L, H, dk, dv, REF_GATES_NONE, 1 / sqrt((double)dk)};
    if (gates) p.gates = G == H ? REF_GATES_HEAD : REF_GATES_CHANNEL;
    const double *k = c->in[1], *v = c->in[2], *beta = c->in[3], *g = c->in[4], *erase = c->in[5];
    double *q, *a, *b, *u, *S;
    ref_dplr_arrays d = {0};
    void *memory = ref_carve(&q, N * K, &a, N * K, &b, N * K, &u, N * V, &S, c->B * H * dk * dv, &d.q, N * K,
                             &d.k, N * K, &d.v, N * V, &d.a, N * K, &d.b, N * K, &d.g, N * G, REF_END);
    if (!memory) return -1;
    memcpy(q, c->in[0], N * K * sizeof *q);
    for (size_t i = 0; i < N * K; i++) {
        a[i] = -beta[i / dk] * k[i];
        b[i] = erase[i] * (G ? exp(g[i * G / K]) : 1);
    }
    for (size_t i = 0; i < N * V; i++) u[i] = beta[i / dv] * v[i];
    const ref_dplr_arrays x = {q, (double *)k, u, a, b, (double *)g, NULL};
    int status = back ? 0 : ref_dplr_fwd(c->out, S, &x, &p);
    if (back) {
        memset(d.q, 0, N * K * sizeof *q), memset(d.k, 0, N * K * sizeof *q);
        memset(d.v, 0, N * V * sizeof *q), memset(d.a, 0, N * K * sizeof *q);
        memset(d.b, 0, N * K * sizeof *q), memset(d.g, 0, N * G * sizeof *q);
        if (!G) d.g = NULL;
        status = ref_dplr_bwd(&d, c->dout, NULL, &x, &p);
        for (size_t i = 0; i < N * K && !status; i++) {
            c->din[0][i] += d.q[i];
            c->din[1][i] += d.k[i] - beta[i / dk] * d.a[i];
            c->din[3][i / dk] -= d.a[i] * k[i];
            c->din[5][i] += d.b[i] * (G ? exp(g[i * G / K]) : 1);
            if (G) c->din[4][i * G / K] += d.b[i] * b[i];
        }
        for (size_t i = 0; i < N * V && !status; i++) {
            c->din[2][i] += d.v[i] * beta[i / dv];
            c->din[3][i / dv] += d.v[i] * v[i];
        }
        for (size_t i = 0; i < N * G && !status; i++) c->din[4][i] += d.g[i];
    }
    free(memory);
    return status;
}
static int delta_fwd(const twin_call *c) { return c->in[5] ? erasing(c, 0) : state(c, 1, 0, 0); }
static int delta_bwd(const twin_call *c) { return c->in[5] ? erasing(c, 1) : state(c, 1, 0, 1); }

static int retention(const twin_call *c, int back) {
    const size_t H = c->H, V = columns(c), K = last(input(c, 0));
    const ref_state p = {c->B, c->L, H, K / H, V / H, REF_GATES_FIXED, 1 / sqrt((double)(K / H))};
    double *S, *g;
    void *memory = ref_carve(&S, c->B * H * p.dk * p.dv, &g, H, REF_END);
    if (!memory) return -1;
    for (size_t h = 0; h < H; h++) g[h] = log1p(-exp2(-5 - (double)h));
    int status = 0;
    if (back)
        status = ref_gla_bwd(c->din[0], c->din[1], c->din[2], NULL, NULL, c->dout, NULL, c->in[0], c->in[1],
                             c->in[2], g, NULL, &p);
    else
        ref_gla_fwd(c->out, S, c->in[0], c->in[1], c->in[2], g, NULL, &p);
    free(memory);
    return status;
}
static int retention_fwd(const twin_call *c) { return retention(c, 0); }
static int retention_bwd(const twin_call *c) { return retention(c, 1); }
// One sequence at a time
static int taylor(const twin_call *c, int back) {
    const size_t H = c->H, V = columns(c), K = last(input(c, 0)), L = c->L;
    for (size_t b = 0; b < c->B; b++) {
        const size_t k = b * L * K, v = b * L * V;
        if (!back)
            ref_based_fwd(c->out + v, c->in[0] + k, c->in[1] + k, c->in[2] + v, L, H, K / H, V / H);
        else if (ref_based_bwd(c->din[0] + k, c->din[1] + k, c->din[2] + v, c->dout + v, c->in[0] + k,
                               c->in[1] + k, c->in[2] + v, L, H, K / H, V / H))
            return -1;
    }
    return 0;
}
static int taylor_fwd(const twin_call *c) { return taylor(c, 0); }
static int taylor_bwd(const twin_call *c) { return taylor(c, 1); }
static ref_recurrent recurrent(const twin_call *c) { return (ref_recurrent){c->B, c->L, columns(c)}; }
static int lstm_fwd(const twin_call *c) {
    const ref_recurrent p = recurrent(c);
    return ref_lstm_fwd(c->out, NULL, c->in[0], c->in[1], NULL, &p);
}
static int lstm_bwd(const twin_call *c) {
    const ref_recurrent p = recurrent(c);
    return ref_lstm_bwd(c->din[0], c->din[1], NULL, c->dout, NULL, c->in[0], c->in[1], NULL, &p);
}
static int gru_fwd(const twin_call *c) {
    const ref_recurrent p = recurrent(c);
    return ref_gru_fwd(c->out, NULL, c->in[0], c->in[1], c->in[2], NULL, &p);
}
static int gru_bwd(const twin_call *c) {
    const ref_recurrent p = recurrent(c);
    return ref_gru_bwd(c->din[0], c->din[1], c->din[2], NULL, c->dout, NULL, c->in[0], c->in[1], c->in[2],
                       NULL, &p);
}

// ---- Long filters and scans: one sequence at a time -------------------------------------------------------
static int longconv_fwd(const twin_call *c) {
    ref_longconv_fwd(c->out, c->in[0], c->in[1], c->in[2], c->B, c->L, columns(c), last(input(c, 1)),
                     c->step->call.real[3], columns(c));
    return 0;
}
static int longconv_bwd(const twin_call *c) {
    ref_longconv_bwd(c->din[0], c->din[1], c->din[2], c->dout, c->in[0], c->in[1], c->in[2], c->B, c->L,
                     columns(c), last(input(c, 1)), c->step->call.real[3], columns(c));
    return 0;
}
// Where sequence b of array i begins: weights are the same for all.
static size_t begin(const twin_call *c, size_t i, size_t b) {
    const tensor *t = input(c, i);
    return t->weight ? 0 : b * c->L * last(t);
}
// Weights of S4D and of the averages: read only, behind a struct of plain pointers.
static double *in(const twin_call *c, size_t i) { return (double *)(uintptr_t)c->in[i]; }
static int s4d(const twin_call *c, int complex_states, int back) {
    const size_t D = columns(c), S = input(c, 2)->shape[1], skip = complex_states ? 5 : 4;
    const ref_s4d_weights w = {in(c, 1), in(c, 2), complex_states ? in(c, 3) : NULL, in(c, skip - 1),
                               in(c, skip)};
    const ref_s4d_weights dw = {c->din[1], c->din[2], complex_states ? c->din[3] : NULL, c->din[skip - 1],
                                c->din[skip]};
    int status = 0;
    for (size_t b = 0; b < c->B && !status; b++) {
        const size_t at = b * c->L * D;
        status = back ? ref_s4d_bwd(c->din[0] + at, &dw, c->dout + at, c->in[0] + at, &w, c->L, D, S)
                      : ref_s4d_fwd(c->out + at, c->in[0] + at, &w, c->L, D, S);
    }
    return status;
}
static int s4d_fwd(const twin_call *c) { return s4d(c, 1, 0); }
static int s4d_bwd(const twin_call *c) { return s4d(c, 1, 1); }
static int s4d_real_fwd(const twin_call *c) { return s4d(c, 0, 0); }
static int s4d_real_bwd(const twin_call *c) { return s4d(c, 0, 1); }
static int ema(const twin_call *c, int back) {
    const size_t D = columns(c), S = input(c, 1)->shape[1];
    const ref_mega_weights w = {in(c, 1), in(c, 2), in(c, 3), in(c, 4), in(c, 5)};
    const ref_mega_weights dw = {c->din[1], c->din[2], c->din[3], c->din[4], c->din[5]};
    int status = 0;
    for (size_t b = 0; b < c->B && !status; b++) {
        const size_t at = b * c->L * D;
        status = back ? ref_mega_ema_bwd(c->din[0] + at, &dw, c->dout + at, c->in[0] + at, &w, c->L, D, S)
                      : ref_mega_ema_fwd(c->out + at, c->in[0] + at, &w, c->L, D, S);
    }
    return status;
}
static int ema_fwd(const twin_call *c) { return ema(c, 0); }
static int ema_bwd(const twin_call *c) { return ema(c, 1); }
static int scan(const twin_call *c, int back) {
    const size_t D = columns(c), S = input(c, 2)->shape[1];
    int status = 0;
    for (size_t b = 0; b < c->B && !status; b++) {
        const size_t at = begin(c, 0, b), bc = begin(c, 3, b);
        status = back ? ref_selective_scan_bwd(c->din[0] + at, c->din[1] + at, c->din[2], c->din[3] + bc,
                                               c->din[4] + bc, c->din[5], c->dout + at, c->in[0] + at,
                                               c->in[1] + at, c->in[2], c->in[3] + bc, c->in[4] + bc,
                                               c->in[5], c->L, D, S)
                      : ref_selective_scan_fwd(c->out + at, c->in[0] + at, c->in[1] + at, c->in[2],
                                               c->in[3] + bc, c->in[4] + bc, c->in[5], c->L, D, S);
    }
    return status;
}
static int scan_fwd(const twin_call *c) { return scan(c, 0); }
static int scan_bwd(const twin_call *c) { return scan(c, 1); }

// ---- Focus ------------------------------------------------------------------------------------------------
// The row of the maximum of part o of a bin, the first of equals; parts: adaptive, rows floor(o R / O) to
// ceil((o + 1) R / O).
static size_t largest(const twin_call *c, size_t b, size_t bin, size_t o, size_t column) {
    const size_t R = NUMBERS(c)[1], O = NUMBERS(c)[2], D = last(input(c, 0));
    const size_t from = bin * R + o * R / O, to = bin * R + ((o + 1) * R + O - 1) / O;
    size_t best = from;
    for (size_t t = from; t < to; t++)
        if (c->in[0][(b * c->L + t) * D + column] > c->in[0][(b * c->L + best) * D + column]) best = t;
    return (b * c->L + best) * D + column;
}
static int bin_max(const twin_call *c, int back) {
    const size_t bins = c->L / NUMBERS(c)[1], O = NUMBERS(c)[2], D = last(input(c, 0));
    for (size_t i = 0; i < c->B * bins * D * O; i++) {
        const size_t at = largest(c, i / (bins * D * O), i / (D * O) % bins, i % O, i / O % D);
        if (back)
            c->din[0][at] += c->dout[i];
        else
            c->out[i] = c->in[0][at];
    }
    return 0;
}
static int bin_max_fwd(const twin_call *c) { return bin_max(c, 0); }
static int bin_max_bwd(const twin_call *c) { return bin_max(c, 1); }
static int repeat_fwd(const twin_call *c) {
    for (size_t i = 0; i < count(c); i++) c->out[i] = c->in[1][i % input(c, 1)->n];
    return 0;
}
static int repeat_bwd(const twin_call *c) {
    for (size_t i = 0; i < count(c); i++) c->din[1][i % input(c, 1)->n] += c->dout[i];
    return 0;
}
static double clamped_tanh(double x) {
    const double limit = 1 - 0x1p-23, t = tanh(x);
    return t > limit ? limit : t < -limit ? -limit : t;
}
static int coefficients(const twin_call *c, int back) {
    const int triangle = NUMBERS(c)[1] == 1;
    const double factor = c->step->call.real[2];
    const size_t bins = c->step->out->shape[1], all = count(c) / c->B, size = all / bins;
    const size_t shift = NUMBERS(c)[3] == 0 ? size : 0;
    if (!back) memset(c->out, 0, count(c) * sizeof(double));
    for (size_t b = 0; b < c->B; b++)
        for (size_t i = 0; i + shift < all; i += 2) {
            const double *raw = c->in[0] + b * all + i;
            if (triangle) {
                const double t0 = clamped_tanh(raw[0]), t1 = clamped_tanh(raw[1]);
                if (!back) {
                    c->out[b * all + shift + i] = factor * (1 + t1) * t0;
                    c->out[b * all + shift + i + 1] = factor * t1;
                    continue;
                }
                const double d0 = c->dout[b * all + shift + i], d1 = c->dout[b * all + shift + i + 1];
                c->din[0][b * all + i] = factor * d0 * (1 + t1) * (1 - t0 * t0);
                c->din[0][b * all + i + 1] = factor * (d1 + d0 * t0) * (1 - t1 * t1);
                continue;
            }
            for (size_t k = 0; k < 2; k++) {
                const double s = 1 / (1 + exp(-raw[k]));
                if (back)
                    c->din[0][b * all + i + k] = factor * s * (1 - s) * c->dout[b * all + shift + i + k];
                else
                    c->out[b * all + shift + i + k] = factor * s;
            }
        }
    return 0;
}
static int coefficients_fwd(const twin_call *c) { return coefficients(c, 0); }
static int coefficients_bwd(const twin_call *c) { return coefficients(c, 1); }
static int resonate(const twin_call *c, int back) {
    static const ref_focus_mode modes[] = {REF_FOCUS_CAUSAL, REF_FOCUS_CARRY, REF_FOCUS_LITERAL};
    const size_t D = columns(c), bins = c->L / NUMBERS(c)[2], per = input(c, 1)->n / c->B;
    const ref_focus_filter p = {c->L, D, bins, per / (bins * D * 2), modes[NUMBERS(c)[3]]};
    int status = 0;
    for (size_t b = 0; b < c->B && !status; b++) {
        const size_t at = b * c->L * D;
        status = back ? ref_focus_filter_bwd(c->din[0] + at, c->din[1] + b * per, c->dout + at, c->in[0] + at,
                                             c->in[1] + b * per, &p)
                      : ref_focus_filter_fwd(c->out + at, c->in[0] + at, c->in[1] + b * per, &p);
    }
    return status;
}
static int resonate_fwd(const twin_call *c) { return resonate(c, 0); }
static int resonate_bwd(const twin_call *c) { return resonate(c, 1); }

#define TWIN(NAME, OF)                                                                                       \
    { NAME, OF##_fwd, OF##_bwd }
static const twin twins[] = {
    TWIN("linear", linear),
    TWIN("add", add),
    TWIN("mul", mul),
    TWIN("scale", scale),
    TWIN("divide", divide),
    TWIN("offset", offset),
    TWIN("power", power),
    TWIN("value", value),
    TWIN("max", max),
    TWIN("bias", bias),
    TWIN("gain", gain),
    TWIN("gain_heads", gain_heads),
    TWIN("affine", gain),
    TWIN("gelu", gelu),
    TWIN("silu", silu),
    TWIN("sigmoid", sigmoid),
    TWIN("relu", relu),
    TWIN("sqrt", sqrt),
    TWIN("abs", abs),
    TWIN("sin", sin),
    TWIN("cos", cos),
    TWIN("tanh", tanh),
    TWIN("softplus", softplus),
    TWIN("elu1", elu1),
    TWIN("exp", exp),
    TWIN("log", log),
    TWIN("gate", gate),
    TWIN("layernorm", layernorm),
    TWIN("rmsnorm", rmsnorm),
    TWIN("rms_heads", rms_heads),
    TWIN("layernorm_heads", layernorm_heads),
    TWIN("softmax_heads", softmax_heads),
    TWIN("sum_heads", sum_heads),
    TWIN("per_head", per_head),
    TWIN("unitnorm", unitnorm),
    TWIN("unitnorm_heads", unitnorm_heads),
    TWIN("shift", shift),
    TWIN("reverse", reverse),
    TWIN("columns", columns),
    TWIN("join", join),
    TWIN("cumsum", cumsum),
    TWIN("mean", mean),
    TWIN("conv", conv),
    TWIN("conv_each", conv),
    TWIN("conv_heads", conv_heads),
    TWIN("unit_projection", unit_projection),
    TWIN("pool", pool),
    TWIN("rope", rope),
    TWIN("attention", attention),
    TWIN("sliding_attention", sliding),
    TWIN("taylor_attention", taylor),
    TWIN("retention", retention),
    TWIN("lstm", lstm),
    TWIN("gru", gru),
    TWIN("attention_maps", attention_maps),
    TWIN("linear_attention", linear_attention),
    TWIN("gla", gla),
    TWIN("ssd", ssd),
    TWIN("delta", delta),
    TWIN("decays", decays),
    TWIN("landmark_keys", landmark_keys),
    TWIN("landmark_attention", landmark),
    TWIN("longconv", longconv),
    TWIN("s4d", s4d),
    TWIN("s4d_real", s4d_real),
    TWIN("ema", ema),
    TWIN("selective_scan", scan),
    TWIN("bin_max", bin_max),
    TWIN("repeat_pairs", repeat),
    TWIN("coefficients", coefficients),
    TWIN("resonate", resonate),
    {"scan", scan_forward, scan_backward},
};

const twin *twin_find(const char *name) {
    for (size_t i = 0; i < sizeof twins / sizeof *twins; i++)
        if (!strcmp(twins[i].name, name)) return &twins[i];
    return NULL;
}
