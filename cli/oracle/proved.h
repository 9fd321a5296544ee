// proved.h: what is proved of a case's rows in float32 (ref/bounds.h, proofs_tests/rocq): for compare.c and
// judge.c.
#ifndef CLI_PROVED_H
#define CLI_PROVED_H

#include "cli/oracle/sets/manifest.h"

// What the numbers of an array may be off by; INFINITY where nothing is proved of that row.
typedef struct {
    double *bound;       // NULL: no theorem speaks of the array
    const char *theorem; // "NormRow.rms_norm_error"
} proved;

// Of the output `name` of a case, whose right numbers are ref. Says nothing where it cannot read the
// inputs, where a parameter makes another function of it than the theorem's, or where ref is not the
// theorem's exact row.
proved proved_of(const manifest *m, const json *entry, const char *name, const double *ref, size_t count);
void proved_free(proved *p);

// Of all numbers the one that is the largest part of its bound; 0 where there is none.
typedef struct {
    double part, error, bound;
    size_t at;
} proved_worst;
proved_worst proved_judge(const proved *p, const double *got, const double *ref, size_t count);
// Past a bound; NaN is.
int proved_past(const proved_worst *w);

#endif
