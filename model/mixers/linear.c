// linear.c: causal linear attention (Katharopoulos et al. 2020; docs/MECHANISMS.md#linear).
//   o_t = q_t^T sum_{s <= t} k_s v_s^T, computed in tiles of C rows with a d x d state between them
//   sum: q and k through phi = elu + 1, o_t divided by phi(q_t).sum phi(k_s);
//   rms: each head's o_t by its root mean square
#include "mixer.h"
#include "attention_parts.h"

#define NORMALISERS(W) W(NORMALISER_SUM, "sum") W(NORMALISER_RMS, "rms") W(NORMALISER_NONE, "none")

typedef struct {
    enum { NORMALISERS(WORD_NAME) } normaliser;
    size_t tile;
} linear_settings;

static const config_key keys[] = {
    WORD_KEY("normaliser", linear_settings, normaliser, NORMALISERS, "sum",
             "sum: a weighted mean, by elu+1 features; rms: each head scaled to size 1; none", "mixer",
             KEY_RARE),
    KEY_TILE(linear_settings),
    {0},
};

static int check(const config *c, size_t length, smx_error *error) {
    (void)length;
    return check_heads_without_inner_position(c, error);
}

static tensor *build(graph *g, const config *c, tensor *x) {
    const linear_settings *s = c->mixer;
    tensor *q = graph_name(g, projected(g, c, x, "w_q"), "q");
    tensor *k = graph_name(g, projected(g, c, x, "w_k"), "k");
    tensor *v = graph_name(g, projected(g, c, x, "w_v"), "v");
    int normaliser = s->normaliser == NORMALISER_RMS ? SMX_LINATTN_RMS : SMX_LINATTN_NONE;
    if (s->normaliser == NORMALISER_SUM) {
        normaliser = SMX_LINATTN_SUM;
        q = op_elu1(g, q);
        k = op_elu1(g, k);
    }
    tensor *o = op_linear_attention(g, q, k, v, c->common.heads, normaliser, s->tile);
    return output_projection(g, c, graph_name(g, o, "o"));
}

const mixer mixer_linear = {
    .name = "linear",
    .title = "Linear attention",
    .help =
        "Attention without the softmax: a running sum of key-value products, so its cost grows with L only.",
    .source = "Katharopoulos et al. 2020, Eqs. 8-12",
    .cost = "L D (C + d)",
    .keys = keys,
    .settings = sizeof(linear_settings),
    .check = check,
    .build = build,
    .modes = MODES("normaliser=rms~normaliser=none~tile=1~tile=5&heads=2"),
};
