// optimiser.h: what turns gradients into weights. Each optimiser is one file of this folder, NAME.c, with one
// `const optimiser`, OPTIMISER_NAME_ROW; the files are the list of them (OPTIMISERS of settings/common.h).
#ifndef SMX_OPTIMISER_H
#define SMX_OPTIMISER_H

#include "model/graph/params.h"
#include "model/settings/common.h"

// A step: which one, counted from 1, at what rate, and the factor that clips its gradients.
typedef struct {
    const common_settings *settings;
    uint64_t step;
    double rate;
    float clip;
} train_step;

enum { MOMENTS = 2 };
// One weight, and what its optimiser remembers of it: as many floats a moment.
typedef struct {
    const param *weight;
    float *data, *grad, *moment[MOMENTS];
    float *scratch; // of the size that the optimiser asked for
    float decay;    // of this weight; 0: none
} train_weight;

typedef struct {
    const char *moment[MOMENTS];       // what they are called in checkpoints, before ":NAME"; NULL: no more
    int squares;                       // one bit a moment: a mean of squares, never below 0
    int (*takes)(const param *w);      // of these weights, the others are AdamW's; NULL: all
    size_t (*scratch)(const param *w); // floats; NULL: none
    void (*update)(const train_step *s, const train_weight *w);
    // No step moves the weights further than this times the rate, decay aside, where first moments and
    // gradients have norms of this sum. NULL: never as far as floats reach.
    double (*reach)(const train_step *s, double norms);
    int (*refuse)(smx_error *error); // of a module that lacks it (wasm/elsewhere.c)
} optimiser;
#define OPTIMISER_DECLARED(name, word) extern const optimiser name##_ROW;
OPTIMISERS(OPTIMISER_DECLARED)

// All moments of a model's weights, beside them: begun with zeros.
typedef struct {
    float *moment[MOMENTS]; // [total of params]
    float *scratch;
    size_t n_moments, floats; // of all this
    void *memory;
} moments;
int moments_open(moments *m, const params *w, const common_settings *settings, smx_error *error);
void moments_close(moments *m);
// Moment `which` of a weight: its name in checkpoints, or NULL where it has none; is it a mean of squares?
const char *moment_name(const common_settings *settings, const param *w, size_t which);
int moment_is_square(const common_settings *settings, const param *w, size_t which);

// The learning rate of a step, counted from 1.
double rate_at(const common_settings *settings, uint64_t step);
// One step of all weights with their gradients, of this norm: all of it or, where a weight would not be
// finite, none, -1 and the weight's name in `where` (NULL: no memory).
int train_update(params *w, moments *m, const train_step *s, double norm, const char **where);

#endif
