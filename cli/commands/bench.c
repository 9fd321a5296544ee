// bench.c: seqmix bench: times the rows of bench/rows.h. Processor time is what counts (other programs do
// not; wall time for rows with threads), wall time stands beside it; every sample is followed by a slice of
// the arithmetic ceiling, so that a share of the ceiling compares what was measured at the same moment.
#include "cli/cli.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/rows.h"
#include "bench_variants.h"

enum { MAX_SAMPLES = 4000, CEILING_ROUNDS = 4000 };

typedef struct {
    double cpu, wall; // milliseconds
    double share;     // of the ceiling beside this sample; with threads, the speed-up over their number
} sample;
typedef struct {
    double median, low, high, wall,
        share; // ms a run: CPU median, tenth and ninetieth percentile; wall median
    size_t samples;
} summary;

static double cpu_ms(void) { return 1e3 * cli_processor_seconds(); }

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}
// value at fraction f of the sorted field `at` of the samples
static double quantile(const sample *s, size_t n, size_t at, double f) {
    static double sorted[MAX_SAMPLES];
    for (size_t i = 0; i < n; i++) memcpy(&sorted[i], (const char *)&s[i] + at, sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_value);
    return sorted[(size_t)(f * (double)(n - 1) + 0.5)];
}

// What a run takes, the mean of so many.
static void time_runs(bench_row *r, size_t repeats, sample *s) {
    double cpu = 0.0, wall = 0.0;
    for (size_t left = repeats, n; left; left -= n) {
        if (r->ready) r->ready(r);
        n = r->ready ? 1 : left;
        const double c = cpu_ms(), w = 1e3 * cli_seconds();
        for (size_t i = 0; i < n; i++) r->run(r);
        cpu += cpu_ms() - c;
        wall += 1e3 * cli_seconds() - w;
    }
    *s = (sample){.cpu = cpu / (double)repeats, .wall = wall / (double)repeats};
}

static summary measure(bench_row *r, double seconds) {
    static sample s[MAX_SAMPLES];
    const int is_ceiling = !strncmp(r->name, "ceiling/", 8);
    const char *const isa = r->fast ? smx_fast_isa() : smx_isa();
    const double slice = seconds * 1e3 / 40.0;
    size_t repeats = 1, n = 0;
    // Warm up, and find how many runs fill a slice.
    double start = cpu_ms(), once = 0.0;
    for (size_t i = 0; i < 3 || cpu_ms() - start < slice; i++) {
        double t = cpu_ms();
        r->run(r);
        once = cpu_ms() - t;
        if (once > seconds * 1e3) break;
    }
    if (once < slice) repeats = (size_t)(slice / (once > 1e-4 ? once : 1e-4)) + 1;
    start = cpu_ms();
    for (size_t i = 0; i < 3; i++) bench_ceiling(isa, CEILING_ROUNDS);
    while (n < MAX_SAMPLES && (n < 3 || cpu_ms() - start < seconds * 1e3)) {
        double alone = 0.0;
        if (r->threads > 1) {
            smx_run_parallel(r->lab, NULL, NULL);
            alone = 1e3 * cli_seconds();
            for (size_t i = 0; i < repeats; i++) r->run(r);
            alone = (1e3 * cli_seconds() - alone) / (double)repeats;
            cli_use_threads(r->lab);
        }
        time_runs(r, repeats, &s[n]);
        if (r->threads > 1) {
            s[n].cpu = s[n].wall;
            s[n].share = alone / s[n].wall / r->threads;
        } else if (!is_ceiling && r->flops > 0.0) {
            double t = cpu_ms(), flops = bench_ceiling(isa, CEILING_ROUNDS), took = cpu_ms() - t;
            if (flops > 0.0 && s[n].cpu > 0.0) s[n].share = r->flops / s[n].cpu * took / flops;
        }
        n++;
    }
    return (summary){.median = quantile(s, n, offsetof(sample, cpu), 0.5),
                     .low = quantile(s, n, offsetof(sample, cpu), 0.1),
                     .high = quantile(s, n, offsetof(sample, cpu), 0.9),
                     .wall = quantile(s, n, offsetof(sample, wall), 0.5),
                     .share = quantile(s, n, offsetof(sample, share), 0.5),
                     .samples = n};
}

