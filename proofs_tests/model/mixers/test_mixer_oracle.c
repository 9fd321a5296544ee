// test_mixer_oracle.c: every mixer of the papers against the oracle's layer on random weights and inputs,
// in each of its forms: which weight meets which input, filter, gate and mask, as the equations say. Needs no
// set of vectors. Every key is named: the good settings that a task and mixer come with may change. Gradients
// are test_mixer_gradients.c's subject.
#include "mixer_vectors.h"

#include <seqmix/ref.h>

enum { L = 24, D = 8, H = 2 };

// A weight of the mixer in double; NULL where this form has none of that name.
static double *weight(const lone_mixer *m, const char *name) {
    char full[80];
    snprintf(full, sizeof full, "mixer.%s", name);
    const param *w = params_find(&m->p, full);
    return w ? check_widen(m->p.data + w->offset, w->n) : NULL;
}
static double *need(const lone_mixer *m, const char *name) {
    double *w = weight(m, name);
    if (!w) check_fail("there is no weight mixer.%s", name);
    return w;
}
// Opens the mixer, gives every weight random numbers, runs it; returns x in double.
static double *run(lone_mixer *m, const char *text, double size) {
    char config[512];
    check_trying("%s", text);
    snprintf(config, sizeof config, "length=%d&width=%d&%s", L, D, text);
    lone_mixer_open(m, config, 1);
    for (size_t i = 0; i < m->p.count; i++)
        for (size_t j = 0; j < m->p.list[i]->n; j++)
            m->p.data[m->p.list[i]->offset + j] = (float)check_uniform(-size, size);
    for (size_t j = 0; j < m->x->n; j++) m->x->data[j] = (float)check_uniform(-1, 1);
    lone_mixer_run(m, NULL);
    return check_widen(m->x->data, L * D);
}
// A few hundred roundings of float32 on numbers up to the largest.
static void judge(lone_mixer *m, const double *want) {
    check_close("y", m->y->data, want, L * D, 1e-5, 0);
    lone_mixer_close(m);
    check_done();
}
static ref_qkvo qkvo(const lone_mixer *m) {
    return (ref_qkvo){need(m, "w_q"), need(m, "w_k"), need(m, "w_v"), need(m, "w_o")};
}

static void attention(void **state) {
    (void)state;
    static const struct {
        const char *text;
        ref_pos pos;
    } cases[] = {{"mixer=attention&heads=2&position=none", REF_POS_NONE},
                 {"mixer=attention&heads=2&position=rope", REF_POS_ROPE},
                 {"mixer=attention&heads=2&position=alibi", REF_POS_ALIBI},
                 {"mixer=attention&heads=2&position=alibi_scaled", REF_POS_ALIBI_SCALED}};
    for (size_t i = 0; i < CHECK_COUNT(cases); i++) {
        lone_mixer m;
        check_seed(11 + i);
        double *x = run(&m, cases[i].text, 1), *want = check_doubles(L * D);
        const ref_qkvo w = qkvo(&m);
        const ref_heads p = {L, D, H, 1, cases[i].pos, 10000};
        assert_int_equal(ref_softmax_attention_fwd(want, x, &w, &p), REF_OK);
        judge(&m, want);
    }
}

