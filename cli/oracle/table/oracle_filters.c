// oracle_filters.c: Focus, convolutions, linear attention and CHELA for oracle_table.c.
#include "oracle_table.h"
#include <seqmix/ref.h>

// ---- Focus
static int bins_fit(oracle_case *c) { return oracle_divides(c, "n_bins", "L"); }

static int run_focus_filter(oracle_case *c) {
    ref_focus_filter p = {SIZE(L), SIZE(D), SIZE(n_bins), SIZE(F), (ref_focus_mode)oracle_choice(c, "mode")};
    int status = ref_focus_filter_fwd(OUT("y"), IN("x"), IN("theta"), &p);
    if (!status && IN("dy"))
        status = ref_focus_filter_bwd(GRAD("x"), GRAD("theta"), IN("dy"), IN("x"), IN("theta"), &p);
    return status;
}

#define FOCUS_GATES                                                                                          \
    INPUT("wq", "D D"), INPUT("wk", "D D"), INPUT("wv", "D D"), INPUT("w_gamma", "D D"),                     \
        INPUT("w_phi", "D D"), INPUT("w_h", "D D"), INPUT("u_h", "D D"), INPUT("b_gamma", "D"),              \
        INPUT("b_phi", "D"), INPUT("b_h", "D")
static const oracle_array focus_arrays[] = {INPUT("x", "L D"),
                                            INPUT("conv_k", "D L"),
                                            MAYBE("conv_skip", "D"),
                                            INPUT_IF("hyper=local_global", "local_k", "D local"),
                                            INPUT_IF("hyper=per_channel", "hyper_w1", "O hidden"),
                                            INPUT_IF("hyper=local_global", "hyper_w1", "O*2 hidden"),
                                            INPUT_IF("hyper=joint", "hyper_w1", "D*O hidden"),
                                            INPUT("hyper_b1", "hidden"),
                                            INPUT_IF("hyper=per_channel", "hyper_w2", "hidden F*2"),
                                            INPUT_IF("hyper=per_channel", "hyper_b2", "F*2"),
                                            INPUT_IF("hyper=local_global", "hyper_w2", "hidden F*2"),
                                            INPUT_IF("hyper=local_global", "hyper_b2", "F*2"),
                                            INPUT_IF("hyper=joint", "hyper_w2", "hidden D*F*2"),
                                            INPUT_IF("hyper=joint", "hyper_b2", "D*F*2"),
                                            FOCUS_GATES,
                                            RESULT("L D"),
                                            MIDDLE("g", "L D"),
                                            MIDDLE_IF("hyper=per_channel", "e", "n_bins D O"),
                                            MIDDLE_IF("hyper=joint", "e", "n_bins D O"),
                                            MIDDLE_IF("hyper=local_global", "e", "n_bins D O*2"),
                                            MIDDLE("theta", "n_bins D F 2"),
                                            MIDDLE("x_f", "L D"),
                                            MIDDLE("y_attn", "L D"),
                                            END};
static const oracle_array focus_h_arrays[] = {INPUT("x", "L D"),
                                              INPUT("theta_raw", "D F 2"),
                                              FOCUS_GATES,
                                              RESULT("L D"),
                                              MIDDLE("theta", "n_bins D F 2"),
                                              MIDDLE("x_f", "L D"),
                                              MIDDLE("y_attn", "L D"),
                                              END};

static int focus_fits(oracle_case *c) {
    return oracle_heads_fit(c) || bins_fit(c) || oracle_divides(c, "C", "L") ? -1 : 0;
}

static ref_focus_weights focus_weights(double *(*get)(const oracle_case *, const char *),
                                       const oracle_case *c) {
    return (ref_focus_weights){
        get(c, "conv_k"),   get(c, "conv_skip"), get(c, "hyper_w1"), get(c, "hyper_b1"), get(c, "hyper_w2"),
        get(c, "hyper_b2"), get(c, "theta_raw"), get(c, "wq"),       get(c, "wk"),       get(c, "wv"),
        get(c, "w_gamma"),  get(c, "b_gamma"),   get(c, "w_phi"),    get(c, "b_phi"),    get(c, "w_h"),
        get(c, "u_h"),      get(c, "b_h"),       get(c, "local_k")};
}

