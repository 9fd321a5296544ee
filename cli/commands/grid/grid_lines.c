// grid_lines.c: the lines of `seqmix grid`, for any machine that sees the folder, and the plans of its rungs.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/grid/files_digest.h"
#include "grid_work.h"

// A machine that runs a line (ssh, GNU parallel) may do so in another folder.
static int absolute(const char *out, char to[JOB_PATH]) {
    char here[JOB_PATH];
    if (*out == '/') here[0] = 0;
    if (*out != '/' && !getcwd(here, sizeof here))
        return cli_fail("grid: this folder has no name: %s", strerror(errno));
    return snprintf(to, JOB_PATH, "%s%s%s", here, *here ? "/" : "", out) < JOB_PATH
               ? 0
               : cli_fail("grid: --out: the path is too long");
}

// ---- Rungs ----------------------------------------------------------------------------------------------

int grid_read_rungs(grid_work *w) {
    const grid_options *o = &w->o;
    if (!o->rungs) return o->best ? cli_fail("grid: --best is about rivals: it needs --rungs beside it") : 0;
    w->rungs.seeds = w->g.seeds ? (size_t)w->g.seeds : 1;
    if (plan_read_rungs(&w->rungs, o->rungs, o->keep, w->rungs.seeds)) return 2;
    const char *at = o->best ? o->best : "rate";
    if (!o->best && o->random) memset(w->over, 1, sizeof w->over);
    for (size_t n; !(o->random && !o->best) && *at; at += n + (at[n] == ',')) {
        size_t k = 0;
        n = strcspn(at, ",");
        while (k < w->g.n_axes && (strlen(w->g.axes[k].key) != n || strncmp(w->g.axes[k].key, at, n))) k++;
        if (k == w->g.n_axes)
            return cli_fail(
                "grid: --rungs: %.*s is no key of this grid, so that nothing has rivals: --best names "
                "those keys whose values are",
                (int)n, at);
        w->over[k] = 1;
    }
    return 0;
}

// Named by its config alone, where it reads no file (and every file that it names is here to tell).
static int add_rival(plan *p, const config *c, const job *j) {
    uint64_t data;
    const int named = !files_digest(c, &data, NULL) && !data;
    return plan_add(p, j->config, c->common.steps, named ? j->name : NULL);
}

// Every job of a group, setting by setting; the number of its first is `of`.
static int add_rivals(const grid_work *w, size_t of, plan *p) {
    const size_t seeds = p->seeds, group = grid_group(&w->g, of, w->over);
    int status = 0;
    names seen = {0};
    for (size_t kind = 0; kind < w->g.kinds && !status; kind++) {
        if (grid_group(&w->g, kind, w->over) != group) continue;
        for (size_t s = 0; s < seeds && !status; s++) {
            int repeats;
            job j = {0};
            smx_error e = {0};
            config *c = grid_config(&w->g, kind + s * w->g.kinds, &repeats, &e);
            if (!c) status = cli_fail("grid: %s", e.message);
            if (!status && job_of(&j, c, p->eval, p->every)) status = cli_fail("out of memory");
            if (!status && !repeats && names_add(&seen, strtoull(j.name, NULL, 16)) == 1)
                status = add_rival(p, c, &j);
            job_free(&j);
            config_free(c);
        }
    }
    names_free(&seen);
    return status;
}

// The name of the plan of job i's group, made when it is first asked for.
static int plan_of(grid_work *w, size_t i, const char **name) {
    const size_t kind = i % w->g.kinds, group = grid_group(&w->g, kind, w->over);
    if (!w->plans && !(w->plans = calloc(w->g.kinds, sizeof *w->plans))) return cli_fail("out of memory");
    *name = w->plans[kind];
    if (**name) return 0;
    plan p = w->rungs;
    p.eval = w->o.job.eval;
    p.every = w->o.job.every;
    const int status = add_rivals(w, kind, &p) || plan_leave(&p, w->o.out) ? 2 : 0;
    for (size_t k = 0; k < w->g.kinds && !status; k++)
        if (grid_group(&w->g, k, w->over) == group) memcpy(w->plans[k], p.name, sizeof p.name);
    plan_free(&p);
    return status;
}

// ---- Lines ----------------------------------------------------------------------------------------------

