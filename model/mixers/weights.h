// weights.h: weights of the usual shapes, and how matrices start.
#ifndef SMX_WEIGHTS_H
#define SMX_WEIGHTS_H

#include "model/graph/graph.h"
#include "model/settings/config.h"

tensor *weight_matrix(graph *g, const char *name, size_t in, size_t out, init start);
tensor *weight_vector(graph *g, const char *name, size_t n, double start);

// Starts (N(0, 1/fan_in), N(0, 0.02^2) or Xavier uniform, by the key init), for a matrix [in][out]; a
// residual output projection is scaled by 1/sqrt(2 blocks).
init start_matrix(const config *c, size_t in, size_t out);
init start_output(const config *c, size_t in, size_t out);

#endif
