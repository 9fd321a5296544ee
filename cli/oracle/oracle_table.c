// oracle_table.c: the list of the oracle's mechanisms: parameters, arrays with shapes, and the function of
// ref/ that each runs. A new mechanism is one entry of oracle_mechanisms and the few lines that
// unpack its arrays. Long because it is that list.
#include "oracle_table.h"
#include <seqmix/ref.h>

#include <math.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

// ---- Softmax attention and LaS
static int rope_fits(oracle_case *c) {
    if (oracle_heads_fit(c)) return -1;
    if (oracle_choice(c, "pos") == REF_POS_ROPE && SIZE(D) / SIZE(H) % 2)
        return oracle_fail(c, "the head width D/H = %zu is odd; rope needs an even one", SIZE(D) / SIZE(H));
    return 0;
}

static ref_heads heads_params(const oracle_case *c) {
    return (ref_heads){SIZE(L),
                       SIZE(D),
                       SIZE(H),
                       oracle_flag(c, "causal"),
                       (ref_pos)oracle_choice(c, "pos"),
                       oracle_real(c, "rope_base")};
}

static int run_softmax(oracle_case *c) {
    ref_heads p = heads_params(c);
    ref_qkvo w = {IN("wq"), IN("wk"), IN("wv"), IN("wo")},
             dw = {GRAD("wq"), GRAD("wk"), GRAD("wv"), GRAD("wo")};
    int status = ref_softmax_attention_fwd(OUT("y"), IN("x"), &w, &p);
    if (!status && IN("dy")) status = ref_softmax_attention_bwd(GRAD("x"), &dw, IN("dy"), IN("x"), &w, &p);
    return status;
}

static int run_softmax_qkv(oracle_case *c) {
    ref_heads p = heads_params(c);
    int status = ref_heads_fwd(OUT("y"), IN("q"), IN("k"), IN("v"), IN("filter_maps"), &p);
    if (!status && IN("dy"))
        status = ref_heads_bwd(GRAD("q"), GRAD("k"), GRAD("v"), GRAD("filter_maps"), IN("dy"), IN("q"),
                               IN("k"), IN("v"), IN("filter_maps"), &p);
    return status;
}

static int las_fits(oracle_case *c) {
    int pool = oracle_choice(c, "pool");
    if (oracle_heads_fit(c)) return -1;
    if ((pool == REF_POOL_CENTRED || pool == REF_POOL_MASKED) && SIZE(P) % 2 == 0)
        return oracle_fail(c, "P = %zu is even; centred and masked pooling need an odd window", SIZE(P));
    if (pool == REF_POOL_MASKED && !oracle_flag(c, "causal"))
        return oracle_fail(c, "masked pooling cuts at the row itself: it goes with causal=true only");
    const json *alphas = oracle_param(c, "alphas");
    if (alphas && alphas->count != SIZE(H))
        return oracle_fail(c, "alphas has %zu numbers; H = %zu are needed", alphas->count, SIZE(H));
    return 0;
}

// LaS as a layer, or on q, k, v that are given.
static int run_las(oracle_case *c) {
    int given_qkv = IN("q") != NULL;
    double *alphas;
    void *memory = ref_carve(&alphas, SIZE(H), REF_END);
    if (!memory) return REF_NO_MEMORY;
    const json *given = oracle_param(c, "alphas");
    if (given) {
        size_t h = 0;
        for (const json *m = given->child; m; m = m->next) alphas[h++] = m->number;
    } else {
        ref_las_alphas(alphas, SIZE(H), oracle_real(c, "B"));
    }
    ref_las p = {SIZE(L),
                 SIZE(D),
                 SIZE(H),
                 SIZE(P),
                 SIZE(chunk),
                 (ref_decay)oracle_choice(c, "decay"),
                 (ref_pool)oracle_choice(c, "pool"),
                 alphas,
                 !oracle_flag(c, "causal")};
    ref_qkvo w = {IN("wq"), IN("wk"), IN("wv"), IN("wo")},
             dw = {GRAD("wq"), GRAD("wk"), GRAD("wv"), GRAD("wo")};
    int status = given_qkv ? ref_las_heads_fwd(OUT("y"), IN("q"), IN("k"), IN("v"), &p)
                           : ref_las_attention_fwd(OUT("y"), IN("x"), &w, &p);
    if (!status && IN("dy"))
        status = given_qkv ? ref_las_heads_bwd(GRAD("q"), GRAD("k"), GRAD("v"), IN("dy"), IN("q"), IN("k"),
                                               IN("v"), &p)
                           : ref_las_attention_bwd(GRAD("x"), &dw, IN("dy"), IN("x"), &w, &p);
    free(memory);
    return status;
}

static int run_las_alphas(oracle_case *c) {
    ref_las_alphas(OUT("y"), SIZE(H), oracle_real(c, "B"));
    return 0;
}

// ---- CAT
#define PLAIN "mode=per_head value_filter=causal"
static const oracle_array cat_arrays[] = {
    QKVO,
    MAYBE_IF("mode=per_head", "filter_q", "H W"),
    MAYBE_IF("mode=per_head", "filter_k", "H W"),
    MAYBE_IF(PLAIN, "filter_v", "H W"),
    MAYBE_IF("mode=per_head value_filter=two_sided", "filter_v", "H 2*W+1"),
    MAYBE_IF("mode=multi_head", "filter_q", "W H H"),
    MAYBE_IF("mode=multi_head", "filter_k", "W H H"),
    MAYBE_IF("mode=multi_head", "filter_v", "W H H"),
    MAYBE("filter_maps", "H H"),
    RESULT("L D"),
    END};
