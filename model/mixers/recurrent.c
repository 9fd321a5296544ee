// recurrent.c: LSTM (Hochreiter & Schmidhuber 1997) and GRU (Cho et al. 2014), as wide as the model
// (docs/MECHANISMS.md#lstm and #gru).
//   LSTM  i, f, o = sigma(X W + h_{t-1} U + b), g = tanh(..), c_t = f c_{t-1} + i g, h_t = o tanh(c_t)
//   GRU   r, z = sigma(X W + b_x + h_{t-1} U + b_h), n = tanh(X W_n + b_x + r (h_{t-1} U_n + b_h)),
//         h_t = (1 - z) n + z h_{t-1}
//   out = h
#include "mixer.h"
#include "state_parts.h"

static int check(const config *c, size_t length, smx_error *error) {
    (void)length;
    return check_heads_without_inner_position(c, error);
}
static tensor *said(graph *g, const config *c, tensor *x, size_t gates, const char *bias, init start) {
    const size_t D = c->common.width;
    tensor *w = weight_matrix(g, "w", D, gates * D, start_matrix(c, D, gates * D));
    return op_linear(g, x, w, graph_param(g, bias, start, 0, 1, (uint32_t[]){(uint32_t)(gates * D)}));
}
static tensor *carried(graph *g, const config *c, size_t gates) {
    const size_t D = c->common.width;
    return weight_matrix(g, "u", D, gates * D, start_matrix(c, D, gates * D));
}

// Forget gates start open: bias 1 (Jozefowicz, Zaremba & Sutskever 2015).
static tensor *build_lstm(graph *g, const config *c, tensor *x) {
    tensor *z = said(g, c, x, 4, "b", (init){INIT_FORGET, 1});
    return graph_name(g, op_lstm(g, z, carried(g, c, 4)), "h");
}
static tensor *build_gru(graph *g, const config *c, tensor *x) {
    tensor *z = said(g, c, x, 3, "b_x", (init){INIT_CONSTANT, 0});
    tensor *bias = weight_vector(g, "b_h", 3 * c->common.width, 0.0);
    return graph_name(g, op_gru(g, z, carried(g, c, 3), bias), "h");
}

const mixer mixer_lstm = {
    .name = "lstm",
    .title = "LSTM",
    .help = "A cell that gates write to, read from and clear, row by row.",
    .source = "Hochreiter & Schmidhuber 1997",
    .cost = "L D^2, one row after another",
    .check = check,
    .build = build_lstm,
};
const mixer mixer_gru = {
    .name = "gru",
    .title = "GRU",
    .help = "One state a column, between which and a new value a gate chooses at every row.",
    .source = "Cho et al. 2014",
    .cost = "L D^2, one row after another",
    .check = check,
    .build = build_gru,
};
