// test_ref.c: the oracle judged by itself: every gradient against four-point differences in double, equal
// forms against each other, the twins that no mechanism uses, and the corners that the definitions pin. Seeds
// are fixed.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/oracle/oracle_cases.h"
#include "proofs_tests/support/allocations.h"
#include <seqmix/ref.h>

// ---- Seeded numbers (splitmix64, sums of twelve uniforms)
static uint64_t state;

static double uniform(double low, double high) {
    uint64_t z = state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    z ^= z >> 31;
    return low + (high - low) * ((double)(z >> 11) * 0x1p-53);
}

static double normal(void) {
    double sum = -6;
    for (int i = 0; i < 12; i++) sum += uniform(0, 1);
    return sum;
}

static void fill(double *x, size_t n, double size) {
    for (size_t i = 0; i < n; i++) x[i] = size * normal();
}

// ---- Four-point differences
// The error of (8 (f(h) - f(-h)) - (f(2h) - f(-2h))) / 12h is h^4 |f'''''| / 30 + eps |f| / h: 1e-12 |f| at h
// = 1e-4. Measured over all cases: at most 5.4e-10 of the scale (the array's largest gradient, or 1 % of the
// case's). 5e-9 leaves room for other compilers; a wrong term stands at 1e-3 and above.
static const double step = 1e-4, tolerance = 5e-9;

typedef double (*objective)(void *with);

static double slope(double *at, objective f, void *with) {
    double x = *at, value[4];
    static const double where[4] = {1, -1, 2, -2};
    for (int i = 0; i < 4; i++) {
        *at = x + where[i] * step;
        value[i] = f(with);
    }
    *at = x;
    return (8 * (value[0] - value[1]) - (value[2] - value[3])) / (12 * step);
}

static double max_abs(const double *x, size_t n) {
    double top = 0;
    for (size_t i = 0; i < n; i++) top = fmax(top, fabs(x[i]));
    return top;
}

static double distance(const double *a, const double *b, size_t n) {
    double top = 0;
    for (size_t i = 0; i < n; i++) top = fmax(top, fabs(a[i] - b[i]));
    return top;
}

// grad [n] against the differences of f over x [n]; scale at least floor_.
static void check_gradient(const char *what, double *x, const double *grad, size_t n, double floor_,
                           objective f, void *with) {
    double scale = fmax(max_abs(grad, n), floor_);
    for (size_t i = 0; i < n; i++) {
        double want = slope(&x[i], f, with);
        if (!(fabs(grad[i] - want) <= tolerance * scale))
            fail_msg("%s: gradient [%zu] is %.12g, differences give %.12g (scale %.3g)", what, i, grad[i],
                     want, scale);
    }
}

// ---- Every mechanism of the table
typedef struct {
    const char *mechanism, *params, *without; // without: optional inputs left out, separated by spaces
} gradient_case;

