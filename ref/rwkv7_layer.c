// rwkv7_layer.c: RWKV-7's time mix (2503.14456; BlinkDL/RWKV-LM rwkv_v7_demo.py). ref_layers.h has its
// equations.
#include "layer.h"

CORE(rwkv7, p)

static double log_decay(double y) { return -exp(-0.5) * step_sigma(y); }
static double log_decay_slope(double y) { return -exp(-0.5) * step_sigma_slope(y); }
static double less_one(double a) { return a - 1; }
static double one_more(double a) { return a + 1; }
static double one(double a) {
    (void)a;
    return 1;
}

// x + mu o (x of the row before - x)
static step *mixed(steps *s, step *in, step *change, step *mu) {
    return step_add(s, in, step_mul(s, change, mu, 1), 1);
}
// start + x W1 W2, with tanh in between where that is asked for.
static step *low_rank(steps *s, step *x, step *start, step *w1, step *w2, size_t D, size_t rank, int bend) {
    step *inner = step_linear(s, x, w1, NULL, D, rank);
    return step_linear(s, bend ? step_tanhof(s, inner) : inner, w2, start, rank, D);
}

static void equations(steps *s, const ref_rwkv7_layer_arrays *x, const ref_rwkv7_layer_arrays *d,
                      const ref_rwkv7_layer *p, ref_state *sizes) {
    const size_t D = p->D, H = p->H, dh = D / H;
    step *in = ARRAY(x, p->L * D), *change = step_add(s, step_shift(s, in, D), step_scale(s, in, -1), 1);
    step *r = step_linear(s, mixed(s, in, change, ARRAY(mu_r, D)), ARRAY(w_r, D * D), NULL, D, D);
    step *k = step_linear(s, mixed(s, in, change, ARRAY(mu_k, D)), ARRAY(w_k, D * D), NULL, D, D);
    step *x_v = mixed(s, in, change, ARRAY(mu_v, D));
    step *v = step_linear(s, x_v, ARRAY(w_v, D * D), NULL, D, D);
    step *d0 = ARRAY(d0, D), *d1 = ARRAY(d1, D * p->d_rank), *d2 = ARRAY(d2, p->d_rank * D);
    step *y = low_rank(s, mixed(s, in, change, ARRAY(mu_w, D)), d0, d1, d2, D, p->d_rank, 1);
    step *g = step_map(s, log_decay, log_decay_slope, y);
    step *a0 = ARRAY(a0, D), *a1 = ARRAY(a1, D * p->a_rank), *a2 = ARRAY(a2, p->a_rank * D);
    step *a = step_sigmoid(s, low_rank(s, mixed(s, in, change, ARRAY(mu_a, D)), a0, a1, a2, D, p->a_rank, 0));

    step *kappa = step_unit(s, step_mul(s, k, ARRAY(k_k, D), 1), dh);
    step *part = step_mul(s, step_map(s, less_one, one, a), ARRAY(k_a, D), 1);
    k = step_mul(s, k, step_map(s, one_more, one, part), 1);
    if (x->v_first) {
        step *v0 = ARRAY(v0, D), *v1 = ARRAY(v1, D * p->v_rank), *v2 = ARRAY(v2, p->v_rank * D);
        step *share = step_sigmoid(s, low_rank(s, x_v, v0, v1, v2, D, p->v_rank, 0));
        step *away = step_add(s, ARRAY(v_first, p->L * D), step_scale(s, v, -1), 1);
        v = step_add(s, v, step_mul(s, away, share, 1), 1);
    }

    *sizes = (ref_state){1, p->L, H, dh, dh, REF_GATES_CHANNEL, 1};
    step *o =
        step_core(s, p->L * D, (step *[]){r, g, k, v, kappa, a}, 6, rwkv7_forward, rwkv7_backward, sizes);
    o = step_mul(s, step_centre(s, o, dh, p->gn_eps), ARRAY(gn_gain, D), 1);
    o = step_add(s, o, ARRAY(gn_bias, D), 1);
    step *own = step_sums(s, step_mul(s, step_mul(s, r, k, 1), ARRAY(r_k, D), 1), dh); // sum_head r k r_k
    o = step_add(s, o, step_mul(s, v, own, dh), 1);
    step *g1 =
        step_linear(s, mixed(s, in, change, ARRAY(mu_g, D)), ARRAY(g1, D * p->g_rank), NULL, D, p->g_rank);
    step *gate = step_linear(s, step_sigmoid(s, g1), ARRAY(g2, p->g_rank * D), NULL, p->g_rank, D);
    step_linear(s, step_mul(s, o, gate, 1), ARRAY(wo, D * D), NULL, D, D);
}
LAYER(rwkv7_layer, ref_rwkv7_layer, ref_state)
