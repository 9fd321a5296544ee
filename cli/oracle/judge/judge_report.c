// judge_report.c: `seqmix judge --report`: one page without scripts: which mechanisms are right in which
// respect, each fault, of each mechanism the shortest wrong case to download; and an SVG badge.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seqmix/run.h>

#include "cli/cli.h"
#include "cli/oracle/cover.h"
#include "judge.h"

enum { COLUMNS = 24, MECHANISMS = 256, MOST_BYTES = 1 << 20 };

typedef struct {
    char name[64], shared[400];
    struct {
        size_t cases, wrong;
    } cell[COLUMNS];
    size_t cases, wrong, size; // size: numbers that the shortest wrong case takes in
    const json *shortest;
} mechanism_row;

typedef struct {
    finding f;
    char why[1200];
} told;

struct judge_report {
    mechanism_row row[MECHANISMS];
    size_t n_rows;
    told *faults;
    size_t n_faults, lost; // lost: for want of memory or rows
};

judge_report *judge_report_open(void) { return calloc(1, sizeof(judge_report)); }

void judge_report_close(judge_report *r) {
    if (r) free(r->faults);
    free(r);
}

// ---- What a case is one of

static size_t number_of(const json *entry, const char *name) {
    size_t n = 0;
    const json *v = json_get(json_get(entry, "params"), name);
    return v && json_size(v, &n) ? n : 0;
}

static size_t rows_of(const json *entry) {
    const size_t L = number_of(entry, "L");
    return L ? L : number_of(entry, "N");
}

static int is_short(const json *entry) { return rows_of(entry) > 0 && rows_of(entry) <= 17; }
static int is_middling(const json *entry) { return rows_of(entry) > 17 && rows_of(entry) < 300; }
static int is_long(const json *entry) { return rows_of(entry) >= 300; }
static int has_heads(const json *entry) { return number_of(entry, "H") > 1; }

static int has_batch(const json *entry) {
    size_t n = 0;
    const json *batch = json_get(entry, "batch");
    for (const json *v = batch ? batch->child : NULL; v; v = v->next)
        if (json_size(v, &n) && n > 1) return 1;
    return 0;
}

static int has_start(const json *entry) {
    const oracle_mechanism *m = oracle_find(json_text(entry, "mechanism"));
    for (const oracle_array *a = m ? m->arrays : NULL; a && a->name; a++)
        if (cover_is_state(a) && json_get(json_get(entry, "inputs"), a->name)) return 1;
    return 0;
}

// After outputs and gradients; after these the draws of a plan.
static const struct {
    const char *name;
    int (*has)(const json *entry);
} properties[] = {{"1 to 17 rows", is_short},       {"18 to 299 rows", is_middling},
                  {"300 rows on", is_long},         {"several heads", has_heads},
                  {"several sequences", has_batch}, {"start states given", has_start}};
enum { FIXED = 2 + (int)(sizeof properties / sizeof *properties) };

static const char *column_name(int c) {
    return c == 0      ? "outputs"
           : c == 1    ? "gradients"
           : c < FIXED ? properties[c - 2].name
                       : cover_draws[c - FIXED];
}

static int column_has(int c, const json *entry, const int given[2]) {
    if (c < 2) return given[c];
    if (c < FIXED) return properties[c - 2].has(entry);
    return !strcmp(json_text(json_get(entry, "plan"), "draw"), cover_draws[c - FIXED]);
}

// ---- What is found

static mechanism_row *row_named(judge_report *r, const char *name) {
    for (size_t i = 0; i < r->n_rows; i++)
        if (!strncmp(r->row[i].name, name, sizeof r->row[i].name - 1)) return &r->row[i];
    if (r->n_rows == MECHANISMS) {
        r->lost++;
        return NULL;
    }
    mechanism_row *row = &r->row[r->n_rows++];
    snprintf(row->name, sizeof row->name, "%s", name);
    return row;
}

static size_t size_of(const json *entry) {
    size_t all = 0;
    const json *inputs = json_get(entry, "inputs");
    for (const json *a = inputs ? inputs->child : NULL; a; a = a->next) {
        size_t count = 1, n;
        const json *shape = json_get(a, "shape");
        for (const json *s = shape ? shape->child : NULL; s; s = s->next) count *= json_size(s, &n) ? n : 1;
        all += count;
    }
    return all;
}

