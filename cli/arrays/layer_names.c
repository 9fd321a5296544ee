// layer_names.c: see layer_names.h.
#include "layer_names.h"

#include <stddef.h>
#include <string.h>

static const layer_row gpt2[] = {
    {"c_attn.weight", "w_q w_k w_v", LAYOUT_COLUMNS},
    {"c_attn.bias", "b_q b_k b_v", LAYOUT_SAME},
    {"c_proj.weight", "w_o", LAYOUT_COLUMNS},
    {"c_proj.bias", "b_o", LAYOUT_SAME},
    {"bias", "", LAYOUT_BUFFER},
    {"masked_bias", "", LAYOUT_BUFFER},
    {0},
};
static const layer_row nanogpt[] = {
    {"c_attn.weight", "w_q w_k w_v", LAYOUT_LINEAR},
    {"c_attn.bias", "b_q b_k b_v", LAYOUT_SAME},
    {"c_proj.weight", "w_o", LAYOUT_LINEAR},
    {"c_proj.bias", "b_o", LAYOUT_SAME},
    {"bias", "", LAYOUT_BUFFER},
    {0},
};
static const layer_row mamba[] = {
    {"in_proj.weight", "w_x w_z", LAYOUT_LINEAR},
    {"conv1d.weight", "conv_k", LAYOUT_FILTERS},
    {"conv1d.bias", "conv_b", LAYOUT_SAME},
    {"x_proj.weight", "w_dt1 w_b w_c", LAYOUT_LINEAR},
    {"dt_proj.weight", "w_dt2", LAYOUT_LINEAR},
    {"dt_proj.bias", "b_dt", LAYOUT_SAME},
    {"A_log", "a_log", LAYOUT_SAME},
    {"D", "skip", LAYOUT_SAME},
    {"out_proj.weight", "w_o", LAYOUT_LINEAR},
    {0},
};
static const layer_row mamba2[] = {
    {"in_proj.weight", "w_z w_x w_b w_c w_dt", LAYOUT_LINEAR},
    {"conv1d.weight", "conv_x conv_b conv_c", LAYOUT_FILTERS},
    {"conv1d.bias", "b_x b_b b_c", LAYOUT_SAME},
    {"dt_bias", "dt_bias", LAYOUT_SAME},
    {"A_log", "a_log", LAYOUT_SAME},
    {"D", "skip", LAYOUT_SAME},
    {"norm.weight", "gain", LAYOUT_SAME},
    {"out_proj.weight", "w_o", LAYOUT_LINEAR},
    {0},
};
static const layer_row rwkv7[] = {
    {"x_r", "mu_r", LAYOUT_ROW},
    {"x_w", "mu_w", LAYOUT_ROW},
    {"x_k", "mu_k", LAYOUT_ROW},
    {"x_v", "mu_v", LAYOUT_ROW},
    {"x_a", "mu_a", LAYOUT_ROW},
    {"x_g", "mu_g", LAYOUT_ROW},
    {"w0", "d0", LAYOUT_ROW},
    {"w1", "d1", LAYOUT_SAME},
    {"w2", "d2", LAYOUT_SAME},
    {"a0", "a0", LAYOUT_ROW},
    {"a1", "a1", LAYOUT_SAME},
    {"a2", "a2", LAYOUT_SAME},
    {"g1", "g1", LAYOUT_SAME},
    {"g2", "g2", LAYOUT_SAME},
    {"k_k", "k_k", LAYOUT_ROW},
    {"k_a", "k_a", LAYOUT_ROW},
    {"r_k", "r_k", LAYOUT_HEADS},
    {"receptance.weight", "w_r", LAYOUT_LINEAR},
    {"key.weight", "w_k", LAYOUT_LINEAR},
    {"value.weight", "w_v", LAYOUT_LINEAR},
    {"output.weight", "wo", LAYOUT_LINEAR},
    {"ln_x.weight", "gn_gain", LAYOUT_SAME},
    {"ln_x.bias", "gn_bias", LAYOUT_SAME},
    {0},
};
static const layer_row gla[] = {
    {"q_proj.weight", "w_q", LAYOUT_LINEAR},     {"k_proj.weight", "w_k", LAYOUT_LINEAR},
    {"v_proj.weight", "w_v", LAYOUT_LINEAR},     {"g_proj.weight", "w_r", LAYOUT_LINEAR},
    {"gk_proj.0.weight", "w_g1", LAYOUT_LINEAR}, {"gk_proj.1.weight", "w_g2", LAYOUT_LINEAR},
    {"gk_proj.1.bias", "b_g", LAYOUT_SAME},      {"g_norm_swish_gate.weight", "gain", LAYOUT_SHARED},
    {"o_proj.weight", "w_o", LAYOUT_LINEAR},     {0},
};
static const layer_row deltanet[] = {
    {"q_proj.weight", "w_q", LAYOUT_LINEAR},       {"k_proj.weight", "w_k", LAYOUT_LINEAR},
    {"v_proj.weight", "w_v", LAYOUT_LINEAR},       {"b_proj.weight", "w_beta", LAYOUT_LINEAR},
    {"q_conv1d.weight", "conv_q", LAYOUT_FILTERS}, {"k_conv1d.weight", "conv_k", LAYOUT_FILTERS},
    {"v_conv1d.weight", "conv_v", LAYOUT_FILTERS}, {"o_norm.weight", "gain", LAYOUT_SHARED},
    {"o_proj.weight", "w_o", LAYOUT_LINEAR},       {0},
};
static const layer_row gated_deltanet[] = {
    {"q_proj.weight", "w_q", LAYOUT_LINEAR},       {"k_proj.weight", "w_k", LAYOUT_LINEAR},
    {"v_proj.weight", "w_v", LAYOUT_LINEAR},       {"a_proj.weight", "w_a", LAYOUT_LINEAR},
    {"b_proj.weight", "w_beta", LAYOUT_LINEAR},    {"A_log", "a_log", LAYOUT_SAME},
    {"dt_bias", "dt_bias", LAYOUT_SAME},           {"q_conv1d.weight", "conv_q", LAYOUT_FILTERS},
    {"k_conv1d.weight", "conv_k", LAYOUT_FILTERS}, {"v_conv1d.weight", "conv_v", LAYOUT_FILTERS},
    {"g_proj.weight", "w_gate", LAYOUT_LINEAR},    {"o_norm.weight", "gain", LAYOUT_SHARED},
    {"o_proj.weight", "w_o", LAYOUT_LINEAR},       {0},
};

