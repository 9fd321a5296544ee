// constructions_focus.c: the second-order filters of [Focus] Eqs. 5-8, one channel.
#include "constructions.h"

#include <math.h>
#include <stdlib.h>

#include <seqmix/ref.h>
#include <seqmix/smx.h>

double con_pole_radius(double a1, double a2) { // roots of z^2 + a1 z + a2
    const double disc = a1 * a1 / 4 - a2;
    if (disc < 0) return sqrt(a2); // a conjugate pair: its modulus squared is the product
    return fabs(a1) / 2 + sqrt(disc);
}

int con_focus_filter(double *y, const double *x, const double *theta, size_t L, size_t bins, size_t F,
                     int carry, con_precision p) {
    if (p == CON_DOUBLE) {
        const ref_focus_filter r = {L, 1, bins, F, carry ? REF_FOCUS_CARRY : REF_FOCUS_CAUSAL};
        return ref_focus_filter_fwd(y, x, theta, &r) ? CON_NO_MEMORY : CON_OK;
    }
    const smx_iir s = {1, L, 1, bins, F, carry ? SMX_IIR_CARRY : SMX_IIR_CAUSAL};
    const size_t pad = 16, rows = (L + pad) / pad * pad, n = (2 * bins * F + pad) / pad * pad;
    void *block = malloc((2 * rows + n + pad) * sizeof(float) + smx_iir_scratch_bytes(&s));
    if (!block) return CON_NO_MEMORY;
    float *xf = (float *)(((uintptr_t)block + 63) & ~(uintptr_t)63), *yf = xf + rows, *tf = yf + rows;
    for (size_t t = 0; t < L; t++) xf[t] = (float)x[t];
    for (size_t i = 0; i < 2 * bins * F; i++) tf[i] = (float)theta[i];
    smx_iir_fwd(yf, xf, tf, NULL, tf + n, &s);
    for (size_t t = 0; t < L; t++) y[t] = yf[t];
    free(block);
    return CON_OK;
}
