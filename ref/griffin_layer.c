// griffin_layer.c: Griffin's recurrent block (2402.19427; recurrentgemma/torch/layers.py). ref_layers.h has
// its
// equations.
#include "layer.h"

static int rglru_forward(double *y, double *const *x, const void *sizes) {
    const ref_rglru *p = sizes;
    double *last;
    void *memory = ref_carve(&last, p->D, REF_END);
    const int status = memory ? ref_rglru_fwd(y, last, (const ref_rglru_arrays *)x, p) : REF_NO_MEMORY;
    free(memory);
    return status;
}
static int rglru_backward(double *const *d, const double *dy, double *const *x, const void *sizes) {
    return ref_rglru_bwd((const ref_rglru_arrays *)d, dy, (const ref_rglru_arrays *)x, sizes);
}

static void equations(steps *s, const ref_griffin_layer_arrays *x, const ref_griffin_layer_arrays *d,
                      const ref_griffin_layer *p, ref_rglru *sizes) {
    const size_t D = p->D, H = p->H, dh = D / H;
    step *in = ARRAY(x, p->L * D), *w_x = ARRAY(w_x, D * D), *b_x = ARRAY(b_x, D);
    step *u = step_conv(s, step_linear(s, in, w_x, b_x, D, D), ARRAY(conv_x, D * p->W), D);
    u = step_add(s, u, ARRAY(conv_bias, D), 1);
    step *w_ga = ARRAY(w_ga, D * dh), *b_ga = ARRAY(b_ga, D), *ga = step_blocks(s, u, w_ga, b_ga, H, dh);
    step *w_gi = ARRAY(w_gi, D * dh), *b_gi = ARRAY(b_gi, D), *gi = step_blocks(s, u, w_gi, b_gi, H, dh);
    step *lam = ARRAY(lam, D);
    *sizes = (ref_rglru){p->L, D, p->c, p->first_whole};
    step *h = step_core(s, p->L * D, (step *[]){u, ga, gi, lam}, 4, rglru_forward, rglru_backward, sizes);
    step *w_y = ARRAY(w_y, D * D), *b_y = ARRAY(b_y, D);
    h = step_mul(s, h, step_geluof(s, step_linear(s, in, w_y, b_y, D, D)), 1);
    step *wo = ARRAY(wo, D * D), *b_o = ARRAY(b_o, D);
    step_linear(s, h, wo, b_o, D, D);
}
LAYER(griffin_layer, ref_griffin_layer, ref_rglru)