#define TEXT(name) "mixer=equations&eq=@examples/import/" name ".eq"
#define NANOGPT "karpathy/nanoGPT 3adf61e154c3fe3fca428ad6bc3818b27a3b8291, model.py"
#define MAMBA "state-spaces/mamba e9594ce1c732d97440f0332fdc43170a2294dbfa, mamba_ssm/modules/"
#define FLA "fla-org/flash-linear-attention bc3b101dcb713ddc5bd8924b66754eb68b5ccf89, fla/layers/"
#define RWKV "BlinkDL/RWKV-LM 524481d5099b38d9bc8ef1e89209161b86c8011b, RWKV-v7/train_temp/src/model.py"
const layer_names layer_tables[] = {
    {"gpt2", "GPT-2's attention, as published", TEXT("gpt2"), "h.{}.attn.",
     NANOGPT " (names and layout as it reads the published weights)", gpt2},
    {"nanogpt", "GPT-2's attention of nanoGPT", TEXT("gpt2"), "transformer.h.{}.attn.", NANOGPT, nanogpt},
    {"mamba", "Mamba", "mixer=mamba", "backbone.layers.{}.mixer.", MAMBA "mamba_simple.py", mamba},
    {"mamba2", "Mamba-2, of one group", TEXT("mamba2"), "backbone.layers.{}.mixer.", MAMBA "mamba2.py",
     mamba2},
    {"rwkv7", "RWKV-7's time mix, of the first layer", TEXT("rwkv7"), "blocks.{}.att.", RWKV, rwkv7},
    {"gla", "GLA", TEXT("gla"), "model.layers.{}.attn.", FLA "gla.py", gla},
    {"deltanet", "DeltaNet", TEXT("deltanet"), "model.layers.{}.attn.", FLA "delta_net.py", deltanet},
    {"gated_deltanet", "Gated DeltaNet", TEXT("gated_deltanet"), "model.layers.{}.attn.",
     FLA "gated_deltanet.py", gated_deltanet},
    {0},
};

const layer_names *layer_find(const char *name) {
    for (const layer_names *t = layer_tables; t->name; t++)
        if (!strcmp(t->name, name)) return t;
    return NULL;
}

const char *layer_layout_text(layer_layout layout) {
    static const char *const texts[] = {
        [LAYOUT_LINEAR] = "`[out][in]`: transposed",
        [LAYOUT_COLUMNS] = "`[in][out]`",
        [LAYOUT_FILTERS] = "`[channels][1][taps]`: taps reversed",
        [LAYOUT_SAME] = "the same",
        [LAYOUT_ROW] = "`[1][1][columns]`",
        [LAYOUT_HEADS] = "`[heads][columns]`",
        [LAYOUT_SHARED] = "`[columns]` of one head: all heads share it",
        [LAYOUT_BUFFER] = "a mask, no weight: passed over",
    };
    return texts[layout];
}
