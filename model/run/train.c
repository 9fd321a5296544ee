// train.c: one step: loss, gradient, AdamW.
#include "run_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/mathd.h"
#include "kernels/philox.h"
#include "model/base/error.h"
#include "user_data.h"

// Linear warm-up, then constant, or a half cosine or a line that reaches 0 at `steps`. step counts from 1.
static double rate_at(const common_settings *k, uint64_t step) {
    double rate = k->rate, warmup = (double)k->warmup, steps = (double)k->steps, t = (double)step;
    if (t < warmup) return rate * t / warmup;
    if (k->schedule == SCHEDULE_CONSTANT || steps <= warmup) return rate;
    double done = (t - warmup) / (steps - warmup), s, cosine;
    if (k->schedule == SCHEDULE_LINEAR) return done < 1.0 ? rate * (1.0 - done) : 0.0;
    md_sincos(&s, &cosine, 3.14159265358979323846 * (done < 1.0 ? done : 1.0));
    return rate * 0.5 * (1.0 + cosine);
}

// One step of AdamW with gradients of this norm, into r->rate too.
static smx_adamw_opts options(smx_run *r, double norm) {
    const common_settings *k = &r->c->common;
    const double clip = k->clip, t = (double)(r->step + 1);
    r->rate = rate_at(k, r->step + 1);
    smx_adamw_opts o = {.lr = (float)r->rate,
                        .b1 = (float)k->beta1,
                        .b2 = (float)k->beta2,
                        .eps = (float)k->epsilon,
                        .clip = clip > 0.0 && norm > clip ? (float)(clip / norm) : 1.0f};
    // 1 - b^t; b = 0 is allowed
    o.c1 = o.b1 > 0.0f ? (float)(1.0 - md_exp(t * md_log((double)o.b1))) : 1.0f;
    o.c2 = o.b2 > 0.0f ? (float)(1.0 - md_exp(t * md_log((double)o.b2))) : 1.0f;
    return o;
}

// A running statistic goes a tenth of the way to the batch's.
static void follow(float *running, const float *batch, size_t n) {
    for (size_t i = 0; i < n; i++) running[i] += 0.1f * (batch[i] - running[i]);
}
static void update(smx_run *r, smx_adamw_opts o) {
    const params *w = &r->weights;
    const float decay = (float)r->c->common.decay;
    for (size_t i = 0; i < w->count; i++) {
        const param *p = w->list[i];
        if (p->running) {
            follow(w->data + p->offset, w->m + p->offset, p->n);
            continue;
        }
        o.wd = p->decays ? decay : 0.0f;
        smx_adamw(w->data + p->offset, w->m + p->offset, w->v + p->offset, w->grad + p->offset, p->n, &o);
    }
}

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

// No weight can leave the floats in this step: |w| (1 + rate decay) + rate |m| / (c1 epsilon) stays far below
// the largest. A look at the weights and the first moments, so that nearly no step needs a copy to go back
// to.
static int stays_finite(const smx_run *r, const smx_adamw_opts *o, double norm) {
    const params *w = &r->weights;
    const double weights = md_sqrt(smx_sumsq(w->data, w->total)),
                 moments = md_sqrt(smx_sumsq(w->m, w->total)) + norm * (double)o->clip;
    const double next = weights * (1.0 + (double)o->lr * r->c->common.decay) +
                        (double)o->lr * moments / ((double)o->c1 * (double)o->eps);
    return next < 1e37; // false for NaN as well
}

// An update after which a weight may not be finite: all of it, or none.
// (The moments are: the gradient's squares fit.)
static int careful_update(smx_run *r, const smx_adamw_opts *o, smx_error *error) {
    const params *w = &r->weights;
    const size_t n = w->total, bytes = n * sizeof(float);
    float *before = malloc(3 * bytes + 1);
    if (!before) return error_say(error, "out of memory");
    memcpy(before, w->data, bytes);
    memcpy(before + n, w->m, 2 * bytes); // v lies behind m
    update(r, *o);
    const char *where = NULL;
    for (size_t i = 0; i < w->count && !where; i++)
        for (size_t j = 0; j < w->list[i]->n; j++)
            if (!isfinite(w->data[w->list[i]->offset + j])) where = w->list[i]->name;
    if (where) {
        memcpy(w->data, before, bytes);
        memcpy(w->m, before + n, 2 * bytes);
    }
    free(before);
    return where ? stopped(r, "weights", where, error) : 0;
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
    const double rate = r->rate;
    const smx_adamw_opts o = options(r, norm);
    if (stays_finite(r, &o, norm))
        update(r, o);
    else if (careful_update(r, &o, error)) {
        r->n_losses--;
        r->rate = rate;
        return -1;
    }
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
