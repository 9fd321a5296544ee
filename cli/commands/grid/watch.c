// watch.c: seqmix watch DIR: how far a grid is, who works where, what failed and why, and the table so far,
// in a terminal or as a page that follows.
#include "cli/cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/grid/table/comparison.h"
#include "cli/grid/progress.h"
#include "model/run/language/language.h"
#include "report.h"

typedef struct {
    const char *words[2]; // the folder, the jobs
    const char *page, *best, *baseline;
    long seconds;
    int once;
} options;

static const cli_option table_of_options[] = {
    {"--once", NULL, "say it once, and end", OPTION_FLAG, offsetof(options, once), 0, 0},
    {"--seconds", "N", "look again every N seconds (5)", OPTION_COUNT, offsetof(options, seconds), 1, 86400},
    {"--page", "FILE", "write what `seqmix report` writes each time, too: a page that loads itself again",
     OPTION_TEXT, offsetof(options, page), 0, 0},
    {"--best", "KEY,...", "choose the best of these for each setting (rate)", OPTION_TEXT,
     offsetof(options, best), 0, 0},
    {"--baseline", "KEY=VALUE", "compare the best with the best of this, seed by seed", OPTION_TEXT,
     offsetof(options, baseline), 0, 0},
    {0},
};

static int watch(int argc, char **argv);
const cli_command cli_watch = {
    .name = "watch",
    .usage = "DIR [JOBS]",
    .help = "how far a grid is: done, running, failed, left; JOBS is the list or script of seqmix grid",
    .options = table_of_options,
    .plain = offsetof(options, words),
    .most = 2,
    .example = "seqmix watch results jobs.txt --page results/live.html",
    .run = watch,
};

enum { SHOWN = 20 };

static void put_duration(double seconds) {
    if (seconds < 120)
        printf("%.0f s", seconds);
    else if (seconds < 7200)
        printf("%.0f min", seconds / 60);
    else if (seconds < 172800)
        printf("%.1f h", seconds / 3600);
    else
        printf("%.1f days", seconds / 86400);
}

// Of a job's config what people look for: "mqar cat rate 0.01 seed 2".
static void put_about(const char *config_text) {
    static const char *const keys[] = {"task", "mixer", "rate", "seed"};
    config *c = config_parse(config_text, 0, NULL);
    for (int i = 0; c && i < 4; i++) {
        char safe[64];
        cli_printable(safe, sizeof safe, config_get(c, keys[i]));
        printf(" %s%s%s", i < 2 ? "" : keys[i], i < 2 ? "" : " ", safe);
    }
    config_free(c);
}

// As long as those that are done took, on as many workers as there are.
static void put_left(const progress *p, const table *t, size_t jobs) {
    double seconds = 0.0;
    for (size_t i = 0; i < t->n; i++) {
        const double one = t->rows[i].r.machine.seconds;
        if (isfinite(one)) seconds += one / (double)t->n;
    }
    const size_t over = t->current + p->left_behind, left = jobs > over ? jobs - over : 0;
    if (!left || !t->n || !p->n_running) return;
    fputs("; about ", stdout);
    put_duration(seconds * (double)left / (double)p->n_running);
    fputs(" left", stdout);
}

static void put_counts(const progress *p, const table *t, size_t jobs) {
    printf("%zu", t->current);
    if (jobs) printf(" of %zu", jobs);
    printf(" done, %zu running", p->n_running);
    if (p->n_failed) printf(", %zu failed", p->n_failed);
    if (p->begun) printf(", %zu begun and nobody at them", p->begun);
    if (p->left_behind) printf(", %zu left behind at a rung", p->left_behind);
    if (t->n > t->current) printf(", %zu of what a file held earlier", t->n - t->current);
    put_left(p, t, jobs);
    puts("");
}

