// sweep.c: seqmix sweep 'CONFIG' KEY=A,B,C: one training per value and seed, and how good each came out. The
// papers' two sweeps are chunk=... (context window) and images=... (size of the training set).
#include "cli/cli.h"
#include "cli/grid/plan/axes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_VALUES = 32, MOST_SEEDS = 99 };

typedef struct {
    const char *config, *list; // "key=a,b,c"
    long seeds, count;
    int json;
} options;

typedef struct {
    double low, high, sum, seconds;
    unsigned long long params, steps;
} outcome;

static const cli_option table[] = {
    {"--seeds", "N", "seeds 1 to N for each value (its own seed alone)", OPTION_COUNT,
     offsetof(options, seeds), 1, MOST_SEEDS},
    {"--eval", "N", "judged on so many held-out sequences (1000)", OPTION_COUNT, offsetof(options, count), 1,
     10000000},
    {"--json", NULL, "a JSON object a line", OPTION_FLAG, offsetof(options, json), 0, 0},
    {0},
};

static int sweep(int argc, char **argv);
const cli_command cli_sweep = {
    .name = "sweep",
    .usage = "'CONFIG' KEY=A,B...",
    .help = "a training for each value and seed, and how good each came out",
    .options = table,
    .plain = offsetof(options, config),
    .most = 2,
    .example = "seqmix sweep 'mixer=cat&task=mqar' filter=1,2,3 --seeds 3",
    .run = sweep,
};

static int read_options(int argc, char **argv, options *o) {
    *o = (options){.seeds = 1, .count = 1000};
    if (cli_read_options(&cli_sweep, argc, argv, o)) return 2;
    const char *equals = o->list ? strchr(o->list, '=') : NULL;
    if (!equals || equals == o->list || !equals[1])
        return cli_fail("sweep needs a config and a key with values, as in: sweep "
                        "'mixer=las&task=smnist&length=196' chunk=7,28,98");
    return 0;
}

static char *with_changes(const char *config, const char *changes) {
    const size_t n = strlen(config) + strlen(changes) + 2;
    char *text = malloc(n);
    if (text) snprintf(text, n, "%s&%s", config, changes);
    return text;
}

// NULL with the sentence printed.
static smx_run *open_run(const options *o, const char *changes) {
    smx_error e = {0};
    char *text = with_changes(o->config, changes);
    smx_run *run = text ? smx_run_open(text, &e) : NULL;
    if (!run) cli_fail("%s: %s", changes, text ? e.message : "out of memory");
    free(text);
    if (!run || !cli_refuse_too_large(run)) return run;
    smx_run_close(run);
    return NULL;
}

// Every value is tried before the first training: opened, as data and sizes also have their say. A key that
// the run does not read would give a table of repetitions.
static int valid(const options *o, const char *key, const char *changes, int first) {
    smx_run *run = open_run(o, changes);
    if (!run) return 2;
    const int read = !strcmp(key, "preset") || smx_run_config_value(run, key) != NULL;
    if (read && first) cli_note_unread(smx_run_config(run), o->config);
    if (read) cli_note_images(smx_run_config(run), "");
    smx_run_close(run);
    return read ? 0 : cli_fail("sweep: this run has no key %s: its mixer and task do not know it", key);
}

// One training and its evaluation; 0, or the exit status.
static int one(const options *o, const char *changes, outcome *out, const char **metric) {
    smx_error e = {0};
    smx_run *run = open_run(o, changes);
    if (!run) return 2;
    cli_use_threads(run);
    smx_metrics m;
    smx_evaluation v;
    smx_run_metrics(run, &m);
    const double start = cli_processor_seconds();
    int status = smx_run_step(run, m.steps, &e) ? cli_fail("%s: %s", changes, e.message) : 0;
    out->seconds += cli_processor_seconds() - start;
    if (!status && smx_run_evaluate(run, (size_t)o->count, 0, &v, &e))
        status = cli_fail("%s: %s", changes, e.message);
    smx_run_close(run);
    if (status) return status;
    double x;
    *metric = cli_measure(&v, &x);
    if (x < out->low) out->low = x;
    if (x > out->high) out->high = x;
    out->sum += x;
    out->params = (unsigned long long)m.params;
    out->steps = (unsigned long long)m.steps;
    return 0;
}

