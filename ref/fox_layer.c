// fox_layer.c: the forgetting transformer's attention (2503.02130; zhixuan-lin/forgetting-transformer
// modeling_forgetting_transformer.py). ref_layers.h has its equations.
#include "layer.h"

static int attn_forward(double *y, double *const *x, const void *sizes) {
    return ref_attn_fwd(y, (const ref_attn_arrays *)x, sizes);
}
static int attn_backward(double *const *d, const double *dy, double *const *x, const void *sizes) {
    return ref_attn_bwd((const ref_attn_arrays *)d, dy, (const ref_attn_arrays *)x, sizes);
}

static double log_sigma(double x) { return -step_softplus(-x); }
static double log_sigma_slope(double x) { return step_sigma(-x); }

// k_t <- a k_{t-1} + (1 - a) k_t = k_t + a (k_{t-1} - k_t), a = sigma(x W) a head
static step *blend(steps *s, step *k, step *in, step *w, size_t D, size_t H) {
    step *a = step_sigmoid(s, step_linear(s, in, w, NULL, D, H));
    step *away = step_add(s, step_shift(s, k, D), step_scale(s, k, -1), 1);
    return step_add(s, k, step_mul(s, away, a, D / H), 1);
}

static void equations(steps *s, const ref_fox_layer_arrays *x, const ref_fox_layer_arrays *d,
                      const ref_fox_layer *p, ref_attn *sizes) {
    const size_t D = p->D, H = p->H, dh = D / H;
    const int pro = x->w_ks != NULL;
    step *in = ARRAY(x, p->L * D);
    step *q = step_linear(s, in, ARRAY(wq, D * D), NULL, D, D);
    step *k = step_linear(s, in, ARRAY(wk, D * D), NULL, D, D);
    step *v = step_linear(s, in, ARRAY(wv, D * D), NULL, D, D);
    step *w_f = ARRAY(w_f, D * H), *b_f = ARRAY(b_f, H);
    step *g = step_map(s, log_sigma, log_sigma_slope, step_linear(s, in, w_f, b_f, D, H));
    if (pro) {
        k = blend(s, k, in, ARRAY(w_ks, D * H), D, H);
        v = blend(s, v, in, ARRAY(w_vs, D * H), D, H);
        q = step_mul(s, step_rms(s, q, NULL, dh, p->eps), ARRAY(q_gain, D), 1);
        k = step_mul(s, step_rms(s, k, NULL, dh, p->eps), ARRAY(k_gain, D), 1);
    }
    *sizes = (ref_attn){
        .L = p->L, .H = H, .Hkv = H, .dk = dh, .dv = dh, .causal = 1, .scale = 1 / sqrt((double)dh)};
    step *o = step_core(s, p->L * D, (step *[]){q, k, v, g}, 4, attn_forward, attn_backward, sizes);
    if (pro) {
        o = step_mul(s, step_rms(s, o, NULL, dh, p->eps), ARRAY(gain, D), 1);
        o = step_mul(s, o, step_sigmoid(s, step_linear(s, in, ARRAY(w_gate, D * D), NULL, D, D)), 1);
    }
    step_linear(s, o, ARRAY(wo, D * D), NULL, D, D);
}
LAYER(fox_layer, ref_fox_layer, ref_attn)
