// state_parts.c: what the mixers that carry a state of keys and values share.
#include "state_parts.h"

tensor *state_matrix(graph *g, const config *c, tensor *x, const char *w_name, size_t out) {
    const size_t in = x->shape[x->rank - 1];
    return op_linear(g, x, weight_matrix(g, w_name, in, out, start_matrix(c, in, out)), NULL);
}
tensor *normed_heads(graph *g, const config *c, tensor *o) {
    const size_t D = o->shape[o->rank - 1], H = c->common.heads;
    tensor *normed = op_rms(g, o, H);
    return op_gain(g, normed, weight_vector(g, "gain", D, 1.0));
}
