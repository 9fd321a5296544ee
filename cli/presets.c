// presets.c: seqmix presets: trains every run of every preset over several seeds and holds what it measures against the
// claims in model/recipes.c. A claim that does not hold is a failure, not a footnote.
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keys.h"

typedef struct {
    int fast, list;
    long seeds;
    const char *name; // NULL: all
    size_t held, broken;
} options;

static double measured(const smx_evaluation *e, const char *metric) {
    if (!strcmp(metric, "r2")) return e->r2;
    if (!strcmp(metric, "free")) return e->free_accuracy;
    return e->accuracy;
}

static int wanted(const options *o, const claim *c, const char *preset, size_t run) {
    return !strcmp(c->preset, preset) && c->run == run && (!o->fast || c->fast);
}

// The config of run `i` of the preset with this seed, complete; malloc'ed.
static char *run_config(const preset *p, size_t i, long seed, smx_error *e) {
    char text[256];
    snprintf(text, sizeof text, "preset=%s&seed=%ld", p->name, seed);
    char *all = smx_config_complete(text, e), *at = all;
    for (; at && i > 0; i--) at = strchr(at, '~') ? strchr(at, '~') + 1 : NULL;
    char *one = at ? malloc(strlen(at) + 1) : NULL;
    if (one) {
        size_t n = strcspn(at, "~");
        memcpy(one, at, n);
        one[n] = 0;
    }
    free(all);
    return one;
}

static int judge(options *o, const preset *p, size_t i, long seed) {
    smx_error e = {0};
    char *text = run_config(p, i, seed, &e), name[48], task[48];
    smx_run *run = text ? smx_run_open(text, &e) : NULL;
    if (text) {
        cli_config_value(text, "mixer", name, sizeof name);
        cli_config_value(text, "task", task, sizeof task);
    }
    free(text);
    if (!run) return cli_fail("preset %s, run %zu: %s", p->name, i + 1, e.message);
    cli_use_threads(run);
    smx_metrics m;
    smx_run_metrics(run, &m);
    double start = cli_seconds();
    int status = smx_run_step(run, m.steps, &e) ? cli_fail("preset %s, run %zu: %s", p->name, i + 1, e.message) : 0;
    double seconds = cli_seconds() - start;
    for (const claim *c = claims; !status && c->preset; c++) {
        if (!wanted(o, c, p->name, i)) continue;
        smx_evaluation ev;
        if (smx_run_evaluate_as(run, 500, c->changes, &ev, &e)) {
            status = cli_fail("preset %s, run %zu: %s", p->name, i + 1, e.message);
            break;
        }
        const double x = measured(&ev, c->metric);
        const int holds = x >= c->low && x <= c->high;
        *(holds ? &o->held : &o->broken) += 1;
        printf("%s  %-12s %-10s %-10s seed %ld  %-8s %.4f in [%.3f, %.3f]  %6llu steps %6.1f s  %s\n", holds ? "holds " : "BROKEN", p->name,
               name, task, seed, c->metric, x, c->low, c->high, (unsigned long long)m.steps, seconds, c->changes);
        fflush(stdout);
    }
    smx_run_close(run);
    return status;
}

static size_t runs_of(const preset *p) {
    size_t n = 1;
    for (const char *t = p->config; *t; t++) n += *t == '~';
    return n;
}

static int judge_preset(options *o, const preset *p) {
    for (size_t i = 0; i < runs_of(p); i++) {
        int any = 0;
        for (const claim *c = claims; c->preset; c++) any |= wanted(o, c, p->name, i);
        for (long seed = 1; any && seed <= o->seeds; seed++) {
            int status = judge(o, p, i, seed);
            if (status) return status;
        }
    }
    return 0;
}

int cli_presets(int argc, char **argv) {
    options o = {.seeds = 3};
    for (int i = 0; i < argc; i++) {
        if (!strcmp(argv[i], "--fast"))
            o.fast = 1;
        else if (!strcmp(argv[i], "--seeds") && i + 1 < argc && strspn(argv[i + 1], "123456789") == strlen(argv[i + 1]) && strlen(argv[i + 1]) == 1)
            o.seeds = atol(argv[++i]);
        else if (argv[i][0] == '-')
            return cli_fail("presets takes --fast, --seeds 1 to 9 and a preset's name, not '%s'", argv[i]);
        else
            o.name = argv[i];
    }
    int known = 0, status = 0;
    for (const preset *p = presets; p->name && !status; p++) {
        if (o.name && strcmp(o.name, p->name)) continue;
        known = 1;
        status = judge_preset(&o, p);
    }
    if (!known) return cli_fail("there is no preset '%s'; seqmix help preset lists them", o.name);
    printf("%zu claims hold, %zu are broken\n", o.held, o.broken);
    return status ? status : o.broken ? 1 : 0;
}
