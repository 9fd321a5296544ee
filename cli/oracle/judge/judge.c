// judge.c: `seqmix judge`: a set of test vectors against somebody's outputs, and what kind of fault the
// pattern of errors suggests. What is past tolerance, or past what is proved, is what `seqmix compare` says
// is.
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "cli/oracle/compare.h"
#include "cli/oracle/cover.h"
#include "judge.h"
#include "model/base/error.h"
#include "model/run/language/language.h"
#include "cli/oracle/onnx/onnx.h"
#include "cli/texts/texts.h"
#include "text_case.h"

typedef struct {
    const char *results, *manifest, *only;
    const char *text, *bind; // a config whose text is judged in place of results
    char equations[8300];    // that text
    const compare_format *format;
    int as[4]; // asked for, in the order of compare_formats
    int json, partial;
    const char *report, *badge;
} options;

typedef struct {
    size_t cases, wrong, arrays, past, bad;
    size_t unfit;                // cases that the manifest does not judge in this format
    size_t given[2], missing[2]; // outputs, gradients
    // Of the mechanism whose cases are read: the longest that is right, the shortest that is wrong.
    char mechanism[64];
    size_t right_to, wrong_from;
    finding *found; // of its cases, not told yet
    size_t n_found;
    // And its cases of the plan, with 1 where they are wrong.
    cover_case *planned;
    char *planned_wrong;
    const char *modes[COVER_LEVELS];
    size_t n_planned;
    judge_report *report; // NULL: none is asked for
} verdict;

static void judged_free(judged_array *j) {
    free(j->got);
    free(j->ref);
    j->got = j->ref = NULL;
}

static double *numbers_of(const npy *a) {
    double *x = malloc(a->count * sizeof *x + 1);
    for (size_t i = 0; x && i < a->count; i++) x[i] = npy_value(a, i);
    return x;
}

// Where a result is: its .npy, or the output of a node test. 1: it was not given.
static int find_got(char path[MANIFEST_PATH], const char *of, const char *folder, const json *onnx) {
    struct stat st;
    size_t k;
    return stat(path, &st) && (!onnx || !json_size(json_get(onnx, "output"), &k) ||
                               onnx_path(path, MANIFEST_PATH, folder, of, k));
}

// What a file holds.
static int read_got(judged_array *j, const char *path, const char *ref_path, const json *onnx,
                    smx_error *error) {
    npy got;
    size_t heads = 0;
    const size_t n = strlen(path);
    const int tensor = onnx && n > 3 && !strcmp(path + n - 3, ".pb");
    if (tensor && !json_size(json_get(onnx, "heads"), &heads))
        return error_say(error, "%s: the manifest does not say how it is laid out", path);
    if (manifest_other_file(path, ref_path, error) ||
        (tensor ? onnx_read(&got, path, heads, j->is.ndim, j->is.shape, error) : npy_read(&got, path, error)))
        return -1;
    const int status = manifest_fits(&j->is, &got, path, error);
    j->got = numbers_of(&got);
    npy_free(&got);
    return status;
}
// What the text made; NULL: files are judged. 0: judged; 1: it was not given; -1: unreadable.
static int read_pair(judged_array *j, const manifest *m, const options *o, const text_results *made,
                     const char *of_case, int gradient, const json *entry, smx_error *error) {
    char ref_path[MANIFEST_PATH], got_path[MANIFEST_PATH];
    npy ref;
    const text_result *of = made ? text_case_find(made, entry->key, gradient) : NULL;
    if (manifest_array_of(m, entry, m->folder, ref_path, &j->is, error) ||
        (!made && manifest_array_of(m, entry, o->results, got_path, &j->is, error)))
        return -1;
    const json *onnx = json_get(entry, "onnx");
    if (made ? !of : find_got(got_path, of_case, o->results, onnx)) return 1;
    if (npy_read(&ref, ref_path, error)) return -1;
    int status = manifest_fits(&j->is, &ref, ref_path, error);
    if (!status && !made) status = read_got(j, got_path, ref_path, onnx, error);
    if (!status && made && of->n != ref.count)
        status = error_say(error, "%.60s has %zu numbers; %zu are wanted", entry->key, of->n, ref.count);
    if (!status && made && (j->got = malloc(of->n * sizeof *j->got + 1)))
        memcpy(j->got, of->x, of->n * sizeof *j->got);
    j->ref = numbers_of(&ref);
    if (!status && (!j->got || !j->ref)) status = error_say(error, "out of memory");
    j->allowed = manifest_tolerance(m, &j->is, o->format);
    j->scale = j->is.scale >= 0 ? j->is.scale : 0;
    j->worst = 0;
    for (size_t i = 0; !status && i < ref.count; i++) {
        if (!(j->is.scale >= 0) && isfinite(j->ref[i])) j->scale = fmax(j->scale, fabs(j->ref[i]));
        j->worst = fmax(j->worst, compare_error(j->got[i], j->ref[i]));
    }
    npy_free(&ref);
    return status;
}

