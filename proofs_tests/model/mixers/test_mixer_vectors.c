// test_mixer_vectors.c: the mixers against the test vectors (proofs_tests/vectors, or $SEQMIX_VECTORS),
// outputs and all gradients through the float kernels on every instruction set. Skipped where the set is not
// there.
#include "mixer_vectors.h"

#include "model/ops/attention/distance.h"

// ---- How each mechanism is written ----------------------------------------------------------------------
static const char qkvo[] = "wq w_q wk w_k wv w_v wo w_o";

static int softmax_attention_case(char *text, size_t size, const json *p) {
    snprintf(text, size, "mixer=attention&causal=%d&position=%s", vector_number(p, "causal") != 0,
             vector_word(p, "pos"));
    return 1;
}
static int las_case(char *text, size_t size, const json *p) {
    size_t at = (size_t)snprintf(
        text, size, "mixer=las&las_decay=%s&pool=%s&window=%.0f&chunk=%.0f&alphas=", vector_word(p, "decay"),
        vector_word(p, "pool"), vector_number(p, "P"), vector_number(p, "chunk"));
    for (const json *a = json_get(p, "alphas")->child; a && at < size; a = a->next)
        at += (size_t)snprintf(text + at, size - at, "%.17g%s", fabs(a->number), a->next ? "," : "");
    return 1;
}
static int cat_case(char *text, size_t size, const json *p) {
    const char *two = vector_word(p, "value_filter");
    snprintf(text, size,
             "mixer=cat&filter=%.0f&filter_kind=%s&filters=%s&filter_norm=%s&position=%s&value_filter=%s",
             vector_number(p, "W"), vector_word(p, "mode"), vector_word(p, "filters"),
             vector_number(p, "norm_v") ? "qkv"
             : vector_number(p, "norm") ? "qk"
                                        : "none",
             vector_word(p, "pos"), *two ? two : "causal");
    return 1;
}
static int lincat_case(char *text, size_t size, const json *p) {
    snprintf(text, size, "mixer=lincat&filter=%.0f&filter_kind=%s&filters=%s&tile=5", vector_number(p, "W"),
             vector_word(p, "mode"), vector_word(p, "filters"));
    return 1;
}
static int lcat_case(char *text, size_t size, const json *p) {
    const char *filters = vector_word(p, "filters");
    snprintf(text, size, "mixer=lcat&block=%.0f&landmark=%s&dense_keys=%s&filters=%s&filter=%.0f",
             vector_number(p, "B"), vector_word(p, "filter"), vector_word(p, "dense_keys"),
             *filters ? filters : "none", *filters ? vector_number(p, "W") : 1);
    return 1;
}

static int gla_layer_case(char *text, size_t size, const json *p) {
    (void)p;
    snprintf(text, size, "mixer=gla&gate_rank=3");
    return 1;
}
static int deltanet_case(char *text, size_t size, const json *p) {
    (void)p;
    snprintf(text, size, "mixer=deltanet");
    return 1;
}
static int gated_deltanet_case(char *text, size_t size, const json *p) {
    (void)p;
    snprintf(text, size, "mixer=gated_deltanet");
    return 1;
}
static int mamba2_case(char *text, size_t size, const json *p) {
    snprintf(text, size, "mixer=mamba2&ssd_states=%.0f", vector_number(p, "N"));
    return 1;
}

static const vector_mechanism mechanisms[] = {
    {"softmax_attention", softmax_attention_case, qkvo},
    {"las_attention", las_case, qkvo},
    {"cat_attention", cat_case, qkvo},
    {"lincat", lincat_case, qkvo},
    {"lcat", lcat_case, qkvo},
    // Only in sets of others: the oracle has the cores of these layers alone.
    {"gla_layer", gla_layer_case, qkvo},
    {"deltanet_layer", deltanet_case, qkvo},
    {"gated_deltanet_layer", gated_deltanet_case, qkvo},
    {"mamba2_layer", mamba2_case, qkvo},
};
enum { OWN_MECHANISMS = 5 };

// ---- Tests ----------------------------------------------------------------------------------------------
static void mixers_on_vectors(void **state) {
    (void)state;
    json *root = vectors_manifest();
    if (!root) {
        print_message("%s/manifest.json is not there\n", vectors_folder());
        skip();
    }
    size_t done[CHECK_COUNT(mechanisms)] = {0};
    CHECK_EACH_ISA(isa)
    for (const json *c = json_get(root, "cases")->child; c; c = c->next)
        for (size_t i = 0; i < CHECK_COUNT(mechanisms); i++) {
            if (strcmp(mechanisms[i].mechanism, vector_word(c, "mechanism"))) continue;
            const json *p = json_get(c, "params");
            char text[2048], full[3072];
            check_trying("%s", vector_word(c, "name"));
            if (!mechanisms[i].write(text, sizeof text, p)) continue;
            snprintf(full, sizeof full, "task=nar&length=%.0f&width=%.0f&heads=%.0f&%s",
                     vector_number(p, "L"), vector_number(p, "D"), vector_number(p, "H"), text);
            vector_case(c, &mechanisms[i], full);
            done[i]++;
        }
    size_t all = 0;
    for (size_t i = 0; i < CHECK_COUNT(mechanisms); i++) {
        all += done[i];
        if (!done[i] && i < OWN_MECHANISMS && !getenv("SEQMIX_VECTORS"))
            check_fail("the manifest has no case of %s", mechanisms[i].mechanism);
    }
    if (!all) check_fail("the manifest has no case of a mixer");
    json_free(root);
}

