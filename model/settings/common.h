// common.h: the keys that every experiment has, as a struct. A mixer's or a task's own keys stand in its
// file.
#ifndef SMX_COMMON_SETTINGS_H
#define SMX_COMMON_SETTINGS_H

#include "build/optimisers.def"
#include "key.h"

#define NORMS(W) W(NORM_NONE, "none") W(NORM_LAYER, "layer") W(NORM_RMS, "rms") W(NORM_BATCH, "batch")
#define ACTIVATIONS(W) W(ACTIVATION_GELU, "gelu") W(ACTIVATION_SILU, "silu")
#define POSITIONS(W)                                                                                         \
    W(POSITION_NONE, "none")                                                                                 \
    W(POSITION_LEARNED, "learned")                                                                           \
    W(POSITION_SINUSOIDAL, "sinusoidal")                                                                     \
    W(POSITION_ROPE, "rope")                                                                                 \
    W(POSITION_ALIBI, "alibi")                                                                               \
    W(POSITION_ALIBI_SCALED, "alibi_scaled")
#define POOLINGS(W)                                                                                          \
    W(POOLING_MEAN, "mean") W(POOLING_MAX, "max") W(POOLING_LAST, "last") W(POOLING_FIRST, "first")
#define STARTS(W) W(START_FAN_IN, "fan_in") W(START_NORMAL, "normal") W(START_XAVIER, "xavier")
#define SCHEDULES(W)                                                                                         \
    W(SCHEDULE_CONSTANT, "constant") W(SCHEDULE_COSINE, "cosine") W(SCHEDULE_LINEAR, "linear")
// The files of model/train: NAME_ROW is that of each.
#define OPTIMISERS(W) W(OPTIMISER_ADAMW, "adamw") OPTIMISERS_BUT_ADAMW(W)

typedef enum { NORMS(WORD_NAME) } norm_word;
typedef enum { ACTIVATIONS(WORD_NAME) } activation_word;
typedef enum { POSITIONS(WORD_NAME) } position_word;
typedef enum { POOLINGS(WORD_NAME) } pooling_word;
typedef enum { STARTS(WORD_NAME) } start_word;
typedef enum { SCHEDULES(WORD_NAME) } schedule_word;
typedef enum { OPTIMISERS(WORD_NAME) } optimiser_word;

enum { MOST_STEPS = 1000000000 };
// What each means: the rows of common_keys.
typedef struct {
    size_t version;
    unsigned task, mixer; // places in the lists of the language
    const char *mixers;   // names with commas between, or ""
    size_t length, vocab;
    size_t width, blocks, heads, mlp;
    norm_word norm;
    activation_word activation;
    position_word position;
    start_word init;
    double embed_std, position_std;
    pooling_word pooling;
    uint64_t seed;
    size_t batch, steps, warmup, threads;
    schedule_word schedule;
    optimiser_word optimizer;
    double rate, decay, dropout, clip, beta1, beta2, epsilon;
    int fast, recompute;
} common_settings;

extern const config_key common_keys[]; // ended by a NULL name

#endif
