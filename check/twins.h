// twins.h: the operations of the language in double, over the oracle: of each its forward and backward.
#ifndef SMX_TWINS_H
#define SMX_TWINS_H

#include "kernels/core/philox.h"
#include "model/equations/build.h"

typedef struct {
    const equation_step *step;
    size_t B, L, H;
    const double *in[EQUATION_INPUTS]; // NULL: absent
    double *din[EQUATION_INPUTS];      // zeroed; NULL where absent
    double *out;
    const double *dout;
    double *last;    // of a scan: where forward leaves the states after the last row (interpreter_states)
    double rounding; // each step within is moved by up to so much of itself, drawn from `random`
    smx_rng *random;
} twin_call;
typedef struct {
    const char *name;                    // of the function
    int (*forward)(const twin_call *c);  // 0, or -1: no memory
    int (*backward)(const twin_call *c); // adds to din, or overwrites
} twin;

const twin *twin_find(const char *name);

#endif
