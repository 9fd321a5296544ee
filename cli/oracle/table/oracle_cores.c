// oracle_cores.c: the mechanisms of include/seqmix/ref_cores.h: generalised delta rules, gated attention, the
// newer recurrences. As oracle_table.c.
#include "oracle_table.h"

#include <seqmix/ref_cores.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const ref_gates gates_of_mode[] = {REF_GATES_CHANNEL, REF_GATES_HEAD, REF_GATES_NONE};
static double scale_of(const oracle_case *c, size_t dk) {
    const double scale = oracle_real(c, "scale");
    return scale > 0 ? scale : 1 / sqrt((double)dk);
}
static ref_state state_of(const oracle_case *c, ref_gates gates) {
    return (ref_state){1, SIZE(L), SIZE(H), SIZE(dk), SIZE(dv), gates, scale_of(c, SIZE(dk))};
}

// Forward, and backward where it is asked for: each takes its gradients, what it gets and its sizes.
#define RUN(status, forward, backward)                                                                       \
    int status = forward;                                                                                    \
    if (!status && IN("dy")) status = backward;                                                              \
    return status

// ---- The delta family
#define QKV_STATE INPUT("q", "L H*dk"), INPUT("k", "L H*dk"), INPUT("v", "L H*dv")
#define LAST START("s0", "H dk dv"), OUTPUT("state", "H dk dv")
#define GATED(mode, shape) INPUT_IF("mode=" mode, "g", shape)

static int run_dplr(oracle_case *c) {
    const ref_state p = state_of(c, gates_of_mode[oracle_choice(c, "mode")]);
    BIND(ref_dplr_arrays, "q k v a b g s0");
    RUN(status, ref_dplr_fwd(OUT("y"), OUT("state"), &x, &p), ref_dplr_bwd(&d, IN("dy"), NULL, &x, &p));
}

static int run_kda(oracle_case *c) {
    const size_t HV = oracle_choice(c, "mode") ? SIZE(HV) : SIZE(H);
    const ref_grouped p = {
        SIZE(L), SIZE(H), SIZE(H), HV, SIZE(dk), SIZE(dv), REF_GATES_CHANNEL, HV, scale_of(c, SIZE(dk))};
    BIND(ref_grouped_arrays, "q k v beta g s0");
    RUN(status, ref_grouped_fwd(OUT("y"), OUT("state"), &x, &p), ref_grouped_bwd(&d, IN("dy"), &x, &p));
}
static int values_fit(oracle_case *c) { return oracle_choice(c, "mode") ? oracle_divides(c, "H", "HV") : 0; }

static int run_deltaproduct(oracle_case *c) {
    const ref_state p = state_of(c, oracle_choice(c, "mode") ? REF_GATES_NONE : REF_GATES_HEAD);
    BIND(ref_deltaproduct_arrays, "q k v beta g s0");
    RUN(status, ref_deltaproduct_fwd(OUT("y"), OUT("state"), &x, &p, SIZE(n)),
        ref_deltaproduct_bwd(&d, IN("dy"), NULL, &x, &p, SIZE(n)));
}

static int run_gdn2(oracle_case *c) {
    const ref_state p = state_of(c, REF_GATES_CHANNEL);
    BIND(ref_gdn2_arrays, "q k v g b w s0");
    RUN(status, ref_gdn2_fwd(OUT("y"), OUT("state"), &x, &p), ref_gdn2_bwd(&d, IN("dy"), NULL, &x, &p));
}

static int run_rwkv7(oracle_case *c) {
    const ref_state p = state_of(c, REF_GATES_CHANNEL);
    BIND(ref_rwkv7_arrays, "r g k v kk a s0");
    RUN(status, ref_rwkv7_fwd(OUT("y"), OUT("state"), &x, &p), ref_rwkv7_bwd(&d, IN("dy"), NULL, &x, &p));
}

static int run_comba(oracle_case *c) {
    const ref_state p = state_of(c, REF_GATES_HEAD);
    BIND(ref_comba_arrays, "q k v p beta g s0");
    RUN(status, ref_comba_fwd(OUT("y"), OUT("state"), &x, &p), ref_comba_bwd(&d, IN("dy"), NULL, &x, &p));
}

