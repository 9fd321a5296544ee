// run.h: one experiment = model + task + optimiser + metrics, opened from a config string. What the command
// line, the WebAssembly module and the page are made of.
//
// Errors: functions that can fail return 0 on success and -1 on failure with one sentence in smx_error, which
// also says which key or file it is about (NULL where nobody wants to read it). Nothing aborts, nothing
// leaks: a failed open leaves nothing behind.
#ifndef SMX_RUN_H
#define SMX_RUN_H

#include <stddef.h>
#include <stdint.h>

#include <seqmix/error.h>
#include <seqmix/parallel.h>
#include <seqmix/smx.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct smx_run smx_run;

// Threads: separate runs may be opened, stepped, read and closed by separate threads at the same time; files
// that their tasks read are shared and locked. One run is for one thread at a time: its own threads come from
// smx_run_parallel's hook. Choosing an instruction set (SMX_ISA, smx_isa_choose) is for before the first run;
// smx_fast is a thread's own.

// config: "mixer=cat&task=mqar&seed=1..."; a string "a~b~c" of several runs opens its first.
smx_run *smx_run_open(const char *config, smx_error *error);
void smx_run_close(smx_run *run); // NULL allowed
// A long sequence needs more memory with a pool (smx_metrics.bytes);
// where there is none, the next step says so.
void smx_run_parallel(smx_run *run, smx_parallel_for hook, void *pool);
// A flag that another thread or a signal's handler may set while a call computes (NULL: none). Once it is not
// 0, smx_run_evaluate and smx_run_evaluate_as end before their next batch with -1 and SMX_STOPPED, and
// smx_state_push of the run's states before its next rows: those before them have then been read.
void smx_run_stop(smx_run *run, const volatile int *flag);
// One training on ranks->count processes: each opens (or loads) the same run, calls this once, before
// smx_run_parallel, and then the same functions in the same order. smx_run_step computes this process's
// sequences of every batch; afterwards all hold the same weights, losses and metrics, which are to the bit
// those of one process, whatever the count and the instruction sets. All else each computes in full.
// Sequences go to the processes in the pieces that gradients are summed by, so count is at most 8 and at most
// the batch; -1 where it is more, with fast=1, or where memory ends. smx_run_step ends with SMX_APART once a
// process does not answer: the weights are then those before that step, and the run takes no more steps.
int smx_run_share(smx_run *run, const smx_ranks *ranks, smx_error *error);

// Train n steps. Stops early at -1 when loss, gradient or a weight is not finite, naming the step and the
// first tensor at fault (SMX_DIVERGED); the weights are then those before that step. -1 at once where the
// task has no samples of its own (task=own): smx_run_step_on.
int smx_run_step(smx_run *run, size_t n, smx_error *error);

// The caller's data. The config's task says what a batch is made of and what it means;
// its own samples are left aside.
typedef struct {
    size_t sequences, length; // B, L
    size_t targets;           // T of a sequence: L, one for each row, or 1
    size_t most;              // how many of the T may be asked for
    size_t vocab;             // tokens are 0 .. vocab - 1; 0: rows are real numbers
    size_t channels;          // C, numbers of a row; 0: tokens
    size_t classes;           // answers are 0 .. classes - 1; 0: one real number
} smx_batch_form;
void smx_run_batch(const smx_run *run, smx_batch_form *form);
typedef struct {                // the arrays of the form, NULL the others
    const int32_t *tokens;      // [b][L]
    const float *values;        // [b][L][C], finite
    const int32_t *targets;     // [b][T], -1: none
    const float *target_values; // [b][T], NaN: none
    size_t sequences;           // b, at most B: a last batch may be smaller; 0: B
} smx_batch;
// One step on the batch. -1 also where it is not of the form; then nothing has changed.
int smx_run_step_on(smx_run *run, const smx_batch *batch, smx_error *error);