static const gradient_case cases[] = {
    {"softmax_attention", "{\"L\":6,\"D\":6,\"H\":3,\"causal\":true,\"pos\":\"none\"}", ""},
    {"softmax_attention", "{\"L\":1,\"D\":4,\"H\":2,\"causal\":true,\"pos\":\"none\"}", ""},
    {"softmax_attention", "{\"L\":5,\"D\":4,\"H\":2,\"causal\":false,\"pos\":\"alibi\"}", ""},
    {"softmax_attention", "{\"L\":5,\"D\":4,\"H\":2,\"causal\":true,\"pos\":\"alibi_scaled\"}", ""},
    {"softmax_attention", "{\"L\":6,\"D\":8,\"H\":2,\"causal\":true,\"pos\":\"rope\"}", ""},
    {"las_attention", "{\"L\":7,\"D\":6,\"H\":3,\"P\":3,\"decay\":\"exp\",\"pool\":\"centred\"}", ""},
    {"las_attention", "{\"L\":7,\"D\":6,\"H\":3,\"P\":5,\"decay\":\"exp\",\"pool\":\"masked\",\"chunk\":4}",
     ""},
    {"las_attention", "{\"L\":7,\"D\":6,\"H\":1,\"P\":4,\"decay\":\"exp\",\"pool\":\"trailing\"}", ""},
    {"las_attention", "{\"L\":4,\"D\":6,\"H\":3,\"P\":9,\"decay\":\"exp\",\"pool\":\"trailing\"}", ""},
    {"las_attention", "{\"L\":4,\"D\":6,\"H\":3,\"P\":9,\"decay\":\"none\",\"pool\":\"masked\"}", ""},
    {"las_attention", "{\"L\":7,\"D\":4,\"H\":2,\"P\":3,\"decay\":\"alibi\",\"pool\":\"none\",\"chunk\":3}",
     ""},
    {"las_attention",
     "{\"L\":7,\"D\":4,\"H\":2,\"P\":3,\"decay\":\"alibi_scaled\",\"pool\":\"centred\",\"chunk\":3}", ""},
    {"cat_attention", "{\"L\":6,\"D\":6,\"H\":2,\"W\":3,\"mode\":\"per_head\"}", "filter_maps"},
    {"cat_attention", "{\"L\":6,\"D\":6,\"H\":2,\"W\":1,\"mode\":\"per_head\"}",
     "filter_q filter_k filter_v"},
    {"cat_attention", "{\"L\":3,\"D\":6,\"H\":2,\"W\":5,\"mode\":\"per_head\",\"pos\":\"alibi\"}",
     "filter_q"},
    {"cat_attention", "{\"L\":6,\"D\":6,\"H\":3,\"W\":2,\"mode\":\"multi_head\",\"pos\":\"rope\"}",
     "filter_v filter_maps"},
    {"cat_attention", "{\"L\":6,\"D\":6,\"H\":2,\"W\":3,\"mode\":\"per_head\",\"norm\":true}", "filter_k"},
    {"cat_attention", "{\"L\":6,\"D\":6,\"H\":2,\"W\":3,\"mode\":\"per_head\",\"norm\":true,\"norm_v\":true}",
     "filter_maps"},
    {"cat_attention",
     "{\"L\":6,\"D\":4,\"H\":2,\"W\":2,\"mode\":\"per_head\",\"value_filter\":\"two_sided\"}", "filter_maps"},
    {"lincat", "{\"L\":6,\"D\":6,\"H\":2,\"W\":3,\"mode\":\"per_head\",\"norm\":true}", ""},
    {"lincat", "{\"L\":6,\"D\":6,\"H\":2,\"W\":3,\"mode\":\"multi_head\"}", "filter_k"},
    {"lcat", "{\"L\":9,\"D\":4,\"H\":2,\"B\":2,\"W\":3,\"filter\":\"box\",\"dense_keys\":\"plain\"}",
     "filter_v"},
    {"lcat", "{\"L\":9,\"D\":4,\"H\":1,\"B\":4,\"W\":3,\"filter\":\"rho\",\"dense_keys\":\"filtered\"}", ""},
    {"focus_filter", "{\"L\":12,\"D\":2,\"n_bins\":4,\"F\":2,\"mode\":\"literal\"}", ""},
    {"focus_filter", "{\"L\":14,\"D\":2,\"n_bins\":2,\"F\":1,\"mode\":\"literal\"}", ""},
    {"focus_filter", "{\"L\":12,\"D\":2,\"n_bins\":4,\"F\":2,\"mode\":\"causal\"}", ""},
    {"focus_filter", "{\"L\":12,\"D\":2,\"n_bins\":4,\"F\":2,\"mode\":\"carry\"}", ""},
    {"focus_filter", "{\"L\":4,\"D\":2,\"n_bins\":4,\"F\":2,\"mode\":\"carry\"}", ""},
    {"focus_layer",
     "{\"L\":12,\"D\":4,\"H\":2,\"n_bins\":3,\"F\":2,\"O\":2,\"C\":2,\"hidden\":3,\"mode\":\"literal\"}", ""},
    {"focus_layer",
     "{\"L\":12,\"D\":4,\"H\":1,\"n_bins\":4,\"F\":1,\"O\":5,\"C\":3,\"hidden\":3,\"mode\":\"causal\","
     "\"hyper\":\"joint\"}",
     "conv_skip"},
    {"focus_layer",
     "{\"L\":12,\"D\":4,\"H\":1,\"n_bins\":3,\"F\":2,\"O\":2,\"C\":1,\"hidden\":3,\"mode\":\"causal\","
     "\"hyper\":\"local_global\",\"local\":3,\"lambda\":0.1}",
     ""},
    {"focus_layer",
     "{\"L\":12,\"D\":4,\"H\":1,\"n_bins\":4,\"F\":2,\"O\":2,\"C\":3,\"hidden\":3,\"mode\":\"carry\","
     "\"theta\":\"triangle\"}",
     ""},
    {"focus_layer",
     "{\"L\":4,\"D\":4,\"H\":1,\"n_bins\":1,\"F\":2,\"O\":2,\"C\":1,\"hidden\":3,\"mode\":\"causal\"}",
     "conv_skip"},
    {"focus_h",
     "{\"L\":12,\"D\":4,\"H\":1,\"n_bins\":4,\"F\":2,\"C\":3,\"mode\":\"causal\",\"theta\":\"sigmoid\"}", ""},
    {"focus_h",
     "{\"L\":12,\"D\":4,\"H\":1,\"n_bins\":4,\"F\":2,\"C\":3,\"mode\":\"literal\",\"theta\":\"triangle\"}",
     ""},
    {"long_conv", "{\"L\":7,\"D\":3}", ""},
    {"long_conv", "{\"L\":7,\"D\":3,\"lambda\":0.3}", "skip"},
    {"short_long", "{\"L\":7,\"D\":3,\"short_n\":3}", "conv_skip"},
    {"short_long", "{\"L\":7,\"D\":3,\"short_n\":2,\"lambda\":0.1}", ""},
    {"short_fuse", "{\"L\":7,\"D\":3,\"short_n\":5}", ""},
    {"linear_attention", "{\"L\":6,\"D\":6,\"H\":2,\"normaliser\":\"none\"}", ""},
    {"linear_attention", "{\"L\":6,\"D\":6,\"H\":2,\"normaliser\":\"rms\"}", ""},
    {"linear_attention", "{\"L\":6,\"D\":6,\"H\":2,\"normaliser\":\"sum\"}", ""},
    {"chela_layer", "{\"L\":6,\"D\":4,\"H\":2,\"short_n\":3,\"lambda\":0.05}", ""},
    {"chela_block", "{\"L\":6,\"D\":4,\"H\":1,\"short_n\":4,\"residual\":false,\"ffn_act\":\"gelu\"}",
     "conv_skip"},
    {"chela_block",
     "{\"L\":6,\"D\":4,\"H\":2,\"short_n\":3,\"residual\":true,\"ffn_act\":\"silu\",\"ffn_mult\":1}", ""},
    {"layer_norm", "{\"L\":4,\"D\":5}", ""},
    {"rms_norm", "{\"L\":4,\"D\":5}", ""},
    {"mlp", "{\"L\":4,\"D\":3,\"mult\":2,\"act\":\"gelu\"}", ""},
    {"mlp", "{\"L\":4,\"D\":3,\"mult\":3,\"act\":\"silu\"}", ""},
    {"las_attention",
     "{\"L\":7,\"D\":6,\"H\":3,\"P\":3,\"decay\":\"exp\",\"pool\":\"centred\",\"causal\":false}", ""},
    {"las_attention_qkv",
     "{\"L\":7,\"D\":4,\"H\":2,\"P\":4,\"pool\":\"trailing\",\"chunk\":3,\"causal\":false}", ""},
    {"long_conv", "{\"L\":7,\"D\":3,\"causal\":false}", ""},
    {"long_conv", "{\"L\":7,\"D\":3,\"lambda\":0.3,\"causal\":false}", ""},
    {"short_long", "{\"L\":7,\"D\":3,\"short_n\":2,\"causal\":false}", ""},
    {"linear_attention", "{\"L\":6,\"D\":6,\"H\":2,\"normaliser\":\"rms\",\"causal\":false}", ""},
    {"linear_attention", "{\"L\":6,\"D\":6,\"H\":2,\"normaliser\":\"sum\",\"causal\":false}", ""},
    {"chela_layer", "{\"L\":6,\"D\":4,\"H\":2,\"short_n\":3,\"causal\":false}", ""},
    {"chela_block", "{\"L\":6,\"D\":4,\"H\":1,\"short_n\":4,\"lambda\":0.05,\"causal\":false}", "conv_skip"},
    {"batch_norm", "{\"N\":7,\"D\":3}", ""},
    {"batch_norm", "{\"N\":4,\"D\":3,\"mode\":\"running\"}", ""},
    {"dropout", "{\"N\":7,\"D\":3,\"p\":0.4,\"seed\":5,\"step\":2,\"place\":1}", ""},
    {"cross_entropy", "{\"L\":5,\"V\":4}", ""},
    {"mega_ema", "{\"L\":7,\"D\":3,\"S\":2}", ""},
    {"mega_ema", "{\"L\":7,\"D\":3,\"S\":1}", "skip"},
    {"s4d", "{\"L\":7,\"D\":2,\"S\":3,\"diagonal\":\"complex\"}", ""},
    {"s4d", "{\"L\":7,\"D\":2,\"S\":3,\"diagonal\":\"real\"}", "skip"},
    {"selective_scan", "{\"L\":6,\"D\":3,\"S\":2}", ""},
    {"selective_scan", "{\"L\":6,\"D\":3,\"S\":2}", "skip"},
    {"gla_core", "{\"L\":6,\"H\":2,\"dk\":3,\"dv\":2,\"mode\":\"channel\"}", ""},
    {"gla_core", "{\"L\":6,\"H\":2,\"dk\":2,\"dv\":3,\"mode\":\"head\"}", "s0"},
    {"gla_core", "{\"L\":6,\"H\":2,\"dk\":2,\"dv\":3,\"mode\":\"retention\"}", "s0"},
    {"delta_core", "{\"L\":6,\"H\":2,\"dk\":3,\"dv\":2,\"mode\":\"channel\"}", ""},
    {"delta_core", "{\"L\":6,\"H\":2,\"dk\":2,\"dv\":3,\"mode\":\"head\"}", "s0"},
    {"delta_core", "{\"L\":6,\"H\":1,\"dk\":2,\"dv\":3}", ""},
    {"sliding_core", "{\"L\":7,\"H\":2,\"d\":3,\"W\":3}", ""},
    {"based_core", "{\"L\":6,\"H\":2,\"dk\":3,\"dv\":2}", ""},
    {"hyena_core", "{\"L\":6,\"D\":3,\"N\":2}", "x_2 h_2 skip_2 x_3 h_3 skip_3"},
    {"hyena_core", "{\"L\":5,\"D\":2,\"N\":4}", "skip_1"},
    {"hyena_filters", "{\"L\":6,\"D\":3,\"e\":5,\"hidden\":4,\"freq\":2,\"shift\":0.1}", ""},
    {"lstm", "{\"L\":6,\"D\":3,\"E\":4}", ""},
    {"gru", "{\"L\":6,\"D\":3,\"E\":4}", ""},
    {"s6_layer", "{\"L\":6,\"D\":3,\"S\":2,\"W\":4,\"rank\":1}", ""},
    {"softmax_attention_qkv", "{\"L\":6,\"D\":6,\"H\":3,\"causal\":true,\"pos\":\"alibi\"}", ""},
    {"las_attention_qkv", "{\"L\":7,\"D\":6,\"H\":3,\"P\":3,\"decay\":\"exp\",\"pool\":\"centred\"}", ""},
    {"landmark_attention_qkv", "{\"L\":7,\"D\":4,\"H\":2,\"B\":2}", ""},
    {"short_conv", "{\"L\":7,\"D\":4,\"groups\":2,\"W\":3,\"future\":1}", ""},
    {"focus_h",
     "{\"L\":12,\"D\":4,\"H\":1,\"n_bins\":4,\"F\":2,\"C\":3,\"mode\":\"carry\",\"theta\":\"bounded\",\"theta_sum\":0.8}",
     ""},
    {"focus_layer",
     "{\"L\":12,\"D\":4,\"H\":1,\"n_bins\":4,\"F\":2,\"O\":2,\"C\":3,\"hidden\":3,\"mode\":\"carry\","
     "\"theta\":\"bounded\"}",
     ""},
    // ref_cores.h
    {"dplr_core", "{\"L\":6,\"H\":2,\"dk\":3,\"dv\":2}", ""},
    {"dplr_core", "{\"L\":6,\"H\":2,\"dk\":2,\"dv\":3,\"mode\":\"head\"}", "s0"},
    {"dplr_core", "{\"L\":5,\"H\":1,\"dk\":3,\"dv\":2,\"mode\":\"none\"}", ""},
    {"kda_core", "{\"L\":6,\"H\":2,\"dk\":3,\"dv\":2}", ""},
    {"kda_core", "{\"L\":5,\"H\":1,\"HV\":3,\"dk\":3,\"dv\":2,\"mode\":\"grouped\"}", ""},
    {"deltaproduct_core", "{\"L\":5,\"H\":2,\"n\":2,\"dk\":3,\"dv\":2}", ""},
    {"deltaproduct_core", "{\"L\":5,\"H\":1,\"n\":3,\"dk\":3,\"dv\":2,\"mode\":\"none\"}", "s0"},
    {"gdn2_core", "{\"L\":6,\"H\":2,\"dk\":3,\"dv\":2}", ""},
    {"rwkv7_core", "{\"L\":6,\"H\":2,\"dk\":3,\"dv\":2}", ""},
    {"comba_core", "{\"L\":6,\"H\":2,\"dk\":3,\"dv\":2}", ""},
    {"linear_attention_core",
     "{\"L\":5,\"Hq\":4,\"Hk\":2,\"Hv\":2,\"dk\":3,\"dv\":2,\"g_columns\":6,\"beta_columns\":1}", ""},
    {"linear_attention_core",
     "{\"L\":5,\"Hq\":2,\"Hk\":1,\"Hv\":4,\"dk\":3,\"dv\":2,\"g_columns\":4,\"beta_columns\":4}", "s0"},
    {"linear_attention_core",
     "{\"L\":5,\"Hq\":4,\"Hk\":2,\"Hv\":2,\"dk\":3,\"dv\":2,\"mode\":\"linear\",\"scale\":0.7}", ""},
    {"linear_attention_core",
     "{\"L\":5,\"Hq\":1,\"Hk\":1,\"Hv\":2,\"dk\":3,\"dv\":2,\"mode\":\"gated\",\"g_columns\":2}", ""},
    {"linear_attention_core",
     "{\"L\":5,\"Hq\":2,\"Hk\":2,\"Hv\":2,\"dk\":3,\"dv\":2,\"mode\":\"delta\",\"beta_columns\":2}", ""},
    {"attn_core", "{\"L\":6,\"H\":4,\"Hkv\":2,\"d\":3,\"softcap\":1.5,\"window\":3}", ""},
    {"attn_core", "{\"L\":6,\"H\":2,\"Hkv\":1,\"d\":3,\"causal\":false}", "sinks q_gain"},
    {"attn_core", "{\"L\":7,\"H\":2,\"Hkv\":2,\"d\":3,\"mode\":\"packed\",\"N\":3}", "k_gain"},
    {"fox_core", "{\"L\":6,\"H\":2,\"Hkv\":1,\"d\":3}", "sinks q_gain k_gain"},
    {"path_core", "{\"L\":6,\"H\":2,\"dk\":3,\"dv\":2}", ""},
    {"path_core", "{\"L\":6,\"H\":1,\"dk\":3,\"dv\":2,\"mode\":\"gated\"}", ""},
    {"diff_core", "{\"L\":6,\"H\":2,\"Hkv\":1,\"d\":3,\"lam_init\":0.4}", ""},
    {"loglinear_core", "{\"L\":9,\"H\":2,\"dk\":3,\"dv\":2,\"levels\":5}", ""},
    {"mlstm_core", "{\"L\":6,\"H\":2,\"dk\":3,\"dv\":2}", ""},
    {"mlstm_core", "{\"L\":6,\"H\":1,\"dk\":2,\"dv\":3,\"mode\":\"exp\"}", "s0 n0 m0"},
    {"slstm_core", "{\"L\":6,\"D\":3,\"H\":2,\"d\":2}", "h0 c0 n0 m0"},
    {"slstm_core", "{\"L\":5,\"D\":3,\"H\":1,\"d\":3,\"mode\":\"exp\"}", ""},
    {"hgrn2_core", "{\"L\":6,\"H\":2,\"dk\":3,\"dv\":2}", ""},
    {"rglru_core", "{\"L\":6,\"D\":3}", ""},
    {"rglru_core", "{\"L\":6,\"D\":3,\"c\":2,\"mode\":\"reset\"}", "h0"},
    {"mingru_core", "{\"L\":6,\"D\":3}", ""},
    {"mingru_core", "{\"L\":6,\"D\":3,\"mode\":\"log\"}", "h0"},
    {"minlstm_core", "{\"L\":6,\"D\":3}", ""},
    {"minlstm_core", "{\"L\":6,\"D\":3,\"mode\":\"log\"}", "h0"},
    {"causal_conv_core", "{\"L\":6,\"D\":3,\"past\":2}", ""},
    {"causal_conv_core", "{\"L\":2,\"D\":3,\"past\":3,\"activation\":\"silu\"}", ""},
    {"causal_conv_core", "{\"L\":5,\"D\":2,\"past\":1,\"activation\":\"silu\"}", "bias s0"},
    {"mamba3_core", "{\"L\":6,\"H\":2,\"N\":5,\"P\":2,\"R\":2}", ""},
    {"mamba3_core", "{\"L\":5,\"H\":1,\"N\":4,\"P\":3,\"R\":1}", "skip s0 k0 v0 a0"},
    {"mesa_core", "{\"L\":6,\"H\":2,\"dk\":3,\"dv\":2}", "s0 kk0"},
    {"mesa_core", "{\"L\":5,\"H\":1,\"dk\":2,\"dv\":3,\"scale\":0.5}", "kk0"},
    {"ttt_core", "{\"L\":7,\"H\":2,\"d\":3,\"B\":3}", ""},
    {"ttt_core", "{\"L\":7,\"H\":1,\"d\":4,\"B\":3,\"mode\":\"norm\"}", ""},
    {"gla_core", "{\"L\":7,\"H\":2,\"dk\":3,\"dv\":2,\"mode\":\"packed\",\"N\":3}", ""},
    {"delta_core", "{\"L\":7,\"H\":2,\"dk\":3,\"dv\":2,\"mode\":\"packed\",\"N\":3}", ""},
    // ref_layers.h
    {"kda_layer", "{\"L\":6,\"D\":6,\"H\":2,\"W\":3,\"f_rank\":2,\"g_rank\":3}", ""},
    {"kda_layer",
     "{\"L\":5,\"D\":4,\"H\":1,\"W\":4,\"f_rank\":3,\"g_rank\":1,\"allow_neg_eigval\":true,\"safe_gate\":true}",
     ""},
    {"gdn2_layer", "{\"L\":6,\"D\":4,\"H\":2,\"W\":3,\"f_rank\":2,\"g_rank\":3}", ""},
    {"gdn2_layer", "{\"L\":5,\"D\":4,\"H\":1,\"W\":4,\"f_rank\":2,\"g_rank\":2,\"allow_neg_eigval\":true}",
     ""},
    {"deltaproduct_layer", "{\"L\":5,\"D\":4,\"H\":2,\"W\":3}", ""},
    {"deltaproduct_layer", "{\"L\":5,\"D\":4,\"H\":1,\"W\":2,\"n\":3}", "a_log w_a dt_bias"},
    {"comba_layer", "{\"L\":6,\"D\":4,\"H\":2,\"W\":3}", ""},
    {"comba_layer", "{\"L\":6,\"D\":4,\"H\":2,\"W\":3,\"mode\":\"code\"}", ""},
    {"rwkv7_layer", "{\"L\":5,\"D\":4,\"H\":2,\"d_rank\":2,\"a_rank\":3,\"g_rank\":2,\"gn_eps\":1e-3}", ""},
    {"rwkv7_layer",
     "{\"L\":5,\"D\":6,\"H\":2,\"d_rank\":2,\"a_rank\":1,\"g_rank\":2,\"v_rank\":3,\"gn_eps\":1e-3,"
     "\"mode\":\"later\"}",
     ""},
    {"hgrn2_layer", "{\"L\":6,\"D\":4,\"H\":2}", ""},
    {"hgrn2_layer", "{\"L\":6,\"D\":4,\"H\":1}", "lb"},
    {"griffin_layer", "{\"L\":6,\"D\":4,\"H\":2,\"W\":3}", ""},
    {"griffin_layer", "{\"L\":6,\"D\":4,\"H\":1,\"W\":4,\"c\":2,\"mode\":\"reset\"}", ""},
    {"fox_layer", "{\"L\":6,\"D\":4,\"H\":2}", ""},
    {"fox_layer", "{\"L\":6,\"D\":4,\"H\":2,\"mode\":\"pro\"}", ""},
    {"mamba3_layer", "{\"L\":5,\"D\":4,\"H\":2,\"N\":4,\"R\":2}", ""},
    {"mamba3_layer", "{\"L\":5,\"D\":4,\"H\":1,\"N\":5,\"R\":2,\"mode\":\"heavy\"}", ""},
    {"fox_core", "{\"L\":7,\"H\":2,\"Hkv\":1,\"d\":3,\"softcap\":1.5,\"window\":3}", ""},
    {"delta_core", "{\"L\":6,\"H\":2,\"dk\":3,\"dv\":2,\"mode\":\"head\",\"qk_norm\":\"l2\"}", ""},
    {"linear_attention", "{\"L\":6,\"D\":6,\"H\":2,\"qk_norm\":\"rms\"}", ""},
    {"diff_core", "{\"L\":6,\"H\":2,\"Hkv\":1,\"d\":3,\"lam_init\":0.4,\"qk_norm\":\"l2\"}", ""},
};
enum { N_CASES = sizeof cases / sizeof *cases };

