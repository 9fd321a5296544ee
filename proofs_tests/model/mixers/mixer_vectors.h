// mixer_vectors.h: runs a case of a set of test vectors through the float kernels: the case's weights and
// input are put into the graph of a mixer, and the output and every gradient are judged by the manifest's own
// scales and tolerances.
#ifndef MIXER_VECTORS_H
#define MIXER_VECTORS_H

#include "proofs_tests/support/check.h"
#include "model/run/language/language.h"
#include "model/graph/graph.h"
#include "model/base/json.h"
#include "model/mixers/mixer.h"
#include "cli/arrays/npy.h"
#include "model/ops/ops.h"

// ---- A mixer alone, its input a weight ------------------------------------------------------------------
typedef struct {
    config *c;
    params p;
    graph *g;
    tensor *x, *y; // x [L][D] as a weight, so that it gets a gradient
    float *values;
} lone_mixer;

// Built in place of the mixer where it is not NULL: a part of one, or a whole block.
static CHECK_UNUSED tensor *(*lone_build)(graph *g, const config *c, tensor *x);

// From a config text, on B sequences that are x plus m->values [B][L][D] (0 at first);
// fails the test where that cannot be built.
static CHECK_UNUSED void lone_mixer_open_as(lone_mixer *m, enum graph_mode mode, const char *text, size_t B) {
    smx_error e = {0};
    memset(m, 0, sizeof *m);
    m->c = config_parse(text, 0, &e);
    if (!m->c) check_fail("config %s: %s", text, e.message);
    const mixer *mix = mixer_of(m->c);
    const size_t L = m->c->common.length, D = m->c->common.width;
    if (mix->check && mix->check(m->c, L, &e)) check_fail("config %s: %s", text, e.message);
    m->g = graph_new(mode, &m->p, B, L);
    m->values = calloc(B * L * D, sizeof *m->values);
    m->g->values = m->values;
    const tensor *start =
        graph_param(m->g, "x", (init){INIT_NORMAL, 1}, 0, 2, (uint32_t[]){(uint32_t)L, (uint32_t)D});
    tensor *x = op_bias(m->g, op_values(m->g, D), (tensor *)start);
    graph_push(m->g, "mixer");
    m->y = (lone_build ? lone_build : mix->build)(m->g, m->c, x);
    graph_pop(m->g);
    if (m->g->failed || params_create(&m->p, 1, &e) ||
        graph_plan(m->g, mode == GRAPH_TRAIN ? m->y : NULL, &e))
        check_fail("config %s: %s", text, m->g->failed ? m->g->error.message : e.message);
    m->x = (tensor *)start;
}
static CHECK_UNUSED void lone_mixer_open(lone_mixer *m, const char *text, size_t B) {
    lone_mixer_open_as(m, GRAPH_TRAIN, text, B);
}
static CHECK_UNUSED void lone_mixer_close(lone_mixer *m) {
    graph_free(m->g);
    params_free(&m->p);
    config_free(m->c);
    free(m->values);
}
// Forward, then backward from dy (or only forward); gradients of x and the weights stand in m->p.grad.
static CHECK_UNUSED void lone_mixer_run(lone_mixer *m, const float *dy) {
    graph_forward(m->g);
    if (!dy) return;
    memset(m->p.grad, 0, m->p.total * sizeof *m->p.grad);
    memcpy(m->y->grad, dy, m->y->n * sizeof *dy);
    graph_backward(m->g);
}

