// interpret.h: the second opinion on a text of equations: the steps that model/equations built, once more in
// double precision over the oracle's functions (ref/), forward and backward. It shares with the float32 run
// the order of steps and the shapes, and no arithmetic.
#ifndef SMX_INTERPRET_H
#define SMX_INTERPRET_H

#include "model/equations/build.h"

typedef struct interpreter interpreter;

// Of a graph of B sequences, the trace of its equations and their result (which no step makes where it is the
// input itself); NULL: no memory. The graph must outlive it.
interpreter *interpreter_open(const graph *g, const equation_trace *t, const tensor *y);
void interpreter_close(interpreter *i);

// A tensor's numbers [tensor.n], and their gradient after backward; NULL: it is not one of the steps'. Inputs
// and weights are the caller's to fill before forward; tensors that name one weight share them.
double *interpreter_value(interpreter *i, const tensor *t);
double *interpreter_gradient(interpreter *i, const tensor *t);

// Each result, forward and backward, is moved by up to `rounding` of itself, drawn from the seed: what
// float32 might have done. 0: not at all. Returns 0, or -1: no memory.
int interpreter_forward(interpreter *i, double rounding, uint64_t seed);
int interpreter_backward(interpreter *i, const tensor *y, const double *dy, double rounding, uint64_t seed);
// Of a step that is a scan the states after the last row of the last forward pass, one state after the
// other, [B][heads][rows][cols] each; NULL: it is none.
const double *interpreter_states(interpreter *i, const equation_step *s);

#endif
