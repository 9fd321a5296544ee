// mamba.c: Mamba's block around the selective scan S6 (Gu & Dao 2023, "Mamba", Alg. 2 and Fig. 3), a
// comparator.
//   x' = SiLU(conv(X W_x) + b_conv),  depthwise, causal, W taps, on E D channels
//   dt = softplus(x' W_dt1 W_dt2 + b_dt),  B = x' W_B,  C = x' W_C
//   h_t[s] = exp(dt_t A_s) h_{t-1}[s] + dt_t B_t[s] x'_t,  y_t = C_t . h_t + skip x'_t,  A = -exp(a_log)
//   o = (y o SiLU(X W_z)) W_o
// Starts as in the authors' program: A_s = -(s + 1), softplus(b_dt) log-uniform in [0.001, 0.1],
// W_dt2 U(+-rank^-1/2).
#include "mixer.h"
#include "attention_parts.h"

#include "kernels/core/mathd.h"

typedef struct {
    size_t states, conv, expand;
} mamba_settings;

static const config_key keys[] = {
    INT_KEY("mamba_states", mamba_settings, states, "16", 1, 256, "states of each channel (N of the paper)",
            "mixer"),
    INT_KEY("mamba_conv", mamba_settings, conv, "4", 1, 256, "taps of the convolution before the scan",
            "mixer"),
    INT_KEY("expand", mamba_settings, expand, "2", 1, 16, "inner channels as a multiple of width (E)",
            "mixer"),
    {0},
};

static int check(const config *c, size_t length, smx_error *error) {
    (void)length;
    return check_heads_without_inner_position(c, error);
}

static tensor *matrix(graph *g, const config *c, tensor *x, const char *name, size_t out) {
    size_t in = x->shape[x->rank - 1];
    return op_linear(g, x, weight_matrix(g, name, in, out, start_matrix(c, in, out)), NULL);
}

static tensor *build(graph *g, const config *c, tensor *x) {
    const mamba_settings *s = c->mixer;
    const size_t D = x->shape[x->rank - 1], E = D * s->expand, rank = (D + 15) / 16;
    const size_t S = s->states, W = s->conv;
    const uint32_t taps[] = {(uint32_t)E, (uint32_t)W}, states[] = {(uint32_t)E, (uint32_t)S},
                   inner = (uint32_t)E;
    tensor *u = matrix(g, c, x, "w_x", E);
    u = op_conv(g, u, graph_param(g, "conv_k", (init){INIT_UNIFORM, 1.0 / md_sqrt((double)W)}, 0, 2, taps),
                0);
    u = op_bias(g, u, weight_vector(g, "conv_b", E, 0.0));
    u = graph_name(g, op_silu(g, u), "u");
    tensor *low = matrix(g, c, u, "w_dt1", rank);
    tensor *w_dt = weight_matrix(g, "w_dt2", rank, E, (init){INIT_UNIFORM, 1.0 / md_sqrt((double)rank)});
    tensor *b_dt = graph_param(g, "b_dt", (init){INIT_STEP_PLUS, 1}, 0, 1, &inner);
    tensor *dt = graph_name(g, op_softplus(g, op_linear(g, low, w_dt, b_dt)), "dt");
    tensor *B = graph_name(g, matrix(g, c, u, "w_b", S), "b");
    tensor *C = graph_name(g, matrix(g, c, u, "w_c", S), "c");
    tensor *a_log = graph_param(g, "a_log", (init){INIT_LOG_COUNT, 1}, 0, 2, states);
    tensor *y =
        graph_name(g, op_selective_scan(g, u, dt, a_log, B, C, weight_vector(g, "skip", E, 1.0)), "y");
    tensor *z = op_silu(g, matrix(g, c, x, "w_z", E));
    tensor *gated = op_mul(g, y, z);
    return op_linear(g, gated, weight_matrix(g, "w_o", E, D, start_output(c, E, D)), NULL);
}

const mixer mixer_mamba = {
    .name = "mamba",
    .title = "Mamba (S6)",
    .help = "A state space model whose step, input and output weights depend on each token, so it can choose "
            "what to keep.",
    .source = "Gu & Dao 2023, Alg. 2",
    .cost = "L E D S",
    .defaults = "norm=rms&embed_std=0.1",
    .keys = keys,
    .settings = sizeof(mamba_settings),
    .check = check,
    .build = build,
    .modes = MODES("expand=1&mamba_states=4~mamba_conv=1"),
};
