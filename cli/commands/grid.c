// grid.c: seqmix grid 'CONFIG' KEY=A,B... --seeds N --out DIR: one command a line, for xargs, GNU parallel or
// Slurm to run.
#include "cli/cli.h"
#include "model/settings/pairs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/grid/axes.h"
#include "cli/grid/job.h"
#include "cli/grid/names.h"
#include "cli/grid/script.h"
#include "kernels/hash.h"

typedef struct {
    cli_list words; // the config, then the axes
    const char *out, *part;
    long seeds, eval, tasks, cpus;
    int count, slurm;
} options;

static const cli_option table[] = {
    {"--seeds", "N", "seeds 1 to N for each (its own seed alone)", OPTION_COUNT, offsetof(options, seeds), 1,
     100000},
    {"--out", "DIR", "where the jobs put their results", OPTION_TEXT, offsetof(options, out), 0, 0},
    {"--eval", "N", "judged on so many held-out sequences (1000)", OPTION_COUNT, offsetof(options, eval), 1,
     10000000},
    {"--count", NULL,
     "say how many jobs, how long, from a short timing here, the values, and what is done in --out; print no line",
     OPTION_FLAG, offsetof(options, count), 0, 0},
    {"--part", "I/N", "every N-th job alone, from the I-th on", OPTION_TEXT, offsetof(options, part), 0, 0},
    {"--slurm", NULL, "print a Slurm array script instead: sbatch runs the whole grid", OPTION_FLAG,
     offsetof(options, slurm), 0, 0},
    {"--tasks", "N", "of so many array tasks, 1 to 1000000 (one for 100 jobs, up to 1000)", OPTION_COUNT,
     offsetof(options, tasks), 1, 1000000},
    {"--cpus", "N", "of so many processors each (1)", OPTION_COUNT, offsetof(options, cpus), 1, 1024},
    {0},
};

static int print_grid(int argc, char **argv);
const cli_command cli_grid = {
    .name = "grid",
    .usage = "'CONFIG' [KEY=A,B...|KEY=LOW:HIGH:COUNT[log]]...",
    .help = "a grid of trainings as commands, one a line: seqmix job 'CONFIG' --out DIR",
    .options = table,
    .plain = offsetof(options, words),
    .most = CLI_MOST_EACH,
    .example =
        "seqmix grid 'task=mqar&mixer=cat~mixer=attention' rate=1e-3:1e-1:5log --seeds 5 --out results",
    .run = print_grid,
};

typedef struct {
    options o;
    grid g;
    size_t part, parts; // jobs part, part + parts, ...
    names seen, shapes;
    size_t jobs;
} work;

// ---- Every value is tried before the first line ---------------------------------------------------------

static int fail_at(const char *sentence) { return cli_fail("grid: %s; nothing was printed", sentence); }

// What a run's data and sizes hang on: neither seeds nor what only an optimiser reads need another try.
static uint64_t shape_of(const config *c) {
    static const char *const leave[] = {"seed",  "steps", "rate",    "schedule", "warmup", "decay", "clip",
                                        "beta1", "beta2", "epsilon", "threads",  "fast",   NULL};
    uint64_t h = HASH_START;
    for (size_t i = 0; i < c->n; i++) {
        const config_value *v = &c->values[i];
        size_t k = 0;
        while (leave[k] && strcmp(leave[k], v->key->name)) k++;
        if (!leave[k] && v->said) h = hash_bytes(h, v->text, strlen(v->text) + 1);
    }
    return h;
}

// Opened, as data and sizes also have their say.
static int opens(const config *c) {
    smx_error e = {0};
    char *text = config_text(c);
    smx_run *run = text ? smx_run_open(text, &e) : NULL;
    free(text);
    if (!run) return fail_at(text ? e.message : "out of memory");
    cli_note_images(smx_run_config(run), "");
    smx_run_close(run);
    return 0;
}

static int is_axis(void *of, const char *key, const char *value, smx_error *error) {
    const grid *g = of;
    (void)value, (void)error;
    for (size_t k = 0; k < g->n_axes; k++)
        if (!strcmp(key, g->axes[k].key)) return 1 + (int)k;
    return 0;
}

static int fail_repeated(work *w, size_t i, const job *j) {
    int twice = 0; // a key of the grid that the config's runs give as well
    for (size_t r = 0; r < pairs_runs(w->g.config) && twice <= 0; r++)
        twice = pairs_visit(pairs_run(w->g.config, r), is_axis, &w->g, NULL);
    if (twice > 0) {
        const char *key = w->g.axes[twice - 1].key;
        return cli_fail(
            "grid: job %zu is the same as an earlier one: %s stands in the config and is a key of the "
            "grid, whose values win: write it in one place; nothing was printed",
            i + 1, key);
    }
    return cli_fail(
        "grid: job %zu is the same as an earlier one (two runs between ~ that the keys make alike?): "
        "%.300s; nothing was printed",
        i + 1, j->config);
}

