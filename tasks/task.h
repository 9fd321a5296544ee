// task.h: what a task is. Sample number i of a stream is a pure function of (parameters, seed, stream, i),
// so it is the same in every program, thread and language. A new task is one file with a `const smx_task`
// and one line in tasks.c.
#ifndef SMX_TASK_H
#define SMX_TASK_H

#include <stddef.h>
#include <stdint.h>

#include "model/settings/config.h"

typedef struct smx_task smx_task;

// A task with its parameters fixed: what generate needs and what the model must provide.
typedef struct {
    const smx_task *task;
    size_t length;      // input rows of a sequence
    size_t vocab;       // input tokens are 0..vocab-1; 0: real-valued input
    size_t channels;    // real values per row; 0: tokens
    size_t classes;     // outputs per answer; 0: regression on one real value
    int per_position;   // 1: a target at each row (-1: none); 0: one target for the sequence
    size_t max_targets; // largest number of targets in a sequence
    int utf16;          // 1: its file was, which somebody should hear
    int emits; // 1: the row after a target holds that target, so a model can be run on its own answers
    // What generate needs besides, in the task's own struct: parameters, MNIST, a text. NULL: nothing.
    void *data;
    void (*release)(void *data);
} smx_task_instance;

// One sample, in the caller's arrays (NULL those the task does not use):
typedef struct {
    int32_t *tokens;      // [length]
    float *values;        // [length][channels]
    int32_t *targets;     // [length] or [1]
    float *target_values; // [length] or [1], regression; NaN: none
} smx_task_sample;

struct smx_task {
    const char *name, *title;
    const char *help;         // what is asked, one or two sentences
    const char *source;       // paper and definition
    const char *defaults;     // config text: this task's defaults
    const config_key *keys;   // its own keys, ended by a NULL name
    size_t settings;          // bytes of the struct that they fill: config.task
    const char *const *words; // what each token is called; NULL: its number
    // Facts for whoever shows it (smx_config_json), 1: yes.
    int recall;   // an answer is the token that followed the ones at hand where they stood before
    int permuted; // its rows are pixels in a random order
    int own;      // 1: its samples are noise: data are handed over batch by batch
    int files;    // 1: its samples are in files that the user names
    int bytes;    // 1: tokens are a text's bytes: an answer is judged in bits per character
    // Read the parameters for sequences of `length` rows (the config's, or another for length
    // generalisation). Returns 0, or -1 with the error naming key, value and what is allowed.
    int (*open)(smx_task_instance *instance, const config *c, size_t length, smx_error *error);
    void (*generate)(const smx_task_instance *instance, uint64_t seed, uint32_t stream, uint64_t index,
                     smx_task_sample *sample);
    // The caller's image, 28x28 bytes (ink is bright), as this task's input values. NULL: it reads no
    // images.
    void (*image)(const smx_task_instance *instance, const uint8_t *pixels, float *values);
};

extern const smx_task *const smx_tasks[]; // ended by NULL
const smx_task *smx_task_find(const char *name);
const smx_task *smx_task_of(const config *c); // the config's

#endif
