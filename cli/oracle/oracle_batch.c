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

// ---- Packed sequences
static int is_rows(const oracle_array *a) { return !strncmp(a->shape, "L ", 2); }
// One for each packed sequence: a first state, or what comes of the last row.
static int is_state(const oracle_array *a) {
    return a->kind == ORACLE_INPUT ? a->flags & ORACLE_SEQUENCE : !is_rows(a);
}

int oracle_batch_packs(const oracle_mechanism *m) {
    int rows = 0;
    for (const oracle_array *a = m->arrays; a->name; a++) {
        if (is_rows(a))
            rows |= a->kind == ORACLE_INPUT && strcmp(a->name, "dy");
        else if (strchr(a->shape, 'L') || strstr(a->shape, "n_bins") || !strcmp(a->name, "y"))
            return 0; // as long as the rows, or of all of them
    }
    return rows;
}

static int take_cu(oracle_batch *b, npy *value) {
    char got[160];
    if (b->cu) return oracle_fail(&b->c, "the input cu is given twice");
    if (value->dtype != NPY_I4 || value->ndim != 1 || value->count < 2)
        return oracle_fail(&b->c, "the input cu is %s of the shape %s; it must be <i4 [N+1], N 1 or more",
                           npy_dtype_name(value->dtype),
                           npy_shape_text(got, sizeof got, value->ndim, value->shape));
    b->cu = value->data;
    b->n_packed = value->count - 1;
    value->data = NULL;
    return 0;
}

// The rows that the inputs have, all sequences together.
static size_t rows_of(const oracle_batch *b) {
    for (size_t i = 0; i < b->n_inputs; i++)
        if (is_rows(b->inputs[i].is)) return b->inputs[i].value.shape[b->inputs[i].lead];
    return 0;
}

static int cu_fits(oracle_batch *b) {
    if (!b->cu) return 0;
    if (b->cu[0]) return oracle_fail(&b->c, "cu begins with %d; it must begin with 0", (int)b->cu[0]);
    for (size_t n = 0; n < b->n_packed; n++)
        if (b->cu[n + 1] <= b->cu[n])
            return oracle_fail(&b->c, "cu goes from %d to %d; each sequence must have a row or more",
                               (int)b->cu[n], (int)b->cu[n + 1]);
    const size_t L = rows_of(b);
    for (size_t i = 0; i < b->n_inputs; i++) {
        const oracle_batch_input *in = &b->inputs[i];
        const size_t want = is_rows(in->is) ? L : b->n_packed;
        if (!is_rows(in->is) && !is_state(in->is)) continue;
        if (in->value.ndim <= in->lead || in->value.shape[in->lead] != want)
            return oracle_fail(&b->c,
                               is_rows(in->is) ? "%s and another array do not have the same rows"
                                               : "%s must be one for each of the packed sequences",
                               in->is->name);
    }
    if ((size_t)b->cu[b->n_packed] == L) return 0;
    return oracle_fail(&b->c, "cu ends with %d; it must end with L = %zu", (int)b->cu[b->n_packed], L);
}

static int take_batch(oracle_batch *b, oracle_batch_input *in) {
    char have[160], want[160];
    const size_t dims = dims_of(in->is) + (b->cu && is_state(in->is));
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
    if (!s && !strcmp(name, "cu") && oracle_batch_packs(b->c.mechanism)) return take_cu(b, value);
    if (!s) return oracle_fail(&b->c, "%s has no input %.40s here", b->c.mechanism->name, name);
    if (oracle_batch_input_named(b, name)) return oracle_fail(&b->c, "the input %s is given twice", name);
    oracle_batch_input *in = &b->inputs[b->n_inputs++];
    in->is = s->is;
    in->value = *value;
    value->data = NULL;
    return is_state(in->is) ? 0 : take_batch(b, in); // a state's: when it is known whether there is cu
}

// ---- Running

// What of an array of `count` numbers is sequence n's: where it begins, and how many.
static size_t begin_of(const oracle_batch *b, const oracle_array *a, size_t n, size_t count, size_t *size) {
    *size = count;
    if (!b->cu || !(is_rows(a) || is_state(a))) return 0;
    const size_t of = is_rows(a) ? count / (size_t)b->cu[b->n_packed] : count / b->n_packed;
    *size = is_rows(a) ? (size_t)(b->cu[n + 1] - b->cu[n]) * of : of;
    return is_rows(a) ? (size_t)b->cu[n] * of : n * of;
}

