// job_train.c: one training of a grid: the claim, the steps until a rung, a signal or the end, the result.
// See job_work.h.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/grid/builds.h"
#include "cli/grid/claim.h"
#include "cli/grid/files_digest.h"
#include "cli/grid/training.h"
#include "job_work.h"
#include "model/run/language/language.h"
#include "model/settings/pairs.h"
#include "cli/commands/runs/train_signals.h"

// Is this the job's own training, whatever its threads were?
static int is_ours(const job_work *w, const smx_run *run) {
    job other = {0};
    config *c = config_parse(smx_run_config(run), 0, NULL);
    const int same = c && !job_of(&other, c, w->j.eval, w->j.every) && !strcmp(other.config, w->j.config);
    job_free(&other);
    config_free(c);
    return same;
}

// w->run from the checkpoint; left NULL where there is none to go on from. 0 or 2.
static int go_on(job_work *w) {
    size_t size;
    smx_error e = {0};
    if (!job_is_there(w->checkpoint)) return 0;
    void *bytes = cli_read_file(w->checkpoint, &size);
    if (!bytes) return 2;
    w->run = smx_run_load(bytes, size, w->changes, &e);
    free(bytes);
    if (w->run && is_ours(w, w->run)) {
        smx_run_metrics(w->run, &w->m);
        if (!held_out_read(&w->held_out, &w->j, w->m.step, w->held_out_file)) return 0;
        cli_note("%s is not what %s needs: the job begins anew", w->held_out_file, w->checkpoint);
        smx_run_close(w->run);
        w->run = NULL;
        return 0;
    }
    char why[600];
    snprintf(why, sizeof why, "is no checkpoint of this job: %s",
             w->run ? "its config is another" : e.message);
    smx_run_close(w->run);
    w->run = NULL;
    return job_set_aside(w->checkpoint, why);
}

// What the run has read is what the job is named by. (A file that is open is read once: this is the run's.)
static int reads_the_same(const job_work *w) {
    uint64_t digest;
    config *c = config_parse(smx_run_config(w->run), 0, NULL);
    const int same = c && !files_digest_now(c, &digest, NULL) && digest == w->j.data;
    config_free(c);
    return same;
}

static int open_run(job_work *w) {
    smx_error e = {0};
    if (go_on(w)) return 2;
    if (w->run && w->m.step > w->until) { // a rung of what went on without it
        smx_run_close(w->run);
        w->run = NULL;
        held_out_free(&w->held_out);
        w->scratch = 1;
    }
    if (!w->run) {
        char *text = training_config(&w->j);
        w->run = text ? smx_run_open(text, &e) : NULL;
        free(text);
        if (!w->run) return cli_fail("%s", text ? e.message : "out of memory");
    }
    if (cli_refuse_too_large(w->run)) return 2;
    if (w->j.data && !reads_the_same(w)) {
        cli_note("what its file holds changed while it was opened: the same command is of the new one");
        return TRY_AGAIN;
    }
    smx_run_metrics(w->run, &w->m);
    w->from = w->saved_step = w->m.step;
    cli_use_threads(w->run);
    return 0;
}

static int checkpoint(const void *of, void **bytes, size_t *size, uint64_t *step) {
    const job_work *w = of;
    *step = w->m.step;
    *bytes = w->m.step > w->saved_step && !w->scratch ? smx_run_save(w->run, size, NULL) : NULL;
    return *bytes || w->m.step == w->saved_step || w->scratch ? 0 : -1;
}

static int save(job_work *w) {
    size_t size;
    smx_error e = {0};
    w->saved = cli_seconds();
    if (w->m.step == w->saved_step || w->scratch) return 0;
    void *bytes = smx_run_save(w->run, &size, &e);
    if (!bytes) return cli_fail("%s", e.message);
    signals_lock();
    const int status = cli_write_shared(w->checkpoint, bytes, size);
    if (!status) w->saved_step = w->m.step;
    signals_unlock();
    free(bytes);
    return status;
}

static int judge_between(job_work *w) {
    const size_t before = w->held_out.n;
    if (held_out_add(&w->held_out, &w->j, w->run)) return 2;
    return w->held_out.n > before && w->m.step < w->steps && !w->scratch
               ? held_out_write(&w->held_out, w->held_out_file)
               : 0;
}

// Steps until the last, a signal, another worker's result or claim: 0, *failed where a step failed; or the
// exit status.
static int train(job_work *w, int *failed, smx_error *e) {
    double took = 1.0; // the first step may be a long one
    while (w->m.step < w->until && !*failed) {
        signals_compute(took > 0.3);
        const double begun = cli_seconds();
        *failed = smx_run_step(w->run, 1, e);
        smx_run_metrics(w->run, &w->m);
        const int bad = !*failed && judge_between(w);
        took = cli_seconds() - begun;
        signals_rest();
        if (bad) return 2;
        claim_progress(w->m.step, w->m.steps);
        const int stop = signals_stop(), due = cli_seconds() - w->saved >= (double)w->o.job.seconds;
        if (*failed || w->m.step == w->until || !(stop || due)) continue;
        if (job_is_there(w->path)) return 0;
        if (claim_lost()) return 0; // whoever has it now goes on from the last checkpoint
        const int status =
            save(w); // a full disk: what is computed is not given up for it, until it has to end
        if (stop) return status ? status : TRY_AGAIN;
    }
    return 0;
}