// Linear attention of given q, k, v: a kernel of its own, in tiles of the case's C.
static void linear_attention_on_vectors(void **state) {
    (void)state;
    json *root = vectors_manifest();
    if (!root) {
        print_message("%s/manifest.json is not there\n", vectors_folder());
        skip();
    }
    CHECK_EACH_ISA(isa)
    for (const json *c = json_get(root, "cases")->child; c; c = c->next) {
        if (strcmp(vector_word(c, "mechanism"), "linear_attention")) continue;
        const json *p = json_get(c, "params"), *in = json_get(c, "inputs"),
                   *gradients = json_get(c, "gradients");
        const char *normaliser = vector_word(p, "normaliser");
        const size_t L = (size_t)vector_number(p, "L"), D = (size_t)vector_number(p, "D"),
                     H = (size_t)vector_number(p, "H"), n = L * D;
        const smx_linattn s = {1,
                               L,
                               D,
                               H,
                               D,
                               (size_t)vector_number(p, "C"),
                               !strcmp(normaliser, "sum")   ? SMX_LINATTN_SUM
                               : !strcmp(normaliser, "rms") ? SMX_LINATTN_RMS
                                                            : SMX_LINATTN_NONE,
                               (float)vector_number(p, "eps")};
        check_trying("%s", vector_word(c, "name"));
        float *data[4], *f[2], *y = check_floats(n), *norm = check_floats(H * L), *d[3];
        static const char *const names[] = {"q", "k", "v", "dy"};
        for (int a = 0; a < 4; a++) {
            npy from = vector_array(json_get(in, names[a]));
            data[a] = check_floats(n);
            for (size_t i = 0; i < n; i++) data[a][i] = (float)npy_value(&from, i);
            npy_free(&from);
        }
        for (int a = 0; a < 3; a++) d[a] = check_floats(n);
        for (int a = 0; a < 2; a++) {
            f[a] = check_copy(data[a], n);
            if (s.norm == SMX_LINATTN_SUM) smx_elu1_fwd(f[a], f[a], n);
        }
        smx_linattn_fwd(y, norm, f[0], f[1], data[2], check_scratch(smx_linattn_fwd_scratch_bytes(&s)), &s);
        vector_compare("y", json_get(json_get(c, "outputs"), "y"), y, n);
        smx_linattn_bwd(d[0], d[1], d[2], data[3], f[0], f[1], data[2], y, norm,
                        check_scratch(smx_linattn_bwd_scratch_bytes(&s)), &s);
        for (int a = 0; a < 2 && s.norm == SMX_LINATTN_SUM; a++) smx_elu1_bwd(d[a], d[a], f[a], n);
        for (int a = 0; a < 3; a++) vector_compare(names[a], json_get(gradients, names[a]), d[a], n);
        check_done();
    }
    json_free(root);
}

