// text_case.c: see text_case.h. Each sequence by itself: the arrays that have rows stand side by side in x,
// the others are weights and starts; y and the gradients are those of the float32 run.
#include "text_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/error.h"
#include "model/graph/graph.h"
#include "model/mixers/mixer.h"
#include "model/ops/ops.h"
#include "model/run/language/language.h"
#include "model/settings/pairs.h"
#include "model/settings/values.h"
#include "text_bind.h"

enum { TEXT_BYTES = 16384, MOST = TEXT_RESULTS - 1, MOST_HEADS = 1024, MOST_WIDTH = 1 << 20 };
typedef struct {
    text_names names;
    const char *array[MOST]; // of each name
    npy value[MOST], dy;
    size_t lead[MOST], L, H, B; // lead: batch dimensions; B: sequences
    const json *params;
    char text[TEXT_BYTES], config[4 * TEXT_BYTES];
    // The run.
    params p;
    graph *g;
    const tensor *x, *y;
    float *nothing; // what is added to x: 0
} work;

// A parameter of the case; root_dk, say: sqrt(dk), by which cores divide.
static double case_number(const void *context, const char *name) {
    const json *given = context;
    return strncmp(name, "root_", 5) ? json_number(given, name) : sqrt(json_number(given, name + 5));
}

// ---- What stands for an array -----------------------------------------------------------------------------
// The next NAME=ARRAY of a list, at commas outside brackets: 1; 0 at its end, -1: not of that form.
static int next_pair(const char **at, char *name, char *array, size_t size) {
    if (!**at) return 0;
    const char *from = *at, *equals = NULL;
    int depth = 0;
    for (; **at && (depth || **at != ','); ++*at) {
        depth += (**at == '(' || **at == '[') - (**at == ')' || **at == ']');
        if (**at == '=' && !depth) equals = *at;
    }
    const size_t n = equals ? (size_t)(equals - from) : 0, rest = equals ? (size_t)(*at - equals - 1) : 0;
    if (!n || !rest || n >= size || rest >= size) return -1;
    memcpy(name, from, n);
    memcpy(array, equals + 1, rest);
    name[n] = array[rest] = 0;
    if (**at) ++*at;
    return 1;
}
static void name_of(char *to, size_t size, const char *list, const char *array) {
    char own[200], key[200];
    snprintf(to, size, "%s", array);
    for (const char *at = list; next_pair(&at, own, key, sizeof own) > 0;)
        if (!strcmp(key, array)) snprintf(to, size, "%s", own);
}
// Also what names are made of: NAME=sigmoid(ARRAY).
static int check_list(text_names *t, const char *list, const json *entry, smx_error *error) {
    char own[200], key[200];
    int found = 0;
    for (const char *at = list; (found = next_pair(&at, own, key, sizeof own)) > 0;) {
        if (strcspn(key, "()[]+-*/@^ ") < strlen(key)) {
            if (strlen(own) >= sizeof t->made->name || t->n_made == sizeof t->made / sizeof *t->made)
                return error_say(error, "--bind %.60s=%.60s: a shorter name, and at most %zu of this kind",
                                 own, key, sizeof t->made / sizeof *t->made);
            strcpy(t->made[t->n_made].name, own);
            strcpy(t->made[t->n_made++].is, key);
        } else if (strcmp(key, "y") && !json_get(json_get(entry, "inputs"), key)) {
            return error_say(error, "--bind %.60s=%.60s: the case has no input %.60s", own, key, key);
        }
    }
    return found < 0 ? error_say(error, "--bind is '%.100s'; it must be NAME=ARRAY,NAME=ARRAY, ...", list)
                     : 0;
}

