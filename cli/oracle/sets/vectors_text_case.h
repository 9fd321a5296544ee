// vectors_text_case.h: a case of vectors_text.c: the graph that it asks, its arrays.
#ifndef CLI_VECTORS_TEXT_CASE_H
#define CLI_VECTORS_TEXT_CASE_H

#include "check/interpret.h"
#include "check/mixer_graph.h"
#include "vectors.h"

// PLAIN: x of size 1, weights near their start. LOUD: logits and gates far out, of either sign. QUIET: beside
// eps. ZEROS: a third of x's rows are 0, and so are their keys. STEADY: all rows nearly alike and large, so
// that a gate is shut, or open, throughout.
typedef enum { PLAIN, LOUD, QUIET, ZEROS, STEADY } drawing;
typedef struct {
    const char *kind;
    drawing how;
    size_t length, batch; // batch 0: one sequence, and no array has a batch dimension
    int started;          // states that start at 0 start elsewhere, as one more input
} text_case;

enum {
    FORMATS = 3, // f32, f16, bf16
    ARRAYS = 256,
    MOST_MEMORY = 2000000000
};

typedef enum { ROWS, WEIGHT, START, GRADIENT } text_role;
typedef struct {
    char name[80];
    text_role is;
    const tensor *t; // NULL: dy
    size_t n, ndim, shape[NPY_MAX_DIMS];
    double *value;
} text_input;
typedef struct {
    char name[88];
    int gradient;
    size_t n, ndim, shape[NPY_MAX_DIMS];
    double *exact, *moved; // now
    double scale, off[FORMATS];
} text_result;

typedef struct {
    vectors_set set;
    uint64_t seed;
    int hard;
    const text_case *is;
    int formats; // in which the case is judged, in their order
    size_t length, batch;
    config *c; // the user's
    size_t made;
    char name[96];
    // Of the case.
    config *own; // where its states start elsewhere: a text that says so
    mixer_graph b;
    interpreter *i;
    text_input inputs[ARRAYS];
    text_result results[2 * ARRAYS];
    size_t n_inputs, n_results;
} text_work;

// 0, or 2 with the sentence printed, which names the case.
int text_fail(const text_work *w, const char *why);
int text_no_memory(const text_work *w);
int text_open_graph(text_work *w, const config *c, size_t sequences, size_t length, smx_error *error);
void text_close_graph(text_work *w);
int text_left_out(const text_work *w, const char *why);
int text_open_case(text_work *w);
void text_close_case(text_work *w);
int text_add_arrays(text_work *w);

#endif
