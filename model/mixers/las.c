// las.c: LaS attention (Zimerman & Wolf, ICML 2024, Eq. 4; docs/MECHANISMS.md#las).
//   A = softmax(exp(-alpha_h (i-j)) o S) over j <= i,
//   then AP(A) V: average pooling of every row over P columns
// Pooling commutes with V: AP(A) V = A (T V), (T V)_j = (1/P) sum of P rows of V around j (centred, literal:
// it sees (P-1)/2 tokens ahead) or up to j (trailing). masked: pooled, then cut to j <= i, which no fixed T
// gives; the kernel does it.
// causal = 0: every row sees every other, the decay goes by |i-j|.
#include "mixer.h"
#include "attention_parts.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/core/mathd.h"
#include "model/base/number.h"

#define POOLS(W)                                                                                             \
    W(POOL_TRAILING, "trailing") W(POOL_CENTRED, "centred") W(POOL_MASKED, "masked") W(POOL_NONE, "none")
#define LAS_DECAYS(W)                                                                                        \
    W(DECAY_EXP, "exp") W(DECAY_ALIBI, "alibi") W(DECAY_ALIBI_SCALED, "alibi_scaled") W(DECAY_NONE, "none")

typedef struct {
    enum { POOLS(WORD_NAME) } pool;
    enum { LAS_DECAYS(WORD_NAME) } decay;
    size_t window, chunk;
    int causal;
    double range;
    const char *alphas;
} las_settings;

static const config_key keys[] = {
    WORD_KEY(
        "pool", las_settings, pool, POOLS, "trailing",
        "averaging of the attention map: over past columns; around each (literal, sees ahead); around each, then cut; none (the L ablation)",
        "mixer"),
    INT_KEY("window", las_settings, window, "3", 1, 65535, "columns averaged (P); odd for centred and masked",
            "mixer"),
    WORD_KEY(
        "las_decay", las_settings, decay, LAS_DECAYS, "exp",
        "what weakens distant logits: a factor exp(-alpha distance), ALiBi's bias, or nothing (the S ablation)",
        "mixer"),
    REAL_KEY("decay_range", las_settings, range, "1", 0, 700,
             "largest alpha (B); exp(-alpha) is evenly spaced over the heads", "mixer"),
    TEXT_KEY("alphas", las_settings, alphas, "spaced",
             "decay of each head, separated by commas; spaced: by decay_range", "mixer", KEY_RARE),
    KEY_CHUNK(las_settings),
    KEY_CAUSAL(las_settings),
    {0},
};

// The alphas of the config. 0, or -1 when the text is not H non-negative numbers.
static int read_alphas(const las_settings *s, size_t H, double *alphas) {
    const char *text = s->alphas;
    if (!strcmp(text, "spaced")) {
        las_alphas(alphas, H, s->range);
        return 0;
    }
    for (size_t h = 0; h < H; h++) {
        char *end;
        alphas[h] = number_read(text, &end);
        if (end == text || *end != (h + 1 < H ? ',' : 0) || !(alphas[h] >= 0.0) || alphas[h] > 1e30)
            return -1;
        text = end + 1;
    }
    return 0;
}

static int check(const config *c, size_t length, smx_error *error) {
    (void)length;
    double alphas[LAS_MAX_HEADS];
    const las_settings *s = c->mixer;
    const size_t H = c->common.heads;
    if ((s->pool == POOL_CENTRED || s->pool == POOL_MASKED) && s->window % 2 == 0)
        return config_fail(error, c, "window", "odd with pool=%s, so that it has a middle",
                           config_get(c, "pool"));
    if (s->pool == POOL_MASKED && !s->causal)
        return config_fail(error, c, "pool",
                           "trailing, centred or none with causal=0: masked cuts to j <= i");
    if (read_alphas(s, H, alphas))
        return config_fail(error, c, "alphas",
                           "spaced, or heads=%zu non-negative numbers separated by commas", H);
    if (c->common.position == POSITION_ALIBI || c->common.position == POSITION_ALIBI_SCALED)
        return config_fail(error, c, "position",
                           "none, learned, sinusoidal or rope with mixer=las; las_decay=%s is LaS with ALiBi",
                           config_get(c, "position"));
    return check_heads(c, error);
}

// The factors by the config's alphas.
static const float *table_decay(graph *g, const las_settings *s, size_t H) {
    double alphas[LAS_MAX_HEADS];
    read_alphas(s, H, alphas);
    return decay_table(g, alphas, H, s->chunk);
}

static tensor *build(graph *g, const config *c, tensor *x) {
    const las_settings *s = c->mixer;
    const size_t H = c->common.heads, D = c->common.width, P = s->window, M = s->chunk;
    tensor *q = graph_name(g, projected(g, c, x, "w_q"), "q");
    tensor *k = graph_name(g, projected(g, c, x, "w_k"), "k");
    tensor *v = graph_name(g, projected(g, c, x, "w_v"), "v");
    attention_opts opts = {.causal = s->causal, .chunk = M};
    if (s->decay == DECAY_EXP) opts.decay_table = table_decay(g, s, H);
    if (s->decay == DECAY_ALIBI) opts.bias = alibi_table(g, H, M, 1.0);
    if (s->decay == DECAY_ALIBI_SCALED) opts.bias = alibi_table(g, H, M, 1.0 / md_sqrt((double)(D / H)));
    if (s->pool == POOL_CENTRED) v = graph_name(g, op_pool(g, v, P, (P - 1) / 2, M), "pooled_v");
    if (s->pool == POOL_TRAILING) v = graph_name(g, op_pool(g, v, P, 0, M), "pooled_v");
    if (s->pool == POOL_MASKED) opts.pool_window = P;
    tensor *o = graph_name(g, softmax_attention(g, c, q, k, v, opts, NULL), "o");
    return output_projection(g, c, o);
}

static size_t lookahead(const config *c, size_t length) {
    const las_settings *s = c->mixer;
    const size_t half = (s->window - 1) / 2, most = lookahead_of_chunk(s->chunk, length);
    if (!s->causal) return most;
    if (s->pool != POOL_CENTRED) return 0;
    return half < most ? half : most;
}

const mixer mixer_las = {
    .name = "las",
    .title = "LaS",
    .help =
        "Attention with two habits of long convolutions: near tokens count more (decay per head) and weights are smooth (pooling).",
    .source = "Zimerman & Wolf 2024, Eq. 4",
    .cost = "L^2 D + L P D; with chunk=M: L M D",
    .defaults = "heads=4",
    .keys = keys,
    .settings = sizeof(las_settings),
    .check = check,
    .build = build,
    .lookahead = lookahead,
    .modes =
        MODES("pool=centred&window=5~pool=masked&window=5~pool=trailing&window=4~pool=none~las_decay=none~"
              "las_decay=alibi&pool=masked~las_decay=alibi_scaled&pool=none~pool=centred&window=5&chunk=7~"
              "pool=masked&window=5&chunk=7~pool=trailing&chunk=7~pool=centred&window=99~causal=0~"
              "causal=0&pool=centred&window=5~causal=0&pool=none&las_decay=alibi&chunk=7"),
};
