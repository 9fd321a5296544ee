// oracle_states.c: states that rows are written into, and other recurrent comparators, for oracle_table.c.
#include "oracle_table.h"
#include <seqmix/ref.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
const oracle_mechanism oracle_states[] = {
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