static int is_past(const judged_array *j) {
    return j->beyond || !(j->worst <= j->allowed * j->scale) || isinf(j->worst) ||
           isinf(j->allowed * j->scale);
}

static void tell(const options *o, const verdict *v, const finding *f, const finding *more) {
    char why[sizeof f->why + sizeof more->why + 160];
    snprintf(why, sizeof why, "%s%s%s%s%s", f->why, more ? "; " : "", more ? more->of : "",
             more ? " tells more: " : "", more ? more->why : "");
    if (v->report) judge_report_fault(v->report, f, why);
    if (o->json) {
        fputs("{\"case\":", stdout);
        cli_json_text(f->of);
        fputs(",\"array\":", stdout);
        cli_json_text(f->file);
        printf(",\"gradient\":%s,\"error\":", f->gradient ? "true" : "false");
        cli_json_number(f->share, 6);
        printf(",\"allowed\":%.3g,\"looks_like\":", f->allowed);
        cli_json_text(why);
        puts("}");
    } else {
        printf("%s: %s%s is off by %.3g of its scale (%.3g is allowed): %s\n", f->of, f->gradient ? "d_" : "",
               f->name, f->share, f->allowed, why);
    }
}

enum { TELLING = 300 }; // rows at which a fault shows best where it begins; beyond, shorter is clearer

static int more_telling(const finding *a, const finding *b) {
    if (a->worth != b->worth) return a->worth > b->worth;
    if ((a->rows > TELLING) != (b->rows > TELLING)) return b->rows > TELLING;
    return a->rows > TELLING ? a->rows < b->rows : a->rows > b->rows;
}

// What was found in the mechanism's cases: a line for each array, with the most telling case's diagnosis
// where its own names no fault.
static void tell_all(const options *o, verdict *v) {
    for (const finding *f = v->found; f < v->found + v->n_found; f++) {
        const finding *best = f;
        for (const finding *g = v->found; g < v->found + v->n_found; g++)
            if (g->gradient == f->gradient && !strcmp(g->name, f->name) && more_telling(g, best)) best = g;
        tell(o, v, f, f->worth < FAULTS_NAMED && best->worth == FAULTS_NAMED ? best : NULL);
    }
    free(v->found);
    v->found = NULL;
    v->n_found = 0;
}

static size_t rows_of(const json *entry) {
    const json *L = json_get(json_get(entry, "params"), "L");
    size_t n;
    return L && json_size(L, &n) ? n : 0;
}

// An array of the case is past its tolerance.
static void report(const options *o, verdict *v, const manifest *m, const json *entry, const judged_array *j,
                   const char *name, int gradient) {
    finding f = {entry,      manifest_case_name(entry), name, j->is.file, gradient, rows_of(entry),
                 .first = 1, .allowed = j->allowed};
    judge_explain(&f, m, j);
    f.share = j->scale > 0 ? j->worst / j->scale : INFINITY;
    finding *longer = realloc(v->found, (v->n_found + 1) * sizeof *longer);
    if (!longer) { // told as it stands
        tell(o, v, &f, NULL);
        return;
    }
    v->found = longer;
    v->found[v->n_found++] = f;
}

