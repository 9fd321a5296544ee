// oracle_layers.c: the mechanisms of include/seqmix/ref_layers.h: whole layers around the cores of
// oracle_cores.c. As oracle_table.c.
#include "oracle_table.h"

#include <seqmix/ref_layers.h>

#define RUN_LAYER(name)                                                                                      \
    int status = ref_##name##_fwd(OUT("y"), &x, &p);                                                         \
    if (!status && IN("dy")) status = ref_##name##_bwd(&d, IN("dy"), &x, &p);                                \
    return status

static ref_kda_layer kda_sizes(const oracle_case *c) {
    return (ref_kda_layer){.L = SIZE(L),
                           .D = SIZE(D),
                           .H = SIZE(H),
                           .W = SIZE(W),
                           .f_rank = SIZE(f_rank),
                           .g_rank = SIZE(g_rank),
                           .eps = oracle_real(c, "eps"),
                           .lower = oracle_flag(c, "safe_gate") ? -5 : 0,
                           .negative = oracle_flag(c, "allow_neg_eigval")};
}
#define QKV_NAMES "x wq wk wv wo conv_q conv_k conv_v gain a_log "
static int run_kda(oracle_case *c) {
    const ref_kda_layer p = kda_sizes(c);
    BIND(ref_kda_layer_arrays, QKV_NAMES "w_f1 w_f2 dt_bias w_g1 w_g2 b_g w_beta");
    RUN_LAYER(kda_layer);
}
static int run_gdn2(oracle_case *c) {
    const ref_kda_layer p = kda_sizes(c);
    BIND(ref_gdn2_layer_arrays, QKV_NAMES "w_f1 w_f2 dt_bias w_g1 w_g2 b_g w_b w_w");
    RUN_LAYER(gdn2_layer);
}

static int gate_whole(oracle_case *c) {
    const int there = !!IN("a_log") + !!IN("w_a") + !!IN("dt_bias");
    if (there % 3)
        return oracle_fail(c, "%d of a_log, w_a and dt_bias are given; a gate has all three", there);
    return oracle_heads_fit(c);
}
static int run_deltaproduct(oracle_case *c) {
    const ref_deltaproduct_layer p = {SIZE(L), SIZE(D), SIZE(H), SIZE(W), SIZE(n), oracle_real(c, "eps")};
    BIND(ref_deltaproduct_layer_arrays, QKV_NAMES "w_a dt_bias w_gate w_beta");
    RUN_LAYER(deltaproduct_layer);
}

static int run_comba(oracle_case *c) {
    const ref_comba_layer p = {
        SIZE(L), SIZE(D), SIZE(H), SIZE(W), oracle_real(c, "eps"), oracle_choice(c, "mode") == 1};
    BIND(ref_comba_layer_arrays,
         "x wq wk wv wo w_gate conv_q conv_k conv_v w_beta w_a dt_bias a_log gain decay skip");
    RUN_LAYER(comba_layer);
}

static int run_rwkv7(oracle_case *c) {
    const ref_rwkv7_layer p = {SIZE(L),
                               SIZE(D),
                               SIZE(H),
                               SIZE(d_rank),
                               SIZE(a_rank),
                               SIZE(g_rank),
                               oracle_choice(c, "mode") ? SIZE(v_rank) : 0,
                               oracle_real(c, "gn_eps")};
    BIND(ref_rwkv7_layer_arrays,
         "x mu_r mu_w mu_k mu_v mu_a mu_g w_r w_k w_v wo d0 d1 d2 a0 a1 a2 g1 g2 k_k k_a r_k gn_gain gn_bias "
         "v_first v0 v1 v2");
    RUN_LAYER(rwkv7_layer);
}

static int run_hgrn2(oracle_case *c) {
    const ref_hgrn2_layer p = {SIZE(L), SIZE(D), SIZE(H), oracle_real(c, "eps")};
    BIND(ref_hgrn2_layer_arrays, "x wq w_f w_i wo gain lb");
    RUN_LAYER(hgrn2_layer);
}

static int run_griffin(oracle_case *c) {
    const ref_griffin_layer p = {
        SIZE(L), SIZE(D), SIZE(H), SIZE(W), oracle_real(c, "c"), oracle_choice(c, "mode") == 1};
    BIND(ref_griffin_layer_arrays, "x w_x b_x w_y b_y conv_x conv_bias w_ga b_ga w_gi b_gi lam wo b_o");
    RUN_LAYER(griffin_layer);
}