static int listed(const char *words, const char *word) {
    for (const char *at = words; *at; at += strcspn(at, " "), at += *at == ' ')
        if (strcspn(at, " ") == strlen(word) && strncmp(at, word, strlen(word)) == 0) return 1;
    return 0;
}

// Values of a kind that each input is made for, away from kinks.
static double sample(const oracle_case *c, const char *name) {
    if (strcmp(name, "theta") == 0) return uniform(0.05, 0.45);
    if (strcmp(name, "dt") == 0) return uniform(0.1, 1);
    if (strcmp(name, "log_dt") == 0) return uniform(-2, -0.5);
    if (strstr(name, "gain")) return uniform(0.5, 1.5);
    if (strcmp(name, "variance") == 0) return uniform(0.2, 1.5);
    if (strcmp(name, "conv_k") == 0 || strcmp(name, "conv_ahead") == 0) {
        double lambda = oracle_param(c, "lambda") ? oracle_real(c, "lambda") : 0, k = 0.5 * normal();
        return fabs(fabs(k) - lambda) < 0.01 ? k + copysign(0.02, k) : k;
    }
    if (strcmp(name, "beta") == 0 && strcmp(c->mechanism->name, "mega_ema")) return uniform(0.1, 1.9);
    if (strcmp(name, "lev") == 0 || strcmp(name, "n0") == 0) return uniform(0.3, 1.5);
    if (strcmp(name, "lb") == 0) return uniform(0.1, 0.5);
    if (strcmp(name, "lam") == 0 && !strcmp(c->mechanism->name, "mesa_core")) return uniform(1, 2);
    if (strcmp(name, "c") == 0) return copysign(uniform(0.02, 1.5), normal()); // minGRU's bend is at 0
    return 0.7 * normal();
}

