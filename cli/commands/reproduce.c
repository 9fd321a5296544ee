// reproduce.c: seqmix reproduce NAME: a table of a paper, trained again.
#include "cli/cli.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands/grid/job_work.h"
#include "cli/commands/runs/train_signals.h"
#include "cli/reproduce/reproduction.h"
#include "cli/reproduce/stored.h"

typedef struct {
    const char *name, *out, *from;
    int quick, lines, collect, json;
} options;

static const cli_option table[] = {
    {"--out", "DIR", "where results go and are looked for: work goes on where it stopped (reproduced)",
     OPTION_TEXT, offsetof(options, out), 0, 0},
    {"--from", "FILE", "what was stored of the table (results/reproduction/NAME.jsonl) counts as trained",
     OPTION_TEXT, offsetof(options, from), 0, 0},
    {"--quick", NULL, "an easier task, one seed, one rate: under a minute", OPTION_FLAG,
     offsetof(options, quick), 0, 0},
    {"--lines", NULL, "print the jobs that are missing, a command a line, for other machines", OPTION_FLAG,
     offsetof(options, lines), 0, 0},
    {"--collect", NULL, "train nothing: what DIR holds", OPTION_FLAG, offsetof(options, collect), 0, 0},
    {"--json", NULL, "the list with all that each table asks for, a JSON object a line", OPTION_FLAG,
     offsetof(options, json), 0, 0},
    {0},
};

static int reproduce(int argc, char **argv);
const cli_command cli_reproduce = {
    .name = "reproduce",
    .usage = "[NAME]",
    .help = "train a table of a paper again and compare, or list them",
    .options = table,
    .plain = offsetof(options, name),
    .most = 1,
    .example = "seqmix reproduce las-table-7-cummax --quick",
    .run = reproduce,
};

static int is_missing(const reproduced *is, size_t r, long s) {
    return !*is->digest[r][s] && isnan(is->value[r][s]);
}

// Of a row, seed by seed, all rates: trained, or printed; those that another process trains are left to it.
// 0, or the exit status.
static int work(const options *o, const reproduction *t, const stored *from, const reproduced_row *row,
                long seed) {
    reproduced is;
    if (reproduction_read(t, row, o->quick, o->out, from, &is)) return 2;
    for (size_t r = 0; r < is.rates; r++) {
        char eval[24];
        job j;
        if (!is_missing(&is, r, seed - 1)) continue;
        int status = reproduction_job(t, row, is.rate[r], seed, o->quick, &j);
        snprintf(eval, sizeof eval, "%ld", reproduction_eval(t, o->quick));
        char out[] = "--out", judged[] = "--eval";
        if (!status && o->lines) {
            fputs("seqmix job ", stdout);
            cli_put_quoted(stdout, j.config);
            fputs(" --out ", stdout);
            cli_put_quoted(stdout, o->out);
            printf(" --eval %s\n", eval);
        } else if (!status) {
            char *folder = strdup(o->out);
            char *words[] = {j.config, out, folder, judged, eval, NULL};
            status = folder ? cli_job.run(5, words) : cli_fail("out of memory");
            free(folder);
        }
        job_free(&j);
        if (status && (status != TRY_AGAIN || signals_stop())) return status;
    }
    return 0;
}

static size_t place(const reproduction *t, const char *name) {
    size_t i = 0;
    while (strcmp(t->rows[i].name, name)) i++;
    return i;
}
static const char *verdict(const reproduction *t, const reproduced *all, const reproduced_claim *c) {
    const size_t i = place(t, c->better);
    return c->worse ? reproduction_verdict(all + i, all + place(t, c->worse), t->measure)
                    : reproduction_reached(all + i, t->rows[i].paper);
}
static double shown(const reproduction *t, double x) { return strcmp(t->measure, "accuracy") ? x : 100 * x; }

