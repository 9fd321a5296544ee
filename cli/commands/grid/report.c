// report.c: seqmix report DIR: the results of a grid as one page that needs no server: tables, and curves by
// the page's own chart (web/report, bundled into report_page.inc).
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

#include "cli/grid/table/comparison.h"
#include "report.h"
#include "report_page.inc"

typedef struct {
    const char *folder, *out, *best, *baseline;
    int equal;
    long again; // the page loads itself again after so many seconds; 0: not
} options;

static const cli_option table_of_options[] = {
    {"--out", "FILE", "where it goes (DIR/report.html)", OPTION_TEXT, offsetof(options, out), 0, 0},
    {"--best", "KEY,...", "choose the best of these for each setting (rate)", OPTION_TEXT,
     offsetof(options, best), 0, 0},
    {"--baseline", "KEY=VALUE", "compare the best with the best of this, seed by seed", OPTION_TEXT,
     offsetof(options, baseline), 0, 0},
    {"--equal", "all_else|weights|seconds", "as collect does", OPTION_WORD, offsetof(options, equal), 0, 0},
    {0},
};

static int make_report(int argc, char **argv);
const cli_command cli_report = {
    .name = "report",
    .usage = "DIR",
    .help = "the results of jobs as one .html: curves and tables, without a server",
    .options = table_of_options,
    .plain = offsetof(options, folder),
    .most = 1,
    .example = "seqmix report results --baseline mixer=attention",
    .run = make_report,
};

enum { MOST_CURVES = 200 }; // settings whose curves the file holds

static void put_keys(const summary *s, const setting *g, FILE *to) {
    const table_row *row = &s->t->rows[g->from];
    int any = 0;
    putc('{', to);
    for (size_t k = 0; k < s->t->n_keys; k++) {
        if (!summary_is_column(s, k) || !row->values[k]) continue;
        fprintf(to, "%s\"%s\":", any++ ? "," : "", s->t->keys[k]);
        cli_put_json_text(to, row->values[k]);
    }
    putc('}', to);
}

static void put_number(FILE *to, const char *name, double x) {
    fprintf(to, ",\"%s\":", name);
    cli_put_json_number(to, x, 9);
}

static void put_curve(const double *curve, size_t n, FILE *to) {
    putc('[', to);
    for (size_t j = 0; j < n; j++) {
        if (j) putc(',', to);
        cli_put_json_number(to, curve[j], 6);
    }
    putc(']', to);
}

// A curve for each seed: the training loss, and what --every judged.
static void put_curves(const summary *s, const setting *g, FILE *to) {
    const table_row *rows = &s->t->rows[g->from];
    fprintf(to, ",\"stride\":%llu,\"curves\":[", (unsigned long long)rows->r.stride);
    for (size_t i = 0; i < g->n; i++) {
        if (i) putc(',', to);
        put_curve(rows[i].r.curve, rows[i].r.n_curve, to);
    }
    fprintf(to, "],\"every\":%ld,\"held_out\":[", rows->r.every);
    for (size_t i = 0; i < g->n; i++) {
        if (i) putc(',', to);
        put_curve(rows[i].r.held_out, rows[i].r.n_held_out, to);
    }
    putc(']', to);
}

static void put_settings(const summary *s, FILE *to) {
    size_t curves = 0;
    char note[SUMMARY_NOTE];
    for (size_t i = 0; i < s->n; i++) {
        const setting *g = &s->settings[i];
        fputs(i ? ",\n{\"keys\":" : "\n{\"keys\":", to);
        put_keys(s, g, to);
        fprintf(to, ",\"metric\":\"%s\",\"seeds\":%zu,\"stopped\":%zu,\"best\":%s", g->metric, g->n,
                g->stopped, g->best ? "true" : "false");
        summary_note(s, g, note);
        fputs(",\"note\":", to);
        cli_put_json_text(to, note);
        put_number(to, "mean", g->mean);
        put_number(to, "low", g->low);
        put_number(to, "high", g->high);
        put_number(to, "deviation", g->deviation);
        put_number(to, "seconds", g->seconds);
        fprintf(to, ",\"weights\":%llu,\"eval\":%ld,\"steps\":%llu",
                (unsigned long long)s->t->rows[g->from].r.params, s->t->rows[g->from].r.eval,
                (unsigned long long)s->t->rows[g->from].r.step);
        if (g->best && curves++ < MOST_CURVES) put_curves(s, g, to);
        putc('}', to);
    }
}

static void put_pairs(const summary *s, const comparisons *all, FILE *to) {
    const comparison *c = all->at;
    for (size_t i = 0; i < all->n; i++) {
        fputs(i ? ",\n{\"setting\":" : "\n{\"setting\":", to);
        put_keys(s, c[i].a, to);
        fputs(",\"baseline\":", to);
        put_keys(s, c[i].b, to);
        fprintf(to, ",\"pairs\":%zu,\"better\":%zu", c[i].pairs, c[i].wins);
        put_number(to, "difference", c[i].difference);
        put_number(to, "p", c[i].p);
        put_number(to, "holm", c[i].holm);
        put_number(to, "low", c[i].low);
        put_number(to, "high", c[i].high);
        putc('}', to);
    }
}

