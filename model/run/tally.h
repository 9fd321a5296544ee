// tally.h: what an evaluation counts, batch by batch.
#ifndef SMX_TALLY_H
#define SMX_TALLY_H

#include "batch_graph.h"

typedef struct {
    double loss, sum, squares; // of the losses, and of regression's targets
    uint64_t targets, right, sequences;
    int regression, text;
} tally;
// Forward on the batch that b holds, counted; its answers are in b->best then.
void tally_batch(tally *t, batch_graph *b);
// Over `sequences` sequences; the free figures are the others.
void tally_result(const tally *t, uint64_t sequences, smx_evaluation *result);

#endif
