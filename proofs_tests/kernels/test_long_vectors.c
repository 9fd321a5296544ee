// test_long_vectors.c: Focus, CHELA, their parts and long convolutions against the test vectors
// (proofs_tests/vectors, or $SEQMIX_VECTORS), outputs and all gradients through the float kernels on every
// instruction set; and the fusion of short kernels on a whole model. The vectors are skipped where the set is
// not there.
#include "proofs_tests/model/mixers/mixer_vectors.h"

#include "model/mixers/short_long.h"
#include "model/run/model.h"

static const json *params_now; // of the case that is being built
static int skip_now;           // does it have a skip?

static uint32_t size_now(const char *key) { return (uint32_t)vector_number(params_now, key); }
static tensor *weight(graph *g, const char *name, uint32_t rank, const uint32_t *shape) {
    return graph_param(g, name, (init){INIT_CONSTANT, 0}, 0, rank, shape);
}

// ---- Parts ----------------------------------------------------------------------------------------------
static tensor *build_filter(graph *g, const config *c, tensor *x) {
    const uint32_t D = size_now("D"), bins = size_now("n_bins"), F = size_now("F");
    const char *mode = vector_word(params_now, "mode");
    (void)c;
    tensor *theta = op_repeat(g, weight(g, "theta", 4, (uint32_t[]){bins, D, F, 2}), 1);
    return op_iir(g, x, theta, g->L / bins, F,
                  !strcmp(mode, "literal") ? SMX_IIR_LITERAL
                  : !strcmp(mode, "carry") ? SMX_IIR_CARRY
                                           : SMX_IIR_CAUSAL);
}
static tensor *build_long(graph *g, const config *c, tensor *x) {
    return long_conv(g, c, &(long_settings){vector_number(params_now, "lambda"), skip_now}, x);
}
static tensor *build_short_long(graph *g, const config *c, tensor *x) {
    return short_long(g, c, &(long_settings){vector_number(params_now, "lambda"), skip_now}, 0, 1, x);
}
static tensor *build_short(graph *g, const config *c, tensor *x) {
    const uint32_t D = size_now("D");
    (void)c;
    tensor *three = op_conv(g, x, weight(g, "short_3", 2, (uint32_t[]){D, 3}), 0);
    tensor *many = op_conv(g, x, weight(g, "short_n", 2, (uint32_t[]){D, size_now("short_n")}), 0);
    return op_add(g, three, many);
}

// ---- How each mechanism is written ----------------------------------------------------------------------
typedef struct {
    vector_mechanism m;
    tensor *(*build)(graph *, const config *, tensor *); // NULL: the mixer
} part;

static int focus_case(char *text, size_t size, const json *p) {
    const int h = !strcmp(vector_word(p, "hyper"), "none");
    int at = snprintf(text, size, "mixer=%s&bins=%.0f&iir=%s&iir_filters=%.0f&chunks=%.0f&theta=%s",
                      h ? "focus_h" : "focus", vector_number(p, "n_bins"), vector_word(p, "mode"),
                      vector_number(p, "F"), vector_number(p, "C"), vector_word(p, "theta"));
    if (!h)
        snprintf(text + at, size - (size_t)at, "&oversample=%.0f&hyper=%s&hidden=%.0f", vector_number(p, "O"),
                 vector_word(p, "hyper"), vector_number(p, "hidden"));
    return 1;
}
static int filter_case(char *text, size_t size, const json *p) {
    (void)p;
    snprintf(text, size, "mixer=focus&skip=0");
    return 1;
}
static int long_case(char *text, size_t size, const json *p) {
    snprintf(text, size, "mixer=chela&squash=%.17g", vector_number(p, "lambda"));
    return 1;
}
static int chela_case(char *text, size_t size, const json *p) {
    return snprintf(text, size, "mixer=chela&tile=5&squash=%.17g", vector_number(p, "lambda")) > 0;
}
static int block_case(char *text, size_t size, const json *p) {
    return snprintf(text, size, "mixer=chela&norm=layer&mlp=%.0f&activation=%s&residual=%d&squash=%.17g",
                    vector_number(p, "ffn_mult"), vector_word(p, "ffn_act"),
                    vector_number(p, "residual") != 0, vector_number(p, "lambda")) > 0;
}

static const char in_block[] = "ln1_gain norm_1.gain ln1_bias norm_1.bias ln2_gain norm_2.gain ln2_bias "
                               "norm_2.bias ffn_w1 mlp.w_1 ffn_b1 mlp.b_1 "
                               "ffn_w2 mlp.w_2 ffn_b2 mlp.b_2 short_3 mixer.short_3 short_n mixer.short_n "
                               "conv_k mixer.conv_k conv_skip mixer.conv_skip "
                               "alpha_q mixer.alpha_q beta_q mixer.beta_q alpha_k mixer.alpha_k beta_k "
                               "mixer.beta_k w_v mixer.w_v b_v mixer.b_v "
                               "w_g mixer.w_g b_g mixer.b_g w_o mixer.w_o b_o mixer.b_o";
