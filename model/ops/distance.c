// distance.c: see distance.h.
#include "distance.h"

#include "kernels/mathd.h"

const float *alibi_table(graph *g, size_t heads, double scale) {
    size_t L = g->L;
    float *t = graph_own(g, heads * (2 * L - 1) * sizeof *t);
    for (size_t h = 0; t && h < heads; h++) {
        double slope = scale * md_exp(-8.0 * (double)(h + 1) / (double)heads * 0.69314718055994530942);
        for (size_t i = 0; i < 2 * L - 1; i++) {
            double distance = i < L - 1 ? (double)(L - 1 - i) : (double)(i - (L - 1));
            t[h * (2 * L - 1) + i] = (float)(-slope * distance);
        }
    }
    return t;
}

// alpha_h = -ln((H-1-h + h e^-B) / (H-1)): finite for large B, alpha_0 = 0; one head does not decay.
void las_alphas(double *alphas, size_t H, double B) {
    for (size_t h = 0; h < H; h++) {
        double last = (double)(H - 1);
        alphas[h] = H == 1 ? 0.0 : -md_log(((last - (double)h) + (double)h * md_exp(-B)) / last);
    }
}

void las_decay(float *table, const double *alphas, size_t H, size_t L) {
    for (size_t h = 0; h < H; h++)
        for (size_t at = 0; at < 2 * L - 1; at++) {
            const double factor = md_exp(-alphas[h] * (double)(at < L ? L - 1 - at : at - (L - 1)));
            table[h * (2 * L - 1) + at] = factor < 0x1p-60 ? 0.0f : (float)factor;
        }
}

const float *decay_table(graph *g, const double *alphas, size_t H) {
    float *t = graph_own(g, H * (2 * g->L - 1) * sizeof *t);
    if (t) las_decay(t, alphas, H, g->L);
    return t;
}