// Gated linear attention and the delta rule of given q, k, v: kernels of their own.
static float *vector_floats(const json *from, size_t n) {
    npy a = vector_array(from);
    if (a.count != n) check_fail("an array has %zu numbers, expected %zu", a.count, n);
    float *to = check_floats(n);
    for (size_t i = 0; i < n; i++) to[i] = (float)npy_value(&a, i);
    npy_free(&a);
    return to;
}
// These cases have a set of their own where one is named: $SEQMIX_VECTORS_RING.
static void states_on_vectors(void **state) {
    (void)state;
    vectors_variable = "SEQMIX_VECTORS_RING";
    json *root = vectors_manifest();
    if (!root) {
        print_message("%s/manifest.json is not there\n", vectors_folder());
        skip();
    }
    size_t done[2] = {0};
    CHECK_EACH_ISA(isa)
    for (const json *c = json_get(root, "cases")->child; c; c = c->next) {
        const int delta = !strcmp(vector_word(c, "mechanism"), "delta_core");
        if (!delta && strcmp(vector_word(c, "mechanism"), "gla_core")) continue;
        check_trying("%s", vector_word(c, "name"));
        const json *p = json_get(c, "params"), *in = json_get(c, "inputs"), *out = json_get(c, "outputs"),
                   *gradients = json_get(c, "gradients"), *fixed = json_get(p, "g");
        const char *mode = vector_word(c, "mode");
        smx_state s = {.B = 1,
                       .L = (size_t)vector_number(p, "L"),
                       .H = (size_t)vector_number(p, "H"),
                       .dk = (size_t)vector_number(p, "dk"),
                       .dv = (size_t)vector_number(p, "dv"),
                       .gates = !strcmp(mode, "retention") ? SMX_GATES_FIXED
                                : !strcmp(mode, "head")    ? SMX_GATES_HEAD
                                : !strcmp(mode, "channel") ? SMX_GATES_CHANNEL
                                                           : SMX_GATES_NONE};
        s.scale = (float)(json_get(p, "scale") ? vector_number(p, "scale") : 1 / sqrt((double)s.dk));
        const size_t nk = s.L * s.H * s.dk, nv = s.L * s.H * s.dv, nb = s.L * s.H, ns = s.H * s.dk * s.dv,
                     ng = s.gates == SMX_GATES_CHANNEL ? nk
                          : s.gates == SMX_GATES_FIXED ? s.H
                                                       : nb;
        float *q = vector_floats(json_get(in, "q"), nk), *k = vector_floats(json_get(in, "k"), nk),
              *v = vector_floats(json_get(in, "v"), nv), *dy = vector_floats(json_get(in, "dy"), nv),
              *beta = delta ? vector_floats(json_get(in, "beta"), nb) : NULL, *g = NULL,
              *start = json_get(in, "s0") ? vector_floats(json_get(in, "s0"), ns) : NULL;
        if (json_get(in, "g")) g = vector_floats(json_get(in, "g"), ng);
        if (s.gates == SMX_GATES_FIXED) {
            g = check_floats(ng);
            const json *number = fixed ? fixed->child : NULL;
            for (size_t h = 0; h < s.H; h++, number = number ? number->next : NULL)
                g[h] = (float)(number ? number->number : log1p(-exp2(-5.0 - (double)h)));
        }
        float *y = check_floats(nv), *last = check_floats(ns),
              *states = check_floats(smx_state_floats(s.L, s.H, s.dk, s.dv)), *dq = check_floats(nk),
              *dk = check_floats(nk), *dv = check_floats(nv), *dbeta = delta ? check_floats(nb) : NULL,
              *dg = check_filled(ng, 0), *dstart = check_floats(ns);
        const smx_state_rows x = {q, k, v, beta, g, NULL};
        const smx_state_gradients dx = {dq, dk, dv, dbeta, dg, NULL};
        (delta ? smx_delta_fwd : smx_gla_fwd)(y, last, states, &x, start,
                                              check_scratch(smx_state_fwd_scratch_bytes(&s)), &s);
        (delta ? smx_delta_bwd : smx_gla_bwd)(&dx, dstart, dy, NULL, &x, states,
                                              check_scratch(smx_state_bwd_scratch_bytes(&s)), &s);
        vector_compare("y", json_get(out, "y"), y, nv);
        vector_compare("state", json_get(out, "state"), last, ns);
        const struct {
            const char *name;
            const float *got;
            size_t n;
        } found[] = {{"q", dq, nk},       {"k", dk, nk}, {"v", dv, nv},
                     {"beta", dbeta, nb}, {"g", dg, ng}, {"s0", dstart, ns}};
        for (size_t i = 0; i < CHECK_COUNT(found); i++)
            if (json_get(gradients, found[i].name))
                vector_compare(found[i].name, json_get(gradients, found[i].name), found[i].got, found[i].n);
        done[delta]++;
        check_done();
    }
    if (!done[0] || !done[1]) check_fail("the manifest has no case of gla_core or delta_core");
    json_free(root);
    vectors_variable = "SEQMIX_VECTORS";
}

static void las_alphas_on_vectors(void **state) {
    (void)state;
    json *root = vectors_manifest();
    if (!root) {
        print_message("%s/manifest.json is not there\n", vectors_folder());
        skip();
    }
    for (const json *c = json_get(root, "cases")->child; c; c = c->next) {
        if (strcmp(vector_word(c, "mechanism"), "las_alphas")) continue;
        const json *p = json_get(c, "params");
        const size_t H = (size_t)vector_number(p, "H");
        double alphas[64];
        check_trying("%s", vector_word(c, "name"));
        las_alphas(alphas, H, vector_number(p, "B"));
        npy want = vector_array(json_get(json_get(c, "outputs"), "y"));
        assert_int_equal(want.count, H);
        for (size_t h = 0; h < H; h++)
            if (!(fabs(alphas[h] - npy_value(&want, h)) <= 1e-12 * vector_number(p, "B")))
                check_fail("alpha %zu is %.17g, expected %.17g", h, alphas[h], npy_value(&want, h));
        npy_free(&want);
    }
    json_free(root);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mixers_on_vectors), cmocka_unit_test(linear_attention_on_vectors),
        cmocka_unit_test(states_on_vectors), cmocka_unit_test(las_alphas_on_vectors)};
    return cmocka_run_group_tests_name("mixer_vectors", tests, NULL, NULL);
}
