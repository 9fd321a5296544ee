// training.h: from a job to its result.
#ifndef CLI_GRID_TRAINING_H
#define CLI_GRID_TRAINING_H

#include "result.h"

// The complete config as smx_run_open takes it: that of the job, with its threads; malloc'ed, NULL: out of
// memory.
char *training_config(const job *j);
// Of a run that took its last step (failed NULL), or whose step failed with this error. A loss that is no
// longer finite is a result too, the same everywhere. 0, or 2 with the sentence printed.
int training_result(result *r, const job *j, smx_run *run, const smx_error *failed);
// At a rung: what a choice is made by alone. 0, or 2 with the sentence printed.
int training_rung(result *r, const job *j, smx_run *run);
// All of it at once, nothing saved. 0, or 2 with the sentence printed.
int training_whole(result *r, const job *j);

#endif
