// gdn2_layer.c: Gated DeltaNet-2's layer (2605.22791; fla/layers/gdn2.py). ref_layers.h has its equations.
#include "layer.h"

CORE(gdn2, p)

static void equations(steps *s, const ref_gdn2_layer_arrays *x, const ref_gdn2_layer_arrays *d,
                      const ref_kda_layer *p, ref_state *sizes) {
    const size_t D = p->D, H = p->H, dh = D / H;
    step *in = ARRAY(x, p->L * D), *wq = ARRAY(wq, D * D), *wk = ARRAY(wk, D * D), *wv = ARRAY(wv, D * D);
    step *conv_q = ARRAY(conv_q, D * p->W), *conv_k = ARRAY(conv_k, D * p->W),
         *conv_v = ARRAY(conv_v, D * p->W);
    step *q = step_unit(s, silu_conv(s, in, wq, conv_q, D, D), dh);
    step *k = step_unit(s, silu_conv(s, in, wk, conv_k, D, D), dh);
    step *v = silu_conv(s, in, wv, conv_v, D, D);

    step *f1 = step_linear(s, in, ARRAY(w_f1, D * p->f_rank), NULL, D, p->f_rank);
    step *f = step_linear(s, f1, ARRAY(w_f2, p->f_rank * D), ARRAY(dt_bias, D), p->f_rank, D);
    step *g = decay(s, f, ARRAY(a_log, H), dh);
    step *b = step_sigmoid(s, step_linear(s, in, ARRAY(w_b, D * D), NULL, D, D));
    if (p->negative) b = step_scale(s, b, 2);
    step *w = step_sigmoid(s, step_linear(s, in, ARRAY(w_w, D * D), NULL, D, D));

    *sizes = (ref_state){1, p->L, H, dh, dh, REF_GATES_CHANNEL, 1 / sqrt((double)dh)};
    step *o = step_core(s, p->L * D, (step *[]){q, k, v, g, b, w}, 6, gdn2_forward, gdn2_backward, sizes);
    step *g1 = step_linear(s, in, ARRAY(w_g1, D * p->g_rank), NULL, D, p->g_rank);
    step *gate = step_sigmoid(s, step_linear(s, g1, ARRAY(w_g2, p->g_rank * D), ARRAY(b_g, D), p->g_rank, D));
    o = step_mul(s, step_rms(s, o, ARRAY(gain, dh), dh, p->eps), gate, 1);
    step_linear(s, o, ARRAY(wo, D * D), NULL, D, D);
}
LAYER(gdn2_layer, ref_kda_layer, ref_state)