#define LAS "mixer=las&heads=2&decay_range=2&alphas=spaced"
static void las(void **state) {
    (void)state;
    static const struct {
        const char *text;
        ref_pool pool;
        ref_decay decay;
        size_t P, chunk;
    } cases[] = {
        {LAS "&pool=trailing&window=4&las_decay=exp", REF_POOL_TRAILING, REF_DECAY_EXP, 4, 0},
        {LAS "&pool=centred&window=5&las_decay=exp", REF_POOL_CENTRED, REF_DECAY_EXP, 5, 0},
        {LAS "&pool=masked&window=5&las_decay=exp", REF_POOL_MASKED, REF_DECAY_EXP, 5, 0},
        {LAS "&pool=none&las_decay=exp", REF_POOL_NONE, REF_DECAY_EXP, 1, 0},
        {LAS "&pool=trailing&window=3&las_decay=none", REF_POOL_TRAILING, REF_DECAY_NONE, 3, 0},
        {LAS "&pool=centred&window=3&las_decay=alibi&chunk=10", REF_POOL_CENTRED, REF_DECAY_ALIBI, 3, 10},
        {LAS "&pool=trailing&window=4&las_decay=exp&causal=0", REF_POOL_TRAILING, REF_DECAY_EXP, 4, 0},
        {LAS "&pool=centred&window=3&las_decay=exp&causal=0&chunk=10", REF_POOL_CENTRED, REF_DECAY_EXP, 3,
         10},
        {LAS "&pool=none&las_decay=alibi&causal=0", REF_POOL_NONE, REF_DECAY_ALIBI, 1, 0}};
    for (size_t i = 0; i < CHECK_COUNT(cases); i++) {
        lone_mixer m;
        double alphas[H];
        check_seed(21 + i);
        double *x = run(&m, cases[i].text, 1), *want = check_doubles(L * D);
        const ref_qkvo w = qkvo(&m);
        ref_las_alphas(alphas, H, 2);
        const ref_las p = {L,
                           D,
                           H,
                           cases[i].P,
                           cases[i].chunk,
                           cases[i].decay,
                           cases[i].pool,
                           alphas,
                           strstr(cases[i].text, "causal=0") != NULL};
        assert_int_equal(ref_las_attention_fwd(want, x, &w, &p), REF_OK);
        judge(&m, want);
    }
}

#define CAT "mixer=cat&heads=2&position=none"
static void cat(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int multi_head, two_sided, norm, norm_v;
        int linear;
    } cases[] = {{CAT "&filter=3&filters=qkv&filter_kind=per_head", 0, 0, 0, 0, 0},
                 {CAT "&filter=3&filters=k&filter_kind=per_head", 0, 0, 0, 0, 0},
                 {CAT "&filter=4&filters=qkv&filter_kind=multi_head", 1, 0, 0, 0, 0},
                 {CAT "&filter=2&filters=qkv&value_filter=two_sided", 0, 1, 0, 0, 0},
                 {CAT "&filter=3&filters=qkv&filter_norm=qk", 0, 0, 1, 0, 0},
                 {CAT "&filter=3&filters=qkv&filter_norm=qkv", 0, 0, 1, 1, 0},
                 {CAT "&filter=2&filters=qkv&value_filter=two_sided&value_positive=1", 0, 1, 0, 0, 0},
                 {CAT "&filter=3&filters=qkv&filter_norm=qkv&value_positive=1", 0, 0, 1, 1, 0},
                 {CAT "&filter_kind=maps", 0, 0, 0, 0, 0},
                 {"mixer=lincat&heads=2&filter=3&filters=qkv", 0, 0, 0, 0, 1}};
    for (size_t i = 0; i < CHECK_COUNT(cases); i++) {
        lone_mixer m;
        check_seed(31 + i);
        double *x = run(&m, cases[i].text, 1), *want = check_doubles(L * D);
        const ref_cat_weights w = {need(&m, "w_q"),        need(&m, "w_k"),          need(&m, "w_v"),
                                   need(&m, "w_o"),        weight(&m, "filter_q"),   weight(&m, "filter_k"),
                                   weight(&m, "filter_v"), weight(&m, "filter_maps")};
        const ref_cat p = {L,
                           D,
                           H,
                           (size_t)atoi(config_get(m.c, "filter")),
                           cases[i].multi_head,
                           cases[i].two_sided,
                           cases[i].norm,
                           cases[i].norm_v,
                           REF_POS_NONE,
                           10000};
        if (strstr(cases[i].text, "positive")) // the oracle takes taps as they are
            for (size_t t = 0; t < params_find(&m.p, "mixer.filter_v")->n; t++)
                w.filter_v[t] *= w.filter_v[t];
        if (!strstr(cases[i].text, "maps") &&
            (!w.filter_q || !w.filter_v) != (strstr(cases[i].text, "filters=k") != NULL))
            check_fail("the filters are not those that the config names");
        assert_int_equal((cases[i].linear ? ref_lincat_fwd : ref_cat_attention_fwd)(want, x, &w, &p), REF_OK);
        judge(&m, want);
    }
}

