// mixer_graph.h: a text of equations alone, as a graph: y = mixer(x) on B sequences, x = start + values,
// start [L][D] a weight so that it gets a gradient. For the float32 run and for the interpreter in double.
#ifndef SMX_CHECK_MIXER_GRAPH_H
#define SMX_CHECK_MIXER_GRAPH_H

#include "model/equations/build.h"
#include "model/settings/config.h"

typedef struct {
    params p;
    graph *g;
    equation_trace *trace;
    tensor *start, *x, *y;
    float *values; // [B][L][D]
} mixer_graph;

// Builds it, of a config with mixer=equations; 0, or -1: the error says why. Close it in both cases.
int mixer_graph_open(mixer_graph *b, const config *c, enum graph_mode mode, size_t sequences, size_t length,
                     smx_error *error);
// Memory for the float32 run, and weights at their start; 0 or -1.
int mixer_graph_start(mixer_graph *b, uint64_t seed, smx_error *error);
void mixer_graph_close(mixer_graph *b);

// A leaf's tensor among the steps: of `start` it is x; NULL: no step uses it.
const tensor *mixer_graph_tensor(const mixer_graph *b, const param *w);

#endif
