// attention.c: softmax attention, the baseline (Vaswani et al. 2017; docs/MECHANISMS.md#attention).
//   S = Q K^T / sqrt(d), masked j > i, A = softmax(S), O = A V, then W_o
// chunk = M: rows [0,M), [M,2M), ... attend among themselves only (local attention in blocks).
// sliding = W: row i sees the W rows that end with it.
#include "mixer.h"
#include "attention_parts.h"

typedef struct {
    int causal;
    size_t chunk, sliding;
} attention_settings;

static const config_key keys[] = {
    KEY_CAUSAL(attention_settings),
    KEY_CHUNK(attention_settings),
    INT_KEY("sliding", attention_settings, sliding, "0", 0, 1 << 20,
            "a token sees so many tokens, itself the last of them; 0: all before it", "mixer"),
    {0},
};

static int check(const config *c, size_t length, smx_error *error) {
    (void)length;
    const attention_settings *s = c->mixer;
    if (s->sliding && !s->causal) return config_fail(error, c, "sliding", "0 with causal=0");
    return check_heads(c, error);
}

static tensor *build(graph *g, const config *c, tensor *x) {
    const attention_settings *s = c->mixer;
    attention_opts opts = {.causal = s->causal, .chunk = s->chunk, .sliding = s->sliding};
    tensor *q = graph_name(g, projected(g, c, x, "w_q"), "q");
    tensor *k = graph_name(g, projected(g, c, x, "w_k"), "k");
    tensor *v = graph_name(g, projected(g, c, x, "w_v"), "v");
    tensor *o = graph_name(g, softmax_attention(g, c, q, k, v, opts, NULL), "o");
    return output_projection(g, c, o);
}

static size_t lookahead(const config *c, size_t length) {
    const attention_settings *s = c->mixer;
    return s->causal ? 0 : lookahead_of_chunk(s->chunk, length);
}

const mixer mixer_attention = {
    .name = "attention",
    .title = "Softmax attention",
    .help = "Each token looks at all earlier ones and takes a weighted mean of their values.",
    .source = "Vaswani et al. 2017, Eq. 1",
    .cost = "L^2 D; with chunk=M: L M D; with sliding=W: L W D",
    .keys = keys,
    .settings = sizeof(attention_settings),
    .check = check,
    .build = build,
    .lookahead = lookahead,
    .modes = MODES(
        "position=rope~position=alibi~position=alibi_scaled~chunk=7~sliding=5~sliding=6&position=alibi~sliding=3&chunk=7~causal=0~causal=0&position=alibi~causal=0&chunk=7"),
};