static int check(work *w, size_t i, const config *c) {
    job j;
    int status = 0;
    if (job_of(&j, c, w->o.eval)) {
        status = fail_at("out of memory");
    } else if (names_add(&w->seen, strtoull(j.name, NULL, 16)) == 0) {
        status = fail_repeated(w, i, &j);
    } else {
        const int fresh = names_add(&w->shapes, shape_of(c));
        if (fresh) status = fresh < 0 ? fail_at("out of memory") : opens(c);
    }
    job_free(&j);
    return status;
}

// Whether a job's config has that key.
static int any_reads(const work *w, const char *key) {
    const size_t seeds = w->g.seeds ? (size_t)w->g.seeds : 1;
    int found = 0;
    for (size_t i = 0; i < w->g.jobs && !found; i += seeds) {
        int repeats;
        smx_error e = {0};
        config *c = grid_config(&w->g, i, &repeats, &e);
        found = !c || config_get(c, key) != NULL;
        config_free(c);
    }
    return found;
}
static int note_unread(void *w, const char *key, const char *value, smx_error *error) {
    (void)value, (void)error;
    if (strcmp(key, "preset") && !any_reads(w, key)) // a preset becomes its keys
        cli_note("%s is a key of another mixer or task: it says nothing in these runs", key);
    return 0;
}

static int check_all(work *w) {
    smx_error e = {0};
    // A key that there is not, or that no run has, would be a grid of repetitions.
    const size_t seeds = w->g.seeds ? (size_t)w->g.seeds : 1;
    char used[MOST_AXES] = {0};
    int status = 0;
    for (size_t i = 0; i < w->g.jobs && !status; i += seeds) {
        int repeats;
        config *c = grid_config(&w->g, i, &repeats, &e);
        if (!c) return fail_at(e.message);
        for (size_t k = 0; k < w->g.n_axes; k++) used[k] |= config_get(c, w->g.axes[k].key) != NULL;
        if (!repeats) {
            w->jobs += seeds;
            status = check(w, i, c);
        }
        config_free(c);
    }
    for (size_t k = 0; k < w->g.n_axes && !status; k++)
        if (!used[k])
            status = cli_fail(
                "grid: no run here has the key %s: its mixer and task do not know it; nothing was printed",
                w->g.axes[k].key);
    for (size_t i = 0; i < pairs_runs(w->g.config) && !status; i++)
        pairs_visit(pairs_run(w->g.config, i), note_unread, w, NULL);
    return status;
}

// ---- Lines ----------------------------------------------------------------------------------------------

static void put_quoted(const char *text) {
    putchar('\'');
    for (; *text; text++)
        if (*text == '\'')
            fputs("'\\''", stdout);
        else
            putchar(*text);
    putchar('\'');
}

static int print_line(const work *w, const config *c) {
    job j;
    char threads[32] = "";
    if (job_of(&j, c, w->o.eval)) return cli_fail("out of memory");
    fputs("seqmix job ", stdout);
    if (strcmp(j.threads, "1")) snprintf(threads, sizeof threads, "&threads=%s", j.threads);
    const size_t size = strlen(j.config) + sizeof threads;
    char *text = malloc(size);
    if (text) {
        snprintf(text, size, "%s%s", j.config, threads);
        put_quoted(text);
        fputs(" --out ", stdout);
        put_quoted(w->o.out);
        if (w->o.eval != JOB_EVAL) printf(" --eval %ld", w->o.eval);
        putchar('\n');
    }
    free(text);
    job_free(&j);
    return text ? 0 : cli_fail("out of memory");
}

static int print_lines(const work *w) {
    smx_error e = {0};
    int status = 0;
    for (size_t i = w->part; i < w->g.jobs && !status && !ferror(stdout); i += w->parts) {
        int repeats;
        config *c = grid_config(&w->g, i, &repeats, &e);
        if (!c) return cli_fail("grid: %s", e.message);
        if (!repeats) status = print_line(w, c);
        config_free(c);
    }
    return status;
}

