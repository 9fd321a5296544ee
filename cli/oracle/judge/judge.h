// judge.h: what `seqmix judge` finds: for judge.c, judge_explain.c and judge_report.c.
#ifndef CLI_JUDGE_H
#define CLI_JUDGE_H

#include "cli/oracle/faults.h"
#include "cli/oracle/proved.h"
#include "cli/oracle/sets/manifest.h"

// One array, what was given and what is right.
typedef struct {
    double *got, *ref;
    double worst, allowed, scale; // allowed: relative to the scale
    int beyond;                   // past what is proved of it (proved.h), though not past its tolerance
    manifest_array is;
} judged_array;

// An array that is past its tolerance, and what it looks like.
typedef struct {
    const json *entry;            // of its case; this and the names are borrowed of the manifest
    const char *of, *name, *file; // the case, the array and its file
    int gradient;
    size_t rows, first, last; // first and last wrong row of its first wrong sequence; first above last: none
    double share, allowed;
    char why[512];
    faults_worth worth;
} finding;

// judge_explain.c: holds an output in float32 that is within its tolerance to what is proved of it, too, as
// `seqmix compare` does: past that, the bound is what it is off by more than.
void judge_proof(judged_array *j, const manifest *m, const json *of_case, const char *name);
// Fills rows, worth and why.
void judge_explain(finding *f, const manifest *m, const judged_array *j);

// judge_report.c: `--report` and `--badge`.
typedef struct judge_report judge_report;
judge_report *judge_report_open(void); // NULL without memory; close it when it was written
void judge_report_close(judge_report *r);
// A case was judged. given, wrong: of outputs, gradients.
void judge_report_case(judge_report *r, const json *entry, const int given[2], const int wrong[2]);
void judge_report_fault(judge_report *r, const finding *f, const char *why);
// What all wrong cases of the mechanism share.
void judge_report_shared(judge_report *r, const char *mechanism, const char *text);
typedef struct {
    const char *page, *badge; // files, or NULL
    const char *results, *format;
    const char *counts; // a sentence
    int whole;          // nothing that was asked for was missing or unreadable
} judge_written;
// 0; 2 with the sentence printed.
int judge_report_write(const judge_report *r, const manifest *m, const judge_written *w);

#endif
