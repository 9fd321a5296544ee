// based.c: the linear attention of Based (Arora et al. 2024, Sec. 4; docs/MECHANISMS.md#based): softmax's
// exponential to the second term of its series, so that the past fits into one state. The published model has
// layers of sliding-window softmax between (mixers=based,attention).
//   w_ts = 1 + s + s^2 / 2, s = q_t . k_s / sqrt(d'),  o_t = sum_{s<=t} w_ts v_s / sum_{s<=t} w_ts
//   q, k of d' columns a head;  out = o W_o
#include "mixer.h"
#include "state_parts.h"

typedef struct {
    size_t features;
} based_settings;

static const config_key keys[] = {
    INT_KEY("feature_width", based_settings, features, "16", 1, 64,
            "columns of a head's queries and keys (d'); its state has 1 + d' + d' (d' + 1) / 2 rows",
            "mixer"),
    {0},
};

static int check(const config *c, size_t length, smx_error *error) {
    (void)length;
    return check_heads_without_inner_position(c, error);
}

static tensor *build(graph *g, const config *c, tensor *x) {
    const size_t H = c->common.heads, wide = H * ((const based_settings *)c->mixer)->features;
    tensor *q = graph_name(g, state_matrix(g, c, x, "w_q", wide), "q");
    tensor *k = graph_name(g, state_matrix(g, c, x, "w_k", wide), "k");
    tensor *v = graph_name(g, projected(g, c, x, "w_v"), "v");
    return output_projection(g, c, graph_name(g, op_taylor_attention(g, q, k, v, H), "o"));
}

const mixer mixer_based = {
    .name = "based",
    .title = "Based (Taylor attention)",
    .help = "Linear attention that weighs pairs by the first terms of softmax's exponential.",
    .source = "Arora et al. 2024, Sec. 4",
    .cost = "L d'^2 D",
    .keys = keys,
    .settings = sizeof(based_settings),
    .check = check,
    .build = build,
    .modes = MODES("feature_width=3"),
};