static void lcat(void **state) {
    (void)state;
    for (int i = 0; i < 8; i++) {
        char text[160];
        lone_mixer m;
        check_seed(41 + (uint64_t)i);
        snprintf(text, sizeof text,
                 "mixer=lcat&heads=2&position=none&block=5&landmark=%s&dense_keys=%s&filters=%s",
                 i & 1 ? "rho" : "box", i & 2 ? "filtered" : "plain", i & 4 ? "v" : "none");
        double *x = run(&m, text, 1), *want = check_doubles(L * D);
        const ref_lcat_weights w = {need(&m, "w_q"), need(&m, "w_k"), need(&m, "w_v"), need(&m, "w_o"),
                                    weight(&m, "filter_v")};
        const ref_lcat p = {L,
                            D,
                            H,
                            5,
                            (size_t)atoi(config_get(m.c, "filter")),
                            i & 1 ? REF_LCAT_RHO : REF_LCAT_BOX,
                            (i & 2) != 0};
        assert_int_equal(ref_lcat_fwd(want, NULL, x, &w, &p), REF_OK);
        judge(&m, want);
    }
}

#define CHELA "mixer=chela&heads=2&fused=0&residual=0"
static void chela(void **state) {
    (void)state;
    static const char *const texts[] = {CHELA "&skip=1&squash=0", CHELA "&skip=1&tile=5&squash=0.05",
                                        CHELA "&skip=1&squash=0.05&causal=0", CHELA "&skip=0&squash=0"};
    for (size_t i = 0; i < CHECK_COUNT(texts); i++) {
        lone_mixer m;
        check_seed(51 + i);
        double *x = run(&m, texts[i], 0.5), *want = check_doubles(L * D);
        const ref_chela_weights w = {{need(&m, "short_3"), need(&m, "short_n"), need(&m, "conv_k"),
                                      weight(&m, "conv_skip"), weight(&m, "conv_ahead")},
                                     need(&m, "alpha_q"),
                                     need(&m, "beta_q"),
                                     need(&m, "alpha_k"),
                                     need(&m, "beta_k"),
                                     need(&m, "w_v"),
                                     need(&m, "b_v"),
                                     need(&m, "w_g"),
                                     need(&m, "b_g"),
                                     need(&m, "w_o"),
                                     need(&m, "b_o")};
        const ref_chela p = {L,
                             D,
                             H,
                             ref_short_n(L),
                             atof(config_get(m.c, "squash")),
                             1e-5,
                             strstr(texts[i], "causal=0") != NULL};
        assert_int_equal(ref_chela_layer_fwd(want, NULL, NULL, x, &w, &p), REF_OK);
        judge(&m, want);
    }
}