static int read_array(npy *to, const manifest *m, const json *a, smx_error *error) {
    char path[MANIFEST_PATH];
    manifest_array is;
    if (!a) return error_say(error, "it has no output y, or no gradient of it, dy");
    if (manifest_array_of(m, a, m->folder, path, &is, error) || npy_read(to, path, error)) return -1;
    if (!manifest_fits(&is, to, path, error)) return 0;
    npy_free(to);
    to->data = NULL;
    return -1;
}
// An input's place: columns of x, a weight, a state's start.
static int place(work *w, const manifest *m, const json *a, size_t lead, const char *text, const char *list,
                 smx_error *error) {
    text_names *t = &w->names;
    if (t->n == MOST) return error_say(error, "it has more than %d inputs", MOST);
    text_bound *b = &t->list[t->n];
    npy *v = &w->value[t->n];
    if (read_array(v, m, a, error)) return -1;
    w->array[t->n++] = a->key;
    name_of(b->name, sizeof b->name, list, a->key);
    const char *const is = json_text(a, "role"); // of a text's own set
    char *const suffix = strlen(b->name) > 6 ? b->name + strlen(b->name) - 6 : NULL;
    if (!strcmp(is, "start") && suffix && !strcmp(suffix, "_start")) *suffix = 0;
    const int rows = v->ndim >= 2 && v->ndim <= 2 + lead && v->shape[v->ndim - 2] == w->L;
    b->kind = text_has_state(text, b->name) ? TEXT_START
              : !strcmp(is, "weight")       ? TEXT_WEIGHT
              : rows && (v->ndim > 2 || text_assigns(text, b->name) || !text_multiplies(text, b->name))
                  ? TEXT_ROWS
                  : TEXT_WEIGHT;
    if (b->kind == TEXT_ROWS) b->columns = v->shape[v->ndim - 1];
    if (b->kind == TEXT_ROWS && v->ndim > 2 && v->count != w->B * w->L * b->columns)
        return error_say(error, "its input %.60s has another batch than its y", a->key);
    w->lead[t->n - 1] = b->kind == TEXT_WEIGHT || (*is && b->kind == TEXT_START) ? 0
                        : b->kind == TEXT_ROWS                                   ? v->ndim - 2
                                                                                 : lead;
    return 0;
}
static int read_case(work *w, const manifest *m, const json *entry, const char *text, const char *list,
                     smx_error *error) {
    const json *inputs = json_get(entry, "inputs"), *batch = json_get(entry, "batch");
    const size_t lead = batch && batch->type == JSON_ARRAY ? batch->count : 0;
    text_names *t = &w->names;
    npy y;
    if (read_array(&y, m, json_get(json_get(entry, "outputs"), "y"), error)) return -1;
    const size_t ndim = y.ndim;
    w->L = ndim >= 2 ? y.shape[ndim - 2] : 0;
    t->result = ndim >= 2 ? y.shape[ndim - 1] : 0;
    w->B = w->L && t->result ? y.count / w->L / t->result : 0;
    npy_free(&y);
    if (!w->B || ndim != 2 + lead) return error_say(error, "its y is not [L][columns]");
    if (read_array(&w->dy, m, json_get(inputs, "dy"), error)) return -1;
    if (w->dy.count != w->B * w->L * t->result) return error_say(error, "its dy is not as its y");
    for (const json *a = inputs->child; a; a = a->next)
        if (strcmp(a->key, "dy") && place(w, m, a, lead, text, list, error)) return -1;
    name_of(t->output, sizeof t->output, list, "y");
    w->params = json_get(entry, "params");
    const double D = json_number(w->params, "D"), H = json_number(w->params, "H"),
                 HV = json_number(w->params, "HV");
    t->inner = D >= 1 ? (size_t)D : t->result;
    const double heads = HV >= 1 ? HV : H >= 1 ? H : 1;
    if (heads > MOST_HEADS || D > MOST_WIDTH)
        return error_say(error, "it has %g heads of %g columns in all: allowed are %d of %d", heads, D,
                         MOST_HEADS, MOST_WIDTH);
    w->H = (size_t)heads;
    t->number = case_number;
    t->context = w->params;
    size_t columns = 0, of_x = 0, rows = 0;
    for (size_t i = 0; i < t->n; i++) {
        if (t->list[i].kind != TEXT_ROWS) continue;
        t->list[i].column = columns;
        columns += t->list[i].columns;
        rows++;
        if (!strcmp(t->list[i].name, "x")) of_x = t->list[i].columns;
    }
    t->renamed = of_x && (rows > 1 || of_x != t->result);
    if (!of_x || t->renamed) t->width = columns > t->result ? columns : t->result;
    while (t->width % w->H) t->width++;
    return 0;
}

