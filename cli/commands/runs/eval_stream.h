// eval_stream.h: an evaluation whose sequences are read piece by piece, in the memory of a state.
#ifndef CLI_EVAL_STREAM_H
#define CLI_EVAL_STREAM_H

#include <seqmix/run.h>

// As smx_run_evaluate_as on `count` held-out sequences, of tasks that answer with a class. 0, or -1 with the
// error.
int eval_stream(smx_run *run, size_t count, const char *changes, smx_evaluation *result, smx_error *error);

#endif
