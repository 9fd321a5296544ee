// presets.c: seqmix presets: trains every run of every preset over several seeds and holds what it measures
// against their claims (model/run/language/presets.c). A claim that does not hold is a failure, not a
// footnote.
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/run/language/language.h"
#include "model/run/language/recipes.h"

enum { MOST_RUNS = 64, MOST_SEEDS = 16, HELD_OUT = 500, MNIST_TEST = 10000 };

typedef struct {
    int fast, list, json;
    long seeds;
    const char *name; // NULL: all
    size_t held, broken;
    double
        plain[MOST_RUNS]
             [MOST_SEEDS]; // of the preset at hand: what each run reached without changes, NaN: not measured
} options;

static double measured(const smx_evaluation *e, const char *metric) {
    if (!strcmp(metric, "r2")) return e->r2;
    if (!strcmp(metric, "free")) return e->free_accuracy;
    if (!strcmp(metric, "bits")) return cli_bits(e);
    return e->accuracy;
}

static int wanted(const options *o, const claim *c, const char *preset, size_t run) {
    return !strcmp(c->preset, preset) && c->run == run && (!o->fast || c->fast);
}

// Is the run compared with by a claim that is wanted?
static int is_baseline(const options *o, const char *preset, size_t run) {
    for (const claim *c = claims; c->preset; c++)
        if (c->minus == run + 1 && wanted(o, c, preset, c->run)) return 1;
    return 0;
}

// The config of run `i` of the preset with this seed.
static config *run_config(const preset *p, size_t i, long seed, smx_error *e) {
    char text[256];
    snprintf(text, sizeof text, "preset=%s&seed=%ld", p->name, seed);
    return config_parse(text, i, e);
}

// The value of a key, "" where this run has none.
static const char *value(const config *c, const char *key) {
    const char *text = config_get(c, key);
    return text ? text : "";
}

typedef struct {
    const preset *p;
    size_t i; // run
    long seed;
    char mixer[48], task[48];
    const char *images; // that they are procedural digits, or ""
    smx_metrics m;
    double seconds;
} training;

static void report(options *o, const training *t, const claim *c, double x) {
    const int holds = x >= c->low && x <= c->high;
    *(holds ? &o->held : &o->broken) += 1;
    if (o->json)
        printf("{\"preset\":\"%s\",\"run\":%zu,\"mixer\":\"%s\",\"task\":\"%s\",\"seed\":%ld,\"metric\":\"%"
               "s\",\"changes\":\"%s\","
               "\"minus\":%zu,\"value\":%.6f,\"low\":%.6g,\"high\":%.6g,\"holds\":%s,\"params\":%llu,"
               "\"steps\":%llu,\"seconds\":%.2f}\n",
               t->p->name, t->i, t->mixer, t->task, t->seed, c->metric, c->changes, c->minus, x, c->low,
               c->high, holds ? "true" : "false", (unsigned long long)t->m.params,
               (unsigned long long)t->m.steps, t->seconds);
    else
        printf("%s  %-12s %-10s %-10s seed %ld  %-8s %.4f in [%.3f, %.3f]  %6llu steps %6.1f s  %s",
               holds ? "holds " : "BROKEN", t->p->name, t->mixer, t->task, t->seed, c->metric, x, c->low,
               c->high, (unsigned long long)t->m.steps, t->seconds, c->changes);
    if (!o->json && c->minus) printf("minus run %zu", c->minus);
    if (!o->json && *t->images) printf("%s%s", *c->changes || c->minus ? ", " : "", t->images);
    if (!o->json) putchar('\n');
    fflush(stdout);
}

// The trained run against every claim about it. 0, or the exit status.
static int judge_run(options *o, training *t, smx_run *run, size_t count) {
    smx_error e = {0};
    smx_evaluation ev;
    for (const claim *c = claims; c->preset; c++) {
        if (!wanted(o, c, t->p->name, t->i)) continue;
        if (smx_run_evaluate_as(run, count, c->changes, &ev, &e))
            return cli_fail("preset %s, run %zu: %s", t->p->name, t->i + 1, e.message);
        double x = measured(&ev, c->metric);
        if (c->minus) x -= o->plain[c->minus - 1][t->seed - 1];
        report(o, t, c, x);
    }
    if (is_baseline(o, t->p->name, t->i)) {
        if (smx_run_evaluate(run, count, 0, &ev, &e))
            return cli_fail("preset %s, run %zu: %s", t->p->name, t->i + 1, e.message);
        cli_measure(&ev, &o->plain[t->i][t->seed - 1]);
    }
    return 0;
}