// What stands below the comparisons, a text a line.
static void put_remarks(const comparisons *all, FILE *to) {
    char *text = NULL, *line;
    size_t size;
    FILE *lines = open_memstream(&text, &size);
    if (lines) {
        comparisons_print_remarks(all, lines);
        if (!all->n && !all->alone) fputs(all->why, lines);
        fclose(lines);
    }
    int any = 0;
    for (char *at = text; (line = strtok_r(at, "\n", &at));) {
        if (any++) putc(',', to);
        cli_put_json_text(to, line);
    }
    free(text);
}

static void put_report(const options *o, const summary *s, const comparisons *all, FILE *to) {
    fputs("{\"folder\":", to);
    cli_put_json_text(to, o->folder);
    fprintf(to, ",\"version\":\"" SMX_VERSION "\",\"results\":%zu,\"begun\":%zu,\"columns\":[", s->t->n,
            s->t->begun);
    for (size_t k = 0, any = 0; k < s->t->n_keys; k++)
        if (summary_is_column(s, k)) fprintf(to, "%s\"%s\"", any++ ? "," : "", s->t->keys[k]);
    fputs("],\"over\":[", to);
    for (size_t i = 0; i < s->n_over; i++) fprintf(to, "%s\"%s\"", i ? "," : "", s->t->keys[s->over[i]]);
    fputs("],\"baseline\":", to);
    if (o->baseline)
        cli_put_json_text(to, o->baseline);
    else
        fputs("null", to);
    fputs(",\"settings\":[", to);
    put_settings(s, to);
    fputs("],\"pairs\":[", to);
    put_pairs(s, all, to);
    fputs("],\"remarks\":[", to);
    put_remarks(all, to);
    fputs("]}", to);
}

// The page whole: what is text of a user's ends no element of it.
static int write_page(const char *path, const char *json, size_t size, long again) {
    char *page = NULL;
    size_t length;
    FILE *to = open_memstream(&page, &length);
    if (!to) return cli_fail("out of memory for the page");
    const char *title = strstr(page_before, "<title>");
    fwrite(page_before, 1, (size_t)(title - page_before), to);
    if (again) fprintf(to, "<meta http-equiv=\"refresh\" content=\"%ld\" />\n", again);
    fputs(title, to);
    for (size_t i = 0; i < size; i++)
        if (json[i] == '<')
            fputs("\\u003c", to);
        else
            putc(json[i], to);
    fputs(page_after, to);
    const int status =
        fclose(to) ? cli_fail("out of memory for the page") : cli_write_file(path, page, length);
    free(page);
    if (!status && !again) printf("%s\n", path);
    return status;
}

static int write_report(const options *o, const summary *s, const comparisons *all) {
    char path[JOB_PATH], *json = NULL;
    size_t size;
    if (snprintf(path, sizeof path, "%s%s", o->out ? o->out : o->folder, o->out ? "" : "/report.html") >=
        (int)sizeof path)
        return cli_fail("report: the path is too long");
    FILE *to = open_memstream(&json, &size);
    if (!to) return cli_fail("out of memory for the page");
    put_report(o, s, all, to);
    const int status =
        fclose(to) ? cli_fail("out of memory for the page") : write_page(path, json, size, o->again);
    free(json);
    return status;
}

int report_write(const char *folder, const table *t, const char *best, const char *baseline, int equal,
                 const char *out, long again) {
    const options o = {
        .folder = folder, .out = out, .best = best, .baseline = baseline, .equal = equal, .again = again};
    summary s = {0};
    comparisons pairs = {0};
    int status = summary_of(&s, t, o.best);
    if (!status && o.baseline) status = comparisons_of(&pairs, &s, o.baseline, o.equal);
    if (!status) status = write_report(&o, &s, &pairs);
    comparisons_free(&pairs);
    summary_free(&s);
    return status;
}

static int make_report(int argc, char **argv) {
    options o = {0};
    table t;
    if (cli_read_options(&cli_report, argc, argv, &o)) return 2;
    if (!o.folder) return cli_usage_error(&cli_report, "DIR, the folder that jobs were given with --out");
    if (o.equal && !o.baseline) return cli_fail("report: --equal needs --baseline KEY=VALUE beside it");
    const int left_out = table_read(&t, o.folder);
    int status = left_out == 2 ? 2
                 : !t.n        ? table_fail_empty(&t, o.folder)
                               : report_write(o.folder, &t, o.best, o.baseline, o.equal, o.out, 0);
    if (!status) status = left_out;
    table_free(&t);
    return status;
}
