// oracle_cases.h: one run of one mechanism of the oracle on named arrays: which parameters and arrays each
// mechanism has, what shapes they must have, and what it computes. The files around it
// (manifests, folders) are the commands' business.
#ifndef CLI_ORACLE_CASES_H
#define CLI_ORACLE_CASES_H

#include "model/base/json.h"
#include "cli/arrays/npy.h"

typedef struct oracle_case oracle_case;

typedef enum { ORACLE_INPUT, ORACLE_OUTPUT, ORACLE_MIDDLE } oracle_kind;

enum {
    ORACLE_OPTIONAL = 1,    // an input that may be absent (switched off)
    ORACLE_INTEGER = 2,     // int32
    ORACLE_NO_GRADIENT = 4, // an input without a gradient
    ORACLE_SEQUENCE = 8     // one sequence's own, though its shape names no L
};

typedef struct {
    oracle_kind kind;
    const char *name;
    // Sizes separated by spaces, each a sum of products and quotients of numbers and names:
    // "H 2*W+1", "D/H"; "Hq|Hv" is the larger.
    // A name is a whole-number parameter, or found from the first array that has it as a size of its own, or
    // of its own and a number more: "N+1".
    const char *shape;
    const char *when; // NULL, or the choices under which this line holds: "mode=per_head value_filter=causal"
    unsigned flags;
} oracle_array;

typedef struct {
    const char *name;
    const char *source; // paper and equation
    // "NAME:TYPE[=DEFAULT]" separated by spaces; TYPE is size (>= 1), size0 (>= 0), real, reals, flag, or the
    // allowed words "a|b|c". Without a default a size is found from the arrays, anything else must be given.
    const char *params;
    const oracle_array *arrays;     // ends with a NULL name
    int (*prepare)(oracle_case *c); // checks and sizes derived from others; may be NULL
    int (*run)(oracle_case *c);     // outputs, middles and, when dy was given, gradients
} oracle_mechanism;

const oracle_mechanism *oracle_next(const oracle_mechanism *m); // NULL: the first; NULL after the last
const oracle_mechanism *oracle_find(const char *name);

enum { ORACLE_MAX_ARRAYS = 48, ORACLE_MAX_SIZES = 40 };

// One entry of a mechanism's params. value: the default, "" if there is none.
typedef struct {
    char name[24], type[96], value[32];
} oracle_declared;
// Reads the entry at *at (begin with mechanism->params) and moves on; 0 at the end.
int oracle_next_declared(const char **at, oracle_declared *d);

// Whether an input is of one sequence, so that a batch has one for each, and no weight: it has rows or bins,
// is a first state, or dy.
int oracle_of_sequence(const oracle_array *input);
// Whether it has one besides dy: a batch needs an input of which each sequence has its own.
int oracle_has_sequences(const oracle_mechanism *mechanism);

// Whether the mechanism has a parameter of that name which may be that word.
int oracle_allows(const oracle_mechanism *mechanism, const char *name, const json *word);

typedef struct {
    const oracle_array *is;
    size_t ndim, shape[NPY_MAX_DIMS], count;
    double *data;  // NULL when absent
    int32_t *ints; // instead of data when ORACLE_INTEGER
    double *grad;  // of an input, when gradients are wanted
} oracle_slot;

struct oracle_case {
    const oracle_mechanism *mechanism;
    const json *params; // an object, borrowed
    const json *mode;   // the parameter of that name where params has none; or NULL; borrowed
    oracle_slot slots[ORACLE_MAX_ARRAYS];
    size_t n_slots;
    struct {
        char name[16];
        size_t value;
    } sizes[ORACLE_MAX_SIZES];
    size_t n_sizes;
    smx_error error;
};

// Each returns 0, or -1 with one sentence in c->error. open, then set every input, then run, then look,
// then close (close also after a failure).
int oracle_open(oracle_case *c, const oracle_mechanism *mechanism, const json *params, const json *mode);
int oracle_set(oracle_case *c, const char *name, const npy *value); // copies; "dy" asks for gradients
int oracle_prepare(oracle_case *c); // oracle_run begins with it: what is given fits, and there is memory
int oracle_run(oracle_case *c);
int oracle_compute(oracle_case *c); // once more, of a case that ran; may leave c->error empty
// Before anything is set: the shapes of all inputs (in their slots) as the parameters and defaults alone fix
// them.
int oracle_shapes(oracle_case *c);
void oracle_close(oracle_case *c);
// The array of that kind and name of a case that ran, or NULL. ORACLE_INPUT: its grad is the gradient.
const oracle_slot *oracle_slot_of(const oracle_case *c, oracle_kind kind, const char *name);

// For the mechanisms' own functions. The names exist: the table says so.
int oracle_fail(oracle_case *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
size_t oracle_size(const oracle_case *c, const char *name);
void oracle_put_size(oracle_case *c, const char *name, size_t value);
// After open: L is so many, whatever the parameters say.
void oracle_take_rows(oracle_case *c, size_t L);
double oracle_real(const oracle_case *c, const char *name);
int oracle_flag(const oracle_case *c, const char *name);
int oracle_choice(const oracle_case *c, const char *name);        // index among the allowed words
const json *oracle_param(const oracle_case *c, const char *name); // NULL when not given
double *oracle_data(const oracle_case *c, const char *name);      // input; NULL when absent
double *oracle_grad(const oracle_case *c, const char *name);      // NULL when absent or not wanted
double *oracle_out(const oracle_case *c, const char *name);       // output or middle

#endif
