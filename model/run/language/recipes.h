// recipes.h: settings that were measured to learn, and the named presets with what is claimed of them.
#ifndef SMX_RECIPES_H
#define SMX_RECIPES_H

#include "model/settings/language.h"

extern const recipe recipes[]; // ended by a NULL task
extern const preset presets[]; // ended by a NULL name

// What was measured of run `run` of a preset after its steps, for each of seeds 1, 2, 3: metric (accuracy,
// free, r2, bits) on 500 held-out sequences (all 10,000 test images of MNIST), with changes to the task's
// keys, lies in [low, high]; less what an earlier run, number `minus` from 1 (0: none), reached with the
// same seed. fast: also part of `make test`.
typedef struct {
    const char *preset;
    size_t run;
    const char *changes, *metric;
    double low, high;
    int fast;
    size_t minus;
} claim;
extern const claim claims[]; // ended by a NULL preset

#endif
