// test_scan_texts.c: the statement scan, and attention with gates, cap, sink, grouped keys: against the
// float64 cores of a set of vectors ($SEQMIX_VECTORS_NEXT), against its double reading (check/scan.c) and
// central differences; the same words whatever the instruction set, batch or way of reading; gates wide open
// and shut; and what is refused, with the place and the reason.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seqmix/run.h>
#include <seqmix/state.h>

#include "attention_texts.h"
#include "check/check.h"
#include "kernels/core/philox.h"
#include "proofs_tests/model/mixers/mixer_vectors.h"
#include "model/base/error.h"

#include "model/audit/scan_texts.h"

static char *encoded(char *to, const char *text) {
    char *at = to;
    for (; *text; text++) at += sprintf(at, "%%%02X", (unsigned char)*text);
    *at = 0;
    return to;
}

// ---- Against float64 cores ------------------------------------------------------------------------------
// The lines of a core; %s stands for the query's scale. Names of the case's arrays; s0 starts the state.
static const struct {
    const char *mechanism, *mode, *over, *lines, *starts;
} cores[] = {
    {"delta_core", "head", "S[k][v] over q, k, v, beta, g",
     "R = exp(g) * S\n S = R + outer(k, beta * (v - k @ R))\n o = %s * (q @ S)", "S"},
    {"kda_core", "channel", "S[k][v] over q, k, v, beta, g",
     "R = diag(exp(g)) @ S\n S = R + outer(k, beta * (v - k @ R))\n o = %s * (q @ S)", "S"},
    {"kda_core", "grouped", "S[k][v] over grouped(q, 3), grouped(k, 3), v, beta, g",
     "R = diag(exp(g)) @ S\n S = R + outer(k, beta * (v - k @ R))\n o = %s * (q @ S)", "S"},
    {"dplr_core", "channel", "S[k][v] over q, k, v, a, b, g",
     "S = diag(exp(g)) @ S + outer(a, b @ S) + outer(k, v)\n o = %s * (q @ S)", "S"},
    {"deltaproduct_core", "head", "S[q][size(v) / n] over q, k, v, beta, g",
     "S = exp(g) * S\n repeat j in n\n  e = part(k, j)\n  S = S + outer(e, part(beta, j) * (part(v, j) - e @ S))\n"
     " o = %s * (q @ S)",
     "S"},
    {"deltaproduct_core", "none", "S[q][size(v) / n] over q, k, v, beta",
     "e = part(k, 0, n)\n S = S + outer(e, part(beta, 0, n) * (part(v, 0, n) - e @ S))\n"
     " e = part(k, 1, n)\n S = S + outer(e, part(beta, 1, n) * (part(v, 1, n) - e @ S))\n"
     " e = part(k, 2, n)\n S = S + outer(e, part(beta, 2, n) * (part(v, 2, n) - e @ S))\n o = %s * (q @ S)",
     "S"},
    {"gdn2_core", "channel", "S[k][v] over q, k, v, g, b, w",
     "R = diag(exp(g)) @ S\n S = R + outer(k, w * v - (b * k) @ R)\n o = %s * (q @ S)", "S"},
    {"rwkv7_core", "channel", "S[k][v] over r, g, k, v, kk, a",
     "S = diag(exp(g)) @ S - outer(a * kk, kk @ S) + outer(k, v)\n o = r @ S", "S"},
    {"comba_core", "head", "S[k][v] over q, k, v, p, beta, g",
     "S = exp(g) * S + outer(k, beta * (v - p @ S))\n o = %s * (q @ S)", "S"},
    {"mlstm_core", "sigmoid", "C[k][v], n[k], m over q, k, v, i, f",
     "l = -softplus(-f)\n t = max(l + m, i)\n C = exp(l + m - t) * C + exp(i - t) * outer(k, v)\n"
     " n = exp(l + m - t) * n + exp(i - t) * k\n m = t\n p = %s * q\n o = (p @ C) / max(abs(dot(n, p)), exp(-m))",
     ""},
    {"hgrn2_core", "channel", "S[q][v] over q, g, v",
     "S = diag(exp(g)) @ S + outer(1 - exp(g), v)\n o = q @ S", "S"},
    {"mingru_core", "log", "h over z, c by columns",
     "e = select(c, c + 0.5, sigmoid(c))\n h = (1 - sigmoid(z)) * h + sigmoid(z) * e\n o = h", "h"},
    {"rglru_core", "paper", "h over in, ga, gi by columns",
     "g = -8 * softplus(lam[heads]) * sigmoid(ga)\n h = exp(g) * h + sqrt(1 - exp(2 * g)) * sigmoid(gi) * in\n o = h",
     ""},
    {"minlstm_core", "plain", "h over f, i, c by columns",
     "s = sigmoid(f) + sigmoid(i)\n h = sigmoid(f) / s * h + sigmoid(i) / s * c\n o = h", "h"},
    {"ttt_core", "plain", "W[k][v] over q, k, v, eta", "W = W + outer(k, eta * (v - k @ W))\n o = q @ W",
     "W"},
    // Lines alone: no scan. A mode may be how a case's name begins.
    {"gdn2_core", "gdn2_hard", NULL, "o = delta(q, k, w * v, exp(q[0:heads] * 0), g, erase=b * k)", ""},
    {"fox_core", "forget", NULL, "o = attention(q, k, v, bias=g, kv_heads=kv)", ""},
    {"attn_core", "attn_cap3", NULL, "o = attention(q, k, v, cap=3, kv_heads=kv)", ""},
    {"diff_core", "diff_", NULL, // its gain and lambda's weights are one head's, read by both
     "q1 = join(q[0:4], q[8:12])\nq2 = join(q[4:8], q[12:16])\nk1 = join(k[0:4], k[8:12])\n"
     "k2 = join(k[4:8], k[12:16])\nv1 = join(v[0:4], v[8:12])\nv2 = join(v[4:8], v[12:16])\n"
     "r = exp(sum_heads(lq1[8] * lk1[8])) - exp(sum_heads(lq2[8] * lk2[8])) + 0.4707130183435842\n"
     "a = attention(q1, k1, v1, kv_heads=kv) - per_head(r, 4) * attention(q2, k2, v1)\n"
     "b = attention(q1, k1, v2) - per_head(r, 4) * attention(q2, k2, v2)\n"
     "n = per_head((1 - 0.4707130183435842) / sqrt((sum_heads(a^2) + sum_heads(b^2)) / 8 + 0.00001), 4)\n"
     "c = n * a\nd = n * b\no = gain(join(join(c[0:4], d[0:4]), join(c[4:8], d[4:8])), gain)",
     ""},
    {"attn_core", "attn_sink_norm", NULL,
     "d = join(k, k)\np = q * per_head(1 / sqrt(sum_heads(q * q) / 4 + 0.000001), 4)\n"
     "e = d * per_head(1 / sqrt(sum_heads(d * d) / 4 + 0.000001), 4)\n"
     "a = join(gain(p[0:4], q_gain), gain(p[4:8], q_gain))\n"
     "b = join(gain(p[8:12], q_gain), gain(p[12:16], q_gain))\n"
     "r = join(gain(e[0:4], k_gain), gain(e[4:8], k_gain))\n"
     "o = attention(join(a, b), r, v, sink=sinks, kv_heads=kv)",
     ""},
};

