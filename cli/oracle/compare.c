// compare.c: `seqmix compare`: judges a folder of results against a set of test vectors, by the scale and
// tolerance that the manifest gives for each array: max |got - ref| <= tol * scale. In float32, where a
// theorem says how far seqmix's own rows may be off (proved.h), each number by that as well. NaN never
// passes. Two files: compare_pair.c.
#include "cli/cli.h"
#include "compare.h"
#include "cli/oracle/proved.h"
#include "cli/oracle/sets/manifest.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *results, *reference; // reference: of two files
    const char *manifest;
    const char *only;             // cases whose names begin so; NULL: all
    const compare_format *format; // NULL: f64 for a manifest
    double tol;                   // 0: the manifest's
    double ulp;                   // of two files: 0: tol counts
    int as[4];                    // asked for, in the order of compare_formats
    int json;
} options;

typedef struct {
    size_t arrays, past, bad;
    double worst; // error / (tol * scale)
    char worst_place[400];
    // Of the arrays of whose rows a bound is proved: how many; past it; the largest part of it
    size_t proved, beyond;
    proved_worst nearest;
    char nearest_place[400];
} verdict;

static double scale_of(const manifest_array *is, const npy *ref) {
    double scale = 0;
    if (is->scale >= 0) return is->scale;
    for (size_t i = 0; i < ref->count; i++)
        if (isfinite(npy_value(ref, i))) scale = fmax(scale, fabs(npy_value(ref, i)));
    return scale;
}

// One array as it is judged.
typedef struct {
    const char *of, *file; // the case, the array's file
    double worst, tol, scale;
    size_t where; // of worst
    int past, beyond;
    proved_worst nearest; // bound 0: nothing is proved of it
    const char *theorem;
} judged;

static void tell(const options *o, const judged *j, const npy *ref, const npy *got) {
    char at[160], bound_at[160];
    compare_place(at, sizeof at, ref, j->where);
    compare_place(bound_at, sizeof bound_at, ref, j->nearest.at);
    if (o->json) {
        fputs("{\"case\":", stdout);
        cli_json_text(j->of);
        fputs(",\"array\":", stdout);
        cli_json_text(j->file);
        fputs(",\"difference\":", stdout);
        cli_json_number(j->worst, 6);
        fputs(",\"allowed\":", stdout);
        cli_json_number(j->tol * j->scale, 6);
        if (j->nearest.bound > 0) {
            printf(",\"theorem\":\"%s\",\"proved_at\":\"%s\",\"proved_difference\":", j->theorem, bound_at);
            cli_json_number(j->nearest.error, 6);
            fputs(",\"proved\":", stdout);
            cli_json_number(j->nearest.bound, 6);
        }
        printf(",\"past\":%s}\n", j->past || j->beyond ? "true" : "false");
        return;
    }
    if (j->past)
        printf("%s: %s: got %.17g, ref %.17g, |difference| %.3g > %.3g = %.3g * scale %.3g\n", j->file, at,
               npy_value(got, j->where), npy_value(ref, j->where), j->worst, j->tol * j->scale, j->tol,
               j->scale);
    else if (j->beyond)
        printf("%s: %s: got %.17g, ref %.17g, |difference| %.3g > %.3g, proved of seqmix's row in float32 "
               "(%s)\n",
               j->file, bound_at, npy_value(got, j->nearest.at), npy_value(ref, j->nearest.at),
               j->nearest.error, j->nearest.bound, j->theorem);
}

static void judge_proved(verdict *v, const options *o, judged *j, const proved *p, const npy *ref,
                         const npy *got) {
    double *x = malloc((ref->count + 1) * sizeof *x), *y = malloc((ref->count + 1) * sizeof *y);
    for (size_t i = 0; x && y && i < ref->count; i++) {
        x[i] = npy_value(got, i);
        y[i] = npy_value(ref, i);
    }
    if (x && y) j->nearest = proved_judge(p, x, y, ref->count);
    free(x);
    free(y);
    if (!(j->nearest.bound > 0)) return;
    j->theorem = p->theorem;
    const int past = proved_past(&j->nearest);
    j->beyond = past && !(o->tol > 0);
    v->proved++;
    v->beyond += (size_t)(past && !j->past);
    if (v->nearest_place[0] && !(j->nearest.part > v->nearest.part)) return;
    char at[160];
    v->nearest = j->nearest;
    compare_place(at, sizeof at, ref, j->nearest.at);
    snprintf(v->nearest_place, sizeof v->nearest_place, "%s%s", j->file, at);
}