// ONNX's rules in the order of `mode`: linear, gated, delta, gated_delta.
static int has_gates(const oracle_case *c) { return oracle_choice(c, "mode") % 2; }
static int is_delta(const oracle_case *c) { return oracle_choice(c, "mode") >= 2; }
static int linear_fits(oracle_case *c) {
    const size_t Hq = SIZE(Hq), Hv = SIZE(Hv), g = SIZE(g_columns), beta = SIZE(beta_columns);
    if (Hq % Hv && Hv % Hq) return oracle_fail(c, "Hq = %zu and Hv = %zu: one must divide the other", Hq, Hv);
    if (oracle_divides(c, "Hk", "Hv")) return -1;
    if (has_gates(c) && g != Hv && g != Hv * SIZE(dk))
        return oracle_fail(c, "g has %zu columns; Hv = %zu or Hv*dk = %zu are allowed", g, Hv, Hv * SIZE(dk));
    if (is_delta(c) && beta != Hv && beta != 1)
        return oracle_fail(c, "beta has %zu columns; Hv = %zu or 1 are allowed", beta, Hv);
    return 0;
}
static int run_linear(oracle_case *c) {
    const size_t Hv = SIZE(Hv), dk = SIZE(dk);
    const ref_gates gates = !has_gates(c)           ? REF_GATES_NONE
                            : SIZE(g_columns) == Hv ? REF_GATES_HEAD
                                                    : REF_GATES_CHANNEL;
    const ref_grouped p = {SIZE(L), SIZE(Hq),           SIZE(Hk),       Hv, dk, SIZE(dv),
                           gates,   SIZE(beta_columns), scale_of(c, dk)};
    BIND(ref_grouped_arrays, "q k v beta g s0");
    RUN(status, ref_grouped_fwd(OUT("y"), OUT("state"), &x, &p), ref_grouped_bwd(&d, IN("dy"), &x, &p));
}

// ---- Attention
static int kv_fit(oracle_case *c) { return oracle_divides(c, "Hkv", "H"); }
static int attn_fits(oracle_case *c) {
    if (SIZE(window) && !oracle_flag(c, "causal"))
        return oracle_fail(c, "window = %zu goes with causal=true only", SIZE(window));
    return kv_fit(c) || oracle_packed_fits(c) ? -1 : 0;
}
static double *at(double *x, size_t row, size_t columns) { return x ? x + row * columns : NULL; }
static ref_attn_arrays from_row(const ref_attn_arrays *x, size_t row, const ref_attn *p) {
    return (ref_attn_arrays){at(x->q, row, p->H * p->dk),
                             at(x->k, row, p->Hkv * p->dk),
                             at(x->v, row, p->Hkv * p->dv),
                             at(x->g, row, p->H),
                             x->sinks,
                             x->q_gain,
                             x->k_gain};
}
static int run_attn(oracle_case *c) {
    const int fox = !strcmp(c->mechanism->name, "fox_core");
    const size_t d_ = SIZE(d);
    ref_attn p = {.H = SIZE(H),
                  .Hkv = SIZE(Hkv),
                  .dk = d_,
                  .dv = d_,
                  .causal = fox || oracle_flag(c, "causal"),
                  .window = SIZE(window),
                  .scale = scale_of(c, d_),
                  .softcap = oracle_real(c, "softcap"),
                  .eps = oracle_real(c, "eps")};
    BIND(ref_attn_arrays, "q k v g sinks q_gain k_gain");
    int status = 0;
    for (size_t n = 0, first; !status && n < oracle_sequences(c); n++) {
        oracle_rows(c, n, &first, &p.L);
        const ref_attn_arrays xs = from_row(&x, first, &p), ds = from_row(&d, first, &p);
        status = ref_attn_fwd(at(OUT("y"), first, p.H * p.dv), &xs, &p);
        if (!status && IN("dy")) status = ref_attn_bwd(&ds, at(IN("dy"), first, p.H * p.dv), &xs, &p);
    }
    return status;
}

static int run_path(oracle_case *c) {
    const ref_state p = state_of(c, REF_GATES_HEAD);
    BIND(ref_path_arrays, "q k v w beta g");
    RUN(status, ref_path_fwd(OUT("y"), &x, &p), ref_path_bwd(&d, IN("dy"), &x, &p));
}

static int run_differential(oracle_case *c) {
    const ref_differential p = {
        SIZE(L), SIZE(H), SIZE(Hkv), SIZE(d), oracle_real(c, "lam_init"), oracle_real(c, "eps")};
    BIND(ref_differential_arrays, "q k v lq1 lk1 lq2 lk2 gain");
    RUN(status, ref_differential_fwd(OUT("y"), &x, &p), ref_differential_bwd(&d, IN("dy"), &x, &p));
}

