// program.h: a recurrence as a list of steps over registers, as model/equations/scan.c makes it of a text's
// `scan`: what each row of a head computes, from its inputs, the weights and the states of the row before.
// Scalars, vectors and matrices of one head; rows of a matrix lie `pitch` floats apart, a multiple of 16,
// and what stands in the padding means nothing. program_plan.c plans where registers lie, program.c runs
// it.
#ifndef SMX_PROGRAM_H
#define SMX_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

enum {
    PROGRAM_STEPS = 400,
    PROGRAM_REGISTERS = 600,
    PROGRAM_STATES = 8,
    PROGRAM_INPUTS = 16,
    PROGRAM_ARRAYS = 31, // inputs, weights and learnt starts together
    PROGRAM_OUTPUTS = 64,
    PROGRAM_OPERANDS = 3
};
// Entry by entry up to SELECT; a scalar may stand beside anything.
typedef enum {
    PROGRAM_COPY,
    PROGRAM_NEGATE,
    PROGRAM_EXP,
    PROGRAM_LOG,
    PROGRAM_SQRT, // slope 0 at 0
    PROGRAM_TANH,
    PROGRAM_SIGMOID,
    PROGRAM_SILU,
    PROGRAM_SOFTPLUS,
    PROGRAM_RELU,
    PROGRAM_ABS, // slope 0 at 0
    PROGRAM_ADD,
    PROGRAM_SUB,
    PROGRAM_MUL,
    PROGRAM_DIV,
    PROGRAM_MAX, // of equal numbers the second gets the gradient
    PROGRAM_MIN,
    PROGRAM_SELECT,    // a > 0 ? b : c; the other side's gradient is 0
    PROGRAM_SUM,       // of all entries
    PROGRAM_LARGEST,   // of a vector; no gradient
    PROGRAM_DOT,       // a . b
    PROGRAM_VECMAT,    // a b, b a matrix
    PROGRAM_MATVEC,    // a b, a a matrix
    PROGRAM_MATMUL,    // a b
    PROGRAM_OUTER,     // a b^T
    PROGRAM_ADD_OUTER, // a + b c^T
    PROGRAM_SUB_OUTER, // a - b c^T
    PROGRAM_ROWS,      // diag(a) b
    PROGRAM_COLUMNS,   // a diag(b)
    PROGRAM_TRANSPOSE
} program_op;
typedef enum { PROGRAM_NUMBER, PROGRAM_WEIGHT, PROGRAM_INPUT, PROGRAM_STATE, PROGRAM_STEP } program_kind;
typedef struct {
    uint32_t rows, cols; // scalar 1, 1; vector 1, n
    uint8_t kind;        // program_kind
    uint16_t of;         // the array of an input or weight
    float number;
    // Of an input: head h reads its columns from column + h / group * stride on. Of a weight: head h's part
    // begins at h * stride.
    uint32_t column, stride, group;
    // The plan: floats from where the values of a row, the tape of a row, the gradients of a row begin.
    uint32_t value, tape, grad;
} program_register;
enum { GIVE_NOTHING, GIVE_SET, GIVE_ADD }; // what backward does with an operand's gradient
typedef struct {
    uint16_t out, in[PROGRAM_OPERANDS];
    uint8_t op, operands, scalar; // scalar: bit i: operand i is one, beside a result that is not
    uint8_t live;                 // something hangs on it
    uint8_t give[PROGRAM_OPERANDS], first[PROGRAM_OPERANDS]; // in which order (an operand taken over: last)
    uint8_t phase;                                           // program_phase, of programs by columns
} program_step;
// Of a program by columns: steps that depend on no state; those of h = a h + b; those that depend on a state.
typedef enum { PROGRAM_BEFORE, PROGRAM_RECUR, PROGRAM_AFTER } program_phase;
typedef struct {
    uint16_t in, out; // registers: of the row before, of this row
    int16_t learned;  // the array that it starts as, [H] or 1 times its shape; -1: none
    float start;
    uint32_t at, grad;    // in what is carried; in the gradients of a row
    uint16_t decay, gain; // of programs by columns: the steps a h and a h + b
} program_state;
typedef struct {
    uint16_t from;   // register
    uint32_t column; // of y: of head h from column + h * cols on
    uint8_t fresh;   // backward: its gradient begins with dy
} program_output;
typedef struct smx_program {
    size_t heads, out_columns; // columns of y
    size_t n_registers, n_steps, n_states, n_outputs;
    size_t n_inputs, n_arrays;        // arrays: the inputs first
    uint32_t columns[PROGRAM_ARRAYS]; // of an input: of a row, of all heads; else: its floats
    uint8_t summed[PROGRAM_ARRAYS];   // several heads, or parts, read the same columns
    program_register registers[PROGRAM_REGISTERS];
    program_step steps[PROGRAM_STEPS];
    program_state states[PROGRAM_STATES];
    program_output outputs[PROGRAM_OUTPUTS];
    // The plan
    size_t segment;                              // rows between states that are kept
    size_t fixed, values, frame, grads, state_n; // floats: numbers and weights; a row's values; of a tape's
                                                 // row; of gradients; of the states of a head
    size_t products;                             // of a row and head
    int values_cross, grads_cross;               // a state ends where another one stood
    size_t by_columns; // floats of a row, where every state is a h + b (program_columns.h); else 0
} program;

static inline size_t program_pitch(const program_register *r) { return (r->cols + 15u) / 16 * 16; }
static inline size_t program_floats(const program_register *r) { return r->rows * program_pitch(r); }
#if defined(__wasm__)
#define PROGRAM_BY_COLUMNS(p) ((size_t)0)
#else
#define PROGRAM_BY_COLUMNS(p) ((p)->by_columns)
#endif
// Floats between the rows of two registers, by columns. No power of two: a load waits for a store 4,096 bytes
// away.
static inline size_t program_stride(const program *p) { return p->segment * p->by_columns + 80; }
// Floats of the tape of so many rows, and of what a forward pass works in beside numbers, weights and states.
static inline size_t program_tape(const program *p, size_t rows) {
    return PROGRAM_BY_COLUMNS(p) ? p->frame / p->by_columns * program_stride(p) : rows * p->frame;
}
static inline size_t program_values(const program *p) {
    return PROGRAM_BY_COLUMNS(p) ? program_tape(p, p->segment) : p->values;
}

// Fills in the plan, once steps, states and outputs stand. Every state's `out` is a step's own result.
void smx_program_plan(program *p);

#endif
