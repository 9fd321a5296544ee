// adamw.c: AdamW (Loshchilov & Hutter 2019), of all weights that no other optimiser takes.
#include "optimiser.h"

#include "kernels/core/mathd.h"

// 1 - b^t; b = 0 is allowed
static float correction(float b, double t) {
    return b > 0.0f ? (float)(1.0 - md_exp(t * md_log((double)b))) : 1.0f;
}

static void update(const train_step *s, const train_weight *w) {
    const common_settings *k = s->settings;
    smx_adamw_opts o = {.lr = (float)s->rate,
                        .b1 = (float)k->beta1,
                        .b2 = (float)k->beta2,
                        .eps = (float)k->epsilon,
                        .wd = w->decay,
                        .clip = s->clip};
    o.c1 = correction(o.b1, (double)s->step);
    o.c2 = correction(o.b2, (double)s->step);
    smx_adamw(w->data, w->moment[0], w->moment[1], w->grad, w->weight->n, &o);
}

static double reach(const train_step *s, double norms) {
    const common_settings *k = s->settings;
    return norms / ((double)correction((float)k->beta1, (double)s->step) * (double)(float)k->epsilon);
}

const optimiser OPTIMISER_ADAMW_ROW = {
    .moment = {"adam.m", "adam.v"},
    .squares = 1 << 1,
    .update = update,
    .reach = reach,
};
