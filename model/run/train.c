// train.c: one step: loss, gradient, AdamW.
#include "run_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/mathd.h"
#include "kernels/philox.h"
#include "model/base/error.h"
#include "user_data.h"

// Linear warm-up, then constant or a half cosine that reaches 0 at `steps`. step counts from 1.
static double rate_at(const common_settings *c, uint64_t step) {
    const double rate = c->rate, warmup = (double)c->warmup, steps = (double)c->steps, t = (double)step;
    if (t < warmup) return rate * t / warmup;
    if (c->schedule == SCHEDULE_CONSTANT || steps <= warmup) return rate;
    double done = (t - warmup) / (steps - warmup), s, cosine;
    md_sincos(&s, &cosine, 3.14159265358979323846 * (done < 1.0 ? done : 1.0));
    return rate * 0.5 * (1.0 + cosine);
}

static void update(smx_run *r) {
    const common_settings *c = &r->c->common;
    params *w = &r->weights;
    const double clip = c->clip, norm = md_sqrt(smx_sumsq(w->grad, w->total)), t = (double)(r->step + 1);
    r->gradient_norm = norm;
    r->rate = rate_at(c, r->step + 1);
    smx_adamw_opts o = {.lr = (float)r->rate,
                        .b1 = (float)c->beta1,
                        .b2 = (float)c->beta2,
                        .eps = (float)c->epsilon,
                        .clip = clip > 0.0 && norm > clip ? (float)(clip / norm) : 1.0f};
    // 1 - b^t; b = 0 is allowed
    o.c1 = o.b1 > 0.0f ? (float)(1.0 - md_exp(t * md_log((double)o.b1))) : 1.0f;
    o.c2 = o.b2 > 0.0f ? (float)(1.0 - md_exp(t * md_log((double)o.b2))) : 1.0f;
    for (size_t i = 0; i < w->count; i++) {
        const param *p = w->list[i];
        o.wd = p->decays ? (float)c->decay : 0.0f;
        smx_adamw(w->data + p->offset, w->m + p->offset, w->v + p->offset, w->grad + p->offset, p->n, &o);
    }
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
static int one_step(smx_run *r, smx_error *error) {
    batch_graph *s = &r->train;
    if (s->g->failed) { // there was no memory for a pool's plan
        if (error) *error = s->g->error;
        return -1;
    }
    memset(r->weights.grad, 0, r->weights.total * sizeof(float));
    float loss;
    size_t targets = batch_graph_forward(s, &loss);
    double norm2 = 0.0;
    if (isfinite(loss)) {
        r->accuracy = targets ? (double)batch_graph_right(s, NULL) / (double)targets : 0.0;
        batch_graph_backward(s, targets);
        norm2 = smx_sumsq(r->weights.grad, r->weights.total);
    }
    if (!isfinite(loss) || !isfinite(norm2)) {
        const char *where = graph_first_nonfinite(s->g);
        return error_say(
            error,
            "the %s stopped being finite at step %llu, first in %s; the weights are those before that step; "
            "a smaller rate or a norm usually helps",
            isfinite(loss) ? "gradient" : "loss", (unsigned long long)r->step + 1,
            where ? where : "the backward pass");
    }
    if (keep_loss(r, loss)) return error_say(error, "out of memory for the loss curve");
    update(r);
    r->loss = loss;
    r->step++;
    return 0;
}

int smx_run_step(smx_run *r, size_t n, smx_error *error) {
    const run_mode before = run_enter(r);
    run_lend_pool(r, &r->train);
    int status = 0;
    for (size_t i = 0; i < n && !status; i++) {
        batch_graph_fill(&r->train, run_seed(r), RNG_TRAIN, r->step * r->train.B, r->train.B);
        status = one_step(r, error);
    }
    run_leave(before);
    return status;
}

int smx_run_step_on(smx_run *r, const smx_batch *batch, smx_error *error) {
    const run_mode before = run_enter(r);
    run_lend_pool(r, &r->train);
    int status = user_batch_check(&r->train, batch, error);
    if (!status) {
        batch_graph_give(&r->train, batch);
        status = one_step(r, error);
    }
    run_leave(before);
    return status;
}
