// run_private.h: the inside of smx_run. The files of this folder stand on each other in this order,
// and call downwards only:
//   model, batch_graph | tally, user_data, stream.h, override | train, evaluate, look | attribution | step,
//   run | checkpoint, state | draw
#ifndef SMX_RUN_PRIVATE_H
#define SMX_RUN_PRIVATE_H

#include "model/run/look/attribution.h"
#include "batch_graph.h"
#include "evaluate.h"
#include "model/run/look/look.h"
#include "stream.h"
#include "model/base/error.h"
#include "model/train/optimiser.h"
#include "user_data.h"

// A number in place of one of a weight's, while the run looks or evaluates; otherwise the weight's is here.
typedef struct {
    float *at, number;
} override;

struct smx_run {
    config *c;
    char *text; // the complete config
    char warning[640];
    int unchecked; // loaded from a checkpoint without a checksum
    params weights;
    moments moments; // of the optimiser
    batch_graph train;
    uint64_t step;
    double loss, accuracy, rate, gradient_norm; // of the last step
    float *losses;
    size_t n_losses, loss_room;
    smx_parallel_for parallel;
    void *pool;
    const volatile int *stop; // of smx_run_stop
    smx_ranks ranks;          // count 0: the run is not shared
    evaluation evaluation;
    look look;
    override *overrides; // of smx_run_override, oldest first
    size_t n_overrides;
    attribution attribution;
    stream *streams; // of its states
};

// run.c. Asked about the weights that a config needs before memory is taken for them; 0: go on.
typedef int (*run_check)(const params *needed, const common_settings *k, const void *context,
                         smx_error *error);
// Takes the config, also on failure. check may be NULL.
smx_run *run_from_config(config *c, run_check check, const void *context, smx_error *error);

// -1 where the caller's flag is set, with the error.
static inline int run_stopped(const smx_run *r, smx_error *error) {
#ifdef __wasm__ // nobody is there to set it meanwhile
    return 0;
#endif
    if (!r->stop || !*r->stop) return 0;
    error_say(error, "stopped");
    if (error) error->kind = SMX_STOPPED;
    return -1;
}

static inline uint64_t run_seed(const smx_run *r) { return r->c->common.seed; }
static inline void run_lend_pool(const smx_run *r, batch_graph *b) {
    b->g->parallel = r->parallel;
    b->g->pool = r->pool;
    b->g->fast = r->c->common.fast;
}
// Around everything that computes: the floating-point environment of exact numbers,
// and the mode that the run asks for.
typedef struct {
    uint64_t environment;
    int fast;
} run_mode;
static inline run_mode run_enter(const smx_run *r) {
    return (run_mode){smx_fpenv_enter(), smx_fast(r->c->common.fast)};
}
static inline void run_leave(run_mode before) {
    smx_fast(before.fast);
    smx_fpenv_leave(before.environment);
}
// override.c
void override_swap(smx_run *r, int back);
// The same around what reads weights and changes none: with the caller's numbers in place.
static inline run_mode run_enter_overridden(smx_run *r) {
    override_swap(r, 0);
    return run_enter(r);
}
static inline void run_leave_overridden(smx_run *r, run_mode before) {
    run_leave(before);
    override_swap(r, 1);
}

#endif
