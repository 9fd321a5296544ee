// attention.c: softmax attention, the baseline (Vaswani et al. 2017; MECHANISMS 1).
//   S = Q K^T / sqrt(d), masked j > i, A = softmax(S), O = A V, then W_o
// chunk = M: rows [0,M), [M,2M), ... attend among themselves only (local attention in blocks).
#include "mixer.h"
#include "attention_parts.h"

static const config_key keys[] = {
    {"causal", KEY_WORD, "1", 0, 0, "1|0", "1: a token sees only itself and what came before", "mixer"},
    KEY_CHUNK,
    {0},
};

static int check(const config *c, size_t length, smx_error *error) {
    (void)length;
    return check_heads(c, error);
}

static tensor *build(graph *g, const config *c, tensor *x) {
    attention_opts opts = {.causal = config_is(c, "causal", "1"), .chunk = (size_t)config_int(c, "chunk")};
    tensor *q = graph_name(g, projected(g, c, x, "w_q"), "q");
    tensor *k = graph_name(g, projected(g, c, x, "w_k"), "k");
    tensor *v = graph_name(g, projected(g, c, x, "w_v"), "v");
    tensor *o = graph_name(g, softmax_attention(g, c, q, k, v, opts, NULL), "o");
    return output_projection(g, c, o);
}

static size_t reach(const config *c, size_t length) {
    return config_is(c, "causal", "1") ? 0 : reach_of_chunk(c, length);
}

const mixer mixer_attention = {
    .name = "attention",
    .title = "Softmax attention",
    .help = "Each token looks at all earlier ones and takes a weighted mean of their values.",
    .source = "Vaswani et al. 2017, Eq. 1",
    .cost = "L^2 D; with chunk=M: L M D",
    .keys = keys,
    .check = check,
    .build = build,
    .reach = reach,
    .modes = MODES(
        "position=rope~position=alibi~position=alibi_scaled~chunk=7~causal=0~causal=0&position=alibi~causal=0&chunk=7"),
};
