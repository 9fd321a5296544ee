// vectors.h: the set of test vectors that `seqmix vectors` makes: its cases, and what each input is drawn
// from.
#ifndef CLI_VECTORS_H
#define CLI_VECTORS_H

#include <stdio.h>

#include "kernels/core/philox.h"
#include "cli/oracle/oracle_cases.h"

typedef struct {
    const char *mechanism;
    const char *name;    // of the case, after the mechanism's
    const char *params;  // JSON
    const char *without; // optional inputs that are left out, separated by spaces; NULL: none
    int louder;          // q and k are 2^louder times as large: logits whose exp is beyond float32
    int batch;           // sequences; 0: one, and no array has a batch dimension
} vectors_case;
extern const vectors_case vectors_cases[]; // ends with a NULL mechanism
int vectors_leaves_out(const vectors_case *is, const char *input);

// An input is n 2^-shift with n uniform in low..high, |n| < 256: eight significant bits, so that it is the
// same number in bfloat16, float16, float32 and float64, and the test is of the arithmetic alone.
typedef struct {
    const char *mechanism; // NULL: any
    const char *input;
    int low, high, shift;
} vectors_range;
const vectors_range *vectors_range_of(const char *mechanism, const char *input);

// vectors_margin.c: for the mechanisms that choose a landmark: the smallest lead of a chosen landmark's score
// over the next, relative to the scores' root mean square. Infinite for the others. A choice that rounding
// could turn is no test.
double vectors_margin(const oracle_case *c);

extern const char vectors_readme[];

// The version of the sets: a case never changes under one (docs/ORACLE.md, "Versions").
#define VECTORS_SUITE "7"

// An input of whole numbers, drawn: classes from -1 (none) to V - 1; of `cu` the rows where
// packed sequences begin, in order, from 0 to L.
void vectors_integers(int32_t *to, size_t n, const oracle_case *c, const char *name, smx_rng *rng);

// And a set as it is written.
typedef struct {
    const char *folder;
    FILE *manifest;
    char *text; // of the manifest, which is written last: a set that is not whole has none
    size_t size;
    size_t arrays; // written so far
    size_t at, of; // the case that is made, from 1, and how many there are
    double began, told;
} vectors_set;
// Makes the folder, and opens the manifest: 0, or 2 with the sentence printed. vectors_end in either case: it
// closes the manifest and, where status is 0, writes readme (NULL: there was no memory for it) and manifest.
// The exit status.
int vectors_begin(vectors_set *set, const char *folder);
int vectors_end(vectors_set *set, int status, const char *readme, size_t cases);
// Called whenever something was computed: each ten seconds it says on standard error which case is made,
// and how long the rest takes if its cases are like those before.
void vectors_progress(vectors_set *set, const char *name);
// Writes the array `name` of a case as CASE.PREFIXNAME.npy, and its entry in the manifest, which ends with
// `judged` (", ..." or ""); first: of its part. 0, or 2 with the sentence printed.
int vectors_put(vectors_set *set, const char *of, const char *prefix, const char *name, const npy *a,
                const char *judged, int first);

#endif