static void print(const options *o, const reproduction *t, const reproduced *all) {
    printf("\n%s: %s\n%s\n", t->source, t->title, t->setting);
    if (o->quick) printf("--quick, one seed, an easier task: %s\n", t->quick);
    printf("\n%-28s %9s %9s %20s  %-7s %9s\n", "", "paper",
           strcmp(t->measure, "accuracy") ? t->measure : "percent", "over seeds", "rate", "weights");
    for (size_t i = 0; t->rows[i].name; i++) {
        const reproduced *is = all + i;
        printf("%-28s ", t->rows[i].name);
        if (isnan(t->rows[i].paper))
            printf("%9s ", "");
        else
            printf("%9.4g ", t->rows[i].paper);
        if (is->missing)
            printf("not run: %zu training%s missing\n", is->missing, is->missing == 1 ? " is" : "s are");
        else if (is->best == REPRODUCED_RATES)
            printf("stopped at every rate: the loss is not finite\n");
        else
            printf("%9.4g %9.4g to %8.4g  %-7s %9llu\n", shown(t, is->mean), shown(t, is->least),
                   shown(t, is->most), is->rate[is->best], is->params);
    }
    putchar('\n');
    for (const reproduced_claim *c = t->claims; c->says; c++)
        printf("%-14s %s\n", verdict(t, all, c), c->says);
}

// ---- DIR/NAME.jsonl: the table, its rows, its claims; --json: what is asked for alone
static void put(FILE *to, const char *key, const char *text) {
    fprintf(to, ",\"%s\":", key);
    cli_put_json_text(to, text);
}
static void put_head(FILE *to, const reproduction *t, int quick) {
    fputs("{\"table\":", to);
    cli_put_json_text(to, t->name);
    put(to, "source", t->source);
    put(to, "title", t->title);
    put(to, "setting", t->setting);
    put(to, "common", t->common);
    put(to, "measure", t->measure);
    fprintf(to, ",\"seeds\":%ld,\"eval\":%ld,\"hours\":%g", quick ? 1 : t->seeds, t->eval, t->hours);
}
static void put_row_head(FILE *to, const reproduced_row *row) {
    fputs("{\"row\":", to);
    cli_put_json_text(to, row->name);
    put(to, "config", row->config);
    fputs(",\"paper\":", to);
    cli_put_json_number(to, row->paper, 4);
}
static void put_claim_head(FILE *to, const reproduced_claim *c) {
    fputs("{\"claim\":", to);
    cli_put_json_text(to, c->says);
    put(to, "better", c->better);
    if (c->worse)
        put(to, "worse", c->worse);
    else
        fputs(",\"worse\":null", to);
}
static void put_asked_for(FILE *to, const reproduction *t) {
    put_head(to, t, 0);
    put(to, "rates", t->rate);
    put(to, "quick", t->quick);
    put(to, "quick_rate", t->quick_rate);
    put(to, "paper_in", t->paper_in ? t->paper_in : t->measure);
    if (t->paper_on)
        put(to, "paper_on", t->paper_on);
    else
        fputs(",\"paper_on\":null", to);
    fputs(",\"rows\":[", to);
    for (const reproduced_row *row = t->rows; row->name; row++) {
        if (row != t->rows) putc(',', to);
        put_row_head(to, row);
        putc('}', to);
    }
    fputs("],\"claims\":[", to);
    for (const reproduced_claim *c = t->claims; c->says; c++) {
        if (c != t->claims) putc(',', to);
        put_claim_head(to, c);
        putc('}', to);
    }
    fputs("]}\n", to);
}
static void list(const options *o) {
    for (const reproduction *t = reproductions; t->name; t++)
        if (o->json)
            put_asked_for(stdout, t);
        else
            printf("%-26s %-32s %5.3g h  %s\n", t->name, t->source, t->hours, t->title);
}
static void put_seeds(FILE *to, const double *x, long n) {
    putc('[', to);
    for (long s = 0; s < n; s++) {
        if (s) putc(',', to);
        cli_put_json_number(to, x[s], 6);
    }
    putc(']', to);
}
static void put_row(FILE *to, const reproduced_row *row, const reproduced *is) {
    put_row_head(to, row);
    fprintf(to, ",\"weights\":%llu,\"seconds\":%.0f,\"missing\":%zu,\"rate\":", is->params, is->seconds,
            is->missing);
    cli_put_json_text(to, is->best < is->rates ? is->rate[is->best] : "");
    fputs(",\"rates\":{", to);
    for (size_t r = 0; r < is->rates; r++) {
        fprintf(to, "%s\"%s\":{\"values\":", r ? "," : "", is->rate[r]);
        put_seeds(to, is->value[r], is->seeds);
        fputs(",\"choices\":", to);
        put_seeds(to, is->choice[r], is->seeds);
        fputs(",\"digests\":[", to);
        for (long s = 0; s < is->seeds; s++) fprintf(to, "%s\"%s\"", s ? "," : "", is->digest[r][s]);
        fputs("]}", to);
    }
    fputs("}}\n", to);
}
static int write_table(const options *o, const reproduction *t, const reproduced *all) {
    char path[JOB_PATH], *text = NULL;
    size_t size;
    if (snprintf(path, sizeof path, "%s/%s%s.jsonl", o->out, t->name, o->quick ? ".quick" : "") >=
        (int)sizeof path)
        return cli_fail("reproduce: --out: the path is too long");
    FILE *to = open_memstream(&text, &size);
    if (!to) return cli_fail("out of memory");
    put_head(to, t, o->quick);
    fputs("}\n", to);
    for (size_t i = 0; t->rows[i].name; i++) put_row(to, t->rows + i, all + i);
    for (const reproduced_claim *c = t->claims; c->says; c++) {
        put_claim_head(to, c);
        put(to, "verdict", verdict(t, all, c));
        fputs("}\n", to);
    }
    const int status = fclose(to) ? cli_fail("out of memory") : cli_write_file(path, text, size);
    free(text);
    return status;
}

