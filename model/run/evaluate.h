// evaluate.h: what a run keeps of its last evaluation.
#ifndef SMX_EVALUATE_H
#define SMX_EVALUATE_H

#include <seqmix/run.h>

#include "batch_graph.h"

typedef struct {
    batch_graph graph;
    config *c; // the run's, with the changes
    char *changes;
    uint64_t *confusion; // [classes][classes]: target, answer
    size_t classes;      // of the confusion
} evaluation;
void evaluation_close(evaluation *e);

// smx_run_evaluate on the sequences from number `first` of the evaluation stream on: others than those that
// judge a run (0 on) where the stream is endless, or what is held out is large enough.
int run_evaluate_from(smx_run *r, uint64_t first, size_t count, smx_evaluation *result, smx_error *error);

#endif
