// cat.c: Convolution-Augmented Transformer (Li et al., AAAI 2025, Def. 1; MECHANISMS 3).
//   K = (X * F_k) W_k, the same for Q and V; then causal softmax attention.
//   maps (Table 2): no filters over time; A'_h = sum_g M_hg A_g
//   filter_norm (Theorem 1): rows of X * F scaled to unit length before the projection
//   value_filter = two_sided (Theorem 2's model): F_v has taps on W tokens ahead too; for a target at the last position
#include "mixer.h"
#include "filtered.h"

static const config_key keys[] = {
    KEY_FILTER,
    KEY_FILTERS,
    KEY_FILTER_KIND,
    {"filter_norm", KEY_WORD, "none", 0, 0, "none|qk|qkv",
     "whose filtered rows are scaled to unit length (per_head only)", "mixer"},
    {"value_filter", KEY_WORD, "causal", 0, 0, "causal|two_sided",
     "two_sided: the filter on v also has filter taps ahead (per_head only)", "mixer"},
    KEY_FILTER_START,
    KEY_FILTER_STD,
    {0},
};

static int check(const config *c, size_t length, smx_error *error) {
    (void)length;
    if (check_filters(c, "qkv", error)) return -1;
    if (!config_is(c, "filter_kind", "per_head")) {
        if (!config_is(c, "filter_norm", "none"))
            return config_fail(error, c, "filter_norm",
                               "none with filter_kind=%s: the norm belongs to per_head filters",
                               config_word(c, "filter_kind"));
        if (!config_is(c, "value_filter", "causal"))
            return config_fail(error, c, "value_filter",
                               "causal with filter_kind=%s: taps ahead belong to per_head filters",
                               config_word(c, "filter_kind"));
    }
    return check_heads(c, error);
}

static int two_sided(const config *c) {
    return config_is(c, "value_filter", "two_sided") && is_filtered(c, 'v');
}

static tensor *build(graph *g, const config *c, tensor *x) {
    uint32_t H = (uint32_t)config_int(c, "heads");
    tensor *qkv[3], *mix = NULL;
    if (config_is(c, "filter_kind", "maps")) {
        qkv[0] = graph_name(g, projected(g, c, x, "w_q"), "q");
        qkv[1] = graph_name(g, projected(g, c, x, "w_k"), "k");
        qkv[2] = graph_name(g, projected(g, c, x, "w_v"), "v");
        init start = {INIT_IDENTITY_HEADS, config_real(c, "filter_std")};
        mix = graph_param(g, "filter_maps", start, 0, 2, (uint32_t[]){H, H});
    } else {
        const int multi_head = config_is(c, "filter_kind", "multi_head");
        filtered_qkv(g, c, x,
                     (filter_opts){.multi_head = multi_head, .unit = !config_is(c, "filter_norm", "none")},
                     (filter_opts){.multi_head = multi_head,
                                   .unit = config_is(c, "filter_norm", "qkv"),
                                   .two_sided = two_sided(c)},
                     qkv);
    }
    tensor *o = graph_name(
        g, softmax_attention(g, c, qkv[0], qkv[1], qkv[2], (attention_opts){.causal = 1}, mix), "o");
    return output_projection(g, c, o);
}

static size_t reach(const config *c, size_t length) {
    size_t W = (size_t)config_int(c, "filter");
    return !two_sided(c) ? 0 : W < length - 1 ? W : length - 1;
}

const mixer mixer_cat = {
    .name = "cat",
    .title = "CAT",
    .help =
        "Attention whose queries, keys and values first pass a short filter over time, so one block can look back.",
    .source = "Li, Zhang, Huang & Oymak 2025, Def. 1",
    .cost = "L^2 D + L W D",
    .keys = keys,
    .check = check,
    .build = build,
    .reach = reach,
    .modes =
        MODES("filters=k~filters=none~filter_kind=multi_head~filter_kind=maps~filter_norm=qk~filter_norm=qkv~"
              "value_filter=two_sided~value_filter=two_sided&filter_norm=qkv&filter=99~position=rope"),
};