void judge_report_case(judge_report *r, const json *entry, const int given[2], const int wrong[2]) {
    mechanism_row *row = row_named(r, json_text(entry, "mechanism"));
    if (!row) return;
    const int any = wrong[0] || wrong[1];
    const size_t size = size_of(entry);
    row->cases++;
    row->wrong += (size_t)any;
    for (int c = 0; c < FIXED || cover_draws[c - FIXED]; c++) {
        if (!column_has(c, entry, given)) continue;
        row->cell[c].cases++;
        row->cell[c].wrong += (size_t)(c < 2 ? wrong[c] : any);
    }
    if (any && (!row->shortest || size < row->size)) row->shortest = entry, row->size = size;
}

void judge_report_fault(judge_report *r, const finding *f, const char *why) {
    told *more = realloc(r->faults, (r->n_faults + 1) * sizeof *more);
    if (!more) {
        r->lost++;
        return;
    }
    r->faults = more;
    more[r->n_faults].f = *f;
    snprintf(more[r->n_faults++].why, sizeof more->why, "%s", why);
}

void judge_report_shared(judge_report *r, const char *mechanism, const char *text) {
    mechanism_row *row = row_named(r, mechanism);
    if (row) snprintf(row->shared, sizeof row->shared, "%s", text);
}

// ---- The page

static void put(FILE *to, const char *text) { // as HTML's or SVG's text, whatever a file said
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c == '<' || c == '>' || c == '&' || c == '"' || c == '\'')
            fprintf(to, "&#%d;", c);
        else
            putc(c < 0x20 || c == 0x7f ? ' ' : c, to);
    }
}

static void put_base64(FILE *to, const unsigned char *bytes, size_t n) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        const size_t left = n - i;
        const unsigned word = (unsigned)bytes[i] << 16 | (left > 1 ? (unsigned)bytes[i + 1] << 8 : 0) |
                              (left > 2 ? (unsigned)bytes[i + 2] : 0);
        for (size_t k = 0; k < 4; k++) putc(k > left ? '=' : digits[word >> (18 - 6 * k) & 63], to);
    }
}

static size_t right_ones(const judge_report *r) {
    size_t n = 0;
    for (size_t i = 0; i < r->n_rows; i++) n += !r->row[i].wrong;
    return n;
}

static void put_badge(FILE *to, const judge_report *r, const judge_written *w) {
    char text[96];
    const size_t right = right_ones(r);
    if (w->whole)
        snprintf(text, sizeof text, "%zu of %zu right, %s", right, r->n_rows, w->format);
    else
        snprintf(text, sizeof text, "incomplete");
    const int left = 92, width = left + 14 + 7 * (int)strlen(text);
    fprintf(to,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"20\" role=\"img\" "
            "aria-label=\"seqmix judge: %s\"><title>seqmix judge: %s</title>"
            "<rect width=\"%d\" height=\"20\" rx=\"3\" fill=\"#444\"/>"
            "<rect x=\"%d\" width=\"%d\" height=\"20\" rx=\"3\" fill=\"%s\"/>"
            "<g fill=\"#fff\" font-family=\"Verdana,sans-serif\" font-size=\"11\">"
            "<text x=\"7\" y=\"14\">seqmix judge</text><text x=\"%d\" y=\"14\">%s</text></g></svg>\n",
            width, text, text, width, left, width - left,
            w->whole && right == r->n_rows ? "#1a7f37" : "#b42318", left + 7, text);
}