static int run_focus(oracle_case *c) {
    int constant = IN("theta_raw") != NULL;
    ref_focus p = {.L = SIZE(L),
                   .D = SIZE(D),
                   .H = SIZE(H),
                   .n_bins = SIZE(n_bins),
                   .F = SIZE(F),
                   .O = constant ? 0 : SIZE(O),
                   .C = SIZE(C),
                   .hidden = constant ? 0 : SIZE(hidden),
                   .mode = (ref_focus_mode)oracle_choice(c, "mode"),
                   .theta = (ref_theta)oracle_choice(c, "theta"),
                   .joint = !constant && oracle_choice(c, "hyper") == 1,
                   .sum = oracle_real(c, "theta_sum"),
                   .lambda = constant ? 0 : oracle_real(c, "lambda"),
                   .local = IN("local_k") ? SIZE(local) : 0};
    ref_focus_weights w = focus_weights(oracle_data, c), dw = focus_weights(oracle_grad, c);
    ref_focus_mid mid = {OUT("g"), OUT("e"), OUT("theta"), OUT("x_f"), OUT("y_attn")};
    int status = ref_focus_layer_fwd(OUT("y"), &mid, IN("x"), &w, &p);
    if (!status && IN("dy")) status = ref_focus_layer_bwd(GRAD("x"), &dw, IN("dy"), IN("x"), &w, &p);
    return status;
}

// ---- Convolutions
static int conv_fits(oracle_case *c) {
    if (oracle_divides(c, "groups", "D")) return -1;
    if (SIZE(future) < SIZE(W)) return 0;
    return oracle_fail(c, "future = %zu; it must be below W = %zu", SIZE(future), SIZE(W));
}

static int run_short_conv(oracle_case *c) {
    size_t L = SIZE(L), D = SIZE(D), groups = SIZE(groups), W = SIZE(W), future = SIZE(future);
    ref_conv_fwd(OUT("y"), IN("x"), IN("filter"), 1, L, D, groups, W, future, D, D);
    if (IN("dy"))
        ref_conv_bwd(GRAD("x"), GRAD("filter"), IN("dy"), IN("x"), IN("filter"), 1, L, D, groups, W, future,
                     D, D);
    return 0;
}

static int run_long_conv(oracle_case *c) {
    size_t L = SIZE(L), D = SIZE(D);
    double lambda = oracle_real(c, "lambda");
    const double *ahead = IN("conv_ahead");
    ref_long_conv_fwd(OUT("y"), IN("x"), IN("conv_k"), IN("conv_skip"), L, D, lambda);
    if (ahead) ref_long_conv_ahead_fwd(OUT("y"), IN("x"), ahead, L, D, lambda);
    if (!IN("dy")) return 0;
    ref_long_conv_bwd(GRAD("x"), GRAD("conv_k"), GRAD("conv_skip"), IN("dy"), IN("x"), IN("conv_k"),
                      IN("conv_skip"), L, D, lambda);
    if (ahead) ref_long_conv_ahead_bwd(GRAD("x"), GRAD("conv_ahead"), IN("dy"), IN("x"), ahead, L, D, lambda);
    return 0;
}

// The long kernel of the rows after each.
#define AHEAD MAYBE_IF("causal=false", "conv_ahead", "D L")
#define SHORTS INPUT("short_3", "D 3"), INPUT("short_n", "D short_n")

static ref_short_long_weights short_long_weights(double *(*get)(const oracle_case *, const char *),
                                                 const oracle_case *c) {
    return (ref_short_long_weights){get(c, "short_3"), get(c, "short_n"), get(c, "conv_k"),
                                    get(c, "conv_skip"), get(c, "conv_ahead")};
}

static int run_short_long(oracle_case *c) {
    ref_short_long p = {SIZE(L), SIZE(D), SIZE(short_n), oracle_real(c, "lambda")};
    ref_short_long_weights w = short_long_weights(oracle_data, c), dw = short_long_weights(oracle_grad, c);
    int status = ref_short_long_fwd(OUT("y"), IN("x"), &w, &p);
    if (!status && IN("dy")) status = ref_short_long_bwd(GRAD("x"), &dw, IN("dy"), IN("x"), &w, &p);
    return status;
}