// A case of the plan is remembered, with what the manifest says of it.
static void note_planned(verdict *v, const json *entry, int wrong) {
    const json *told = json_get(entry, "plan");
    if (!told || told->type != JSON_OBJECT) return;
    cover_case *cases = realloc(v->planned, (v->n_planned + 1) * sizeof *cases);
    if (cases) v->planned = cases;
    char *marks = cases ? realloc(v->planned_wrong, v->n_planned + 1) : NULL;
    if (!marks) return;
    v->planned_wrong = marks;
    cover_case *c = &v->planned[v->n_planned];
    *c = (cover_case){.seed = 0};
    for (int f = 0; f < COVER_FACTORS; f++) {
        const json *level = json_get(told, cover_factors[f]);
        size_t n = 0;
        if (level && level->type == JSON_STRING && f == COVER_MODE) {
            while (n + 1 < COVER_LEVELS && v->modes[n] && strcmp(v->modes[n], level->string)) n++;
            v->modes[n] = level->string;
        } else if (level && level->type == JSON_STRING && f == COVER_DRAW) {
            const int draw = cover_number(cover_draws, level->string);
            n = draw < 0 ? 0 : (size_t)draw;
        } else if (!level || !json_size(level, &n) || n > INT_MAX) {
            n = 0;
        }
        c->is[f] = (int)n;
    }
    marks[v->n_planned++] = (char)wrong;
}

static void tell_shared(const options *o, verdict *v) {
    char text[400];
    cover_only(text, sizeof text, v->planned, v->planned_wrong, v->n_planned, v->modes);
    if (*text && v->report) judge_report_shared(v->report, v->mechanism, text);
    if (*text && o->json) {
        fputs("{\"mechanism\":", stdout);
        cli_json_text(v->mechanism);
        fputs(",\"wrong_only_where\":", stdout);
        cli_json_text(text);
        puts("}");
    } else if (*text) {
        printf("%s: wrong only where %s\n", v->mechanism, text);
    }
    free(v->planned);
    free(v->planned_wrong);
    v->planned = NULL;
    v->planned_wrong = NULL;
    v->n_planned = 0;
    memset(v->modes, 0, sizeof v->modes);
}

// The cases of a mechanism were read.
static void across(const options *o, verdict *v) {
    const int planned = v->n_planned > 0; // which says more than lengths
    tell_all(o, v);
    tell_shared(o, v);
    if (planned || o->json || v->right_to == 0 || v->wrong_from <= v->right_to || v->wrong_from == (size_t)-1)
        return;
    printf("%s: right up to %zu rows, wrong from %zu rows on: is the history cut short, or a block's edge?\n",
           v->mechanism, v->right_to, v->wrong_from);
}

static void begin_mechanism(const options *o, verdict *v, const json *entry) {
    const char *name = json_text(entry, "mechanism");
    if (!strcmp(name, v->mechanism)) return;
    across(o, v);
    snprintf(v->mechanism, sizeof v->mechanism, "%s", name);
    v->right_to = 0;
    v->wrong_from = (size_t)-1;
}

static void note_length(verdict *v, const json *entry, int wrong) {
    const size_t n = rows_of(entry);
    if (wrong && n && n < v->wrong_from) v->wrong_from = n;
    if (!wrong && n > v->right_to) v->right_to = n;
}

