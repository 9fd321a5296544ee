// run.c: one experiment: model + task + optimiser + metrics. See run.h.
#include "run_private.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/mathd.h"
#include "kernels/philox.h"

static void fail(smx_error *e, const char *message) {
    if (!e) return;
    memset(e, 0, sizeof *e);
    snprintf(e->message, sizeof e->message, "%s", message);
}

smx_run *run_from_config(config *c, run_check check, const void *context, smx_error *error) {
    smx_run *r = c ? calloc(1, sizeof *r) : NULL;
    if (!r) {
        if (c) fail(error, "out of memory");
        config_free(c);
        return NULL;
    }
    r->c = c;
    r->text = config_text(c);
    if (!r->text) {
        fail(error, "out of memory");
        goto bad;
    }
    size_t B = (size_t)config_int(c, "batch"), L = (size_t)config_int(c, "length");
    if (stage_open(&r->train, GRAPH_TRAIN, &r->weights, c, c, B, L, error) ||
        (check && check(&r->weights, context, error)) || params_create(&r->weights, run_seed(r), error) ||
        stage_plan(&r->train, error))
        goto bad;
    return r;
bad:
    smx_run_close(r);
    return NULL;
}

smx_run *smx_run_open(const char *text, smx_error *error) {
    uint64_t env = smx_fpenv_enter();
    smx_run *r = run_from_config(config_parse(text, 0, error), NULL, NULL, error);
    smx_fpenv_leave(env);
    return r;
}

void smx_run_close(smx_run *r) {
    if (!r) return;
    stage_close(&r->train);
    evaluation_close(r);
    look_close(r);
    params_free(&r->weights);
    config_free(r->c);
    free(r->text);
    free(r->losses);
    free(r);
}

void smx_run_parallel(smx_run *r, smx_parallel_for hook, void *pool) {
    r->parallel = hook;
    r->pool = pool;
    run_lend_pool(r, &r->train);
    if (hook && r->train.g->near) stage_plan(&r->train, NULL);
}

// ---- Training -------------------------------------------------------------------------------------------

// Linear warm-up, then constant or a half cosine that reaches 0 at `steps`. step counts from 1.
static double rate_at(const config *c, uint64_t step) {
    double rate = config_real(c, "rate"), warmup = config_real(c, "warmup"), steps = config_real(c, "steps");
    double t = (double)step;
    if (t < warmup) return rate * t / warmup;
    if (config_is(c, "schedule", "constant") || steps <= warmup) return rate;
    double done = (t - warmup) / (steps - warmup), s, cosine;
    md_sincos(&s, &cosine, 3.14159265358979323846 * (done < 1.0 ? done : 1.0));
    return rate * 0.5 * (1.0 + cosine);
}

static void update(smx_run *r) {
    const config *c = r->c;
    params *w = &r->weights;
    double clip = config_real(c, "clip"), norm = md_sqrt(smx_sumsq(w->grad, w->total)),
           t = (double)(r->step + 1);
    r->gradient_norm = norm;
    r->rate = rate_at(c, r->step + 1);
    smx_adamw_opts o = {.lr = (float)r->rate,
                        .b1 = (float)config_real(c, "beta1"),
                        .b2 = (float)config_real(c, "beta2"),
                        .eps = (float)config_real(c, "epsilon"),
                        .clip = clip > 0.0 && norm > clip ? (float)(clip / norm) : 1.0f};
    // 1 - b^t; b = 0 is allowed
    o.c1 = o.b1 > 0.0f ? (float)(1.0 - md_exp(t * md_log((double)o.b1))) : 1.0f;
    o.c2 = o.b2 > 0.0f ? (float)(1.0 - md_exp(t * md_log((double)o.b2))) : 1.0f;
    for (size_t i = 0; i < w->count; i++) {
        const param *p = w->list[i];
        o.wd = p->decays ? (float)config_real(c, "decay") : 0.0f;
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

int run_one_step(smx_run *r, smx_error *error) {
    stage *s = &r->train;
    if (s->g->failed) { // there was no memory for a pool's plan
        if (error) *error = s->g->error;
        return -1;
    }
    memset(r->weights.grad, 0, r->weights.total * sizeof(float));
    float loss;
    size_t targets = stage_forward(s, &loss);
    double norm2 = 0.0;
    if (isfinite(loss)) {
        r->accuracy = targets ? (double)stage_right(s, NULL) / (double)targets : 0.0;
        stage_backward(s, targets);
        norm2 = smx_sumsq(r->weights.grad, r->weights.total);
    }
    if (!isfinite(loss) || !isfinite(norm2)) {
        const char *where = graph_first_nonfinite(s->g);
        fail(error, "");
        if (error)
            snprintf(
                error->message, sizeof error->message,
                "the %s stopped being finite at step %llu, first in %s; the weights are those before that step; "
                "a smaller rate or a norm usually helps",
                isfinite(loss) ? "gradient" : "loss", (unsigned long long)r->step + 1,
                where ? where : "the backward pass");
        return -1;
    }
    if (keep_loss(r, loss)) {
        fail(error, "out of memory for the loss curve");
        return -1;
    }
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
        stage_fill(&r->train, run_seed(r), RNG_TRAIN, r->step * r->train.B, r->train.B);
        status = run_one_step(r, error);
    }
    run_leave(before);
    return status;
}

// ---- Reading --------------------------------------------------------------------------------------------

void smx_run_metrics(const smx_run *r, smx_metrics *m) {
    *m = (smx_metrics){.step = r->step,
                       .loss = r->loss,
                       .accuracy = r->accuracy,
                       .rate = r->rate,
                       .gradient_norm = r->gradient_norm,
                       .steps = (uint64_t)config_int(r->c, "steps")};
    for (size_t i = 0; i < r->weights.count; i++) m->params += r->weights.list[i]->n;
    m->bytes = r->train.g->bytes + 4 * sizeof(float) * r->weights.total;
    for (size_t i = 0; i < r->train.g->n_nodes; i++) m->flops += 3 * r->train.g->nodes[i].flops;
}

const float *smx_run_losses(const smx_run *r, size_t *count) {
    *count = r->n_losses;
    return r->losses;
}

const char *smx_run_config(const smx_run *r) { return r->text; }

uint64_t smx_run_digest(const smx_run *r) {
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i < r->weights.count; i++) {
        const param *p = r->weights.list[i];
        for (size_t j = 0; j < p->n; j++) {
            float x = r->weights.data[p->offset + j];
            uint32_t word;
            memcpy(&word, &x, 4);
            if (x != x) word = 0x7fc00000;
            h = (h ^ word) * 1099511628211u;
        }
    }
    return h;
}
