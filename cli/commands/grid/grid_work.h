// grid_work.h: what `seqmix grid` was told, and the grid that this makes.
#ifndef CLI_COMMANDS_GRID_WORK_H
#define CLI_COMMANDS_GRID_WORK_H

#include "cli/cli.h"
#include "cli/grid/plan/axes.h"
#include "cli/grid/job.h"
#include "cli/grid/plan/names.h"
#include "cli/grid/plan/plan.h"

typedef struct {
    cli_list words; // the config, then the axes
    const char *out, *part, *setup, *within, *rungs, *keep, *best;
    long seeds, tasks, cpus, random, draw;
    job_options job; // as each line has them
    int count, slurm;
} grid_options;

typedef struct {
    grid_options o;
    grid g;
    size_t part, parts;
    names seen, shapes;
    size_t jobs;
    plan rungs;              // those of --rungs, without rivals; n_rungs 0: none
    char over[MOST_AXES];    // which axes' values are rivals
    char (*plans)[JOB_NAME]; // [kinds] once it is known: the plan of the job's group
} grid_work;

// --rungs, --keep and --best: 0, or 2 with the sentence printed.
int grid_read_rungs(grid_work *w);
// The part's jobs, a line each, or those of the first rung and who takes what is left; leaves the plans. 0,
// or 2 with the sentence printed.
int grid_lines(grid_work *w);

// --count: a few jobs are timed; what is done. 0, or 2 with the sentence printed.
int grid_count(const grid_work *w);

#endif
