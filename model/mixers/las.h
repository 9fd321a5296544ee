// las.h: the decays of LaS, also for who looks at them.
#ifndef SMX_LAS_H
#define SMX_LAS_H

#include <stddef.h>

enum { LAS_MAX_HEADS = 256 };

// alphas [H]: exp(-alpha_h) evenly spaced from 1 down to exp(-B).
void las_alphas(double *alphas, size_t H, double B);

// table [H][2L-1], smx_attention.decay_table: exp(-alpha_h (i - j)) by distance, 0 below 2^-60, where a logit no longer differs from 0 in
// its softmax and gradients would become subnormal numbers; 1 above the diagonal, where the mask decides; L > 0.
void las_decay(float *table, const double *alphas, size_t H, size_t L);

#endif