static double weighted_sum(void *with) {
    oracle_case *c = with;
    const oracle_slot *y = oracle_slot_of(c, ORACLE_OUTPUT, "y");
    // a case runs again on its own arrays: outputs are overwritten, gradients are not wanted
    oracle_slot *dy = (oracle_slot *)oracle_slot_of(c, ORACLE_INPUT, "dy");
    double *weights = dy->data;
    dy->data = NULL;
    assert_int_equal(oracle_compute(c), 0);
    dy->data = weights;
    return ref_dot(y->data, weights, y->count);
}

static void open_case(oracle_case *c, json **params, const gradient_case *g) {
    smx_error error;
    oracle_case shapes;
    const oracle_mechanism *m = oracle_find(g->mechanism);
    assert_non_null(m);
    *params = json_parse(g->params, strlen(g->params), &error);
    if (!*params) fail_msg("%s", error.message);
    if (oracle_open(&shapes, m, *params, NULL) || oracle_shapes(&shapes))
        fail_msg("%s: %s", g->mechanism, shapes.error.message);
    if (oracle_open(c, m, *params, NULL)) fail_msg("%s: %s", g->mechanism, c->error.message);
    for (size_t i = 0; i < shapes.n_slots; i++) {
        const oracle_slot *s = &shapes.slots[i];
        if (s->is->kind != ORACLE_INPUT || listed(g->without, s->is->name)) continue;
        int integer = (s->is->flags & ORACLE_INTEGER) != 0;
        npy value = {.dtype = integer ? NPY_I4 : NPY_F8, .ndim = s->ndim, .count = s->count};
        memcpy(value.shape, s->shape, sizeof value.shape);
        value.data = calloc(s->count, sizeof(double));
        assert_non_null(value.data);
        for (size_t e = 0; e < s->count; e++)
            if (integer)
                ((int32_t *)value.data)[e] =
                    strcmp(s->is->name, "cu")  // sequences of any length, the second empty
                        ? (int32_t)(e % 5) - 1 // -1 and, at V = 4, no class out of range
                        : (int32_t)(e + 1 == s->count ? oracle_size(&shapes, "L") : 2 * ((e + 1) / 2));
            else
                ((double *)value.data)[e] = sample(c, s->is->name);
        if (oracle_set(c, s->is->name, &value)) fail_msg("%s: %s", g->mechanism, c->error.message);
        npy_free(&value);
    }
}

static void check_case(const gradient_case *g, size_t seed) {
    oracle_case c;
    json *params;
    state = seed;
    open_case(&c, &params, g);
    if (oracle_run(&c)) fail_msg("%s %s: %s", g->mechanism, g->params, c.error.message);
    double largest = 0;
    size_t checked = 0;
    for (size_t s = 0; s < c.n_slots; s++)
        if (c.slots[s].grad) largest = fmax(largest, max_abs(c.slots[s].grad, c.slots[s].count));
    assert_true(largest > 0);
    for (size_t s = 0; s < c.n_slots; s++) {
        oracle_slot *slot = &c.slots[s];
        if (!slot->grad) continue;
        char what[300];
        snprintf(what, sizeof what, "%s %s (seed %zu): %s", g->mechanism, g->params, seed, slot->is->name);
        check_gradient(what, slot->data, slot->grad, slot->count, 0.01 * largest, weighted_sum, &c);
        checked++;
    }
    assert_true(checked > 0);
    oracle_close(&c);
    json_free(params);
}
// Cores of two heads with three as well: of two, twice as many are two more.
static void gradients_match_differences(void **unused) {
    (void)unused;
    size_t of_three = 0;
    for (size_t i = 0; i < N_CASES; i++) {
        check_case(&cases[i], 1000 + i);
        char params[256];
        snprintf(params, sizeof params, "%s", cases[i].params);
        char *heads = strstr(params, "\"H\":2");
        if (!heads || !strstr(cases[i].mechanism, "_core") || strstr(params, "\"Hkv\":2")) continue;
        heads[4] = '3';
        check_case(&(gradient_case){cases[i].mechanism, params, cases[i].without}, 2000 + i);
        of_three++;
    }
    assert_true(of_three > 20);
}

// The n-th allocation of a case fails, for every n: the case says so, and holds no more than before.
static void memory_runs_out(void **unused) {
    (void)unused;
#ifndef __linux__
    print_message("needs a linker with --wrap\n");
    skip();
#endif
    size_t tried = 0;
    for (size_t i = 0; i < N_CASES; i++) {
        oracle_case c;
        json *params;
        open_case(&c, &params, &cases[i]);
        if (oracle_run(&c)) fail_msg("%s", c.error.message);
        for (long n = 0;; n++, tried++) {
            const long before = held;
            until_failure = n;
            const int status = oracle_compute(&c), reached = until_failure < 0;
            until_failure = -1;
            if (held != before || (status != 0) != reached)
                fail_msg("%s %s, allocation %ld: status %d, %ld are left", cases[i].mechanism,
                         cases[i].params, n, status, held - before);
            if (!reached) break;
        }
        oracle_close(&c);
        json_free(params);
    }
    assert_true(tried > N_CASES);
}

// Every mechanism that has gradients is in the list above.
static void every_mechanism_is_checked(void **unused) {
    (void)unused;
    for (const oracle_mechanism *m = oracle_next(NULL); m; m = oracle_next(m)) {
        int has_gradient = 0, found = 0;
        for (const oracle_array *a = m->arrays; a->name; a++) has_gradient |= strcmp(a->name, "dy") == 0;
        for (size_t i = 0; i < N_CASES; i++) found |= strcmp(cases[i].mechanism, m->name) == 0;
        if (has_gradient && !found) fail_msg("%s has no gradient check", m->name);
    }
}

// ---- Twins that no mechanism uses, or not in all their forms
typedef struct {
    ref_attention p;
    double *q, *k, *v, *o, *stats, *weights;
} attention_case;

static double attention_sum(void *with) {
    attention_case *a = with;
    ref_attention_fwd(a->o, a->stats, a->q, a->k, a->v, &a->p);
    return ref_dot(a->o, a->weights, a->p.B * a->p.L * a->p.D);
}

static void attention_with_tables(void **unused) {
    (void)unused;
    enum { B = 2, L = 5, D = 6, H = 2, S = 3 * D };
    static const struct {
        int causal;
        size_t chunk, window;
    } kinds[] = {{0, 0, 0}, {1, 0, 0}, {1, 2, 0}, {0, 3, 0}, {1, 0, 3}, {1, 3, 5}, {1, 9, 1}};
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
        double qkv[B * L * S], dqkv[B * L * S], o[B * L * D], stats[B * H * L * 2], w[B * L * D];
        double decay[H * (2 * L - 1)], bias[H * (2 * L - 1)], map[L * L], pooled[L * L];
        state = 7 + kind;
        fill(qkv, B * L * S, 1);
        fill(w, B * L * D, 1);
        fill(decay, H * (2 * L - 1), 1);
        fill(bias, H * (2 * L - 1), 1);
        ref_attention p = {.B = B,
                           .L = L,
                           .D = D,
                           .H = H,
                           .stride = S,
                           .causal = kinds[kind].causal,
                           .scale = 0.7,
                           .decay_table = decay,
                           .bias = bias,
                           .chunk = kinds[kind].chunk,
                           .pool_window = kinds[kind].window};
        attention_case a = {p, qkv, qkv + D, qkv + 2 * D, o, stats, w};
        attention_sum(&a);
        ref_attention_bwd(dqkv, dqkv + D, dqkv + 2 * D, w, a.q, a.k, a.v, o, stats, &a.p);
        double before[B * L * D];
        memcpy(before, o, sizeof o);
        check_gradient("attention", qkv, dqkv, B * L * S, 0, attention_sum, &a);
        for (size_t b = 0; b < B; b++) // o = pool(map) v
            for (size_t h = 0; h < H; h++) {
                double out[L * D / H];
                ref_attention_map(map, a.q, a.k, &a.p, b, h);
                ref_pool_fwd(pooled, map, L, p.pool_window, p.pool_window ? REF_POOL_MASKED : REF_POOL_NONE);
                for (size_t i = 0; i < L && p.chunk; i++) // the pool stops at the border of the chunk
                    for (size_t j = 0; j < i / p.chunk * p.chunk; j++) pooled[i * L + j] = 0;
                ref_gemm(out, pooled, a.v + b * L * S + h * D / H, L, D / H, L, L, S, D / H, 0);
                for (size_t t = 0; t < L; t++)
                    for (size_t e = 0; e < D / H; e++)
                        assert_true(fabs(out[t * D / H + e] - before[(b * L + t) * D + h * D / H + e]) <
                                    1e-14);
            }
    }
}

typedef struct {
    attention_case a;
    double *mix;
} maps_case;

static double maps_sum(void *with) {
    maps_case *m = with;
    ref_attention_maps_fwd(m->a.o, m->a.stats, m->a.q, m->a.k, m->a.v, m->mix, &m->a.p);
    return ref_dot(m->a.o, m->a.weights, m->a.p.B * m->a.p.L * m->a.p.D);
}

