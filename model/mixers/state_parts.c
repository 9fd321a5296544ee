// state_parts.c: what the mixers that carry a state of keys and values share.
#include "state_parts.h"

enum { TAPS = 4 };

tensor *state_matrix(graph *g, const config *c, tensor *x, const char *w_name, size_t out) {
    const size_t in = x->shape[x->rank - 1];
    return op_linear(g, x, weight_matrix(g, w_name, in, out, start_matrix(c, in, out)), NULL);
}
tensor *convolved(graph *g, const config *c, tensor *x, const char *w_name, const char *conv_name,
                  size_t out) {
    tensor *y = state_matrix(g, c, x, w_name, out);
    tensor *taps =
        graph_param(g, conv_name, (init){INIT_UNIFORM, 0.5}, 0, 2, (uint32_t[]){(uint32_t)out, TAPS});
    return op_silu(g, op_conv(g, y, taps, 0));
}

tensor *normed_heads(graph *g, const config *c, tensor *o) {
    const size_t D = o->shape[o->rank - 1], H = c->common.heads;
    tensor *normed = op_rms(g, o, H);
    return op_gain(g, normed, weight_vector(g, "gain", D, 1.0));
}
tensor *decays(graph *g, tensor *dt, size_t heads) {
    tensor *a_log = graph_param(g, "a_log", (init){INIT_LOG_COUNT, 1}, 0, 1, (uint32_t[]){(uint32_t)heads});
    tensor *rate = op_exp(g, a_log);
    return op_gain(g, dt, op_scale(g, rate, -1.0));
}
tensor *steps(graph *g, const config *c, tensor *x, const char *w_name) {
    const size_t D = x->shape[x->rank - 1], H = c->common.heads;
    tensor *w = weight_matrix(g, w_name, D, H, start_matrix(c, D, H));
    tensor *bias = graph_param(g, "dt_bias", (init){INIT_STEP_PLUS, 1}, 0, 1, (uint32_t[]){(uint32_t)H});
    return op_softplus(g, op_linear(g, x, w, bias));
}
