// run.c: opening, closing and reading a run. See run.h.
#include "run_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/core/hash.h"
#include "model/run/language/language.h"
#include "model/base/error.h"

smx_run *run_from_config(config *c, run_check check, const void *context, smx_error *error) {
    smx_run *r = c ? calloc(1, sizeof *r) : NULL;
    if (!r) {
        if (c) error_say(error, "out of memory");
        config_free(c);
        return NULL;
    }
    r->c = c;
    r->text = config_text(c);
    if (!r->text) {
        error_say(error, "out of memory");
        goto bad;
    }
    const size_t B = c->common.batch, L = c->common.length;
    if (batch_graph_open(&r->train, GRAPH_TRAIN, &r->weights, c, c, B, L, error) ||
        (check && check(&r->weights, &c->common, context, error)) ||
        params_create(&r->weights, run_seed(r), error) ||
        moments_open(&r->moments, &r->weights, &c->common, error) || batch_graph_plan(&r->train, error))
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
    batch_graph_close(&r->train);
    evaluation_close(&r->evaluation);
    attribution_close(&r->attribution);
    look_close(&r->look);
    free(r->overrides);
    streams_close(r->streams);
    moments_close(&r->moments);
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
    if (hook && r->train.g->blocked) batch_graph_plan(&r->train, NULL);
}

void smx_run_stop(smx_run *r, const volatile int *flag) { r->stop = flag; }

int smx_run_share(smx_run *r, const smx_ranks *ranks, smx_error *error) {
    const size_t B = r->c->common.batch, most = shard_count(B);
    char count[24], allowed[96];
    snprintf(count, sizeof count, "%zu", ranks->count);
    snprintf(allowed, sizeof allowed, "1 to %zu%s", most,
             most < SHARDS ? ", a sequence of the batch each" : "");
    if (ranks->count < 1 || ranks->count > most)
        return error_about(error, "batch", count, allowed,
                           "%s processes cannot share batch=%zu: allowed are %s", count, B, allowed);
    if (ranks->rank >= ranks->count)
        return error_say(error, "process %zu is not one of %zu", ranks->rank, ranks->count);
    if (r->ranks.count) return error_say(error, "a run can be shared once");
    if (ranks->count == 1) return 0;
    if (r->c->common.fast)
        return config_fail(error, r->c, "fast",
                           "0 for several processes: the bits would depend on the machines");
    if (r->c->common.norm == NORM_BATCH)
        return config_fail(
            error, r->c, "norm",
            "none, layer or rms for several processes: a batch's statistics are of one process");
    const run_mode before = run_enter(r);
    batch_graph own;
    r->ranks = *ranks;
    int status = batch_graph_open_share(&own, &r->weights, r->c, share_of(B, &r->ranks, ranks->rank), error);
    if (!status && batch_graph_plan(&own, error)) {
        batch_graph_close(&own);
        status = -1;
    }
    run_leave(before);
    if (status) {
        r->ranks.count = 0;
        return -1;
    }
    batch_graph_close(&r->train);
    r->train = own;
    run_lend_pool(r, &r->train);
    return 0;
}

// ---- Reading --------------------------------------------------------------------------------------------

void smx_run_metrics(const smx_run *r, smx_metrics *m) {
    *m = (smx_metrics){.step = r->step,
                       .loss = r->loss,
                       .accuracy = r->accuracy,
                       .rate = r->rate,
                       .gradient_norm = r->gradient_norm,
                       .steps = r->c->common.steps};
    for (size_t i = 0; i < r->weights.count; i++)
        if (!r->weights.list[i]->running) m->params += r->weights.list[i]->n;
    m->bytes = r->train.g->bytes + r->train.g->owned_bytes +
               sizeof(float) * (2 * r->weights.total + r->weights.batch_n + r->moments.floats);
    for (size_t i = 0; i < r->train.g->n_nodes; i++)
        m->flops += 3 * r->train.g->nodes[i].flops - 2 * r->train.g->nodes[i].forward_only;
}

void smx_run_batch(const smx_run *r, smx_batch_form *form) {
    const smx_task_instance *t = &r->train.task;
    *form = (smx_batch_form){.sequences = r->c->common.batch,
                             .length = r->train.L,
                             .targets = r->train.targets_per,
                             .most = r->train.rows / r->train.B,
                             .vocab = t->vocab,
                             .channels = t->channels,
                             .classes = t->classes};
}

const float *smx_run_losses(const smx_run *r, size_t *count) {
    *count = r->n_losses;
    return r->losses;
}

const char *smx_run_config(const smx_run *r) { return r->text; }
const char *smx_run_config_value(const smx_run *r, const char *key) { return config_get(r->c, key); }

uint64_t smx_run_digest(const smx_run *r) {
    uint64_t h = HASH_START;
    for (size_t i = 0; i < r->weights.count; i++) {
        const param *p = r->weights.list[i];
        h = hash_words(h, r->weights.data + p->offset, p->n);
    }
    return h;
}