static int levels_fit(oracle_case *c) {
    size_t least = 1;
    while (((size_t)1 << (least - 1)) < SIZE(L)) least++;
    if (SIZE(levels) >= least) return 0;
    return oracle_fail(c, "levels = %zu; L = %zu needs at least %zu", SIZE(levels), SIZE(L), least);
}
static int run_loglinear(oracle_case *c) {
    const ref_state p = state_of(c, REF_GATES_HEAD);
    BIND(ref_loglinear_arrays, "q k v g lev");
    RUN(status, ref_loglinear_fwd(OUT("y"), &x, &p, SIZE(levels)),
        ref_loglinear_bwd(&d, IN("dy"), &x, &p, SIZE(levels)));
}

// ---- Recurrences
static int exponential(const oracle_case *c) { return oracle_choice(c, "mode") == 1; }

static int run_mlstm(oracle_case *c) {
    const ref_state p = state_of(c, REF_GATES_NONE);
    const ref_mlstm_state last = {OUT("state"), OUT("n"), OUT("m")};
    BIND(ref_mlstm_arrays, "q k v i f s0 n0 m0");
    RUN(status, ref_mlstm_fwd(OUT("y"), &last, &x, &p, exponential(c)),
        ref_mlstm_bwd(&d, IN("dy"), &x, &p, exponential(c)));
}

static int start_whole(oracle_case *c) {
    const int there = !!IN("h0") + !!IN("c0") + !!IN("n0") + !!IN("m0");
    return there % 4 ? oracle_fail(c, "%d of h0, c0, n0 and m0 are given; a start has all four", there) : 0;
}
static int run_slstm(oracle_case *c) {
    const ref_slstm p = {SIZE(L), SIZE(D), SIZE(H), SIZE(d), exponential(c)};
    const ref_slstm_state last = {OUT("c"), OUT("n"), OUT("m")};
    BIND(ref_slstm_arrays, "x w u b h0 c0 n0 m0");
    RUN(status, ref_slstm_fwd(OUT("y"), &last, &x, &p), ref_slstm_bwd(&d, IN("dy"), &x, &p));
}

static int run_hgrn2(oracle_case *c) {
    const ref_state p = state_of(c, REF_GATES_CHANNEL);
    BIND(ref_hgrn2_arrays, "q g v s0");
    RUN(status, ref_hgrn2_fwd(OUT("y"), OUT("state"), &x, &p), ref_hgrn2_bwd(&d, IN("dy"), NULL, &x, &p));
}

static int run_rglru(oracle_case *c) {
    const ref_rglru p = {SIZE(L), SIZE(D), oracle_real(c, "c"), oracle_choice(c, "mode") == 1};
    BIND(ref_rglru_arrays, "x ga gi lam h0");
    RUN(status, ref_rglru_fwd(OUT("y"), OUT("state"), &x, &p), ref_rglru_bwd(&d, IN("dy"), &x, &p));
}

static int run_mingru(oracle_case *c) {
    const ref_mingru p = {SIZE(L), SIZE(D), oracle_choice(c, "mode") == 1};
    BIND(ref_mingru_arrays, "z c h0");
    RUN(status, ref_mingru_fwd(OUT("y"), OUT("state"), &x, &p), ref_mingru_bwd(&d, IN("dy"), &x, &p));
}
static int run_minlstm(oracle_case *c) {
    const ref_mingru p = {SIZE(L), SIZE(D), oracle_choice(c, "mode") == 1};
    BIND(ref_minlstm_arrays, "f i c h0");
    RUN(status, ref_minlstm_fwd(OUT("y"), OUT("state"), &x, &p), ref_minlstm_bwd(&d, IN("dy"), &x, &p));
}

static int run_causal_conv(oracle_case *c) {
    const ref_causal_conv p = {SIZE(L), SIZE(D), SIZE(past) + 1, oracle_choice(c, "activation")};
    BIND(ref_causal_conv_arrays, "x filter bias s0");
    ref_causal_conv_fwd(OUT("y"), OUT("state"), &x, &p);
    if (IN("dy")) ref_causal_conv_bwd(&d, IN("dy"), &x, &p);
    return 0;
}

