// faults.h: what kind of fault a wrong array looks like: the one diagnosis of `seqmix judge` and of
// seqmix.testing.check_layer.
#ifndef CLI_FAULTS_H
#define CLI_FAULTS_H

#include "oracle_cases.h"

// A case of a set with everything that is known of it.
typedef struct {
    const oracle_mechanism *mechanism; // NULL: a text, of which no near misses are computed
    const json *params, *mode;         // borrowed; mode may be NULL
    size_t n_inputs;
    const char *input_name[ORACLE_MAX_ARRAYS]; // borrowed
    npy input[ORACLE_MAX_ARRAYS];              // of one sequence
    double tol;                                // of the array that is wrong, relative to its scale
} faults_case;

// One wrong array: what was given and what is right, of the same shape.
typedef struct {
    const char *name; // "y", or the input whose gradient it is
    int gradient;     // 1: it is one; the case's outputs are right
    const double *got, *ref;
    size_t ndim, shape[NPY_MAX_DIMS], count;
    double scale;
} faults_array;

// How much a phrase tells: that numbers are wrong; where, or by how little; what is wrong.
typedef enum { FAULTS_VAGUE, FAULTS_PLACE, FAULTS_NAMED } faults_worth;
// One phrase into text: what the pattern of errors suggests.
faults_worth faults_explain(char *text, size_t length, const faults_case *c, const faults_array *a);

#endif
