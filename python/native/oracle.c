// oracle.c: see oracle.h.
#include "oracle.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/oracle/compare.h"
#include "cli/oracle/faults.h"
#include "cli/oracle/oracle_cases.h"
#include "cli/oracle/cover.h"
#include "cli/oracle/sets/vectors.h"

// ---- The tables Names, shapes and parameters are ours, and sources hold no quotation marks or
// backslashes: they stand in JSON as they are.
static void write_params(FILE *to, const oracle_mechanism *m) {
    oracle_declared d;
    const char *between = "";
    fputs("\"params\":[", to);
    for (const char *at = m->params; oracle_next_declared(&at, &d); between = ",")
        fprintf(to, "%s{\"name\":\"%s\",\"type\":\"%s\",\"default\":\"%s\"}", between, d.name, d.type,
                d.value);
    fputs("]", to);
}

static void write_arrays(FILE *to, const oracle_mechanism *m) {
    static const char *const kinds[] = {"input", "output", "middle"};
    fputs(",\"arrays\":[", to);
    for (const oracle_array *a = m->arrays; a->name; a++)
        fprintf(to,
                "%s{\"kind\":\"%s\",\"name\":\"%s\",\"shape\":\"%s\",\"when\":\"%s\",\"optional\":%d,"
                "\"integer\":%d,\"gradient\":%d,\"sequence\":%d}",
                a == m->arrays ? "" : ",", kinds[a->kind], a->name, a->shape, a->when ? a->when : "",
                !!(a->flags & ORACLE_OPTIONAL), !!(a->flags & ORACLE_INTEGER),
                !(a->flags & ORACLE_NO_GRADIENT), a->kind == ORACLE_INPUT && oracle_of_sequence(a));
    fputs("]", to);
}

// A size that is good to test with, and what each input is drawn from.
static void write_draws(FILE *to, const oracle_mechanism *m) {
    const vectors_case *first = vectors_cases;
    while (first->mechanism && strcmp(first->mechanism, m->name)) first++;
    fprintf(to, ",\"case\":%s,\"draws\":{", first->mechanism ? first->params : "{}");
    const char *between = "";
    for (const oracle_array *a = m->arrays; a->name; a++) {
        int seen = a->kind != ORACLE_INPUT;
        for (const oracle_array *b = m->arrays; b < a; b++) seen |= !strcmp(a->name, b->name);
        if (seen) continue;
        const vectors_range *r = vectors_range_of(m->name, a->name);
        fprintf(to, "%s\"%s\":[%d,%d,%d]", between, a->name, r->low, r->high, r->shift);
        between = ",";
    }
    fputs("}", to);
}

static void write_tables(FILE *to) {
    fputs("{\"mechanisms\":[", to);
    for (const oracle_mechanism *m = oracle_next(NULL); m; m = oracle_next(m)) {
        fprintf(to, "%s{\"name\":\"%s\",\"source\":\"%s\",", m == oracle_next(NULL) ? "" : ",", m->name,
                m->source);
        write_params(to, m);
        write_arrays(to, m);
        write_draws(to, m);
        fputs("}", to);
    }
    fputs("],\"formats\":[", to);
    for (const compare_format *f = compare_formats; f->name; f++) // as a fraction: no locale's point
        fprintf(to, "%s{\"name\":\"%s\",\"digits\":%d,\"tol_is_1_in\":%.0f}", f == compare_formats ? "" : ",",
                f->name, f->digits, 1 / f->tol);
    fputs("]}", to);
}

const char *smx_oracle_tables(void) {
    static char *text;
    size_t length;
    FILE *to = text ? NULL : open_memstream(&text, &length);
    if (to) {
        write_tables(to);
        fclose(to);
    }
    return text;
}

// ---- A case
struct smx_oracle {
    oracle_case c;
    json *params;
};

