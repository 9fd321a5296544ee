// retnet.c: multi-scale retention (Sun et al. 2023, Eqs. 5-8; docs/MECHANISMS.md#retnet): gated linear
// attention whose gates are fixed, one a head, and rotated queries and keys.
//   S_t = (1 - 2^{-5-h}) S_{t-1} + k_t v_t^T,  o_t = S_t^T q_t / sqrt(d)
//   out = (rms(o) gain o SiLU(X W_r)) W_o, rms by heads
#include "mixer.h"
#include "state_parts.h"

#include "kernels/mathd.h"

static int check(const config *c, size_t length, smx_error *error) {
    (void)length;
    if (check_heads_without_inner_position(c, error)) return -1;
    const size_t d = c->common.width / c->common.heads;
    return d % 2
               ? config_fail(error, c, "heads",
                             "such that a head's width is even (here %zu): retention turns pairs of columns",
                             d)
               : 0;
}

static tensor *build(graph *g, const config *c, tensor *x) {
    const size_t D = c->common.width, H = c->common.heads;
    tensor *q = op_rope(g, projected(g, c, x, "w_q"), H);
    tensor *k = op_rope(g, projected(g, c, x, "w_k"), H);
    tensor *v = graph_name(g, projected(g, c, x, "w_v"), "v");
    tensor *o =
        op_retention(g, graph_name(g, q, "q"), graph_name(g, k, "k"), v, H, 1 / md_sqrt((double)(D / H)));
    o = normed_heads(g, c, graph_name(g, o, "o"));
    tensor *r = op_silu(g, projected(g, c, x, "w_r"));
    return output_projection(g, c, op_mul(g, o, r));
}

const mixer mixer_retnet = {
    .name = "retnet",
    .title = "Retention",
    .help = "Linear attention whose state fades at a fixed pace, another one for each head.",
    .source = "Sun et al. 2023, Eqs. 5-8",
    .cost = "L D d",
    .defaults = "heads=2",
    .check = check,
    .build = build,
};
