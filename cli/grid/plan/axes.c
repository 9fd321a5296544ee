// axes.c: see axes.h.
#include "axes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "kernels/core/mathd.h"
#include "model/base/number.h"
#include "model/run/language/language.h"
#include "model/settings/pairs.h"
#include "tasks/util.h"

// ---- Reading --------------------------------------------------------------------------------------------

static int add_value(axis *a, const char *text, size_t length) {
    if (a->n == MOST_AXIS_VALUES) return cli_fail("%s has more than %d values", a->key, MOST_AXIS_VALUES);
    char **longer = realloc(a->values, (a->n + 1) * sizeof *longer);
    if (longer) a->values = longer;
    if (!longer || !(a->values[a->n] = strndup(text, length))) return cli_fail("out of memory");
    a->n++;
    return 0;
}

// LOW:HIGH:COUNT or LOW:HIGH:COUNTlog; 1 where the text is of that form.
static int is_range(const char *text, double *low, double *high, long *count, int *log) {
    char *end;
    *low = number_read(text, &end);
    if (end == text || *end != ':') return 0;
    const char *at = end + 1;
    *high = number_read(at, &end);
    if (end == at || *end != ':') return 0;
    at = end + 1;
    *count = strtol(at, &end, 10);
    *log = !strcmp(end, "log");
    return end > at && (!*end || *log);
}

static int add_range(axis *a, const char *text, double low, double high, long count, int log) {
    if (count < 2 || count > MOST_AXIS_VALUES || !(low < high) || !isfinite(high))
        return cli_fail("%s=%.100s is not allowed: a range is LOW:HIGH:COUNT with LOW below HIGH and a COUNT "
                        "from 2 to %d",
                        a->key, text, MOST_AXIS_VALUES);
    if (log && low <= 0.0)
        return cli_fail("%s=%.100s is not allowed: on a logarithmic scale LOW must be above 0", a->key, text);
    const double from = log ? md_log(low) : low, to = log ? md_log(high) : high;
    for (long i = 0; i < count; i++) {
        const double t = from + (to - from) * (double)i / (double)(count - 1);
        const double x = i == 0 ? low : i == count - 1 ? high : log ? md_exp(t) : t;
        char value[40], shortest[NUMBER_TEXT];
        snprintf(value, sizeof value, "%.6g", x);
        number_write(shortest, number_read(value, NULL));
        if (add_value(a, shortest, strlen(shortest))) return 2;
    }
    return 0;
}

int grid_same_value(const char *a, const char *b) {
    char *end_a, *end_b;
    const double x = number_read(a, &end_a), y = number_read(b, &end_b);
    if (end_a > a && end_b > b && !*end_a && !*end_b) return x == y;
    return !strcmp(a, b);
}

static int read_axis(axis *a, const char *text) {
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || !equals[1] || (size_t)(equals - text) >= sizeof a->key)
        return cli_fail("grid: '%.60s' is no key with values, such as rate=0.001,0.01 or rate=1e-4:1e-1:4log",
                        text);
    snprintf(a->key, sizeof a->key, "%.*s", (int)(equals - text), text);
    if (!strcmp(a->key, "preset") || !strcmp(a->key, "threads"))
        return cli_fail("grid: %s is no key to vary: %s", a->key,
                        *a->key == 'p' ? "write a preset into the config" : "results do not depend on it");
    double low, high;
    long count;
    int log;
    const char *at = equals + 1;
    if (is_range(at, &low, &high, &count, &log)) {
        if (add_range(a, at, low, high, count, log)) return 2;
    } else {
        for (size_t n;; at += n + 1) {
            n = strcspn(at, ",");
            char one[80];
            snprintf(one, sizeof one, "%.*s", n < sizeof one ? (int)n : 0, at);
            if (is_range(one, &low, &high, &count, &log))
                return cli_fail(
                    "grid: %s=%.100s is not allowed: a range stands alone, as %s=%s, or write all "
                    "its values into the list",
                    a->key, equals + 1, a->key, one);
            if (add_value(a, at, n)) return 2;
            if (!at[n]) break;
        }
    }
    for (size_t i = 0; i < a->n; i++)
        for (size_t j = 0; j < i; j++)
            if (grid_same_value(a->values[i], a->values[j]))
                return cli_fail("grid: %s has the value %.60s twice", a->key, a->values[i]);
    return 0;
}