#define FOCUS "mixer=focus&hidden=6&squash=0&share_conv=0"
static void focus(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t bins, F, O, C;
        ref_focus_mode mode;
        ref_theta theta;
        int joint;
        double sum;
    } cases[] = {
        {FOCUS
         "&bins=4&iir=causal&iir_filters=1&theta=sigmoid&chunks=1&oversample=1&hyper=per_channel&skip=0",
         4, 1, 1, 1, REF_FOCUS_CAUSAL, REF_THETA_SIGMOID, 0, 0},
        {FOCUS
         "&bins=4&iir=carry&iir_filters=1&theta=triangle&chunks=2&oversample=2&hyper=per_channel&skip=0",
         4, 1, 2, 2, REF_FOCUS_CARRY, REF_THETA_TRIANGLE, 0, 0},
        {FOCUS "&bins=3&iir=literal&iir_filters=2&theta=sigmoid&chunks=1&oversample=1&hyper=joint&skip=1", 3,
         2, 1, 1, REF_FOCUS_LITERAL, REF_THETA_SIGMOID, 1, 0},
        {FOCUS
         "&bins=4&iir=carry&iir_filters=2&theta=bounded&theta_sum=0.7&chunks=1&oversample=1&hyper=per_channel&skip=0",
         4, 2, 1, 1, REF_FOCUS_CARRY, REF_THETA_BOUNDED, 0, 0.7},
        {"mixer=focus&hidden=6&share_conv=0&squash=0.1&hyper=local_global&local=3&bins=4&iir=causal&iir_filters=2"
         "&theta=sigmoid&chunks=2&oversample=2&skip=1",
         4, 2, 2, 2, REF_FOCUS_CAUSAL, REF_THETA_SIGMOID, 0, 0},
        {"mixer=focus_h&bins=4&iir=causal&iir_filters=2&theta=bounded&theta_sum=0.9&chunks=1", 4, 2, 1, 1,
         REF_FOCUS_CAUSAL, REF_THETA_BOUNDED, 0, 0.9},
        {"mixer=focus_h&bins=4&iir=causal&iir_filters=2&theta=sigmoid&chunks=1", 4, 2, 1, 1, REF_FOCUS_CAUSAL,
         REF_THETA_SIGMOID, 0, 0}};
    for (size_t i = 0; i < CHECK_COUNT(cases); i++) {
        lone_mixer m;
        check_seed(61 + i);
        const size_t heads = 2;
        char text[200];
        snprintf(text, sizeof text, "%s&heads=2", cases[i].text);
        double *x = run(&m, text, 0.5), *want = check_doubles(L * D);
        const ref_focus_weights w = {weight(&m, "conv_k"),    weight(&m, "conv_skip"), weight(&m, "hyper_w1"),
                                     weight(&m, "hyper_b1"),  weight(&m, "hyper_w2"),  weight(&m, "hyper_b2"),
                                     weight(&m, "theta_raw"), need(&m, "w_q"),         need(&m, "w_k"),
                                     need(&m, "w_v"),         need(&m, "w_gamma"),     need(&m, "b_gamma"),
                                     need(&m, "w_phi"),       need(&m, "b_phi"),       need(&m, "w_h"),
                                     need(&m, "u_h"),         need(&m, "b_h"),         weight(&m, "local_k")};
        const char *squash = config_get(m.c, "squash");
        const ref_focus p = {L,
                             D,
                             heads,
                             cases[i].bins,
                             cases[i].F,
                             cases[i].O,
                             cases[i].C,
                             w.hyper_w1 ? 6 : 0,
                             cases[i].mode,
                             cases[i].theta,
                             cases[i].joint,
                             cases[i].sum,
                             atof(squash ? squash : "0"),
                             w.local_k ? 3 : 0};
        assert_int_equal(ref_focus_layer_fwd(want, NULL, x, &w, &p), REF_OK);
        judge(&m, want);
    }
}

// ---- States of keys and values: the layers' equations over the oracle's cores
static double sigma(double x) { return 1 / (1 + exp(-x)); }
static double softplus(double x) { return log1p(exp(x)); }
// x W + b, b NULL: 0
static double *product(const double *x, const double *w, const double *b, size_t in, size_t out) {
    double *y = check_doubles(L * out);
    ref_gemm(y, x, w, L, out, in, in, out, out, 0);
    for (size_t i = 0; b && i < L * out; i++) y[i] += b[i % out];
    return y;
}
// SiLU(conv(x W)), 4 taps, the newest first
static double *convolved(const double *x, const double *w, const double *taps, size_t out) {
    double *z = product(x, w, NULL, D, out), *y = check_doubles(L * out);
    for (size_t t = 0; t < L; t++)
        for (size_t c = 0; c < out; c++) {
            double sum = 0;
            for (size_t i = 0; i < 4 && i <= t; i++) sum += taps[c * 4 + i] * z[(t - i) * out + c];
            y[t * out + c] = sum * sigma(sum);
        }
    return y;
}
// Parts of so many columns by their length, or by their root mean square (eps 1e-5) and the columns' gain.
static void normed(double *x, size_t width, size_t part, const double *gain) {
    for (size_t i = 0; i < L * width; i += part) {
        double square = 0;
        for (size_t c = 0; c < part; c++) square += x[i + c] * x[i + c];
        const double r = 1 / sqrt(gain ? square / (double)part + 1e-5 : square);
        for (size_t c = 0; c < part; c++) x[i + c] *= r * (gain ? gain[(i + c) % width] : 1);
    }
}
static void gated_by(double *y, const double *z, size_t n) {
    for (size_t i = 0; i < n; i++) y[i] *= z[i] * sigma(z[i]);
}