static int run_fox(oracle_case *c) {
    const ref_fox_layer p = {SIZE(L), SIZE(D), SIZE(H), oracle_real(c, "eps")};
    BIND(ref_fox_layer_arrays, "x wq wk wv wo w_f b_f w_ks w_vs q_gain k_gain gain w_gate");
    RUN_LAYER(fox_layer);
}

static int pairs_fit(oracle_case *c) {
    if (2 * SIZE(R) > SIZE(N))
        return oracle_fail(c, "R = %zu pairs are more than N = %zu columns have", SIZE(R), SIZE(N));
    if (2 * SIZE(D) % SIZE(H) == 0) return 0;
    return oracle_fail(c, "H = %zu does not divide 2 D = %zu", SIZE(H), 2 * SIZE(D));
}
static int run_mamba3(oracle_case *c) {
    const ref_mamba3_layer p = {
        SIZE(L), SIZE(D), SIZE(H), SIZE(N), SIZE(R), oracle_real(c, "eps"), oracle_choice(c, "mode") == 1};
    BIND(ref_mamba3_layer_arrays,
         "x w_x w_z w_b w_c w_dt w_a w_lam w_th wo dt_bias b_gain c_gain b_bias c_bias skip");
    RUN_LAYER(mamba3_layer);
}

#define CONVS INPUT("conv_q", "D W"), INPUT("conv_k", "D W"), INPUT("conv_v", "D W"), INPUT("gain", "D/H")
#define LOW_RANK_GATES                                                                                       \
    INPUT("a_log", "H"), INPUT("w_f1", "D f_rank"), INPUT("w_f2", "f_rank D"), INPUT("dt_bias", "D"),        \
        INPUT("w_g1", "D g_rank"), INPUT("w_g2", "g_rank D"), INPUT("b_g", "D")
#define KDA_SIZES                                                                                            \
    "L:size D:size H:size W:size f_rank:size g_rank:size eps:real=1e-5 allow_neg_eigval:flag=false"

