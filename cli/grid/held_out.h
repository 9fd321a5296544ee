// held_out.h: what a run is judged by while it trains (--every), on the sequences that a choice is made by.
#ifndef CLI_GRID_HELD_OUT_H
#define CLI_GRID_HELD_OUT_H

#include "result.h"

// Judged by the sequences that a choice is made by, a quarter as many as judge the run and others than those:
// *value, and *loss (NULL allowed). 0, or 2 with the sentence printed.
int held_out_measure(const job *j, smx_run *run, char metric[16], double *value, double *loss);

typedef struct {
    size_t n, room;
    double *values; // after every, 2 every, ... steps
} held_out_curve;

// After a step: judges the run where one is due. 0, or 2 with the sentence printed.
int held_out_add(held_out_curve *curve, const job *j, smx_run *run);
void held_out_give(held_out_curve *curve, result *r); // to a result, which frees it
void held_out_free(held_out_curve *curve);
// Beside a checkpoint, which does not hold it: written before the checkpoint is, so that it has at least as
// many points. Reading cuts it to what belongs to a checkpoint of `step` steps: 1 where it is too short.
int held_out_write(const held_out_curve *curve, const char *path);
int held_out_read(held_out_curve *curve, const job *j, uint64_t step, const char *path);
// So many points of such a text: 0; 1: it has fewer. held_out_free in any case.
int held_out_parse(held_out_curve *curve, uint64_t wanted, const char *text);

#endif
