// stream.h: the graphs over which a run's states are pushed, one for each number of sequences and reserved
// rows.
#ifndef SMX_RUN_STREAM_H
#define SMX_RUN_STREAM_H

#include "model.h"

typedef struct stream {
    struct stream *next;
    size_t B, most, users; // states
    graph *g;
    model model;
    void *inputs;   // tokens or values
    uint64_t begun; // with the weights of this step
} stream;

void stream_free(stream *s);
void streams_close(stream *first); // and all after it

#endif
