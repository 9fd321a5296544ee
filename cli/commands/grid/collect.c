// collect.c: seqmix collect DIR: the results of a grid as tables, and some of them computed again.
#include "cli/cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/grid/builds.h"
#include "cli/grid/table/comparison.h"
#include "cli/grid/training.h"
#include "kernels/core/hash.h"
#include "collect_keep.h"
#include "model/run/language/language.h"

typedef struct {
    const char *folder, *out, *best, *baseline, *recheck;
    long draw;
    int equal, curves, keep;
} options;

static const cli_option table_of_options[] = {
    {"--out", "FOLDER",
     "where the tables go (DIR itself): results.jsonl, results.csv, summary.csv, machines.csv", OPTION_TEXT,
     offsetof(options, out), 0, 0},
    {"--best", "KEY,...", "choose the best of these for each setting (rate)", OPTION_TEXT,
     offsetof(options, best), 0, 0},
    {"--baseline", "KEY=VALUE", "compare the best with the best of this, seed by seed: pairs.csv",
     OPTION_TEXT, offsetof(options, baseline), 0, 0},
    {"--equal", "all_else|weights|seconds",
     "compare what is alike in all else, or as large: as many weights (to a tenth), as long (to a quarter)",
     OPTION_WORD, offsetof(options, equal), 0, 0},
    {"--curves", NULL, "curves.csv as well: every curve, a point a line", OPTION_FLAG,
     offsetof(options, curves), 0, 0},
    {"--keep", "none|best", "the weights of the best, trained again to the bit, into best/", OPTION_WORD,
     offsetof(options, keep), 0, 0},
    {"--recheck", "N|N%", "train so many of them again here, and compare to the bit", OPTION_TEXT,
     offsetof(options, recheck), 0, 0},
    {"--draw", "N", "which of them: another number is another sample (1)", OPTION_COUNT,
     offsetof(options, draw), 0, 1000000000},
    {0},
};

static int collect(int argc, char **argv);
const cli_command cli_collect = {
    .name = "collect",
    .usage = "DIR",
    .help = "the results of jobs as tables, the same bytes whatever machines computed them",
    .options = table_of_options,
    .plain = offsetof(options, folder),
    .most = 1,
    .example = "seqmix collect results --baseline mixer=attention --recheck 1%",
    .run = collect,
};

// ---- Files ----------------------------------------------------------------------------------------------

typedef struct {
    const table *t;
    const summary *s;
    const comparisons *pairs;
} content;

static void print_results_json(const content *c, FILE *to) { table_print_json(c->t, to); }
static void print_results(const content *c, FILE *to) { table_print_csv(c->t, to); }
static void print_curves(const content *c, FILE *to) { table_print_curves(c->t, to); }
static void print_machines(const content *c, FILE *to) { table_print_machines(c->t, to); }
static void print_summary(const content *c, FILE *to) { summary_print_csv(c->s, to); }
static void print_pairs(const content *c, FILE *to) { comparisons_print_csv(c->pairs, c->s, to); }

static int write_one(const char *folder, const char *name, const content *c,
                     void (*print)(const content *c, FILE *to)) {
    char path[JOB_PATH], *text = NULL;
    size_t size;
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
        return cli_fail("collect: --out: the path is too long");
    FILE *to = open_memstream(&text, &size);
    if (!to) return cli_fail("out of memory for %s", name);
    print(c, to);
    const int bad = fclose(to);
    const int status = bad ? cli_fail("out of memory for %s", name) : cli_write_file(path, text, size);
    free(text);
    return status;
}

static int write_all(const options *o, const content *c) {
    const char *folder = o->out ? o->out : o->folder;
    return (o->out && cli_make_folders(folder, "collect: --out")) ||
                   write_one(folder, "results.jsonl", c, print_results_json) ||
                   write_one(folder, "results.csv", c, print_results) ||
                   write_one(folder, "summary.csv", c, print_summary) ||
                   write_one(folder, "machines.csv", c, print_machines) ||
                   (o->curves && write_one(folder, "curves.csv", c, print_curves)) ||
                   (o->baseline && write_one(folder, "pairs.csv", c, print_pairs))
               ? 2
               : 0;
}

// ---- Again ----------------------------------------------------------------------------------------------

