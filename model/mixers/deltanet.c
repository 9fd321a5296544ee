// deltanet.c: the delta rule (Yang et al. 2024; docs/MECHANISMS.md#deltanet),
// and gated (Yang, Kautz & Hatamizadeh 2024).
//   q, k, v = SiLU(conv_4(X W)), q and k to unit rows by heads, beta = sigma(X W_beta)
//   R = e^{g_t} S_{t-1},  S_t = R + k_t (beta_t (v_t - R^T k_t))^T,  o_t = S_t^T q_t / sqrt(d)
//   out = (rms(o) gain) W_o
//   gated: g = -e^{a_log} softplus(X W_a + dt_bias), and rms(o) gain o SiLU(X W_gate)
#include "mixer.h"
#include "state_parts.h"

#include "kernels/mathd.h"

static int check(const config *c, size_t length, smx_error *error) {
    (void)length;
    return check_heads_without_inner_position(c, error);
}

static tensor *build_either(graph *g, const config *c, tensor *x, int gated) {
    const size_t D = c->common.width, H = c->common.heads;
    tensor *q = graph_name(g, op_unitnorm(g, convolved(g, c, x, "w_q", "conv_q", D), H), "q");
    tensor *k = graph_name(g, op_unitnorm(g, convolved(g, c, x, "w_k", "conv_k", D), H), "k");
    tensor *v = graph_name(g, convolved(g, c, x, "w_v", "conv_v", D), "v");
    tensor *beta = graph_name(g, op_sigmoid(g, state_matrix(g, c, x, "w_beta", H)), "beta");
    tensor *gates = gated ? graph_name(g, decays(g, steps(g, c, x, "w_a"), H), "gates") : NULL;
    tensor *o = op_delta(g, q, k, v, beta, gates, NULL, H, 1 / md_sqrt((double)(D / H)));
    o = normed_heads(g, c, graph_name(g, o, "o"));
    if (gated) {
        tensor *gate = op_silu(g, projected(g, c, x, "w_gate"));
        o = op_mul(g, o, gate);
    }
    return output_projection(g, c, o);
}
static tensor *build(graph *g, const config *c, tensor *x) { return build_either(g, c, x, 0); }
static tensor *build_gated(graph *g, const config *c, tensor *x) { return build_either(g, c, x, 1); }

const mixer mixer_deltanet = {
    .name = "deltanet",
    .title = "DeltaNet",
    .help = "A state that corrects itself: what it answers to a key moves towards the key's new value.",
    .source = "Yang et al. 2024",
    .cost = "L D d",
    .check = check,
    .build = build,
};
const mixer mixer_gated_deltanet = {
    .name = "gated_deltanet",
    .title = "Gated DeltaNet",
    .help = "DeltaNet whose state also fades, each head by a gate that every token sets.",
    .source = "Yang, Kautz & Hatamizadeh 2024",
    .cost = "L D d",
    .check = check,
    .build = build_gated,
};
