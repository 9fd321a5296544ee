// oracle_batch.c: see oracle_batch.h.
#include "oracle_batch.h"

#include <stdlib.h>
#include <string.h>

int oracle_batch_open(oracle_batch *b, const oracle_mechanism *mechanism, const json *params,
                      const json *mode) {
    memset(b, 0, sizeof *b);
    return oracle_open(&b->c, mechanism, params, mode);
}

const oracle_batch_input *oracle_batch_input_named(const oracle_batch *b, const char *name) {
    for (size_t i = 0; i < b->n_inputs; i++)
        if (strcmp(b->inputs[i].is->name, name) == 0) return &b->inputs[i];
    return NULL;
}

const oracle_batch_result *oracle_batch_result_of(const oracle_batch *b, oracle_kind kind, const char *name) {
    for (size_t i = 0; i < b->n_results; i++)
        if (b->results[i].is->kind == kind && strcmp(b->results[i].is->name, name) == 0)
            return &b->results[i];
    return NULL;
}

static size_t dims_of(const oracle_array *a) {
    size_t n = 1;
    for (const char *at = a->shape; *at; at++) n += *at == ' ';
    return n;
}

static int take_batch(oracle_batch *b, oracle_batch_input *in) {
    char have[160], want[160];
    const size_t dims = dims_of(in->is);
    in->lead = in->value.ndim > dims ? in->value.ndim - dims : 0;
    if (!in->lead) return 0;
    if (!b->ndim) {
        b->ndim = in->lead;
        memcpy(b->batch, in->value.shape, in->lead * sizeof *b->batch);
    }
    if (in->lead == b->ndim && !memcmp(b->batch, in->value.shape, in->lead * sizeof *b->batch)) return 0;
    return oracle_fail(&b->c, "%s has the batch %s; another array has %s", in->is->name,
                       npy_shape_text(have, sizeof have, in->lead, in->value.shape),
                       npy_shape_text(want, sizeof want, b->ndim, b->batch));
}

int oracle_batch_set(oracle_batch *b, const char *name, npy *value) {
    const oracle_slot *s = oracle_slot_of(&b->c, ORACLE_INPUT, name);
    if (!s) return oracle_fail(&b->c, "%s has no input %.40s here", b->c.mechanism->name, name);
    if (oracle_batch_input_named(b, name)) return oracle_fail(&b->c, "the input %s is given twice", name);
    oracle_batch_input *in = &b->inputs[b->n_inputs++];
    in->is = s->is;
    in->value = *value;
    value->data = NULL;
    return take_batch(b, in);
}

// ---- Running

static int keep(oracle_batch *b, size_t *at, const oracle_slot *s, const double *data, int gradient,
                size_t piece) {
    oracle_batch_result *r = &b->results[(*at)++];
    if (!piece) {
        const oracle_batch_input *from = gradient ? oracle_batch_input_named(b, s->is->name) : NULL;
        *r = (oracle_batch_result){
            .is = s->is, .gradient = gradient, .shared = from && !from->lead, .piece = s->count};
        const size_t lead = r->shared ? 0 : b->ndim;
        b->n_results = *at;
        if (lead + s->ndim > NPY_MAX_DIMS)
            return oracle_fail(&b->c, "%s would have more than %d dimensions", s->is->name, NPY_MAX_DIMS);
        r->ndim = lead + s->ndim;
        r->count = (r->shared ? 1 : b->pieces) * s->count;
        memcpy(r->shape, b->batch, lead * sizeof *r->shape);
        memcpy(r->shape + lead, s->shape, s->ndim * sizeof *r->shape);
        r->data = malloc((r->count + 1) * sizeof *r->data);
        if (!r->data) return oracle_fail(&b->c, "not enough memory for %s", s->is->name);
    }
    double *to = r->data + (r->shared ? 0 : piece * r->piece);
    for (size_t i = 0; i < r->piece; i++) to[i] = r->shared && piece ? to[i] + data[i] : data[i];
    return 0;
}

static int run_piece(oracle_batch *b, size_t piece) {
    const json *params = b->c.params, *mode = b->c.mode;
    const oracle_mechanism *mechanism = b->c.mechanism;
    oracle_close(&b->c);
    if (oracle_open(&b->c, mechanism, params, mode)) return -1;
    for (size_t i = 0; i < b->n_inputs; i++) {
        const oracle_batch_input *in = &b->inputs[i];
        npy view = in->value;
        if (in->lead) {
            view.ndim -= in->lead;
            memmove(view.shape, view.shape + in->lead, view.ndim * sizeof *view.shape);
            view.count /= b->pieces;
            view.data = (char *)view.data + piece * view.count * npy_item_size(view.dtype);
        }
        if (oracle_set(&b->c, in->is->name, &view)) return -1;
    }
    if (oracle_run(&b->c)) return -1;
    if (b->watch) b->watch(&b->c, b->context);
    size_t at = 0;
    for (size_t i = 0; i < b->c.n_slots; i++) {
        const oracle_slot *s = &b->c.slots[i];
        if (s->is->kind != ORACLE_INPUT && keep(b, &at, s, s->data, 0, piece)) return -1;
        if (s->grad && keep(b, &at, s, s->grad, 1, piece)) return -1;
    }
    return 0;
}

int oracle_batch_run(oracle_batch *b) {
    b->pieces = 1;
    for (size_t i = 0; i < b->ndim; i++) b->pieces *= b->batch[i]; // within the arrays' own size
    if (!b->pieces) return oracle_fail(&b->c, "the batch has no entries");
    const oracle_batch_input *dy = oracle_batch_input_named(b, "dy");
    if (b->ndim && dy && !dy->lead)
        return oracle_fail(&b->c, "dy has no batch dimensions, but other arrays have");
    for (size_t piece = 0; piece < b->pieces; piece++)
        if (run_piece(b, piece)) return -1;
    return 0;
}

void oracle_batch_close(oracle_batch *b) {
    oracle_close(&b->c);
    for (size_t i = 0; i < b->n_inputs; i++) npy_free(&b->inputs[i].value);
    for (size_t i = 0; i < b->n_results; i++) free(b->results[i].data);
    b->n_inputs = b->n_results = 0;
}
