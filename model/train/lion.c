// lion.c: Lion (Chen et al. 2023, Alg. 2): every weight by the rate, in the direction of a sign.
//   p = p - rate decay p - rate sign(beta1 m + (1 - beta1) g), then m = beta2 m + (1 - beta2) g
#include "optimiser.h"

static void update(const train_step *s, const train_weight *w) {
    const float b1 = (float)s->settings->beta1, b2 = (float)s->settings->beta2, a1 = 1.0f - b1,
                a2 = 1.0f - b2;
    const float rate = (float)s->rate, shrink = rate * w->decay, clip = s->clip;
    float *restrict p = w->data, *restrict m = w->moment[0];
    const float *restrict g = w->grad;
    for (size_t i = 0; i < w->weight->n; i++) {
        const float own = g[i] * clip, way = b1 * m[i] + a1 * own;
        const float by = way > 0.0f ? rate : way < 0.0f ? -rate : 0.0f;
        p[i] = (p[i] - shrink * p[i]) - by;
        m[i] = b2 * m[i] + a2 * own;
    }
}

const optimiser OPTIMISER_LION_ROW = {.moment = {"lion.m"}, .update = update};