static const char qkv[] = "wq w_q wk w_k wv w_v";
static const part parts[] = {
    {{"focus_filter", filter_case, NULL}, build_filter},
    {{"focus_layer", focus_case, qkv}, NULL},
    {{"focus_h", focus_case, qkv}, NULL},
    {{"long_conv", long_case, NULL}, build_long},
    {{"short_long", long_case, NULL}, build_short_long},
    {{"short_fuse", filter_case, NULL}, build_short},
    {{"chela_layer", chela_case, NULL}, NULL},
    {{"chela_block", block_case, in_block}, model_block},
};

static void on_vectors(void **state) {
    (void)state;
    json *root = vectors_manifest();
    if (!root) {
        print_message("%s/manifest.json is not there\n", vectors_folder());
        skip();
    }
    size_t done[CHECK_COUNT(parts)] = {0};
    CHECK_EACH_ISA(isa)
    for (const json *c = json_get(root, "cases")->child; c; c = c->next)
        for (size_t i = 0; i < CHECK_COUNT(parts); i++) {
            if (strcmp(parts[i].m.mechanism, vector_word(c, "mechanism"))) continue;
            const json *p = json_get(c, "params");
            char text[1024], full[2048];
            check_trying("%s", vector_word(c, "name"));
            parts[i].m.write(text, sizeof text, p);
            snprintf(full, sizeof full, "length=%.0f&width=%.0f&heads=%.0f&skip=%d&%s", vector_number(p, "L"),
                     vector_number(p, "D"), vector_number(p, "H") > 0 ? vector_number(p, "H") : 1,
                     json_get(json_get(c, "inputs"), "conv_skip") != NULL, text);
            params_now = p;
            skip_now = json_get(json_get(c, "inputs"), "conv_skip") != NULL;
            lone_build = parts[i].build;
            vector_case(c, &parts[i].m, full);
            lone_build = NULL;
            done[i]++;
        }
    for (size_t i = 0; i < CHECK_COUNT(parts); i++)
        if (!done[i]) check_fail("the manifest has no case of %s", parts[i].m.mechanism);
    json_free(root);
}

// ---- Fusion ---------------------------------------------------------------------------------------------
// A CHELA layer and the one with its short kernels fused give the same output on every length class: n < 3,
// n = 3, n > 3.
static void fusion(void **state) {
    (void)state;
    static const size_t lengths[] = {1, 2, 3, 10, 11, 64, 100, 101};
    CHECK_EACH_ISA(isa)
    for (size_t i = 0; i < CHECK_COUNT(lengths); i++) {
        char text[128], fused[128];
        snprintf(text, sizeof text, "mixer=chela&length=%zu&width=20", lengths[i]);
        snprintf(fused, sizeof fused, "%s&fused=1", text);
        check_trying("%s", text);
        lone_mixer two, one;
        lone_mixer_open(&two, text, 1);
        lone_mixer_open(&one, fused, 1);
        assert_int_equal(short_long_fuse(&one.p, &two.p), 0);
        lone_mixer_run(&two, NULL);
        lone_mixer_run(&one, NULL);
        double *want = check_widen(two.y->data, two.y->n);
        check_close("y", one.y->data, want, one.y->n, 2e-6,
                    0); // a sum of taps, rounded before or after the product
        const param *taps = params_find(&one.p, "mixer.short"), *three = params_find(&two.p, "mixer.short_3");
        assert_int_equal(taps->shape[1], short_taps(lengths[i]) > 3 ? short_taps(lengths[i]) : 3);
        if (one.p.data[taps->offset] == two.p.data[three->offset])
            check_fail("the second kernel was not added");
        lone_mixer_close(&one);
        lone_mixer_close(&two);
        check_done();
    }
}

// ceil(2 log10 L) + 1 at and around the places where the logarithm is whole or half.
static void taps(void **state) {
    (void)state;
    static const size_t want[][2] = {{1, 1},      {2, 2},        {3, 2},       {4, 3},     {10, 3},
                                     {11, 4},     {31, 4},       {32, 5},      {100, 5},   {101, 6},
                                     {784, 7},    {1000, 7},     {4096, 9},    {10000, 9}, {10001, 10},
                                     {65536, 11}, {1000000, 13}, {1048576, 14}};
    for (size_t i = 0; i < CHECK_COUNT(want); i++) assert_int_equal(short_taps(want[i][0]), want[i][1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(on_vectors), cmocka_unit_test(fusion),
                                       cmocka_unit_test(taps)};
    return cmocka_run_group_tests_name("long_vectors", tests, NULL, NULL);
}
