// layer.h: what ref/*_layer.c have in common beside steps.h.
#ifndef REF_LAYER_H
#define REF_LAYER_H

#include <seqmix/ref_layers.h>

#include "steps.h"

#include <math.h>
#include <stdlib.h>

// The caller's array NAME with its gradient.
#define ARRAY(name, n) step_input(s, x->name, d ? d->name : NULL, n)

// Forward and backward of a layer from its equations: static void NAME_steps(s, x, d, p, sizes).
#define LAYER(name, parameters, kept)                                                                        \
    int ref_##name##_fwd(double *y, const ref_##name##_arrays *x, const parameters *p) {                     \
        steps *s = calloc(1, sizeof *s);                                                                     \
        kept sizes;                                                                                          \
        if (!s) return REF_NO_MEMORY;                                                                        \
        equations(s, x, NULL, p, &sizes);                                                                    \
        const int status = steps_forward(s, y);                                                              \
        free(s);                                                                                             \
        return status;                                                                                       \
    }                                                                                                        \
    int ref_##name##_bwd(const ref_##name##_arrays *d, const double *dy, const ref_##name##_arrays *x,       \
                         const parameters *p) {                                                              \
        steps *s = calloc(1, sizeof *s);                                                                     \
        kept sizes;                                                                                          \
        if (!s) return REF_NO_MEMORY;                                                                        \
        s->gradients = 1;                                                                                    \
        equations(s, x, d, p, &sizes);                                                                       \
        const int status = steps_backward(s, dy);                                                            \
        free(s);                                                                                             \
        return status;                                                                                       \
    }

// A core of ref_cores.h that gives a state too, as a step: NAME_forward and NAME_backward.
#define CORE(name, sizes_of)                                                                                 \
    static int name##_forward(double *y, double *const *x, const void *sizes) {                              \
        const ref_state *p = sizes;                                                                          \
        double *state;                                                                                       \
        void *memory = ref_carve(&state, p->H * p->dk * p->dv, REF_END);                                     \
        const int status =                                                                                   \
            memory ? ref_##name##_fwd(y, state, (const ref_##name##_arrays *)x, sizes_of) : REF_NO_MEMORY;   \
        free(memory);                                                                                        \
        return status;                                                                                       \
    }                                                                                                        \
    static int name##_backward(double *const *d, const double *dy, double *const *x, const void *sizes) {    \
        const ref_state *p = sizes;                                                                          \
        return ref_##name##_bwd((const ref_##name##_arrays *)d, dy, NULL, (const ref_##name##_arrays *)x,    \
                                sizes_of);                                                                   \
    }

// SiLU(conv(x W))
static inline step *silu_conv(steps *s, step *x, step *w, step *conv, size_t in, size_t out) {
    return step_siluof(s, step_conv(s, step_linear(s, x, w, NULL, in, out), conv, out));
}
// -e^{a_log} softplus(f): f [L][H each], a_log [H]
static inline step *decay(steps *s, step *f, step *a_log, size_t each) {
    return step_scale(s, step_mul(s, step_softplusof(s, f), step_expof(s, a_log), each), -1);
}

#endif
