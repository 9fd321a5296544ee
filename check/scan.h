// scan.h: a text's scan once more in double, from its lines: a second reading, which shares with the first
// (model/equations/scan.c, kernels/recurrent/program.c) the trees and the shapes that the head declares.
#ifndef SMX_CHECK_SCAN_H
#define SMX_CHECK_SCAN_H

#include "twins.h"

int scan_forward(const twin_call *c);
int scan_backward(const twin_call *c);
// Numbers of all states of one sequence.
size_t scan_states(const equation_scan *s);

#endif
