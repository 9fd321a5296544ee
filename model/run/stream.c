// stream.c: see stream.h.
#include "stream.h"

#include <stdlib.h>

void stream_free(stream *s) {
    graph_free(s->g);
    free(s->inputs);
    free(s);
}
void streams_close(stream *s) {
    for (stream *next; s; s = next) {
        next = s->next;
        stream_free(s);
    }
}