const oracle_mechanism oracle_layers[] = {
    {"kda_layer", "Kimi Linear, 2510.26692; fla/layers/kda.py", KDA_SIZES " safe_gate:flag=false",
     ARRAYS(QKVO, CONVS, LOW_RANK_GATES, INPUT("w_beta", "D H"), RESULT("L D")), oracle_heads_fit, run_kda},
    {"gdn2_layer", "Gated DeltaNet-2, 2605.22791; fla/layers/gdn2.py", KDA_SIZES,
     ARRAYS(QKVO, CONVS, LOW_RANK_GATES, INPUT("w_b", "D D"), INPUT("w_w", "D D"), RESULT("L D")),
     oracle_heads_fit, run_gdn2},
    {"deltaproduct_layer", "Gated DeltaProduct, 2502.10297; fla/layers/gated_deltaproduct.py",
     "L:size D:size H:size W:size n:size=2 eps:real=1e-5",
     ARRAYS(INPUT("x", "L D"), INPUT("wq", "D D"), INPUT("wk", "D n*D"), INPUT("wv", "D n*D"),
            INPUT("wo", "D D"), INPUT("conv_q", "D W"), INPUT("conv_k", "n*D W"), INPUT("conv_v", "n*D W"),
            INPUT("gain", "D/H"), MAYBE("a_log", "H"), MAYBE("w_a", "D H"), MAYBE("dt_bias", "H"),
            INPUT("w_gate", "D D"), INPUT("w_beta", "D n*H"), RESULT("L D")),
     gate_whole, run_deltaproduct},
    {"comba_layer", "Comba, 2506.02475; fla/layers/comba.py",
     "L:size D:size H:size W:size eps:real=1e-5 mode:paper|code=paper",
     ARRAYS(QKVO, INPUT("w_gate", "D D"), CONVS, INPUT("w_beta", "D H"), INPUT("w_a", "D H"),
            INPUT("dt_bias", "H"), INPUT("a_log", "H"), INPUT("decay", "H"), INPUT("skip", "H"),
            RESULT("L D")),
     oracle_heads_fit, run_comba},
    {"rwkv7_layer", "RWKV-7 time mix, 2503.14456; later: mixed with the first layer's values",
     "L:size D:size H:size d_rank:size a_rank:size g_rank:size v_rank:size=1 gn_eps:real mode:first|later=first",
     ARRAYS(INPUT("x", "L D"), INPUT("mu_r", "D"), INPUT("mu_w", "D"), INPUT("mu_k", "D"), INPUT("mu_v", "D"),
            INPUT("mu_a", "D"), INPUT("mu_g", "D"), INPUT("w_r", "D D"), INPUT("w_k", "D D"),
            INPUT("w_v", "D D"), INPUT("wo", "D D"), INPUT("d0", "D"), INPUT("d1", "D d_rank"),
            INPUT("d2", "d_rank D"), INPUT("a0", "D"), INPUT("a1", "D a_rank"), INPUT("a2", "a_rank D"),
            INPUT("g1", "D g_rank"), INPUT("g2", "g_rank D"), INPUT("k_k", "D"), INPUT("k_a", "D"),
            INPUT("r_k", "D"), INPUT("gn_gain", "D"), INPUT("gn_bias", "D"),
            INPUT_IF("mode=later", "v_first", "L D"), INPUT_IF("mode=later", "v0", "D"),
            INPUT_IF("mode=later", "v1", "D v_rank"), INPUT_IF("mode=later", "v2", "v_rank D"),
            RESULT("L D")),
     oracle_heads_fit, run_rwkv7},
    {"hgrn2_layer", "HGRN2, 2404.07904; fla/layers/hgrn2.py", "L:size D:size H:size eps:real=1e-5",
     ARRAYS(INPUT("x", "L D"), INPUT("wq", "D D"), INPUT("w_f", "D D"), INPUT("w_i", "D D"),
            INPUT("wo", "D D"), INPUT("gain", "D"), MAYBE("lb", "D"), RESULT("L D")),
     oracle_heads_fit, run_hgrn2},
    {"griffin_layer", "Griffin's recurrent block, 2402.19427; recurrentgemma/torch/layers.py",
     "L:size D:size H:size W:size c:real=8 mode:paper|reset=paper",
     ARRAYS(INPUT("x", "L D"), INPUT("w_x", "D D"), INPUT("b_x", "D"), INPUT("w_y", "D D"), INPUT("b_y", "D"),
            INPUT("conv_x", "D W"), INPUT("conv_bias", "D"), INPUT("w_ga", "H D/H D/H"), INPUT("b_ga", "D"),
            INPUT("w_gi", "H D/H D/H"), INPUT("b_gi", "D"), INPUT("lam", "D"), INPUT("wo", "D D"),
            INPUT("b_o", "D"), RESULT("L D")),
     oracle_heads_fit, run_griffin},
    {"fox_layer", "forgetting transformer, 2503.02130; pro: keys and values blended, norms, output gate",
     "L:size D:size H:size eps:real=1e-5 mode:plain|pro=plain",
     ARRAYS(QKVO, INPUT("w_f", "D H"), INPUT("b_f", "H"), INPUT_IF("mode=pro", "w_ks", "D H"),
            INPUT_IF("mode=pro", "w_vs", "D H"), INPUT_IF("mode=pro", "q_gain", "D"),
            INPUT_IF("mode=pro", "k_gain", "D"), INPUT_IF("mode=pro", "gain", "D"),
            INPUT_IF("mode=pro", "w_gate", "D D"), RESULT("L D")),
     oracle_heads_fit, run_fox},
    {"mamba3_layer", "Mamba-3, one input and output a head, 2603.15569; modules/mamba3.py",
     "L:size D:size H:size N:size R:size eps:real=1e-5 mode:softplus|heavy=softplus",
     ARRAYS(INPUT("x", "L D"), INPUT("w_x", "D 2*D"), INPUT("w_z", "D 2*D"), INPUT("w_b", "D N"),
            INPUT("w_c", "D N"), INPUT("w_dt", "D H"), INPUT("w_a", "D H"), INPUT("w_lam", "D H"),
            INPUT("w_th", "D R"), INPUT("wo", "2*D D"), INPUT("dt_bias", "H"), INPUT("b_gain", "N"),
            INPUT("c_gain", "N"), INPUT("b_bias", "H N"), INPUT("c_bias", "H N"), INPUT("skip", "H"),
            RESULT("L D")),
     pairs_fit, run_mamba3},
    {NULL, NULL, NULL, NULL, NULL, NULL}};
