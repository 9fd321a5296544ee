// training.c: see training.h.
#include "training.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "held_out.h"

char *training_config(const job *j) {
    const size_t size = strlen(j->config) + strlen(j->threads) + 16;
    char *text = malloc(size);
    if (text) snprintf(text, size, "%s&threads=%s", j->config, j->threads);
    return text;
}

int training_result(result *r, const job *j, smx_run *run, const smx_error *failed) {
    smx_error e = {0};
    smx_evaluation held_out = {0};
    char metric[16];
    double choice = NAN;
    // That it diverges is a result; whatever else fails (memory, data) is the machine's.
    if (failed && failed->kind != SMX_DIVERGED) return cli_fail("%s", failed->message);
    if (!failed && held_out_measure(j, run, metric, &choice, NULL)) return 2;
    if (!failed && smx_run_evaluate(run, (size_t)j->eval, 0, &held_out, &e)) return cli_fail("%s", e.message);
    if (!result_of(r, j, run, failed ? failed->message : "", failed ? NULL : &held_out)) {
        r->choice = choice;
        return 0;
    }
    result_free(r);
    return cli_fail("out of memory");
}

int training_rung(result *r, const job *j, smx_run *run) {
    char metric[16];
    double choice, loss;
    if (held_out_measure(j, run, metric, &choice, &loss)) return 2;
    if (result_of(r, j, run, "", NULL)) return result_free(r), cli_fail("out of memory");
    memcpy(r->metric, metric, sizeof r->metric);
    r->choice = choice;
    r->held_out_loss = loss;
    return 0;
}

int training_whole(result *r, const job *j) {
    smx_error e = {0};
    char *text = training_config(j);
    smx_run *run = text ? smx_run_open(text, &e) : NULL;
    free(text);
    if (!run) return cli_fail("%s", text ? e.message : "out of memory");
    cli_use_threads(run);
    smx_metrics m;
    smx_run_metrics(run, &m);
    const double wall = cli_seconds(), busy = cli_processor_seconds();
    held_out_curve curve = {0};
    int failed = 0, status = 0;
    while (!failed && !status && m.step < m.steps) {
        const uint64_t left = m.steps - m.step,
                       next = j->every ? (uint64_t)j->every - m.step % (uint64_t)j->every : left;
        failed = smx_run_step(run, (size_t)(next < left ? next : left), &e);
        smx_run_metrics(run, &m);
        if (!failed) status = held_out_add(&curve, j, run);
    }
    if (!status) status = training_result(r, j, run, failed ? &e : NULL);
    smx_run_close(run);
    if (status) return held_out_free(&curve), status;
    held_out_give(&curve, r);
    r->machine.seconds = cli_seconds() - wall;
    r->machine.processor_seconds = cli_processor_seconds() - busy;
    return 0;
}
