// cat.c: Convolution-Augmented Transformer (Li et al., AAAI 2025, Def. 1; docs/MECHANISMS.md#cat).
//   K = (X * F_k) W_k, the same for Q and V; then causal softmax attention.
//   maps (Table 2): no filters over time; A'_h = sum_g M_hg A_g
//   filter_norm (Theorem 1): rows of X * F scaled to unit length before the projection
//   value_filter = two_sided (Theorem 2's model): F_v has taps on W tokens ahead too; for a target at
//   the last position; value_positive: and none of its taps is negative
#include "mixer.h"
#include "filtered.h"

#define FILTER_NORMS(W) W(FILTER_NORM_NONE, "none") W(FILTER_NORM_QK, "qk") W(FILTER_NORM_QKV, "qkv")
#define VALUE_FILTERS(W) W(VALUE_CAUSAL, "causal") W(VALUE_TWO_SIDED, "two_sided")

typedef struct {
    filter_settings filters;
    filter_kind kind;
    enum { FILTER_NORMS(WORD_NAME) } norm;
    enum { VALUE_FILTERS(WORD_NAME) } value;
    int positive;
} cat_settings;

static const config_key keys[] = {
    KEY_FILTER(cat_settings),
    KEY_FILTERS(cat_settings),
    KEY_FILTER_KIND(cat_settings),
    WORD_KEY("filter_norm", cat_settings, norm, FILTER_NORMS, "none",
             "whose filtered rows are scaled to unit length (per_head only)", "mixer", KEY_RARE),
    WORD_KEY("value_filter", cat_settings, value, VALUE_FILTERS, "causal",
             "two_sided: the filter on v also has filter taps ahead (per_head only)", "mixer", KEY_RARE),
    FLAG_KEY(
        "value_positive", cat_settings, positive, "0|1", "0",
        "1: taps of the filter on v are squares, so that none is negative ([CAT] Theorem 2; per_head only)",
        "mixer", KEY_RARE),
    KEY_FILTER_START(cat_settings),
    KEY_FILTER_STD(cat_settings),
    {0},
};

static int check(const config *c, size_t length, smx_error *error) {
    (void)length;
    const cat_settings *s = c->mixer;
    if (check_filters(c, &s->filters, "qkv", error)) return -1;
    if (s->kind != FILTER_PER_HEAD) {
        if (s->norm != FILTER_NORM_NONE)
            return config_fail(error, c, "filter_norm",
                               "none with filter_kind=%s: the norm belongs to per_head filters",
                               config_get(c, "filter_kind"));
        if (s->value != VALUE_CAUSAL)
            return config_fail(error, c, "value_filter",
                               "causal with filter_kind=%s: taps ahead belong to per_head filters",
                               config_get(c, "filter_kind"));
        if (s->positive)
            return config_fail(error, c, "value_positive",
                               "0 with filter_kind=%s: squares belong to per_head filters",
                               config_get(c, "filter_kind"));
    }
    return check_heads(c, error);
}

static int two_sided(const cat_settings *s) {
    return s->value == VALUE_TWO_SIDED && is_filtered(&s->filters, 'v');
}

static tensor *build(graph *g, const config *c, tensor *x) {
    const cat_settings *s = c->mixer;
    const uint32_t H = (uint32_t)c->common.heads;
    tensor *qkv[3], *mix = NULL;
    if (s->kind == FILTER_MAPS) {
        qkv[0] = graph_name(g, projected(g, c, x, "w_q"), "q");
        qkv[1] = graph_name(g, projected(g, c, x, "w_k"), "k");
        qkv[2] = graph_name(g, projected(g, c, x, "w_v"), "v");
        init start = {INIT_IDENTITY_HEADS, s->filters.std};
        mix = graph_param(g, "filter_maps", start, 0, 2, (uint32_t[]){H, H});
    } else {
        const int multi_head = s->kind == FILTER_MULTI_HEAD;
        filtered_qkv(g, c, &s->filters, x,
                     (filter_opts){.multi_head = multi_head, .unit = s->norm != FILTER_NORM_NONE},
                     (filter_opts){.multi_head = multi_head,
                                   .unit = s->norm == FILTER_NORM_QKV,
                                   .positive = s->positive,
                                   .two_sided = two_sided(s)},
                     qkv);
    }
    tensor *o = graph_name(
        g, softmax_attention(g, c, qkv[0], qkv[1], qkv[2], (attention_opts){.causal = 1}, mix), "o");
    return output_projection(g, c, o);
}

static size_t lookahead(const config *c, size_t length) {
    const cat_settings *s = c->mixer;
    const size_t W = s->filters.taps;
    return !two_sided(s) ? 0 : W < length - 1 ? W : length - 1;
}

const mixer mixer_cat = {
    .name = "cat",
    .title = "CAT",
    .help =
        "Attention whose queries, keys and values first pass a short filter over time, so one block can look back.",
    .source = "Li, Zhang, Huang & Oymak 2025, Def. 1",
    .cost = "L^2 D + L W D",
    .keys = keys,
    .settings = sizeof(cat_settings),
    .check = check,
    .build = build,
    .lookahead = lookahead,
    .modes =
        MODES("filters=k~filters=none~filter_kind=multi_head~filter_kind=maps~filter_norm=qk~filter_norm=qkv~"
              "value_filter=two_sided~value_filter=two_sided&filter_norm=qkv&filter=99~position=rope"),
};