// Evaluate on `count` sequences of the evaluation stream, at `length` tokens (0: the config's).
typedef struct {
    double loss;              // mean cross-entropy (nats) or squared error over the targets
    double accuracy;          // share of targets answered right (0 for regression)
    double sequence_accuracy; // share of sequences with every target right
    double r2;                // regression only; 0 where the targets are all the same
    // Tasks whose later inputs are the earlier answers (copying with slots=emitted): the model reads its own
    // answers instead of the right ones. Otherwise equal to the two above.
    double free_accuracy, free_sequence_accuracy;
    uint64_t targets, sequences;
    int regression;   // the targets are numbers: r2 says how good, not accuracy
    int text;         // the targets are bytes of a text: loss / ln 2, the bits per character, says how good
    int free_running; // the model was also run on its own answers
} smx_evaluation;
int smx_run_evaluate(smx_run *run, size_t count, size_t length, smx_evaluation *result, smx_error *error);
// The same with changes to the task's keys, "length=256&pairs=32" (NULL: none):
// length generalisation in one call.
int smx_run_evaluate_as(smx_run *run, size_t count, const char *changes, smx_evaluation *result,
                        smx_error *error);
// The same on one batch of the caller's data (see smx_run_step_on): nothing is learnt.
int smx_run_evaluate_on(smx_run *run, const smx_batch *batch, smx_evaluation *result, smx_error *error);
// Of the last evaluation, on a batch too: how often the target was row r and the answer column c,
// [classes][classes]; NULL before one, for regression, and beyond 256 classes. Valid until the next
// evaluation.
const uint64_t *smx_run_confusion(const smx_run *run, size_t *classes);

typedef struct {
    uint64_t step;        // steps taken so far
    double loss;          // training loss of the last step (mean over its targets)
    double accuracy;      // training accuracy of the last step
    double rate;          // learning rate used by the last step
    double gradient_norm; // before clipping, of the last step
    uint64_t params;      // number of weights
    uint64_t steps;       // planned by the config
    uint64_t bytes;       // memory that training holds, known before the first step
    uint64_t flops;       // of one training step, backward included; a product and a sum are two
} smx_metrics;
// An evaluation at the same length takes at most `bytes` again, or what 2,048 rows take.
void smx_run_metrics(const smx_run *run, smx_metrics *metrics);

// Loss of every step taken, also before a load, oldest first (float32 words, the ones that must agree
// everywhere). Fewer than `step` where the checkpoint that was loaded held none (an earlier version wrote
// it): the last ones then. Valid until the next step, load or close.
const float *smx_run_losses(const smx_run *run, size_t *count);

// The full config, every key in table order. Valid until close.
const char *smx_run_config(const smx_run *run);
// The value of one key of it, decoded: "0.01"; NULL where there is no such key, or it is another task's or
// mixer's. Valid until close.
const char *smx_run_config_value(const smx_run *run, const char *key);

// A sentence to show beside the run, "" when there is nothing to say: its mixer sees tokens ahead of the
// targets, fast=1 has nothing to be fast with, or it was loaded from a checkpoint without a checksum. Valid
// until the next call of this.
const char *smx_run_warning(smx_run *run);

// 64-bit hash of all weights in order of name: from 0xcbf29ce484222325, for each float32 word
// (h ^ word) * 0x100000001b3, a NaN taken as 0x7fc00000. (The constants of FNV-1a, but a word at a time.)
uint64_t smx_run_digest(const smx_run *run);

// Tensors. A weight by its name ("embedding", "block0.mixer.filter_q", ...; "grad:NAME" is its last
// gradient), or after smx_run_look what the model did with that sample ("logits", "block0.mixer.q",
// "block0.mixer.map" [H][L][L], ...). Where an attention decays, has a bias or pools: its map_plain (softmax
// of the products alone), map_decayed (with decay or bias) and map_acting (pooled: times the values before
// pooling it gives the same output).
// `data` of a weight or gradient is valid until close, and shows the new values after each step; that of the
// others until the next look or predict, and `name` until the next call that takes the run.
typedef struct {
    const char *name;
    const float *data;
    uint32_t rank, shape[4];
    int is_weight;
} smx_tensor;
size_t smx_run_tensor_count(const smx_run *run); // 0: no memory for the list
int smx_run_tensor_at(const smx_run *run, size_t i, smx_tensor *tensor);
int smx_run_tensor(const smx_run *run, const char *name, smx_tensor *tensor, smx_error *error);
// Write a weight: `count` finite numbers in place of those of the weight `name`, in its layout (row-major).
// The optimiser's moments and the gradients stay. -1 where no weight has that name, or the numbers do not
// fit; then nothing has changed.
int smx_run_set_weight(smx_run *run, const char *name, const float *data, size_t count, smx_error *error);
// What if: `count` finite numbers in place of those of the weight `name` from number `at` on (row-major), for
// looks, predictions, saliency, reading and evaluations only, until dropped: name NULL drops all. A later one
// of the same place wins. Training, states, checkpoints, the digest and smx_run_tensor go on with the
// weights as trained. -1 where no weight has that name, or the numbers do not fit; then nothing has changed.
int smx_run_override(smx_run *run, const char *name, size_t at, const float *data, size_t count,
                     smx_error *error);