// ---- --count --------------------------------------------------------------------------------------------

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
static int print_done(const work *w, double each) {
    smx_error e = {0};
    size_t done = 0, begun = 0;
    for (size_t i = 0; i < w->g.jobs; i++) {
        int repeats;
        job j;
        config *c = grid_config(&w->g, i, &repeats, &e);
        if (!c) return cli_fail("grid: %s", e.message);
        const int made = repeats ? 0 : job_of(&j, c, w->o.eval);
        config_free(c);
        if (repeats) continue;
        if (!made && is_there(&j, w->o.out, ".json"))
            done++;
        else if (!made)
            begun += (size_t)is_there(&j, w->o.out, ".safetensors");
        job_free(&j);
        if (made) return cli_fail("out of memory");
    }
    printf("%zu of %zu done in ", done, w->jobs);
    char folder[400];
    cli_printable(folder, sizeof folder, w->o.out);
    printf("%s, %zu begun; what is left takes up to ", folder, begun);
    put_duration(each * (double)(w->jobs - done));
    putchar('\n');
    return 0;
}

// A few jobs, spread over the grid.
static int print_count(const work *w) {
    smx_error e = {0};
    double sum = 0.0;
    size_t timed = 0;
    const size_t seeds = w->g.seeds ? (size_t)w->g.seeds : 1, kinds = w->g.jobs / seeds;
    const size_t wanted = kinds < TIMED ? kinds : TIMED;
    for (size_t i = 0; i < wanted; i++) {
        int repeats;
        double seconds = 0.0;
        config *c = grid_config(&w->g, i * kinds / wanted * seeds, &repeats, &e);
        if (!c) return cli_fail("grid: %s", e.message);
        const int status = repeats ? 0 : time_one(c, w->o.eval, &seconds);
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
    if (w->o.out && print_done(w, each)) return 2;
    for (size_t k = 0; k < w->g.n_axes; k++) {
        const axis *a = &w->g.axes[k];
        printf("%s:", a->key);
        for (size_t i = 0; i < a->n && i < SHOWN; i++) printf("%s %s", i ? "," : "", a->values[i]);
        if (a->n > SHOWN) printf(" and %zu more, to %s", a->n - SHOWN, a->values[a->n - 1]);
        putchar('\n');
    }
    return 0;
}

// ---- The command ----------------------------------------------------------------------------------------

static int read_part(work *w) {
    unsigned long i, n;
    char left;
    w->parts = 1;
    if (!w->o.part) return 0;
    if (sscanf(w->o.part, "%7lu/%7lu%c", &i, &n, &left) != 2 || i < 1 || i > n)
        return cli_fail(
            "grid: --part '%.40s' is not allowed: it must be I/N, such as 1/20, with I from 1 to N",
            w->o.part);
    w->part = i - 1;
    w->parts = n;
    return 0;
}

static int print_script(const work *w) {
    long tasks = w->o.tasks ? w->o.tasks : (long)((w->jobs + 99) / 100);
    if (!w->o.tasks && tasks > 1000) tasks = 1000;
    if ((size_t)tasks > w->g.jobs) tasks = (long)w->g.jobs;
    const script s = {.config = w->o.words.value[0],
                      .n_axes = w->o.words.n - 1,
                      .axes = w->o.words.value + 1,
                      .out = w->o.out,
                      .seeds = w->o.seeds,
                      .eval = w->o.eval,
                      .jobs = w->jobs,
                      .tasks = tasks,
                      .cpus = w->o.cpus};
    return script_print(&s, put_quoted);
}

static int run(work *w) {
    const options *o = &w->o;
    if (grid_open(&w->g, o->words.value[0], o->words.n - 1, o->words.value + 1, o->seeds) || read_part(w))
        return 2;
    // A part was tried as a whole when its script was made.
    int status = o->part ? 0 : check_all(w);
    if (status) return status;
    return o->count ? print_count(w) : o->slurm ? print_script(w) : print_lines(w);
}

static int print_grid(int argc, char **argv) {
    work w = {.o = {.eval = JOB_EVAL, .cpus = 1}};
    if (cli_read_options(&cli_grid, argc, argv, &w.o)) return 2;
    if (!w.o.words.n) return cli_usage_error(&cli_grid, "a config, such as 'mixer=cat~mixer=attention'");
    if (!w.o.out && !w.o.count) return cli_usage_error(&cli_grid, "--out DIR, a folder for the results");
    if (w.o.out && strpbrk(w.o.out, "\n\r"))
        return cli_fail(
            "grid: --out: a line break in a folder's name is not allowed, as each job is one line");
    if (w.o.count + w.o.slurm + (w.o.part != NULL) > 1)
        return cli_fail("grid: --count, --part and --slurm exclude each other");
    if (!w.o.slurm && (w.o.tasks || w.o.cpus != 1))
        return cli_fail("grid: --tasks and --cpus are about the script of --slurm");
    const int status = run(&w);
    grid_free(&w.g);
    names_free(&w.seen);
    names_free(&w.shapes);
    return status;
}
