// user_data.h: whether the caller's arrays are what a task reads and asks for.
#ifndef SMX_USER_DATA_H
#define SMX_USER_DATA_H

#include "batch_graph.h"

// Inputs of `rows` rows: tokens or values, NULL what the task does not read. 0, or -1 with a sentence.
int user_inputs_check(const batch_graph *b, const int32_t *tokens, const float *values, size_t rows,
                      smx_error *error);
// A batch of batch->sequences sequences, its targets too.
int user_batch_check(const batch_graph *b, const smx_batch *batch, smx_error *error);
// Sequences of the batch.
static inline size_t user_batch_count(const batch_graph *b, const smx_batch *batch) {
    return batch->sequences ? batch->sequences : b->B;
}
// Whether the task has samples of its own to train on and be judged by.
int own_samples_check(const batch_graph *b, const config *c, smx_error *error);

#endif
