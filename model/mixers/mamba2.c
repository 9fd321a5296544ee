// mamba2.c: Mamba-2's block (Dao & Gu 2024, Secs. 6-7; docs/MECHANISMS.md#mamba2):
// E = 2 D inner channels in heads.
//   u, B, C = SiLU(conv_4(X W)), B and C [L][N] shared by the heads;  dt = softplus(X W_dt + dt_bias) [L][H]
//   S_t = e^{-e^{a_log} dt_t} S_{t-1} + B_t (dt_t u_t)^T,  y_t = S_t^T C_t + skip u_t
//   out = rms(y o SiLU(X W_z)) gain W_o, rms over all E
#include "mixer.h"
#include "state_parts.h"

typedef struct {
    size_t states;
} mamba2_settings;

static const config_key keys[] = {
    INT_KEY("ssd_states", mamba2_settings, states, "16", 1, 256, "states of each channel (N of the paper)",
            "mixer"),
    {0},
};

static int check(const config *c, size_t length, smx_error *error) {
    (void)length;
    return check_heads_without_inner_position(c, error);
}

static tensor *build(graph *g, const config *c, tensor *x) {
    const size_t D = c->common.width, E = 2 * D, H = c->common.heads,
                 N = ((const mamba2_settings *)c->mixer)->states;
    tensor *u = graph_name(g, convolved(g, c, x, "w_x", "conv_x", E), "u");
    tensor *B = graph_name(g, convolved(g, c, x, "w_b", "conv_b", N), "b");
    tensor *C = graph_name(g, convolved(g, c, x, "w_c", "conv_c", N), "c");
    tensor *dt = graph_name(g, steps(g, c, x, "w_dt"), "dt");
    tensor *y = op_gla(g, C, B, u, dt, decays(g, dt, H), H, 1, 1.0);
    tensor *skip = op_spread(g, weight_vector(g, "skip", H, 1.0), E / H);
    y = graph_name(g, op_add(g, y, op_gain(g, u, skip)), "y");
    tensor *z = op_silu(g, state_matrix(g, c, x, "w_z", E));
    y = op_mul(g, y, z);
    y = op_rmsnorm(g, y, weight_vector(g, "gain", E, 1.0), 1);
    return op_linear(g, y, weight_matrix(g, "w_o", E, D, start_output(c, E, D)), NULL);
}

const mixer mixer_mamba2 = {
    .name = "mamba2",
    .title = "Mamba-2 (SSD)",
    .help = "Mamba with one decay a head and row, which makes the scan a gated linear attention.",
    .source = "Dao & Gu 2024",
    .cost = "L E N",
    .defaults = "norm=rms&embed_std=0.1",
    .keys = keys,
    .settings = sizeof(mamba2_settings),
    .check = check,
    .build = build,
    .modes = MODES("ssd_states=5"),
};