// One job, or with rest one more worker at its plan.
static int print_line(grid_work *w, size_t i, const config *c, int rest) {
    job j;
    char place[JOB_PATH];
    const char *of_plan = NULL;
    int status = absolute(w->o.out, place);
    if (job_of(&j, c, w->o.job.eval, w->o.job.every)) status = cli_fail("out of memory");
    if (!status && w->rungs.n_rungs) status = plan_of(w, i, &of_plan);
    const size_t size = status ? 0 : strlen(j.config) + strlen(j.threads) + 16;
    char *text = size ? malloc(size) : NULL;
    if (text) {
        const int usual = !strcmp(j.threads, "1");
        snprintf(text, size, "%s%s%s", j.config, usual ? "" : "&threads=", usual ? "" : j.threads);
        fputs("seqmix job", stdout);
        if (!rest) {
            putchar(' ');
            cli_put_quoted(stdout, text);
        }
        fputs(" --out ", stdout);
        cli_put_quoted(stdout, place);
        job_print_options(&w->o.job, stdout);
        if (rest && !usual) printf(" --threads %s", j.threads);
        if (of_plan) printf(" --plan %s%s", of_plan, rest ? "" : " --rung 1");
        putchar('\n');
    }
    free(text);
    job_free(&j);
    return status ? status : text ? 0 : cli_fail("out of memory");
}

static int print_jobs(grid_work *w) {
    smx_error e = {0};
    int status = 0;
    names seen = {0};
    // Another one of every `parts` each time: were it always the same, a part might get all the slow ones.
    for (size_t row = 0; row * w->parts < w->g.jobs && !status && !ferror(stdout); row++) {
        const size_t i = row * w->parts + (w->part + row) % w->parts;
        if (i >= w->g.jobs || (w->rungs.n_rungs && i / w->g.kinds >= plan_seeds(&w->rungs, 0))) continue;
        int repeats;
        job j = {0};
        config *c = grid_config(&w->g, i, &repeats, &e);
        if (!c) status = cli_fail("grid: %s", e.message);
        if (c && w->g.drawn && !job_of(&j, c, 1, 0)) repeats = !names_add(&seen, strtoull(j.name, NULL, 16));
        if (c && !repeats) status = print_line(w, i, c, 0);
        job_free(&j);
        config_free(c);
    }
    names_free(&seen);
    return status;
}

typedef struct {
    size_t group, kind;
} member;
static int by_group(const void *a, const void *b) {
    const member *x = a, *y = b;
    if (x->group != y->group) return x->group < y->group ? -1 : 1;
    return (x->kind > y->kind) - (x->kind < y->kind);
}

// One more worker at the plan of a group, whose first kind this is. (Where that one says what an earlier kind
// says, so do all of them.)
static int print_rest(grid_work *w, size_t kind) {
    smx_error e = {0};
    int repeats;
    config *c = grid_config(&w->g, kind, &repeats, &e);
    if (!c) return cli_fail("grid: %s", e.message);
    const int status = repeats ? 0 : print_line(w, kind, c, 1);
    config_free(c);
    return status;
}

// Every group's first one before any group's second, dealt out to the parts.
static int print_rests(grid_work *w) {
    const size_t kinds = w->g.kinds;
    member *all = malloc(kinds * sizeof *all);
    if (!all) return cli_fail("out of memory");
    for (size_t i = 0; i < kinds; i++) all[i] = (member){grid_group(&w->g, i, w->over), i};
    qsort(all, kinds, sizeof *all, by_group);
    int status = 0;
    size_t line = 0;
    for (size_t k = 0, most = 1; k < most && !status; k++)
        for (size_t i = 0, n; i < kinds && !status && !ferror(stdout); i += n) {
            for (n = 1; i + n < kinds && all[i + n].group == all[i].group; n++) {
            }
            const size_t lines = plan_lines(&w->rungs, n);
            if (lines > most) most = lines;
            if (k < lines && line++ % w->parts == w->part) status = print_rest(w, all[i].kind);
        }
    free(all);
    return status;
}

int grid_lines(grid_work *w) {
    const int status = print_jobs(w);
    return status || !w->rungs.n_rungs ? status : print_rests(w);
}
