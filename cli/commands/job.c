// job.c: seqmix job 'CONFIG' --out DIR: one training of a grid, on whatever machine, as often as it takes.
#include "cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/grid/training.h"
#include "model/run/language.h"
#include "model/settings/pairs.h"
#include "train_signals.h"

enum { TRY_AGAIN = 75 }; // sysexits.h's EX_TEMPFAIL

typedef struct {
    const char *config, *out;
    long eval, seconds;
} options;

static const cli_option table[] = {
    {"--out", "DIR", "where the result goes, its checkpoint until then: DIR/ab/abcd0123456789ef.json",
     OPTION_TEXT, offsetof(options, out), 0, 0},
    {"--eval", "N", "judged on so many held-out sequences (1000)", OPTION_COUNT, offsetof(options, eval), 1,
     10000000},
    {"--save-every", "N",
     "a checkpoint every N seconds (60), and after TERM, INT, HUP and USR1, which end with 75", OPTION_COUNT,
     offsetof(options, seconds), 1, 1000000},
    {0},
};

static int run_job(int argc, char **argv);
const cli_command cli_job = {
    .name = "job",
    .usage = "'CONFIG'",
    .help =
        "one training of a grid, its result into a folder: gone on with where it was begun, at once where "
        "it is done",
    .options = table,
    .plain = offsetof(options, config),
    .most = 1,
    .example = "seqmix job 'mixer=cat&task=mqar&seed=2' --out results",
    .run = run_job,
};

typedef struct {
    options o;
    job j;
    char path[JOB_PATH], checkpoint[JOB_PATH];
    smx_run *run;
    smx_metrics m;
    char *changes; // to the config of a checkpoint
    uint64_t from, saved_step;
    double saved;
} work;

static int is_there(const char *path) {
    struct stat st;
    return !stat(path, &st);
}

// What cannot be used is nobody's to delete: it gets another name.
static int set_aside(const char *path, const char *why) {
    char to[JOB_PATH];
    for (int i = 1; i < 1000; i++) {
        if (snprintf(to, sizeof to, "%s.damaged-%d", path, i) >= (int)sizeof to) break;
        if (is_there(to)) continue;
        if (rename(path, to)) {
            if (errno == ENOENT) return 0; // another worker was faster
            break;
        }
        cli_note("%s %s; it is now %s, and the job is done again", path, why, to);
        return 0;
    }
    return cli_fail("%s %s, and cannot be renamed: %s", path, why, strerror(errno));
}

static void print_result(const result *r) {
    if (*r->stopped)
        printf("%s stopped at step %llu\n", r->name, (unsigned long long)r->step);
    else
        printf("%s %s %.6g, digest %016llx\n", r->name, r->metric, r->value, (unsigned long long)r->digest);
}

// 1: the job is done, and its result is printed; 0: not; 2 with the sentence printed.
static int is_done(work *w) {
    result r;
    char why[400];
    size_t size;
    if (!is_there(w->path)) return 0;
    char *text = cli_read_file(w->path, &size);
    if (!text) return 2;
    const int kind = result_read(&r, text, size, why, sizeof why);
    free(text);
    if (kind == RESULT_OTHER) return cli_fail("%s %s", w->path, why);
    if (kind == RESULT_DAMAGED) return set_aside(w->path, why) ? 2 : 0;
    const int same = !strcmp(r.config, w->j.config) && r.eval == w->j.eval;
    if (same) print_result(&r);
    result_free(&r);
    if (!same) return cli_fail("%s is the result of another config: it was renamed, or edited", w->path);
    unlink(w->checkpoint); // of a worker that was slower, and killed
    return 1;
}

// Is this the job's own training, whatever its threads were?
static int is_ours(const work *w, const smx_run *run) {
    job other = {0};
    config *c = config_parse(smx_run_config(run), 0, NULL);
    const int same = c && !job_of(&other, c, w->j.eval) && !strcmp(other.config, w->j.config);
    job_free(&other);
    config_free(c);
    return same;
}

// w->run from the checkpoint; left NULL where there is none to go on from. 0 or 2.
static int go_on(work *w) {
    size_t size;
    smx_error e = {0};
    if (!is_there(w->checkpoint)) return 0;
    void *bytes = cli_read_file(w->checkpoint, &size);
    if (!bytes) return 2;
    w->run = smx_run_load(bytes, size, w->changes, &e);
    free(bytes);
    if (w->run && is_ours(w, w->run)) return 0;
    char why[600];
    snprintf(why, sizeof why, "is no checkpoint of this job: %s",
             w->run ? "its config is another" : e.message);
    smx_run_close(w->run);
    w->run = NULL;
    return set_aside(w->checkpoint, why);
}

static int open_run(work *w) {
    smx_error e = {0};
    if (go_on(w)) return 2;
    if (!w->run) {
        char *text = training_config(&w->j);
        w->run = text ? smx_run_open(text, &e) : NULL;
        free(text);
        if (!w->run) return cli_fail("%s", text ? e.message : "out of memory");
    }
    if (cli_refuse_too_large(w->run)) return 2;
    smx_run_metrics(w->run, &w->m);
    w->from = w->saved_step = w->m.step;
    cli_use_threads(w->run);
    return 0;
}

static int checkpoint(const void *of, void **bytes, size_t *size, uint64_t *step) {
    const work *w = of;
    *step = w->m.step;
    *bytes = w->m.step > w->saved_step ? smx_run_save(w->run, size, NULL) : NULL;
    return *bytes || w->m.step == w->saved_step ? 0 : -1;
}