static void mixed_maps(void **unused) {
    (void)unused;
    enum { B = 2, L = 4, D = 6, H = 3, S = 3 * D };
    for (size_t chunk = 0; chunk < 4; chunk += 3) {
        double qkv[B * L * S], dqkv[B * L * S], o[B * L * D], stats[B * H * L * 2], w[B * L * D];
        double mix[H * H], dmix[H * H] = {0}, decay[H * (2 * L - 1)];
        state = 80 + chunk;
        fill(qkv, B * L * S, 1);
        fill(w, B * L * D, 1);
        fill(mix, H * H, 1);
        fill(decay, H * (2 * L - 1), 1);
        ref_attention p = {.B = B,
                           .L = L,
                           .D = D,
                           .H = H,
                           .stride = S,
                           .causal = 1,
                           .scale = 0.7,
                           .decay_table = decay,
                           .chunk = chunk};
        maps_case m = {{p, qkv, qkv + D, qkv + 2 * D, o, stats, w}, mix};
        maps_sum(&m);
        ref_attention_maps_bwd(dqkv, dqkv + D, dqkv + 2 * D, dmix, w, m.a.q, m.a.k, m.a.v, mix, stats, &p);
        check_gradient("mixed maps", qkv, dqkv, B * L * S, 0, maps_sum, &m);
        check_gradient("mixed maps, mix", mix, dmix, H * H, 0, maps_sum, &m);
        for (size_t h = 0; h < H; h++) // the identity leaves attention alone
            for (size_t g = 0; g < H; g++) mix[h * H + g] = h == g;
        maps_sum(&m);
        double plain[B * L * D];
        ref_attention_fwd(plain, stats, m.a.q, m.a.k, m.a.v, &p);
        for (size_t i = 0; i < B * L * D; i++) assert_true(fabs(plain[i] - o[i]) < 1e-15);
    }
}

static void all_masked_row_is_zero(void **unused) {
    (void)unused;
    enum { L = 3, D = 2 };
    double q[L * D] = {1, 2, 3, 4, 5, 6}, bias[2 * L - 1] = {-INFINITY, -INFINITY, -INFINITY, 0, 0};
    double o[L * D], stats[2 * L], dq[L * D], dk[L * D], dv[L * D];
    ref_attention p = {.B = 1, .L = L, .D = D, .H = 1, .stride = D, .causal = 1, .scale = 1, .bias = bias};
    ref_attention_fwd(o, stats, q, q, q, &p);
    ref_attention_bwd(dq, dk, dv, q, q, q, q, o, stats, &p);
    for (size_t i = 0; i < L * D; i++) assert_true(o[i] == 0 && dq[i] == 0 && dk[i] == 0 && dv[i] == 0);
}

typedef struct {
    double *x, *f, *y, *weights;
    size_t groups, W, future;
} conv_case;
enum { CB = 2, CL = 4, CD = 6, CX = 7, CY = 9 };

static double conv_sum(void *with) {
    conv_case *c = with;
    ref_conv_fwd(c->y, c->x, c->f, CB, CL, CD, c->groups, c->W, c->future, CX, CY);
    double sum = 0;
    for (size_t r = 0; r < CB * CL; r++) sum += ref_dot(c->y + r * CY, c->weights + r * CY, CD);
    return sum;
}

static double conv_heads_sum(void *with) {
    conv_case *c = with;
    ref_conv_heads_fwd(c->y, c->x, c->f, CB, CL, CD, c->groups, c->W, CX, CY);
    double sum = 0;
    for (size_t r = 0; r < CB * CL; r++) sum += ref_dot(c->y + r * CY, c->weights + r * CY, CD);
    return sum;
}

static void convolutions_with_strides(void **unused) {
    (void)unused;
    static const size_t sizes[][3] = {
        {6, 3, 0}, {3, 6, 0}, {1, 3, 1}, {2, 5, 4}, {6, 1, 0}}; // groups, W, future
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        double x[CB * CL * CX], dx[CB * CL * CX] = {0}, y[CB * CL * CY], w[CB * CL * CY], f[36 * 6],
                                             df[36 * 6] = {0};
        size_t groups = sizes[i][0], W = sizes[i][1];
        state = 20 + i;
        fill(x, CB * CL * CX, 1);
        fill(w, CB * CL * CY, 1);
        fill(f, 36 * 6, 1);
        conv_case c = {x, f, y, w, groups, W, sizes[i][2]};
        ref_conv_bwd(dx, df, w, x, f, CB, CL, CD, groups, W, c.future, CX, CY);
        check_gradient("conv, input", x, dx, CB * CL * CX, 0, conv_sum, &c);
        check_gradient("conv, filter", f, df, groups * W, 0, conv_sum, &c);
        memset(df, 0, sizeof df);
        ref_conv_heads_bwd(dx, df, w, x, f, CB, CL, CD, groups, W, CX, CY);
        check_gradient("conv_heads, input", x, dx, CB * CL * CX, 0, conv_heads_sum, &c);
        check_gradient("conv_heads, filter", f, df, W * groups * groups, 0, conv_heads_sum, &c);
    }
}

typedef struct {
    void (*forward)(double *, const double *, size_t);
    double x, y;
} curve;

static double curve_value(void *with) {
    curve *c = with;
    c->forward(&c->y, &c->x, 1);
    return c->y;
}

static void activations(void **unused) {
    (void)unused;
    static const struct {
        void (*forward)(double *, const double *, size_t);
        void (*backward)(double *, const double *, const double *, size_t);
        int from_output;
    } all[] = {{ref_gelu_fwd, ref_gelu_bwd, 0},
               {ref_silu_fwd, ref_silu_bwd, 0},
               {ref_sigmoid_fwd, ref_sigmoid_bwd, 1},
               {ref_tanh_fwd, ref_tanh_bwd, 1}};
    for (size_t i = 0; i < 4; i++)
        for (double x = -6; x <= 6; x += 0.37) {
            curve c = {all[i].forward, x, 0};
            double one = 1, dx;
            curve_value(&c);
            double given = all[i].from_output ? c.y : x;
            all[i].backward(&dx, &one, &given, 1);
            check_gradient("activation", &c.x, &dx, 1, 0.1, curve_value, &c);
        }
    double far[2] = {-800, 800}, y[2];
    ref_sigmoid_fwd(y, far, 2);
    assert_true(y[0] >= 0 && y[0] < 1e-300 && y[1] == 1);
    ref_silu_fwd(y, far, 2);
    assert_true(y[0] <= 0 && y[0] > -1e-300 && y[1] == 800);
    double angles[3] = {8192, -8193, 1}, s[3], c[3];
    ref_sincos_fwd(s, c, angles, 3);
    assert_true(s[0] == sin(8192.0) && c[0] == cos(8192.0) && isnan(s[1]) && isnan(c[1]) && s[2] == sin(1.0));
}

typedef struct {
    double *x, *y, *saved, *weights;
    const int32_t *index;
    int kind;
} rows_case;
enum { RN = 4, RD = 3, RV = 5 };

static double rows_sum(void *with) {
    rows_case *r = with;
    switch (r->kind) {
    case 0:
        ref_unitnorm_fwd(r->y, r->saved, r->x, RN, RD);
        return ref_dot(r->y, r->weights, RN * RD);
    case 1:
        ref_embedding_fwd(r->y, r->x, r->index, RN, RD, RV);
        return ref_dot(r->y, r->weights, RN * RD);
    case 2:
        ref_meanpool_fwd(r->y, r->x, 2, RN / 2, RD);
        return ref_dot(r->y, r->weights, 2 * RD);
    case 3:
        ref_gather_fwd(r->y, r->x, r->index, 2, RN, RD);
        return ref_dot(r->y, r->weights, 2 * RD);
    default:
        ref_rmsnorm_fwd(r->y, r->saved, r->x, NULL, RN, RD, 1e-5);
        return ref_dot(r->y, r->weights, RN * RD);
    }
}

static void rows_and_tokens(void **unused) {
    (void)unused;
    static const int32_t tokens[RN] = {4, -1, 4, 5}, picked[2] = {3, 1};
    double x[RV * RD], dx[RV * RD] = {0}, y[RN * RD], saved[RN], w[RN * RD];
    state = 30;
    fill(x, RV * RD, 1);
    fill(w, RN * RD, 1);
    rows_case r = {x, y, saved, w, tokens, 0};
    rows_sum(&r);
    ref_unitnorm_bwd(dx, w, x, saved, RN, RD);
    check_gradient("unit norm", x, dx, RN * RD, 0, rows_sum, &r);
    r.kind = 1;
    memset(dx, 0, sizeof dx);
    ref_embedding_bwd(dx, w, tokens, RN, RD, RV);
    check_gradient("embedding", x, dx, RV * RD, 0, rows_sum, &r);
    rows_sum(&r);
    for (size_t c = 0; c < RD; c++)
        assert_true(y[RD + c] == 0 && y[3 * RD + c] == 0 && y[c] == x[4 * RD + c]);
    r.kind = 2;
    ref_meanpool_bwd(dx, w, 2, RN / 2, RD);
    check_gradient("mean pool", x, dx, RN * RD, 0, rows_sum, &r);
    r.kind = 3;
    r.index = picked;
    ref_gather_bwd(dx, w, picked, 2, RN, RD);
    check_gradient("gather", x, dx, RN * RD, 0, rows_sum, &r);
    r.kind = 4;
    rows_sum(&r);
    ref_rmsnorm_bwd(dx, NULL, w, x, NULL, saved, RN, RD);
    check_gradient("rms norm without gain", x, dx, RN * RD, 0, rows_sum, &r);
    double tiny[RD] = {1e-12, 0, 0}, dtiny[RD];
    ref_unitnorm_fwd(y, saved, tiny, 1, RD);
    ref_unitnorm_bwd(dtiny, w, tiny, saved, 1, RD);
    for (size_t c = 0; c < RD; c++) assert_true(y[c] == 0 && dtiny[c] == 0);
}