static int has_rows(const json *a, size_t L) {
    return json_get(a, "shape")->child->number == (double)L && json_get(a, "shape")->child->next &&
           !json_get(a, "shape")->child->next->next && strcmp(a->key, "dy");
}
static size_t columns_of(const json *a) { return (size_t)json_get(a, "shape")->child->next->number; }
// Where an input's columns begin in x.
static size_t column_of(const json *inputs, const char *name, size_t L) {
    size_t at = 0;
    for (const json *a = inputs->child; a && strcmp(a->key, name); a = a->next)
        if (has_rows(a, L)) at += columns_of(a);
    return at;
}
static const param *core_weight(const lone_mixer *m, const char *key) {
    char name[64];
    snprintf(name, sizeof name, "mixer.%s", key);
    return params_find((params *)(uintptr_t)&m->p, name);
}
static void core_case(const json *c, size_t core) {
    static char text[4096], config[20000], code[12200];
    const json *inputs = json_get(c, "inputs"), *given = json_get(c, "params"), *s0 = NULL;
    const size_t L = (size_t)vector_number(given, "L");
    size_t n = 0, D = 0, H = (size_t)vector_number(given, "H");
    if (vector_number(given, "HV") > 0) H = (size_t)vector_number(given, "HV");
    if (!H) H = 1;
    const double dk = vector_number(given, "dk");
    char scale[32], lines[1000];
    snprintf(scale, sizeof scale, "%.17g", dk > 0 ? 1 / sqrt(dk) : 1);
    if (vector_number(given, "Hkv") > 0)
        n += (size_t)sprintf(text + n, "kv = %g\n", vector_number(given, "Hkv"));
    if (vector_number(given, "n") > 0) n += (size_t)sprintf(text + n, "n = %g\n", vector_number(given, "n"));
    for (const json *a = inputs->child; a; a = a->next) {
        if (!strcmp(a->key, "s0") || !strcmp(a->key, "h0") || !strcmp(a->key, "w0")) s0 = a;
        if (has_rows(a, L)) {
            n += (size_t)sprintf(text + n, "%s = columns(x, %zu, %zu)\n", strcmp(a->key, "x") ? a->key : "in",
                                 D, columns_of(a));
            D += columns_of(a);
        }
    }
    while (D % H) D++; // (of a config, heads divide the width)
    const size_t wide = columns_of(json_get(json_get(c, "outputs"), "y"));
    if (s0) n += (size_t)sprintf(text + n, "start(%s, learned)\n", cores[core].starts);
    snprintf(lines, sizeof lines, cores[core].lines, scale);
    if (cores[core].over) n += (size_t)sprintf(text + n, "scan %s\n ", cores[core].over);
    sprintf(text + n, "%s\ny = join(o, columns(x, 0, %zu) * 0)", lines, D - wide);
    snprintf(config, sizeof config,
             "mixer=equations&task=mqar&pairs=1&vocab=4&length=%zu&width=%zu&heads=%zu&eq=%s", L, D, H,
             encoded(code, text));
    lone_mixer m;
    lone_mixer_open(&m, config, 1);
    const param *x = params_find(&m.p, "x");
    for (const json *a = inputs->child; a; a = a->next) {
        if (!has_rows(a, L)) { // a weight of the text's (the start comes below)
            const param *w = core_weight(&m, a->key);
            npy own = vector_array(a);
            for (size_t i = 0; w && i < w->n; i++)
                m.p.data[w->offset + i] = (float)npy_value(&own, i % own.count);
            npy_free(&own);
            continue;
        }
        npy values = vector_array(a);
        const size_t at = column_of(inputs, a->key, L), w = columns_of(a);
        for (size_t i = 0; i < values.count; i++)
            m.p.data[x->offset + i / w * D + at + i % w] = (float)npy_value(&values, i);
        npy_free(&values);
    }
    const param *start = NULL;
    if (s0) {
        char name[40];
        snprintf(name, sizeof name, "mixer.%s_start", cores[core].starts);
        npy values = vector_array(s0);
        start = params_find(&m.p, name);
        if (!start || start->n != values.count)
            check_fail("%s: %s has another size", vector_word(c, "name"), name);
        for (size_t i = 0; i < values.count; i++) m.p.data[start->offset + i] = (float)npy_value(&values, i);
        npy_free(&values);
    }
    float *dy = calloc(L * D, sizeof *dy), *got = calloc(L * D, sizeof *got);
    npy values = vector_array(json_get(inputs, "dy"));
    for (size_t i = 0; i < values.count; i++) dy[i / wide * D + i % wide] = (float)npy_value(&values, i);
    npy_free(&values);
    lone_mixer_run(&m, dy);
    for (size_t i = 0; i < L * wide; i++) got[i] = m.y->data[i / wide * D + i % wide];
    char what[128];
    snprintf(what, sizeof what, "%s: y", vector_word(c, "name"));
    vector_compare(what, json_get(json_get(c, "outputs"), "y"), got, L * wide);
    for (const json *a = json_get(c, "gradients")->child; a; a = a->next) {
        snprintf(what, sizeof what, "%s: gradient of %s", vector_word(c, "name"), a->key);
        if (s0 && !strcmp(a->key, s0->key)) {
            vector_compare(what, a, m.p.grad + start->offset, start->n);
            continue;
        }
        const param *own = core_weight(&m, a->key);
        if (own) {
            npy values_of = vector_array(a);
            const size_t count = values_of.count;
            npy_free(&values_of);
            for (size_t i = count; i < own->n; i++)
                m.p.grad[own->offset + i % count] += m.p.grad[own->offset + i];
            vector_compare(what, a, m.p.grad + own->offset, count);
            continue;
        }
        const size_t at = column_of(inputs, a->key, L), w = columns_of(a);
        for (size_t i = 0; i < L * w; i++) got[i] = m.p.grad[x->offset + i / w * D + at + i % w];
        vector_compare(what, a, got, L * w);
    }
    free(dy);
    free(got);
    lone_mixer_close(&m);
}
static void test_cores(void **state) {
    (void)state;
    vectors_variable = "SEQMIX_VECTORS_NEXT";
    const char *folder = getenv(vectors_variable);
    json *root = folder && *folder ? vectors_manifest() : NULL;
    if (!root) {
        printf("SEQMIX_VECTORS_NEXT names no set of vectors\n");
        skip();
    }
    size_t done = 0, met[CHECK_COUNT(cores)] = {0};
    for (const json *c = json_get(root, "cases")->child; c; c = c->next)
        for (size_t i = 0; i < CHECK_COUNT(cores); i++)
            if (!strcmp(vector_word(c, "mechanism"), cores[i].mechanism) &&
                (!strcmp(vector_word(c, "mode"), cores[i].mode) ||
                 !strncmp(vector_word(c, "name"), cores[i].mode, strlen(cores[i].mode))) &&
                !json_get(json_get(c, "inputs"), "cu") &&
                !(cores[i].mechanism[0] == 't' && vector_number(json_get(c, "params"), "B") != 1)) {
                core_case(c, i);
                met[i]++, done++;
            }
    for (size_t i = 0; i < CHECK_COUNT(cores); i++)
        if (!met[i]) check_fail("no case of %s (%s)", cores[i].mechanism, cores[i].mode);
    json_free(root);
    printf("%zu cases of %zu mechanisms\n", done, CHECK_COUNT(cores));
}