static int pairs_fit(oracle_case *c) {
    if (2 * SIZE(R) <= SIZE(N)) return 0;
    return oracle_fail(c, "R = %zu pairs are more than N = %zu columns have", SIZE(R), SIZE(N));
}
static int run_mamba3(oracle_case *c) {
    const ref_mamba3 p = {SIZE(L), SIZE(H), SIZE(N), SIZE(P), SIZE(R)};
    BIND(ref_mamba3_arrays, "q k v g dt lam theta skip s0 k0 v0 a0");
    RUN(status, ref_mamba3_fwd(OUT("y"), OUT("state"), OUT("k_last"), &x, &p),
        ref_mamba3_bwd(&d, IN("dy"), &x, &p));
}

static int run_mesa(oracle_case *c) {
    const ref_state p = state_of(c, REF_GATES_HEAD);
    BIND(ref_mesa_arrays, "q k v beta g lam s0 kk0");
    RUN(status, ref_mesa_fwd(OUT("y"), OUT("state"), OUT("state_kk"), &x, &p),
        ref_mesa_bwd(&d, IN("dy"), &x, &p));
}

static int run_ttt(oracle_case *c) {
    const ref_ttt p = {SIZE(L), SIZE(H), SIZE(d), SIZE(B), oracle_real(c, "eps")};
    BIND(ref_ttt_arrays, "q k v eta tau w0 b0 gain bias");
    RUN(status, ref_ttt_fwd(OUT("y"), OUT("state"), OUT("b_last"), &x, &p),
        ref_ttt_bwd(&d, IN("dy"), &x, &p));
}

#define STATE_SIZES "L:size H:size dk:size dv:size "
#define KDA(mode, HV)                                                                                        \
    INPUT_IF("mode=" mode, "v", "L " HV "*dv"), INPUT_IF("mode=" mode, "g", "L " HV "*dk"),                  \
        INPUT_IF("mode=" mode, "beta", "L " HV), START_IF("mode=" mode, "s0", HV " dk dv"),                  \
        OUTPUT_IF("mode=" mode, "state", HV " dk dv"), RESULT_IF("mode=" mode, "L " HV "*dv")