enum { MOST_ROWS = 32 };
static int run_table(const options *o, const reproduction *t, const stored *from) {
    static reproduced all[MOST_ROWS];
    int status = 0;
    size_t missing = 0;
    if (!o->collect && !o->lines)
        fprintf(stderr, "seqmix: %s: about %.2g hours of one core in all, less what %s%s%s holds\n", t->name,
                o->quick ? 0.02 : t->hours, o->out, o->from ? " or " : "", o->from ? o->from : "");
    // Seed by seed: after the first there is a whole table already.
    for (long seed = 1; seed <= (o->quick ? 1 : t->seeds) && !o->collect && !status; seed++)
        for (size_t i = 0; t->rows[i].name && !status; i++) status = work(o, t, from, t->rows + i, seed);
    if (status || o->lines) return status;
    for (size_t i = 0; t->rows[i].name; i++) {
        if (reproduction_read(t, t->rows + i, o->quick, o->out, from, all + i)) return 2;
        missing += all[i].missing;
    }
    print(o, t, all);
    if (write_table(o, t, all)) return 2;
    if (!missing || o->collect) return 0;
    cli_note("other processes train what is missing: the same command goes on from there");
    return TRY_AGAIN;
}

static int reproduce(int argc, char **argv) {
    options o = {.out = "reproduced"};
    if (cli_read_options(&cli_reproduce, argc, argv, &o)) return 2;
    if (o.json && o.name) return cli_fail("reproduce: --json lists all tables and takes no name");
    if (o.from && !o.name) return cli_fail("reproduce: --from goes with the name of a table");
    if (!o.name) return list(&o), 0;
    if (o.lines && o.collect) return cli_fail("reproduce: --lines and --collect do not go together");
    const reproduction *t = reproductions;
    while (t->name && strcmp(t->name, o.name)) t++;
    if (!t->name) return cli_fail("there is no table '%s'; seqmix reproduce lists them", o.name);
    if (o.collect && access(o.out, F_OK)) return cli_fail("reproduce: --out %s: %s", o.out, strerror(errno));
    if (cli_make_folders(o.out, "reproduce: --out")) return 2;
    stored from = {0};
    int status = o.from ? stored_read(&from, t, o.quick, o.from) : 0;
    if (!status) status = run_table(&o, t, &from);
    stored_free(&from);
    return status;
}