static void gla(void **state) {
    (void)state;
    lone_mixer m;
    check_seed(91);
    double *x = run(&m, "mixer=gla&heads=2&gate_rank=3", 1);
    double *q = product(x, need(&m, "w_q"), NULL, D, D), *k = product(x, need(&m, "w_k"), NULL, D, D),
           *v = product(x, need(&m, "w_v"), NULL, D, D), *low = product(x, need(&m, "w_g1"), NULL, D, 3),
           *g = product(low, need(&m, "w_g2"), need(&m, "b_g"), 3, D), *o = check_doubles(L * D),
           *last = check_doubles(D * D / H);
    for (size_t i = 0; i < L * D; i++) g[i] = -softplus(-g[i]) / 16;
    const ref_state p = {1, L, H, D / H, D / H, REF_GATES_CHANNEL, 1 / sqrt((double)(D / H))};
    ref_gla_fwd(o, last, q, k, v, g, NULL, &p);
    normed(o, D, D / H, need(&m, "gain"));
    gated_by(o, product(x, need(&m, "w_r"), need(&m, "b_r"), D, D), L * D);
    judge(&m, product(o, need(&m, "w_o"), NULL, D, D));
}

static void deltanet(void **state) {
    (void)state;
    for (int gated = 0; gated < 2; gated++) {
        lone_mixer m;
        check_seed(92);
        double *x = run(&m, gated ? "mixer=gated_deltanet&heads=2" : "mixer=deltanet&heads=2", 1);
        double *q = convolved(x, need(&m, "w_q"), need(&m, "conv_q"), D),
               *k = convolved(x, need(&m, "w_k"), need(&m, "conv_k"), D),
               *v = convolved(x, need(&m, "w_v"), need(&m, "conv_v"), D),
               *beta = product(x, need(&m, "w_beta"), NULL, D, H), *g = NULL, *o = check_doubles(L * D),
               *last = check_doubles(D * D / H);
        normed(q, D, D / H, NULL);
        normed(k, D, D / H, NULL);
        for (size_t i = 0; i < L * H; i++) beta[i] = sigma(beta[i]);
        if (gated) {
            g = product(x, need(&m, "w_a"), need(&m, "dt_bias"), D, H);
            for (size_t i = 0; i < L * H; i++) g[i] = -exp(need(&m, "a_log")[i % H]) * softplus(g[i]);
        }
        const ref_state p = {
            1, L, H, D / H, D / H, gated ? REF_GATES_HEAD : REF_GATES_NONE, 1 / sqrt((double)(D / H))};
        assert_int_equal(ref_delta_fwd(o, last, q, k, v, beta, g, NULL, &p), REF_OK);
        normed(o, D, D / H, need(&m, "gain"));
        if (gated) gated_by(o, product(x, need(&m, "w_gate"), NULL, D, D), L * D);
        judge(&m, product(o, need(&m, "w_o"), NULL, D, D));
    }
}