// Cost of a token, over what it is divided by, as a multiple of the same at the first length;
// 0 for other rows.
static double growth(const bench_row *r, const summary *m) {
    static char mechanism[96];
    static double first;
    if (r->tokens == 0.0) return 0.0;
    const size_t n = strcspn(r->name, " ");
    const double now = m->median / (r->tokens * r->work);
    if (strncmp(mechanism, r->name, n) || mechanism[n]) {
        snprintf(mechanism, sizeof mechanism, "%.*s", (int)n, r->name);
        first = now;
    }
    return now / first;
}

static void print_json(const bench_row *r, const summary *m, const char *isa) {
    printf(
        "{\"engine\":\"native\",\"isa\":\"%s\",\"name\":\"%s\",\"unit\":\"ms\",\"median\":%.6g,\"spread\":%.3g,\"wall\":%.6g,"
        "\"samples\":%zu,\"gflops\":%.4g,\"share\":%.4g,\"gbytes\":%.4g,\"bytes\":%zu,\"check\":%.9g,\"growth\":%.4g,\"tokens\":%.9g,\"config\":",
        isa, r->name, m->median, (m->high - m->low) / m->median, m->wall, m->samples,
        r->flops / m->median * 1e-6, m->share, r->moved / m->median * 1e-6, r->bytes, r->check, growth(r, m),
        r->tokens);
    cli_json_text(r->config);
    fputs(",\"target\":", stdout);
    cli_json_text(r->target);
    puts("}");
}

static void print_line(const bench_row *r, const summary *m) {
    char gflops[16] = "", share[16] = "", gbytes[16] = "", bytes[16] = "";
    if (r->flops > 0.0) snprintf(gflops, sizeof gflops, "%.1f", r->flops / m->median * 1e-6);
    if (m->share > 0.0) snprintf(share, sizeof share, "%.0f %%", 100.0 * m->share);
    if (r->moved > 0.0) snprintf(gbytes, sizeof gbytes, "%.1f", r->moved / m->median * 1e-6);
    if (r->bytes) snprintf(bytes, sizeof bytes, "%.2f", (double)r->bytes * 1e-6);
    printf("%-32s %10.4f %6.0f %% %8s %7s %7s %8s  ", r->name, m->median,
           100.0 * (m->high - m->low) / m->median, gflops, share, gbytes, bytes);
    if (r->state)
        printf("x %.2f, %.0f ns a token; ", growth(r, m), m->median * 1e6 / r->tokens);
    else if (r->tokens > 0.0)
        printf("x %.2f, %.0f bytes a token; ", growth(r, m), (double)r->bytes / r->tokens);
    puts(r->target ? r->target : "");
}

// In a quick run: what shows the state of things in half a minute.
static int in_quick(const char *name) {
    return strncmp(name, "length/", 7) && strncmp(name, "read", 4) && strcmp(name, "triad/192MB");
}

static int is_row(const char *name) {
    for (size_t i = 0; i < bench_count(); i++)
        if (!strcmp(bench_at(i)->name, name)) return 1;
    return 0;
}
// A whole name means that row, anything else every row that it is part of.
static int means(const char *given, const char *row) {
    return !strcmp(row, given) || (*given && strstr(row, given) && !is_row(given));
}
static int wanted(const char *row, const char **names, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (means(names[i], row)) return 1;
    return n == 0;
}
// Every name given must mean a row; those that there are, by how they begin.
static int check_names(const char **names, size_t n) {
    for (size_t i = 0, k; i < n; i++) {
        for (k = 0; k < bench_count() && !means(names[i], bench_at(k)->name);) k++;
        if (k < bench_count()) continue;
        char kinds[256] = "", kind[96];
        for (k = 0; k < bench_count(); k++) {
            snprintf(kind, sizeof kind, "%.*s", (int)strcspn(bench_at(k)->name, " /"), bench_at(k)->name);
            if (!strstr(kinds, kind))
                snprintf(kinds + strlen(kinds), sizeof kinds - strlen(kinds), "%s%s", *kinds ? ", " : "",
                         kind);
        }
        return cli_fail("no row is called '%s'; a name, or a part of one, of the kinds %s", names[i], kinds);
    }
    return 0;
}

