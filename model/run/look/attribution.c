// attribution.c: which inputs an answer hangs on, and how the answer forms while the sequence is read. For
// the sample that was looked at last, of a task that reads real values and answers once.
#include "model/run/run_private.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/core/mathd.h"
#include "model/base/error.h"

static int refuse(const smx_run *r, smx_error *error) {
    const batch_graph *s = &r->look.graph;
    if (s->g && s->task.channels && s->task.classes && !s->task.per_position) return 0;
    return config_fail(error, r->c, "task",
                       "one that reads real values and names one class, after a look at a sample");
}

static int no_memory(smx_error *error) {
    return error_say(error, "out of memory for the gradients of one sample");
}

void attribution_close(attribution *a) {
    batch_graph_close(&a->graph);
    free(a->shares);
    memset(a, 0, sizeof *a);
}

// A training graph of one sample, as long as the one looked at, whose input has a gradient too.
static int open_trace(smx_run *r, smx_error *error) {
    batch_graph *s = &r->attribution.graph;
    if (s->g && s->L == r->look.graph.L) return 0;
    batch_graph_close(s);
    if (batch_graph_open(s, GRAPH_TRAIN, &r->weights, r->c, r->c, 1, r->look.length, error)) return -1;
    s->model.values->needs_grad = 1;
    if (!batch_graph_plan(s, error)) return 0;
    batch_graph_close(s);
    return -1;
}

const float *smx_run_saliency(smx_run *r, int32_t answer, smx_error *error) {
    if (refuse(r, error)) return NULL;
    if (answer < 0 || (size_t)answer >= r->look.graph.task.classes) answer = r->look.predicted[0];
    const run_mode before = run_enter_overridden(r);
    const size_t bytes = r->weights.total * sizeof(float);
    const float *gradient = NULL;
    float *kept = malloc(bytes + 1); // the gradients of the last training step are shown as well
    if (kept ? !open_trace(r, error) : (no_memory(error), 0)) {
        batch_graph *s = &r->attribution.graph;
        const tensor *values = s->model.values;
        memcpy(kept, r->weights.grad, bytes);
        memcpy(s->g->values, r->look.graph.g->values, values->n * sizeof(float));
        s->row_targets[0] = answer;
        float loss;
        batch_graph_backward(s, batch_graph_forward(s, &loss));
        for (size_t i = 0; i < values->n; i++) values->grad[i] = -values->grad[i]; // of ln p, not of the loss
        gradient = values->grad;
        memcpy(r->weights.grad, kept, bytes);
    }
    free(kept);
    run_leave_overridden(r, before);
    return gradient;
}

// What the head would read after row t, of what it read before it. sum [D]: of the rows so far.
static void pool_on(float *pooled, double *sum, const float *row, size_t t, size_t D, pooling_word how) {
    for (size_t d = 0; d < D; d++) {
        sum[d] += (double)row[d];
        if (how == POOLING_MEAN)
            pooled[d] = (float)(sum[d] / (double)(t + 1));
        else if (t == 0 || how == POOLING_LAST || (how == POOLING_MAX && pooled[d] < row[d]))
            pooled[d] = row[d];
    }
}
// After t rows the head reads these alone. Where the blocks are causal this is the answer to the sequence
// that ends there.
static const float *read_on(smx_run *r, smx_error *error) {
    graph *g = r->look.graph.g;
    const model *m = &r->look.graph.model;
    const size_t L = g->L, D = m->pooled->n, V = m->logits->n;
    free(r->attribution.shares);
    float *shares = r->attribution.shares = malloc(L * V * sizeof *shares);
    float *pooled = malloc(D * sizeof *pooled); // of the whole sequence
    double *sum = calloc(D, sizeof *sum);
    if (shares && pooled && sum) {
        memcpy(pooled, m->pooled->data, D * sizeof *pooled);
        for (size_t t = 0; t < L; t++) {
            double most = -1e300, total = 0.0;
            pool_on(m->pooled->data, sum, m->rows->data + t * D, t, D, r->c->common.pooling);
            graph_forward_after(g, m->pooled);
            const float *logits = m->logits->data;
            for (size_t v = 0; v < V; v++)
                if ((double)logits[v] > most) most = (double)logits[v];
            for (size_t v = 0; v < V; v++) total += md_exp((double)logits[v] - most);
            for (size_t v = 0; v < V; v++)
                shares[t * V + v] = (float)(md_exp((double)logits[v] - most) / total);
        }
        memcpy(m->pooled->data, pooled, D * sizeof *pooled);
        graph_forward_after(g, m->pooled);
    } else {
        no_memory(error);
    }
    const int done = pooled && sum;
    free(pooled);
    free(sum);
    return done ? shares : NULL;
}

const float *smx_run_reading(smx_run *r, smx_error *error) {
    if (refuse(r, error)) return NULL;
    const run_mode before = run_enter_overridden(r);
    const float *shares = read_on(r, error);
    run_leave_overridden(r, before);
    return shares;
}
