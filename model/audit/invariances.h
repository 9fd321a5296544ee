// invariances.h: what a mixer's answers and its training do not depend on, measured: a model of two blocks is
// read and trained in every way that ought to make no difference, and what differs is noted.
#ifndef SMX_INVARIANCES_H
#define SMX_INVARIANCES_H

#include <seqmix/run.h>

// Each the largest difference of a logit (training: of a weight) as a share of the largest; 0: the same
// words.
typedef enum {
    BY_BATCH,    // logits at another number of sequences in the batch
    BY_PLACE,    // at another place in the batch, among other sequences
    BY_TRAINING, // in the forward pass of training
    BY_PIECES,   // by a state, all rows at once (prefill), in pieces, or a part at once and the rest
                 // row by row (decode), against row by row alone; three sequences in step
    BY_STATE,    // so read by a state, against the whole pass of prediction and training
    BY_THREADS,  // logits, also by a state, and trained weights, by other numbers of threads
    BY_AGAIN,    // trained weights, blocks computed again for backward (recompute=1), with threads too
    BY_ISA,      // the same, by another instruction set of this machine
    BY_LATER,    // logits of earlier rows, once later rows have changed
    INVARIANCES
} invariance;
extern const char *const invariance_names[INVARIANCES]; // heads of the table's columns
typedef struct {
    size_t configs,
        ahead; // tried; of these, such as see rows ahead: no state, and BY_LATER beyond their reach
    double by[INVARIANCES];
} invariances;

// The i-th config that is tried, runnable as it stands, and the row it belongs to (a mixer, "scan in a
// text"); NULL past the last: every mixer's modes (audit_mode), then texts with scans.
const char *invariance_config(char *text, size_t size, size_t i, const char **row);
// Measures one, and keeps what is larger in `found`. hook with pools[0..n_pools-1]: threads
// (smx_run_parallel). -1 with the error: it could not be measured.
int invariances_measure(invariances *found, const char *config, smx_parallel_for hook, void *const *pools,
                        size_t n_pools, smx_error *error);
// The weights after INVARIANCE_STEPS steps of training, as smx_run_digest gives them: the same number by
// every compiler and in every browser. 0 with the error.
enum { INVARIANCE_STEPS = 3 };
uint64_t invariance_digest(const char *config, smx_error *error);
// The Markdown table's head, and a row of it without the line's end.
void invariances_head(char *text, size_t size);
void invariances_row(char *text, size_t size, const char *row, const invariances *found);

#endif
