// grid.c: seqmix grid 'CONFIG' KEY=A,B... --seeds N --out DIR: one command a line, for xargs, GNU parallel or
// Slurm to run.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/grid/plan/script.h"
#include "grid_work.h"
#include "kernels/core/hash.h"
#include "model/settings/pairs.h"

static const cli_option table[] = {
    {"--seeds", "N", "seeds 1 to N for each (its own seed alone)", OPTION_COUNT,
     offsetof(grid_options, seeds), 1, 100000},
    {"--out", "DIR", "where the jobs put their results", OPTION_TEXT, offsetof(grid_options, out), 0, 0},
    {"--eval", "N", "judged on so many held-out sequences (1000), chosen by a quarter as many others",
     OPTION_COUNT, offsetof(grid_options, job.eval), 1, 10000000},
    {"--every", "N", "judged by these others every N steps, too: curves", OPTION_COUNT,
     offsetof(grid_options, job.every), 1, 1000000000},
    {"--save-every", "N", "a checkpoint every N seconds (60)", OPTION_COUNT,
     offsetof(grid_options, job.seconds), 1, 1000000},
    {"--ranks", "N", "each job on so many processes of mpirun (1)", OPTION_COUNT,
     offsetof(grid_options, job.ranks), 1, 8},
    {"--random", "N", "so many points of the grid alone, drawn for every run and seed alike", OPTION_COUNT,
     offsetof(grid_options, random), 1, MOST_JOBS},
    {"--draw", "N", "which: another number is another draw (1)", OPTION_COUNT, offsetof(grid_options, draw),
     0, 1000000000},
    {"--rungs", "SHARE,...",
     "successive halving, as 0.1:1,0.7:1~0.03,1: a tenth of the steps with one seed, the best settings alone on to 70 %, those within 0.03 of the best with all seeds to the end",
     OPTION_TEXT, offsetof(grid_options, rungs), 0, 0},
    {"--keep", "SHARE", "so many of them, where no ~ says which (1/2)", OPTION_TEXT,
     offsetof(grid_options, keep), 0, 0},
    {"--best", "KEY,...", "those that differ in these keys alone are rivals (rate; with --random all keys)",
     OPTION_TEXT, offsetof(grid_options, best), 0, 0},
    {"--count", NULL,
     "say how many jobs, how long, from a short timing here, the values, and what is done in --out; print no line",
     OPTION_FLAG, offsetof(grid_options, count), 0, 0},
    {"--part", "I/N", "one job of every N alone, another one each time", OPTION_TEXT,
     offsetof(grid_options, part), 0, 0},
    {"--slurm", NULL, "print a Slurm array script instead: sbatch runs the whole grid", OPTION_FLAG,
     offsetof(grid_options, slurm), 0, 0},
    {"--tasks", "N", "of so many parts, 1 to 1000000 (one for 100 jobs, up to 1000), each an array task",
     OPTION_COUNT, offsetof(grid_options, tasks), 1, 1000000},
    {"--cpus", "N", "of so many processors each (1)", OPTION_COUNT, offsetof(grid_options, cpus), 1, 1024},
    {"--setup", "LINE", "with this line of the shell first, as 'module load gcc'", OPTION_TEXT,
     offsetof(grid_options, setup), 0, 0},
    {"--within", "COMMAND", "every seqmix in it started by this, as 'apptainer exec seqmix.sif'", OPTION_TEXT,
     offsetof(grid_options, within), 0, 0},
    {0},
};

static int print_grid(int argc, char **argv);
const cli_command cli_grid = {
    .name = "grid",
    .usage = "'CONFIG' [KEY=A,B...|KEY=LOW:HIGH:COUNT[log]]...",
    .help = "a grid of trainings as commands, one a line: seqmix job 'CONFIG' --out DIR",
    .options = table,
    .plain = offsetof(grid_options, words),
    .most = CLI_MOST_EACH,
    .example =
        "seqmix grid 'task=mqar&mixer=cat~mixer=attention' rate=1e-3:1e-1:5log --seeds 5 --out results",
    .run = print_grid,
};

// ---- Every value is tried before the first line ---------------------------------------------------------

static int fail_at(const char *sentence) { return cli_fail("grid: %s; nothing was printed", sentence); }

