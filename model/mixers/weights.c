// weights.c: see weights.h.
#include "weights.h"

#include "kernels/core/mathd.h"

tensor *weight_matrix(graph *g, const char *name, size_t in, size_t out, init start) {
    return graph_param(g, name, start, 1, 2, (uint32_t[]){(uint32_t)in, (uint32_t)out});
}
tensor *weight_vector(graph *g, const char *name, size_t n, double start) {
    return graph_param(g, name, (init){INIT_CONSTANT, start}, 0, 1, (uint32_t[]){(uint32_t)n});
}

init start_matrix(const config *c, size_t in, size_t out) {
    if (c->common.init == START_NORMAL) return (init){INIT_NORMAL, 0.02};
    if (c->common.init == START_XAVIER) return (init){INIT_UNIFORM, md_sqrt(6.0 / (double)(in + out))};
    return (init){INIT_NORMAL, 1.0 / md_sqrt((double)in)};
}
init start_output(const config *c, size_t in, size_t out) {
    init s = start_matrix(c, in, out);
    s.scale /= md_sqrt(2.0 * (double)c->common.blocks);
    return s;
}