// ---- Against the double reading -------------------------------------------------------------------------
static config *config_of(const char *text, size_t length, size_t width, size_t heads) {
    static char joined[20000], code[12200];
    smx_error e;
    snprintf(joined, sizeof joined,
             "mixer=equations&task=mqar&pairs=1&vocab=4&length=%zu&width=%zu&heads=%zu&eq=%s", length, width,
             heads, encoded(code, text));
    config *c = config_parse(joined, 0, &e);
    if (!c) check_fail("%s", e.message);
    return c;
}
static const char *text_of(size_t i) {
    return i < SCAN_TEXTS ? scan_texts[i] : attention_texts[i - SCAN_TEXTS];
}
static void test_double(void **state) {
    (void)state;
    static check_report r;
    smx_error e;
    for (size_t i = 0; i < SCAN_TEXTS + ATTENTION_TEXTS; i++)
        for (size_t heads = 1; heads <= 4; heads += 1 + heads / 2) {
            config *c = config_of(text_of(i), 19, 12, heads);
            memset(&r, 0, sizeof r);
            if (check_config(&r, c, 7, &e)) check_fail("text %zu, %zu heads: %s", i, heads, e.message);
            for (size_t k = 0; k < r.n_rows; k++)
                if (!r.rows[k].fine)
                    check_fail("text %zu, %zu heads: %s is off by %.3g of %.3g, by differences %.3g", i,
                               heads, r.rows[k].name, r.rows[k].error, r.rows[k].allowed,
                               r.rows[k].difference);
            assert_true(r.causal);
            config_free(c);
        }
}