static const oracle_array lincat_arrays[] = {QKVO,
                                             MAYBE_IF("mode=per_head", "filter_q", "H W"),
                                             MAYBE_IF("mode=per_head", "filter_k", "H W"),
                                             MAYBE_IF("mode=per_head", "filter_v", "H W"),
                                             MAYBE_IF("mode=multi_head", "filter_q", "W H H"),
                                             MAYBE_IF("mode=multi_head", "filter_k", "W H H"),
                                             MAYBE_IF("mode=multi_head", "filter_v", "W H H"),
                                             RESULT("L D"),
                                             END};

static int cat_fits(oracle_case *c) {
    int multi = oracle_choice(c, "mode") == 1;
    if (oracle_choice(c, "pos") >= 0 ? rope_fits(c) : oracle_heads_fit(c)) return -1;
    if (multi && (oracle_flag(c, "norm") || oracle_flag(c, "norm_v")))
        return oracle_fail(c, "norm and norm_v go with mode per_head only");
    if (multi && oracle_choice(c, "value_filter") == 1)
        return oracle_fail(c, "value_filter two_sided goes with mode per_head only");
    return 0;
}

static int run_cat(oracle_case *c) {
    int linear = strcmp(c->mechanism->name, "lincat") == 0;
    ref_cat p = {SIZE(L),
                 SIZE(D),
                 SIZE(H),
                 SIZE(W),
                 oracle_choice(c, "mode") == 1,
                 oracle_choice(c, "value_filter") == 1,
                 oracle_flag(c, "norm"),
                 oracle_flag(c, "norm_v"),
                 linear ? REF_POS_NONE : (ref_pos)oracle_choice(c, "pos"),
                 linear ? 0 : oracle_real(c, "rope_base")};
    ref_cat_weights w = {IN("wq"),       IN("wk"),       IN("wv"),       IN("wo"),
                         IN("filter_q"), IN("filter_k"), IN("filter_v"), IN("filter_maps")};
    ref_cat_weights dw = {GRAD("wq"),       GRAD("wk"),       GRAD("wv"),       GRAD("wo"),
                          GRAD("filter_q"), GRAD("filter_k"), GRAD("filter_v"), GRAD("filter_maps")};
    int status = (linear ? ref_lincat_fwd : ref_cat_attention_fwd)(OUT("y"), IN("x"), &w, &p);
    if (!status && IN("dy"))
        status = (linear ? ref_lincat_bwd : ref_cat_attention_bwd)(GRAD("x"), &dw, IN("dy"), IN("x"), &w, &p);
    return status;
}

static int run_landmark(oracle_case *c) {
    size_t L = SIZE(L), D = SIZE(D), H = SIZE(H);
    double *stats;
    int32_t *chosen = calloc(H * L, sizeof *chosen);
    void *memory = ref_carve(&stats, 2 * H * L, REF_END);
    int status = chosen && memory ? 0 : REF_NO_MEMORY;
    ref_landmark p = {1, L, D, H, D, SIZE(B), 1 / sqrt((double)(D / H))};
    if (!status) ref_landmark_fwd(OUT("y"), stats, chosen, IN("q"), IN("k"), IN("v"), IN("marks"), &p);
    if (!status && IN("dy"))
        ref_landmark_bwd(GRAD("q"), GRAD("k"), GRAD("v"), IN("dy"), IN("q"), IN("k"), IN("v"), OUT("y"),
                         stats, chosen, &p);
    free(memory);
    free(chosen);
    return status;
}

static int run_lcat(oracle_case *c) {
    ref_lcat p = {SIZE(L),
                  SIZE(D),
                  SIZE(H),
                  SIZE(B),
                  SIZE(W),
                  (ref_lcat_filter)oracle_choice(c, "filter"),
                  oracle_choice(c, "dense_keys") == 1};
    ref_lcat_weights w = {IN("wq"), IN("wk"), IN("wv"), IN("wo"), IN("filter_v")};
    ref_lcat_weights dw = {GRAD("wq"), GRAD("wk"), GRAD("wv"), GRAD("wo"), GRAD("filter_v")};
    int status = ref_lcat_fwd(OUT("y"), NULL, IN("x"), &w, &p);
    if (!status && IN("dy")) status = ref_lcat_bwd(GRAD("x"), &dw, IN("dy"), IN("x"), &w, &p);
    return status;
}

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

// ---- Norms, MLP, loss, optimiser, tables
static int run_layer_norm(oracle_case *c) {
    double *stats;
    void *memory = ref_carve(&stats, 2 * SIZE(L), REF_END);
    if (!memory) return REF_NO_MEMORY;
    ref_layernorm_fwd(OUT("y"), stats, IN("x"), IN("gain"), IN("bias"), SIZE(L), SIZE(D),
                      oracle_real(c, "eps"));
    if (IN("dy"))
        ref_layernorm_bwd(GRAD("x"), GRAD("gain"), GRAD("bias"), IN("dy"), IN("x"), IN("gain"), stats,
                          SIZE(L), SIZE(D));
    free(memory);
    return 0;
}

