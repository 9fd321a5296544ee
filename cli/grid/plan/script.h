// script.h: a grid as a Slurm array script.
#ifndef CLI_GRID_SCRIPT_H
#define CLI_GRID_SCRIPT_H

#include <stddef.h>
#include <stdio.h>

typedef struct {
    const char *config, *const *axes, *out;
    size_t n_axes, jobs;
    long tasks, cpus, array; // parts of the grid; array tasks, of which each takes every array-th part
    const char *setup;       // lines of the shell before all else, NULL: none
    const char *within;      // "apptainer exec image.sif": what every seqmix is started by, NULL: nothing
    long ranks;              // processes of each job
    const char *options;     // of `seqmix grid`, quoted: " --seeds 5"
} script;

// How many array tasks this cluster allows: Slurm's MaxArraySize - 1, where scontrol can be asked, else its
// default, 1000; *asked says which.
long script_most_tasks(int *asked);

// On standard output; makes DIR/logs, as Slurm does not. 0, or 2 with the sentence printed.
int script_print(const script *s);

#endif