static int compute(job_work *w) {
    smx_error e = {0};
    result r;
    int failed = 0;
    const double wall = w->saved = cli_seconds(), busy = cli_processor_seconds();
    int status = train(w, &failed, &e);
    if (status == TRY_AGAIN)
        cli_note("saved at step %llu of %llu: the same command goes on from there",
                 (unsigned long long)w->m.step, (unsigned long long)w->m.steps);
    if (status) return status;
    if (!failed && w->m.step < w->until) { // another worker has the result, or the job
        status = job_is_done(w);
        if (!status) cli_note("another worker has taken over %s: this one was thought dead", w->j.name);
        return status == 1 ? 0 : status ? status : TRY_AGAIN;
    }
    signals_compute(!failed); // the evaluation may be long as well
    if (!failed && w->until < w->steps)
        status = save(w) ? 2 : training_rung(&r, &w->j, w->run);
    else
        status = training_result(&r, &w->j, w->run, failed ? &e : NULL);
    if (status) return status;
    held_out_give(&w->held_out, &r);
    r.machine.from = w->from;
    r.machine.seconds = cli_seconds() - wall + w->ranks_seconds;
    r.machine.processor_seconds = cli_processor_seconds() - busy + w->ranks_processor_seconds;
    signals_end();
    status = job_write_result(w, &r);
    result_free(&r);
    // The last steps are kept where the result itself found no place.
    if (status && !failed) save(w);
    return status;
}

static int train_claimed(job_work *w, const signals_rules *rules) {
    int status = job_is_done(w); // by who had the claim until now
    if (status) return status == 1 ? 0 : status;
    builds_leave(w->o.out);
    if (w->o.job.ranks > 1) {
        status = ranks_train(w);
        process_hear_no_more();
        if (status || (status = process_stopped() ? TRY_AGAIN : signals_start(rules)) != 0) return status;
    }
    if ((status = open_run(w)) != 0) {
        smx_run_close(w->run);
        return status;
    }
    if (*smx_run_warning(w->run)) cli_note("%s", smx_run_warning(w->run));
    cli_note_images(smx_run_config(w->run), "");
    status = compute(w);
    signals_end();
    smx_run_close(w->run);
    held_out_free(&w->held_out);
    return status;
}

int job_work_on(job_work *w, int *computed) {
    char who[CLAIM_WHO];
    *computed = 0;
    int status = job_find_paths(w) ? 2 : job_is_done(w);
    if (status == 1) { // whoever was killed between the result and the claim's end left the claim
        if (!access(w->claim, F_OK) && !claim_take(w->claim, w->j.config, who)) claim_release();
        return 0;
    }
    if (status) return status;
    if (job_make_folder(w)) return 2;
    // Before a run is opened: a signal that comes while it is read ends with 75, too.
    const signals_rules rules = {.save = w->checkpoint,
                                 .write = cli_write_shared,
                                 .status = TRY_AGAIN,
                                 .checkpoint = checkpoint,
                                 .training = w,
                                 .leave = claim_release};
    if (w->o.job.ranks > 1)
        process_listen(); // while others train
    else if (signals_start(&rules))
        return 2;
    status = claim_take(w->claim, w->j.config, who);
    if (status == 1) {
        if (!w->rival) cli_note("%s works on %s: nothing is done here", who, w->j.name);
        status = TRY_AGAIN;
    } else {
        if (!status) status = train_claimed(w, &rules);
        if (status == 2) job_note_failure(w);
        *computed = !status;
        claim_release();
    }
    signals_end();
    return status;
}

// Threads are this machine's; a text=, file= or folder= that is a path has to be given again by whoever
// loads a checkpoint.
static char *changes_of(const config *c, const char *threads) {
    static const char *const keys[] = {"text", "file", "folder"}; // a task has one of them at most
    const char *path = NULL, *key = "";
    for (size_t i = 0; !path && i < sizeof keys / sizeof *keys; i++) path = config_get(c, key = keys[i]);
    char *changes = malloc(strlen(threads) + 3 * (path ? strlen(path) : 0) + 32), *to = changes;
    if (!changes) return NULL;
    to += sprintf(to, "threads=%s", threads);
    if (path) pairs_encode(to + sprintf(to, "&%s=", key), path);
    return changes;
}

int job_prepare(job_work *w, const config *c, const plan *p, size_t rung) {
    smx_error e = {0};
    w->steps = w->until = c->common.steps;
    if (p) w->until = plan_steps(p, rung, w->steps);
    if (job_of(&w->j, c, w->o.job.eval, w->o.job.every)) return cli_fail("out of memory");
    if (w->o.threads) {
        enum { DIGITS = 24 };
        free(w->j.threads);
        w->j.threads = malloc(DIGITS);
        if (w->j.threads) snprintf(w->j.threads, DIGITS, "%ld", w->o.threads);
    }
    w->changes = w->j.threads ? changes_of(c, w->j.threads) : NULL;
    if (!w->changes) return cli_fail("out of memory");
    if (job_read_files(&w->j, c, &e)) return cli_fail("%s", e.message);
    job_find(&w->j, w->o.out);
    return 0;
}

void job_done_with(job_work *w) {
    job_free(&w->j);
    free(w->changes);
}

int job_compute(job_work *w, const config *c, const plan *p, size_t rung, int *computed) {
    const int status = job_prepare(w, c, p, rung) ? 2 : job_work_on(w, computed);
    job_done_with(w);
    return status;
}

int job_compute_rival(const plan *p, const job_words *o, size_t which, size_t rung) {
    job_work w = {.o = *o, .rival = 1};
    smx_error e = {0};
    int computed;
    config *c = config_parse(p->rivals[which].config, 0, &e);
    if (!c) return cli_fail("%s", e.message);
    const int status = job_compute(&w, c, p, rung, &computed);
    config_free(c);
    return status;
}