static void judge(verdict *v, const options *o, const manifest *m, const manifest_array *is,
                  const proved *proved, const char *of, const npy *ref, const npy *got) {
    judged j = {.of = of, .file = is->file, .scale = scale_of(is, ref), .worst = -1};
    j.tol = o->tol > 0 ? o->tol : manifest_tolerance(m, is, o->format ? o->format : compare_formats);
    for (size_t i = 0; i < ref->count; i++) {
        double a = npy_value(got, i), b = npy_value(ref, i), error = compare_error(a, b);
        if (error > j.worst) {
            j.worst = error;
            j.where = i;
        }
    }
    v->arrays++;
    if (ref->count == 0) return;
    // an infinite tolerance is none
    j.past = !(j.worst <= j.tol * j.scale) || isinf(j.worst) || isinf(j.tol * j.scale);
    double share = j.worst == 0 ? 0 : j.worst / (j.tol * j.scale);
    if (share > v->worst || !v->worst_place[0]) {
        char index[160];
        compare_place(index, sizeof index, ref, j.where);
        v->worst = share;
        snprintf(v->worst_place, sizeof v->worst_place, "%s%s", is->file, index);
    }
    if (proved->bound) judge_proved(v, o, &j, proved, ref, got);
    v->past += (size_t)j.past;
    tell(o, &j, ref, got);
}

// In float32 alone: what is proved is proved of it.
static proved proved_here(const options *o, const manifest *m, const json *of, const json *entry,
                          const npy *ref) {
    double *y = NULL;
    proved p = {NULL, NULL};
    if (o->format == compare_format_named("f32")) y = malloc((ref->count + 1) * sizeof *y);
    for (size_t i = 0; y && i < ref->count; i++) y[i] = npy_value(ref, i);
    if (y) p = proved_of(m, of, entry->key, y, ref->count);
    free(y);
    return p;
}

static int compare_array(verdict *v, const options *o, const manifest *m, const json *of, int output,
                         const json *entry, smx_error *error) {
    manifest_array is;
    char ref_path[MANIFEST_PATH], got_path[MANIFEST_PATH];
    npy ref, got;
    if (manifest_array_of(m, entry, m->folder, ref_path, &is, error) ||
        manifest_array_of(m, entry, o->results, got_path, &is, error))
        return -1;
    if (manifest_other_file(got_path, ref_path, error) || npy_read(&ref, ref_path, error)) return -1;
    int status = manifest_fits(&is, &ref, ref_path, error);
    if (!status) status = npy_read(&got, got_path, error);
    if (!status) {
        status = manifest_fits(&is, &got, got_path, error);
        if (!status) {
            proved p = output ? proved_here(o, m, of, entry, &ref) : (proved){NULL, NULL};
            judge(v, o, m, &is, &p, manifest_case_name(of), &ref, &got);
            proved_free(&p);
        }
        npy_free(&got);
    }
    npy_free(&ref);
    return status;
}

static void conclude(const options *o, const verdict *v) {
    printf(
        "compare: %zu arrays, %zu past their tolerance, %zu unreadable; worst %.3g of its tolerance at %s\n",
        v->arrays, v->past, v->bad, v->worst, v->worst_place[0] ? v->worst_place : "no place");
    if (!v->proved) return;
    printf("compare: of %zu it is proved how far seqmix's own float32 may be off; %zu are within their "
           "tolerance and past that%s; "
           "nearest %s: difference %.3g, proved at most %.3g\n",
           v->proved, v->beyond,
           !v->beyond   ? ""
           : o->tol > 0 ? " (--tol judges by itself alone)"
                        : " (--tol X judges by X alone)",
           v->nearest_place, v->nearest.error, v->nearest.bound);
}

