// compare.h: how results are judged: the formats, and the two kinds of comparison.
#ifndef CLI_COMPARE_H
#define CLI_COMPARE_H

#include "cli/arrays/npy.h"

// compare_formats.c: a number format by which results are judged. What tol is and why: docs/ORACLE.md.
typedef struct {
    const char *name;
    int digits;   // p: bits of the significand; unit roundoff u = 2^-p
    int exponent; // of the smallest normal number
    double tol;   // max |got - ref| <= tol * scale
} compare_format;
extern const compare_format compare_formats[];                // f64, f32, f16, bf16; ends with a NULL name
const compare_format *compare_format_named(const char *name); // NULL: none

// Distance between neighbours of the format at x.
double compare_ulp(const compare_format *format, double x);
// |got - ref|; infinite where either is NaN, and for infinities that differ.
double compare_error(double got, double ref);
// "[3][1]" of the i-th element.
void compare_place(char *text, size_t length, const npy *a, size_t i);

// compare_pair.c: prints what differs between two files; 0 within tolerance, 1 past it, 2 unreadable. tol 0:
// the format's; format NULL: that of the results' elements. ulp above 0: each number by so many units in its
// last place instead.
int compare_pair(const char *got, const char *ref, const compare_format *format, double tol, double ulp);

#endif
