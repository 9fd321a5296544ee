// reproduction.h: tables and figures of the papers, as trainings that say again, at a size that two cores can
// carry, what they say. A row is trained at every rate with every seed; its rate is chosen on other held-out
// sequences than those that judge it.
#ifndef CLI_REPRODUCTION_H
#define CLI_REPRODUCTION_H

#include <stddef.h>

#include "cli/grid/job.h"

typedef struct {
    const char *name;   // within its table
    const char *config; // without what its table says
    double paper;       // what the paper prints; NaN: a curve, or nothing
} reproduced_row;

// One row is better than another; without `worse`: a share that comes as far as the paper's, to a point.
typedef struct {
    const char *says, *better, *worse; // names of rows
} reproduced_claim;

typedef struct {
    const char *name, *source, *title;
    const char *setting;            // where it differs from the paper's
    const char *common, *rate;      // of every row; rates with commas between
    const char *quick, *quick_rate; // --quick: changes that make it easy (and fast=0), and its rate
    const char *measure;            // as cli_measure names it
    long seeds, eval;
    double hours; // of one core, measured or estimated, without --quick
    const reproduced_row *rows;
    const reproduced_claim *claims;
    const char *paper_in; // what the numbers of the paper are; NULL: the same as `measure`
    const char *paper_on; // what they are measured on, where that is another task; NULL: on this one
} reproduction;

extern const reproduction reproductions[]; // ends with a name of NULL

// The training of a row: its job under `rate` and `seed`. 0, or 2 with the sentence printed; job_free in any
// case.
int reproduction_job(const reproduction *t, const reproduced_row *row, const char *rate, long seed, int quick,
                     job *j);

// How many held-out sequences judge it.
long reproduction_eval(const reproduction *t, int quick);

enum { REPRODUCED_RATES = 8, REPRODUCED_SEEDS = 5 };
typedef struct {
    char rate[REPRODUCED_RATES][16];
    size_t rates;
    long seeds;
    double value[REPRODUCED_RATES][REPRODUCED_SEEDS]; // NaN: not run, or stopped
    double choice[REPRODUCED_RATES][REPRODUCED_SEEDS];
    char digest[REPRODUCED_RATES][REPRODUCED_SEEDS][17];
    size_t missing;
    size_t best; // rate; REPRODUCED_RATES: none is whole
    double mean, least, most, seconds;
    unsigned long long params;
} reproduced;

// What `folder` holds of a row, and where that is nothing `from` (stored.h; NULL: nothing). 0, or 2 with the
// sentence printed.
struct stored;
int reproduction_read(const reproduction *t, const reproduced_row *row, int quick, const char *folder,
                      const struct stored *from, reproduced *is);

// "holds": every seed of the better row is above every seed of the worse one, a single seed by QUICK_GAP at
// least; "does not hold": the other way round; "cannot tell"; "not run".
#define QUICK_GAP 0.05
const char *reproduction_verdict(const reproduced *better, const reproduced *worse, const char *measure);
// Of a share, beside the paper's percent: "holds": every seed comes as far, "does not hold": none does.
#define AS_FAR 1.0
const char *reproduction_reached(const reproduced *is, double paper);

#endif
