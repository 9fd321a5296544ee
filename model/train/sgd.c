// sgd.c: stochastic gradient descent with momentum (Polyak 1964): beta1 is the momentum, without dampening.
//   m = beta1 m + g,  p = (1 - rate decay) p - rate m
#include "optimiser.h"

static void update(const train_step *s, const train_weight *w) {
    const size_t n = w->weight->n;
    float *m = w->moment[0];
    smx_scale(m, m, (float)s->settings->beta1, n);
    smx_axpy(m, w->grad, s->clip, n);
    if (w->decay > 0.0f) smx_scale(w->data, w->data, 1.0f - (float)s->rate * w->decay, n);
    smx_axpy(w->data, m, -(float)s->rate, n);
}

const optimiser OPTIMISER_SGD_ROW = {.moment = {"sgd.m"}, .update = update};