static void *refuse(smx_oracle *o, char *error, size_t length, const char *sentence, ...) {
    va_list rest;
    va_start(rest, sentence);
    vsnprintf(error, length, sentence, rest);
    va_end(rest);
    smx_oracle_close(o);
    return NULL;
}

smx_oracle *smx_oracle_open(const char *mechanism, const char *params, char *error, size_t length) {
    const oracle_mechanism *m = oracle_find(mechanism);
    if (!m) return refuse(NULL, error, length, "there is no mechanism '%.60s'", mechanism);
    smx_oracle *o = calloc(1, sizeof *o);
    if (!o) return refuse(NULL, error, length, "not enough memory");
    o->params = json_parse(params, strlen(params), NULL);
    if (!o->params) return refuse(o, error, length, "the parameters are no JSON object");
    return oracle_open(&o->c, m, o->params, NULL) ? refuse(o, error, length, "%s", o->c.error.message) : o;
}

void smx_oracle_close(smx_oracle *o) {
    if (!o) return;
    oracle_close(&o->c);
    json_free(o->params);
    free(o);
}

const char *smx_oracle_error(const smx_oracle *o) { return o->c.error.message; }

int smx_oracle_set(smx_oracle *o, const char *name, int integer, size_t n, const size_t *shape,
                   const void *data) {
    npy view = {.dtype = integer ? NPY_I4 : NPY_F8, .ndim = n, .count = 1, .data = (void *)data};
    if (n > NPY_MAX_DIMS)
        return oracle_fail(&o->c, "the input %.40s has %zu dimensions; %d are allowed", name, n,
                           NPY_MAX_DIMS);
    for (size_t i = 0; i < n; i++) view.count *= view.shape[i] = shape[i];
    return oracle_set(&o->c, name, &view);
}

int smx_oracle_shapes(smx_oracle *o) { return oracle_shapes(&o->c); }
int smx_oracle_run(smx_oracle *o) { return oracle_run(&o->c); }
double smx_oracle_margin(const smx_oracle *o) { return vectors_margin(&o->c); }

int smx_oracle_get(smx_oracle *o, int kind, const char *name, size_t *n, size_t *shape, const double **data) {
    const oracle_slot *s = oracle_slot_of(&o->c,
                                          kind == 'o'   ? ORACLE_OUTPUT
                                          : kind == 'm' ? ORACLE_MIDDLE
                                                        : ORACLE_INPUT,
                                          name);
    if (!s) return oracle_fail(&o->c, "%s has no array %.40s here", o->c.mechanism->name, name);
    *n = s->ndim;
    memcpy(shape, s->shape, sizeof s->shape);
    *data = kind == 'd' ? s->grad : s->data;
    return 0;
}

int smx_oracle_explain(smx_oracle *o, const char *name, int gradient, const double *got, double tol,
                       double scale, char *text, size_t length) {
    faults_case f = {.mechanism = o->c.mechanism, .params = o->params, .tol = tol};
    const oracle_slot *s = oracle_slot_of(&o->c, gradient ? ORACLE_INPUT : ORACLE_OUTPUT, name);
    const double *ref = !s ? NULL : gradient ? s->grad : s->data;
    if (!ref) return oracle_fail(&o->c, "%s has no array %.40s here", o->c.mechanism->name, name);
    for (const oracle_slot *in = o->c.slots; in < o->c.slots + o->c.n_slots; in++) {
        void *const data = in->is->flags & ORACLE_INTEGER ? (void *)in->ints : in->data;
        if (in->is->kind != ORACLE_INPUT || !data) continue;
        npy *to = &f.input[f.n_inputs];
        *to = (npy){in->is->flags & ORACLE_INTEGER ? NPY_I4 : NPY_F8, in->ndim, {0}, in->count, data};
        memcpy(to->shape, in->shape, sizeof to->shape);
        f.input_name[f.n_inputs++] = in->is->name;
    }
    faults_array a = {name, gradient, got, ref, s->ndim, {0}, s->count, scale};
    memcpy(a.shape, s->shape, sizeof a.shape);
    return faults_explain(text, length, &f, &a);
}

