// functions.h: what a text may call: the operations of model/ops as functions, with their arguments and
// ranges. A new one is one row of functions.c.
#ifndef SMX_EQUATION_FUNCTIONS_H
#define SMX_EQUATION_FUNCTIONS_H

#include <seqmix/error.h>

#include "model/graph/graph.h"

// What a weight is for: its shape, and how it starts where the text does not say. D is the width of what it
// meets, H the config's heads, n the size in brackets.
typedef enum {
    WEIGHT_MATRIX,       // [D][n or D]
    WEIGHT_OUTPUT,       // the same, of the product that ends the text
    WEIGHT_FILTER,       // [H][n or the config's taps], a filter a head
    WEIGHT_CHANNEL_TAPS, // [D][n or the config's taps], a filter a channel
    WEIGHT_HEAD_TAPS,    // [n or the config's taps][H][H], filters that mix heads
    WEIGHT_MAPS,         // [H][H]
    WEIGHT_KERNEL,       // [D][n or the config's length]
    WEIGHT_STATES,       // [D][n or 16]
    WEIGHT_STATE_PAIRS,  // [D][n or 16][2]
    WEIGHT_GAIN,         // [D], 1
    WEIGHT_BIAS          // [D], 0
} weight_role;

typedef enum {
    ARGUMENT_END,
    ARGUMENT_TENSOR,
    ARGUMENT_WEIGHT,
    ARGUMENT_NUMBER,
    ARGUMENT_REAL,
    ARGUMENT_WORD
} argument_kind;
typedef struct {
    argument_kind kind;
    const char *name;
    weight_role role;   // of a weight; a tensor may stand there too
    int optional;       // tensor or weight: may be left out
    double fallback;    // of a number
    double least, most; // of a number, whole or real
    const char *words;  // "none|sum": the first is the fallback
} function_argument;

enum { FUNCTION_ARGUMENTS = 8 };
// A call whose arguments fit their kinds, in the order of the row; absent tensors are NULL.
typedef struct {
    graph *g;
    size_t heads;
    tensor *tensor[FUNCTION_ARGUMENTS];
    size_t number[FUNCTION_ARGUMENTS]; // also the place of a word among its words
    double real[FUNCTION_ARGUMENTS];
} function_call;

typedef struct {
    const char *name, *help; // help: what it computes, one line; NULL in the module
    function_argument arguments[FUNCTION_ARGUMENTS + 1]; // ended by ARGUMENT_END
    // What does not fit, in words, into `why`: 0, or -1. May be NULL.
    int (*check)(const function_call *c, char *why, size_t size);
    tensor *(*apply)(const function_call *c);
} equation_function;

extern const equation_function equation_functions[]; // ended by a NULL name
const equation_function *function_find(const char *name);

#endif