static int fuse_sizes(oracle_case *c) {
    oracle_put_size(c, "fused_n", SIZE(short_n) > 3 ? SIZE(short_n) : 3);
    return 0;
}

static int run_short_fuse(oracle_case *c) {
    size_t L = SIZE(L), D = SIZE(D), n = SIZE(short_n);
    ref_short_fuse(OUT("fused"), IN("short_3"), IN("short_n"), D, n);
    int status = ref_short_sum_fwd(OUT("y"), IN("x"), IN("short_3"), IN("short_n"), L, D, n);
    if (!status && IN("dy"))
        status = ref_short_sum_bwd(GRAD("x"), GRAD("short_3"), GRAD("short_n"), IN("dy"), IN("x"),
                                   IN("short_3"), IN("short_n"), L, D, n);
    return status;
}

// ---- Linear attention and CHELA
static int run_linear_attention(oracle_case *c) {
    ref_linattn p = {1,
                     SIZE(L),
                     SIZE(D),
                     SIZE(H),
                     SIZE(D),
                     0,
                     (ref_linattn_norm)oracle_choice(c, "normaliser"),
                     oracle_real(c, "eps"),
                     !oracle_flag(c, "causal")};
    int status = ref_linear_attention_fwd(OUT("y"), IN("q"), IN("k"), IN("v"), &p);
    if (!status && IN("dy"))
        status = ref_linear_attention_bwd(GRAD("q"), GRAD("k"), GRAD("v"), IN("dy"), IN("q"), IN("k"),
                                          IN("v"), &p);
    return status;
}

#define CHELA                                                                                                \
    INPUT("x", "L D"), SHORTS, INPUT("conv_k", "D L"), MAYBE("conv_skip", "D"), AHEAD,                       \
        INPUT("alpha_q", "D"), INPUT("beta_q", "D"), INPUT("alpha_k", "D"), INPUT("beta_k", "D"),            \
        INPUT("w_v", "D D"), INPUT("w_g", "D D"), INPUT("w_o", "D D"), INPUT("b_v", "D"), INPUT("b_g", "D"), \
        INPUT("b_o", "D")
#define LAYER_NORMS                                                                                          \
    INPUT("ln1_gain", "D"), INPUT("ln1_bias", "D"), INPUT("ln2_gain", "D"), INPUT("ln2_bias", "D")

static const oracle_array chela_arrays[] = {CHELA, RESULT("L D"), MIDDLE("z", "L D"), MIDDLE("m", "L D"),
                                            END};
static const oracle_array chela_block_arrays[] = {CHELA,
                                                  LAYER_NORMS,
                                                  INPUT("ffn_w1", "D ffn_mult*D"),
                                                  INPUT("ffn_b1", "ffn_mult*D"),
                                                  INPUT("ffn_w2", "ffn_mult*D D"),
                                                  INPUT("ffn_b2", "D"),
                                                  RESULT("L D"),
                                                  END};

static ref_chela_weights chela_weights(double *(*get)(const oracle_case *, const char *),
                                       const oracle_case *c) {
    return (ref_chela_weights){short_long_weights(get, c),
                               get(c, "alpha_q"),
                               get(c, "beta_q"),
                               get(c, "alpha_k"),
                               get(c, "beta_k"),
                               get(c, "w_v"),
                               get(c, "b_v"),
                               get(c, "w_g"),
                               get(c, "b_g"),
                               get(c, "w_o"),
                               get(c, "b_o")};
}

static ref_chela chela_params(const oracle_case *c) {
    return (ref_chela){SIZE(L),
                       SIZE(D),
                       SIZE(H),
                       SIZE(short_n),
                       oracle_real(c, "lambda"),
                       oracle_real(c, "eps"),
                       !oracle_flag(c, "causal")};
}

static int run_chela(oracle_case *c) {
    ref_chela p = chela_params(c);
    ref_chela_weights w = chela_weights(oracle_data, c), dw = chela_weights(oracle_grad, c);
    int status = ref_chela_layer_fwd(OUT("y"), OUT("z"), OUT("m"), IN("x"), &w, &p);
    if (!status && IN("dy")) status = ref_chela_layer_bwd(GRAD("x"), &dw, IN("dy"), IN("x"), &w, &p);
    return status;
}

