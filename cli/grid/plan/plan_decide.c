// plan_decide.c: who goes on, from what the results of a plan's rivals say. See plan.h.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "model/run/language/language.h"
#include "plan.h"
#include "cli/grid/result.h"
#include "cli/grid/table/table.h"
#include "usual.h"

// How many of so many go on.
static double keep_of(const plan *p, double in) {
    const double n = ceil(p->keep * in - 1e-9);
    return n < 1.0 ? 1.0 : n;
}

uint64_t plan_steps(const plan *p, size_t rung, uint64_t steps) {
    const uint64_t n = (uint64_t)ceil(p->rungs[rung] * (double)steps - 1e-9);
    return n < 1 ? 1 : n > steps ? steps : n;
}

size_t plan_seeds(const plan *p, size_t rung) { return p->few[rung] ? p->few[rung] : p->seeds; }

double plan_share(const plan *p, size_t settings) {
    double in = (double)settings, sum = 0.0;
    for (size_t r = 0; r < p->n_rungs; r++) {
        sum += in * p->rungs[r] * (double)plan_seeds(p, r);
        if (r) sum -= in * p->rungs[r - 1] * (double)plan_seeds(p, r - 1);
        if (p->within[r] == 0.0) in = keep_of(p, in);
    }
    return sum / (double)(settings * p->seeds);
}

size_t plan_lines(const plan *p, size_t settings) {
    size_t in = settings, most = 2;
    for (size_t r = 1; r < p->n_rungs; r++) {
        in = (size_t)keep_of(p, (double)in);
        if (in * plan_seeds(p, r) > most) most = in * plan_seeds(p, r);
    }
    return most - 1;
}

int plan_path(const job *j, const char *folder, uint64_t step, char path[JOB_PATH]) {
    char ending[48];
    snprintf(ending, sizeof ending, ".rung-%llu.json", (unsigned long long)step);
    return job_path(j, folder, ending, path);
}

typedef struct {
    size_t setting;
    double choice, loss; // NaN: a seed diverged
    char metric[16];
} standing;

int plan_job(const plan *p, size_t i, job *j, uint64_t *steps) {
    const plan_rival *rival = &p->rivals[i];
    smx_error e = {0};
    *j = (job){0};
    *steps = rival->steps;
    memcpy(j->name, rival->name, sizeof j->name);
    if (*steps) return 0; // it says both
    config *c = config_parse(rival->config, 0, &e);
    const int bad = !c || job_of(j, c, p->eval, p->every) || job_read_files(j, c, &e);
    if (bad)
        cli_fail("%s", *e.message ? e.message : "out of memory");
    else
        *steps = c->common.steps;
    config_free(c);
    return bad ? -1 : 0;
}

// Is it the result of this rival, which may have been written by an older build?
static int is_of(const plan_rival *rival, const job *j, const result *r) {
    if (!strcmp(rival->config, r->config)) return 1;
    job named = {.told = j->told ? NULL : usual_left_out(rival->config, NULL)};
    const int same = j->told ? job_is(j, r->config) : named.told && job_is(&named, r->config);
    job_free(&named);
    return same;
}

// Where the first builds of 0.1.0 began it: the job has their name then. 0, or -1 with the sentence printed.
static int find_before(const plan *p, size_t i, const char *folder, job *j) {
    if (!*j->before) {
        char *text = usual_of_before(p->rivals[i].config, NULL);
        if (!text) return cli_fail("out of memory"), -1;
        job_name(j->before, text, p->eval, p->every, 0);
        free(text);
    }
    job_find(j, folder);
    return 0;
}

enum { AT_RUNG = 1, DIVERGED };

// Adds the result at this path: AT_RUNG; DIVERGED, which counts at every rung, and adds NaN; 0: it is not
// there. over: the path is that of a whole training, of which a diverged one alone counts.
static int add_result(const plan_rival *rival, const job *j, const char *path, int over, standing *to) {
    result r = {0};
    char why[400];
    size_t size;
    struct stat st;
    int found = 0;
    if (stat(path, &st)) return 0;
    char *text = cli_read_file(path, &size);
    const int kind = text ? result_read(&r, text, size, why, sizeof why) : RESULT_DAMAGED;
    free(text);
    if (kind == RESULT_WHOLE && is_of(rival, j, &r) && (!over || *r.stopped)) {
        found = *r.stopped ? DIVERGED : AT_RUNG;
        to->choice += *r.stopped ? NAN : r.choice;
        to->loss += *r.stopped ? NAN : r.held_out_loss;
        if (!*r.stopped) memcpy(to->metric, r.metric, sizeof to->metric);
    }
    result_free(&r);
    return found;
}