static int run_rms_norm(oracle_case *c) {
    double *rstd;
    void *memory = ref_carve(&rstd, SIZE(L), REF_END);
    if (!memory) return REF_NO_MEMORY;
    ref_rmsnorm_fwd(OUT("y"), rstd, IN("x"), IN("gain"), SIZE(L), SIZE(D), oracle_real(c, "eps"));
    if (IN("dy"))
        ref_rmsnorm_bwd(GRAD("x"), GRAD("gain"), IN("dy"), IN("x"), IN("gain"), rstd, SIZE(L), SIZE(D));
    free(memory);
    return 0;
}

static int run_batch_norm(oracle_case *c) {
    const size_t N = SIZE(N), D = SIZE(D);
    const double eps = oracle_real(c, "eps"), *mean = IN("mean"), *variance = IN("variance");
    if (oracle_choice(c, "mode") == 1) {
        ref_batchnorm_given_fwd(OUT("y"), IN("x"), IN("gain"), IN("bias"), mean, variance, N, D, eps);
        if (IN("dy"))
            ref_batchnorm_given_bwd(GRAD("x"), GRAD("gain"), GRAD("bias"), IN("dy"), IN("x"), IN("gain"),
                                    mean, variance, N, D, eps);
        return 0;
    }
    double *stats;
    void *memory = ref_carve(&stats, 2 * D, REF_END);
    if (!memory) return REF_NO_MEMORY;
    ref_batchnorm_fwd(OUT("y"), stats, IN("x"), IN("gain"), IN("bias"), N, N, D, eps);
    ref_batchnorm_running(OUT("mean_new"), OUT("variance_new"), mean, variance, IN("x"), N, D,
                          oracle_real(c, "momentum"), oracle_flag(c, "unbiased"));
    if (IN("dy"))
        ref_batchnorm_bwd(GRAD("x"), GRAD("gain"), GRAD("bias"), IN("dy"), IN("x"), IN("gain"), stats, N, N,
                          D);
    free(memory);
    return 0;
}

static int share_fits(oracle_case *c) {
    const double p = oracle_real(c, "p");
    return p >= 0 && p < 1 ? 0 : oracle_fail(c, "p is %g; it must be from 0 to below 1", p);
}
static int run_dropout(oracle_case *c) {
    const size_t n = SIZE(N) * SIZE(D);
    const uint32_t step = (uint32_t)SIZE(step), place = (uint32_t)SIZE(place);
    ref_dropout(OUT("y"), IN("x"), n, oracle_real(c, "p"), SIZE(seed), step, place);
    if (IN("dy")) ref_dropout(GRAD("x"), IN("dy"), n, oracle_real(c, "p"), SIZE(seed), step, place);
    return 0;
}

static int run_mlp(oracle_case *c) {
    size_t L = SIZE(L), D = SIZE(D), E = SIZE(mult) * D;
    ref_act act = (ref_act)oracle_choice(c, "act");
    ref_mlp_weights w = {IN("w1"), IN("b1"), IN("w2"), IN("b2")};
    ref_mlp_weights dw = {GRAD("w1"), GRAD("b1"), GRAD("w2"), GRAD("b2")};
    int status = ref_mlp_fwd(OUT("y"), IN("x"), &w, L, D, E, act);
    if (!status && IN("dy")) status = ref_mlp_bwd(GRAD("x"), &dw, IN("dy"), IN("x"), &w, L, D, E, act);
    return status;
}

static int run_cross_entropy(oracle_case *c) {
    size_t L = SIZE(L), V = SIZE(V);
    double *loss, *stats;
    void *memory = ref_carve(&loss, L, &stats, 2 * L, REF_END);
    if (!memory) return REF_NO_MEMORY;
    const int32_t *target = oracle_slot_of(c, ORACLE_INPUT, "target")->ints;
    size_t rows = ref_cross_entropy_fwd(loss, stats, IN("logits"), target, L, V);
    OUT("y")[0] = rows ? ref_sum(loss, L) / (double)rows : 0; // 0 when no row counts
    if (IN("dy"))
        ref_cross_entropy_bwd(GRAD("logits"), IN("logits"), target, stats, L, V,
                              rows ? IN("dy")[0] / (double)rows : 0);
    free(memory);
    return 0;
}

static int run_adamw(oracle_case *c) {
    size_t n = oracle_slot_of(c, ORACLE_INPUT, "p")->count, step = SIZE(step);
    double b1 = oracle_real(c, "beta1"), b2 = oracle_real(c, "beta2");
    ref_adamw_opts o = {oracle_real(c, "lr"),
                        b1,
                        b2,
                        oracle_real(c, "eps"),
                        oracle_real(c, "weight_decay"),
                        1 - pow(b1, (double)step),
                        1 - pow(b2, (double)step),
                        1};
    memcpy(OUT("p_new"), IN("p"), n * sizeof(double));
    memcpy(OUT("m_new"), IN("m"), n * sizeof(double));
    memcpy(OUT("v_new"), IN("v"), n * sizeof(double));
    ref_adamw(OUT("p_new"), OUT("m_new"), OUT("v_new"), IN("g"), n, &o);
    return 0;
}

static int run_sinusoidal(oracle_case *c) {
    ref_sinusoidal(OUT("y"), SIZE(L), SIZE(D), oracle_real(c, "base"));
    return 0;
}

// ---- Comparators
static ref_mega_weights mega_weights(double *(*get)(const oracle_case *, const char *),
                                     const oracle_case *c) {
    return (ref_mega_weights){get(c, "alpha"), get(c, "delta"), get(c, "beta"), get(c, "eta"),
                              get(c, "skip")};
}

