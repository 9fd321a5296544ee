// oracle_table.h: the words that the tables of mechanisms are written in; functions are in oracle_parts.c.
#ifndef CLI_ORACLE_TABLE_H
#define CLI_ORACLE_TABLE_H

#include "cli/oracle/oracle_cases.h"

#define SIZE(name) oracle_size(c, #name)
#define IN(name) oracle_data(c, name)
#define GRAD(name) oracle_grad(c, name)
#define OUT(name) oracle_out(c, name)

// Lines of the array lists.
#define INPUT(name, shape)                                                                                   \
    { ORACLE_INPUT, name, shape, NULL, 0 }
#define MAYBE(name, shape)                                                                                   \
    { ORACLE_INPUT, name, shape, NULL, ORACLE_OPTIONAL }
#define INPUT_IF(when, name, shape)                                                                          \
    { ORACLE_INPUT, name, shape, when, 0 }
#define MAYBE_IF(when, name, shape)                                                                          \
    { ORACLE_INPUT, name, shape, when, ORACLE_OPTIONAL }
#define CONSTANT(name, shape)                                                                                \
    { ORACLE_INPUT, name, shape, NULL, ORACLE_NO_GRADIENT }
#define OUTPUT(name, shape)                                                                                  \
    { ORACLE_OUTPUT, name, shape, NULL, 0 }
#define MIDDLE(name, shape)                                                                                  \
    { ORACLE_MIDDLE, name, shape, NULL, 0 }
#define MIDDLE_IF(when, name, shape)                                                                         \
    { ORACLE_MIDDLE, name, shape, when, 0 }
// dy last: it is optional, and asks for gradients.
#define RESULT(shape)                                                                                        \
    OUTPUT("y", shape), { ORACLE_INPUT, "dy", shape, NULL, ORACLE_OPTIONAL | ORACLE_NO_GRADIENT }
// Attention with its projections.
#define QKVO INPUT("x", "L D"), INPUT("wq", "D D"), INPUT("wk", "D D"), INPUT("wv", "D D"), INPUT("wo", "D D")
// Attention alone, on queries, keys and values that are given.
#define QKV INPUT("q", "L D"), INPUT("k", "L D"), INPUT("v", "L D")
// Last of the parameters, where q and k are given: oracle_run norms each head's part of their rows.
#define QK_NORM " qk_norm:none|l2|rms=none"
#define END                                                                                                  \
    { ORACLE_INPUT, NULL, NULL, NULL, 0 }
// dy may take a shape that hangs on a choice.
#define RESULT_IF(when, shape)                                                                               \
    {ORACLE_OUTPUT, "y", shape, when, 0}, {                                                                  \
        ORACLE_INPUT, "dy", shape, when, ORACLE_OPTIONAL | ORACLE_NO_GRADIENT                                \
    }
#define OUTPUT_IF(when, name, shape)                                                                         \
    { ORACLE_OUTPUT, name, shape, when, 0 }
// The state before the first row, where there is one.
#define START(name, shape)                                                                                   \
    { ORACLE_INPUT, name, shape, NULL, ORACLE_OPTIONAL | ORACLE_SEQUENCE }
#define START_IF(when, name, shape)                                                                          \
    { ORACLE_INPUT, name, shape, when, ORACLE_OPTIONAL | ORACLE_SEQUENCE }
// N sequences in one: rows cu[n] .. cu[n+1] - 1 are the n-th's.
#define PACKED                                                                                               \
    { ORACLE_INPUT, "cu", "N+1", "mode=packed", ORACLE_INTEGER | ORACLE_NO_GRADIENT }
#define ARRAYS(...)                                                                                          \
    (const oracle_array[]) { __VA_ARGS__, END }

// The tables, each in a file of its name; they end with a NULL name.
extern const oracle_mechanism oracle_attention[], oracle_filters[], oracle_usual[], oracle_states[],
    oracle_cores[], oracle_layers[];

// Fills pointers, in order, with the inputs of these names (separated by spaces), or their gradients.
void oracle_bind(const oracle_case *c, double *(*get)(const oracle_case *, const char *), const char *names,
                 double **to);
// x and d: the arrays of a mechanism of ref_cores.h, and their gradients.
#define BIND(type, names)                                                                                    \
    type x, d;                                                                                               \
    oracle_bind(c, oracle_data, names, (double **)&x);                                                       \
    oracle_bind(c, oracle_grad, names, (double **)&d)
// Checks, for prepare: the size `part` is there and divides `whole`; H divides D.
int oracle_divides(oracle_case *c, const char *part, const char *whole);
int oracle_heads_fit(oracle_case *c);
// Parts that hang on the mechanism being in its mode `packed`: the rows of sequence n, of `sequences`.
size_t oracle_sequences(const oracle_case *c);
void oracle_rows(const oracle_case *c, size_t n, size_t *first, size_t *rows);
int oracle_packed_fits(oracle_case *c); // prepare: cu begins at 0, does not fall, ends at L

#endif