// ---- The run ----------------------------------------------------------------------------------------------
// The config's common keys but those that the case says: the text has the values of its own.
static int say_key(void *arg, const char *key, const char *value, smx_error *error) {
    static const char *const other[] = {"mixer", "task", "length", "width"};
    work *w = arg;
    char *to = w->config + strlen(w->config);
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        if (!strcmp(key, other[i]) || !keys_declare(common_keys, key)) return 0;
    if (strlen(key) + 3 * strlen(value) + (size_t)(to - w->config) > TEXT_BYTES / 2)
        return error_say(error, "the config is too long");
    to += sprintf(to, "&%s=", key);
    *pairs_encode(to, value) = 0;
    return 0;
}
static int say_config(work *w, const char *config, smx_error *error) {
    const size_t width = w->names.width ? w->names.width : w->names.result;
    sprintf(w->config, "task=mqar&pairs=1&vocab=4&length=%zu&width=%zu&heads=%zu", w->L, width, w->H);
    if (pairs_visit(pairs_run(config, 0), say_key, w, error)) return -1;
    char *to = w->config + strlen(w->config);
    *pairs_encode(to + sprintf(to, "&mixer=equations&eq="), w->text) = 0;
    return 0;
}
static int open_run(work *w, const config *c, smx_error *error) {
    const size_t D = c->common.width;
    const mixer *of = mixer_of(c);
    if (of->check && of->check(c, w->L, error)) return -1;
    w->g = graph_new(GRAPH_TRAIN, &w->p, 1, w->L);
    w->nothing = calloc(w->L * D, sizeof *w->nothing);
    if (!w->g || !w->nothing) return error_say(error, "out of memory");
    w->g->values = w->nothing;
    w->x = graph_param(w->g, "x", (init){INIT_NORMAL, 1}, 0, 2, (uint32_t[]){(uint32_t)w->L, (uint32_t)D});
    tensor *in = op_bias(w->g, op_values(w->g, D), (tensor *)(uintptr_t)w->x);
    graph_push(w->g, "mixer");
    tensor *y = of->build(w->g, c, in);
    graph_pop(w->g);
    w->y = y;
    if (w->g->failed) return error_say(error, "%s", w->g->error.message);
    return params_create(&w->p, 1, error) || graph_plan(w->g, y, error) ? -1 : 0;
}
// The weight that an array is; NULL: it stands in x, or nothing uses it.
static const param *weight_of(const work *w, size_t i) {
    char name[96];
    const text_bound *b = &w->names.list[i];
    snprintf(name, sizeof name, "mixer.%s%s", b->name, b->kind == TEXT_START ? "_start" : "");
    return b->kind == TEXT_ROWS ? NULL : params_find(&w->p, name);
}
// The s-th sequence's part of an array.
static size_t part_of(const work *w, size_t i, size_t s, size_t *from) {
    const size_t n = w->lead[i] ? w->value[i].count / w->B : w->value[i].count;
    *from = w->lead[i] ? s * n : 0;
    return n;
}
static int put_inputs(work *w, size_t s, smx_error *error) {
    float *x = w->p.data + w->x->weight->offset;
    const size_t D = w->x->weight->n / w->L;
    memset(x, 0, w->L * D * sizeof *x);
    for (size_t i = 0; i < w->names.n; i++) {
        const text_bound *b = &w->names.list[i];
        const param *p = weight_of(w, i);
        size_t from;
        const size_t n = part_of(w, i, s, &from);
        if (b->kind != TEXT_ROWS && !p)
            return error_say(
                error,
                "--bind NAME=%s: nothing in the text is %s; NAME is a state, a weight, or what a "
                "line assigns",
                w->array[i], b->name);
        // A gain that heads share is one of each head's in a text.
        if (b->kind != TEXT_ROWS && (!n || p->n % n || (p->n > n && p->n / n != w->H)))
            return error_say(error, "--bind %s=%s: the array has %zu numbers, the text's weight %zu", b->name,
                             w->array[i], n, p->n);
        for (size_t k = 0; p && k < p->n; k++)
            w->p.data[p->offset + k] = (float)npy_value(&w->value[i], from + k % n);
        for (size_t k = 0; !p && k < n; k++)
            x[k / b->columns * D + b->column + k % b->columns] = (float)npy_value(&w->value[i], from + k);
    }
    return 0;
}
static void run_sequence(work *w, text_results *r, size_t s) {
    const size_t D = w->x->weight->n / w->L, wide = w->names.result, all = w->L * wide;
    memset(w->p.grad, 0, w->p.total * sizeof *w->p.grad);
    memset(w->y->grad, 0, w->y->n * sizeof *w->y->grad);
    graph_forward(w->g);
    for (size_t k = 0; k < all; k++) {
        const size_t at = k / wide * D + k % wide;
        r->results[0].x[s * all + k] = (double)w->y->data[at];
        w->y->grad[at] = (float)npy_value(&w->dy, s * all + k);
    }
    graph_backward(w->g);
    for (size_t i = 0; i < w->names.n; i++) {
        const text_bound *b = &w->names.list[i];
        const param *p = weight_of(w, i);
        size_t from;
        const size_t n = part_of(w, i, s, &from);
        double *to = r->results[1 + i].x + from;
        for (size_t k = 0; p && k < p->n; k++) to[k % n] += (double)w->p.grad[p->offset + k];
        const float *gx = w->p.grad + w->x->weight->offset;
        for (size_t k = 0; !p && k < n; k++)
            to[k] += (double)gx[k / b->columns * D + b->column + k % b->columns];
    }
}

