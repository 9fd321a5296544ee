// look.h: one sample on a graph that keeps every tensor, and the list of all that has a name.
#ifndef SMX_LOOK_H
#define SMX_LOOK_H

#include "model/run/batch_graph.h"

typedef struct {
    batch_graph graph;
    size_t length; // asked for, 0: not opened
    float *maps;   // all attention maps, one after another
    int32_t *predicted;
    float *confidence;
    // weights, gradients, maps and tensors by name
    smx_tensor *list;
    char (*names)[80];
    size_t listed;
} look;
void look_close(look *l);

#endif