// Look at sample `index` of the evaluation stream (or of training, stream 1): runs the model on it alone,
// with every intermediate kept. tokens and targets have `length` entries (a target of -1 is none); predicted
// is the model's answer at every position. Arrays valid until the next call that takes the run.
typedef struct {
    size_t length, classes, channels;
    const int32_t *tokens;      // NULL when the input is real-valued
    const float *values;        // [length][channels] or NULL
    const int32_t *targets;     // [length], or [1] for one class a sequence
    const float *target_values; // regression: instead of targets, NaN: none
    const int32_t *predicted;   // as targets
    const float *confidence;    // probability given to `predicted`; regression: the answer itself
    size_t target_count;        // length or 1
} smx_sample;
enum { SMX_STREAM_EVAL = 0, SMX_STREAM_TRAIN = 1 };
int smx_run_look(smx_run *run, int stream, uint64_t index, size_t length, smx_sample *sample,
                 smx_error *error);
// The same on the caller's tokens, [length], or on real values, [length][channels],
// for tasks that read those.
int smx_run_predict(smx_run *run, const int32_t *tokens, size_t length, smx_sample *sample, smx_error *error);
int smx_run_predict_values(smx_run *run, const float *values, size_t length, smx_sample *sample,
                           smx_error *error);

// The same on the caller's image, 28x28 bytes with ink bright (tasks on images only); its place and size are
// the caller's business.
int smx_run_predict_image(smx_run *run, const uint8_t *pixels, smx_sample *sample, smx_error *error);

// Of the sample looked at or predicted last, for tasks that read real values and name one class; NULL with
// the error otherwise. Valid until the next call that takes the run.
// Gradient of ln p(answer) by the input values, [length][channels]; an answer of -1: the model's answer.
const float *smx_run_saliency(smx_run *run, int32_t answer, smx_error *error);
// Class probabilities when only the first t+1 rows have been read, [length][classes].
const float *smx_run_reading(smx_run *run, smx_error *error);

// Checkpoint: safetensors bytes with the config, the step, the optimiser's state, the losses and a checksum
// (FNV-1a 64 over the file, its own 16 hexadecimal digits taken as zeros); a loaded run goes on bit for bit.
// save: returns a malloc'ed buffer (free it), size in *size; NULL on failure.
void *smx_run_save(const smx_run *run, size_t *size, smx_error *error);
// open from checkpoint bytes; `changes` (may be NULL) is a config delta such as "steps=900". Refused: damage,
// another mixer or task, tensors that are missing or that nothing would use, states that no training leaves
// (NaN, squares below 0), fewer `steps` than were taken, and a path in the file's text= that `changes` do not
// repeat: a stranger's file opens none of yours. Files without a checksum, of earlier versions or other
// programs, load, and smx_run_warning says so.
smx_run *smx_run_load(const void *bytes, size_t size, const char *changes, smx_error *error);

// The config table as JSON: {"keys":[{name,type,default,min,max,choices,help,group}...],
// "mixers":[{name,title,help,source,cost,defaults,keys}...],
// "tasks":[{name,title,help,source,defaults,keys,images,own,permuted,recall}...], the last four true or
// false: reads images (smx_run_predict_image), has no samples of its own, reads pixels in a random order,
// asks for what followed the tokens at hand where they stood before;
// "presets":[{name,title,config,lesson,expect}...]}. Static string.
const char *smx_config_json(void);
// Parse and complete a config; returns a malloc'ed string (every key, table order), NULL on error.
// Several runs joined by ~ stay several.
char *smx_config_complete(const char *config, smx_error *error);
// The same as JSON, for who wants values instead of a text: [{"v":"1","task":"mqar",...},...], one object for
// each run, every value a string; malloc'ed, NULL on error.
char *smx_config_values(const char *config, smx_error *error);

#ifdef __cplusplus
}
#endif
#endif