int grid_open(grid *g, const char *config_text, size_t n_axes, const char *const *axes, long seeds) {
    *g = (grid){.config = config_text, .seeds = seeds, .runs = config_runs(config_text)};
    if (n_axes > MOST_AXES) return cli_fail("grid: %zu keys; at most %d are allowed", n_axes, MOST_AXES);
    double jobs = (double)g->runs * (double)(seeds ? seeds : 1);
    for (size_t i = 0; i < n_axes; i++) {
        axis *a = &g->axes[g->n_axes++];
        if (read_axis(a, axes[i])) return 2;
        if (seeds && !strcmp(a->key, "seed"))
            return cli_fail("grid: seed is a key of the grid: leave --seeds out");
        for (size_t j = 0; j < i; j++)
            if (!strcmp(a->key, g->axes[j].key))
                return cli_fail("grid: %s is given twice: write its values into one list", a->key);
        jobs *= (double)a->n;
    }
    if (jobs > MOST_JOBS)
        return cli_fail("grid: %.0f jobs; at most %d are allowed in one grid", jobs, MOST_JOBS);
    g->jobs = (size_t)jobs;
    g->kinds = g->jobs / (size_t)(seeds ? seeds : 1);
    g->points = g->kinds / g->runs;
    return 0;
}

int grid_draw(grid *g, size_t points, uint64_t draw) {
    if (points > g->points)
        return cli_fail("grid: --random %zu is not allowed: there are %zu points to draw from", points,
                        g->points);
    g->drawn = points;
    g->draw = draw;
    g->kinds = g->runs * points;
    g->jobs = g->kinds * (size_t)(g->seeds ? g->seeds : 1);
    return 0;
}

void grid_free(grid *g) {
    for (size_t i = 0; i < g->n_axes; i++) {
        for (size_t j = 0; j < g->axes[i].n; j++) free(g->axes[i].values[j]);
        free(g->axes[i].values);
    }
    *g = (grid){0};
}

// ---- Configs --------------------------------------------------------------------------------------------

// Number i as places on the axes; what is left is the run.
static size_t places(const grid *g, size_t i, size_t at[MOST_AXES], long *seed) {
    *seed = g->seeds ? 1 + (long)(i / g->kinds) : 0;
    i %= g->kinds;
    const size_t points = g->drawn ? g->drawn : g->points, run = i / points;
    i %= points;
    if (g->drawn) i = (size_t)shuffled(i, g->points, g->draw, 0);
    for (size_t k = g->n_axes; k-- > 0; i /= g->axes[k].n) at[k] = i % g->axes[k].n;
    return run;
}

size_t grid_group(const grid *g, size_t i, const char over[MOST_AXES]) {
    size_t at[MOST_AXES], n = 0;
    long seed;
    const size_t run = places(g, i, at, &seed);
    for (size_t k = 0; k < g->n_axes; k++) n = n * g->axes[k].n + (over[k] ? 0 : at[k]);
    return run * g->points + n;
}

// The values stand behind every run of the text, so that they win over what a run says itself.
static char *with_values(const grid *g, const size_t at[MOST_AXES], long seed) {
    const size_t written = pairs_runs(g->config);
    size_t size = 64;
    for (size_t k = 0; k < g->n_axes; k++)
        size += strlen(g->axes[k].key) + strlen(g->axes[k].values[at[k]]) + 2;
    char *text = malloc(strlen(g->config) + written * size + 1), *to = text;
    for (size_t r = 0; text && r < written; r++) {
        const config_span run = pairs_run(g->config, r);
        to += sprintf(to, "%s%.*s", r ? "~" : "", (int)run.n, run.text);
        for (size_t k = 0; k < g->n_axes; k++)
            to += sprintf(to, "&%s=%s", g->axes[k].key, g->axes[k].values[at[k]]);
        if (seed) to += sprintf(to, "&seed=%ld", seed);
    }
    return text;
}

config *grid_config(const grid *g, size_t i, int *repeats, smx_error *error) {
    size_t at[MOST_AXES];
    long seed;
    const size_t run = places(g, i, at, &seed);
    char *text = with_values(g, at, seed);
    config *c = text ? config_parse(text, run, error) : NULL;
    if (!text && error) snprintf(error->message, sizeof error->message, "out of memory");
    free(text);
    *repeats = 0;
    for (size_t k = 0; c && k < g->n_axes && !g->drawn; k++)
        if (at[k] && !config_get(c, g->axes[k].key)) *repeats = 1;
    return c;
}
