// comba_layer.c: Comba's layer (2506.02475; fla/layers/comba.py). ref_layers.h has its equations.
#include "layer.h"

CORE(comba, p)

static void equations(steps *s, const ref_comba_layer_arrays *x, const ref_comba_layer_arrays *d,
                      const ref_comba_layer *p, ref_state *sizes) {
    const size_t D = p->D, H = p->H, dh = D / H;
    step *in = ARRAY(x, p->L * D), *wq = ARRAY(wq, D * D), *wk = ARRAY(wk, D * D), *wv = ARRAY(wv, D * D);
    step *conv_q = ARRAY(conv_q, D * p->W), *conv_k = ARRAY(conv_k, D * p->W),
         *conv_v = ARRAY(conv_v, D * p->W);
    step *q = silu_conv(s, in, wq, conv_q, D, D), *k = silu_conv(s, in, wk, conv_k, D, D),
         *v = silu_conv(s, in, wv, conv_v, D, D);
    if (!p->code) {
        q = step_unit(s, q, dh);
        k = step_unit(s, k, dh);
    }
    step *read = step_mul(s, k, step_sigmoid(s, ARRAY(decay, H)), dh); // p = sigma(decay) k
    q = step_add(s, q, step_scale(s, step_mul(s, read, ARRAY(skip, H), dh), -1), 1);
    if (p->code) {
        q = step_unit(s, q, dh);
        k = step_unit(s, k, dh);
        read = step_unit(s, read, dh);
    }
    step *beta = step_sigmoid(s, step_linear(s, in, ARRAY(w_beta, D * H), NULL, D, H));
    step *f = step_linear(s, in, ARRAY(w_a, D * H), ARRAY(dt_bias, H), D, H);
    step *g = decay(s, f, ARRAY(a_log, H), 1);

    *sizes = (ref_state){1, p->L, H, dh, dh, REF_GATES_HEAD, 1 / sqrt((double)dh)};
    step *o =
        step_core(s, p->L * D, (step *[]){q, k, v, read, beta, g}, 6, comba_forward, comba_backward, sizes);
    step *gate = step_sigmoid(s, step_linear(s, in, ARRAY(w_gate, D * D), NULL, D, D));
    o = step_mul(s, step_rms(s, o, ARRAY(gain, dh), dh, p->eps), gate, 1);
    step_linear(s, o, ARRAY(wo, D * D), NULL, D, D);
}
LAYER(comba_layer, ref_comba_layer, ref_state)
