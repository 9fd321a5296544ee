// mixer_graph.c: see mixer_graph.h.
#include "mixer_graph.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/error.h"
#include "model/graph/graph.h"
#include "model/mixers/equations.h"
#include "model/ops/ops.h"

int mixer_graph_open(mixer_graph *b, const config *c, enum graph_mode mode, size_t sequences, size_t length,
                     smx_error *error) {
    const size_t D = c->common.width;
    memset(b, 0, sizeof *b);
    b->g = graph_new(mode, &b->p, sequences, length);
    b->trace = malloc(sizeof *b->trace);
    b->values = calloc(sequences * length * D, sizeof *b->values);
    if (!b->g || !b->trace || !b->values) return error_say(error, "there is no memory for a check");
    b->g->values = b->values;
    b->start =
        graph_param(b->g, "x", (init){INIT_NORMAL, 1}, 0, 2, (uint32_t[]){(uint32_t)length, (uint32_t)D});
    b->x = op_bias(b->g, op_values(b->g, D), b->start);
    graph_push(b->g, "mixer");
    b->y = equations_mixer(b->g, c, b->x, b->trace);
    graph_pop(b->g);
    if (!b->g->failed) return 0;
    if (error) *error = b->g->error;
    return -1;
}
int mixer_graph_start(mixer_graph *b, uint64_t seed, smx_error *error) {
    return params_create(&b->p, seed, error) ||
                   graph_plan(b->g, b->g->mode == GRAPH_TRAIN ? b->y : NULL, error)
               ? -1
               : 0;
}
void mixer_graph_close(mixer_graph *b) {
    graph_free(b->g);
    params_free(&b->p);
    free(b->trace);
    free(b->values);
}

const tensor *mixer_graph_tensor(const mixer_graph *b, const param *w) {
    if (b->start->weight == w) return b->x;
    for (size_t s = 0; s < b->trace->n; s++)
        for (size_t a = 0; a < equation_inputs(&b->trace->steps[s]); a++) {
            const tensor *t = equation_input(&b->trace->steps[s], a);
            if (t && t->weight == w) return t;
        }
    return NULL;
}
