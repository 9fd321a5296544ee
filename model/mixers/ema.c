// ema.c: MEGA's multi-dimensional damped moving average (Ma et al. 2023, "Mega: Moving Average Equipped Gated
// Attention", Eqs. 5-6 and 12-14), a comparator: its layer without the attention between.
//   h_t = a o beta x_t + (1 - a o d) o h_{t-1},  x'_t = eta . h_t + skip x_t,
//   a = sigma(alpha), d = sigma(delta), per channel
//   z = SiLU(x' W_h + b_h),  phi = sigma(x' W_phi + b_phi),  y = phi o z + (1 - phi) o x
#include "mixer.h"
#include "attention_parts.h"

typedef struct {
    size_t states;
} ema_settings;

static const config_key keys[] = {
    INT_KEY("ema_states", ema_settings, states, "16", 1, 256, "averages of each channel (h of the paper)",
            "mixer"),
    {0},
};

static int check(const config *c, size_t length, smx_error *error) {
    (void)length;
    return check_heads_without_inner_position(c, error);
}

static tensor *linear(graph *g, const config *c, tensor *x, const char *w_name, const char *b_name) {
    size_t D = x->shape[x->rank - 1];
    tensor *w = weight_matrix(g, w_name, D, D, start_matrix(c, D, D));
    return op_linear(g, x, w, weight_vector(g, b_name, D, 0.0));
}

// Starts as in the authors' program: alpha and delta N(0, 0.2^2), eta N(0, 1);
// beta near 1 of either sign is a choice of ours.
static tensor *moving_average(graph *g, const config *c, tensor *x) {
    const ema_settings *s = c->mixer;
    const uint32_t D = x->shape[x->rank - 1], S = (uint32_t)s->states, shape[] = {D, S};
    tensor *alpha = graph_param(g, "alpha", (init){INIT_NORMAL, 0.2}, 0, 2, shape);
    tensor *delta = graph_param(g, "delta", (init){INIT_NORMAL, 0.2}, 0, 2, shape);
    tensor *beta = graph_param(g, "beta", (init){INIT_NORMAL, 1}, 0, 2, shape);
    tensor *eta = graph_param(g, "eta", (init){INIT_NORMAL, 1.0 / (double)S}, 0, 2, shape);
    return op_ema(g, x, alpha, delta, beta, eta, weight_vector(g, "ema_skip", D, 1.0));
}

static tensor *build(graph *g, const config *c, tensor *x) {
    tensor *average = graph_name(g, moving_average(g, c, x), "average");
    tensor *z = graph_name(g, op_silu(g, linear(g, c, average, "w_h", "b_h")), "z");
    tensor *phi = graph_name(g, op_sigmoid(g, linear(g, c, average, "w_phi", "b_phi")), "phi");
    return op_gate(g, phi, z, x);
}
static int has_residual(const config *c) {
    (void)c;
    return 1;
}

const mixer mixer_ema = {
    .name = "ema",
    .title = "Moving average (MEGA)",
    .help = "Several damped moving averages of every channel, then a gate.",
    .source = "Ma et al. 2023, Eqs. 5-6, 12-14",
    .cost = "L D S",
    .defaults = "norm=rms&embed_std=0.1",
    .keys = keys,
    .settings = sizeof(ema_settings),
    .check = check,
    .build = build,
    .has_residual = has_residual,
};
