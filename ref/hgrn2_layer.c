// hgrn2_layer.c: HGRN2's layer (2404.07904; fla/layers/hgrn2.py). ref_layers.h has its equations.
#include "layer.h"

CORE(hgrn2, p)

static double rest(double lb) { return 1 - lb; }
static double rest_slope(double lb) {
    (void)lb;
    return -1;
}

static void equations(steps *s, const ref_hgrn2_layer_arrays *x, const ref_hgrn2_layer_arrays *d,
                      const ref_hgrn2_layer *p, ref_state *sizes) {
    const size_t D = p->D, dh = D / p->H;
    step *in = ARRAY(x, p->L * D);
    step *q = step_siluof(s, step_linear(s, in, ARRAY(wq, D * D), NULL, D, D));
    step *f = step_sigmoid(s, step_linear(s, in, ARRAY(w_f, D * D), NULL, D, D));
    step *v = step_linear(s, in, ARRAY(w_i, D * D), NULL, D, D);
    if (x->lb) { // f = lb + (1 - lb) sigma
        step *lb = ARRAY(lb, D);
        f = step_add(s, step_mul(s, f, step_map(s, rest, rest_slope, lb), 1), lb, 1);
    }
    *sizes = (ref_state){1, p->L, p->H, dh, dh, REF_GATES_CHANNEL, 1};
    step *o =
        step_core(s, p->L * D, (step *[]){q, step_logof(s, f), v}, 3, hgrn2_forward, hgrn2_backward, sizes);
    o = step_rms(s, o, ARRAY(gain, D), D, p->eps);
    step_linear(s, o, ARRAY(wo, D * D), NULL, D, D);
}
LAYER(hgrn2_layer, ref_hgrn2_layer, ref_state)
