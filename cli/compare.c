// compare.c: `seqmix compare`: judges a folder of results against a set of test vectors, by the scale and
// tolerance that the manifest gives for each array: max |got - ref| <= tol * scale. NaN never passes.
#include "cli.h"
#include "manifest.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *manifest, *results;
    int f32;
    double tol; // 0: the manifest's
} options;

typedef struct {
    size_t arrays, past, bad;
    double worst; // error / (tol * scale)
    char worst_place[400];
} verdict;

// "[3][1]" of the i-th element.
static void place(char *text, size_t length, const npy *a, size_t i) {
    size_t at[NPY_MAX_DIMS];
    for (size_t d = a->ndim; d-- > 0;) {
        at[d] = i % a->shape[d];
        i /= a->shape[d];
    }
    npy_shape_text(text, length, a->ndim, at);
}

static double scale_of(const manifest_array *is, const npy *ref) {
    double scale = 0;
    if (is->scale >= 0) return is->scale;
    for (size_t i = 0; i < ref->count; i++) scale = fmax(scale, fabs(npy_value(ref, i)));
    return scale;
}

static void judge(verdict *v, const options *o, const manifest *m, const manifest_array *is, const npy *ref,
                  const npy *got, const char *name) {
    double scale = scale_of(is, ref), worst = -1;
    double tol = o->tol > 0 ? o->tol : o->f32 ? (is->f32_tol > 0 ? is->f32_tol : 2e-5) : m->f64_tol;
    size_t where = 0;
    for (size_t i = 0; i < ref->count; i++) {
        double a = npy_value(got, i), b = npy_value(ref, i), error = a == b ? 0 : fabs(a - b);
        if (isnan(error)) error = INFINITY; // NaN, or one infinity against another
        if (error > worst) {
            worst = error;
            where = i;
        }
    }
    v->arrays++;
    if (ref->count == 0) return;
    int past = !(worst <= tol * scale);
    double share = worst == 0 ? 0 : worst / (tol * scale);
    char index[160];
    place(index, sizeof index, ref, where);
    if (share > v->worst || !v->worst_place[0]) {
        v->worst = share;
        snprintf(v->worst_place, sizeof v->worst_place, "%s%s", name, index);
    }
    if (!past) return;
    v->past++;
    printf("%s: %s: got %.17g, ref %.17g, |difference| %.3g > %.3g = %.3g * scale %.3g\n", name, index,
           npy_value(got, where), npy_value(ref, where), worst, tol * scale, tol, scale);
}

static int compare_array(verdict *v, const options *o, const manifest *m, const json *entry, char *err,
                         size_t errlen) {
    manifest_array is;
    char ref_path[MANIFEST_PATH], got_path[MANIFEST_PATH];
    npy ref, got;
    if (manifest_array_of(m, entry, m->folder, ref_path, &is, err, errlen) ||
        manifest_array_of(m, entry, o->results, got_path, &is, err, errlen))
        return -1;
    if (npy_read(&ref, ref_path, err, errlen)) return -1;
    int status = manifest_fits(&is, &ref, ref_path, err, errlen);
    if (!status) status = npy_read(&got, got_path, err, errlen);
    if (!status) {
        status = manifest_fits(&is, &got, got_path, err, errlen);
        if (!status) judge(v, o, m, &is, &ref, &got, is.file);
        npy_free(&got);
    }
    npy_free(&ref);
    return status;
}

static int compare_manifest(const options *o) {
    static const char *const parts[] = {"outputs", "intermediates", "gradients"};
    manifest m;
    verdict v = {0};
    char err[400];
    if (manifest_open(&m, o->manifest, err, sizeof err)) return cli_fail("%s", err);
    for (const json *c = m.cases->child; c; c = c->next)
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
            const json *part = json_get(c, parts[i]);
            for (const json *a = part ? part->child : NULL; a; a = a->next)
                if (compare_array(&v, o, &m, a, err, sizeof err)) {
                    cli_fail("case %s: %s", manifest_case_name(c), err);
                    v.bad++;
                }
        }
    manifest_close(&m);
    printf(
        "compare: %zu arrays, %zu past their tolerance, %zu unreadable; worst %.3g of its tolerance at %s\n",
        v.arrays, v.past, v.bad, v.worst, v.worst_place[0] ? v.worst_place : "no place");
    return v.bad ? 2 : v.past ? 1 : 0;
}

int cli_compare(int argc, char **argv) {
    options o = {0};
    const char *usage = "compare: it takes --manifest FILE DIR [--f32] [--tol X]";
    for (int i = 0; i < argc; i++) {
        if (strcmp(argv[i], "--f32") == 0) {
            o.f32 = 1;
        } else if (strcmp(argv[i], "--manifest") == 0 || strcmp(argv[i], "--tol") == 0) {
            if (i + 1 == argc) return cli_fail("compare: %s needs a value", argv[i]);
            if (strcmp(argv[i], "--manifest") == 0) {
                o.manifest = argv[++i];
                continue;
            }
            char *end;
            o.tol = strtod(argv[++i], &end);
            if (*end || !(o.tol > 0) || !isfinite(o.tol))
                return cli_fail("compare: --tol is '%s'; it must be a number above 0", argv[i]);
        } else if (argv[i][0] == '-' || o.results) {
            return cli_fail("compare: '%s' is not known; %s", argv[i], usage + strlen("compare: "));
        } else {
            o.results = argv[i];
        }
    }
    if (!o.manifest || !o.results) return cli_fail("%s", usage);
    return compare_manifest(&o);
}