static void put_matrix(FILE *to, const judge_report *r) {
    int shown[COLUMNS] = {0};
    for (size_t i = 0; i < r->n_rows; i++)
        for (int c = 0; c < COLUMNS; c++) shown[c] |= r->row[i].cell[c].cases > 0;
    fputs(
        "<h2>Mechanisms and properties</h2>\n<p>Of the cases with a property, how many are wrong; an empty cell "
        "was not tried.</p>\n<table id=\"matrix\"><tr><th>mechanism</th>",
        to);
    for (int c = 0; c < COLUMNS; c++)
        if (shown[c]) fprintf(to, "<th>%s</th>", column_name(c));
    fputs("</tr>\n", to);
    for (const mechanism_row *row = r->row; row < r->row + r->n_rows; row++) {
        fputs("<tr><th>", to);
        put(to, row->name);
        fputs("</th>", to);
        for (int c = 0; c < COLUMNS; c++) {
            if (!shown[c]) continue;
            const size_t n = row->cell[c].cases, wrong = row->cell[c].wrong;
            if (!n)
                fputs("<td></td>", to);
            else if (wrong)
                fprintf(to, "<td class=\"wrong\">%zu of %zu wrong</td>", wrong, n);
            else
                fprintf(to, "<td class=\"right\">%zu right</td>", n);
        }
        fputs("</tr>\n", to);
    }
    fputs("</table>\n", to);
}

static void put_faults(FILE *to, const judge_report *r) {
    if (!r->n_faults) return;
    fputs("<h2>Faults</h2>\n", to);
    for (const mechanism_row *row = r->row; row < r->row + r->n_rows; row++) {
        if (!*row->shared) continue;
        fputs("<p>", to);
        put(to, row->name);
        fputs(": wrong only where ", to);
        put(to, row->shared);
        fputs("</p>\n", to);
    }
    fputs("<table id=\"faults\"><tr><th>case</th><th>array</th><th>off by, of its scale</th><th>allowed</th>"
          "<th>wrong rows</th><th>looks like</th></tr>\n",
          to);
    for (const told *t = r->faults; t < r->faults + r->n_faults; t++) {
        fputs("<tr><td>", to);
        put(to, t->f.of);
        fputs(t->f.gradient ? "</td><td>d_" : "</td><td>", to);
        put(to, t->f.name);
        fprintf(to, "</td><td>%.3g</td><td>%.3g</td><td>", t->f.share, t->f.allowed);
        if (t->f.first <= t->f.last) fprintf(to, "%zu to %zu", t->f.first, t->f.last);
        fputs("</td><td>", to);
        put(to, t->why);
        fputs("</td></tr>\n", to);
    }
    fputs("</table>\n", to);
}

// A file of the case as a link that holds it; `is`: what it is.
static int put_file(FILE *to, const manifest *m, const json *array, const char *folder, const char *prefix,
                    const char *is) {
    char path[MANIFEST_PATH];
    manifest_array about;
    smx_error error = {0};
    size_t size = 0, count = 1;
    if (manifest_array_of(m, array, folder, path, &about, &error))
        return cli_fail("judge: %s", error.message);
    for (size_t d = 0; d < about.ndim; d++) count *= about.shape[d];
    if (count > MOST_BYTES / npy_item_size(about.dtype)) {
        fputs("<li>", to);
        put(to, about.file);
        fprintf(to, " (%s): too large for this page</li>\n", is);
        return 0;
    }
    void *bytes = cli_read_file(path, &size);
    if (!bytes) return 2;
    fprintf(to, "<li><a download=\"%s", prefix);
    put(to, about.file);
    fputs("\" href=\"data:application/octet-stream;base64,", to);
    put_base64(to, bytes, size);
    fprintf(to, "\">%s", prefix);
    put(to, about.file);
    fprintf(to, "</a> (%s)</li>\n", is);
    free(bytes);
    return 0;
}

// Of the case the arrays that are past their tolerance: the right one and what was given.
static int put_results(FILE *to, const judge_report *r, const manifest *m, const judge_written *w,
                       const json *entry) {
    int status = 0;
    for (const told *t = r->faults; t < r->faults + r->n_faults && !status; t++) {
        if (t->f.entry != entry) continue;
        const json *array = json_get(json_get(entry, t->f.gradient ? "gradients" : "outputs"), t->f.name);
        status = put_file(to, m, array, m->folder, "right.", "what is right") ||
                 put_file(to, m, array, w->results, "given.", "what was given");
    }
    return status ? 2 : 0;
}

