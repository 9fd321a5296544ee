// run_private.h: the inside of smx_run, for the files of this folder that are about one.
#ifndef SMX_RUN_PRIVATE_H
#define SMX_RUN_PRIVATE_H

#include "batch_graph.h"

struct smx_run {
    config *c;
    char *text; // the complete config
    char warning[320];
    params weights;
    stage train, eval;
    config *eval_config; // of the last evaluation: the run's, with its changes
    char *eval_text;
    uint64_t *confusion; // [classes][classes]: target, answer
    size_t confusion_classes;
    uint64_t step;
    double loss, accuracy, rate, gradient_norm; // of the last step
    float *losses;
    size_t n_losses, loss_room;
    smx_parallel_for parallel;
    void *pool;
    // looking inside (look.c)
    stage look;
    size_t look_length;
    float *maps; // all attention maps, one after another
    smx_tensor *seen;
    char (*names)[80]; // of the maps and gradients
    size_t n_seen;
    int32_t *predicted;
    float *confidence;
    // attribution.c
    stage trace;
    float *shares; // [length][classes]
};

// Asked about the weights that a config needs before memory is taken for them; 0: go on.
typedef int (*run_check)(const params *needed, const void *context, smx_error *error);
// Takes the config, also on failure. check may be NULL.
smx_run *run_from_config(config *c, run_check check, const void *context, smx_error *error);
// Whether the caller's inputs are ones that the task reads, NULL those it does not; a sentence where not (own.c).
int own_check(const stage *s, const int32_t *tokens, const float *values, size_t rows, smx_error *error);
// A training step on the batch that r->train holds.
int run_one_step(smx_run *r, smx_error *error);
void look_close(smx_run *r);
void attribution_close(smx_run *r);
void evaluation_close(smx_run *r);

// What an evaluation counts, batch by batch.
typedef struct {
    double loss, sum, squares; // of the losses, and of regression's targets
    uint64_t targets, right, sequences;
    int regression, text;
} tally;
// Forward on the batch that the stage holds, counted; its answers are in s->best then.
void tally_batch(tally *t, stage *s);
// Over `sequences` sequences; the free figures are the others.
void tally_result(const tally *t, uint64_t sequences, smx_evaluation *result);

static inline uint64_t run_seed(const smx_run *r) { return (uint64_t)config_int(r->c, "seed"); }
static inline void run_lend_pool(const smx_run *r, stage *s) {
    s->g->parallel = r->parallel;
    s->g->pool = r->pool;
    s->g->fast = config_is(r->c, "fast", "1");
}
// Around everything that computes: the floating-point environment of exact numbers, and the mode that the run asks for.
typedef struct {
    uint64_t environment;
    int fast;
} run_mode;
static inline run_mode run_enter(const smx_run *r) {
    return (run_mode){smx_fpenv_enter(), smx_fast(config_is(r->c, "fast", "1"))};
}
static inline void run_leave(run_mode before) {
    smx_fast(before.fast);
    smx_fpenv_leave(before.environment);
}

#endif