static int run_mega(oracle_case *c) {
    ref_mega_weights w = mega_weights(oracle_data, c), dw = mega_weights(oracle_grad, c);
    int status = ref_mega_ema_fwd(OUT("y"), IN("x"), &w, SIZE(L), SIZE(D), SIZE(S));
    if (!status && IN("dy"))
        status = ref_mega_ema_bwd(GRAD("x"), &dw, IN("dy"), IN("x"), &w, SIZE(L), SIZE(D), SIZE(S));
    return status;
}

static ref_s4d_weights s4d_weights(double *(*get)(const oracle_case *, const char *), const oracle_case *c) {
    return (ref_s4d_weights){get(c, "log_dt"), get(c, "log_a"), get(c, "a_im"), get(c, "c"), get(c, "skip")};
}

static int run_s4d(oracle_case *c) {
    ref_s4d_weights w = s4d_weights(oracle_data, c), dw = s4d_weights(oracle_grad, c);
    int status = ref_s4d_fwd(OUT("y"), IN("x"), &w, SIZE(L), SIZE(D), SIZE(S));
    if (!status && IN("dy"))
        status = ref_s4d_bwd(GRAD("x"), &dw, IN("dy"), IN("x"), &w, SIZE(L), SIZE(D), SIZE(S));
    return status;
}

static int run_selective_scan(oracle_case *c) {
    size_t L = SIZE(L), D = SIZE(D), S = SIZE(S);
    int status = ref_selective_scan_fwd(OUT("y"), IN("x"), IN("dt"), IN("a_log"), IN("b"), IN("c"),
                                        IN("skip"), L, D, S);
    if (!status && IN("dy"))
        status = ref_selective_scan_bwd(GRAD("x"), GRAD("dt"), GRAD("a_log"), GRAD("b"), GRAD("c"),
                                        GRAD("skip"), IN("dy"), IN("x"), IN("dt"), IN("a_log"), IN("b"),
                                        IN("c"), IN("skip"), L, D, S);
    return status;
}

static ref_s6_weights s6_weights(double *(*get)(const oracle_case *, const char *), const oracle_case *c) {
    return (ref_s6_weights){get(c, "conv_k"), get(c, "conv_b"), get(c, "w_b"),
                            get(c, "w_c"),    get(c, "w_dt1"),  get(c, "w_dt2"),
                            get(c, "b_dt"),   get(c, "a_log"),  get(c, "skip")};
}

static int run_s6(oracle_case *c) {
    ref_s6 p = {SIZE(L), SIZE(D), SIZE(S), SIZE(W), SIZE(rank)};
    ref_s6_weights w = s6_weights(oracle_data, c), dw = s6_weights(oracle_grad, c);
    int status = ref_s6_layer_fwd(OUT("y"), IN("x"), &w, &p);
    if (!status && IN("dy")) status = ref_s6_layer_bwd(GRAD("x"), &dw, IN("dy"), IN("x"), &w, &p);
    return status;
}

// ---- States that rows are written into (ref/gla.c, ref/delta.c)
// One start and one last state, in each mode but `packed`, which has N of them.
#define STATES(mode) START_IF("mode=" mode, "s0", "H dk dv"), OUTPUT_IF("mode=" mode, "state", "H dk dv")
static const oracle_array gla_arrays[] = {
    INPUT("q", "L H*dk"),
    INPUT("k", "L H*dk"),
    INPUT("v", "L H*dv"),
    INPUT_IF("mode=head", "g", "L H"),
    INPUT_IF("mode=channel", "g", "L H*dk"),
    INPUT_IF("mode=packed", "g", "L H*dk"),
    PACKED,
    STATES("none"),
    STATES("retention"),
    STATES("head"),
    STATES("channel"),
    START_IF("mode=packed", "s0", "N H dk dv"),
    OUTPUT_IF("mode=packed", "state", "N H dk dv"),
    RESULT("L H*dv"),
    END,
};
static const oracle_array delta_arrays[] = {
    INPUT("q", "L H*dk"),
    INPUT("k", "L H*dk"),
    INPUT("v", "L H*dv"),
    INPUT("beta", "L H"),
    INPUT_IF("mode=head", "g", "L H"),
    INPUT_IF("mode=channel", "g", "L H*dk"),
    INPUT_IF("mode=packed", "g", "L H"),
    PACKED,
    STATES("none"),
    STATES("head"),
    STATES("channel"),
    START_IF("mode=packed", "s0", "N H dk dv"),
    OUTPUT_IF("mode=packed", "state", "N H dk dv"),
    RESULT("L H*dv"),
    END,
};

static int gates_fit(oracle_case *c) {
    const json *g = oracle_param(c, "g");
    if (g && g->count != SIZE(H))
        return oracle_fail(c, "g has %zu numbers; H = %zu are needed", g->count, SIZE(H));
    return oracle_packed_fits(c);
}

static ref_state state_params(const oracle_case *c, ref_gates gates) {
    const double scale = oracle_real(c, "scale");
    return (ref_state){
        1, SIZE(L), SIZE(H), SIZE(dk), SIZE(dv), gates, scale > 0 ? scale : 1 / sqrt((double)SIZE(dk))};
}

// What row `first` of an array begins at, and state n; NULL stays NULL.
static double *row_of(double *x, size_t first, size_t columns) { return x ? x + first * columns : NULL; }
#define ROWS(get, name, columns) row_of(get(name), first, columns)
#define STATE(get) row_of(get, n, p.H *p.dk *p.dv)