static void judge_case(verdict *v, const options *o, const manifest *m, const json *entry) {
    static const char *const parts[] = {"outputs", "gradients"};
    int wrong[2] = {0, 0}, given[2] = {0, 0};
    text_results made = {.n = 0};
    smx_error why = {0};
    v->cases++;
    if (!manifest_judges(entry, o->format)) {
        v->unfit++;
        return;
    }
    begin_mechanism(o, v, entry);
    if (manifest_has_outputs(entry, &why) ||
        (o->text && text_case_run(&made, m, entry, o->text, o->equations, o->bind, &why))) {
        cli_fail("case %s: %s", manifest_case_name(entry), why.message);
        v->bad++;
        text_case_free(&made);
        return;
    }
    for (int g = 0; g < 2; g++) {
        const json *part = json_get(entry, parts[g]);
        for (const json *a = part ? part->child : NULL; a; a = a->next) {
            judged_array j = {.got = NULL};
            smx_error error = {0};
            const int status =
                read_pair(&j, m, o, o->text ? &made : NULL, manifest_case_name(entry), g, a, &error);
            if (status < 0) {
                cli_fail("case %s: %s", manifest_case_name(entry), error.message);
                v->bad++;
            } else if (status > 0) {
                v->missing[g]++;
            } else {
                if (!g && o->format == compare_format_named("f32")) judge_proof(&j, m, entry, a->key);
                given[g] = 1;
                v->arrays++;
                v->given[g]++;
                const int past = is_past(&j);
                v->past += (size_t)past;
                // What follows from a wrong output is not told once more.
                if (past && (g == 0 || !wrong[0])) report(o, v, m, entry, &j, a->key, g);
                wrong[g] |= past;
            }
            judged_free(&j);
        }
    }
    text_case_free(&made);
    v->wrong += (size_t)(wrong[0] || wrong[1]);
    if (!given[0] && !given[1]) return;
    note_length(v, entry, wrong[0] || wrong[1]);
    note_planned(v, entry, wrong[0] || wrong[1]);
    if (v->report) judge_report_case(v->report, entry, given, wrong);
}

static const cli_option table[] = {
    {"--manifest", "FILE", "the set of test vectors, of seqmix vectors", OPTION_TEXT,
     offsetof(options, manifest), 0, 0},
    {"--only", "CASE", "of it, the cases whose names begin so", OPTION_TEXT, offsetof(options, only), 0, 0},
    {"--f64", NULL, "judge as float64, as it does without", OPTION_FLAG, offsetof(options, as[0]), 0, 0},
    {"--f32", NULL, "as float32", OPTION_FLAG, offsetof(options, as[1]), 0, 0},
    {"--f16", NULL, "as float16", OPTION_FLAG, offsetof(options, as[2]), 0, 0},
    {"--bf16", NULL, "as bfloat16", OPTION_FLAG, offsetof(options, as[3]), 0, 0},
    {"--text", "CONFIG", "in place of a folder: what a text of equations makes of each case, in float32",
     OPTION_TEXT, offsetof(options, text), 0, 0},
    {"--bind", "NAME=ARRAY,..", "what stands in the text for the case's arrays, where it is not their name",
     OPTION_TEXT, offsetof(options, bind), 0, 0},
    {"--partial", NULL, "some of the files are enough: what is not given is not asked for", OPTION_FLAG,
     offsetof(options, partial), 0, 0},
    {"--report", "FILE", "write a page: mechanisms and properties, faults, the shortest wrong cases",
     OPTION_TEXT, offsetof(options, report), 0, 0},
    {"--badge", "FILE", "write an SVG badge: how many mechanisms are right", OPTION_TEXT,
     offsetof(options, badge), 0, 0},
    {"--json", NULL, "a JSON object for each array that is wrong", OPTION_FLAG, offsetof(options, json), 0,
     0},
    {0},
};

static int judge(int argc, char **argv);
const cli_command cli_judge = {
    .name = "judge",
    .usage = "--manifest FILE DIR|--text CONFIG",
    .help = "results against a set of test vectors, and what kind of fault the errors suggest",
    .options = table,
    .plain = offsetof(options, results),
    .most = 1,
    .example = "seqmix judge --manifest hard/manifest.json results --f32",
    .run = judge,
};