// The same of what rival i came to at a rung, on the sequences that a choice is made by; -1 with the sentence
// printed.
static int add_value(const plan *p, const char *folder, size_t rung, size_t i, standing *to) {
    job j;
    char path[JOB_PATH], name[JOB_NAME];
    uint64_t steps;
    int found = plan_job(p, i, &j, &steps);
    for (int tries = 0; tries < 2 && !found; tries++) {
        const uint64_t until = plan_steps(p, rung, steps);
        if (until < steps && !plan_path(&j, folder, until, path))
            found = add_result(&p->rivals[i], &j, path, 0, to);
        if (!found && !job_path(&j, folder, ".json", path))
            found = add_result(&p->rivals[i], &j, path, until < steps, to);
        memcpy(name, j.name, sizeof name);
        if (found || tries || find_before(p, i, folder, &j)) break;
        if (!strcmp(name, j.name)) break;
    }
    job_free(&j);
    return found;
}

// By what chooses a best in the end; the loss tells those apart that are alike in it.
static int by_choice(const void *a, const void *b) {
    const standing *x = a, *y = b;
    const int u = isfinite(x->choice), v = isfinite(y->choice);
    if (u != v) return v - u;
    if (u && x->choice != y->choice) return table_better(x->metric, x->choice, y->choice) ? -1 : 1;
    if (u && x->loss != y->loss) return x->loss < y->loss ? -1 : 1;
    return (x->setting > y->setting) - (x->setting < y->setting);
}

static int by_loss(const void *a, const void *b) {
    const standing *x = a, *y = b;
    const int u = isfinite(x->loss), v = isfinite(y->loss);
    if (u != v) return v - u;
    return u && x->loss != y->loss ? (x->loss < y->loss ? -1 : 1) : by_choice(a, b);
}

// Puts those first that go on from a rung; how many these are.
static size_t go_on(const plan *p, size_t rung, standing *all, size_t in) {
    const double within = p->within[rung] * (double)plan_seeds(p, rung); // as choices are sums over seeds
    qsort(all, in, sizeof *all, within > 0.0 || rung ? by_choice : by_loss);
    if (within == 0.0) return (size_t)keep_of(p, (double)in);
    size_t n = 1;
    while (n < in && fabs(all[n].choice - all[0].choice) <= within + 1e-9) n++;
    return n;
}

void plan_state_free(plan_state *s) {
    free(s->missing);
    free(s->settings);
    *s = (plan_state){0};
}

// What the settings that train at a rung came to, and which of their seeds are missing.
static int look_at(const plan *p, const char *folder, size_t rung, size_t most, standing *all,
                   plan_state *s) {
    s->rung = rung;
    s->fresh = 1;
    for (size_t i = s->in; i-- > 0 && s->n < most;) {
        all[i] = (standing){.setting = all[i].setting};
        for (size_t k = 0; k < plan_seeds(p, rung); k++) { // in order, as it is a sum
            const size_t which = all[i].setting * p->seeds + k;
            const int there = add_value(p, folder, rung, which, &all[i]);
            if (there < 0) return -1;
            if (there == AT_RUNG) s->fresh = 0;
            if (!there) s->missing[s->n++] = which;
        }
    }
    return 0;
}

int plan_look(const plan *p, const char *folder, size_t most, plan_state *s) {
    const size_t settings = p->n / p->seeds;
    standing *all = malloc(settings * sizeof *all);
    *s = (plan_state){.in = settings,
                      .out = settings,
                      .missing = malloc(p->n * sizeof *s->missing),
                      .settings = malloc(settings * sizeof *s->settings)};
    int status = all && s->missing && s->settings ? 0 : (cli_fail("out of memory"), -1);
    for (size_t i = 0; i < settings && !status; i++) all[i].setting = i;
    for (size_t r = 0; r < p->n_rungs && !status; r++) {
        status = look_at(p, folder, r, r ? p->n : most, all, s);
        if (status || s->n) break;
        s->rung = r + 1;
        if (!s->fresh) s->out = s->in;
        if (r + 1 < p->n_rungs) s->in = go_on(p, r, all, s->in);
    }
    for (size_t i = 0; i < s->out && !status; i++) s->settings[i] = all[i].setting;
    free(all);
    return status;
}
