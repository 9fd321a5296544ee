// oracle.h: the oracle's mechanisms by name, flat, for a caller that knows no C structs: the tables as
// JSON, then one case after another: open, set every input, run, get every result, close.
#ifndef PYTHON_ORACLE_H
#define PYTHON_ORACLE_H

#include <stddef.h>

// What oracle_cases.h, vectors.h and compare.h say:
// {"mechanisms":[{"name","source","params":[{"name","type","default"}],
//                 "arrays":[{"kind","name","shape","when","optional","integer","gradient"}],
//                 "case":PARAMS,"draws":{INPUT:[low,high,shift]}}],
//  "formats":[{"name","digits","tol_is_1_in"}]}
// Static string; NULL without memory.
const char *smx_oracle_tables(void);

typedef struct smx_oracle smx_oracle;
// params: a JSON object. NULL, with one sentence in error [length], where the mechanism or a parameter is
// none.
smx_oracle *smx_oracle_open(const char *mechanism, const char *params, char *error, size_t length);
void smx_oracle_close(smx_oracle *oracle); // NULL allowed
// These return 0, or -1 with the sentence smx_oracle_error.
const char *smx_oracle_error(const smx_oracle *oracle);
// data: float64, or int32 where `integer`; [shape[0]]...[shape[n-1]], copied.
int smx_oracle_set(smx_oracle *oracle, const char *name, int integer, size_t n, const size_t *shape,
                   const void *data);
// Instead of set and run: the shapes of all inputs as the parameters alone fix them, for smx_oracle_get
// with 'i'.
int smx_oracle_shapes(smx_oracle *oracle);
int smx_oracle_run(smx_oracle *oracle);
// After run, of a mechanism that chooses among landmarks: the smallest lead of a chosen one (vectors.h);
// else infinite.
double smx_oracle_margin(const smx_oracle *oracle);
// What is named by kind: 'o' an output, 'm' an intermediate, 'd' the gradient by an input, 'i' an input.
// *data is valid until close; shape holds 8.
int smx_oracle_get(smx_oracle *oracle, int kind, const char *name, size_t *n, size_t *shape,
                   const double **data);

// After run: what kind of fault it looks like that `got`, of that output's (or, where `gradient`, that
// input's gradient's) shape, is not what the oracle gives: one phrase into text, and how much it tells
// (faults.h), or -1. tol: what is allowed, of scale.
int smx_oracle_explain(smx_oracle *oracle, const char *name, int gradient, const double *got, double tol,
                       double scale, char *text, size_t length);

// The plan of cases (cli/oracle/cover.h) that `options` ask for, a JSON object: "modes" a list of parameters,
// "fixed" those that no case may change, "seed", "same_heads", "start", "but" the ways of calling that are
// left out, "huge", "saturated". As JSON into text: {"linear":[INPUT],"cases":[{"is":[8
// numbers],"seed","sizes":{},"drawn"}],"factors","draws","calls"}. Its length, of which no more than length -
// 1 are written; -1 with one sentence in text.
int smx_oracle_plan(const char *mechanism, const char *options, char *text, size_t length);
// What all wrong cases share and no right one has, into text. cases [n][8]; wrong [n]: 1 or 0.
void smx_oracle_plan_only(const int *cases, const char *wrong, size_t n, char *text, size_t length);

#endif