static void products_in_all_transposes(void **unused) {
    (void)unused;
    enum { M = 3, N = 4, K = 5 };
    double a[K * 7], b[K * 7], c[M * 6], before[M * 6];
    for (unsigned flags = 0; flags < 8; flags++) {
        state = 40 + flags;
        fill(a, K * 7, 1);
        fill(b, K * 7, 1);
        fill(c, M * 6, 1);
        memcpy(before, c, sizeof c);
        size_t lda = 7, ldb = 7;
        ref_gemm(c, a, b, M, N, K, lda, ldb, 6, flags);
        for (size_t i = 0; i < M; i++)
            for (size_t j = 0; j < 6; j++) {
                double want = flags & REF_ACCUMULATE ? before[i * 6 + j] : 0;
                for (size_t k = 0; k < K && j < N; k++)
                    want += (flags & REF_TRANS_A ? a[k * lda + i] : a[i * lda + k]) *
                            (flags & REF_TRANS_B ? b[j * ldb + k] : b[k * ldb + j]);
                assert_true(j < N ? fabs(c[i * 6 + j] - want) < 1e-14 : c[i * 6 + j] == before[i * 6 + j]);
            }
    }
}

static void loss_and_optimiser(void **unused) {
    (void)unused;
    double logits[3 * 2] = {0, 0, 1000, -1000, 5, 5}, loss[3], stats[6], d[6];
    int32_t target[3] = {1, 0, -1}, best[3];
    assert_int_equal(ref_cross_entropy_fwd(loss, stats, logits, target, 3, 2), 2);
    assert_true(fabs(loss[0] - log(2)) < 1e-15 && loss[1] == 0 && loss[2] == 0);
    ref_cross_entropy_bwd(d, logits, target, stats, 3, 2, 0.5);
    assert_true(d[0] == 0.25 && d[1] == -0.25 && d[4] == 0 && d[5] == 0);
    ref_argmax(best, logits, 3, 2);
    assert_true(best[0] == 0 && best[1] == 0 && best[2] == 0);
    // one step from zero moments is -lr sign(g), whatever the size of g and the clip
    double p = 1, m = 0, v = 0, g = -1e-3;
    ref_adamw_opts o = {0.1, 0.9, 0.98, 0, 0, 1 - 0.9, 1 - 0.98, 0.25};
    ref_adamw(&p, &m, &v, &g, 1, &o);
    assert_true(fabs(p - 1.1) < 1e-14);
    double two[2] = {3, 4};
    assert_true(ref_sumsq(two, 2) == 25 && ref_clip_factor(25, 1) == 0.2 && ref_clip_factor(25, 6) == 1 &&
                ref_clip_factor(25, 0) == 1);
}

// Five rounds of the quintic on one singular value: what no matrix is needed for.
static double quintic(double s) {
    for (int i = 0; i < 5; i++) s = s * (3.4445 + s * s * (-4.7750 + s * s * 2.0315));
    return s;
}
// Q [n][n], the product of a few rotations of neighbouring axes: orthogonal.
static void rotation(double *q, size_t n, double by) {
    for (size_t i = 0; i < n * n; i++) q[i] = i % (n + 1) == 0;
    for (size_t pass = 0; pass < 3; pass++)
        for (size_t i = 0; i + 1 < n; i++)
            for (size_t j = 0; j < n; j++) {
                const double a = by + (double)(i + 2 * pass), x = q[i * n + j], y = q[(i + 1) * n + j];
                q[i * n + j] = cos(a) * x - sin(a) * y, q[(i + 1) * n + j] = sin(a) * x + cos(a) * y;
            }
}
// The iteration moves singular values alone: U diag(s) V becomes U diag(quintic(s / |s|)) V, wide or tall.
static void newton_schulz(void **unused) {
    (void)unused;
    enum { R = 4, C = 6 };
    const double s[R] = {3, 1, 0.25, 0};
    double u[R * R], v[C * C], x[R * C], want[R * C], tall[C * R], norm = 0;
    rotation(u, R, 0.3), rotation(v, C, 1.1);
    for (size_t k = 0; k < R; k++) norm += s[k] * s[k];
    norm = sqrt(norm) + 1e-7;
    for (size_t i = 0; i < R; i++)
        for (size_t j = 0; j < C; j++) {
            x[i * C + j] = want[i * C + j] = 0;
            for (size_t k = 0; k < R; k++) {
                x[i * C + j] += u[i * R + k] * s[k] * v[k * C + j];
                want[i * C + j] += u[i * R + k] * quintic(s[k] / norm) * v[k * C + j];
            }
            tall[j * R + i] = x[i * C + j];
        }
    assert_int_equal(ref_newton_schulz(x, R, C), 0);
    assert_int_equal(ref_newton_schulz(tall, C, R), 0);
    for (size_t i = 0; i < R; i++)
        for (size_t j = 0; j < C; j++) {
            assert_true(fabs(x[i * C + j] - want[i * C + j]) < 1e-12);
            assert_true(fabs(tall[j * R + i] - want[i * C + j]) < 1e-12);
        }
    // what it is for: singular values over a hundredfold range end between 0.65 and 1.25
    for (double each = 0.01; each <= 1; each += 0.01)
        assert_true(quintic(each) > 0.65 && quintic(each) < 1.25);
    double none[2] = {0, 0};
    assert_int_equal(ref_newton_schulz(none, 1, 2), 0);
    assert_true(none[0] == 0 && none[1] == 0);
}
static void other_optimisers(void **unused) {
    (void)unused;
    // momentum adds up to 1 / (1 - momentum) of a gradient that stays
    double p = 0, m = 0, g = 1;
    for (int i = 0; i < 200; i++) ref_sgd(&p, &m, &g, 1, 0.01, 0.9, 0);
    assert_true(fabs(m - 10) < 1e-8 && fabs(p + 0.01 * (2000 - 90)) < 1e-6);
    p = 2, m = 0, g = 0;
    ref_sgd(&p, &m, &g, 1, 0.1, 0.9, 0.5);
    assert_true(fabs(p - 1.9) < 1e-15);
    // Lion: p by lr whatever the gradient's size; the direction is taken before the moment moves
    double q[3] = {1, 1, 1}, n[3] = {0, 0, 1};
    const double h[3] = {1e-200, 0, -4};
    ref_lion(q, n, h, 3, 0.125, 0.75, 0.5, 0);
    assert_true(q[0] == 0.875 && q[1] == 1 && q[2] == 1.125 && n[2] == -1.5);
    // Muon: of one number x is quintic(1) of either sign, the step 0.2 of it
    double w = 1, b = 0;
    const double down = -7;
    assert_int_equal(ref_muon(&w, &b, &down, 1, 1, 0.5, 0.75, 0.5), 0);
    assert_true(fabs(b + 1.75) < 1e-15 && fabs(w - (1 - 0.25 + 0.5 * 0.2 * quintic(1))) < 1e-6);
}

// ---- Linear and landmark attention, block filter, transforms and long convolution with batches and strides
typedef struct {
    int kind;
    ref_linattn linear;
    ref_landmark landmark;
    double *q, *k, *v, *marks, *y, *saved, *weights;
    int32_t *chosen;
    size_t taps, block;
    double lambda, forget;
} sequence_case;
enum { SB = 2, SL = 7, SD = 4, SH = 2, SS = 5, SN = SB * SL * SS };

static double sequence_sum(void *with) {
    sequence_case *c = with;
    switch (c->kind) {
    case 0:
        ref_linattn_fwd(c->y, c->saved, c->q, c->k, c->v, &c->linear);
        break;
    case 1:
        ref_landmark_fwd(c->y, c->saved, c->chosen, c->q, c->k, c->v, c->marks, &c->landmark);
        break;
    case 2:
        ref_block_filter_fwd(c->y, c->q, SB, SL, SD, c->block, c->forget);
        break;
    case 3:
        ref_longconv_fwd(c->y, c->q, c->k, c->v, SB, SL, SD, c->taps, c->lambda, SD);
        break;
    }
    return ref_dot(c->y, c->weights, SB * SL * SD);
}