const oracle_mechanism oracle_cores[] = {
    {"dplr_core", "diagonal plus low rank: RWKV-7, 2503.14456; fla generalised delta rule",
     STATE_SIZES "mode:channel|head|none=channel scale:real=0" QK_NORM,
     ARRAYS(QKV_STATE, INPUT("a", "L H*dk"), INPUT("b", "L H*dk"), GATED("channel", "L H*dk"),
            GATED("head", "L H"), LAST, RESULT("L H*dv")),
     NULL, run_dplr},
    {"kda_core", "Kimi Linear, 2510.26692; grouped: HV heads of values",
     "L:size H:size HV:size=1 dk:size dv:size mode:channel|grouped=channel scale:real=0" QK_NORM,
     ARRAYS(INPUT("q", "L H*dk"), INPUT("k", "L H*dk"), KDA("channel", "H"), KDA("grouped", "HV")),
     values_fit, run_kda},
    {"deltaproduct_core", "Siems et al. 2025, 2502.10297: n delta steps a row",
     "L:size H:size n:size=2 dk:size dv:size mode:head|none=head scale:real=0" QK_NORM,
     ARRAYS(INPUT("q", "L H*dk"), INPUT("k", "L n*H*dk"), INPUT("v", "L n*H*dv"), INPUT("beta", "L n*H"),
            GATED("head", "L H"), LAST, RESULT("L H*dv")),
     NULL, run_deltaproduct},
    {"gdn2_core", "Gated DeltaNet-2, 2605.22791", STATE_SIZES "scale:real=0" QK_NORM,
     ARRAYS(QKV_STATE, INPUT("g", "L H*dk"), INPUT("b", "L H*dk"), INPUT("w", "L H*dv"), LAST,
            RESULT("L H*dv")),
     NULL, run_gdn2},
    {"rwkv7_core", "RWKV-7, 2503.14456", STATE_SIZES "scale:real=1",
     ARRAYS(INPUT("r", "L H*dk"), INPUT("g", "L H*dk"), INPUT("k", "L H*dk"), INPUT("v", "L H*dv"),
            INPUT("kk", "L H*dk"), INPUT("a", "L H*dk"), LAST, RESULT("L H*dv")),
     NULL, run_rwkv7},
    {"comba_core", "Comba, 2506.02475: the read before the decay", STATE_SIZES "scale:real=0" QK_NORM,
     ARRAYS(QKV_STATE, INPUT("p", "L H*dk"), INPUT("beta", "L H"), INPUT("g", "L H"), LAST, RESULT("L H*dv")),
     NULL, run_comba},
    {"linear_attention_core", "ONNX LinearAttention, opset 27; Hq below Hv as in onnxruntime",
     "L:size Hq:size Hk:size Hv:size dk:size dv:size mode:linear|gated|delta|gated_delta=gated_delta "
     "g_columns:size=1 beta_columns:size=1 scale:real=0" QK_NORM,
     ARRAYS(INPUT("q", "L Hq*dk"), INPUT("k", "L Hk*dk"), INPUT("v", "L Hv*dv"),
            INPUT_IF("mode=gated", "g", "L g_columns"), INPUT_IF("mode=gated_delta", "g", "L g_columns"),
            INPUT_IF("mode=delta", "beta", "L beta_columns"),
            INPUT_IF("mode=gated_delta", "beta", "L beta_columns"), START("s0", "Hv dk dv"),
            OUTPUT("state", "Hv dk dv"), RESULT("L Hq|Hv*dv")),
     linear_fits, run_linear},
    {"attn_core", "QK-norm, soft cap (Gemma 2), window, sinks (gpt-oss), grouped and packed",
     "L:size H:size Hkv:size d:size causal:flag=true window:size0=0 softcap:real=0 eps:real=1e-6 "
     "mode:plain|packed=plain scale:real=0 N:size=1",
     ARRAYS(INPUT("q", "L H*d"), INPUT("k", "L Hkv*d"), INPUT("v", "L Hkv*d"), PACKED, MAYBE("sinks", "H"),
            MAYBE("q_gain", "d"), MAYBE("k_gain", "d"), RESULT("L H*d")),
     attn_fits, run_attn},
    {"fox_core", "forgetting transformer, 2503.02130; what attn_core has, too",
     "L:size H:size Hkv:size d:size window:size0=0 softcap:real=0 eps:real=1e-6 scale:real=0",
     ARRAYS(INPUT("q", "L H*d"), INPUT("k", "L Hkv*d"), INPUT("v", "L Hkv*d"), INPUT("g", "L H"),
            MAYBE("sinks", "H"), MAYBE("q_gain", "d"), MAYBE("k_gain", "d"), RESULT("L H*d")),
     kv_fit, run_attn},
    {"path_core", "PaTH, 2505.16381; gated: the gates are not scaled",
     STATE_SIZES "mode:plain|gated=plain scale:real=0" QK_NORM,
     ARRAYS(QKV_STATE, INPUT("w", "L H*dk"), INPUT("beta", "L H"), GATED("gated", "L H"), RESULT("L H*dv")),
     NULL, run_path},
    {"diff_core", "differential attention, 2410.05258",
     "L:size H:size Hkv:size d:size lam_init:real eps:real=1e-5" QK_NORM,
     ARRAYS(INPUT("q", "L H*2*d"), INPUT("k", "L Hkv*2*d"), INPUT("v", "L Hkv*2*d"), INPUT("lq1", "d"),
            INPUT("lk1", "d"), INPUT("lq2", "d"), INPUT("lk2", "d"), INPUT("gain", "2*d"), RESULT("L H*2*d")),
     kv_fit, run_differential},
    {"loglinear_core", "log-linear attention, 2506.04761", STATE_SIZES "levels:size scale:real=1" QK_NORM,
     ARRAYS(QKV_STATE, INPUT("g", "L H"), INPUT("lev", "L H*levels"), RESULT("L H*dv")), levels_fit,
     run_loglinear},
    {"mlstm_core", "xLSTM, 2405.04517, without eps",
     STATE_SIZES "mode:sigmoid|exp=sigmoid scale:real=0" QK_NORM,
     ARRAYS(QKV_STATE, INPUT("i", "L H"), INPUT("f", "L H"), START("s0", "H dk dv"), START("n0", "H dk"),
            START("m0", "H"), OUTPUT("state", "H dk dv"), OUTPUT("n", "H dk"), OUTPUT("m", "H"),
            RESULT("L H*dv")),
     NULL, run_mlstm},
    {"slstm_core", "xLSTM, 2405.04517; gates i f z o", "L:size D:size H:size d:size mode:sigmoid|exp=sigmoid",
     ARRAYS(INPUT("x", "L D"), INPUT("w", "D 4*H*d"), INPUT("u", "4 H d d"), INPUT("b", "4*H*d"),
            START("h0", "H*d"), START("c0", "H*d"), START("n0", "H*d"), START("m0", "H*d"),
            OUTPUT("c", "H*d"), OUTPUT("n", "H*d"), OUTPUT("m", "H*d"), RESULT("L H*d")),
     start_whole, run_slstm},
    {"hgrn2_core", "HGRN2, 2404.07904: the key is 1 - e^g", STATE_SIZES "scale:real=1",
     ARRAYS(INPUT("q", "L H*dk"), INPUT("g", "L H*dk"), INPUT("v", "L H*dv"), LAST, RESULT("L H*dv")), NULL,
     run_hgrn2},
    {"rglru_core", "Griffin, 2402.19427; reset: the first row whole, as published code does",
     "L:size D:size c:real=8 mode:paper|reset=paper",
     ARRAYS(INPUT("x", "L D"), INPUT("ga", "L D"), INPUT("gi", "L D"), INPUT("lam", "D"), START("h0", "D"),
            OUTPUT("state", "D"), RESULT("L D")),
     NULL, run_rglru},
    {"mingru_core", "Feng et al. 2024, 2410.01201; log: positive candidates",
     "L:size D:size mode:plain|log=plain",
     ARRAYS(INPUT("z", "L D"), INPUT("c", "L D"), START("h0", "D"), OUTPUT("state", "D"), RESULT("L D")),
     NULL, run_mingru},
    {"minlstm_core", "Feng et al. 2024, 2410.01201; log: positive candidates",
     "L:size D:size mode:plain|log=plain",
     ARRAYS(INPUT("f", "L D"), INPUT("i", "L D"), INPUT("c", "L D"), START("h0", "D"), OUTPUT("state", "D"),
            RESULT("L D")),
     NULL, run_minlstm},
    {"causal_conv_core", "ONNX CausalConvWithState, opset 27; the rows before in the order of rows",
     "L:size D:size past:size activation:none|silu=none",
     ARRAYS(INPUT("x", "L D"), INPUT("filter", "D past+1"), MAYBE("bias", "D"), START("s0", "past D"),
            OUTPUT("state", "past D"), RESULT("L D")),
     NULL, run_causal_conv},
    {"mamba3_core", "Mamba-3, one input and output a head, 2603.15569",
     "L:size H:size N:size P:size R:size" QK_NORM,
     ARRAYS(INPUT("q", "L H*N"), INPUT("k", "L H*N"), INPUT("v", "L H*P"), INPUT("g", "L H"),
            INPUT("dt", "L H"), INPUT("lam", "L H"), INPUT("theta", "L H*R"), MAYBE("skip", "H"),
            START("s0", "H N P"), START("k0", "H N"), START("v0", "H P"), START("a0", "H R"),
            OUTPUT("state", "H N P"), OUTPUT("k_last", "H N"), RESULT("L H*P")),
     pairs_fit, run_mamba3},
    {"mesa_core", "MesaNet, 2506.05233, solved exactly", STATE_SIZES "scale:real=1" QK_NORM,
     ARRAYS(QKV_STATE, INPUT("beta", "L H"), INPUT("g", "L H"), INPUT("lam", "H*dk"), START("s0", "H dk dv"),
            START("kk0", "H dk dk"), OUTPUT("state", "H dk dv"), OUTPUT("state_kk", "H dk dk"),
            RESULT("L H*dv")),
     NULL, run_mesa},
    {"ttt_core", "TTT-Linear, 2407.04620; norm: residual and layer norm",
     "L:size H:size d:size B:size eps:real=1e-6 mode:plain|norm=plain" QK_NORM,
     ARRAYS(INPUT("q", "L H*d"), INPUT("k", "L H*d"), INPUT("v", "L H*d"), INPUT("eta", "L H"),
            MAYBE("tau", "B"), START("w0", "H d d"), INPUT_IF("mode=norm", "b0", "H d"),
            INPUT_IF("mode=norm", "gain", "H*d"), INPUT_IF("mode=norm", "bias", "H*d"),
            OUTPUT("state", "H d d"), OUTPUT_IF("mode=norm", "b_last", "H d"), RESULT("L H*d")),
     NULL, run_ttt},
    {NULL, NULL, NULL, NULL, NULL, NULL}};
