// user_data.h: whether arrays of the caller's are what a task reads and asks for.
#ifndef SMX_USER_DATA_H
#define SMX_USER_DATA_H

#include "batch_graph.h"

// Inputs of `rows` rows: tokens or values, NULL what the task does not read. 0, or -1 with a sentence.
int user_inputs_check(const batch_graph *b, const int32_t *tokens, const float *values, size_t rows,
                      smx_error *error);
// A whole batch, its targets too.
int user_batch_check(const batch_graph *b, const smx_batch *batch, smx_error *error);

#endif