static int read_recheck(const options *o, size_t n, size_t *wanted) {
    char *end;
    const double x = strtod(o->recheck, &end);
    const int share = *end == '%';
    if (end == o->recheck || end[share] || !(x > 0.0) || x > (share ? 100.0 : 1e9))
        return cli_fail(
            "collect: --recheck %.40s is not allowed: it must be a number of jobs, as 20, or a share of them, "
            "as 1%%",
            o->recheck);
    const double count = ceil(share ? x / 100.0 * (double)n : x);
    *wanted = count < (double)n ? (size_t)count : n;
    return 0;
}

typedef struct {
    uint64_t lot;
    const table_row *row;
} lot;
static int by_lot(const void *a, const void *b) {
    const lot *x = a, *y = b;
    return (x->lot > y->lot) - (x->lot < y->lot);
}

static void say_difference(const options *o, const result *was, const result *is, const char *what) {
    const char *build = was->machine.build;
    cli_note(
        "%s/%.2s/%s.json is not what this machine computes: %s, there (%s, %s, build %s) and here (%s, %s)",
        o->folder, was->name, was->name, what, was->machine.host, was->machine.isa,
        !*build                       ? "unknown"
        : strcmp(build, build_name()) ? build
                                      : "this one",
        smx_isa(), build_name());
    if (was->digest == is->digest) cli_note("the weights are the same: what is written about them is not");
}

// 1: the same; 0: not; 2: its text or table has changed, with a note; -1: it could not be computed, with the
// sentence printed.
static int same_again(const options *o, const result *was) {
    smx_error e = {0};
    char what[200];
    job j;
    result is;
    config *c = config_parse(was->config, 0, &e);
    int bad = c ? job_of(&j, c, was->eval, was->every) : cli_fail("%s", e.message);
    const int unread = !bad && job_read_files(&j, c, &e);
    config_free(c);
    if (bad) return -1;
    if (unread || (was->data && j.data != was->data)) {
        cli_note("%s was trained on other contents of its file: what there is today cannot tell%s%s",
                 was->name, unread ? ": " : "", unread ? e.message : "");
        job_free(&j);
        return 2;
    }
    const int failed = training_whole(&is, &j);
    job_free(&j);
    if (failed) return -1;
    const int differs = result_differs(was, &is, what, sizeof what);
    if (differs == 1) say_difference(o, was, &is, what);
    result_free(&is);
    return differs < 0 ? cli_fail("out of memory"), -1 : !differs;
}

static int is_fast(const result *r) {
    config *c = config_parse(r->config, 0, NULL);
    const int fast = c && c->common.fast;
    config_free(c);
    return fast;
}

// 0: all the same; 1: not; 2.
static int recheck(const options *o, const table *t) {
    size_t wanted = 0, same = 0, others = 0, fast = 0, older = 0, changed = 0;
    if (read_recheck(o, t->n, &wanted)) return 2;
    lot *lots = malloc((t->n + 1) * sizeof *lots);
    if (!lots) return cli_fail("out of memory");
    // By a hash of name and draw: whoever takes part of a grid's results rechecks the same ones.
    for (size_t i = 0; i < t->n; i++) {
        char text[64];
        const int n = snprintf(text, sizeof text, "%ld/%s", o->draw, t->rows[i].r.name);
        lots[i] = (lot){hash_bytes(HASH_START, text, (size_t)n), &t->rows[i]};
        lots[i].lot ^= lots[i].lot >> 29; // the last digits of names reach all bits
        lots[i].lot *= UINT64_C(0xbf58476d1ce4e5b9);
        lots[i].lot ^= lots[i].lot >> 32;
    }
    qsort(lots, t->n, sizeof *lots, by_lot);
    int status = 0;
    for (size_t i = 0; i < wanted && !status; i++) {
        if (is_fast(&lots[i].row->r)) {
            fast++;
            continue;
        }
        const int again = same_again(o, &lots[i].row->r);
        if (again < 0) status = 2;
        same += again == 1;
        others += again == 0;
        changed += again == 2;
        older += again == 1 && strcmp(lots[i].row->config, lots[i].row->r.config);
    }
    free(lots);
    if (status) return status;
    printf("\n%zu of %zu trained again on %s: %zu the same to the bit, %zu not\n", wanted - fast - changed,
           t->n, smx_isa(), same, others);
    if (older)
        printf(
            "(%zu of them written by an older build, whose config has no key %s: weights and figures are the "
            "same)\n",
            older, t->lacking);
    if (changed)
        printf("(%zu of the sample are of a file that has changed, or is not here: left out)\n", changed);
    if (fast) printf("(%zu of the sample are of fast=1, whose bits are a machine's own: left out)\n", fast);
    return others ? 1 : 0;
}