static ref_chela_block_weights block_weights(double *(*get)(const oracle_case *, const char *),
                                             const oracle_case *c) {
    return (ref_chela_block_weights){
        chela_weights(get, c), get(c, "ln1_gain"),
        get(c, "ln1_bias"),    get(c, "ln2_gain"),
        get(c, "ln2_bias"),    {get(c, "ffn_w1"), get(c, "ffn_b1"), get(c, "ffn_w2"), get(c, "ffn_b2")}};
}

static int run_chela_block(oracle_case *c) {
    ref_chela_block p = {chela_params(c), SIZE(ffn_mult) * SIZE(D), (ref_act)oracle_choice(c, "ffn_act"),
                         oracle_flag(c, "residual")};
    ref_chela_block_weights w = block_weights(oracle_data, c), dw = block_weights(oracle_grad, c);
    int status = ref_chela_block_fwd(OUT("y"), IN("x"), &w, &p);
    if (!status && IN("dy")) status = ref_chela_block_bwd(GRAD("x"), &dw, IN("dy"), IN("x"), &w, &p);
    return status;
}

// ---- The list
#define FOCUS_PARAMS                                                                                         \
    "L:size D:size H:size=1 n_bins:size F:size C:size=1 mode:literal|causal|carry=causal "                   \
    "theta:sigmoid|triangle|bounded=sigmoid theta_sum:real=0.9 "
#define CHELA_PARAMS "L:size D:size H:size=1 short_n:size lambda:real=0 eps:real=1e-5 causal:flag=true "

const oracle_mechanism oracle_filters[] = {
    {"focus_filter", "[Focus] Eqs. 5-8", "L:size D:size n_bins:size F:size mode:literal|causal|carry=causal",
     ARRAYS(INPUT("x", "L D"), INPUT("theta", "n_bins D F 2"), RESULT("L D")), bins_fit, run_focus_filter},
    {"focus_layer", "[Focus] Eqs. 1-14",
     FOCUS_PARAMS
     "O:size hidden:size hyper:per_channel|joint|local_global=per_channel local:size0=0 lambda:real=0",
     focus_arrays, focus_fits, run_focus},
    {"focus_h", "[Focus] Focus-H (constant filters)", FOCUS_PARAMS, focus_h_arrays, focus_fits, run_focus},
    {"short_conv", "[CAT] Def. 1: one filter per group of channels, future taps look ahead",
     "L:size D:size groups:size=1 W:size future:size0=0",
     ARRAYS(INPUT("x", "L D"), INPUT("filter", "groups W"), RESULT("L D")), conv_fits, run_short_conv},
    {"long_conv", "Fu et al. 2023; [CHELA] Eq. 7", "L:size D:size lambda:real=0 causal:flag=true",
     ARRAYS(INPUT("x", "L D"), INPUT("conv_k", "D L"), MAYBE("conv_skip", "D"), AHEAD, RESULT("L D")), NULL,
     run_long_conv},
    {"short_long", "[CHELA] Eqs. 7-8", "L:size D:size short_n:size lambda:real=0 causal:flag=true",
     ARRAYS(INPUT("x", "L D"), SHORTS, INPUT("conv_k", "D L"), MAYBE("conv_skip", "D"), AHEAD, RESULT("L D")),
     NULL, run_short_long},
    {"short_fuse", "[CHELA] Eq. 8", "L:size D:size short_n:size",
     ARRAYS(INPUT("x", "L D"), SHORTS, RESULT("L D"), OUTPUT("fused", "D fused_n")), fuse_sizes,
     run_short_fuse},
    {"linear_attention", "Katharopoulos et al. 2020; [CHELA]",
     "L:size D:size H:size=1 normaliser:none|rms|sum=none eps:real=1e-5 causal:flag=true" QK_NORM,
     ARRAYS(QKV, RESULT("L D")), oracle_heads_fit, run_linear_attention},
    {"chela_layer", "[CHELA] Eqs. 9-15", CHELA_PARAMS, chela_arrays, oracle_heads_fit, run_chela},
    {"chela_block", "[CHELA] Eqs. 9-15",
     CHELA_PARAMS "residual:flag=false ffn_act:gelu|silu=silu ffn_mult:size=2", chela_block_arrays,
     oracle_heads_fit, run_chela_block},
    {NULL, NULL, NULL, NULL, NULL, NULL}};
