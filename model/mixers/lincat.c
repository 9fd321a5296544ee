// lincat.c: LinCAT (Li et al., AAAI 2025, Sec. 3; MECHANISMS 3, 6): CAT's filtered q, k and v into linear attention.
//   K = (X * F_k) W_k, the same for Q and V;  o_t = phi(q_t)^T sum phi(k_s) v_s^T / phi(q_t).sum phi(k_s), s <= t, phi = elu + 1
#include "mixer.h"
#include "filtered.h"

static const config_key keys[] = {
    KEY_FILTER, KEY_FILTERS, KEY_FILTER_KIND, KEY_FILTER_START, KEY_FILTER_STD, KEY_TILE, {0},
};

static int check(const config *c, size_t length, smx_error *error) {
    (void)length;
    if (config_is(c, "filter_kind", "maps"))
        return config_fail(error, c, "filter_kind",
                           "per_head or multi_head with mixer=lincat: linear attention has no maps to mix");
    return check_filters(c, "qkv", error) ? -1 : check_heads_without_inner_position(c, error);
}

static tensor *build(graph *g, const config *c, tensor *x) {
    filter_opts opts = {.multi_head = config_is(c, "filter_kind", "multi_head")};
    tensor *qkv[3];
    filtered_qkv(g, c, x, opts, opts, qkv);
    tensor *q = op_elu1(g, qkv[0]);
    tensor *k = op_elu1(g, qkv[1]);
    tensor *o = op_linear_attention(g, q, k, qkv[2], (size_t)config_int(c, "heads"), SMX_LINATTN_SUM,
                                    (size_t)config_int(c, "tile"));
    return output_projection(g, c, graph_name(g, o, "o"));
}

const mixer mixer_lincat = {
    .name = "lincat",
    .title = "LinCAT",
    .help = "CAT with linear attention: filters over time, then a running sum instead of a softmax.",
    .source = "Li, Zhang, Huang & Oymak 2025, Sec. 3",
    .cost = "L D (W + d)",
    .keys = keys,
    .check = check,
    .build = build,
    .modes = MODES("filter_kind=multi_head~filters=k~tile=5"),
};