// The exit status, when all cases were judged.
static int conclude(const options *o, const verdict *v, const manifest *m) {
    char counts[200];
    if (!v->cases)
        return cli_fail("judge: no case of %s begins with '%.60s'", o->manifest, o->only ? o->only : "");
    if (v->unfit == v->cases)
        return cli_fail("judge: no case of %s is judged as %s: rounding moves them too far", o->manifest,
                        o->format->name);
    if (v->unfit)
        cli_note("judge: %zu of %zu cases are not judged as %s: rounding moves them too far", v->unfit,
                 v->cases, o->format->name);
    if (!v->arrays && !v->bad)
        return cli_fail("judge: %s has none of the files that the manifest names",
                        o->results ? o->results : "the text");
    // Gradients may be left out, all of them.
    const size_t lacking = o->partial ? 0 : v->missing[0] + (v->given[1] ? v->missing[1] : 0);
    snprintf(counts, sizeof counts,
             "%zu arrays of %zu cases, %zu past what is allowed in %zu cases, %zu not given", v->arrays,
             v->cases, v->past, v->wrong, v->missing[0] + v->missing[1]);
    if (!o->json) printf("judge: %s\n", counts);
    if (lacking)
        cli_fail(
            "judge: %zu of the files that the manifest names are not in %s: --only and --partial ask for less",
            lacking, o->results);
    const judge_written w = {o->report,       o->badge, o->results ? o->results : o->text,
                             o->format->name, counts,   !v->bad && !lacking};
    if ((o->report || o->badge) &&
        (v->report ? judge_report_write(v->report, m, &w) : cli_fail("judge: out of memory")))
        return 2;
    return v->bad || lacking ? 2 : v->past ? 1 : 0;
}

// The text of the config; it is computed in float32, and of a scan's last states a text knows nothing.
static int read_text(options *o) {
    smx_error error = {0};
    if (cli_refuse_several("judge", o->text)) return -1;
    config *c = config_parse(o->text, 0, &error);
    const int status = !c || cli_text_plain(o->equations, sizeof o->equations, c, &error);
    config_free(c);
    if (!status) cli_note_unread(o->text, o->text);
    if (!o->as[0] && o->format == compare_formats) o->format = compare_format_named("f32");
    o->partial = 1;
    return status ? cli_fail("%s", error.message) : 0;
}

static int judge(int argc, char **argv) {
    options o = {.format = compare_formats};
    manifest m;
    verdict v = {.wrong_from = (size_t)-1};
    smx_error error = {0};
    if (cli_read_options(&cli_judge, argc, argv, &o)) return 2;
    if (!o.manifest || !o.results == !o.text)
        return cli_usage_error(&cli_judge, "--manifest FILE, and a folder of results or --text CONFIG");
    if (o.bind && !o.text) return cli_fail("judge: --bind names what stands in a text: --text CONFIG");
    for (size_t i = 1; i < sizeof o.as / sizeof *o.as; i++) {
        if (!o.as[i]) continue;
        if (o.as[0] || o.format != compare_formats)
            return cli_fail("judge: a second format, --%s", compare_formats[i].name);
        o.format = &compare_formats[i];
    }
    if ((o.report && cli_can_write(o.report)) || (o.badge && cli_can_write(o.badge))) return 2;
    if (o.text && read_text(&o)) return 2;
    if (manifest_open(&m, o.manifest, &error)) return cli_fail("%s", error.message);
    if (o.report || o.badge) v.report = judge_report_open();
    for (const json *entry = m.cases->child; entry; entry = entry->next)
        if (!o.only || !strncmp(manifest_case_name(entry), o.only, strlen(o.only)))
            judge_case(&v, &o, &m, entry);
    across(&o, &v);
    const int status = conclude(&o, &v, &m);
    judge_report_close(v.report);
    manifest_close(&m);
    return status;
}
