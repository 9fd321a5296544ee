// script.h: a grid as a Slurm array script.
#ifndef CLI_GRID_SCRIPT_H
#define CLI_GRID_SCRIPT_H

#include <stddef.h>

typedef struct {
    const char *config, *const *axes, *out;
    size_t n_axes, jobs;
    long seeds, eval, tasks, cpus; // seeds 0: not given
} script;

// On standard output; makes DIR/logs, as Slurm does not. quote prints a word in the shell's quotes. 0, or 2
// with the sentence printed.
int script_print(const script *s, void (*quote)(const char *word));

#endif