// ---- Layers of papers, as texts of model/mixers and examples/equations ----------------------------------
static const char *read_example(char *to, size_t size, const char *name) {
    char path[200];
    snprintf(path, sizeof path, "model/mixers/%s.eq", name);
    FILE *f = fopen(path, "rb");
    if (!f) {
        snprintf(path, sizeof path, "examples/equations/%s.eq", name);
        f = fopen(path, "rb");
    }
    if (!f) check_fail("%s cannot be read", path);
    to[fread(to, 1, size - 1, f)] = 0;
    fclose(f);
    return to;
}
// A gain that the paper's heads share is one of each head's in the text: it is read h times, and its
// gradients are added.
static void layer_case(const json *c, const char *example, const char *keys) {
    static char text[9000], config[28000], code[27001];
    const json *inputs = json_get(c, "inputs"), *given = json_get(c, "params");
    const size_t L = (size_t)vector_number(given, "L"), D = (size_t)vector_number(given, "D");
    snprintf(config, sizeof config,
             "mixer=equations&task=mqar&pairs=1&vocab=4&length=%zu&width=%zu&heads=%zu%s&eq=%s", L, D,
             (size_t)vector_number(given, "H"), keys,
             encoded(code, read_example(text, sizeof text, example)));
    lone_mixer m;
    lone_mixer_open(&m, config, 1);
    float *dy = check_floats(L * D), *got = check_floats(m.p.total);
    for (const json *a = inputs->child; a; a = a->next) {
        char name[64];
        npy values = vector_array(a);
        snprintf(name, sizeof name, strcmp(a->key, "x") ? "mixer.%s" : "%s", a->key);
        const param *w = strcmp(a->key, "dy") ? params_find(&m.p, name) : NULL;
        if (strcmp(a->key, "dy") && (!w || w->n % values.count)) check_fail("%s: no %s", example, name);
        for (size_t i = 0; i < (w ? w->n : values.count); i++)
            *(w ? &m.p.data[w->offset + i] : &dy[i]) = (float)npy_value(&values, i % values.count);
        npy_free(&values);
    }
    lone_mixer_run(&m, dy);
    char what[128];
    snprintf(what, sizeof what, "%s: y", vector_word(c, "name"));
    vector_compare(what, json_get(json_get(c, "outputs"), "y"), m.y->data, L * D);
    size_t compared = 0;
    for (const json *a = json_get(c, "gradients")->child; a; a = a->next, compared++) {
        char name[64];
        npy values = vector_array(a);
        snprintf(name, sizeof name, strcmp(a->key, "x") ? "mixer.%s" : "%s", a->key);
        const param *w = params_find(&m.p, name);
        memset(got, 0, values.count * sizeof *got);
        for (size_t i = 0; i < w->n; i++) got[i % values.count] += m.p.grad[w->offset + i];
        snprintf(what, sizeof what, "%s: gradient of %s", vector_word(c, "name"), a->key);
        vector_compare(what, a, got, values.count);
        npy_free(&values);
    }
    if (compared != m.p.count) check_fail("%s: %zu gradients of %zu", example, compared, m.p.count);
    lone_mixer_close(&m);
    check_done();
}
// The sLSTM as the case has it, W and b of all gates in one: x has a last column of ones, whose row of W is
// b, and what projects the output is the identity.
static void slstm_case(const json *c) {
    static char text[9000], config[28000], code[27001];
    enum { GATES = 4 };
    static const char *const w_of[GATES] = {"w_i", "w_f", "w_z", "w_r"}, *const u_of[GATES] = {"u_i", "u_f",
                                                                                               "u_z", "u_o"};
    const json *inputs = json_get(c, "inputs"), *given = json_get(c, "params"),
               *slopes = json_get(c, "gradients");
    const size_t L = (size_t)vector_number(given, "L"), from = (size_t)vector_number(given, "D");
    const size_t H = (size_t)vector_number(given, "H"), d = (size_t)vector_number(given, "d"), D = H * d;
    assert_int_equal(D, from + 1);
    snprintf(config, sizeof config,
             "mixer=equations&task=mqar&pairs=1&vocab=4&length=%zu&width=%zu&heads=%zu&eq=%s", L, D, H,
             encoded(code, read_example(text, sizeof text, "slstm")));
    lone_mixer m;
    lone_mixer_open(&m, config, 1);
    float *dy = check_floats(L * D), *got = check_floats(m.p.total);
    npy x = vector_array(json_get(inputs, "x")), w = vector_array(json_get(inputs, "w")),
        b = vector_array(json_get(inputs, "b")), u = vector_array(json_get(inputs, "u")),
        dy_of = vector_array(json_get(inputs, "dy"));
    const size_t x_at = params_find(&m.p, "x")->offset;
    for (size_t i = 0; i < L * D; i++) {
        m.p.data[x_at + i] = i % D < from ? (float)npy_value(&x, i / D * from + i % D) : 1;
        dy[i] = (float)npy_value(&dy_of, i);
    }
    float *out = m.p.data + core_weight(&m, "w_o")->offset;
    for (size_t i = 0; i < D * D; i++) out[i] = i % D == i / D;
    for (size_t g = 0; g < GATES; g++) {
        float *to = m.p.data + core_weight(&m, w_of[g])->offset;
        for (size_t i = 0; i < D * D; i++)
            to[i] = (float)(i / D < from ? npy_value(&w, i / D * GATES * D + g * D + i % D)
                                         : npy_value(&b, g * D + i % D));
        to = m.p.data + core_weight(&m, u_of[g])->offset;
        for (size_t i = 0; i < D * d; i++) to[i] = (float)npy_value(&u, g * D * d + i);
    }
    lone_mixer_run(&m, dy);
    vector_compare("sLSTM: y", json_get(json_get(c, "outputs"), "y"), m.y->data, L * D);
    for (size_t i = 0; i < L * from; i++) got[i] = m.p.grad[x_at + i / from * D + i % from];
    vector_compare("sLSTM: gradient of x", json_get(slopes, "x"), got, L * from);
    for (size_t i = 0; i < from * GATES * D; i++)
        got[i] = m.p.grad[core_weight(&m, w_of[i / D % GATES])->offset + i / D / GATES * D + i % D];
    vector_compare("sLSTM: gradient of w", json_get(slopes, "w"), got, from * GATES * D);
    for (size_t i = 0; i < GATES * D; i++)
        got[i] = m.p.grad[core_weight(&m, w_of[i / D])->offset + from * D + i % D];
    vector_compare("sLSTM: gradient of b", json_get(slopes, "b"), got, GATES * D);
    for (size_t i = 0; i < GATES * D * d; i++)
        got[i] = m.p.grad[core_weight(&m, u_of[i / (D * d)])->offset + i % (D * d)];
    vector_compare("sLSTM: gradient of u", json_get(slopes, "u"), got, GATES * D * d);
    for (npy *one[] = {&x, &w, &b, &u, &dy_of}, **at = one; at < one + CHECK_COUNT(one); at++) npy_free(*at);
    lone_mixer_close(&m);
    check_done();
}
static void test_layers(void **state) {
    (void)state;
    static const struct {
        const char *mechanism, *mode, *example, *keys;
    } layers[] = {{"kda_layer", "plain", "kda", "&gate_rank=3"},
                  {"gdn2_layer", "plain", "gated_delta2", "&low=3"},
                  {"deltaproduct_layer", "gated", "deltaproduct", ""},
                  {"rwkv7_layer", "first", "rwkv7", "&gate_rank=3"}};
    vectors_variable = "SEQMIX_VECTORS_NEXT";
    const char *folder = getenv(vectors_variable);
    json *root = folder && *folder ? vectors_manifest() : NULL;
    if (!root) {
        printf("SEQMIX_VECTORS_NEXT names no set of vectors\n");
        skip();
    }
    for (size_t i = 0; i < CHECK_COUNT(layers); i++) {
        size_t met = 0;
        for (const json *c = json_get(root, "cases")->child; c; c = c->next)
            if (!strcmp(vector_word(c, "mechanism"), layers[i].mechanism) &&
                !strcmp(vector_word(c, "mode"), layers[i].mode))
                layer_case(c, layers[i].example, layers[i].keys), met++;
        if (!met) check_fail("no case of %s (%s)", layers[i].mechanism, layers[i].mode);
    }
    size_t met = 0;
    for (const json *c = json_get(root, "cases")->child; c; c = c->next)
        if (!strcmp(vector_word(c, "mechanism"), "slstm_core")) slstm_case(c), met++;
    if (!met) check_fail("no case of slstm_core");
    json_free(root);
}
// Every text that a paper's reader finds there is short, names its source, and is what it says.
static void test_examples(void **state) {
    (void)state;
    static const char *const names[] = {
        "kda",   "gated_delta2",         "deltaproduct", "rwkv7",  "mlstm", "slstm", "hgrn2",
        "rglru", "gated_delta_negative", "comba",        "mingru", "ttt",   "fox",   "dplr",
        "gqa",   "differential",         "softcap",      "sinks",  "gsa"};
    static char text[9000];
    static check_report r;
    smx_error e;
    for (size_t i = 0; i < CHECK_COUNT(names); i++) {
        read_example(text, sizeof text, names[i]);
        size_t lines = 0;
        for (const char *at = text; *at; at++) lines += *at == '\n';
        if (lines > 25 || text[0] != '#' || !strstr(text, " 20") || !strstr(text, ", arXiv 2"))
            check_fail("%s: %zu lines, or without its source", names[i], lines);
        config *c = config_of(text, 19, 12, 2);
        memset(&r, 0, sizeof r);
        if (check_config(&r, c, 3, &e)) check_fail("%s: %s", names[i], e.message);
        for (size_t k = 0; k < r.n_rows; k++)
            if (!r.rows[k].fine)
                check_fail("%s: %s is off by %.3g of %.3g, by differences %.3g", names[i], r.rows[k].name,
                           r.rows[k].error, r.rows[k].allowed, r.rows[k].difference);
        assert_true(r.causal);
        assert_string_equal(r.not_finite, "");
        config_free(c);
    }
}

