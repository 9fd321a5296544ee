// functions.h: what a text may call: the operations of model/ops as functions, with their arguments and
// ranges. A new one is one row of functions.c.
#ifndef SMX_EQUATION_FUNCTIONS_H
#define SMX_EQUATION_FUNCTIONS_H

#include <seqmix/error.h>

#include "model/graph/graph.h"

// What a weight is for: its shape (weight_shapes), and how it starts where the text does not say.
typedef enum {
    WEIGHT_MATRIX,
    WEIGHT_OUTPUT,       // of the product that ends the text
    WEIGHT_FILTER,       // a filter a head
    WEIGHT_CHANNEL_TAPS, // a filter a channel
    WEIGHT_HEAD_TAPS,    // filters that mix heads
    WEIGHT_MAPS,
    WEIGHT_KERNEL,
    WEIGHT_STATES,
    WEIGHT_STATE_PAIRS,
    WEIGHT_GAIN,     // 1
    WEIGHT_BIAS,     // 0
    WEIGHT_SUM_BIAS, // 0
    WEIGHT_HEADS,    // 1
    WEIGHT_RATES,    // ln 1, ln 2, ...
    WEIGHT_SINKS,    // 0
    WEIGHT_PAIRS,
    WEIGHT_CARRIED_4, // of what goes on to the next row's four gates
    WEIGHT_CARRIED_3,
    WEIGHT_VALUE // 1, or 0 where its name begins with b_
} weight_role;
// A letter an axis. D: the width of what it meets; 3, 4: D / 3, D / 4; H: the config's heads; n: the columns
// of a product; 2: two. What a size in brackets replaces: d: D, t: the config's taps, l: its length, s: 16,
// 1: one.
extern const char *const weight_shapes[];

typedef enum {
    ARGUMENT_END,
    ARGUMENT_TENSOR,
    ARGUMENT_WEIGHT,
    ARGUMENT_NUMBER,
    ARGUMENT_REAL,
    ARGUMENT_WORD
} argument_kind;
typedef struct {
    const char *name;
    const char *words;             // "none|sum": the first is the fallback
    uint8_t kind;                  // argument_kind
    uint8_t role;                  // weight_role, of a weight
    uint8_t optional;              // tensor or weight: may be left out
    int32_t fallback, least, most; // of a number, whole or real; -1: the config's width over its heads
} function_argument;

enum { FUNCTION_ARGUMENTS = 13 };
// A call whose arguments fit their kinds, in the order of the row; absent tensors are NULL.
typedef struct {
    graph *g;
    size_t heads;
    tensor *tensor[FUNCTION_ARGUMENTS];
    size_t number[FUNCTION_ARGUMENTS]; // also the place of a word among its words
    double real[FUNCTION_ARGUMENTS];
} function_call;

// An operation of the language. What stands under "for readers" is NULL in the module that is downloaded.
typedef struct {
    const char *name;
    const function_argument *arguments; // ended by ARGUMENT_END
    int any_shape; // 1: row by row, on tensors of any shape; 0: tensors are [B][L][columns]
    // What does not fit, in words, into `why`: 0, or -1. May be NULL.
    int (*check)(const function_call *c, char *why, size_t size);
    // What it makes: an operation of so many tensors, or a function of the call.
    tensor *(*one)(graph *g, tensor *a);
    tensor *(*two)(graph *g, tensor *a, tensor *b);
    tensor *(*three)(graph *g, tensor *a, tensor *b, tensor *c);
    tensor *(*apply)(const function_call *c);
    long (*ahead)(
        const function_call *c); // rows that it sees ahead; below 0: only what is so long past. NULL: 0
    // ---- For readers
    const char *help;    // what it computes, one line
    const char *formula; // LaTeX
    const char *gives;   // the result's shape where it is not that of the first argument
    const char *cost;    // multiply-adds a row
    const char *example; // a text that runs as it is
    const char *twin;    // of the oracle (include/seqmix/ref.h), or of check/
} equation_function;

extern const equation_function equation_functions[]; // ended by a NULL name
const equation_function *function_find(const char *name);
tensor *function_apply(const equation_function *f, const function_call *c);
size_t function_arguments(const equation_function *f);

#endif
