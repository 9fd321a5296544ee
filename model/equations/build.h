// build.h: a mixer's text as nodes of a graph.
#ifndef SMX_EQUATION_BUILD_H
#define SMX_EQUATION_BUILD_H

#include "functions.h"
#include "scan.h"
#include "syntax.h"

// What a text finds around it.
typedef struct {
    size_t width, heads, taps, length; // of the config
    const double *keys;                // values of the text's own, in their order (equations_key)
    // How a weight of that role starts where the text does not say.
    init (*start)(const void *config, weight_role role, const uint32_t *shape);
    const void *config;
    const char *text; // that e is of
} equation_surroundings;

// What was built, in order: for who computes the same in another way. Filled where it is asked for.
typedef struct {
    const equation_function *function;
    function_call call;
    const equation_scan *scan; // of a scan, whose tensors are its own; else NULL
    tensor *out;
    unsigned line; // of the text
} equation_step;
// Its tensors and weights, some of them NULL.
enum { EQUATION_INPUTS = PROGRAM_ARRAYS };
static inline size_t equation_inputs(const equation_step *s) {
    return s->scan ? s->scan->n_in : (size_t)FUNCTION_ARGUMENTS;
}
static inline tensor *equation_input(const equation_step *s, size_t i) {
    return s->scan ? s->scan->in[i] : s->call.tensor[i];
}
enum { EQUATION_STEPS = EQUATION_NODES };
typedef struct {
    size_t n;
    long ahead; // rows that the output may see ahead
    equation_step steps[EQUATION_STEPS];
} equation_trace; // about half a megabyte: on the heap

// x [B][L][D] -> y [B][L][D]. Assigned tensors and weights bear the text's names. What does not fit fails
// the graph with a sentence about eq, line and column. trace: NULL, or filled.
tensor *equations_build(graph *g, const equations *e, const equation_surroundings *s, tensor *x,
                        equation_trace *trace);

#endif
