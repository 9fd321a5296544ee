// state.h: a trained model that reads on: what it remembers of a sequence whose rows come in pieces, and text
// that it writes.
//
// Any pieces give the very words (bits) of the whole sequence read at once, at every instruction set and in
// WebAssembly; the exceptions (long convolutions; fast=1) stand in docs/STATES.md. Errors as in run.h: 0 or
// -1, nothing has changed after a failure. A state belongs to its run, whose weights it shares: a thousand
// states on one run hold the weights once. Close states before their run. A run and its states are for one
// thread at a time. Once the run has been trained further its older states are refused: what they remember
// came of other weights.
#ifndef SMX_RUN_STATE_H
#define SMX_RUN_STATE_H

#include <stddef.h>
#include <stdint.h>

#include <seqmix/error.h>
#include <seqmix/run.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct smx_run_state smx_run_state;

// A state of `sequences` sequences (B) that have no row yet. most: rows that each may have, for which memory
// is reserved; 0: no limit, where the model's memory does not grow (recurrences, attention in chunks). NULL
// where the model sees rows ahead, has learned no position that far, or where most=0 would not do.
smx_run_state *smx_state_open(smx_run *run, size_t sequences, size_t most, smx_error *error);
void smx_state_close(smx_run_state *state); // NULL allowed
// Bytes that such a state holds; 0 with the error where there is none.
uint64_t smx_state_bytes(smx_run *run, size_t sequences, size_t most, smx_error *error);

typedef struct {
    size_t sequences, most; // as opened
    uint64_t rows;          // read so far, of each sequence
    size_t vocab, channels; // of a row: a token below vocab, or so many numbers; the other is 0
    size_t answers;         // numbers of an answer: a logit for each class, or 1
    int text;               // tokens are the bytes of a text
    uint64_t bytes;
} smx_state_form;
void smx_state_look(const smx_run_state *state, smx_state_form *form);

// `rows` rows more of each sequence: tokens [B][rows], or values [B][rows][channels], the other NULL. answers
// [B][rows][answers] (NULL: not wanted): the model's output at each of these rows; of a task with one answer
// a sequence, the answer to the sequence that ends there. Stopped by smx_run_stop's flag, it has read the
// first of them, which smx_state_look counts.
int smx_state_push(smx_run_state *state, const int32_t *tokens, const float *values, size_t rows,
                   float *answers, smx_error *error);
// The output at the last row, [B][answers]; NULL before the first. Valid until the next call that takes the
// state.
const float *smx_state_answers(const smx_run_state *state);
// What number i of the model's operations that carry numbers from row to row carries: the name of its result
// as in smx_run_tensor_at, and the numbers, one sequence's after another's, in one dimension, as its kernel
// lays them out (a scan: docs/STATES.md). Zeros before the first row. -1: there are fewer. Valid until the
// next call that takes the state.
int smx_state_tensor_at(const smx_run_state *state, size_t i, smx_tensor *tensor);

// Another state that has read the same and goes its own way from there.
smx_run_state *smx_state_copy(const smx_run_state *state, smx_error *error);
// As bytes (malloc'ed: free them), with a digest of the model and a checksum; the same bytes everywhere,
// little-endian. Refused when read: another model's or other weights' state, a truncated or damaged one.
void *smx_state_save(const smx_run_state *state, size_t *size, smx_error *error);
smx_run_state *smx_state_load(smx_run *run, const void *bytes, size_t size, smx_error *error);

// ---- Writing: the next token, of models whose answers are their tokens' classes
typedef struct {
    double temperature; // logits are divided by it; 0: always the likeliest
    size_t top_k;       // only the k likeliest; 0: all
    double top_p;       // only the likeliest that reach this much together, at least one; 1: all
    uint64_t seed;
} smx_draw;
// tokens [B]: drawn for the row after the last; sequence b draws as seed + b. The draw depends on (seed, rows
// read) and the answers only, so the same seed writes the same text everywhere. -1: no row yet, another kind
// of answers, or a draw that is not allowed.
int smx_state_draw(const smx_run_state *state, const smx_draw *draw, int32_t *tokens, smx_error *error);
// odds [answers]: the model's own probabilities after the last row of sequence b, at temperature 1. -1 as
// above.
int smx_state_odds(const smx_run_state *state, size_t b, float *odds, smx_error *error);

#ifdef __cplusplus
}
#endif
#endif