static void mamba2(void **state) {
    (void)state;
    enum { N = 5, E = 2 * D };
    lone_mixer m;
    check_seed(93);
    double *x = run(&m, "mixer=mamba2&heads=2&ssd_states=5", 1);
    double *u = convolved(x, need(&m, "w_x"), need(&m, "conv_x"), E),
           *b = convolved(x, need(&m, "w_b"), need(&m, "conv_b"), N),
           *c = convolved(x, need(&m, "w_c"), need(&m, "conv_c"), N),
           *dt = product(x, need(&m, "w_dt"), need(&m, "dt_bias"), D, H), *a = need(&m, "a_log"),
           *skip = need(&m, "skip"), *g = check_doubles(L * H), *v = check_doubles(L * E),
           *bs = check_doubles(L * H * N), *cs = check_doubles(L * H * N), *y = check_doubles(L * E),
           *last = check_doubles(E * N);
    for (size_t i = 0; i < L * H; i++) dt[i] = softplus(dt[i]), g[i] = -exp(a[i % H]) * dt[i];
    for (size_t i = 0; i < L * E; i++) v[i] = dt[i / (E / H)] * u[i];
    for (size_t i = 0; i < L * H * N; i++) { // every head reads the same B and C
        bs[i] = b[i / (H * N) * N + i % N];
        cs[i] = c[i / (H * N) * N + i % N];
    }
    const ref_state p = {1, L, H, N, E / H, REF_GATES_HEAD, 1};
    ref_gla_fwd(y, last, cs, bs, v, g, NULL, &p);
    for (size_t i = 0; i < L * E; i++) y[i] += skip[i / (E / H) % H] * u[i];
    gated_by(y, product(x, need(&m, "w_z"), NULL, D, E), L * E);
    normed(y, E, E, need(&m, "gain"));
    judge(&m, product(y, need(&m, "w_o"), NULL, E, D));
}

// Attention over the last rows.
static void sliding(void **state) {
    (void)state;
    lone_mixer m;
    check_seed(94);
    double *x = run(&m, "mixer=attention&heads=2&position=none&sliding=5", 1);
    double *q = product(x, need(&m, "w_q"), NULL, D, D), *k = product(x, need(&m, "w_k"), NULL, D, D),
           *v = product(x, need(&m, "w_v"), NULL, D, D), *o = check_doubles(L * D),
           *stats = check_doubles(2 * H * L);
    const ref_attention p = {.B = 1,
                             .L = L,
                             .D = D,
                             .H = H,
                             .stride = D,
                             .causal = 1,
                             .scale = 1 / sqrt((double)(D / H)),
                             .sliding = 5};
    ref_attention_fwd(o, stats, q, k, v, &p);
    judge(&m, product(o, need(&m, "w_o"), NULL, D, D));
}

static void retnet(void **state) {
    (void)state;
    lone_mixer m;
    check_seed(95);
    double *x = run(&m, "mixer=retnet&heads=2", 1);
    double *q = product(x, need(&m, "w_q"), NULL, D, D), *k = product(x, need(&m, "w_k"), NULL, D, D),
           *v = product(x, need(&m, "w_v"), NULL, D, D), *turns = check_doubles(L * D / H),
           *o = check_doubles(L * D), *last = check_doubles(D * D / H), g[H];
    ref_rope_table(turns, L, D / H, 10000);
    ref_rope_fwd(q, q, turns, 1, L, D, H, D, D);
    ref_rope_fwd(k, k, turns, 1, L, D, H, D, D);
    for (int h = 0; h < H; h++) g[h] = log1p(-exp2(-5.0 - h));
    const ref_state p = {1, L, H, D / H, D / H, REF_GATES_FIXED, 1 / sqrt((double)(D / H))};
    ref_gla_fwd(o, last, q, k, v, g, NULL, &p);
    normed(o, D, D / H, need(&m, "gain"));
    gated_by(o, product(x, need(&m, "w_r"), NULL, D, D), L * D);
    judge(&m, product(o, need(&m, "w_o"), NULL, D, D));
}

static void based(void **state) {
    (void)state;
    lone_mixer m;
    check_seed(96);
    double *x = run(&m, "mixer=based&heads=2&feature_width=3", 1);
    double *q = product(x, need(&m, "w_q"), NULL, D, 3 * H), *k = product(x, need(&m, "w_k"), NULL, D, 3 * H),
           *v = product(x, need(&m, "w_v"), NULL, D, D), *o = check_doubles(L * D);
    ref_based_fwd(o, q, k, v, L, H, 3, D / H);
    judge(&m, product(o, need(&m, "w_o"), NULL, D, D));
}