static void put_running(const progress *p) {
    if (p->n_running) puts("\nrunning");
    for (size_t i = 0; i < p->n_running && i < SHOWN; i++) {
        const claim_state *c = &p->running[i].claim;
        char host[64];
        cli_printable(host, sizeof host, c->host);
        printf("  %-16s process %-7ld", host, c->pid);
        if (c->steps) printf(" step %llu of %llu", (unsigned long long)c->step, (unsigned long long)c->steps);
        put_about(c->about);
        puts("");
    }
    if (p->n_running > SHOWN) printf("  and %zu more\n", p->n_running - SHOWN);
}

static void put_failed(const progress *p) {
    if (p->n_failed) puts("\nfailed");
    for (size_t i = 0; i < p->n_failed && i < SHOWN; i++) {
        const progress_failed *f = &p->failed[i];
        char host[64], why[1000];
        cli_printable(host, sizeof host, f->host);
        cli_printable(why, sizeof why, f->why);
        printf("  %s on %s, ", f->name, host);
        put_duration(f->ago);
        fputs(" ago,", stdout);
        put_about(f->about);
        printf(": %s\n", why);
    }
    if (p->n_failed > SHOWN) printf("  and %zu more\n", p->n_failed - SHOWN);
}

// Settings that nobody need wait for: a seed of them diverged.
static void put_hopeless(const summary *s) {
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++) {
        const setting *g = &s->settings[i];
        if (!g->stopped || n++ >= SHOWN) continue;
        if (n == 1) puts("\nhopeless: the loss stopped being finite");
        fputs("  ", stdout);
        summary_put_cells(s, stdout, g);
        printf("%zu of %zu seeds\n", g->stopped, g->n);
    }
    if (n > SHOWN) printf("  and %zu more\n", n - SHOWN);
}

static int put_table(const options *o, const table *t) {
    summary s = {0};
    comparisons pairs = {0};
    int status = t->n ? summary_of(&s, t, o->best) : 0;
    if (t->n && !status) {
        put_hopeless(&s);
        puts("\nso far");
        summary_print(&s, stdout);
        if (o->baseline) status = comparisons_of(&pairs, &s, o->baseline, EQUAL_ALL_ELSE);
        if (!status && o->baseline && pairs.n) comparisons_print(&pairs, &s, o->baseline, stdout);
    }
    comparisons_free(&pairs);
    summary_free(&s);
    return status;
}

// 0; 1: nothing is left to wait for; 2.
static int look(const options *o, int again) {
    table t;
    progress p = {0};
    const size_t jobs = o->words[1] ? progress_jobs(o->words[1], o->words[0]) : 0;
    if (o->words[1] && !jobs) return cli_fail("watch: %s holds no jobs of seqmix grid", o->words[1]);
    if (again && isatty(STDOUT_FILENO)) fputs("\x1b[H\x1b[2J", stdout);
    int status = table_read(&t, o->words[0]) == 2 || progress_of(&p, o->words[0]) ? 2 : 0;
    if (!status) {
        put_counts(&p, &t, jobs);
        put_running(&p);
        put_failed(&p);
        status = put_table(o, &t);
    }
    if (!status && o->page && t.n)
        status = report_write(o->words[0], &t, o->best, o->baseline, EQUAL_ALL_ELSE, o->page, o->seconds);
    const int over = jobs && t.current + p.left_behind >= jobs && !p.n_running;
    table_free(&t);
    progress_free(&p);
    fflush(stdout);
    return status ? 2 : over;
}

static int watch(int argc, char **argv) {
    options o = {.seconds = 5};
    if (cli_read_options(&cli_watch, argc, argv, &o)) return 2;
    if (!o.words[0]) return cli_usage_error(&cli_watch, "DIR, the folder that jobs were given with --out");
    for (int again = 0;; again = 1) {
        const int status = look(&o, again);
        if (status == 2 || status == 1 || o.once || ferror(stdout)) return status == 2 ? 2 : 0;
        if (!isatty(STDOUT_FILENO)) puts("");
        sleep((unsigned)o.seconds);
    }
}
