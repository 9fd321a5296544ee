// oracle_batch.h: one mechanism on inputs that may have leading batch dimensions, all the same ones. What has
// them is taken piece by piece; what has none is the same for all pieces, and its gradient is the sum over
// them. Where the mechanism has rows and no weight as long as they are, `cu` may be given: several sequences
// in one array, of which each is taken alone; first and last states then have one more dimension, [N], in
// front.
#ifndef CLI_ORACLE_BATCH_H
#define CLI_ORACLE_BATCH_H

#include "oracle_cases.h"

typedef struct {
    const oracle_array *is;
    npy value;
    size_t lead; // batch dimensions, 0: shared by all pieces
} oracle_batch_input;

typedef struct {
    const oracle_array *is;
    int gradient, shared; // shared: pieces are added
    size_t ndim, count;   // with the batch dimensions, where it has them
    size_t shape[NPY_MAX_DIMS];
    size_t piece; // numbers of one piece of the batch
    double *data;
} oracle_batch_result;

typedef struct {
    oracle_case c; // of the last piece: shapes, sizes and c.error
    oracle_batch_input inputs[ORACLE_MAX_ARRAYS];
    size_t n_inputs, ndim, batch[NPY_MAX_DIMS], pieces;
    int32_t *cu; // NULL, or where each of n_packed sequences begins, and the rows of all
    size_t n_packed;
    oracle_batch_result results[2 * ORACLE_MAX_ARRAYS]; // outputs and middles, each input's gradient
    size_t n_results;
    void (*watch)(const oracle_case *piece, void *context); // each piece when it has run; may be NULL
    void *context;
} oracle_batch;

// Each returns 0, or -1 with one sentence in b->c.error. open (params and mode are borrowed), set every
// input, run, look, close (close also after a failure).
int oracle_batch_open(oracle_batch *b, const oracle_mechanism *mechanism, const json *params,
                      const json *mode);
// Takes the numbers: value->data is the batch's then, and NULL in `value`.
int oracle_batch_set(oracle_batch *b, const char *name, npy *value);
int oracle_batch_run(oracle_batch *b);
// Whether `cu` is allowed beside the mechanism's own inputs.
int oracle_batch_packs(const oracle_mechanism *mechanism);
void oracle_batch_close(oracle_batch *b);

const oracle_batch_input *oracle_batch_input_named(const oracle_batch *b, const char *name);
// The result of that kind and name of a batch that ran, or NULL. ORACLE_INPUT: its gradient.
const oracle_batch_result *oracle_batch_result_of(const oracle_batch *b, oracle_kind kind, const char *name);

#endif
