// run_private.h: the inside of smx_run, for run.c, look.c and checkpoint.c only.
#ifndef SMX_RUN_PRIVATE_H
#define SMX_RUN_PRIVATE_H

#include "stage.h"

struct smx_run {
    config *c;
    char *text; // the complete config
    params weights;
    stage train, eval;
    size_t eval_length;
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
};

// Takes the config, also on failure.
smx_run *run_from_config(config *c, smx_error *error);
void look_close(smx_run *r);

#endif
