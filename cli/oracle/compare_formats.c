// compare_formats.c: the number formats by which results are judged; docs/ORACLE.md says why by so much.
// And how an error and its place are told.
#include "compare.h"

#include <math.h>
#include <string.h>

const compare_format compare_formats[] = {
    {"f64", 53, -1022, 1e-12}, {"f32", 24, -126, 2e-5}, {"f16", 11, -14, 0x1p-8}, // 8 u
    {"bf16", 8, -126, 0x1p-5},                                                    // 8 u
    {NULL, 0, 0, 0},
};

const compare_format *compare_format_named(const char *name) {
    for (const compare_format *f = compare_formats; f->name; f++)
        if (strcmp(f->name, name) == 0) return f;
    return NULL;
}

double compare_ulp(const compare_format *format, double x) {
    int exponent = format->exponent;
    if (x != 0 && isfinite(x)) {
        int e;
        frexp(x, &e); // |x| = m 2^e, m in [1/2, 1)
        if (e - 1 > exponent) exponent = e - 1;
    }
    return ldexp(1, exponent - format->digits + 1);
}

double compare_error(double got, double ref) {
    if (got == ref) return 0;
    double error = fabs(got - ref);
    return isnan(error) ? INFINITY : error;
}

void compare_place(char *text, size_t length, const npy *a, size_t i) {
    size_t at[NPY_MAX_DIMS];
    for (size_t d = a->ndim; d-- > 0;) {
        at[d] = i % a->shape[d];
        i /= a->shape[d];
    }
    npy_shape_text(text, length, a->ndim, at);
}
