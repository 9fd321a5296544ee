// axes.h: a grid: the runs of a config times the values of each key times seeds, numbered from 0, as configs.
#ifndef CLI_GRID_AXES_H
#define CLI_GRID_AXES_H

#include <stddef.h>
#include <stdint.h>

#include <seqmix/error.h>

#include "model/settings/config.h"

enum { MOST_AXES = 16, MOST_AXIS_VALUES = 1000, MOST_JOBS = 10000000 };

typedef struct {
    char key[64];
    size_t n;
    char **values; // as they stand in a config
} axis;

typedef struct {
    const char *config; // one run, several joined by ~, or a preset
    size_t runs, n_axes;
    axis axes[MOST_AXES];
    long seeds;  // 1..seeds; 0: the config's own
    size_t jobs; // runs times values times seeds: some say the same, see grid_config
} grid;

// From "key=a,b,c" and "key=LOW:HIGH:COUNT", evenly spaced, or "...COUNTlog", evenly in the logarithm, to six
// digits. 0, or 2 with the sentence printed: also where a value is given twice, or a key is none. Values are
// judged by grid_config. grid_free in any case.
int grid_open(grid *g, const char *config, size_t n_axes, const char *const *axes, long seeds);
void grid_free(grid *g);

// Number i; the last axis and then the seeds vary fastest. NULL with the error where a value is not allowed.
// *repeats: an axis that its mixer or task does not know is not at its first value, so that an earlier number
// is the same job.
config *grid_config(const grid *g, size_t i, int *repeats, smx_error *error);

#endif