// Room for a result, by the slot of its first sequence.
static int begin_result(oracle_batch *b, oracle_batch_result *r, const oracle_slot *s, int gradient) {
    const oracle_batch_input *from = gradient ? oracle_batch_input_named(b, s->is->name) : NULL;
    *r = (oracle_batch_result){
        .is = s->is, .gradient = gradient, .shared = from && !from->lead, .piece = s->count};
    const size_t lead = r->shared ? 0 : b->ndim, packed = b->cu && is_state(s->is);
    size_t *shape = r->shape + lead;
    if (lead + packed + s->ndim > NPY_MAX_DIMS)
        return oracle_fail(&b->c, "%s would have more than %d dimensions", s->is->name, NPY_MAX_DIMS);
    r->ndim = lead + packed + s->ndim;
    memcpy(r->shape, b->batch, lead * sizeof *r->shape);
    memcpy(shape + packed, s->shape, s->ndim * sizeof *r->shape);
    if (packed) {
        r->piece *= *shape = b->n_packed;
    } else if (b->cu && is_rows(s->is)) {
        r->piece = r->piece / shape[0] * (size_t)b->cu[b->n_packed];
        shape[0] = (size_t)b->cu[b->n_packed];
    }
    r->count = (r->shared ? 1 : b->pieces) * r->piece;
    r->data = calloc(r->count + 1, sizeof *r->data);
    return r->data ? 0 : oracle_fail(&b->c, "not enough memory for %s", s->is->name);
}

static int keep(oracle_batch *b, size_t *at, const oracle_slot *s, const double *data, int gradient,
                size_t piece, size_t n) {
    oracle_batch_result *r = &b->results[(*at)++];
    size_t size;
    if (!piece && !n) {
        b->n_results = *at;
        if (begin_result(b, r, s, gradient)) return -1;
    }
    double *to = r->data + (r->shared ? 0 : piece * r->piece) + begin_of(b, s->is, n, r->piece, &size);
    const int sums = (piece && r->shared) || (n && !is_rows(s->is) && !is_state(s->is));
    for (size_t i = 0; i < size; i++) to[i] = sums ? to[i] + data[i] : data[i];
    return 0;
}

static int run_piece(oracle_batch *b, size_t piece, size_t n) {
    const json *params = b->c.params, *mode = b->c.mode;
    const oracle_mechanism *mechanism = b->c.mechanism;
    oracle_close(&b->c);
    if (oracle_open(&b->c, mechanism, params, mode)) return -1;
    if (b->cu) oracle_take_rows(&b->c, (size_t)(b->cu[n + 1] - b->cu[n]));
    for (size_t i = 0; i < b->n_inputs; i++) {
        const oracle_batch_input *in = &b->inputs[i];
        const size_t item = npy_item_size(in->value.dtype);
        npy view = in->value;
        if (in->lead) {
            view.ndim -= in->lead;
            memmove(view.shape, view.shape + in->lead, view.ndim * sizeof *view.shape);
            view.count /= b->pieces;
            view.data = (char *)view.data + piece * view.count * item;
        }
        view.data = (char *)view.data + item * begin_of(b, in->is, n, view.count, &view.count);
        if (b->cu && is_rows(in->is))
            view.shape[0] = (size_t)(b->cu[n + 1] - b->cu[n]);
        else if (b->cu && is_state(in->is))
            memmove(view.shape, view.shape + 1, --view.ndim * sizeof *view.shape);
        if (oracle_set(&b->c, in->is->name, &view)) return -1;
    }
    if (oracle_run(&b->c)) return -1;
    if (b->watch) b->watch(&b->c, b->context);
    size_t at = 0;
    for (size_t i = 0; i < b->c.n_slots; i++) {
        const oracle_slot *s = &b->c.slots[i];
        if (s->is->kind != ORACLE_INPUT && keep(b, &at, s, s->data, 0, piece, n)) return -1;
        if (s->grad && keep(b, &at, s, s->grad, 1, piece, n)) return -1;
    }
    return 0;
}

int oracle_batch_run(oracle_batch *b) {
    b->pieces = 1;
    for (size_t i = 0; i < b->n_inputs; i++)
        if (is_state(b->inputs[i].is) && take_batch(b, &b->inputs[i])) return -1;
    for (size_t i = 0; i < b->ndim; i++) b->pieces *= b->batch[i]; // within the arrays' own size
    if (!b->pieces) return oracle_fail(&b->c, "the batch has no entries");
    const oracle_batch_input *dy = oracle_batch_input_named(b, "dy");
    if (b->ndim && dy && !dy->lead)
        return oracle_fail(&b->c, "dy has no batch dimensions, but other arrays have");
    if (cu_fits(b)) return -1;
    for (size_t piece = 0; piece < b->pieces; piece++)
        for (size_t n = 0; n < (b->cu ? b->n_packed : 1); n++)
            if (run_piece(b, piece, n)) return -1;
    return 0;
}

void oracle_batch_close(oracle_batch *b) {
    oracle_close(&b->c);
    for (size_t i = 0; i < b->n_inputs; i++) npy_free(&b->inputs[i].value);
    for (size_t i = 0; i < b->n_results; i++) free(b->results[i].data);
    free(b->cu);
    b->cu = NULL;
    b->n_inputs = b->n_results = 0;
}