static void print_row(const options *o, const char *key, const char *value, const outcome *out,
                      const char *metric, int first) {
    const double mean = out->sum / (double)o->seeds, seconds = out->seconds / (double)o->seeds;
    if (o->json) {
        const struct {
            const char *name;
            double value;
        } numbers[] = {{metric, mean}, {"low", out->low}, {"high", out->high}};
        putchar('{');
        cli_json_text(key);
        putchar(':');
        cli_json_text(value);
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
            printf(",\"%s\":", numbers[i].name);
            cli_json_number(numbers[i].value, 9);
        }
        printf(",\"seeds\":%ld,\"params\":%llu,\"steps\":%llu,\"seconds\":%.3f}\n", o->seeds, out->params,
               out->steps, seconds);
    } else {
        char shown[4 * 128 + 8];
        cli_printable(shown, sizeof shown, value);
        if (first)
            printf("%-12s %9s %9s %9s %9s %8s %9s\n", key, metric, "lowest", "highest", "weights", "steps",
                   "seconds");
        printf("%-12s %9.4f %9.4f %9.4f %9llu %8llu %9.2f\n", shown, mean, out->low, out->high, out->params,
               out->steps, seconds);
    }
    fflush(stdout);
}

// The value at *at of a list "A,B,..."; moves on to the next. 0 at the end, -1 for one that is too long.
static int next_value(const char **at, char *value, size_t size) {
    if (!**at) return 0;
    const size_t n = strcspn(*at, ",");
    if (n >= size) return -1;
    snprintf(value, size, "%.*s", (int)n, *at);
    *at += n + ((*at)[n] == ',');
    return 1;
}

static int check_values(const options *o, const char *key, const char *list) {
    char value[128], other[128], changes[256];
    const char *at = list;
    int more, status = 0;
    for (size_t i = 0; !status && (more = next_value(&at, value, sizeof value)) != 0; i++) {
        if (more < 0) return cli_fail("a value of %s is longer than %zu characters", key, sizeof value - 1);
        if (i == MOST_VALUES) return cli_fail("%s has more than %d values", key, MOST_VALUES);
        snprintf(changes, sizeof changes, "%s=%s", key, value);
        status = valid(o, key, changes, i == 0);
        const char *before = list;
        for (size_t j = 0; !status && j < i && next_value(&before, other, sizeof other); j++)
            if (grid_same_value(value, other))
                status = cli_fail("sweep: %s has the value %s twice", key, value);
    }
    return status;
}

static int sweep(int argc, char **argv) {
    options o;
    int status = read_options(argc, argv, &o);
    if (status) return status;
    const size_t key_length = strcspn(o.list, "=");
    char key[64], value[128], changes[256];
    snprintf(key, sizeof key, "%.*s", (int)(key_length < 63 ? key_length : 63), o.list);
    const char *at = o.list + key_length + 1;
    if (cli_refuse_several("sweep", o.config) || cli_refuse_several("sweep", o.list)) return 2;
    if (!strcmp(key, "seed") && o.seeds > 1)
        return cli_fail("seed is the key of the sweep: leave --seeds out");
    if ((status = check_values(&o, key, at)) != 0) return status;
    for (size_t i = 0; !status && next_value(&at, value, sizeof value); i++) {
        outcome out = {.low = 1e30, .high = -1e30};
        const char *metric = "";
        for (long seed = 1; !status && seed <= o.seeds; seed++) {
            // A single seed is the config's own.
            snprintf(changes, sizeof changes, o.seeds > 1 ? "%s=%s&seed=%ld" : "%s=%s", key, value, seed);
            status = one(&o, changes, &out, &metric);
        }
        if (!status) print_row(&o, key, value, &out, metric, i == 0);
    }
    return status;
}
