// build.h: a mixer's text as nodes of a graph.
#ifndef SMX_EQUATION_BUILD_H
#define SMX_EQUATION_BUILD_H

#include "functions.h"
#include "syntax.h"

// What a text finds around it.
typedef struct {
    size_t heads, taps, length; // of the config
    // How a weight of that role starts where the text does not say.
    init (*start)(const void *config, weight_role role, const uint32_t *shape);
    const void *config;
} equation_surroundings;

// x [B][L][D] -> y [B][L][D]. Assigned tensors and weights bear the text's names. What does not fit fails the
// graph with a sentence about eq, line and column.
tensor *equations_build(graph *g, const equations *e, const equation_surroundings *s, tensor *x);

#endif