static int run_gla(oracle_case *c) {
    static const ref_gates of_mode[] = {REF_GATES_NONE, REF_GATES_FIXED, REF_GATES_HEAD, REF_GATES_CHANNEL,
                                        REF_GATES_CHANNEL};
    ref_state p = state_params(c, of_mode[oracle_choice(c, "mode")]);
    const size_t k = p.H * p.dk, v = p.H * p.dv, width = p.gates == REF_GATES_HEAD ? p.H : k;
    double *fixed;
    void *memory = ref_carve(&fixed, SIZE(H), REF_END);
    if (!memory) return REF_NO_MEMORY;
    if (p.gates == REF_GATES_FIXED) { // retention's, where none are given: ln(1 - 2^(-5-h))
        const json *given = oracle_param(c, "g"), *m = given ? given->child : NULL;
        for (size_t h = 0; h < SIZE(H); h++, m = m ? m->next : NULL)
            fixed[h] = m ? m->number : log1p(-exp2(-5.0 - (double)h));
    }
    int status = 0;
    for (size_t n = 0, first; !status && n < oracle_sequences(c); n++) {
        oracle_rows(c, n, &first, &p.L);
        const double *g = p.gates == REF_GATES_FIXED ? fixed : ROWS(IN, "g", width);
        ref_gla_fwd(ROWS(OUT, "y", v), STATE(OUT("state")), ROWS(IN, "q", k), ROWS(IN, "k", k),
                    ROWS(IN, "v", v), g, STATE(IN("s0")), &p);
        if (IN("dy"))
            status =
                ref_gla_bwd(ROWS(GRAD, "q", k), ROWS(GRAD, "k", k), ROWS(GRAD, "v", v),
                            ROWS(GRAD, "g", width), STATE(GRAD("s0")), ROWS(IN, "dy", v), NULL,
                            ROWS(IN, "q", k), ROWS(IN, "k", k), ROWS(IN, "v", v), g, STATE(IN("s0")), &p);
    }
    free(memory);
    return status;
}

static int run_delta(oracle_case *c) {
    static const ref_gates of_mode[] = {REF_GATES_NONE, REF_GATES_HEAD, REF_GATES_CHANNEL, REF_GATES_HEAD};
    ref_state p = state_params(c, of_mode[oracle_choice(c, "mode")]);
    const size_t H = p.H, k = H * p.dk, v = H * p.dv, width = p.gates == REF_GATES_HEAD ? H : k;
    int status = 0;
    for (size_t n = 0, first; !status && n < oracle_sequences(c); n++) {
        oracle_rows(c, n, &first, &p.L);
        status =
            ref_delta_fwd(ROWS(OUT, "y", v), STATE(OUT("state")), ROWS(IN, "q", k), ROWS(IN, "k", k),
                          ROWS(IN, "v", v), ROWS(IN, "beta", H), ROWS(IN, "g", width), STATE(IN("s0")), &p);
        if (!status && IN("dy"))
            status =
                ref_delta_bwd(ROWS(GRAD, "q", k), ROWS(GRAD, "k", k), ROWS(GRAD, "v", v),
                              ROWS(GRAD, "beta", H), ROWS(GRAD, "g", width), STATE(GRAD("s0")),
                              ROWS(IN, "dy", v), NULL, ROWS(IN, "q", k), ROWS(IN, "k", k), ROWS(IN, "v", v),
                              ROWS(IN, "beta", H), ROWS(IN, "g", width), STATE(IN("s0")), &p);
    }
    return status;
}

// ---- Sliding softmax attention, Based, Hyena, LSTM, GRU
static int run_sliding(oracle_case *c) {
    const size_t L = SIZE(L), D = SIZE(H) * SIZE(d);
    const ref_attention p = {.B = 1,
                             .L = L,
                             .D = D,
                             .H = SIZE(H),
                             .stride = D,
                             .causal = 1,
                             .scale = 1 / sqrt((double)SIZE(d)),
                             .sliding = SIZE(W)};
    double *stats;
    void *memory = ref_carve(&stats, SIZE(H) * L * 2, REF_END);
    if (!memory) return REF_NO_MEMORY;
    ref_attention_fwd(OUT("y"), stats, IN("q"), IN("k"), IN("v"), &p);
    if (IN("dy"))
        ref_attention_bwd(GRAD("q"), GRAD("k"), GRAD("v"), IN("dy"), IN("q"), IN("k"), IN("v"), OUT("y"),
                          stats, &p);
    free(memory);
    return 0;
}

static int run_based(oracle_case *c) {
    ref_based_fwd(OUT("y"), IN("q"), IN("k"), IN("v"), SIZE(L), SIZE(H), SIZE(dk), SIZE(dv));
    if (!IN("dy")) return 0;
    return ref_based_bwd(GRAD("q"), GRAD("k"), GRAD("v"), IN("dy"), IN("q"), IN("k"), IN("v"), SIZE(L),
                         SIZE(H), SIZE(dk), SIZE(dv));
}