// ---- The plan
static int is_true(const json *v) { return v && v->type == JSON_TRUE; }

static void write_names(FILE *to, const char *key, const char *const *names) {
    fprintf(to, ",\"%s\":[", key);
    for (size_t i = 0; names[i]; i++) fprintf(to, "%s\"%s\"", i ? "," : "", names[i]);
    fputs("]", to);
}

static void write_plan(FILE *to, const cover *p) {
    char text[COVER_PARAMS];
    fputs("{\"linear\":[", to);
    for (size_t i = 0; i < COVER_NAMES && *p->linear[0][i]; i++)
        fprintf(to, "%s\"%s\"", i ? "," : "", p->linear[0][i]);
    fputs("],\"cases\":[", to);
    for (const cover_case *c = p->cases; c < p->cases + p->n; c++) {
        fprintf(to, "%s{\"is\":[", c == p->cases ? "" : ",");
        for (int f = 0; f < COVER_FACTORS; f++) fprintf(to, "%s%d", f ? "," : "", c->is[f]);
        cover_sizes(text, p, c);
        fprintf(to, "],\"seed\":%llu,\"work\":%.0f,\"sizes\":{%s}", (unsigned long long)c->seed,
                cover_work(c), text);
        cover_drawn(text, p, c);
        fprintf(to, ",\"drawn\":\"%s\"}", text);
    }
    fputs("]", to);
    write_names(to, "factors", cover_factors);
    write_names(to, "draws", cover_draws);
    write_names(to, "calls", cover_calls);
    fputs("}", to);
}

int smx_oracle_plan(const char *mechanism, const char *options, char *text, size_t length) {
    cover_for what = {.mechanism = oracle_find(mechanism)};
    json *asked = json_parse(options, strlen(options), NULL);
    size_t seed = 0, huge = 0, written = 0;
    cover p;
    int status = -1;
    const json *modes = json_get(asked, "modes"), *but = json_get(asked, "but");
    for (const json *v = modes ? modes->child : NULL; v && what.n_modes < COVER_LEVELS; v = v->next)
        what.modes[what.n_modes++] = v;
    for (int i = 0; cover_calls[i]; i++) what.calls |= 1u << i;
    for (const json *v = but ? but->child : NULL; v; v = v->next) {
        const int at = v->type == JSON_STRING ? cover_number(cover_calls, v->string) : -1;
        if (at >= 0) what.calls &= ~(1u << at);
    }
    what.fixed = json_get(asked, "fixed");
    what.same_heads = is_true(json_get(asked, "same_heads"));
    what.start = is_true(json_get(asked, "start"));
    what.saturated = is_true(json_get(asked, "saturated"));
    if (!what.mechanism || !what.n_modes || !json_size(json_get(asked, "seed"), &seed) ||
        !json_size(json_get(asked, "huge"), &huge)) {
        snprintf(text, length, "there is no such mechanism, or modes, seed and huge are not given");
        json_free(asked);
        return -1;
    }
    what.huge = (int)huge;
    char *all = NULL;
    FILE *to = cover_open(&p, &what, seed) ? NULL : open_memstream(&all, &written);
    if (to) {
        write_plan(to, &p);
        fclose(to);
    }
    if (all) {
        snprintf(text, length, "%s", all);
        status = (int)written;
    } else {
        snprintf(text, length, "not enough memory");
    }
    free(all);
    cover_close(&p);
    json_free(asked);
    return status;
}

void smx_oracle_plan_only(const int *cases, const char *wrong, size_t n, char *text, size_t length) {
    cover_case *all = calloc(n + 1, sizeof *all);
    for (size_t i = 0; all && i < n; i++) memcpy(all[i].is, cases + i * COVER_FACTORS, sizeof all[i].is);
    *text = 0;
    if (all) cover_only(text, length, all, wrong, n, NULL);
    free(all);
}