static void recurrent(void **state) {
    (void)state;
    for (int gru = 0; gru < 2; gru++) {
        lone_mixer m;
        check_seed(97);
        double *x = run(&m, gru ? "mixer=gru" : "mixer=lstm", 1), *y = check_doubles(L * D);
        const size_t gates = gru ? 3 : 4;
        double *z = product(x, need(&m, "w"), need(&m, gru ? "b_x" : "b"), D, gates * D);
        const ref_recurrent p = {1, L, D};
        assert_int_equal(gru ? ref_gru_fwd(y, NULL, z, need(&m, "u"), need(&m, "b_h"), NULL, &p)
                             : ref_lstm_fwd(y, NULL, z, need(&m, "u"), NULL, &p),
                         REF_OK);
        judge(&m, y);
    }
}

// Positions, windows and the order of gates are written again here, from spec and paper.
static void hyena_as_written(const char *text, size_t N, size_t bands, double decay) {
    enum { HIDDEN = 4, MOST = 3 };
    const size_t F = 1 + 2 * bands;
    lone_mixer m;
    check_seed(98);
    double *x = run(&m, text, 1);
    double *wide = product(x, need(&m, "w_in"), NULL, D, (N + 1) * D), *taps = need(&m, "conv"),
           *parts[MOST + 1], *pos = check_doubles(L * F), *k = check_doubles(N * D * L), rates[MOST * D],
           *y = check_doubles(L * D);
    for (size_t n = 0; n <= N; n++) {
        parts[n] = check_doubles(L * D);
        for (size_t t = 0; t < L; t++)
            for (size_t c = 0; c < D; c++) {
                double sum = 0;
                for (size_t w = 0; w < 3 && w <= t; w++)
                    sum += taps[(n * D + c) * 3 + w] * wide[(t - w) * (N + 1) * D + n * D + c];
                parts[n][t * D + c] = sum;
            }
    }
    for (size_t t = 0; t < L; t++) {
        const double share = (double)t / (L - 1);
        pos[t * F] = share;
        for (size_t b = 1; b <= bands; b++) {
            pos[t * F + 2 * b - 1] = cos(2 * acos(-1) * (double)b * share);
            pos[t * F + 2 * b] = sin(2 * acos(-1) * (double)b * share);
        }
    }
    for (size_t c = 0; c < N * D; c++)
        rates[c] =
            decay * (log(100) / 1.5 + (double)c / (double)(N * D - 1) * (log(100) / 0.3 - log(100) / 1.5));
    const ref_hyena_filters f = {L,
                                 N * D,
                                 F,
                                 HIDDEN,
                                 3,
                                 0.05,
                                 pos,
                                 need(&m, "filter_1"),
                                 need(&m, "filter_b1"),
                                 need(&m, "filter_2"),
                                 need(&m, "filter_b2"),
                                 need(&m, "filter_3"),
                                 rates};
    assert_int_equal(ref_hyena_filters_fwd(k, &f), REF_OK);
    ref_hyena p = {L, D, N, {0}, {0}, {0}};
    for (size_t n = 0; n < N; n++) {
        char skip[16];
        snprintf(skip, sizeof skip, "skip_%zu", n + 1);
        p.x[n] = parts[n + 1], p.h[n] = k + n * D * L, p.skip[n] = need(&m, skip);
    }
    assert_int_equal(ref_hyena_fwd(y, parts[0], &p), REF_OK);
    judge(&m, product(y, need(&m, "w_o"), NULL, D, D));
}
static void hyena(void **state) {
    (void)state;
    hyena_as_written("mixer=hyena&hyena_order=2&filter_width=4&bands=2&frequency=3", 2, 2, 1);
    hyena_as_written("mixer=hyena&hyena_order=2&filter_width=4&bands=2&frequency=3&filter_decay=0.25", 2, 2,
                     0.25);
    hyena_as_written("mixer=hyena&hyena_order=3&filter_width=4&bands=0&frequency=3&filter_decay=0", 3, 0, 0);
    hyena_as_written("mixer=hyena&hyena_order=1&filter_width=4&bands=1&frequency=3", 1, 1, 1);
}