// ---- The same words -------------------------------------------------------------------------------------
// y and all gradients of a text on B sequences, hashed: of sequence 0 y alone.
static uint32_t words_of(const float *x, size_t n) {
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < n; i++) {
        uint32_t w;
        memcpy(&w, x + i, 4);
        h = (h ^ w) * 16777619u;
    }
    return h;
}
static void run_text(lone_mixer *m, const char *text, enum graph_mode mode, size_t B, size_t L,
                     size_t heads) {
    static char joined[20000], code[12200];
    snprintf(joined, sizeof joined,
             "mixer=equations&task=mqar&pairs=1&vocab=4&length=%zu&width=12&heads=%zu&eq=%s", L, heads,
             encoded(code, text));
    lone_mixer_open_as(m, mode, joined, B);
    smx_rng random = rng_open(3, RNG_EVAL, 1);
    for (size_t i = 0; i < m->p.total; i++) m->p.data[i] = (float)(0.4 * rng_normal(&random));
    for (size_t b = 0; b < B; b++) {
        smx_rng own = rng_open(4, RNG_EVAL, b);
        for (size_t i = 0; i < L * 12; i++) m->values[b * L * 12 + i] = (float)(0.5 * rng_normal(&own));
    }
}
static void test_same_words(void **state) {
    (void)state;
    const char *was = smx_isa();
    for (size_t i = 0; i < SCAN_TEXTS + ATTENTION_TEXTS; i++) {
        uint32_t first = 0, one = 0;
        for (size_t k = 0; smx_isa_name(k); k++) {
            if (smx_isa_choose(smx_isa_name(k))) continue;
            lone_mixer m, single;
            run_text(&m, text_of(i), GRAPH_TRAIN, 3, 70, 2);
            float *dy = check_floats(m.y->n);
            for (size_t j = 0; j < m.y->n; j++) dy[j] = (float)((j * 37 % 101) / 50.0 - 1);
            lone_mixer_run(&m, dy);
            const uint32_t h = words_of(m.p.grad, m.p.total) ^ words_of(m.y->data, m.y->n);
            run_text(&single, text_of(i), GRAPH_EVAL, 1, 70, 2);
            graph_forward(single.g);
            if (!first) first = h, one = words_of(m.y->data, 70 * 12);
            if (h != first) check_fail("text %zu has other words on %s", i, smx_isa_name(k));
            if (words_of(single.y->data, 70 * 12) != one)
                check_fail("text %zu has other words alone (%s)", i, smx_isa_name(k));
            lone_mixer_close(&m);
            lone_mixer_close(&single);
            check_done();
        }
    }
    smx_isa_choose(was);
}
// What numbers make is computed in double before it meets a float: a text with it written out has the same
// words.
static void test_numbers(void **state) {
    (void)state;
    static const struct {
        const char *is, *written;
    } sums[] = {
        {"0.7 * 0.3 * z", "0.21 * z"},
        {"z * (1 / 3)", "z * 0.33333333333333333"},
        {"z / (0.1 / 7 * 3 / 11)", "z / 0.0038961038961038961"},
        {"(1 - 0.9) * z", "0.09999999999999998 * z"},
        {"(0.1 + 0.7) / 3 * z", "0.26666666666666666 * z"},
        {"(-(0.1 * 3.3)) * z", "-0.33 * z"},
        {"(16777217 * 3 - 50331648) * z", "3 * z"},
    };
    for (size_t i = 0; i < CHECK_COUNT(sums); i++) {
        uint32_t words[2];
        for (int written = 0; written < 2; written++) {
            char text[300];
            lone_mixer m;
            snprintf(text, sizeof text, "z = x @ w_z\nscan h[z] over z\n h = 0.5 * h + %s\ny = h",
                     written ? sums[i].written : sums[i].is);
            run_text(&m, text, GRAPH_EVAL, 1, 9, 2);
            graph_forward(m.g);
            words[written] = words_of(m.y->data, m.y->n);
            lone_mixer_close(&m);
        }
        if (words[0] != words[1]) check_fail("%s is not %s", sums[i].is, sums[i].written);
    }
}
// ---- Gates wide open and shut ---------------------------------------------------------------------------
// The gradient of a gate alone, against the double reading, from 0 to -80: no more than 16 times the error
// that rounding each step may leave.
static void test_gates(void **state) {
    (void)state;
    static const double gates[] = {0, -1e-6, -0.5, -4, -8, -12, -16, -20, -40, -80};
    for (size_t i = 0; i < CHECK_COUNT(gates); i++)
        for (size_t per_column = 0; per_column < 2; per_column++) {
            char text[600];
            static check_report r;
            smx_error e;
            snprintf(
                text, sizeof text,
                "g = tanh(x @ w_g%s) * 0.01 + bias(columns(x, 0, %s) * 0, shift)\nk = unitnorm_heads(x @ w_k)\nv = x @ w_v\n"
                "scan S[k][v] over k, v, g\n R = %s\n S = R + outer(k, v - k @ R)\n o = k @ S\ny = o @ w_o\n"
                "start(shift, constant, %g)",
                per_column ? "" : "[heads]", per_column ? "width" : "heads",
                per_column ? "diag(exp(g)) @ S" : "exp(g) * S", gates[i]);
            config *c = config_of(text, 40, 8, 2);
            memset(&r, 0, sizeof r);
            if (check_numbers(&r, c, 40, 5, &e)) check_fail("%s", e.message);
            for (size_t k = 0; k < r.n_rows; k++)
                if (!r.rows[k].fine)
                    check_fail("gates of %g: %s is off by %.3g of %.3g", gates[i], r.rows[k].name,
                               r.rows[k].error, r.rows[k].allowed);
            config_free(c);
        }
}

