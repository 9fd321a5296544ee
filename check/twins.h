// twins.h: the operations of the language in double, over the oracle: of each its forward and backward.
#ifndef SMX_TWINS_H
#define SMX_TWINS_H

#include "model/equations/build.h"

typedef struct {
    const equation_step *step;
    size_t B, L, H;
    const double *in[FUNCTION_ARGUMENTS]; // NULL: absent
    double *din[FUNCTION_ARGUMENTS];      // zeroed; NULL where absent
    double *out;
    const double *dout;
} twin_call;
typedef struct {
    const char *name;                    // of the function
    int (*forward)(const twin_call *c);  // 0, or -1: no memory
    int (*backward)(const twin_call *c); // adds to din, or overwrites
} twin;

const twin *twin_find(const char *name);

#endif