// ---- The command ----------------------------------------------------------------------------------------

static void print_state(const table *t, const summary *s) {
    size_t stopped = 0, most = 0, fewer = 0;
    for (size_t i = 0; i < s->n; i++) {
        stopped += s->settings[i].stopped;
        if (s->settings[i].n > most) most = s->settings[i].n;
    }
    for (size_t i = 0; i < s->n; i++) fewer += s->settings[i].n < most;
    printf("%zu %s, %zu %s", t->n, t->n == 1 ? "result" : "results", s->n,
           s->n == 1 ? "setting" : "settings");
    if (stopped) printf(", %zu stopped before their last step", stopped);
    if (t->begun) printf(", %zu begun", t->begun);
    puts("");
    if (fewer)
        printf("%zu %s fewer than %zu seeds so far\n", fewer, fewer == 1 ? "setting has" : "settings have",
               most);
    if (t->begun)
        printf("NOT FINAL: %zu %s begun and not done: the best may change\n", t->begun,
               t->begun == 1 ? "job is" : "jobs are");
    putchar('\n');
}

// Whether it can be typed: a config of this program is; what a foreign file says may move the cursor.
static int can_be_typed(const char *text) {
    size_t n = 0;
    while (text[n] >= ' ' && text[n] <= '~') n++;
    return !text[n] && n < 4000;
}

// How the best of all get their weights back.
static void print_weights(const options *o, const summary *s) {
    const setting *best = NULL;
    size_t bests = 0;
    for (size_t i = 0; i < s->n; i++) {
        if (!s->settings[i].best) continue;
        bests++;
        best = &s->settings[i];
    }
    if (o->keep || !best) return;
    const table_row *row = summary_row(s, best);
    if (bests != 1 || !can_be_typed(row->config)) {
        puts("\ntheir weights, to the bit: --keep best");
        return;
    }
    fputs("\nits weights, to the bit: seqmix train ", stdout);
    cli_put_quoted(stdout, row->config);
    printf(" --eval 0 --save best.safetensors (digest %016llx)\n", (unsigned long long)row->r.digest);
}

static int run(const options *o, const table *t) {
    summary s = {0};
    comparisons pairs = {0};
    if (!t->n) return table_fail_empty(t, o->folder);
    table_note_builds(t, o->folder);
    int status = summary_of(&s, t, o->best);
    if (!status && o->baseline) status = comparisons_of(&pairs, &s, o->baseline, o->equal);
    if (!status) status = write_all(o, &(content){t, &s, &pairs});
    if (!status) {
        print_state(t, &s);
        summary_print(&s, stdout);
        const int none = o->baseline && !pairs.n && !pairs.alone;
        if (none) cli_note("--baseline %s: %s", o->baseline, pairs.why);
        if (o->baseline && !none) comparisons_print(&pairs, &s, o->baseline, stdout);
        fflush(stdout);
        print_weights(o, &s);
        if (o->keep) status = collect_keep(&s, o->out ? o->out : o->folder);
        if (o->recheck && status < 2) {
            const int again = recheck(o, t);
            if (again > status) status = again;
        }
    }
    comparisons_free(&pairs);
    summary_free(&s);
    return status;
}

static int collect(int argc, char **argv) {
    options o = {.draw = 1};
    table t;
    if (cli_read_options(&cli_collect, argc, argv, &o)) return 2;
    if (!o.folder) return cli_usage_error(&cli_collect, "DIR, the folder that jobs were given with --out");
    if (o.equal && !o.baseline) return cli_fail("collect: --equal needs --baseline KEY=VALUE beside it");
    if (o.draw != 1 && !o.recheck) return cli_fail("collect: --draw needs --recheck N beside it");
    size_t rechecked;
    if (o.recheck && read_recheck(&o, 0, &rechecked)) return 2; // before tables are written
    const int left_out = table_read(&t, o.folder);
    int status = left_out < 2 ? run(&o, &t) : 2;
    if (!status) status = left_out;
    table_free(&t);
    return status;
}
