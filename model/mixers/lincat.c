// lincat.c: LinCAT (Li et al., AAAI 2025, Sec. 3; docs/MECHANISMS.md#lincat):
// CAT's filtered q, k and v into linear attention.
//   K = (X * F_k) W_k, the same for Q and V;
//   o_t = phi(q_t)^T sum phi(k_s) v_s^T / phi(q_t).sum phi(k_s), s <= t, phi = elu + 1
#include "mixer.h"
#include "filtered.h"

typedef struct {
    filter_settings filters;
    filter_kind kind;
    size_t tile;
} lincat_settings;

static const config_key keys[] = {
    KEY_FILTER(lincat_settings),
    KEY_FILTERS(lincat_settings),
    KEY_FILTER_KIND(lincat_settings),
    KEY_FILTER_START(lincat_settings),
    KEY_FILTER_STD(lincat_settings),
    KEY_TILE(lincat_settings),
    {0},
};

static int check(const config *c, size_t length, smx_error *error) {
    (void)length;
    const lincat_settings *s = c->mixer;
    if (s->kind == FILTER_MAPS)
        return config_fail(error, c, "filter_kind",
                           "per_head or multi_head with mixer=lincat: linear attention has no maps to mix");
    return check_filters(c, &s->filters, "qkv", error) ? -1 : check_heads_without_inner_position(c, error);
}

static tensor *build(graph *g, const config *c, tensor *x) {
    const lincat_settings *s = c->mixer;
    filter_opts opts = {.multi_head = s->kind == FILTER_MULTI_HEAD};
    tensor *qkv[3];
    filtered_qkv(g, c, &s->filters, x, opts, opts, qkv);
    tensor *q = op_elu1(g, qkv[0]);
    tensor *k = op_elu1(g, qkv[1]);
    tensor *o = op_linear_attention(g, q, k, qkv[2], c->common.heads, SMX_LINATTN_SUM, s->tile);
    return output_projection(g, c, graph_name(g, o, "o"));
}

const mixer mixer_lincat = {
    .name = "lincat",
    .title = "LinCAT",
    .help = "CAT with linear attention: filters over time, then a running sum instead of a softmax.",
    .source = "Li, Zhang, Huang & Oymak 2025, Sec. 3",
    .cost = "L D (W + d)",
    .keys = keys,
    .settings = sizeof(lincat_settings),
    .check = check,
    .build = build,
    .modes = MODES("filter_kind=multi_head~filters=k~tile=5"),
};