static int put_shortest(FILE *to, const judge_report *r, const manifest *m, const judge_written *w) {
    int status = 0;
    for (const mechanism_row *row = r->row; row < r->row + r->n_rows && !status; row++) {
        if (!row->shortest) continue;
        fputs("<h2>The shortest wrong case of ", to);
        put(to, row->name);
        fputs("</h2>\n<p>", to);
        put(to, manifest_case_name(row->shortest));
        for (const json *p = json_get(row->shortest, "params") ? json_get(row->shortest, "params")->child
                                                               : NULL;
             p; p = p->next) {
            fputs(", ", to);
            put(to, p->key);
            if (p->type == JSON_NUMBER) fprintf(to, " = %.9g", p->number);
            if (p->type == JSON_TRUE || p->type == JSON_FALSE)
                fputs(p->type == JSON_TRUE ? " = true" : " = false", to);
            if (p->type == JSON_STRING) fputs(" = ", to), put(to, p->string);
        }
        fputs("</p>\n<ul>\n", to);
        const json *inputs = json_get(row->shortest, "inputs");
        for (const json *a = inputs ? inputs->child : NULL; a && !status; a = a->next)
            status = put_file(to, m, a, m->folder, "", "an input");
        if (!status) status = put_results(to, r, m, w, row->shortest);
        fputs("</ul>\n", to);
    }
    return status;
}

static int put_page(FILE *to, const judge_report *r, const manifest *m, const judge_written *w) {
    uint64_t digest;
    smx_error error = {0};
    size_t version = 0;
    if (manifest_digest(m, &digest, &error)) return cli_fail("judge: %s", error.message);
    fputs(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" "
        "content=\"width=device-width\"><title>seqmix judge</title>\n<style>"
        ":root{color-scheme:light dark;font:15px/1.5 sans-serif}body{margin:2em auto;max-width:80em;padding:0 1em}"
        "table{border-collapse:collapse;display:block;overflow-x:auto}"
        "th,td{border:1px solid #8886;padding:.2em .6em;text-align:left;vertical-align:top}"
        ".wrong{background:#b42318;color:#fff}.right{background:#1a7f37;color:#fff}"
        // a phone: each fault below the other, in place of six columns
        "@media(max-width:45em){#faults tbody,#faults tr{display:block}#faults tr:first-child{display:none}"
        "#faults tr{border-top:1px solid #8886;padding:.5em 0}#faults td{border:0;display:inline-block}"
        "#faults td:first-child,#faults td:last-child{display:block}#faults td:nth-child(3)::before{content:'off by '}"
        "#faults td:nth-child(4)::before{content:'allowed '}#faults td:nth-child(5):not(:empty)::before{content:'rows '}"
        "}</style>\n"
        "<h1>seqmix judge</h1>\n<p id=\"badge\">",
        to);
    put_badge(to, r, w);
    fprintf(to, "</p>\n<p>As %s: %s.%s", w->format, w->counts,
            w->whole ? "" : " Some files were missing or unreadable.");
    if (r->lost) fprintf(to, " %zu entries did not fit on this page.", r->lost);
    fputs("</p>\n<p>The set: ", to);
    put(to, *json_text(m->root, "note") ? json_text(m->root, "note") : "without a note");
    if (json_get(m->root, "suite") && json_size(json_get(m->root, "suite"), &version))
        fprintf(to, "; version %zu of the suite", version);
    fprintf(to,
            "; digest of its cases and inputs <code id=\"digest\">%016llx</code>. Judged by seqmix %s.</p>\n",
            (unsigned long long)digest, SMX_VERSION);
    put_matrix(to, r);
    put_faults(to, r);
    const int status = put_shortest(to, r, m, w);
    fputs("</html>\n", to);
    return status;
}

static int write_made(const char *path, FILE *to, char **text, const size_t *size, int status) {
    const int bad = !to || ferror(to) || fclose(to);
    if (!status && bad) status = cli_fail("judge: out of memory");
    if (!status) status = cli_write_file(path, *text, *size);
    free(*text);
    *text = NULL;
    return status;
}

int judge_report_write(const judge_report *r, const manifest *m, const judge_written *w) {
    char *text = NULL;
    size_t size = 0;
    int status = 0;
    if (w->page) {
        FILE *to = open_memstream(&text, &size);
        status = write_made(w->page, to, &text, &size, to ? put_page(to, r, m, w) : 0);
    }
    if (w->badge && !status) {
        FILE *to = open_memstream(&text, &size);
        if (to) put_badge(to, r, w);
        status = write_made(w->badge, to, &text, &size, 0);
    }
    return status;
}
