// cat.c: Convolution-Augmented Transformer (Li et al., AAAI 2025, Def. 1; MECHANISMS 3).
//   K = (X * F_k) W_k, the same for Q and V; then causal softmax attention.
// Convolution over time and projection over width commute, so the filter runs after the projection: on D columns
// instead of H copies of them.
#include "../mixer.h"
#include "../ops.h"
#include "attention_parts.h"

#include <string.h>

static const config_key keys[] = {
    {"filter", KEY_INT, "3", 1, 4096, NULL, "taps of each filter (W)", "mixer"},
    {"filters", KEY_TEXT, "qkv", 0, 0, NULL, "which of q, k and v are filtered; none: plain attention", "mixer"},
    {"filter_kind", KEY_WORD, "per_head", 0, 0, "per_head|multi_head",
     "per_head: one filter a head; multi_head: heads also mix with each other", "mixer"},
    {"filter_std", KEY_REAL, "0.02", 0, 10, NULL, "noise around the identity tap at the start", "mixer"},
    {0},
};

static int check(const config *c, size_t length, smx_error *error) {
    (void)length;
    const char *on = config_word(c, "filters");
    if (strcmp(on, "none") && (strspn(on, "qkv") != strlen(on) || !*on))
        return config_fail(error, c, "filters", "some of the letters q, k and v, or none");
    return check_heads(c, error);
}

// (X * F) W, or X W where that filter is switched off.
static tensor *filtered(graph *g, const config *c, tensor *x, const char *which, const char *w_name, const char *f_name) {
    uint32_t D = (uint32_t)config_int(c, "width"), H = (uint32_t)config_int(c, "heads");
    uint32_t W = (uint32_t)config_int(c, "filter");
    tensor *y = op_linear(g, x, weight_matrix(g, w_name, D, D, start_matrix(c, D, D)), NULL);
    const char *on = config_word(c, "filters");
    if (strcmp(on, "none") && strchr(on, which[0])) {
        init start = {INIT_IDENTITY, config_real(c, "filter_std")};
        if (config_is(c, "filter_kind", "multi_head")) {
            start.kind = INIT_IDENTITY_HEADS;
            y = op_conv_heads(g, y, graph_param(g, f_name, start, 0, 3, (uint32_t[]){W, H, H}));
        } else {
            y = op_conv(g, y, graph_param(g, f_name, start, 0, 2, (uint32_t[]){H, W}), 0);
        }
    }
    return graph_name(g, y, which);
}

static tensor *build(graph *g, const config *c, tensor *x) {
    size_t D = (size_t)config_int(c, "width");
    tensor *q = filtered(g, c, x, "q", "w_q", "filter_q");
    tensor *k = filtered(g, c, x, "k", "w_k", "filter_k");
    tensor *v = filtered(g, c, x, "v", "w_v", "filter_v");
    tensor *o = graph_name(g, softmax_attention(g, c, q, k, v, 1), "o");
    return op_linear(g, o, weight_matrix(g, "w_o", D, D, start_output(c, D, D)), NULL);
}

static size_t reach(const config *c, size_t length) {
    (void)c, (void)length;
    return 0;
}

const mixer mixer_cat = {
    .name = "cat",
    .title = "CAT",
    .help = "Attention whose queries, keys and values first pass a short filter over time, so one block can look back.",
    .source = "Li, Zhang, Huang & Oymak 2025, Def. 1",
    .cost = "L^2 D + L W D",
    .keys = keys,
    .check = check,
    .build = build,
    .reach = reach,
};
