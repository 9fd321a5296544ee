// mamba3_layer.c: Mamba-3's layer, one input and output a head (2603.15569; state-spaces/mamba
// modules/mamba3.py). ref_layers.h has its equations.
#include "layer.h"

static int mamba3_forward(double *y, double *const *x, const void *sizes) {
    const ref_mamba3 *p = sizes;
    const ref_mamba3_arrays r = {x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], NULL, NULL, NULL, NULL};
    double *last;
    void *memory = ref_carve(&last, p->H * p->N * p->P, REF_END);
    const int status = memory ? ref_mamba3_fwd(y, last, NULL, &r, p) : REF_NO_MEMORY;
    free(memory);
    return status;
}
static int mamba3_backward(double *const *d, const double *dy, double *const *x, const void *sizes) {
    const ref_mamba3_arrays r = {x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], NULL, NULL, NULL, NULL},
                            dr = {d[0], d[1], d[2], d[3], d[4], d[5], d[6], d[7], NULL, NULL, NULL, NULL};
    return ref_mamba3_bwd(&dr, dy, &r, sizes);
}

// A, at most -1e-4, where it has no slope.
static const double least = 1e-4;
static double plain_rate(double a) { return -fmax(step_softplus(a), least); }
static double plain_slope(double a) { return step_softplus(a) > least ? -step_sigma(a) : 0; }
static double heavy_of(double a) { return a >= 0 ? 1 + a : 1 / (1 - a); }
static double heavy_rate(double a) { return -fmax(heavy_of(a), least); }
static double heavy_slope(double a) {
    return heavy_of(a) <= least ? 0 : a >= 0 ? -1 : -1 / ((1 - a) * (1 - a));
}

// rms(x W) gain for all heads, + a bias a head: [L][H][N]
static step *columns(steps *s, step *in, step *w, step *gain, step *bias, const ref_mamba3_layer *p) {
    step *k = step_rms(s, step_linear(s, in, w, NULL, p->D, p->N), gain, p->N, p->eps);
    return step_add(s, step_heads(s, k, p->N, p->H), bias, 1);
}

static void equations(steps *s, const ref_mamba3_layer_arrays *x, const ref_mamba3_layer_arrays *d,
                      const ref_mamba3_layer *p, ref_mamba3 *sizes) {
    const size_t D = p->D, H = p->H, N = p->N, E = 2 * D;
    step *in = ARRAY(x, p->L * D);
    step *v = step_linear(s, in, ARRAY(w_x, D * E), NULL, D, E),
         *z = step_linear(s, in, ARRAY(w_z, D * E), NULL, D, E);
    step *w_b = ARRAY(w_b, D * N), *b_gain = ARRAY(b_gain, N), *b_bias = ARRAY(b_bias, H * N);
    step *w_c = ARRAY(w_c, D * N), *c_gain = ARRAY(c_gain, N), *c_bias = ARRAY(c_bias, H * N);
    step *k = columns(s, in, w_b, b_gain, b_bias, p), *q = columns(s, in, w_c, c_gain, c_bias, p);
    step *w_dt = ARRAY(w_dt, D * H), *dt_bias = ARRAY(dt_bias, H);
    step *dt = step_softplusof(s, step_linear(s, in, w_dt, dt_bias, D, H));
    step *lam = step_sigmoid(s, step_linear(s, in, ARRAY(w_lam, D * H), NULL, D, H));
    step *rate = step_linear(s, in, ARRAY(w_a, D * H), NULL, D, H);
    rate = p->heavy ? step_map(s, heavy_rate, heavy_slope, rate) : step_map(s, plain_rate, plain_slope, rate);
    step *g = step_mul(s, rate, dt, 1);
    step *turn = step_tanhof(s, step_linear(s, in, ARRAY(w_th, D * p->R), NULL, D, p->R));
    step *theta = step_scale(s, step_mul(s, step_heads(s, turn, p->R, H), dt, p->R), acos(-1));
    step *skip = ARRAY(skip, H);

    *sizes = (ref_mamba3){p->L, H, N, E / H, p->R};
    step *o = step_core(s, p->L * E, (step *[]){q, k, v, g, dt, lam, theta, skip}, 8, mamba3_forward,
                        mamba3_backward, sizes);
    step_linear(s, step_mul(s, o, step_siluof(s, z), 1), ARRAY(wo, E * D), NULL, E, D);
}
LAYER(mamba3_layer, ref_mamba3_layer, ref_mamba3)