static int save(work *w) {
    size_t size;
    smx_error e = {0};
    w->saved = cli_seconds();
    if (w->m.step == w->saved_step) return 0;
    void *bytes = smx_run_save(w->run, &size, &e);
    if (!bytes) return cli_fail("%s", e.message);
    signals_lock();
    const int status = cli_write_shared(w->checkpoint, bytes, size);
    if (!status) w->saved_step = w->m.step;
    signals_unlock();
    free(bytes);
    return status;
}

// Steps until the last, a signal, or another worker's result: 0, *failed where a step failed; or the exit
// status.
static int train(work *w, int *failed, smx_error *e) {
    double took = 1.0; // the first step may be a long one
    while (w->m.step < w->m.steps && !*failed) {
        signals_compute(took > 0.3);
        const double begun = cli_seconds();
        *failed = smx_run_step(w->run, 1, e);
        took = cli_seconds() - begun;
        smx_run_metrics(w->run, &w->m);
        signals_rest();
        const int stop = signals_stop(), due = cli_seconds() - w->saved >= (double)w->o.seconds;
        if (*failed || w->m.step == w->m.steps || !(stop || due)) continue;
        if (is_there(w->path)) return 0;
        const int status =
            save(w); // a full disk: what is computed is not given up for it, until it has to end
        if (stop) return status ? status : TRY_AGAIN;
    }
    return 0;
}

static int write_result(const work *w, const result *r) {
    size_t size;
    char *text = result_text(r, &size);
    if (!text) return cli_fail("out of memory");
    const int status = cli_write_shared(w->path, text, size);
    free(text);
    if (status) return status;
    unlink(w->checkpoint);
    if (*r->stopped) cli_note("%s", r->stopped);
    print_result(r);
    return 0;
}

static int compute(work *w) {
    smx_error e = {0};
    result r;
    int failed = 0;
    const double wall = w->saved = cli_seconds(), busy = cli_processor_seconds();
    int status = train(w, &failed, &e);
    if (status == TRY_AGAIN)
        cli_note("saved at step %llu of %llu: the same command goes on from there",
                 (unsigned long long)w->m.step, (unsigned long long)w->m.steps);
    if (status) return status;
    if (!failed && w->m.step < w->m.steps) { // another worker has the result
        status = is_done(w);
        return status == 1 ? 0 : status ? status : TRY_AGAIN;
    }
    signals_compute(!failed); // the evaluation may be long as well
    if ((status = training_result(&r, &w->j, w->run, failed ? &e : NULL)) != 0) return status;
    r.machine.from = w->from;
    r.machine.seconds = cli_seconds() - wall;
    r.machine.processor_seconds = cli_processor_seconds() - busy;
    signals_end();
    status = write_result(w, &r);
    result_free(&r);
    // The last steps are kept where the result itself found no place.
    if (status && !failed) save(w);
    return status;
}

static int make_folder(const work *w) {
    char folder[JOB_PATH];
    snprintf(folder, sizeof folder, "%s", w->path);
    *strrchr(folder, '/') = 0;
    return cli_make_folders(folder, "job: --out") ? 2 : cli_can_write(w->path);
}

static int work_on(work *w) {
    if (job_path(&w->j, w->o.out, ".json", w->path) ||
        job_path(&w->j, w->o.out, ".safetensors", w->checkpoint))
        return cli_fail("job: --out: the path is too long; at most %d characters are allowed", JOB_PATH - 40);
    int status = is_done(w);
    if (status) return status == 1 ? 0 : status;
    if (make_folder(w)) return 2;
    // Before the run is opened: a signal that comes while it is read ends with 75, too.
    const signals_rules rules = {.save = w->checkpoint,
                                 .write = cli_write_shared,
                                 .status = TRY_AGAIN,
                                 .checkpoint = checkpoint,
                                 .training = w};
    if (signals_start(&rules) || open_run(w) || cli_refuse_too_large(w->run)) return 2;
    if (*smx_run_warning(w->run)) cli_note("%s", smx_run_warning(w->run));
    cli_note_images(smx_run_config(w->run), "");
    status = compute(w);
    signals_end();
    smx_run_close(w->run);
    return status;
}

// Threads are this machine's; a text=, file= or folder= that is a path has to be given again by whoever
// loads a checkpoint.
static char *changes_of(const config *c) {
    static const char *const keys[] = {"text", "file", "folder"}; // a task has one of them at most
    const char *path = NULL, *key = "", *threads = config_get(c, "threads");
    for (size_t i = 0; !path && i < sizeof keys / sizeof *keys; i++) path = config_get(c, key = keys[i]);
    char *changes = malloc(strlen(threads) + 3 * (path ? strlen(path) : 0) + 32), *to = changes;
    if (!changes) return NULL;
    to += sprintf(to, "threads=%s", threads);
    if (path) pairs_encode(to + sprintf(to, "&%s=", key), path);
    return changes;
}

static int run_job(int argc, char **argv) {
    work w = {.o = {.eval = JOB_EVAL, .seconds = 60}};
    smx_error e = {0};
    if (cli_read_options(&cli_job, argc, argv, &w.o)) return 2;
    if (!w.o.config) return cli_usage_error(&cli_job, "a config, such as 'mixer=cat&task=mqar'");
    if (!w.o.out) return cli_usage_error(&cli_job, "--out DIR, a folder for its result");
    if (cli_refuse_several("job", w.o.config)) return 2;
    config *c = config_parse(w.o.config, 0, &e);
    if (!c) return cli_fail("%s", e.message);
    w.changes = changes_of(c);
    const int bad = job_of(&w.j, c, w.o.eval) || !w.changes;
    config_free(c);
    const int status = bad ? cli_fail("out of memory") : work_on(&w);
    job_free(&w.j);
    free(w.changes);
    return status;
}