static int judge(options *o, const preset *p, size_t i, long seed) {
    smx_error e = {0};
    training t = {.p = p, .i = i, .seed = seed, .images = ""};
    config *c = run_config(p, i, seed, &e);
    char *text = c ? config_text(c) : NULL, data[48] = "", test[48] = "";
    smx_run *run = text ? smx_run_open(text, &e) : NULL;
    if (text) {
        snprintf(t.mixer, sizeof t.mixer, "%s", c->of_mixer.name);
        snprintf(t.task, sizeof t.task, "%s", c->of_task.name);
        snprintf(data, sizeof data, "%s", value(c, "data"));
        snprintf(test, sizeof test, "%s", value(c, "test"));
        t.images = cli_images(text, "");
    }
    free(text);
    config_free(c);
    const int real =
        !strcmp(test, "mnist") || (!strcmp(data, "mnist") && !strcmp(test, "same")); // MNIST's test images
    if (!run && (real || !strcmp(data, "mnist")) && strstr(e.message, "not found")) {
        if (!o->json) printf("skipped %-12s run %zu, seed %ld: %s\n", p->name, i + 1, seed, e.message);
        return 0;
    }
    if (!run) return cli_fail("preset %s, run %zu: %s", p->name, i + 1, e.message);
    cli_use_threads(run);
    smx_run_metrics(run, &t.m);
    const double start = cli_processor_seconds();
    int status =
        smx_run_step(run, t.m.steps, &e) ? cli_fail("preset %s, run %zu: %s", p->name, i + 1, e.message) : 0;
    t.seconds = cli_processor_seconds() - start;
    if (!status) status = judge_run(o, &t, run, real ? MNIST_TEST : HELD_OUT);
    smx_run_close(run);
    return status;
}

static int judge_preset(options *o, const preset *p) {
    for (size_t i = 0; i < config_runs(p->config); i++) {
        int any = is_baseline(o, p->name, i);
        for (const claim *c = claims; c->preset; c++) any |= wanted(o, c, p->name, i);
        for (long seed = 1; any && seed <= o->seeds; seed++) {
            int status = judge(o, p, i, seed);
            if (status) return status;
        }
    }
    return 0;
}

// The claims themselves, as JSON lines.
static void list_claims(const options *o) {
    for (const claim *c = claims; c->preset; c++)
        if (!o->name || !strcmp(o->name, c->preset))
            printf("{\"preset\":\"%s\",\"run\":%zu,\"changes\":\"%s\",\"metric\":\"%s\",\"low\":%.6g,"
                   "\"high\":%.6g,\"fast\":%s,\"minus\":%zu}\n",
                   c->preset, c->run, c->changes, c->metric, c->low, c->high, c->fast ? "true" : "false",
                   c->minus);
}

static const cli_option table[] = {
    {"--fast", NULL, "the quick claims alone", OPTION_FLAG, offsetof(options, fast), 0, 0},
    {"--seeds", "N", "with seeds 1 to N (3)", OPTION_COUNT, offsetof(options, seeds), 1, MOST_SEEDS},
    {"--list", NULL, "say the claims and measure nothing", OPTION_FLAG, offsetof(options, list), 0, 0},
    {"--json", NULL, "a JSON object a line", OPTION_FLAG, offsetof(options, json), 0, 0},
    {0},
};

static int measure_presets(int argc, char **argv);
const cli_command cli_presets = {
    .name = "presets",
    .usage = "[NAME]",
    .help = "measure every preset's claims again, or list them",
    .options = table,
    .plain = offsetof(options, name),
    .most = 1,
    .example = "seqmix presets recall --seeds 1",
    .run = measure_presets,
};

static int measure_presets(int argc, char **argv) {
    options o = {.seeds = 3};
    if (cli_read_options(&cli_presets, argc, argv, &o)) return 2;
    int known = 0, status = 0;
    for (const preset *p = presets; p->name && !status; p++) {
        if (o.name && strcmp(o.name, p->name)) continue;
        known = 1;
        if (!o.list) status = judge_preset(&o, p);
    }
    if (!known) return cli_fail("there is no preset '%s'; seqmix help preset lists them", o.name);
    if (o.list)
        list_claims(&o);
    else
        fprintf(o.json ? stderr : stdout, "%zu claims hold, %zu are broken\n", o.held, o.broken);
    return status ? status : o.broken ? 1 : 0;
}
