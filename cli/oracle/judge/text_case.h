// text_case.h: what a text of equations makes of a case of a set of test vectors, in float32.
#ifndef CLI_TEXT_CASE_H
#define CLI_TEXT_CASE_H

#include "cli/oracle/sets/manifest.h"

// "the output y", or the gradient of an input.
typedef struct {
    const char *name; // the manifest's
    int gradient;
    size_t n;
    double *x;
} text_result;
enum { TEXT_RESULTS = 65 }; // y, and at most 64 inputs' gradients
typedef struct {
    text_result results[TEXT_RESULTS];
    size_t n;
} text_results;

// The text that a case is computed with, malloc'ed: names that are bound to the case's arrays are columns of
// x, weights or a state's start; their own lines are dropped, and what only those used. `text`: of config.
// `names`: "NAME=ARRAY,...", NULL: each array has its own name; of the output any expression may stand left.
// 0, or -1 with one sentence.
int text_case_run(text_results *r, const manifest *m, const json *entry, const char *config, const char *text,
                  const char *names, smx_error *error);
void text_case_free(text_results *r);
const text_result *text_case_find(const text_results *r, const char *name, int gradient);

#endif
