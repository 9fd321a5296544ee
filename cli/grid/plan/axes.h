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
    long seeds;           // 1..seeds; 0: the config's own
    size_t kinds;         // runs times values, or times so many drawn points of them
    size_t jobs;          // kinds times seeds: some say the same, see grid_config
    size_t points, drawn; // values in all; how many of them are drawn for each run, 0: all
    uint64_t draw;        // which
} grid;

// Two spellings of one number are one value.
int grid_same_value(const char *a, const char *b);
// From "key=a,b,c" and "key=LOW:HIGH:COUNT", evenly spaced, or "...COUNTlog", evenly in the logarithm, to six
// digits. 0, or 2 with the sentence printed: also where a value is given twice, or a key is none. Values are
// judged by grid_config. grid_free in any case.
int grid_open(grid *g, const char *config, size_t n_axes, const char *const *axes, long seeds);
// Of all points so many, drawn at random without repetition, the same everywhere and for every run and seed.
int grid_draw(grid *g, size_t points, uint64_t draw);
void grid_free(grid *g);

// Number i: seeds vary slowest, so that everything has been tried once before anything is tried twice; the
// last axis varies fastest. Numbers 0 to kinds - 1 are of the first seed. NULL with the error where a value
// is not allowed. *repeats: an axis that its mixer or task does not know is not at its first value, so that
// an earlier number is the same job.
config *grid_config(const grid *g, size_t i, int *repeats, smx_error *error);
// The same for numbers that differ in the seed and in the axes with over[axis] alone.
size_t grid_group(const grid *g, size_t i, const char over[MOST_AXES]);

#endif
