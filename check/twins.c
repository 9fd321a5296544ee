// twins.c: see twins.h. What goes entry by entry, and norms; the rest is in files of its own.
#include "twins_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <seqmix/ref.h>
#include <seqmix/ref_cores.h>

#include "scan.h"

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

static const twin twins_entries[] = {
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
    TWIN("decays", decays),
    {"scan", scan_forward, scan_backward},
    {NULL, NULL, NULL},
};

const twin *twin_find(const char *name) {
    const twin *const tables[] = {twins_entries, twins_filters, twins_attention};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        for (const twin *t = tables[i]; t->name; t++)
            if (!strcmp(t->name, name)) return t;
    return NULL;
}
