// vectors_ranges.c: see vectors.h.
#include "vectors.h"

#include <string.h>

// The first that fits; the last fits all: weights, at about 1/sqrt(width).
static const vectors_range ranges[] = {
    {"adamw", "v", 1, 255, 8},
    {NULL, "v", -255, 255, 7},
    {"kda_layer", "x", 16, 255, 7}, // queries that meet their keys: a norm follows what is read
    {"kda_layer", "wq", -48, 255, 9},
    {"kda_layer", "wk", -48, 255, 9},
    {"gdn2_layer", "x", 16, 255, 7},
    {"gdn2_layer", "wq", -48, 255, 9},
    {"gdn2_layer", "wk", -48, 255, 9},
    {"deltaproduct_layer", "x", 16, 255, 7},
    {"deltaproduct_layer", "wq", -48, 255, 9},
    {"deltaproduct_layer", "wk", -48, 255, 9},
    {"comba_layer", "x", 16, 255, 7},
    {"comba_layer", "wq", -48, 255, 9},
    {"comba_layer", "wk", -48, 255, 9},
    {"rwkv7_layer", "x", 16, 255, 7},
    {"rwkv7_layer", "w_r", -48, 255, 9},
    {"rwkv7_layer", "w_k", -48, 255, 9},
    {NULL, "x", -255, 255, 7},
    {NULL, "x_0", -255, 255, 7},
    {NULL, "x_1", -255, 255, 7},
    {"hyena_filters", "pos", -255, 255, 8},
    {"hyena_filters", "rates", 0, 255, 6},
    {NULL, "q", -255, 255, 7},
    {"delta_core", "k", -90, 90, 8}, // rows shorter than 1: stable
    {"kda_core", "k", -90, 90, 8},
    {"deltaproduct_core", "k", -90, 90, 8},
    {"gdn2_core", "k", -90, 90, 8},
    {"comba_core", "k", -90, 90, 8},
    {"linear_attention_core", "k", -90, 90, 8},
    {"mesa_core", "k", -90, 90, 8},
    {"ttt_core", "k", -90, 90, 8},
    {"dplr_core", "a", -90, 90, 8},
    {"dplr_core", "b", -90, 90, 8},
    {"comba_core", "p", -90, 90, 8},
    {"rwkv7_core", "kk", -90, 90, 8},
    {"rwkv7_core", "a", 1, 255, 8},
    {"gdn2_core", "b", 1, 255, 8},
    {"gdn2_core", "w", 1, 255, 8},
    {"path_core", "w", -90, 90, 8},
    {NULL, "r", -255, 255, 7},
    {NULL, "k", -255, 255, 7},
    {"adamw", "g", -255, 255, 9},
    {NULL, "g", -128, -1, 7}, // logarithms of gates
    {"mega_ema", "beta", -255, 255, 9},
    {"kda_core", "beta", 1, 255, 7}, // up to 2
    {"deltaproduct_core", "beta", 1, 255, 7},
    {NULL, "beta", 1, 255, 8},
    {"mesa_core", "lam", 32, 255, 7},
    {"mamba3_core", "lam", 1, 255, 8},
    {"loglinear_core", "lev", 1, 255, 8},
    {NULL, "n0", 64, 255, 7},
    {"mlstm_core", "i", -255, 255, 7},
    {"mlstm_core", "f", -255, 255, 7},
    {"minlstm_core", "i", -255, 255, 7},
    {"minlstm_core", "f", -255, 255, 7},
    {NULL, "z", -255, 255, 7},
    {"mingru_core", "c", -255, 255, 7},
    {"minlstm_core", "c", -255, 255, 7},
    {NULL, "ga", -255, 255, 7},
    {NULL, "gi", -255, 255, 7},
    {"mamba3_core", "theta", -255, 255, 7},
    {NULL, "sinks", -255, 255, 7},
    {NULL, "q_gain", 64, 191, 7},
    {NULL, "k_gain", 64, 191, 7},
    {NULL, "gn_gain", 64, 191, 7},
    {NULL, "b_gain", 64, 191, 7},
    {NULL, "c_gain", 64, 191, 7},
    {NULL, "eta", 1, 64, 8},
    {NULL, "tau", 64, 255, 8},
    {NULL, "lb", 1, 128, 8},
    {NULL, "mu_r", 1, 255, 8},
    {NULL, "mu_w", 1, 255, 8},
    {NULL, "mu_k", 1, 255, 8},
    {NULL, "mu_v", 1, 255, 8},
    {NULL, "mu_a", 1, 255, 8},
    {NULL, "mu_g", 1, 255, 8},
    {NULL, "v_first", -255, 255, 7},
    {NULL, "s0", -255, 255, 8},
    {"cross_entropy", "dy", 1, 1, 0},
    {NULL, "dy", -255, 255, 7},
    {NULL, "marks", -255, 255, 7},
    {NULL, "logits", -255, 255, 6},
    {"focus_filter", "theta", -96, 96, 8}, // |theta_0| < 1 + theta_1: stable
    {NULL, "theta_raw", -255, 255, 7},
    {"kda_layer", "conv_k", 64, 255, 8}, // so that no row before its unit norm is nearly 0
    {"gdn2_layer", "conv_k", 64, 255, 8},
    {"deltaproduct_layer", "conv_k", 64, 255, 8},
    {"comba_layer", "conv_k", 64, 255, 8},
    {NULL, "conv_q", 64, 255, 8},
    {NULL, "conv_k", -255, 255, 10},
    {NULL, "conv_ahead", -255, 255, 10},
    {"batch_norm", "variance", 64, 255, 7},
    {"batch_norm", "mean", -255, 255, 8},
    {NULL, "gain", 64, 191, 7},
    {NULL, "ln1_gain", 64, 191, 7},
    {NULL, "ln2_gain", 64, 191, 7},
    {NULL, "filter_q", -255, 255, 8},
    {NULL, "filter_k", -255, 255, 8},
    {NULL, "filter_v", -255, 255, 8},
    {NULL, "filter", -255, 255, 8},
    {NULL, "filter_maps", -255, 255, 8},
    {NULL, "short_3", -255, 255, 8},
    {NULL, "short_n", -255, 255, 8},
    {NULL, "alpha_q", 64, 191, 7},
    {NULL, "alpha_k", 64, 191, 7},
    {"mega_ema", "alpha", -255, 255, 7},
    {"mega_ema", "delta", -255, 255, 7},
    {"adamw", "m", -255, 255, 8},
    {NULL, "log_dt", -160, -32, 5},
    {NULL, "log_a", -64, 64, 6},
    {NULL, "a_im", 0, 255, 6},
    {NULL, "dt", 1, 255, 8},
    {NULL, "b_dt", -255, -64, 6},
    {"kda_layer", "a_log", -64, 0, 6},
    {NULL, "a_log", -64, 127, 6},
    {"selective_scan", "b", -255, 255, 7},
    {"selective_scan", "c", -255, 255, 7},
    {NULL, NULL, -255, 255, 9},
};

const vectors_range *vectors_range_of(const char *mechanism, const char *input) {
    const vectors_range *r = ranges;
    for (; r->input; r++)
        if (strcmp(r->input, input) == 0 && (!r->mechanism || strcmp(r->mechanism, mechanism) == 0)) break;
    return r;
}

void vectors_integers(int32_t *to, size_t n, const oracle_case *c, const char *name, smx_rng *rng) {
    const int bounds = !strcmp(name, "cu");
    const size_t most = oracle_size(c, bounds ? "L" : "V");
    for (size_t i = 0; i < n; i++) {
        const int32_t drawn = (int32_t)rng_below(rng, (uint32_t)most + 1) - !bounds;
        size_t at = i;
        for (; bounds && at && to[at - 1] > drawn; at--) to[at] = to[at - 1];
        to[at] = drawn;
    }
    if (bounds) to[0] = 0, to[n - 1] = (int32_t)most;
}
