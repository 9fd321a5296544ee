// compare_pair.c: `seqmix compare A.npy B.npy`: how far results are from the reference, by every usual
// measure.
#include "compare.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

// The largest of one measure and where it is.
typedef struct {
    double value;
    size_t at;
} most;

static void take(most *m, double value, size_t at) {
    if (!(value > m->value)) return;
    m->value = value;
    m->at = at;
}

static void print_place(const char *what, const npy *got, const npy *ref, size_t i) {
    char at[160];
    compare_place(at, sizeof at, ref, i);
    printf("  %-24s %s: got %.9g, reference %.9g\n", what, at, npy_value(got, i), npy_value(ref, i));
}

static int judge(const npy *got, const npy *ref, const compare_format *format, double tol, double units) {
    double scale = 0;
    most absolute = {0, 0}, relative = {0, 0}, ulp = {0, 0};
    size_t different = 0, first = 0, past = 0, first_past = 0;
    for (size_t i = 0; i < ref->count; i++) {
        double b = fabs(npy_value(ref, i));
        if (isfinite(b)) scale = fmax(scale, b);
    }
    for (size_t i = 0; i < ref->count; i++) {
        double b = npy_value(ref, i), error = compare_error(npy_value(got, i), b);
        if (error == 0) continue;
        if (!different++) first = i;
        take(&absolute, error, i);
        take(&relative, error / fabs(b), i);
        take(&ulp, error / compare_ulp(format, b), i);
        const double allowed = units > 0 ? units * compare_ulp(format, b) : tol * scale;
        if ((!(error <= allowed) || isinf(error)) && !past++) first_past = i;
    }
    printf("  largest difference       %.3g\n", absolute.value);
    printf("  relative to the scale    %.3g of %.6g, the reference's largest",
           absolute.value ? absolute.value / scale : 0, scale);
    if (units > 0)
        printf("\n");
    else
        printf("; %.3g is allowed\n", tol);
    printf("  relative by element      %.3g\n", relative.value);
    printf("  units in the last place  %.4g of %s", ulp.value, format->name);
    if (units > 0) printf("; %.6g are allowed", units);
    printf("\n");
    if (!different) {
        printf("  equal in every number\n");
        return 0;
    }
    print_place("largest difference at", got, ref, absolute.at);
    print_place("first difference at", got, ref, first);
    if (past) print_place("first past tolerance at", got, ref, first_past);
    printf("  %zu of %zu numbers differ, %zu are past the tolerance\n", different, ref->count, past);
    return past > 0;
}

static int compare_read(const npy *got, const npy *ref, const char *got_path, const char *ref_path,
                        const compare_format *format, double tol, double units) {
    char a[160], b[160];
    npy_shape_text(a, sizeof a, got->ndim, got->shape);
    npy_shape_text(b, sizeof b, ref->ndim, ref->shape);
    if (strcmp(a, b)) return cli_fail("compare: %s has the shape %s, %s has %s", got_path, a, ref_path, b);
    if (!ref->count)
        return cli_fail("compare: %s and %s hold no number: nothing can be compared", got_path, ref_path);
    int whole = ref->dtype == NPY_I4;
    if (whole != (got->dtype == NPY_I4))
        return cli_fail("compare: %s holds %s, %s holds %s", got_path, npy_dtype_name(got->dtype), ref_path,
                        npy_dtype_name(ref->dtype));
    if (!format)
        format = compare_format_named(got->dtype == NPY_F4 ? "f32" : got->dtype == NPY_F2 ? "f16" : "f64");
    if (!(tol > 0)) tol = whole ? 0 : format->tol;
    printf("%s against %s: %zu numbers %s, judged as %s\n", got_path, ref_path, ref->count, a,
           whole ? "int32" : format->name);
    int past = judge(got, ref, format, tol, whole ? 0 : units);
    printf(past ? "  FAIL\n" : "  pass\n");
    return past;
}

int compare_pair(const char *got_path, const char *ref_path, const compare_format *format, double tol,
                 double ulp) {
    npy got, ref;
    smx_error error;
    if (npy_read(&got, got_path, &error)) return cli_fail("compare: %s", error.message);
    int status = npy_read(&ref, ref_path, &error) ? cli_fail("compare: %s", error.message) : -1;
    if (status < 0) {
        status = compare_read(&got, &ref, got_path, ref_path, format, tol, ulp);
        npy_free(&ref);
    }
    npy_free(&got);
    return status;
}
