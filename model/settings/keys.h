// keys.h: the tables that config.c reads.
#ifndef SMX_KEYS_H
#define SMX_KEYS_H

#include "config.h"

extern const config_key common_keys[]; // ended by a NULL name

// Good settings for a mixer on a task (either may be "*"); later lines override earlier ones.
typedef struct {
    const char *task, *mixer, *config;
} recipe;
extern const recipe recipes[]; // ended by a NULL task

typedef struct {
    const char *name, *title;
    const char *config; // may hold several runs
    const char *lesson; // the sentence it teaches
    const char *expect; // what was measured, over seeds 1, 2, 3
} preset;
extern const preset presets[]; // ended by a NULL name

// What was measured of run `run` of a preset after its steps, for each of seeds 1, 2, 3: metric (accuracy, free, r2, bits) on
// 500 held-out sequences (all 10,000 test images of MNIST), with changes to the task's keys, lies in [low, high]; less what an
// earlier run, number `minus` from 1 (0: none), reached with the same seed. fast: also part of `make test`.
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
