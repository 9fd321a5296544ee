// deltaproduct_layer.c: Gated DeltaProduct's layer (2502.10297; fla/layers/gated_deltaproduct.py).
// ref_layers.h has its equations.
#include "layer.h"

// The core with its number of steps a row behind its sizes.
typedef struct {
    ref_state state;
    size_t n;
} product;
static int product_forward(double *y, double *const *x, const void *sizes) {
    const product *p = sizes;
    double *state;
    void *memory = ref_carve(&state, p->state.H * p->state.dk * p->state.dv, REF_END);
    if (!memory) return REF_NO_MEMORY;
    const int status = ref_deltaproduct_fwd(y, state, (const ref_deltaproduct_arrays *)x, &p->state, p->n);
    free(memory);
    return status;
}
static int product_backward(double *const *d, const double *dy, double *const *x, const void *sizes) {
    const product *p = sizes;
    return ref_deltaproduct_bwd((const ref_deltaproduct_arrays *)d, dy, NULL,
                                (const ref_deltaproduct_arrays *)x, &p->state, p->n);
}

static void equations(steps *s, const ref_deltaproduct_layer_arrays *x,
                      const ref_deltaproduct_layer_arrays *d, const ref_deltaproduct_layer *p,
                      product *sizes) {
    const size_t D = p->D, H = p->H, dh = D / H, nD = p->n * D;
    step *in = ARRAY(x, p->L * D), *wq = ARRAY(wq, D * D), *wk = ARRAY(wk, D * nD), *wv = ARRAY(wv, D * nD);
    step *conv_q = ARRAY(conv_q, D * p->W), *conv_k = ARRAY(conv_k, nD * p->W),
         *conv_v = ARRAY(conv_v, nD * p->W);
    step *q = step_unit(s, silu_conv(s, in, wq, conv_q, D, D), dh);
    step *k = step_unit(s, silu_conv(s, in, wk, conv_k, D, nD), dh);
    step *v = silu_conv(s, in, wv, conv_v, D, nD);
    step *beta = step_sigmoid(s, step_linear(s, in, ARRAY(w_beta, D * p->n * H), NULL, D, p->n * H));
    beta = step_scale(s, beta, 2);
    step *a_log = ARRAY(a_log, H), *w_a = ARRAY(w_a, D * H), *dt_bias = ARRAY(dt_bias, H), *g = NULL;
    if (a_log) g = decay(s, step_linear(s, in, w_a, dt_bias, D, H), a_log, 1);

    *sizes = (product){{1, p->L, H, dh, dh, g ? REF_GATES_HEAD : REF_GATES_NONE, 1 / sqrt((double)dh)}, p->n};
    step *o =
        step_core(s, p->L * D, (step *[]){q, k, v, beta, g}, 5, product_forward, product_backward, sizes);
    step *gate = step_siluof(s, step_linear(s, in, ARRAY(w_gate, D * D), NULL, D, D));
    o = step_mul(s, step_rms(s, o, ARRAY(gain, dh), dh, p->eps), gate, 1);
    step_linear(s, o, ARRAY(wo, D * D), NULL, D, D);
}
LAYER(deltaproduct_layer, ref_deltaproduct_layer, product)