static int compare_manifest(const options *o) {
    static const char *const parts[] = {"outputs", "intermediates", "gradients"};
    manifest m;
    verdict v = {0};
    size_t cases = 0, unfit = 0;
    smx_error error;
    if (manifest_open(&m, o->manifest, &error)) return cli_fail("%s", error.message);
    for (const json *c = m.cases->child; c; c = c->next) {
        if (o->only && strncmp(manifest_case_name(c), o->only, strlen(o->only))) continue;
        cases++;
        if (!manifest_judges(c, o->format ? o->format : compare_formats)) {
            unfit++;
            continue;
        }
        if (manifest_has_outputs(c, &error)) {
            cli_fail("case %s: %s", manifest_case_name(c), error.message);
            v.bad++;
        }
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
            const json *part = json_get(c, parts[i]);
            for (const json *a = part ? part->child : NULL; a; a = a->next)
                if (compare_array(&v, o, &m, c, i == 0, a, &error)) {
                    cli_fail("case %s: %s", manifest_case_name(c), error.message);
                    v.bad++;
                }
        }
    }
    manifest_close(&m);
    if (!cases)
        return cli_fail("compare: no case of %s begins with '%.60s'", o->manifest, o->only ? o->only : "");
    if (unfit == cases)
        return cli_fail("compare: no case of %s is judged as %s: rounding moves them too far", o->manifest,
                        o->format->name);
    if (unfit)
        cli_note("compare: %zu of %zu cases are not judged as %s: rounding moves them too far", unfit, cases,
                 o->format->name);
    if (!o->json) conclude(o, &v);
    return v.bad ? 2 : v.past || (v.beyond && !(o->tol > 0)) ? 1 : 0;
}

static const cli_option table[] = {
    {"--manifest", "FILE", "judge a folder of results against this set of test vectors", OPTION_TEXT,
     offsetof(options, manifest), 0, 0},
    {"--only", "CASE", "of it, the cases whose names begin so", OPTION_TEXT, offsetof(options, only), 0, 0},
    {"--tol", "X", "allowed: X times the scale (the format's, or the manifest's)", OPTION_REAL,
     offsetof(options, tol), 5e-324, 1.7976931348623157e308},
    {"--ulp", "N",
     "of two files: allowed for each number: N units in its last place, as WebNN's tests have it",
     OPTION_REAL, offsetof(options, ulp), 1e-3, 1e15},
    {"--f64", NULL, "judge as float64", OPTION_FLAG, offsetof(options, as[0]), 0, 0},
    {"--f32", NULL, "as float32; a set's rows by what is proved of it, too, without --tol", OPTION_FLAG,
     offsetof(options, as[1]), 0, 0},
    {"--f16", NULL, "as float16", OPTION_FLAG, offsetof(options, as[2]), 0, 0},
    {"--bf16", NULL, "as bfloat16", OPTION_FLAG, offsetof(options, as[3]), 0, 0},
    {"--json", NULL, "of a folder: a JSON object for each array", OPTION_FLAG, offsetof(options, json), 0, 0},
    {0},
};

static int compare(int argc, char **argv);
const cli_command cli_compare = {
    .name = "compare",
    .usage = "A.npy B.npy | --manifest FILE DIR",
    .help = "judge results against the reference: two files, or a folder against a set",
    .options = table,
    .plain = offsetof(options, results),
    .most = 2,
    .example = "seqmix compare --manifest vectors/manifest.json results --bf16",
    .run = compare,
};

static int compare(int argc, char **argv) {
    options o = {0};
    if (cli_read_options(&cli_compare, argc, argv, &o)) return 2;
    for (size_t i = 0; i < sizeof o.as / sizeof *o.as; i++) {
        if (!o.as[i]) continue;
        if (o.format)
            return cli_fail("compare: a second format, --%s, beside --%s", compare_formats[i].name,
                            o.format->name);
        o.format = &compare_formats[i];
    }
    if (o.manifest ? !o.results || o.reference : !o.reference || o.only)
        return cli_usage_error(&cli_compare,
                               "A.npy B.npy, or --manifest FILE DIR, of which alone --only takes a part");
    if (o.json && !o.manifest) return cli_fail("compare: --json is for a folder against a set");
    if (o.ulp > 0 && (o.manifest || o.tol > 0))
        return cli_fail("compare: --ulp is for two files, and stands in place of --tol");
    return o.manifest ? compare_manifest(&o) : compare_pair(o.results, o.reference, o.format, o.tol, o.ulp);
}