// What a run's data and sizes hang on: all but how it is run and what only an optimiser reads, as the keys'
// groups and traits say.
static uint64_t shape_of(const config *c) {
    uint64_t h = HASH_START;
    for (size_t i = 0; i < c->n; i++) {
        const config_value *v = &c->values[i];
        const int trains = !strcmp(v->key->group, "training") && !(v->key->traits & KEY_SIZES);
        if (v->said && !trains && strcmp(v->key->group, "run"))
            h = hash_bytes(h, v->text, strlen(v->text) + 1);
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

static int fail_repeated(grid_work *w, size_t i, const job *j) {
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

static int check(grid_work *w, size_t i, const config *c) {
    job j;
    int status = 0;
    if (job_of(&j, c, w->o.job.eval, w->o.job.every)) {
        status = fail_at("out of memory");
    } else if (names_add(&w->seen, strtoull(j.name, NULL, 16)) == 0) {
        // Points that are drawn may differ in what this run does not read.
        if (!w->g.drawn) status = fail_repeated(w, i, &j);
    } else {
        w->jobs += w->g.jobs / w->g.kinds;
        const int fresh = names_add(&w->shapes, shape_of(c));
        if (fresh) status = fresh < 0 ? fail_at("out of memory") : opens(c);
    }
    job_free(&j);
    return status;
}

// Whether a job's config has that key.
static int any_reads(const grid_work *w, const char *key) {
    int found = 0;
    for (size_t i = 0; i < w->g.kinds && !found; i++) {
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

static int check_all(grid_work *w) {
    smx_error e = {0};
    // A key that there is not, or that no run has, would be a grid of repetitions.
    char used[MOST_AXES] = {0};
    int status = 0;
    for (size_t i = 0; i < w->g.kinds && !status; i++) {
        int repeats;
        config *c = grid_config(&w->g, i, &repeats, &e);
        if (!c) return fail_at(e.message);
        for (size_t k = 0; k < w->g.n_axes; k++) used[k] |= config_get(c, w->g.axes[k].key) != NULL;
        if (!repeats) status = check(w, i, c);
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

// ---- The command ----------------------------------------------------------------------------------------

static int read_part(grid_work *w) {
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

// Everything of this command that its parts have to be told again.
static char *options_of(const grid_options *o) {
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    if (!to) return NULL;
    if (o->seeds) fprintf(to, " --seeds %ld", o->seeds);
    if (o->random) fprintf(to, " --random %ld --draw %ld", o->random, o->draw);
    if (o->rungs) fprintf(to, " --rungs %s --keep %s", o->rungs, o->keep); // numbers
    if (o->best) {
        fputs(" --best ", to);
        cli_put_quoted(to, o->best);
    }
    job_print_options(&o->job, to);
    return fclose(to) ? free(text), NULL : text;
}

static int print_script(const grid_work *w) {
    long tasks = w->o.tasks ? w->o.tasks : (long)((w->jobs + 99) / 100);
    if (!w->o.tasks && tasks > 1000) tasks = 1000;
    if ((size_t)tasks > w->jobs) tasks = (long)w->jobs;
    long array = tasks;
    if (tasks > 1) {
        int asked;
        const long most = script_most_tasks(&asked);
        if (array > most) {
            array = most;
            cli_note(
                "--tasks %ld is more than an array may have %s (MaxArraySize %ld): %ld array tasks, each takes "
                "up to %ld of the %ld parts in turn",
                tasks, asked ? "here" : "by Slurm's default", most + 1, array, (tasks + array - 1) / array,
                tasks);
        }
    }
    char *more = options_of(&w->o);
    if (!more) return cli_fail("out of memory");
    const script s = {.config = w->o.words.value[0],
                      .n_axes = w->o.words.n - 1,
                      .axes = w->o.words.value + 1,
                      .out = w->o.out,
                      .setup = w->o.setup,
                      .within = w->o.within,
                      .ranks = w->o.job.ranks,
                      .options = more,
                      .jobs = w->jobs,
                      .tasks = tasks,
                      .array = array,
                      .cpus = w->o.cpus};
    const int status = script_print(&s);
    free(more);
    return status;
}

// What so many seeds can show at best: before the work, not after it.
static void note_seeds(const grid_work *w) {
    double least = 2.0, enough = 2.0;
    long n = 0;
    for (long i = 0; i < w->o.seeds && least > 1e-9; i++) least *= 0.5;
    while (enough > 0.05) enough *= 0.5, n++;
    if (w->o.seeds > 1 && w->o.seeds < n)
        cli_note(
            "with %ld seeds no difference can have a p below %.4g (Wilcoxon's test, two-sided): 0.05 takes "
            "%ld seeds, and more for several comparisons",
            w->o.seeds, least < 1.0 ? least : 1.0, n);
}

static int run(grid_work *w) {
    const grid_options *o = &w->o;
    if (grid_open(&w->g, o->words.value[0], o->words.n - 1, o->words.value + 1, o->seeds) || read_part(w) ||
        (o->random && grid_draw(&w->g, (size_t)o->random, (uint64_t)o->draw)) || grid_read_rungs(w))
        return 2;
    // A part was tried as a whole when its script was made.
    int status = o->part ? 0 : check_all(w);
    if (status) return status;
    if (!o->part) note_seeds(w);
    return o->count ? grid_count(w) : o->slurm ? print_script(w) : grid_lines(w);
}

static int print_grid(int argc, char **argv) {
    grid_work w = {.o = {.job = JOB_OPTIONS, .cpus = 1, .draw = 1}};
    if (cli_read_options(&cli_grid, argc, argv, &w.o)) return 2;
    if (!w.o.words.n) return cli_usage_error(&cli_grid, "a config, such as 'mixer=cat~mixer=attention'");
    if (!w.o.out && !w.o.count) return cli_usage_error(&cli_grid, "--out DIR, a folder for the results");
    if (w.o.out && strpbrk(w.o.out, "\n\r"))
        return cli_fail(
            "grid: --out: a line break in a folder's name is not allowed, as each job is one line");
    if (w.o.count + w.o.slurm + (w.o.part != NULL) > 1)
        return cli_fail("grid: --count, --part and --slurm exclude each other");
    if (!w.o.slurm && (w.o.tasks || w.o.cpus != 1 || w.o.setup || w.o.within))
        return cli_fail("grid: --tasks, --cpus, --setup and --within are about the script of --slurm");
    if (!w.o.rungs && w.o.keep) return cli_fail("grid: --keep is about rivals: it needs --rungs beside it");
    if (!w.o.random && w.o.draw != 1) return cli_fail("grid: --draw needs --random N beside it");
    if (!w.o.keep) w.o.keep = "1/2";
    if (w.o.job.ranks != 1 && (w.o.job.every || w.o.rungs))
        return cli_fail("grid: --ranks goes without --every and --rungs: its processes train to the end");
    const int status = run(&w);
    grid_free(&w.g);
    names_free(&w.seen);
    names_free(&w.shapes);
    free(w.plans);
    return status;
}
