// scan.h: the statement `scan` of a text: a recurrence as one operation of the graph. What the text says of
// it, resolved (equation_scan), for who computes it in another way as well; and the program that it
// becomes.
#ifndef SMX_EQUATION_SCAN_H
#define SMX_EQUATION_SCAN_H

#include "kernels/recurrent/program.h"
#include "model/graph/graph.h"
#include "syntax.h"

// What else may be meant where an exponent is not a whole number.
#define POWERS "; sqrt(x) is a root, 1 / x the power -1, exp(-softplus(-z) / n) the n-th root of sigmoid(z)"

enum {
    SCAN_LINES = 64,
    SCAN_NUMBERS = 80,
    SCAN_STATE_FLOATS = 1 << 22,
    SCAN_BATCH_FLOATS = 1 << 26,
    SCAN_REPEATS = 64
};

// rank 0: a scalar, which a vector of length 1 is as well
typedef struct {
    uint32_t rank, rows, cols;
} scan_shape;
typedef struct {
    const char *name;
    tensor *t;
    int shared;   // every head reads all columns
    size_t group; // so many heads read the same
} scan_input;
typedef struct {
    const char *name;
    scan_shape shape;
    double start;
    tensor *learned; // [heads][..], or NULL
    uint32_t line, column;
} scan_state;
typedef struct {
    const char *name;
    scan_shape shape;
    int per_head; // [heads][..]
    tensor *t;
} scan_weight;
typedef struct {
    const char *name;
    uint32_t column, cols; // of the result: head h from column + h cols on
} scan_output;
typedef struct {
    const char *name;
    double is;
} scan_number;
typedef struct {
    const equations *e;
    size_t first, end; // lines of its body
    size_t heads;
    scan_input inputs[PROGRAM_INPUTS];
    scan_state states[PROGRAM_STATES];
    scan_weight weights[PROGRAM_ARRAYS];
    scan_output outputs[PROGRAM_OUTPUTS];
    scan_number numbers[SCAN_NUMBERS]; // of the config and the text
    size_t n_inputs, n_states, n_weights, n_outputs, n_numbers;
    tensor *in[PROGRAM_ARRAYS], *out; // of its operation; inputs, then weights and learnt starts
    size_t n_in;
} equation_scan;

// What the text around a scan answers.
typedef struct scan_around {
    graph *g;
    void *builder;
    size_t heads, width;
    // Fails the graph with a sentence about that place.
    void (*fail)(void *builder, const equation_node *at, const char *sentence, va_list list);
    // A tensor of the text's name; NULL: the graph has failed.
    tensor *(*tensor)(void *builder, const equation_node *name);
    // A weight of this shape, which starts as the text says, else as a matrix of these rows and columns.
    tensor *(*weight)(void *builder, const equation_node *at, const char *name, uint32_t rank,
                      const uint32_t *shape);
    // Whether start(NAME, ..) names this state: 0 no, 1 *number, 2 learned.
    int (*start)(void *builder, const char *name, double *number);
    // Whether a line after the scan uses the name.
    int (*wanted)(void *builder, size_t line, const char *name);
    // Whether it is a function or otherwise taken.
    int (*reserved)(void *builder, const char *name);
} scan_around;

// The scan of line `at`: s is filled (inputs, numbers are the text's: n_numbers by the caller), and its
// operation made. NULL: the graph has failed.
tensor *equations_scan(equation_scan *s, const equations *e, size_t at, const scan_around *around);

#endif
