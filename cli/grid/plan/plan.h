// plan.h: successive halving (Jamieson & Talwalkar 2016): rivals train to a rung, the best of them go on to
// the next. A plan is a file in the folder of results, named by its content: the rungs, and every rival. Who
// goes on is decided by what the rivals' results at a rung say, which have the same bytes everywhere, so that
// every machine decides alike: at the first rung by the loss, which tells settings apart while all of them
// still guess; at a later one by the measure, of equals by the loss.
#ifndef CLI_GRID_PLAN_H
#define CLI_GRID_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "cli/grid/job.h"

enum { MOST_RUNGS = 8 };

typedef struct {
    char *config; // as in a job
    // Which job, of so many steps: said once, as every decision looks at every rival. 0 and "" where the name
    // hangs on what a file holds, and has to be found each time.
    uint64_t steps;
    char name[JOB_NAME];
} plan_rival;
typedef struct {
    size_t n_rungs;
    double rungs[MOST_RUNGS];  // shares of the steps, ascending, the last 1
    size_t few[MOST_RUNGS];    // so many seeds of each setting alone, never fewer than before; 0: all
    double within[MOST_RUNGS]; // those go on whose measure is at most this far from the best; 0: a share
    double keep;               // that share of the settings, at least one
    long eval, every;
    size_t n, seeds;
    plan_rival *rivals; // [n / seeds][seeds]: setting by setting
    char name[JOB_NAME];
} plan;

// "1/9:1,1/3~0.03,1" and "1/3", of a grid of so many seeds: 0, or 2 with the sentence printed.
int plan_read_rungs(plan *p, const char *rungs, const char *keep, size_t seeds);
// How many seeds of a setting train up to a rung, 0 on.
size_t plan_seeds(const plan *p, size_t rung);
// Adds the next rival, whose config it copies; name NULL: it has to be found. 0, or 2 with the sentence
// printed.
int plan_add(plan *p, const char *config_text, uint64_t steps, const char *name);
// Names it, and leaves it in FOLDER/plans unless it is there. 0, or 2 with the sentence printed.
int plan_leave(plan *p, const char *folder);
int plan_open(plan *p, const char *folder, const char *name); // 0, or 2 with the sentence printed
char *plan_text(const plan *p, size_t *size);                 // malloc'ed; NULL: out of memory
// Fills an empty plan from such a text, which it cuts into lines. 0, or -1: it is none; plan_free in any
// case.
int plan_parse(plan *p, char *text);
void plan_free(plan *p);

// The steps of a rung, 0 on, of a training of so many.
uint64_t plan_steps(const plan *p, size_t rung, uint64_t steps);
// The share of all steps that so many settings take by its rungs (p->seeds says of how many seeds), at most:
// how many are within a distance is not known beforehand.
double plan_share(const plan *p, size_t settings);
// FOLDER/ab/NAME.rung-STEP.json: the result of a job at a rung.
int plan_path(const job *j, const char *folder, uint64_t step, char path[JOB_PATH]);

// How many workers a plan of so many settings is worth beside those of the first rung: as many as can be at
// work at a later one, but for who ends the first and goes on; at least one. (Where a distance says who goes
// on, as many as the share would keep: who does the work of two is slower, not wrong.)
size_t plan_lines(const plan *p, size_t settings);
// Rival i as a job, its name alone, and its steps: 0, or -1 with the sentence printed. job_free.
int plan_job(const plan *p, size_t i, job *j, uint64_t *steps);

// How far a plan is.
typedef struct {
    size_t rung;        // the first, 0 on, at which results are missing; n_rungs: all is done
    size_t n, *missing; // the rivals whose they are
    // The first `in` train there; up to `out` follow those that were left behind since a rung of which there
    // is a result.
    size_t in, out, *settings;
    int fresh; // of this rung there is none yet
} plan_state;
// 0, or -1 with the sentence printed; plan_state_free in any case. Of the first rung `most` missing ones do,
// from the end: who does not want to do them has seen enough.
int plan_look(const plan *p, const char *folder, size_t most, plan_state *s);
void plan_state_free(plan_state *s);

#endif