static int add_result(text_results *r, const char *name, int gradient, size_t n, smx_error *error) {
    text_result *to = &r->results[r->n++];
    *to = (text_result){name, gradient, n, calloc(n + 1, sizeof *to->x)};
    return to->x ? 0 : error_say(error, "out of memory");
}
int text_case_run(text_results *r, const manifest *m, const json *entry, const char *config, const char *text,
                  const char *names, smx_error *error) {
    struct smx_config *c = NULL;
    work *w = calloc(1, sizeof *w);
    const char *list = names ? names : "";
    r->n = 0;
    if (!w) return error_say(error, "out of memory");
    int status = check_list(&w->names, list, entry, error) || read_case(w, m, entry, text, list, error) ||
                 text_bind(w->text, sizeof w->text, text, &w->names, error) || say_config(w, config, error);
    if (!status) status = !(c = config_parse(w->config, 0, error)) || open_run(w, c, error);
    if (!status) status = add_result(r, "y", 0, w->B * w->L * w->names.result, error);
    for (size_t i = 0; !status && i < w->names.n; i++)
        status = add_result(r, w->array[i], 1, w->value[i].count, error);
    for (size_t s = 0; !status && s < w->B; s++)
        if (!(status = put_inputs(w, s, error))) run_sequence(w, r, s);
    config_free(c);
    graph_free(w->g);
    params_free(&w->p);
    for (size_t i = 0; i < w->names.n; i++) npy_free(&w->value[i]);
    npy_free(&w->dy);
    free(w->nothing);
    free(w);
    return status ? -1 : 0;
}
void text_case_free(text_results *r) {
    for (size_t i = 0; i < r->n; i++) free(r->results[i].x);
    r->n = 0;
}
const text_result *text_case_find(const text_results *r, const char *name, int gradient) {
    for (size_t i = 0; i < r->n; i++)
        if (r->results[i].gradient == gradient && !strcmp(r->results[i].name, name)) return &r->results[i];
    return NULL;
}
