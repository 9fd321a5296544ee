// las.h: the decays of LaS, also for who looks at them.
#ifndef SMX_LAS_H
#define SMX_LAS_H

#include <stddef.h>

// alphas [H]: exp(-alpha_h) evenly spaced from 1 down to exp(-B).
void las_alphas(double *alphas, size_t H, double B);

#endif