// ---- Both directions, each as one sum over all rows -------------------------------------------------------
// skip x_t + sum over u <= t of k[t-u] x_u + sum over u > t of ahead[u-t-1] x_u
static double *on_both_sides(const lone_mixer *m, const double *x) {
    const double *k = need(m, "conv_k"), *ahead = need(m, "conv_ahead"), *skip = need(m, "conv_skip");
    double *y = check_doubles(L * D);
    for (size_t t = 0; t < L; t++)
        for (size_t c = 0; c < D; c++) {
            double sum = skip[c] * x[t * D + c];
            for (size_t u = 0; u < L; u++)
                sum += (u <= t ? k[c * L + t - u] : ahead[c * L + u - t - 1]) * x[u * D + c];
            y[t * D + c] = sum;
        }
    return y;
}
static void longconv_both(void **state) {
    (void)state;
    lone_mixer m;
    check_seed(121);
    double *x = run(&m, "mixer=longconv&causal=0&squash=0&skip=1", 1), *y = on_both_sides(&m, x);
    ref_gelu_fwd(y, y, L * D);
    judge(&m, product(y, need(&m, "w_o"), NULL, D, D));
}
static void chela_both(void **state) {
    (void)state;
    lone_mixer m;
    check_seed(122);
    double *x = run(&m, CHELA "&causal=0&squash=0&skip=1", 0.5), *s = check_doubles(L * D);
    const size_t n = ref_short_n(L), d = D / H;
    assert_int_equal(ref_short_sum_fwd(s, x, need(&m, "short_3"), need(&m, "short_n"), L, D, n), REF_OK);
    ref_silu_fwd(s, s, L * D);
    const double *z = on_both_sides(&m, s), *alpha_q = need(&m, "alpha_q"), *beta_q = need(&m, "beta_q"),
                 *alpha_k = need(&m, "alpha_k"), *beta_k = need(&m, "beta_k");
    double *v = product(x, need(&m, "w_v"), need(&m, "b_v"), D, D), *ones = check_doubles(D),
           *o = check_doubles(L * D);
    ref_silu_fwd(v, v, L * D);
    memset(o, 0, L * D * sizeof *o);
    for (size_t t = 0; t < L; t++)
        for (size_t u = 0; u < L; u++)
            for (size_t h = 0; h < H; h++) {
                double weight = 0;
                for (size_t c = h * d; c < (h + 1) * d; c++)
                    weight +=
                        (alpha_q[c] * z[t * D + c] + beta_q[c]) * (alpha_k[c] * z[u * D + c] + beta_k[c]);
                for (size_t c = h * d; c < (h + 1) * d; c++) o[t * D + c] += weight * v[u * D + c];
            }
    for (size_t c = 0; c < D; c++) ones[c] = 1;
    normed(o, D, d, ones);
    gated_by(o, product(z, need(&m, "w_g"), need(&m, "b_g"), D, D), L * D);
    const double *g = product(z, need(&m, "w_o"), need(&m, "b_o"), D, D);
    for (size_t i = 0; i < L * D; i++) o[i] = sigma(g[i]) * o[i] + (1 - sigma(g[i])) * x[i];
    judge(&m, o);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attention), cmocka_unit_test(las),      cmocka_unit_test(cat),
        cmocka_unit_test(lcat),      cmocka_unit_test(chela),    cmocka_unit_test(focus),
        cmocka_unit_test(gla),       cmocka_unit_test(deltanet), cmocka_unit_test(mamba2),
        cmocka_unit_test(sliding),   cmocka_unit_test(retnet),   cmocka_unit_test(based),
        cmocka_unit_test(recurrent), cmocka_unit_test(hyena),    cmocka_unit_test(longconv_both),
        cmocka_unit_test(chela_both)};
    return cmocka_run_group_tests_name("mixer_oracle", tests, NULL, NULL);
}
