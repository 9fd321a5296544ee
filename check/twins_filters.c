// twins_filters.c: rows and columns, filters short and long, Focus, for twins.c.
#include "twins_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <seqmix/ref.h>
#include <seqmix/ref_cores.h>

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

const twin twins_filters[] = {
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
    TWIN("longconv", longconv),
    TWIN("s4d", s4d),
    TWIN("s4d_real", s4d_real),
    TWIN("ema", ema),
    TWIN("selective_scan", scan),
    TWIN("bin_max", bin_max),
    TWIN("repeat_pairs", repeat),
    TWIN("coefficients", coefficients),
    TWIN("resonate", resonate),
    {NULL, NULL, NULL},
};