static int orders_fit(oracle_case *c) {
    const size_t N = SIZE(N);
    if (N < 1 || N > REF_HYENA_MOST) return oracle_fail(c, "N is %zu; it must be from 1 to 4", N);
    for (size_t i = 0; i < REF_HYENA_MOST; i++) {
        char x[8], h[8];
        snprintf(x, sizeof x, "x_%zu", i);
        snprintf(h, sizeof h, "h_%zu", i);
        if ((i < N) != (oracle_data(c, x) != NULL) || (i < N) != (oracle_data(c, h) != NULL))
            return oracle_fail(c, "N = %zu needs x_0, h_0 .. and no more of them; see x_%zu and h_%zu", N, i,
                               i);
    }
    return 0;
}
static ref_hyena hyena_of(double *(*get)(const oracle_case *, const char *), const oracle_case *c) {
    return (ref_hyena){SIZE(L),
                       SIZE(D),
                       SIZE(N),
                       {get(c, "x_0"), get(c, "x_1"), get(c, "x_2"), get(c, "x_3")},
                       {get(c, "h_0"), get(c, "h_1"), get(c, "h_2"), get(c, "h_3")},
                       {get(c, "skip_0"), get(c, "skip_1"), get(c, "skip_2"), get(c, "skip_3")}};
}
static int run_hyena(oracle_case *c) {
    const ref_hyena p = hyena_of(oracle_data, c), d = hyena_of(oracle_grad, c);
    int status = ref_hyena_fwd(OUT("y"), IN("v"), &p);
    if (!status && IN("dy")) status = ref_hyena_bwd(GRAD("v"), &d, IN("dy"), IN("v"), &p);
    return status;
}
static ref_hyena_filters filters_of(double *(*get)(const oracle_case *, const char *), const oracle_case *c) {
    return (ref_hyena_filters){SIZE(L),
                               SIZE(D),
                               SIZE(e),
                               SIZE(hidden),
                               oracle_real(c, "freq"),
                               oracle_real(c, "shift"),
                               get(c, "pos"),
                               get(c, "w1"),
                               get(c, "b1"),
                               get(c, "w2"),
                               get(c, "b2"),
                               get(c, "w3"),
                               get(c, "rates")};
}
static int run_hyena_filters(oracle_case *c) {
    const ref_hyena_filters p = filters_of(oracle_data, c), d = filters_of(oracle_grad, c);
    int status = ref_hyena_filters_fwd(OUT("y"), &p);
    if (!status && IN("dy")) status = ref_hyena_filters_bwd(&d, IN("dy"), &p);
    return status;
}

// z = x W + b; y and its state, and back.
static int run_recurrent(oracle_case *c, int gru) {
    const size_t L = SIZE(L), D = SIZE(D), E = SIZE(E), G = (gru ? 3 : 4) * E;
    const ref_recurrent p = {1, L, E};
    const char *bias = gru ? "bx" : "b";
    double *z, *dz, *last;
    void *memory = ref_carve(&z, L * G, &dz, L * G, &last, 2 * E, REF_END);
    if (!memory) return REF_NO_MEMORY;
    ref_linear_fwd(z, IN("x"), IN("w"), IN(bias), L, D, G);
    int status = gru ? ref_gru_fwd(OUT("y"), last, z, IN("u"), IN("bh"), NULL, &p)
                     : ref_lstm_fwd(OUT("y"), last, z, IN("u"), NULL, &p);
    if (!status && !gru) memcpy(OUT("c"), last + E, E * sizeof *last);
    if (!status && IN("dy")) {
        status =
            gru ? ref_gru_bwd(dz, GRAD("u"), GRAD("bh"), NULL, IN("dy"), NULL, z, IN("u"), IN("bh"), NULL, &p)
                : ref_lstm_bwd(dz, GRAD("u"), NULL, IN("dy"), NULL, z, IN("u"), NULL, &p);
        ref_linear_bwd(GRAD("x"), GRAD("w"), GRAD(bias), dz, IN("x"), IN("w"), L, D, G);
    }
    free(memory);
    return status;
}
static int run_lstm(oracle_case *c) { return run_recurrent(c, 0); }
static int run_gru(oracle_case *c) { return run_recurrent(c, 1); }

// ---- The list
#define CAT_PARAMS "L:size D:size H:size=1 W:size=1 mode:per_head|multi_head=per_head "
#define FOCUS_PARAMS                                                                                         \
    "L:size D:size H:size=1 n_bins:size F:size C:size=1 mode:literal|causal|carry=causal "                   \
    "theta:sigmoid|triangle|bounded=sigmoid theta_sum:real=0.9 "
#define CHELA_PARAMS "L:size D:size H:size=1 short_n:size lambda:real=0 eps:real=1e-5 causal:flag=true "