static void sequence_twins(void **unused) {
    (void)unused;
    double q[SN], k[SN], v[SN], marks[SN], y[SN], saved[SB * SH * SL * 2], w[SN], dq[SN] = {0}, dk[SN] = {0},
                                                                                  dv[SN] = {0};
    int32_t chosen[SB * SH * SL];
    state = 90;
    fill(q, SN, 1);
    fill(k, SN, 1);
    fill(v, SN, 1);
    fill(marks, SN, 1);
    fill(w, SN, 1);
    sequence_case c = {
        .q = q, .k = k, .v = v, .marks = marks, .y = y, .saved = saved, .weights = w, .chosen = chosen};
    for (int norm = REF_LINATTN_NONE; norm <= REF_LINATTN_SUM; norm++) {
        c.linear = (ref_linattn){SB, SL, SD, SH, SS, 3, (ref_linattn_norm)norm, 1e-5, 0};
        for (size_t i = 0; i < SN && norm == REF_LINATTN_SUM; i++)
            q[i] = fabs(q[i]) + 0.1, k[i] = fabs(k[i]) + 0.1;
        sequence_sum(&c);
        ref_linattn_bwd(dq, dk, dv, w, q, k, v, y, saved, &c.linear);
        check_gradient("linattn q", q, dq, SN, 0, sequence_sum, &c);
        check_gradient("linattn k", k, dk, SN, 0, sequence_sum, &c);
        check_gradient("linattn v", v, dv, SN, 0, sequence_sum, &c);
    }
    c.kind = 1;
    fill(q, SN, 1);
    fill(k, SN, 1);
    for (size_t block = 1; block <= 8; block += 2) {
        c.landmark = (ref_landmark){SB, SL, SD, SH, SS, block, 0.6};
        sequence_sum(&c);
        ref_landmark_bwd(dq, dk, dv, w, q, k, v, y, saved, chosen, &c.landmark);
        check_gradient("landmark q", q, dq, SN, 0, sequence_sum, &c);
        check_gradient("landmark k", k, dk, SN, 0, sequence_sum, &c);
        check_gradient("landmark v", v, dv, SN, 0, sequence_sum, &c);
    }
    c.kind = 2;
    for (c.block = 1; c.block <= 9; c.block += 2)
        for (int rho = 0; rho < 2; rho++) {
            c.forget = rho ? -expm1(-1 / (double)c.block) : 0;
            ref_block_filter_bwd(dq, w, SB, SL, SD, c.block, c.forget);
            check_gradient("block filter", q, dq, SB * SL * SD, 0, sequence_sum, &c);
            double taps[SL], direct[SN];
            for (size_t i = 0; i < SL; i++) taps[i] = rho ? exp(-(double)i / (double)c.block) : i < c.block;
            sequence_sum(&c);
            ref_conv_fwd(direct, q, taps, SB, SL, SD, 1, SL, 0, SD, SD);
            for (size_t i = 0; i < SB * SL * SD; i++) assert_true(fabs(direct[i] - y[i]) < 1e-14);
        }
    c.kind = 3;
    for (c.taps = 1; c.taps <= 9; c.taps += 2)
        for (int squash = 0; squash < 2; squash++) {
            double dtaps[SD * 9] = {0}, dskip[SD] = {0};
            c.lambda = squash ? 0.3 : 0;
            for (size_t i = 0; i < SD * 9; i++)
                k[i] += fabs(fabs(k[i]) - 0.3) < 0.01 ? 0.05 : 0; // away from the kink
            ref_longconv_bwd(dq, dtaps, dskip, w, q, k, v, SB, SL, SD, c.taps, c.lambda, SD);
            check_gradient("longconv x", q, dq, SB * SL * SD, 0, sequence_sum, &c);
            check_gradient("longconv kernel", k, dtaps, SD * c.taps, 0, sequence_sum, &c);
            check_gradient("longconv skip", v, dskip, SD, 0, sequence_sum, &c);
        }
}

// elu + 1 is once differentiable at 0; away from it the slope comes from the output.
static void elu_from_its_output(void **unused) {
    (void)unused;
    for (double x = -5.05; x <= 5; x += 0.3) {
        curve c = {ref_elu1_fwd, x, 0};
        double one = 1, dx;
        curve_value(&c);
        ref_elu1_bwd(&dx, &one, &c.y, 1);
        check_gradient("elu + 1", &c.x, &dx, 1, 0.1, curve_value, &c);
    }
}

// There and back is the input; the first line is the sum; a delay turns the phase.
static void transforms(void **unused) {
    (void)unused;
    for (size_t N = 1; N <= 16; N *= 2) {
        enum { D = 2 };
        double x[2 * 16 * D], X[2 * 9 * 2 * D], back[2 * 16 * D];
        state = 95;
        fill(x, 2 * N * D, 1);
        ref_rfft_fwd(X, x, 2, N, D);
        for (size_t c = 0; c < D; c++) // the first line is the sum, in both sequences
            for (size_t b = 0; b < 2; b++) {
                double sum = 0;
                for (size_t t = 0; t < N; t++) sum += x[(b * N + t) * D + c];
                assert_true(fabs(X[b * (N / 2 + 1) * 2 * D + c] - sum) < 1e-13);
            }
        for (size_t b = 0; b < 2; b++) // not read
            for (size_t c = 0; c < D; c++)
                X[(b * (N / 2 + 1) * 2 + 1) * D + c] = X[((b * (N / 2 + 1) + N / 2) * 2 + 1) * D + c] = NAN;
        ref_rfft_inv(back, X, 2, N, D);
        assert_true(distance(back, x, 2 * N * D) < 1e-13);
    }
    double delayed[4] = {0, 1, 0, 0}, X[6];
    ref_rfft_fwd(X, delayed, 1, 4, 1);
    static const double want[6] = {1, 0, 0, -1, -1, 0}; // e^(-2 pi i k / 4)
    assert_true(distance(X, want, 6) < 1e-15);
}

// ---- Equal forms
static void linear_attention_has_three_forms(void **unused) {
    (void)unused;
    enum { L = 11, D = 6, H = 2 };
    double q[L * D], k[L * D], v[L * D], a[L * D], b[L * D];
    state = 50;
    fill(q, L * D, 1);
    fill(k, L * D, 1);
    fill(v, L * D, 1);
    ref_linattn_quadratic(a, q, k, v, L, D, H);
    assert_int_equal(ref_linattn_recurrent(b, q, k, v, L, D, H), 0);
    assert_true(distance(a, b, L * D) < 1e-13);
    for (size_t C = 1; C <= L + 1; C++) {
        assert_int_equal(ref_linattn_tiled(b, q, k, v, L, D, H, C), 0);
        assert_true(distance(a, b, L * D) < 1e-13);
    }
}

static void short_kernels_fuse_exactly(void **unused) {
    (void)unused;
    enum { L = 9, D = 2 };
    for (size_t n = 1; n <= 5; n++) {
        double x[L * D], s3[D * 3], sn[D * 5], fused[D * 5], a[L * D], b[L * D];
        state = 60 + n;
        fill(x, L * D, 1);
        fill(s3, D * 3, 1);
        fill(sn, D * 5, 1);
        ref_short_fuse(fused, s3, sn, D, n);
        assert_int_equal(ref_short_sum_fwd(a, x, s3, sn, L, D, n), 0);
        ref_conv_fwd(b, x, fused, 1, L, D, D, n > 3 ? n : 3, 0, D, D);
        assert_true(distance(a, b, L * D) < 1e-14);
    }
    assert_true(ref_short_n(1) == 1 && ref_short_n(3) == 2 && ref_short_n(4) == 3 && ref_short_n(10) == 3 &&
                ref_short_n(17) == 4 && ref_short_n(100) == 5 && ref_short_n(101) == 6);
}

// Pooling the map is a box filter on the values: AP(A) V = A (T V).
static void pooling_commutes(void **unused) {
    (void)unused;
    enum { L = 8, D = 4 };
    double q[L * D], k[L * D], v[L * D], tv[L * D], a[L * D], b[L * D], box[9];
    for (size_t P = 1; P <= 9; P += 2)
        for (int trailing = 0; trailing < 2; trailing++) {
            state = 70 + P;
            fill(q, L * D, 1);
            fill(k, L * D, 1);
            fill(v, L * D, 1);
            for (size_t r = 0; r < P; r++) box[r] = 1 / (double)P;
            ref_las p = {L,    D, 2, P, 0, REF_DECAY_ALIBI, trailing ? REF_POOL_TRAILING : REF_POOL_CENTRED,
                         NULL, 0};
            assert_int_equal(ref_las_heads_fwd(a, q, k, v, &p), 0);
            ref_conv_fwd(tv, v, box, 1, L, D, 1, P, trailing ? 0 : P / 2, D, D);
            ref_heads heads = {L, D, 2, 1, REF_POS_ALIBI, 0};
            assert_int_equal(ref_heads_fwd(b, q, k, tv, NULL, &heads), 0);
            assert_true(distance(a, b, L * D) < 1e-14);
        }
}

// A causal bin equals the literal one with the impulse response truncated to R taps, linear instead of
// circular.
static void focus_literal_is_circular_and_reversed(void **unused) {
    (void)unused;
    enum { R = 7 };
    double theta[2] = {0.3, 0.2}, x[R] = {0, 0, 0, 1, 0, 0, 0}, y[R], z[R];
    ref_focus_filter p = {R, 1, 1, 1, REF_FOCUS_LITERAL};
    assert_int_equal(ref_focus_filter_fwd(y, x, theta, &p), 0);
    for (int t = 0; t < R; t++) { // y_t + theta_0 y_{t+1} + theta_1 y_{t+2} = x_t around the circle
        double back = y[t] + theta[0] * y[(t + 1) % R] + theta[1] * y[(t + 2) % R];
        assert_true(fabs(back - x[t]) < 1e-14);
    }
    p.mode = REF_FOCUS_CAUSAL;
    assert_int_equal(ref_focus_filter_fwd(z, x, theta, &p), 0);
    for (int t = 0; t < R; t++) {
        double back = z[t] + theta[0] * (t > 0 ? z[t - 1] : 0) + theta[1] * (t > 1 ? z[t - 2] : 0);
        assert_true(fabs(back - x[t]) < 1e-15 && (t >= 3 || z[t] == 0));
    }
    assert_true(fabs(y[2]) > 0.1); // the literal form answers before the impulse
}

