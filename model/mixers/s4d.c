// s4d.c: S4D (Gu, Gupta, Goel & Re 2022, "On the Parameterization and Initialization of Diagonal State Space
// Models"), a comparator: a diagonal state space model per channel, run as a long convolution.
//   K[l] = m Re sum_s C_s (e^{dt A_s} - 1)/A_s e^{dt A_s l},  A = -e^{log_a} + i a_im,
//   m = 2 (real: a_im = 0, m = 1)
//   y = GELU(K * x + D x) W_o
// Starts: S4D-Lin, A_s = -1/2 + i pi s; real: A_s = -(s + 1). dt is log-uniform in [0.001, 0.1].
#include "mixer.h"
#include "attention_parts.h"

#define S4D_KINDS(W) W(S4D_COMPLEX, "complex") W(S4D_REAL, "real")

typedef struct {
    size_t states;
    enum { S4D_KINDS(WORD_NAME) } kind;
} s4d_settings;

static const config_key keys[] = {
    INT_KEY("s4d_states", s4d_settings, states, "16", 1, 256,
            "states of each channel; complex ones are halves of conjugate pairs", "mixer"),
    WORD_KEY("s4d_kind", s4d_settings, kind, S4D_KINDS, "complex", "diagonal entries of the state matrix",
             "mixer", KEY_RARE),
    {0},
};

static int check(const config *c, size_t length, smx_error *error) {
    (void)length;
    return check_heads_without_inner_position(c, error);
}

static tensor *build(graph *g, const config *c, tensor *x) {
    const s4d_settings *s = c->mixer;
    const uint32_t D = x->shape[x->rank - 1], S = (uint32_t)s->states, shape[] = {D, S, 2};
    const int complex_states = s->kind == S4D_COMPLEX;
    init half = {INIT_CONSTANT, -0.69314718055994530942}, count = {INIT_LOG_COUNT, 1},
         frequency = {INIT_COUNT, 3.14159265358979323846};
    tensor *log_dt = graph_param(g, "log_dt", (init){INIT_STEP, 1}, 0, 1, shape);
    tensor *log_a = graph_param(g, "log_a", complex_states ? half : count, 0, 2, shape);
    tensor *a_im = complex_states ? graph_param(g, "a_im", frequency, 0, 2, shape) : NULL;
    tensor *C = graph_param(g, "c", (init){INIT_NORMAL, 1}, 0, complex_states ? 3 : 2, shape);
    tensor *k = graph_name(g, op_s4d_kernel(g, log_dt, log_a, a_im, C), "kernel");
    tensor *y = graph_name(g, op_longconv(g, x, k, weight_vector(g, "skip", D, 1.0), 0), "conv");
    return output_projection(g, c, op_gelu(g, y));
}

const mixer mixer_s4d = {
    .name = "s4d",
    .title = "S4D",
    .help =
        "A small linear system per channel, its impulse response used as a filter as long as the sequence.",
    .source = "Gu, Gupta, Goel & Re 2022, Sec. 3",
    .cost = "L D (log L + S)",
    .defaults = "norm=rms&embed_std=0.1",
    .keys = keys,
    .settings = sizeof(s4d_settings),
    .check = check,
    .build = build,
    .modes = MODES("s4d_kind=real"),
};
