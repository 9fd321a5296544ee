// attribution.h: what a run keeps to say which inputs an answer hangs on.
#ifndef SMX_ATTRIBUTION_H
#define SMX_ATTRIBUTION_H

#include "model/run/batch_graph.h"

typedef struct {
    batch_graph graph; // one sample, its input with a gradient
    float *shares;     // [length][classes]
} attribution;
void attribution_close(attribution *a);

#endif