// ---- What is refused ------------------------------------------------------------------------------------
#define OVER "k = x @ w_k\nv = x @ w_v\nb = x @ w_b[heads]\n"
static const struct {
    const char *text, *sentence;
} refused[] = {
    {"scan S[x] over x\ny = S",
     "eq, line 2, column 1: the lines of the scan of line 1 must be indented deeper than it"},
    {"scan S[x] over x", "eq, line 1, column 1: nothing stands in this scan; its lines are indented"},
    {"scan S[x]\n S = S\ny = S",
     "eq, line 1, column 10: unexpected end of the line: expected ',', or over and the tensors"},
    {"scan S[x] over x by rows\n S = S\ny = S", "eq, line 1, column 21: by rows: heads, columns or one"},
    {"scan S[x] over x\n  S = x\n\tS = S + x\ny = S",
     "eq, line 3, column 2: this line is indented unlike those before it"},
    {"scan S[x] over x\n \tS = x\ny = S", "eq, line 2, column 2: tabs and blanks are mixed"},
    {"scan S[x] over x\n scan T over x\n  T = x\ny = S",
     "eq, line 2, column 2: a scan cannot stand in a scan"},
    {"repeat j in 2\n y = x", "eq, line 1, column 1: repeat stands in the lines of a scan"},
    {"scan S[x] over q\n S = q\ny = S", "eq, line 1, column 16: q was not assigned"},
    {"scan S[x] over q\n S = q\nq = x @ w_q\ny = S", "eq, line 1, column 16: q is assigned below, in line 3"},
    {"scan x[x] over x\n x = x\ny = x", "eq, line 1, column 6: x is taken: a state needs a name of its own"},
    {"scan S[1000000000] over x\n S = S * 0.5\n o = x\ny = o",
     "eq, line 1, column 8: a size must be a whole number from 1 to 65536"},
    {"c = x[0:0]\nscan S[c] over c\n S = c\ny = S",
     "eq, line 1, column 7: columns are whole numbers from 0 to 12, the first before the last"},
    {"scan S[q] over x\n S = x\ny = S", "eq, line 1, column 8: q is no size: a tensor of this scan's list"},
    {"scan S[x][x][x] over x\n S = x\ny = x", "eq, line 1, column 6: the state S has more than two sizes"},
    {"scan S[65536][65536] over x\n o = x\ny = o",
     "eq, line 1, column 6: the states of a sequence have more than 4194304"},
    {OVER "scan S[k][v] over k, v\n o = k @ S\ny = o", "eq, line 4, column 6: the state S is never assigned"},
    {OVER "scan S[k][v] over k, v\n S = k * v\n o = k @ S\ny = o",
     "eq, line 5, column 2: the state S is a matrix [6][6], and this is a vector of 6; outer(a, b) is a matrix"},
    {OVER "scan S[k][v] over k, v\n S = S + k\n o = k @ S\ny = o",
     "eq, line 5, column 8: the sides are a matrix [6][6] and a vector of 6; they must be alike, or one a scalar; outer(a, b)"},
    {OVER "scan S[k][v] over k, v\n S = k * S + outer(k, v)\n o = k @ S\ny = o",
     "eq, line 5, column 8: the sides are a vector of 6 and a matrix [6][6]; they must be alike, or one a scalar; diag(w) @ S"},
    {OVER "scan S[k][v] over k, v\n S = S + outer(k, v)\n o = k @ v\ny = o",
     "eq, line 6, column 8: @ is a product with a matrix; dot(a, b) is that of two vectors"},
    {OVER "scan S[k][v] over k, v\n S = S + outer(k, v)\ny = S",
     "eq, line 4, column 6: S is a matrix in each head and cannot be used"},
    {OVER "scan h[k] over k, v\n h = k + v\n o = q @ h\ny = o",
     "eq, line 6, column 6: q stands neither in the scan's list nor above"},
    {OVER "scan h[k] over k, v\n k = h + v\ny = h", "eq, line 5, column 2: k is taken"},
    {OVER "scan h[k] over k, v\n exp = h + v\ny = h", "eq, line 5, column 2: exp is taken"},
    {OVER "scan h[k] over k, v\n h = h + v\ny = h", "eq, line 4, column 16: nothing in this scan reads k"},
    {OVER "scan h[k] over k, v\n h = h * k + v\n t = h\ny = h @ w_o", "eq, line 6, column 2: nothing uses t"},
    {OVER "scan h[k] over k, v\n h = relux(k) + v\ny = h",
     "eq, line 5, column 6: a scan has no function relux; the nearest is relu"},
    // Of equally near names the first of the list.
    {OVER "scan h[k] over k, v\n h = mix(k, v)\ny = h",
     "eq, line 5, column 6: a scan has no function mix; the nearest is max"},
    {OVER "scan h[k] over k, v\n h = rels(k) + v\ny = h",
     "eq, line 5, column 6: a scan has no function rels; the nearest is relu"},
    {OVER "scan h[k] over k, v\n h = part(k, 0) + v\ny = h",
     "eq, line 5, column 6: outside a repeat part names how many"},
    {OVER "scan h[k] over k, v\n h = h @ u[k][k][k][k] + k + v\ny = h",
     "eq, line 5, column 10: u has too many sizes"},
    {OVER "scan h[k] over k, k\n h = k\ny = h",
     "eq, line 4, column 19: k stands in this scan's head already"},
    {"c = columns(x, 0, 3)\nscan h over c\n h = c\ny = h",
     "eq, line 2, column 13: c has 3 columns, which 2 heads do not divide"},
    {"scan h[x] over x\n h = select(x, 1) + x\ny = h", "eq, line 2, column 6: select takes 3 arguments"},
    {"start(h, uniform, 1)\nscan h[x] over x\n h = h + x\ny = h",
     "eq, line 1, column 7: a state starts constant or learned"},
    {"start(w, learned)\nscan h[x] over x\n h = h @ w[x][x] + x\ny = h",
     "eq, line 1, column 7: only a scan's state starts as learned"},
    {"scan h[x] over x\n h = h + y\ny = h",
     "eq, line 2, column 10: y stands neither in the scan's list nor above"},
    {"scan a, b, c, d, e, f, g, h, i over x\n a = x\ny = x",
     "eq, line 1, column 30: a scan has at most 8 states"},
    {"y = attention(x, x, x, bias=x)",
     "eq, line 1, column 5: attention: bias must have a column a head: heads=2"},
    {"y = attention(x, x, x, bias=-softplus(x[0:2]), causal=no)",
     "eq, line 1, column 5: attention: bias must have a column a head: heads=2, and causal=yes"},
    {"y = attention(x, x, x, kv_heads=3)", "eq, line 1, column 5: attention: kv_heads must divide heads=2"},
    {"y = attention(x, x[0:5], x[0:6], kv_heads=1)",
     "eq, line 1, column 5: attention: kv_heads must divide heads=2, and k and v have as many heads of q's width"},
    {"y = attention(x, x, x, cap=2, sink=s)",
     "eq, line 1, column 5: attention: cap goes without bias and sink"},
    {"y = attention(x, x, x, decay=alibi, cap=2)",
     "eq, line 1, column 5: attention: decay and pool go with none of bias, cap, sink, kv_heads and score"},
    {"y = attention(x, x, x, sink=s, score=sigmoid)",
     "eq, line 1, column 5: attention: a sink needs score=softmax"},
    {"y = attention(x, x, x, sink=x)", "eq, line 1, column 29: sink must be the name of a weight"},
    {"y = attention(x, x, x, cap=-1)", "eq, line 1, column 28: cap must be a number from 0 to 1000000"},
};
static void test_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < CHECK_COUNT(refused); i++) {
        smx_error e = {.message = ""};
        char joined[8000], code[6000];
        snprintf(joined, sizeof joined,
                 "mixer=equations&task=mqar&pairs=1&vocab=4&length=8&width=12&heads=2&eq=%s",
                 encoded(code, refused[i].text));
        smx_run *r = smx_run_open(joined, &e);
        if (r) check_fail("was not refused: %s", refused[i].text);
        if (strncmp(e.message, refused[i].sentence, strlen(refused[i].sentence)))
            check_fail("%s\n  said: %s\n  expected: %s", refused[i].text, e.message, refused[i].sentence);
    }
}
// Too many lines, tensors, steps; brackets without end.
static void test_limits(void **state) {
    (void)state;
    static char text[9000], joined[30000], code[28000];
    for (size_t kind = 0; kind < 4; kind++) {
        static const char *const sentences[] = {
            "eq, line 1, column 1: a scan has at most 64 lines", "more than 16 tensors",
            "this scan has too many steps; 400 are allowed", "nested deeper than 32"};
        size_t n = 0;
        if (kind == 0) {
            n = (size_t)sprintf(text, "scan h[x] over x\n");
            for (size_t i = 0; i < 65; i++) n += (size_t)sprintf(text + n, " h = h + x\n");
        }
        if (kind == 1) {
            for (size_t i = 0; i < 17; i++) n += (size_t)sprintf(text + n, "a%zu = x * 2\n", i);
            n += (size_t)sprintf(text + n, "scan h[x] over x");
            for (size_t i = 0; i < 17; i++) n += (size_t)sprintf(text + n, ", a%zu", i);
            n += (size_t)sprintf(text + n, "\n h = x\n");
        }
        if (kind == 2)
            n = (size_t)sprintf(
                text, "scan h[x] over x\n repeat j in 60\n  h = tanh(h + x * j) - exp(h) * x + h\n");
        if (kind == 3) {
            n = (size_t)sprintf(text, "scan h[x] over x\n h = ");
            while (n < 8100) text[n++] = '(';
            text[n++] = '\n';
        }
        sprintf(text + n, "y = h");
        snprintf(joined, sizeof joined,
                 "mixer=equations&task=mqar&pairs=1&vocab=4&length=8&width=12&heads=2&eq=%s",
                 encoded(code, text));
        smx_error e = {.message = ""};
        smx_run *r = smx_run_open(joined, &e);
        if (r || !strstr(e.message, kind == 1 ? "at most 16 tensors" : sentences[kind]))
            check_fail("kind %zu: %s", kind, r ? "was not refused" : e.message);
    }
}

