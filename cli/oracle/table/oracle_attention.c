// oracle_attention.c: softmax attention, LaS, CAT and landmarks for oracle_table.c.
#include "oracle_table.h"
#include <seqmix/ref.h>

#include <math.h>
#include <stdlib.h>
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

// ---- The list
#define CAT_PARAMS "L:size D:size H:size=1 W:size=1 mode:per_head|multi_head=per_head "

const oracle_mechanism oracle_attention[] = {
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
    {NULL, NULL, NULL, NULL, NULL, NULL}};
