// attention_parts.c: what the mixers built on attention share.
#include "attention_parts.h"

#include "kernels/core/mathd.h"

int check_heads(const config *c, smx_error *error) {
    const size_t D = c->common.width, H = c->common.heads;
    if (D % H) return config_fail(error, c, "heads", "a divisor of width=%zu", D);
    if (c->common.position == POSITION_ROPE && D / H % 2)
        return config_fail(error, c, "position",
                           "something else than rope while a head has an odd width (%zu)", D / H);
    return 0;
}

int check_heads_without_inner_position(const config *c, smx_error *error) {
    const position_word position = c->common.position;
    if (position != POSITION_NONE && position != POSITION_LEARNED && position != POSITION_SINUSOIDAL)
        return config_fail(
            error, c, "position",
            "none, learned or sinusoidal with mixer=%s: rope and alibi live inside softmax attention",
            c->of_mixer.name);
    return check_heads(c, error);
}

tensor *projected(graph *g, const config *c, tensor *x, const char *w_name) {
    const size_t D = c->common.width;
    return op_linear(g, x, weight_matrix(g, w_name, D, D, start_matrix(c, D, D)), NULL);
}

tensor *output_projection(graph *g, const config *c, tensor *o) {
    const size_t D = c->common.width;
    return op_linear(g, o, weight_matrix(g, "w_o", D, D, start_output(c, D, D)), NULL);
}

tensor *softmax_attention(graph *g, const config *c, tensor *q, tensor *k, tensor *v, attention_opts opts,
                          tensor *mix) {
    const size_t H = c->common.heads, D = q->shape[q->rank - 1];
    const position_word position = c->common.position;
    opts.heads = H;
    if (position == POSITION_ROPE) {
        q = op_rope(g, q, H);
        k = op_rope(g, k, H);
    }
    if (position == POSITION_ALIBI) opts.bias = alibi_table(g, H, opts.chunk, 1.0);
    if (position == POSITION_ALIBI_SCALED)
        opts.bias = alibi_table(g, H, opts.chunk, 1.0 / md_sqrt((double)(D / H)));
    return mix ? op_attention_maps(g, q, k, v, mix, &opts) : op_attention(g, q, k, v, &opts);
}

size_t lookahead_of_chunk(size_t chunk, size_t length) {
    return (chunk && chunk < length ? chunk : length) - 1;
}
