// train.c: one step: loss, gradient, the optimiser's update (model/train).
#include "run_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/core/mathd.h"
#include "kernels/core/philox.h"
#include "model/base/error.h"
#include "user_data.h"

// `what` is no longer finite, first in `where`.
static int stopped(const smx_run *r, const char *what, const char *where, smx_error *error) {
    error_say(
        error,
        "the %s stopped being finite at step %llu, first in %s; the weights are those before that step; a smaller "
        "rate or decay, or a norm, usually helps",
        what, (unsigned long long)r->step + 1, where);
    if (error) error->kind = SMX_DIVERGED;
    return -1;
}

// Another process does not answer.
static int apart(const smx_run *r, smx_error *error) {
    error_say(
        error,
        "of %zu processes that share this training, one does not answer to process %zu; the weights are "
        "those before step %llu",
        r->ranks.count, r->ranks.rank, (unsigned long long)r->step + 1);
    if (error) error->kind = SMX_APART;
    return -1;
}

static int keep_loss(smx_run *r, float loss) {
    if (r->n_losses == r->loss_room) {
        size_t room = r->loss_room ? 2 * r->loss_room : 1024;
        float *longer = realloc(r->losses, room * sizeof *longer);
        if (!longer) return -1;
        r->losses = longer;
        r->loss_room = room;
    }
    r->losses[r->n_losses++] = loss;
    return 0;
}

// On the batch that r->train holds.
static int step_on_batch(smx_run *r, smx_error *error) {
    batch_graph *s = &r->train;
    if (s->g->failed) { // there was no memory for a pool's plan
        if (error) *error = s->g->error;
        return -1;
    }
    if (s->g->share.apart) return apart(r, error);
    memset(r->weights.grad, 0, r->weights.total * sizeof(float));
    float loss;
    size_t targets = batch_graph_forward(s, &loss);
    double norm = 0.0, accuracy = 0.0;
    if (s->g->share.apart) return apart(r, error);
    if (isfinite(loss)) {
        accuracy = targets ? (double)batch_graph_right(s, NULL) / (double)targets : 0.0;
        batch_graph_backward(s, targets);
        norm = md_sqrt(smx_sumsq(r->weights.grad, r->weights.total));
        if (s->g->share.apart) return apart(r, error);
    }
    if (!isfinite(loss) || !isfinite(norm)) {
        const char *where = graph_first_nonfinite(s->g);
        return stopped(r, isfinite(loss) ? "gradient" : "loss", where ? where : "the backward pass", error);
    }
    if (keep_loss(r, loss)) return error_say(error, "out of memory for the loss curve");
    const double clip = r->c->common.clip;
    const train_step step = {.settings = &r->c->common,
                             .step = r->step + 1,
                             .rate = rate_at(&r->c->common, r->step + 1),
                             .clip = clip > 0.0 && norm > clip ? (float)(clip / norm) : 1.0f};
    const char *where;
    if (train_update(&r->weights, &r->moments, &step, norm, &where)) {
        r->n_losses--;
        return where ? stopped(r, "weights", where, error) : error_say(error, "out of memory");
    }
    r->rate = step.rate;
    r->loss = loss;
    r->accuracy = accuracy;
    r->gradient_norm = norm;
    r->step++;
    return 0;
}

static int one_step(smx_run *r, smx_error *error) {
    r->train.g->step = r->step + 1;
    const int status = step_on_batch(r, error);
    r->train.g->step = 0;
    return status;
}

int smx_run_step(smx_run *r, size_t n, smx_error *error) {
    const run_mode before = run_enter(r);
    run_lend_pool(r, &r->train);
    int status = n ? own_samples_check(&r->train, r->c, error) : 0;
    for (size_t i = 0; i < n && !status; i++) {
        const share *in = &r->train.g->share;
        batch_graph_fill(&r->train, run_seed(r), RNG_TRAIN, r->step * in->all + in->first, r->train.B);
        status = one_step(r, error);
    }
    run_leave(before);
    return status;
}

int smx_run_step_on(smx_run *r, const smx_batch *batch, smx_error *error) {
    if (r->ranks.count) return error_say(error, "a run that is shared takes no batches of the caller's");
    const run_mode before = run_enter(r);
    run_lend_pool(r, &r->train);
    int status = user_batch_check(&r->train, batch, error);
    if (!status) {
        batch_graph_give(&r->train, batch, user_batch_count(&r->train, batch));
        status = one_step(r, error);
    }
    run_leave(before);
    return status;
}
