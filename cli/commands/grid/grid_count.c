// grid_count.c: seqmix grid --count: how many jobs, how long, which values, and how many of them are done.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "grid_work.h"

enum { TIMED = 12, SHOWN = 20 };

// Processor seconds of a job, from some steps and an evaluation of a few sequences.
static int time_one(const config *c, long eval, double *seconds) {
    smx_error e = {0};
    smx_metrics m;
    smx_evaluation v;
    char *text = config_text(c);
    smx_run *run = text ? smx_run_open(text, &e) : NULL;
    free(text);
    if (!run) return cli_fail("grid: %s", text ? e.message : "out of memory");
    int failed = smx_run_step(run, 1, &e); // the first one touches memory
    size_t steps = 0;
    const double start = cli_processor_seconds();
    double now = start;
    for (; !failed && steps < 50 && now - start < 0.3; steps++) {
        failed = smx_run_step(run, 1, &e);
        now = cli_processor_seconds();
    }
    smx_run_metrics(run, &m);
    *seconds = steps ? (now - start) / (double)steps * (double)m.steps : 0.0;
    const long few = eval < 64 ? eval : 64;
    failed |= smx_run_evaluate(run, (size_t)few, 0, &v, &e);
    *seconds += (cli_processor_seconds() - now) * (double)eval / (double)few;
    smx_run_close(run);
    return failed ? cli_fail("grid: %s", e.message) : 0;
}

static void put_duration(double seconds) {
    if (seconds < 120)
        printf("%.1f s", seconds);
    else if (seconds < 7200)
        printf("%.0f min", seconds / 60);
    else if (seconds < 172800)
        printf("%.1f h", seconds / 3600);
    else
        printf("%.1f days", seconds / 86400);
}

static int is_there(const job *j, const char *folder, const char *ending) {
    char path[JOB_PATH];
    return !job_path(j, folder, ending, path) && access(path, F_OK) == 0;
}
// How many of the grid's jobs have a result in the folder, or a checkpoint.
static int print_done(const grid_work *w, double each) {
    smx_error e = {0};
    size_t done = 0, begun = 0;
    for (size_t i = 0; i < w->g.jobs; i++) {
        int repeats;
        job j;
        config *c = grid_config(&w->g, i, &repeats, &e);
        if (!c) return cli_fail("grid: %s", e.message);
        const int bad =
            repeats ? 0 : job_of(&j, c, w->o.job.eval, w->o.job.every) || job_read_files(&j, c, &e);
        config_free(c);
        if (repeats) continue;
        if (!bad) job_find(&j, w->o.out);
        if (!bad && is_there(&j, w->o.out, ".json"))
            done++;
        else if (!bad)
            begun += (size_t)is_there(&j, w->o.out, ".safetensors");
        job_free(&j);
        if (bad) return cli_fail("grid: %s", *e.message ? e.message : "out of memory");
    }
    printf("%zu of %zu done in ", done, w->jobs);
    char folder[400];
    cli_printable(folder, sizeof folder, w->o.out);
    printf("%s, %zu begun; what is left takes up to ", folder, begun);
    put_duration(each * (double)(w->jobs - done));
    putchar('\n');
    return 0;
}

static void put_value(const char *before, const char *value) {
    char safe[400];
    cli_printable(safe, sizeof safe, value);
    printf("%s%s", before, safe);
}

// Settings that are rivals of the first, and itself.
static size_t rivals(const grid_work *w) {
    size_t n = 0;
    const size_t first = grid_group(&w->g, 0, w->over);
    for (size_t kind = 0; kind < w->g.kinds; kind++) n += grid_group(&w->g, kind, w->over) == first;
    return n;
}

// A few jobs, spread over the grid.
int grid_count(const grid_work *w) {
    smx_error e = {0};
    double sum = 0.0;
    size_t timed = 0;
    const size_t kinds = w->g.kinds;
    const size_t wanted = kinds < TIMED ? kinds : TIMED;
    for (size_t i = 0; i < wanted; i++) {
        int repeats;
        double seconds = 0.0;
        config *c = grid_config(&w->g, i * kinds / wanted, &repeats, &e);
        if (!c) return cli_fail("grid: %s", e.message);
        const int status = repeats ? 0 : time_one(c, w->o.job.eval, &seconds);
        config_free(c);
        if (status) return status;
        if (repeats) continue;
        sum += seconds;
        timed++;
    }
    const double each = sum / (double)timed;
    printf("%zu jobs of about ", w->jobs);
    put_duration(each);
    fputs(" each, ", stdout);
    put_duration(each * (double)w->jobs);
    printf(" of one core in all (%zu of them timed here, %s)\n", timed, smx_isa());
    if (w->rungs.n_rungs) {
        const double share = plan_share(&w->rungs, rivals(w));
        int open = 0; // how many go on is not known beforehand
        for (size_t r = 0; r < w->rungs.n_rungs; r++) open |= w->rungs.within[r] > 0.0;
        printf("by rungs %s%.0f %% of the steps, about ", open ? "at most " : "", 100.0 * share);
        put_duration(share * each * (double)w->jobs);
        puts("");
    }
    if (w->o.out && print_done(w, each)) return 2;
    for (size_t k = 0; k < w->g.n_axes; k++) {
        const axis *a = &w->g.axes[k];
        printf("%s:", a->key);
        for (size_t i = 0; i < a->n && i < SHOWN; i++) put_value(i ? ", " : " ", a->values[i]);
        if (a->n > SHOWN) {
            printf(" and %zu more, to", a->n - SHOWN);
            put_value(" ", a->values[a->n - 1]);
        }
        putchar('\n');
    }
    return 0;
}
