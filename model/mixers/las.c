// las.c: LaS attention (Zimerman & Wolf, ICML 2024, Eq. 4; MECHANISMS 2).
//   A = softmax(exp(-alpha_h (i-j)) o S) over j <= i, then AP(A) V: average pooling of every row over P columns
// Pooling commutes with V: AP(A) V = A (T V), (T V)_j = (1/P) sum of P rows of V around j (centred, literal: it sees (P-1)/2
// tokens ahead) or up to j (trailing). masked: pooled, then cut to j <= i, which no fixed T gives; the kernel does it.
#include "mixer.h"
#include "attention_parts.h"
#include "las.h"

#include <stdlib.h>

#include "kernels/mathd.h"
#include "model/base/number.h"

static const config_key keys[] = {
    {"pool", KEY_WORD, "trailing", 0, 0, "trailing|centred|masked|none",
     "averaging of the attention map: over past columns; around each (literal, sees ahead); around each, then cut; none (the L ablation)",
     "mixer"},
    {"window", KEY_INT, "3", 1, 65535, NULL, "columns averaged (P); odd for centred and masked", "mixer"},
    {"las_decay", KEY_WORD, "exp", 0, 0, "exp|alibi|alibi_scaled|none",
     "what weakens distant logits: a factor exp(-alpha distance), ALiBi's bias, or nothing (the S ablation)",
     "mixer"},
    {"decay_range", KEY_REAL, "1", 0, 700, NULL,
     "largest alpha (B); exp(-alpha) is evenly spaced over the heads", "mixer"},
    {"alphas", KEY_TEXT, "spaced", 0, 0, NULL,
     "decay of each head, separated by commas; spaced: by decay_range", "mixer"},
    KEY_CHUNK,
    {0},
};

// alpha_h = -ln((H-1-h + h e^-B) / (H-1)): finite for large B, alpha_0 = 0; one head does not decay.
void las_alphas(double *alphas, size_t H, double B) {
    for (size_t h = 0; h < H; h++) {
        double last = (double)(H - 1);
        alphas[h] = H == 1 ? 0.0 : -md_log(((last - (double)h) + (double)h * md_exp(-B)) / last);
    }
}

// The alphas of the config. 0, or -1 when the text is not H non-negative numbers.
static int read_alphas(const config *c, double *alphas) {
    size_t H = (size_t)config_int(c, "heads");
    if (config_is(c, "alphas", "spaced")) {
        las_alphas(alphas, H, config_real(c, "decay_range"));
        return 0;
    }
    const char *text = config_word(c, "alphas");
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
    if ((config_is(c, "pool", "centred") || config_is(c, "pool", "masked")) &&
        config_int(c, "window") % 2 == 0)
        return config_fail(error, c, "window", "odd with pool=%s, so that it has a middle",
                           config_word(c, "pool"));
    if (read_alphas(c, alphas))
        return config_fail(error, c, "alphas",
                           "spaced, or heads=%lld non-negative numbers separated by commas",
                           (long long)config_int(c, "heads"));
    if (config_is(c, "position", "alibi") || config_is(c, "position", "alibi_scaled"))
        return config_fail(error, c, "position",
                           "none, learned, sinusoidal or rope with mixer=las; las_decay=%s is LaS with ALiBi",
                           config_word(c, "position"));
    return check_heads(c, error);
}

void las_decay(float *mult, const double *alphas, size_t H, size_t L) {
    for (size_t h = 0; h < H; h++)
        for (size_t at = 0; at < 2 * L - 1; at++) {
            const double factor = at < L ? md_exp(-alphas[h] * (double)(L - 1 - at)) : 1.0;
            mult[h * (2 * L - 1) + at] = factor < 0x1p-60 ? 0.0f : (float)factor;
        }
}

// The same by the config's alphas; the graph owns it.
static const float *table_decay(graph *g, const config *c, size_t H) {
    double alphas[LAS_MAX_HEADS];
    size_t L = g->L;
    float *t = graph_own(g, H * (2 * L - 1) * sizeof *t);
    read_alphas(c, alphas);
    if (t) las_decay(t, alphas, H, L);
    return t;
}

static tensor *build(graph *g, const config *c, tensor *x) {
    size_t H = (size_t)config_int(c, "heads"), D = (size_t)config_int(c, "width");
    size_t P = (size_t)config_int(c, "window"), M = (size_t)config_int(c, "chunk");
    tensor *q = graph_name(g, projected(g, c, x, "w_q"), "q");
    tensor *k = graph_name(g, projected(g, c, x, "w_k"), "k");
    tensor *v = graph_name(g, projected(g, c, x, "w_v"), "v");
    attention_opts opts = {.causal = 1, .chunk = M};
    if (config_is(c, "las_decay", "exp")) opts.decay_table = table_decay(g, c, H);
    if (config_is(c, "las_decay", "alibi")) opts.bias = table_alibi(g, H, 1.0);
    if (config_is(c, "las_decay", "alibi_scaled"))
        opts.bias = table_alibi(g, H, 1.0 / md_sqrt((double)(D / H)));
    if (config_is(c, "pool", "centred")) v = graph_name(g, op_pool(g, v, P, (P - 1) / 2, M), "pooled_v");
    if (config_is(c, "pool", "trailing")) v = graph_name(g, op_pool(g, v, P, 0, M), "pooled_v");
    if (config_is(c, "pool", "masked")) opts.pool_window = P;
    tensor *o = graph_name(g, softmax_attention(g, c, q, k, v, opts, NULL), "o");
    return output_projection(g, c, o);
}

static size_t reach(const config *c, size_t length) {
    if (!config_is(c, "pool", "centred")) return 0;
    size_t half = (size_t)(config_int(c, "window") - 1) / 2, most = reach_of_chunk(c, length);
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
    .check = check,
    .build = build,
    .reach = reach,
    .modes =
        MODES("pool=centred&window=5~pool=masked&window=5~pool=trailing&window=4~pool=none~las_decay=none~"
              "las_decay=alibi&pool=masked~las_decay=alibi_scaled&pool=none~pool=centred&window=5&chunk=7~"
              "pool=masked&window=5&chunk=7~pool=trailing&chunk=7~pool=centred&window=99"),
};
