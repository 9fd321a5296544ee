// judge_explain.c: what kind of fault a wrong array of a set looks like, and which rows are wrong.
#include <stdio.h>
#include <string.h>

#include "cli/oracle/compare.h"
#include "judge.h"

// How many sequences a shape holds, where a piece has `dims` dimensions.
static size_t pieces_of(size_t ndim, const size_t *shape, size_t dims) {
    size_t n = 1;
    for (size_t d = 0; d + dims < ndim; d++) n *= shape[d];
    return n;
}

// Of an array with batch dimensions the piece of that number alone, in front.
static void take_piece(npy *a, size_t dims, size_t piece) {
    const size_t pieces = pieces_of(a->ndim, a->shape, dims), lead = a->ndim > dims ? a->ndim - dims : 0;
    if (!lead || !pieces) return;
    a->count /= pieces;
    a->ndim -= lead;
    memmove(a->shape, a->shape + lead, a->ndim * sizeof *a->shape);
    const size_t bytes = a->count * npy_item_size(a->dtype);
    memmove(a->data, (char *)a->data + piece % pieces * bytes, bytes);
}

// The inputs.
static int read_inputs(faults_case *f, const manifest *m, const json *entry, smx_error *error) {
    const json *inputs = json_get(entry, "inputs");
    for (const json *a = inputs ? inputs->child : NULL; a && f->n_inputs < ORACLE_MAX_ARRAYS; a = a->next) {
        manifest_array is;
        char path[MANIFEST_PATH];
        npy *to = &f->input[f->n_inputs];
        if (manifest_array_of(m, a, m->folder, path, &is, error) || npy_read(to, path, error)) return -1;
        f->input_name[f->n_inputs++] = a->key;
        if (manifest_fits(&is, to, path, error)) return -1;
    }
    return 0;
}

// Of an array with `lead` batch dimensions the first sequence that is wrong alone; which that is.
static size_t wrong_piece(faults_array *a, size_t lead, double tol) {
    const size_t n = a->count / pieces_of(a->ndim, a->shape, a->ndim - lead);
    size_t first = 0;
    while (first < a->count && compare_error(a->got[first], a->ref[first]) <= tol * a->scale) first++;
    const size_t piece = first < a->count ? first / n : 0;
    a->ndim -= lead;
    memmove(a->shape, a->shape + lead, a->ndim * sizeof *a->shape);
    a->count = n;
    a->got += piece * n;
    a->ref += piece * n;
    return piece;
}

// Of a batch the first sequence that is wrong.
static void one_sequence(faults_case *f, faults_array *a) {
    oracle_case c;
    const int known = !oracle_open(&c, f->mechanism, f->params, f->mode) && !oracle_shapes(&c);
    size_t dims[ORACLE_MAX_ARRAYS], lead = 0, own = 0; // of the inputs; batch dimensions of the case, of a
    for (size_t i = 0; known && i < f->n_inputs; i++) {
        const oracle_slot *s = oracle_slot_of(&c, ORACLE_INPUT, f->input_name[i]);
        dims[i] = s ? s->ndim : f->input[i].ndim;
        const size_t more = f->input[i].ndim > dims[i] ? f->input[i].ndim - dims[i] : 0;
        if (more > lead) lead = more;
        if (!strcmp(f->input_name[i], a->name)) own = more;
    }
    oracle_close(&c);
    if (!a->gradient) own = lead;
    if (!known || !lead || own >= a->ndim) return;
    const size_t piece = wrong_piece(a, own, f->tol);
    for (size_t i = 0; i < f->n_inputs; i++) take_piece(&f->input[i], dims[i], piece);
}
// The same in the set of a text, whose manifest says what each input is. 1: the array has rows.
static int one_text_sequence(faults_array *a, const json *entry, double tol) {
    const json *batch = json_get(entry, "batch"),
               *role = json_get(json_get(json_get(entry, "inputs"), a->name), "role");
    const int rows = a->gradient ? role && role->type == JSON_STRING && !strcmp(role->string, "rows")
                                 : !strcmp(a->name, "y");
    const size_t lead = batch && batch->type == JSON_ARRAY ? batch->count : 0;
    if ((rows || !a->gradient) && lead && lead < a->ndim) wrong_piece(a, lead, tol);
    return rows;
}

// Whether the mechanism's array has rows.
static int has_rows(const finding *f, const oracle_mechanism *m) {
    const oracle_array *is = m->arrays;
    const oracle_kind kind = f->gradient ? ORACLE_INPUT : ORACLE_OUTPUT;
    while (is->name && (is->kind != kind || strcmp(is->name, f->name))) is++;
    return is->name && is->shape[0] == 'L' && (!is->shape[1] || is->shape[1] == ' ');
}
static void find_rows(finding *f, const faults_case *c, const faults_array *a) {
    if (!a->ndim || !a->count) return;
    const size_t row = a->count / a->shape[0];
    for (size_t i = 0; i < a->count; i++) {
        if (compare_error(a->got[i], a->ref[i]) <= c->tol * a->scale) continue;
        if (f->first > f->last) f->first = i / row;
        f->last = i / row;
    }
}

void judge_explain(finding *f, const manifest *m, const judged_array *j) {
    faults_case c = {.tol = j->allowed};
    const json *mechanism = json_get(f->entry, "mechanism"), *mode = json_get(f->entry, "mode");
    smx_error error = {0};
    f->worth = FAULTS_NAMED;
    f->first = 1;
    f->last = 0;
    const char *const name = mechanism && mechanism->type == JSON_STRING ? mechanism->string : "";
    c.mechanism = oracle_find(name);
    c.params = json_get(f->entry, "params");
    c.mode = c.mechanism && mode && oracle_allows(c.mechanism, "mode", mode) ? mode : NULL;
    if (!c.mechanism && strcmp(name, "equations") != 0)
        snprintf(f->why, sizeof f->why, "the oracle does not know the mechanism");
    else if (read_inputs(&c, m, f->entry, &error))
        snprintf(f->why, sizeof f->why, "%s", error.message);
    else {
        faults_array a = {f->name, f->gradient, j->got, j->ref, j->is.ndim, {0}, 1, j->scale};
        memcpy(a.shape, j->is.shape, sizeof a.shape);
        for (size_t d = 0; d < a.ndim; d++) a.count *= a.shape[d];
        if (c.mechanism) one_sequence(&c, &a);
        if (c.mechanism ? has_rows(f, c.mechanism) : one_text_sequence(&a, f->entry, c.tol))
            find_rows(f, &c, &a);
        f->worth = faults_explain(f->why, sizeof f->why, &c, &a);
    }
    for (size_t i = 0; i < c.n_inputs; i++) npy_free(&c.input[i]);
}

void judge_proof(judged_array *j, const manifest *m, const json *of_case, const char *name) {
    size_t n = 1;
    for (size_t d = 0; d < j->is.ndim; d++) n *= j->is.shape[d];
    if (!(j->worst <= j->allowed * j->scale)) return;
    proved p = proved_of(m, of_case, name, j->ref, n);
    const proved_worst w = proved_judge(&p, j->got, j->ref, n);
    proved_free(&p);
    if (!(w.bound > 0 && proved_past(&w))) return;
    j->beyond = 1;
    j->allowed = w.bound / j->scale;
}
