// oracle_usual.c: norms, MLP, loss, optimiser, tables, and state space models for oracle_table.c.
#include "oracle_table.h"
#include <seqmix/ref.h>

#include <math.h>

#include <stdlib.h>
#include <string.h>

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

// ---- The list
const oracle_mechanism oracle_usual[] = {
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
    {NULL, NULL, NULL, NULL, NULL, NULL}};