typedef struct {
    cli_list names;
    int json, quick, variants;
    double seconds;
} options;
static const cli_option table[] = {
    {"--json", NULL, "a JSON object a line", OPTION_FLAG, offsetof(options, json), 0, 0},
    {"--quick", NULL, "half a minute: short, and without the long rows", OPTION_FLAG,
     offsetof(options, quick), 0, 0},
    {"--variants", NULL, "in turns with every instruction set here, and without asking for rows ahead",
     OPTION_FLAG, offsetof(options, variants), 0, 0},
    {"--seconds", "S", "time for each row (1; quick: 0.2)", OPTION_REAL, offsetof(options, seconds), 0.01,
     3600},
    {0},
};

static int bench(int argc, char **argv);
const cli_command cli_bench = {
    .name = "bench",
    .usage = "[NAME...]",
    .help = "time kernels and training steps against this machine's ceilings; a name is a row, or "
            "a part of the names of several",
    .options = table,
    .plain = offsetof(options, names),
    .most = CLI_MOST_EACH,
    .example = "seqmix bench --seconds 0.3 'mqar step'",
    .run = bench,
};

static int bench(int argc, char **argv) {
    options o = {0};
    size_t shown = 0;
    if (cli_read_options(&cli_bench, argc, argv, &o)) return 2;
    const int json = o.json, quick = o.quick;
    int status = 0;
    const double seconds = o.seconds > 0.0 ? o.seconds : quick ? 0.2 : 1.0;
    const char **const names = o.names.value;
    const size_t n_names = o.names.n;
    if (check_names(names, n_names)) return 2;
    if (o.variants) {
        static const char *const usual[] = {"W1", "W4", "mqar step"};
        const char **const asked = n_names ? names : (const char **)usual;
        const size_t n_asked = n_names ? n_names : sizeof usual / sizeof *usual;
        for (size_t i = 0; i < bench_count() && !status && !ferror(stdout); i++)
            if (wanted(bench_at(i)->name, asked, n_asked) && bench_has_variants(bench_at(i)))
                status = bench_variants(bench_at(i), seconds, json), shown++;
        return shown ? status
                     : cli_fail("no row named has variants: rows of one thread that are exact and name no "
                                "instruction set have");
    }
    // Where nothing can be printed, nothing need be measured.
    for (size_t i = 0; i < bench_count() && !ferror(stdout); i++) {
        bench_row *r = bench_at(i);
        smx_error error;
        if (!wanted(r->name, names, n_names) || (quick && !n_names && !in_quick(r->name))) continue;
        if (!shown++ && !json)
            printf(
                "seqmix %s on %s, one core; CPU time of the median run, spread from the tenth to the ninetieth percentile\n"
                "%-32s %10s %8s %8s %7s %7s %8s  %s\n",
                SMX_VERSION, smx_isa(), "", "ms", "spread", "GFLOP/s", "ceiling", "GB/s", "MB", "target");
        int skipped = bench_open(r, &error);
        if (skipped) {
            if (json) {
                printf("{\"engine\":\"native\",\"name\":\"%s\",\"skipped\":", r->name);
                cli_json_text(error.message);
                puts("}");
            } else {
                printf("%-32s skipped: %s\n", r->name, error.message);
            }
            continue;
        }
        const char *isa = r->fast ? smx_fast_isa() : smx_isa();
        summary m = measure(r, seconds);
        if (!isfinite(r->check)) { // a row that computes nothing is quick
            status = cli_fail("%s could not be computed, so its time says nothing", r->name);
            bench_close(r);
            continue;
        }
        if (json)
            print_json(r, &m, isa);
        else
            print_line(r, &m);
        fflush(stdout);
        bench_close(r);
    }
    return status;
}
