// attention_parts.c: what the mixers built on attention share.
#include "attention_parts.h"

#include "kernels/mathd.h"

int check_heads(const config *c, smx_error *error) {
    int64_t D = config_int(c, "width"), H = config_int(c, "heads");
    if (D % H) return config_fail(error, c, "heads", "a divisor of width=%lld", (long long)D);
    if (config_is(c, "position", "rope") && D / H % 2)
        return config_fail(error, c, "position",
                           "something else than rope while a head has an odd width (%lld)",
                           (long long)(D / H));
    return 0;
}

int check_heads_without_inner_position(const config *c, smx_error *error) {
    if (!config_is(c, "position", "none") && !config_is(c, "position", "learned") &&
        !config_is(c, "position", "sinusoidal"))
        return config_fail(
            error, c, "position",
            "none, learned or sinusoidal with mixer=%s: rope and alibi live inside softmax attention",
            config_word(c, "mixer"));
    return check_heads(c, error);
}

tensor *projected(graph *g, const config *c, tensor *x, const char *w_name) {
    size_t D = (size_t)config_int(c, "width");
    return op_linear(g, x, weight_matrix(g, w_name, D, D, start_matrix(c, D, D)), NULL);
}

tensor *output_projection(graph *g, const config *c, tensor *o) {
    size_t D = (size_t)config_int(c, "width");
    return op_linear(g, o, weight_matrix(g, "w_o", D, D, start_output(c, D, D)), NULL);
}

const float *table_alibi(graph *g, size_t heads, double scale) {
    size_t L = g->L;
    float *t = graph_own(g, heads * (2 * L - 1) * sizeof *t);
    for (size_t h = 0; t && h < heads; h++) {
        double slope = scale * md_exp(-8.0 * (double)(h + 1) / (double)heads * 0.69314718055994530942);
        for (size_t i = 0; i < 2 * L - 1; i++) {
            double distance = i < L - 1 ? (double)(L - 1 - i) : (double)(i - (L - 1));
            t[h * (2 * L - 1) + i] = (float)(-slope * distance);
        }
    }
    return t;
}

tensor *softmax_attention(graph *g, const config *c, tensor *q, tensor *k, tensor *v, attention_opts opts,
                          tensor *mix) {
    size_t H = (size_t)config_int(c, "heads"), D = q->shape[q->rank - 1];
    opts.heads = H;
    if (config_is(c, "position", "rope")) {
        q = op_rope(g, q, H);
        k = op_rope(g, k, H);
    }
    if (config_is(c, "position", "alibi")) opts.bias = table_alibi(g, H, 1.0);
    if (config_is(c, "position", "alibi_scaled"))
        opts.bias = table_alibi(g, H, 1.0 / md_sqrt((double)(D / H)));
    return mix ? op_attention_maps(g, q, k, v, mix, &opts) : op_attention(g, q, k, v, &opts);
}

size_t reach_of_chunk(const config *c, size_t length) {
    size_t M = (size_t)config_int(c, "chunk");
    return (M && M < length ? M : length) - 1;
}