// A body of `times` * 4 + more steps.
static void write_steps(char *text, size_t size, unsigned times, unsigned more) {
    static const char *const rest[] = {"", "tanh(h)", "tanh(h) + x", "tanh(h) * x + x"};
    snprintf(text, size,
             "scan h[x] over x\n repeat j in %u\n  h = tanh(h * 0.5 + x) + x\n repeat j in %u\n"
             "  h = tanh(h * x + x) - x\n%s%s%sy = h @ w_o",
             times / 2, times - times / 2, more ? " h = " : "", rest[more], more ? "\n" : "");
}
static void test_two_hundred(void **state) {
    (void)state;
    static char text[600];
    static check_report r;
    smx_error e = {.message = ""};
    // 400 steps are allowed and one more is not, so that these steps are as many as is said here.
    lone_mixer m;
    write_steps(text, sizeof text, 100, 0);
    run_text(&m, text, GRAPH_EVAL, 1, 5, 2);
    lone_mixer_close(&m);
    char joined[2000], code[1800];
    write_steps(text, sizeof text, 100, 1);
    snprintf(joined, sizeof joined,
             "mixer=equations&task=mqar&pairs=1&vocab=4&length=8&width=12&heads=2&eq=%s",
             encoded(code, text));
    assert_null(smx_run_open(joined, &e));
    assert_non_null(strstr(e.message, "this scan has too many steps; 400 are allowed"));
    // 199, 200 and 201: forward and backward against the double reading of the same text.
    for (unsigned steps = 199; steps <= 201; steps++) {
        write_steps(text, sizeof text, steps / 4, steps % 4);
        config *c = config_of(text, 19, 12, 2);
        memset(&r, 0, sizeof r);
        if (check_config(&r, c, 3, &e)) check_fail("%u steps: %s", steps, e.message);
        for (size_t k = 0; k < r.n_rows; k++)
            if (!r.rows[k].fine)
                check_fail("%u steps: %s is off by %.3g of %.3g", steps, r.rows[k].name, r.rows[k].error,
                           r.rows[k].allowed);
        config_free(c);
    }
}
// A matrix and an outer product, added or taken off, are one step: 399 and the product with a vector are the
// 400 that are allowed.
static void test_sums_of_outer(void **state) {
    (void)state;
    for (int minus = 0; minus < 2; minus++)
        for (int more = 0; more < 2; more++) {
            const char *const line = minus ? "  S = S - outer(k, v)\n" : "  S = S + outer(k, v)\n";
            char text[600], joined[2000], code[1800];
            smx_error e = {.message = ""};
            snprintf(text, sizeof text,
                     "k = x @ w_k\nv = x @ w_v[9]\nscan S[k][v] over k, v by one\n repeat j in 57\n"
                     "%s%s%s%s%s%s%s%s o = k @ S\ny = o @ w_o[3]",
                     line, line, line, line, line, line, line, more ? line + 1 : "");
            snprintf(joined, sizeof joined,
                     "mixer=equations&task=mqar&pairs=1&vocab=4&length=8&width=3&heads=1&eq=%s",
                     encoded(code, text));
            smx_run *r = smx_run_open(joined, &e);
            if ((r == NULL) != more) check_fail("%d steps: %s", 400 + more, r ? "are taken" : e.message);
            if (more) assert_non_null(strstr(e.message, "this scan has too many steps; 400 are allowed"));
            smx_run_close(r);
        }
}
// No row: nothing is read or moved, before the first row and after it.
static void test_no_rows(void **state) {
    (void)state;
    static char joined[2000], code[1800];
    snprintf(joined, sizeof joined,
             "mixer=equations&task=mqar&pairs=1&vocab=4&length=8&width=12&heads=2&eq=%s",
             encoded(code,
                     OVER "start(S, learned)\nscan S[k][v] over k, v, b\n S = S + outer(k, b * (v - k @ S))\n"
                          " o = k @ S\ny = o @ w_o"));
    smx_error e = {.message = ""};
    smx_run *r = smx_run_open(joined, &e);
    assert_non_null(r);
    smx_run_state *s = smx_state_open(r, 1, 0, &e), *other = smx_state_open(r, 1, 0, &e);
    assert_true(s && other);
    const int32_t tokens[3] = {1, 2, 3};
    for (size_t rows = 0; rows <= 3; rows += 3) {
        size_t size[2] = {0};
        assert_int_equal(smx_state_push(other, tokens, NULL, rows, NULL, &e), 0);
        assert_int_equal(smx_state_push(s, tokens, NULL, rows, NULL, &e), 0);
        for (int times = 0; times < 2; times++)
            assert_int_equal(smx_state_push(s, tokens, NULL, 0, NULL, &e), 0);
        assert_true(!smx_state_answers(s) == !rows);
        void *bytes = smx_state_save(s, &size[0], &e), *same = smx_state_save(other, &size[1], &e);
        assert_true(bytes && same && size[0] == size[1] && !memcmp(bytes, same, size[0]));
        free(bytes);
        free(same);
    }
    smx_state_close(s);
    smx_state_close(other);
    smx_run_close(r);
}
// What a batch's states would take is asked before memory is.
static void test_batch_of_states(void **state) {
    (void)state;
    static const struct {
        unsigned batch;
        const char *size, *says;
    } of[] = {{256, "1448", "the states of 256 sequences have more than 67108864 numbers (2^26)"},
              {256, "2048", "the states of 256 sequences have more than 67108864"},
              {1, "2049", "the states of a sequence have more than 4194304"},
              {16, "2048", NULL},
              {17, "2048", "the states of 17 sequences have more than 67108864"},
              {1024, "2048", "the states of 1024 sequences have more than 67108864"}}; // 2^32 in all
    for (size_t i = 0; i < CHECK_COUNT(of); i++) {
        char joined[1000], text[300], code[700];
        smx_error e = {.message = ""};
        snprintf(text, sizeof text, "scan S[%s][%s] over x by one\n S = S * 0.5\n o = x\ny = o", of[i].size,
                 of[i].size);
        snprintf(joined, sizeof joined,
                 "mixer=equations&task=mqar&pairs=1&vocab=4&length=8&width=1&heads=1&batch=%u&eq=%s",
                 of[i].batch, encoded(code, text));
        smx_run *r = smx_run_open(joined, &e);
        if (of[i].says ? r || !strstr(e.message, of[i].says) : strstr(e.message, "the states") != NULL)
            check_fail("batch=%u, %s by itself: %s", of[i].batch, of[i].size,
                       r ? "was not refused" : e.message);
        if (of[i].says && strncmp(e.message, "eq, line 1, column 6: ", 22)) check_fail("%s", e.message);
        smx_run_close(r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cores),           cmocka_unit_test(test_layers),
        cmocka_unit_test(test_examples),        cmocka_unit_test(test_double),
        cmocka_unit_test(test_same_words),      cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_gates),           cmocka_unit_test(test_refused),
        cmocka_unit_test(test_limits),          cmocka_unit_test(test_two_hundred),
        cmocka_unit_test(test_sums_of_outer),   cmocka_unit_test(test_no_rows),
        cmocka_unit_test(test_batch_of_states),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
