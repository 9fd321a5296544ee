// distance.c: see distance.h.
#include "distance.h"

#include <string.h>

#include "kernels/core/mathd.h"

size_t distance_rows(const graph *g, size_t chunk) {
    return g->mode == GRAPH_STREAM && chunk && chunk < g->L ? chunk : g->L;
}

typedef struct {
    size_t H, L;
    double scale;
} alibi;
static void fill_alibi(float *t, const void *with) {
    const alibi *a = with;
    const size_t L = a->L;
    for (size_t h = 0; h < a->H; h++) {
        double slope = a->scale * md_exp(-8.0 * (double)(h + 1) / (double)a->H * 0.69314718055994530942);
        for (size_t i = 0; i < 2 * L - 1; i++) {
            double distance = i < L - 1 ? (double)(L - 1 - i) : (double)(i - (L - 1));
            t[h * (2 * L - 1) + i] = (float)(-slope * distance);
        }
    }
}
const float *alibi_table(graph *g, size_t heads, size_t chunk, double scale) {
    const alibi with = {heads, distance_rows(g, chunk), scale};
    return graph_table(g, size_mul(heads, 2 * (uint64_t)with.L - 1), fill_alibi, &with, sizeof with);
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

typedef struct {
    size_t H, L;
    double alphas[LAS_MAX_HEADS];
} las;
static void fill_decay(float *table, const void *with) {
    const las *a = with;
    las_decay(table, a->alphas, a->H, a->L);
}
const float *decay_table(graph *g, const double *alphas, size_t H, size_t chunk) {
    las with = {.H = H, .L = distance_rows(g, chunk)};
    memcpy(with.alphas, alphas, H * sizeof *alphas);
    return graph_table(g, size_mul(H, 2 * (uint64_t)with.L - 1), fill_decay, &with, sizeof with);
}
