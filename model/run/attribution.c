// attribution.c: which inputs an answer hangs on, and how the answer forms while the sequence is read. For the sample
// that was looked at last, of a task that reads real values and answers once.
#include "run_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/mathd.h"

static int refuse(const smx_run *r, smx_error *error) {
    const stage *s = &r->look;
    if (s->g && s->task.channels && s->task.classes && !s->task.per_position) return 0;
    return config_fail(error, r->c, "task",
                       "one that reads real values and names one class, after a look at a sample");
}

static int no_memory(smx_error *error) {
    if (!error) return -1;
    memset(error, 0, sizeof *error);
    snprintf(error->message, sizeof error->message, "out of memory for the gradients of one sample");
    return -1;
}

void attribution_close(smx_run *r) {
    stage_close(&r->trace);
    free(r->shares);
    r->shares = NULL;
}

// A training graph of one sample whose input has a gradient too.
static tensor *open_trace(smx_run *r, smx_error *error) {
    stage *s = &r->trace;
    if (!s->g) {
        if (stage_open(s, GRAPH_TRAIN, &r->weights, r->c, r->c, 1, r->look_length, error)) return NULL;
        for (size_t i = 0; i < s->g->n_nodes; i++)
            if (!strcmp(s->g->nodes[i].op->name, "values")) s->g->nodes[i].out->needs_grad = 1;
        if (stage_plan(s, error)) {
            stage_close(s);
            return NULL;
        }
    }
    for (size_t i = 0; i < s->g->n_nodes; i++)
        if (!strcmp(s->g->nodes[i].op->name, "values")) return s->g->nodes[i].out;
    return NULL;
}

const float *smx_run_saliency(smx_run *r, int32_t answer, smx_error *error) {
    if (refuse(r, error)) return NULL;
    if (answer < 0 || (size_t)answer >= r->look.task.classes) answer = r->predicted[0];
    const run_mode before = run_enter(r);
    const size_t bytes = r->weights.total * sizeof(float);
    float *kept = malloc(bytes + 1); // the gradients of the last training step are shown as well
    tensor *values = kept ? open_trace(r, error) : (no_memory(error), NULL);
    if (values) {
        stage *s = &r->trace;
        memcpy(kept, r->weights.grad, bytes);
        memcpy(s->g->values, r->look.g->values, values->n * sizeof(float));
        s->row_targets[0] = answer;
        float loss;
        stage_backward(s, stage_forward(s, &loss));
        for (size_t i = 0; i < values->n; i++) values->grad[i] = -values->grad[i]; // of ln p, not of the loss
        memcpy(r->weights.grad, kept, bytes);
    }
    free(kept);
    run_leave(before);
    return values ? values->grad : NULL;
}

// The head is linear in the mean over the rows, so after t rows it is the head of their mean. Where the blocks are causal
// this is the answer to the sequence that ends there.
static const float *read_on(smx_run *r, smx_error *error) {
    const graph *g = r->look.g;
    const tensor *rows = NULL;
    for (size_t i = 0; i < g->n_nodes; i++)
        if (!strcmp(g->nodes[i].op->name, "meanpool")) rows = g->nodes[i].in[0];
    const tensor *head = graph_find(g, "head"), *bias = graph_find(g, "head_bias");
    const size_t L = g->L, V = r->look.task.classes;
    free(r->shares);
    r->shares = malloc(L * V * sizeof *r->shares);
    const size_t D = rows ? rows->n / L : 0;
    double *sum = calloc(D + V + 1, sizeof *sum), *logit = sum ? sum + D : NULL;
    if (!r->shares || !sum || !rows || !head || !bias) {
        free(sum);
        no_memory(error);
        return NULL;
    }
    for (size_t t = 0; t < L; t++) {
        double most = -1e300, total = 0.0;
        for (size_t d = 0; d < D; d++) sum[d] += (double)rows->data[t * D + d];
        for (size_t v = 0; v < V; v++) {
            logit[v] = 0.0;
            for (size_t d = 0; d < D; d++) logit[v] += sum[d] * (double)head->data[d * V + v];
            logit[v] = logit[v] / (double)(t + 1) + (double)bias->data[v];
            if (logit[v] > most) most = logit[v];
        }
        for (size_t v = 0; v < V; v++) total += logit[v] = md_exp(logit[v] - most);
        for (size_t v = 0; v < V; v++) r->shares[t * V + v] = (float)(logit[v] / total);
    }
    free(sum);
    return r->shares;
}

const float *smx_run_reading(smx_run *r, smx_error *error) {
    if (refuse(r, error)) return NULL;
    const run_mode before = run_enter(r);
    const float *shares = read_on(r, error);
    run_leave(before);
    return shares;
}
