// evaluate.h: what a run keeps of its last evaluation.
#ifndef SMX_EVALUATE_H
#define SMX_EVALUATE_H

#include "batch_graph.h"

typedef struct {
    batch_graph graph;
    config *c; // the run's, with the changes
    char *changes;
    uint64_t *confusion; // [classes][classes]: target, answer
    size_t classes;      // of the confusion
} evaluation;
void evaluation_close(evaluation *e);

#endif