// ---- The manifest ---------------------------------------------------------------------------------------
static CHECK_UNUSED const char *vectors_variable = "SEQMIX_VECTORS"; // names the folder, where it is set
static CHECK_UNUSED const char *vectors_folder(void) {
    const char *named = getenv(vectors_variable);
    return named && *named ? named : "proofs_tests/vectors";
}
static CHECK_UNUSED json *vectors_manifest(void) {
    char path[1024];
    smx_error error;
    snprintf(path, sizeof path, "%s/manifest.json", vectors_folder());
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    fclose(f);
    json *root = json_read(path, 1 << 24, &error);
    if (!root) check_fail("%s", error.message);
    return root;
}
static CHECK_UNUSED const char *vector_word(const json *params, const char *key) {
    const json *v = json_get(params, key);
    return v && v->type == JSON_STRING ? v->string : "";
}
static CHECK_UNUSED double vector_number(const json *params, const char *key) {
    const json *v = json_get(params, key);
    return v && v->type == JSON_NUMBER ? v->number : v && v->type == JSON_TRUE;
}
static CHECK_UNUSED npy vector_array(const json *a) {
    char path[1024];
    smx_error error;
    npy n;
    snprintf(path, sizeof path, "%s/%s", vectors_folder(), vector_word(a, "file"));
    if (npy_read(&n, path, &error)) check_fail("%s", error.message);
    return n;
}
// max |got - want| <= f32_tol * scale, both from the manifest
static CHECK_UNUSED void vector_compare(const char *what, const json *a, const float *got, size_t n) {
    npy want = vector_array(a);
    const double scale = vector_number(a, "scale"), tolerance = vector_number(a, "f32_tol");
    if (want.count != n) check_fail("%s has %zu numbers, expected %zu", what, n, want.count);
    if (!(tolerance > 0) || !(scale > 0)) check_fail("%s has no tolerance", what);
    for (size_t i = 0; i < n; i++) {
        const double w = npy_value(&want, i);
        if (!(fabs((double)got[i] - w) <= tolerance * scale))
            check_fail("%s[%zu] is %.9g, expected %.9g: off by %.3g, allowed %.3g", what, i, got[i], w,
                       fabs((double)got[i] - w), tolerance * scale);
    }
    npy_free(&want);
}

// ---- Cases ----------------------------------------------------------------------------------------------
// How a mechanism of the manifest is written in the config language, and what its inputs are called in the
// model where the names differ: "wq w_q wk w_k". Appends to text [size]; 0: this case is not one for a mixer.
typedef struct {
    const char *mechanism;
    int (*write)(char *text, size_t size, const json *params);
    const char *names;
} vector_mechanism;

static CHECK_UNUSED const char *vector_name(const char *names, const char *input, char *buffer, size_t size) {
    char from[64], to[64];
    int used;
    for (const char *at = names; at && sscanf(at, "%63s %63s%n", from, to, &used) == 2; at += used)
        if (!strcmp(from, input)) {
            snprintf(buffer, size, "mixer.%s", to);
            return buffer;
        }
    snprintf(buffer, size, strcmp(input, "x") ? "mixer.%s" : "%s", input);
    return buffer;
}
static CHECK_UNUSED const param *vector_param(const lone_mixer *m, const char *names, const char *input) {
    char name[128];
    const param *p = params_find(&m->p, vector_name(names, input, name, sizeof name));
    if (!p) check_fail("the mixer has no weight %s for the input %s", name, input);
    return p;
}

static CHECK_UNUSED void vector_case(const json *c, const vector_mechanism *how, const char *text) {
    lone_mixer m;
    lone_mixer_open(&m, text, 1);
    float *dy = NULL;
    size_t given = 0;
    for (const json *a = json_get(c, "inputs")->child; a; a = a->next) {
        npy n = vector_array(a);
        float *to;
        if (!strcmp(a->key, "dy")) {
            to = dy = check_floats(n.count);
        } else {
            const param *p = vector_param(&m, how->names, a->key);
            if (p->n != n.count)
                check_fail("the weight %s has %zu numbers, the input %s %zu", p->name, p->n, a->key, n.count);
            to = m.p.data + p->offset;
            given++;
        }
        for (size_t i = 0; i < n.count; i++) to[i] = (float)npy_value(&n, i);
        npy_free(&n);
    }
    if (given != m.p.count) check_fail("the mixer has %zu weights, the case gives %zu", m.p.count, given);
    lone_mixer_run(&m, dy);
    vector_compare("y", json_get(json_get(c, "outputs"), "y"), m.y->data, m.y->n);
    const json *gradients = json_get(c, "gradients");
    for (const json *a = gradients ? gradients->child : NULL; a; a = a->next) {
        const param *p = vector_param(&m, how->names, a->key);
        char what[96];
        snprintf(what, sizeof what, "gradient of %s", a->key);
        vector_compare(what, a, m.p.grad + p->offset, p->n);
    }
    lone_mixer_close(&m);
    check_done();
}

#endif