// S4D's kernel against the discretised recurrence h_t = e^(dt A) h_{t-1} + B x_t, in real arithmetic.
static void s4d_kernel_is_its_recurrence(void **unused) {
    (void)unused;
    enum { L = 9, S = 3 }; // |dt A| on both sides of where the series takes over, and tiny
    double log_dt = -1, log_a[S] = {-20, -1, 0.3}, a_im[S] = {2, 0.3, -0.7};
    double c[2 * S] = {0.5, -0.3, 1, 0.2, -0.4, 0.6}, kernel[L];
    ref_s4d_weights w = {&log_dt, log_a, a_im, c, NULL};
    assert_int_equal(ref_s4d_kernel_fwd(kernel, &w, L, 1, S), 0);
    double want[L] = {0}, dt = exp(log_dt);
    for (size_t s = 0; s < S; s++) {
        double re = -exp(log_a[s]), im = a_im[s], size = re * re + im * im;
        double er = exp(dt * re) * cos(dt * im), ei = exp(dt * re) * sin(dt * im);
        double hr = ((er - 1) * re + ei * im) / size, hi = (ei * re - (er - 1) * im) / size; // (e - 1) / A
        for (size_t l = 0; l < L; l++) {
            want[l] += 2 * (c[2 * s] * hr - c[2 * s + 1] * hi);
            double next = hr * er - hi * ei;
            hi = hr * ei + hi * er;
            hr = next;
        }
    }
    assert_true(distance(kernel, want, L) < 1e-14);
}

// The landmark choice: a block is chosen by its landmark alone, the lowest index wins a tie.
static void lcat_chooses_by_landmark(void **unused) {
    (void)unused;
    enum { L = 8, D = 2 };
    double eye[4] = {1, 0, 0, 1}, x[L * D] = {1, 0, 0, 0, 3, 0, 0, 0, 3, 0, 0, 0, 1, 0, 1, 0}, y[L * D];
    int32_t chosen[L];
    ref_lcat_weights w = {eye, eye, eye, eye, NULL};
    ref_lcat p = {L, D, 1, 2, 1, REF_LCAT_BOX, 0};
    assert_int_equal(ref_lcat_fwd(y, chosen, x, &w, &p), 0);
    static const int32_t want[L] = {-1, -1, 0, 0, 1, 0, 1, 1}; // row 5 is zero: all tie
    for (size_t i = 0; i < L; i++) assert_int_equal(chosen[i], want[i]);
}

// Block n scores n (n + 1) / 2, a query's lead over the next is the number of its blocks but one; of each
// sequence, head and query in turn all scores are an eighth of that, and so is the smallest lead.
static void landmarks_lead(void **unused) {
    (void)unused;
    enum { B = 2, L = 9, H = 2, D = 4, ROWS = B * H * L };
    const ref_landmark p = {.B = B, .L = L, .D = D, .H = H, .stride = D, .block = 2};
    for (size_t closest = 0; closest < ROWS; closest++) {
        double q[B * L * D] = {0}, marks[B * L * D] = {0}, squares = 0, least = INFINITY;
        size_t scores = 0;
        for (size_t b = 0; b < B; b++)
            for (size_t h = 0; h < H; h++)
                for (size_t i = 0; i < L; i++) {
                    const size_t at = (b * L + i) * D + h * (D / H), row = (b * H + h) * L + i;
                    const double lead = row == closest ? 0.125 : 1;
                    q[at] = lead;
                    const size_t n_blocks = i / 2;
                    if (i % 2)
                        marks[at] = (double)(n_blocks * (n_blocks + 1) / 2),
                        marks[at + 1] = 9; // q has 0 there
                    for (size_t n = 0; n < n_blocks; n++, scores++) {
                        const double score = lead * (double)(n * (n + 1) / 2);
                        squares += score * score;
                    }
                    if (n_blocks > 1) least = fmin(least, lead * (double)(n_blocks - 1));
                }
        const double want = least / sqrt(squares / (double)scores);
        assert_true(fabs(ref_landmark_lead(q, marks, &p) - want) < 1e-15);
    }
    const ref_landmark one = {.B = 1, .L = 3, .D = 1, .H = 1, .stride = 1, .block = 2};
    assert_true(isinf(ref_landmark_lead((double[3]){1, 1, 1}, (double[3]){1, 1, 1}, &one)));
}

static void sum_normaliser_at_zero(void **unused) {
    (void)unused;
    double q[2] = {-800, 1}, k[2] = {0.5, 0.2}, v[2] = {1, 2}, dy[2] = {1, 1}, y[2], dq[2], dk[2], dv[2];
    ref_linattn p = {1, 2, 1, 1, 1, 0, REF_LINATTN_SUM, 0, 0};
    assert_int_equal(ref_linear_attention_fwd(y, q, k, v, &p), 0);
    assert_true(y[0] == 0 && fabs(y[1] - (1.5 + 2.4) / 2.7) < 1e-15);
    assert_int_equal(ref_linear_attention_bwd(dq, dk, dv, dy, q, k, v, &p), 0);
    assert_true(dq[0] == 0 && isfinite(dk[0]) && fabs(dv[0] - 1.5 / 2.7) < 1e-15);
}

static void alibi_slopes_are_the_printed_ones(void **unused) {
    (void)unused;
    double bias[8 * 3]; // L = 2: entry 1 is the diagonal
    ref_alibi_bias(bias, 2, 8, 1);
    for (size_t h = 0; h < 8; h++) // 1/2, 1/4, ... 1/256 for 8 heads (Press et al. 2022)
        assert_true(bias[h * 3] == -ldexp(1, -(int)h - 1) && bias[h * 3 + 1] == 0 &&
                    bias[h * 3 + 2] == bias[h * 3]);
}

// Tap j of a two-sided filter meets row t - (j - W): taps below W look ahead.
static void two_sided_taps(void **unused) {
    (void)unused;
    enum { L = 5, W = 2 };
    double x[L] = {1, 2, 3, 4, 5}, one = 1, y[L];
    for (size_t j = 0; j <= 2 * W; j++) {
        double f[2 * W + 1] = {0};
        f[j] = 1;
        ref_filtered p = {L, 1, 1, W, 0, 1, 0};
        assert_int_equal(ref_filtered_linear_fwd(y, x, &one, f, &p), 0);
        for (int t = 0; t < L; t++) {
            int from = t - ((int)j - W);
            assert_true(y[t] == (from >= 0 && from < L ? x[from] : 0));
        }
    }
}

static void squash_thresholds(void **unused) {
    (void)unused;
    double x[2] = {1, 10}, k[2] = {0, -0.5}, y[2], dy[2] = {1, 1}, dx[2], dk[2] = {0};
    ref_long_conv_fwd(y, x, k, NULL, 2, 1, 0.2);
    assert_true(y[0] == 0 && y[1] == -0.3);
    ref_long_conv_bwd(dx, dk, NULL, dy, x, k, NULL, 2, 1, 0.2);
    assert_true(dk[0] == 0 && dk[1] == 1);
    ref_long_conv_bwd(dx, dk, NULL, dy, x, k, NULL, 2, 1, 0); // off: a zero tap learns too
    assert_true(dk[0] == 11 && dk[1] == 2);
}

static void las_alphas_span_the_range(void **unused) {
    (void)unused;
    double a[8];
    ref_las_alphas(a, 1, 3);
    assert_true(a[0] == 0);
    ref_las_alphas(a, 8, 700);
    for (size_t h = 0; h < 8; h++) assert_true(isfinite(a[h]) && (h == 0 ? a[0] == 0 : a[h] > a[h - 1]));
    assert_true(fabs(a[7] - 700) < 1e-9);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_match_differences),
        cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(every_mechanism_is_checked),
        cmocka_unit_test(attention_with_tables),
        cmocka_unit_test(mixed_maps),
        cmocka_unit_test(sequence_twins),
        cmocka_unit_test(elu_from_its_output),
        cmocka_unit_test(transforms),
        cmocka_unit_test(all_masked_row_is_zero),
        cmocka_unit_test(convolutions_with_strides),
        cmocka_unit_test(activations),
        cmocka_unit_test(rows_and_tokens),
        cmocka_unit_test(products_in_all_transposes),
        cmocka_unit_test(loss_and_optimiser),
        cmocka_unit_test(newton_schulz),
        cmocka_unit_test(other_optimisers),
        cmocka_unit_test(linear_attention_has_three_forms),
        cmocka_unit_test(short_kernels_fuse_exactly),
        cmocka_unit_test(pooling_commutes),
        cmocka_unit_test(focus_literal_is_circular_and_reversed),
        cmocka_unit_test(s4d_kernel_is_its_recurrence),
        cmocka_unit_test(lcat_chooses_by_landmark),
        cmocka_unit_test(landmarks_lead),
        cmocka_unit_test(sum_normaliser_at_zero),
        cmocka_unit_test(alibi_slopes_are_the_printed_ones),
        cmocka_unit_test(two_sided_taps),
        cmocka_unit_test(squash_thresholds),
        cmocka_unit_test(las_alphas_span_the_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