static const oracle_mechanism mechanisms[] = {
    {"softmax_attention", "Vaswani et al. 2017; ALiBi: Press et al. 2022; rope: Su et al. 2021",
     "L:size D:size H:size=1 causal:flag=true pos:none|rope|alibi|alibi_scaled=none rope_base:real=10000",
     ARRAYS(QKVO, RESULT("L D")), rope_fits, run_softmax},
    {"las_attention", "[LaS] Eq. 4",
     "L:size D:size H:size=1 P:size=3 chunk:size0=0 B:real=2 alphas:reals causal:flag=true "
     "decay:none|exp|alibi|alibi_scaled=exp "
     "pool:none|centred|masked|trailing=trailing",
     ARRAYS(QKVO, RESULT("L D")), las_fits, run_las},
    {"softmax_attention_qkv", "the same on given q, k, v; filter_maps: [CAT] Table 2",
     "L:size D:size H:size=1 causal:flag=true pos:none|rope|alibi|alibi_scaled=none rope_base:real=10000" QK_NORM,
     ARRAYS(QKV, MAYBE("filter_maps", "H H"), RESULT("L D")), rope_fits, run_softmax_qkv},
    {"las_attention_qkv", "[LaS] Eq. 4 on given q, k, v",
     "L:size D:size H:size=1 P:size=3 chunk:size0=0 B:real=2 alphas:reals causal:flag=true "
     "decay:none|exp|alibi|alibi_scaled=exp "
     "pool:none|centred|masked|trailing=trailing" QK_NORM,
     ARRAYS(QKV, RESULT("L D")), las_fits, run_las},
    {"landmark_attention_qkv", "[CAT] LCAT on given q, k, v and landmarks (last row of each block)",
     "L:size D:size H:size=1 B:size" QK_NORM, ARRAYS(QKV, CONSTANT("marks", "L D"), RESULT("L D")),
     oracle_heads_fit, run_landmark},
    {"las_alphas", "[LaS], decay rates per head", "H:size B:real", ARRAYS(OUTPUT("y", "H")), NULL,
     run_las_alphas},
    {"cat_attention", "[CAT] Def. 1",
     CAT_PARAMS "value_filter:causal|two_sided=causal norm:flag=false norm_v:flag=false "
                "pos:none|rope|alibi|alibi_scaled=none rope_base:real=10000",
     cat_arrays, cat_fits, run_cat},
    {"lincat", "[CAT] Def. 1 with linear attention", CAT_PARAMS "norm:flag=false norm_v:flag=false",
     lincat_arrays, cat_fits, run_cat},
    {"lcat", "[CAT] LCAT (landmarks)",
     "L:size D:size H:size=1 B:size W:size=3 filter:box|rho=box dense_keys:plain|filtered=plain",
     ARRAYS(QKVO, MAYBE("filter_v", "H W"), RESULT("L D")), oracle_heads_fit, run_lcat},
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
    {"layer_norm", "Ba et al. 2016", "L:size D:size eps:real=1e-5",
     ARRAYS(INPUT("x", "L D"), INPUT("gain", "D"), INPUT("bias", "D"), RESULT("L D")), NULL, run_layer_norm},
    {"rms_norm", "Zhang & Sennrich 2019", "L:size D:size eps:real=1e-5",
     ARRAYS(INPUT("x", "L D"), INPUT("gain", "D"), RESULT("L D")), NULL, run_rms_norm},
    {"batch_norm", "Ioffe & Szegedy 2015, Alg. 1; running: by the given statistics, Alg. 2",
     "N:size D:size mode:batch|running=batch eps:real=1e-5 momentum:real=0.1 unbiased:flag=true",
     ARRAYS(INPUT("x", "N D"), INPUT("gain", "D"), INPUT("bias", "D"), CONSTANT("mean", "D"),
            CONSTANT("variance", "D"), {ORACLE_OUTPUT, "mean_new", "D", "mode=batch", 0},
            {ORACLE_OUTPUT, "variance_new", "D", "mode=batch", 0}, RESULT("N D")),
     NULL, run_batch_norm},
    {"dropout", "Srivastava et al. 2014; drawn by Philox4x32-10, Salmon et al. 2011",
     "N:size D:size p:real=0.5 seed:size0=0 step:size0=0 place:size0=0",
     ARRAYS(INPUT("x", "N D"), RESULT("N D")), share_fits, run_dropout},
    {"mlp", "Vaswani et al. 2017, Eq. 2; GELU: Hendrycks & Gimpel 2016",
     "L:size D:size mult:size=2 act:gelu|silu=gelu",
     ARRAYS(INPUT("x", "L D"), INPUT("w1", "D mult*D"), INPUT("b1", "mult*D"), INPUT("w2", "mult*D D"),
            INPUT("b2", "D"), RESULT("L D")),
     NULL, run_mlp},
    {"cross_entropy", "mean over the rows whose target is a class", "L:size V:size",
     ARRAYS(INPUT("logits", "L V"), {ORACLE_INPUT, "target", "L", NULL, ORACLE_INTEGER | ORACLE_NO_GRADIENT},
            RESULT("1")),
     NULL, run_cross_entropy},
    {"adamw", "Loshchilov & Hutter 2019",
     "rows:size cols:size step:size lr:real=0.001 beta1:real=0.9 beta2:real=0.98 eps:real=1e-8 "
     "weight_decay:real=0.01",
     ARRAYS(CONSTANT("p", "rows cols"), CONSTANT("g", "rows cols"), CONSTANT("m", "rows cols"),
            CONSTANT("v", "rows cols"), OUTPUT("p_new", "rows cols"), OUTPUT("m_new", "rows cols"),
            OUTPUT("v_new", "rows cols")),
     NULL, run_adamw},
    {"sinusoidal", "Vaswani et al. 2017, Sec. 3.5", "L:size D:size base:real=10000",
     ARRAYS(OUTPUT("y", "L D")), NULL, run_sinusoidal},
    {"mega_ema", "Ma et al. 2023 (MEGA), damped EMA", "L:size D:size S:size",
     ARRAYS(INPUT("x", "L D"), INPUT("alpha", "D S"), INPUT("delta", "D S"), INPUT("beta", "D S"),
            INPUT("eta", "D S"), MAYBE("skip", "D"), RESULT("L D")),
     NULL, run_mega},
    {"s4d", "Gu et al. 2022 (S4D)", "L:size D:size S:size diagonal:complex|real=complex",
     ARRAYS(INPUT("x", "L D"), INPUT("log_dt", "D"), INPUT("log_a", "D S"),
            INPUT_IF("diagonal=complex", "a_im", "D S"), INPUT_IF("diagonal=complex", "c", "D S 2"),
            INPUT_IF("diagonal=real", "c", "D S"), MAYBE("skip", "D"), RESULT("L D")),
     NULL, run_s4d},
    {"selective_scan", "Gu & Dao 2023 (Mamba), Eq. 2 and Alg. 2", "L:size D:size S:size",
     ARRAYS(INPUT("x", "L D"), INPUT("dt", "L D"), INPUT("a_log", "D S"), INPUT("b", "L S"),
            INPUT("c", "L S"), MAYBE("skip", "D"), RESULT("L D")),
     NULL, run_selective_scan},
    {"s6_layer", "Gu & Dao 2023 (Mamba): short convolution, projections, selective scan",
     "L:size D:size S:size W:size rank:size",
     ARRAYS(INPUT("x", "L D"), INPUT("conv_k", "D W"), INPUT("conv_b", "D"), INPUT("w_b", "D S"),
            INPUT("w_c", "D S"), INPUT("w_dt1", "D rank"), INPUT("w_dt2", "rank D"), INPUT("b_dt", "D"),
            INPUT("a_log", "D S"), INPUT("skip", "D"), RESULT("L D")),
     NULL, run_s6},
    {"gla_core",
     "Yang et al. 2023, Eq. 3; channel, head: Mamba-2's SSD (Dao & Gu 2024), retention: Sun et al. 2023",
     "L:size H:size dk:size dv:size mode:none|retention|head|channel|packed=channel g:reals "
     "scale:real=0 N:size=1" QK_NORM,
     gla_arrays, gates_fit, run_gla},
    {"delta_core", "Yang et al. 2024; gated: Yang, Kautz & Hatamizadeh 2024",
     "L:size H:size dk:size dv:size mode:none|head|channel|packed=none scale:real=0 N:size=1" QK_NORM,
     delta_arrays, oracle_packed_fits, run_delta},
    {"sliding_core", "Vaswani et al. 2017 over the last W rows", "L:size H:size d:size W:size" QK_NORM,
     ARRAYS(INPUT("q", "L H*d"), INPUT("k", "L H*d"), INPUT("v", "L H*d"), RESULT("L H*d")), NULL,
     run_sliding},
    {"based_core", "Arora et al. 2024, Sec. 4", "L:size H:size dk:size dv:size" QK_NORM,
     ARRAYS(INPUT("q", "L H*dk"), INPUT("k", "L H*dk"), INPUT("v", "L H*dv"), RESULT("L H*dv")), NULL,
     run_based},
    {"hyena_core", "Poli et al. 2023, Def. 3.1", "L:size D:size N:size",
     ARRAYS(INPUT("v", "L D"), INPUT("x_0", "L D"), INPUT("h_0", "D L"), MAYBE("skip_0", "D"),
            MAYBE("x_1", "L D"), MAYBE("h_1", "D L"), MAYBE("skip_1", "D"), MAYBE("x_2", "L D"),
            MAYBE("h_2", "D L"), MAYBE("skip_2", "D"), MAYBE("x_3", "L D"), MAYBE("h_3", "D L"),
            MAYBE("skip_3", "D"), RESULT("L D")),
     orders_fit, run_hyena},
    {"hyena_filters", "Poli et al. 2023, Sec. 3.3",
     "L:size D:size e:size hidden:size freq:real=1 shift:real=0",
     ARRAYS(INPUT("pos", "L e"), INPUT("w1", "e hidden"), INPUT("b1", "hidden"), INPUT("w2", "hidden hidden"),
            INPUT("b2", "hidden"), INPUT("w3", "hidden D"), INPUT("rates", "D"), RESULT("D L")),
     NULL, run_hyena_filters},
    {"lstm", "Hochreiter & Schmidhuber 1997; forget gates: Gers et al. 2000", "L:size D:size E:size",
     ARRAYS(INPUT("x", "L D"), INPUT("w", "D 4*E"), INPUT("u", "E 4*E"), INPUT("b", "4*E"), OUTPUT("c", "E"),
            RESULT("L E")),
     NULL, run_lstm},
    {"gru", "Cho et al. 2014, the reset gate after the product", "L:size D:size E:size",
     ARRAYS(INPUT("x", "L D"), INPUT("w", "D 3*E"), INPUT("u", "E 3*E"), INPUT("bx", "3*E"),
            INPUT("bh", "3*E"), RESULT("L E")),
     NULL, run_gru},
    {NULL, NULL, NULL, NULL, NULL, NULL}};

const oracle_mechanism *oracle_next(const oracle_mechanism *m) {
    static const oracle_mechanism *const tables[] = {mechanisms, oracle_cores, oracle_layers};
    if (!m) return tables[0];
    if ((++m)->name) return m;
    for (size_t i = 0; i + 1 < sizeof tables / sizeof *tables; i++) {
        const oracle_mechanism *end = tables[i];
        while (end->name) end++;
        if (m == end) return tables[i + 1];
    }
    return NULL;
}

const oracle_mechanism *oracle_find(const char *name) {
    for (const oracle_mechanism *m = oracle_next(NULL); m; m = oracle_next(m))
        if (strcmp(m->name, name) == 0) return m;
    return NULL;
}
