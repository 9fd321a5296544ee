// gla.c: gated linear attention (Yang et al. 2023, Sec. 4; docs/MECHANISMS.md#gla),
// gates of each row and key channel.
//   S_t = diag(e^{g_t}) S_{t-1} + k_t v_t^T,  o_t = S_t^T q_t / sqrt(d),
//   g = logsigmoid(X W_g1 W_g2 + b_g) / 16
//   out = (rms(o) gain o SiLU(X W_r + b_r)) W_o, rms by heads
#include "mixer.h"
#include "state_parts.h"

#include "kernels/mathd.h"

typedef struct {
    size_t rank;
} gla_settings;

static const config_key keys[] = {
    INT_KEY("gate_rank", gla_settings, rank, "16", 1, 65536, "inner width of the gates' two matrices",
            "mixer", KEY_RARE),
    {0},
};

static int check(const config *c, size_t length, smx_error *error) {
    (void)length;
    return check_heads_without_inner_position(c, error);
}

static tensor *build(graph *g, const config *c, tensor *x) {
    const size_t D = c->common.width, H = c->common.heads, rank = ((const gla_settings *)c->mixer)->rank;
    tensor *q = graph_name(g, projected(g, c, x, "w_q"), "q");
    tensor *k = graph_name(g, projected(g, c, x, "w_k"), "k");
    tensor *v = graph_name(g, projected(g, c, x, "w_v"), "v");
    tensor *low = state_matrix(g, c, x, "w_g1", rank);
    tensor *w_g2 = weight_matrix(g, "w_g2", rank, D, start_matrix(c, rank, D));
    tensor *z = op_linear(g, low, w_g2, weight_vector(g, "b_g", D, 0.0));
    tensor *closing = op_softplus(g, op_scale(g, z, -1.0)); // -logsigmoid
    tensor *gates = graph_name(g, op_scale(g, closing, -1.0 / 16), "gates");
    tensor *o = op_gla(g, q, k, v, NULL, gates, H, 0, 1 / md_sqrt((double)(D / H)));
    o = normed_heads(g, c, graph_name(g, o, "o"));
    tensor *w_r = weight_matrix(g, "w_r", D, D, start_matrix(c, D, D));
    tensor *r = op_silu(g, op_linear(g, x, w_r, weight_vector(g, "b_r", D, 0.0)));
    return output_projection(g, c, op_mul(g, o, r));
}

const mixer mixer_gla = {
    .name = "gla",
    .title = "Gated linear attention",
    .help =
        "Linear attention whose state fades, each key channel by a gate of its own that every token sets.",
    .source = "Yang et al. 2023, Eq. 3",
    .cost = "L D d",
    .keys = keys,
    .settings = sizeof(gla_settings),
    .check = check,
    .build = build,
    .modes = MODES("gate_rank=3"),
};
