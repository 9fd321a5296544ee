// attention.c: softmax attention, the baseline (Vaswani et al. 2017; MECHANISMS 1).
//   S = Q K^T / sqrt(d), masked j > i, A = softmax(S), O = A V, then W_o
#include "../mixer.h"
#include "../ops.h"
#include "attention_parts.h"

static const config_key keys[] = {
    {"causal", KEY_WORD, "1", 0, 0, "1|0", "1: a token sees only itself and what came before", "mixer"},
    {0},
};

static int check(const config *c, size_t length, smx_error *error) {
    (void)length;
    return check_heads(c, error);
}

static tensor *build(graph *g, const config *c, tensor *x) {
    size_t D = (size_t)config_int(c, "width");
    tensor *q = graph_name(g, op_linear(g, x, weight_matrix(g, "w_q", D, D, start_matrix(c, D, D)), NULL), "q");
    tensor *k = graph_name(g, op_linear(g, x, weight_matrix(g, "w_k", D, D, start_matrix(c, D, D)), NULL), "k");
    tensor *v = graph_name(g, op_linear(g, x, weight_matrix(g, "w_v", D, D, start_matrix(c, D, D)), NULL), "v");
    tensor *o = graph_name(g, softmax_attention(g, c, q, k, v, config_is(c, "causal", "1")), "o");
    return op_linear(g, o, weight_matrix(g, "w_o", D, D, start_output(c, D, D)), NULL);
}

static size_t reach(const config *c, size_t length) { return config_is(c, "causal", "1") ? 0 : length; }

const mixer mixer_attention = {
    .name = "attention",
    .title = "Softmax attention",
    .help = "Each token looks at all earlier ones and takes a weighted mean of their values.",
    .source = "Vaswani et al. 2017, Eq. 1",
    .cost = "L^2 D",
    .keys = keys,
    .check = check,
    .build = build,
    .reach = reach,
};
