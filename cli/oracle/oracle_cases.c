// oracle_cases.c: binds named arrays and parameters to a mechanism by its declaration, and says in words what
// does not fit. Mechanisms compute in table/ and ref/; oracle_run.c runs them.
#include "oracle_cases.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/error.h"
#include "model/base/number.h"

enum { MAX_SIZE = 1 << 30 };

int oracle_fail(oracle_case *c, const char *format, ...) {
    va_list args;
    va_start(args, format);
    error_say_list(&c->error, format, args);
    va_end(args);
    return -1;
}

// ---- Declared parameters
int oracle_next_declared(const char **at, oracle_declared *d) {
    while (**at == ' ') ++*at;
    size_t n = strcspn(*at, " ");
    if (!n) return 0;
    memset(d, 0, sizeof *d);
    sscanf(*at, "%23[^:]:%95[^= ]=%31[^ ]", d->name, d->type, d->value);
    *at += n;
    return 1;
}

static int find_declared(const oracle_case *c, const char *name, oracle_declared *d) {
    for (const char *at = c->mechanism->params; oracle_next_declared(&at, d);)
        if (strcmp(d->name, name) == 0) return 1;
    return 0;
}

static int is_size(const oracle_declared *d) { return strncmp(d->type, "size", 4) == 0; }
static int is_choice(const oracle_declared *d) { return strchr(d->type, '|') != NULL; }

const json *oracle_param(const oracle_case *c, const char *name) {
    const json *given = json_get(c->params, name);
    return !given && !strcmp(name, "mode") ? c->mode : given;
}

// Index of word among "a|b|c", or -1.
static int word_index(const char *words, const char *word) {
    int index = 0;
    for (const char *at = words;; index++) {
        size_t n = strcspn(at, "|");
        if (strlen(word) == n && strncmp(at, word, n) == 0) return index;
        if (!at[n]) return -1;
        at += n + 1;
    }
}

int oracle_choice(const oracle_case *c, const char *name) {
    oracle_declared d;
    const json *v = oracle_param(c, name);
    if (!find_declared(c, name, &d)) return -1;
    return word_index(d.type, v ? v->string : d.value);
}

double oracle_real(const oracle_case *c, const char *name) {
    oracle_declared d;
    const json *v = oracle_param(c, name);
    if (v) return v->number;
    return find_declared(c, name, &d) ? number_read(d.value, NULL) : 0;
}

int oracle_flag(const oracle_case *c, const char *name) {
    oracle_declared d;
    const json *v = oracle_param(c, name);
    if (v) return v->type == JSON_TRUE;
    return find_declared(c, name, &d) && strcmp(d.value, "true") == 0;
}

static const size_t *known_size(const oracle_case *c, const char *name, size_t length) {
    for (size_t i = 0; i < c->n_sizes; i++)
        if (strlen(c->sizes[i].name) == length && strncmp(c->sizes[i].name, name, length) == 0)
            return &c->sizes[i].value;
    return NULL;
}

size_t oracle_size(const oracle_case *c, const char *name) {
    const size_t *v = known_size(c, name, strlen(name));
    return v ? *v : 0;
}

static void put_size(oracle_case *c, const char *name, size_t length, size_t value) {
    if (known_size(c, name, length) || c->n_sizes == ORACLE_MAX_SIZES || length >= sizeof c->sizes[0].name)
        return;
    memcpy(c->sizes[c->n_sizes].name, name, length);
    c->sizes[c->n_sizes++].value = value;
}

void oracle_put_size(oracle_case *c, const char *name, size_t value) {
    put_size(c, name, strlen(name), value);
}

void oracle_take_rows(oracle_case *c, size_t L) {
    size_t *known = (size_t *)known_size(c, "L", 1);
    if (known)
        *known = L;
    else
        oracle_put_size(c, "L", L);
}

// What was given for one declared parameter, checked.
static int check_given(oracle_case *c, const oracle_declared *d, const json *v) {
    size_t size;
    if (is_size(d)) {
        size_t least = strcmp(d->type, "size0") == 0 ? 0 : 1;
        if (!json_size(v, &size) || size < least || size > MAX_SIZE)
            return oracle_fail(c, "the parameter %s must be a whole number from %zu to %d", d->name, least,
                               MAX_SIZE);
        oracle_put_size(c, d->name, size);
    } else if (is_choice(d)) {
        if (v->type != JSON_STRING || word_index(d->type, v->string) < 0)
            return oracle_fail(c, "the parameter %s is %.40s; it must be one of %s", d->name,
                               v->type == JSON_STRING ? v->string : json_type_name(v->type), d->type);
    } else if (strcmp(d->type, "flag") == 0) {
        if (v->type != JSON_TRUE && v->type != JSON_FALSE)
            return oracle_fail(c, "the parameter %s must be true or false, not %s", d->name,
                               json_type_name(v->type));
    } else if (strcmp(d->type, "real") == 0) {
        if (v->type != JSON_NUMBER)
            return oracle_fail(c, "the parameter %s must be a number, not %s", d->name,
                               json_type_name(v->type));
    } else { // reals
        if (v->type != JSON_ARRAY)
            return oracle_fail(c, "the parameter %s must be an array, not %s", d->name,
                               json_type_name(v->type));
        for (const json *m = v->child; m; m = m->next)
            if (m->type != JSON_NUMBER)
                return oracle_fail(c, "the parameter %s must hold numbers only", d->name);
    }
    return 0;
}

int oracle_of_sequence(const oracle_array *input) {
    const size_t n = strcspn(input->shape, " ");
    return (n == 1 && input->shape[0] == 'L') || (n == 6 && !strncmp(input->shape, "n_bins", n)) ||
           input->flags & ORACLE_SEQUENCE || !strcmp(input->name, "dy");
}

int oracle_has_sequences(const oracle_mechanism *m) {
    for (const oracle_array *a = m->arrays; a->name; a++)
        if (a->kind == ORACLE_INPUT && strcmp(a->name, "dy") && oracle_of_sequence(a)) return 1;
    return 0;
}

int oracle_allows(const oracle_mechanism *mechanism, const char *name, const json *word) {
    oracle_declared d;
    for (const char *at = mechanism->params; oracle_next_declared(&at, &d);)
        if (!strcmp(d.name, name))
            return is_choice(&d) && word->type == JSON_STRING && word_index(d.type, word->string) >= 0;
    return 0;
}

// Does every "name=word" of the condition hold?
static int holds(const oracle_case *c, const char *when) {
    char name[24], word[32];
    for (const char *at = when; at && *at; at += strcspn(at, " ")) {
        while (*at == ' ') at++;
        oracle_declared d;
        if (sscanf(at, "%23[^=]=%31[^ ]", name, word) != 2 || !find_declared(c, name, &d)) return 0;
        if (strcmp(d.type, "flag") == 0 ? oracle_flag(c, name) != !strcmp(word, "true")
                                        : oracle_choice(c, name) != word_index(d.type, word))
            return 0;
    }
    return 1;
}

int oracle_open(oracle_case *c, const oracle_mechanism *mechanism, const json *params, const json *mode) {
    oracle_declared d;
    memset(c, 0, sizeof *c);
    c->mechanism = mechanism;
    c->params = params;
    c->mode = mode;
    for (const char *at = mechanism->params; oracle_next_declared(&at, &d);) {
        const json *v = oracle_param(c, d.name);
        if (v && check_given(c, &d, v)) return -1;
        if (!v && !d.value[0] && !is_size(&d) && strcmp(d.type, "reals"))
            return oracle_fail(c, "the parameter %s is missing; it is one of %s", d.name, d.type);
    }
    for (const oracle_array *a = mechanism->arrays; a->name; a++)
        if (holds(c, a->when) && c->n_slots < ORACLE_MAX_ARRAYS) c->slots[c->n_slots++].is = a;
    return 0;
}

// ---- Shapes ---------------------------------------------------------------------------------------------
// One size of a declared shape, [at, end): a sum of products. *unknown names what is not known (then 0).
static int size_value(const oracle_case *c, const char *at, const char *end, size_t *out,
                      const char **unknown, size_t *length) {
    size_t sum = 0, product = 1, larger = 0; // larger: of the names before this one, joined by |
    int divides = 0;
    *unknown = NULL;
    while (at < end) {
        size_t n = strcspn(at, "*/+| "), value;
        if (*at >= '0' && *at <= '9') {
            value = strtoul(at, NULL, 10);
        } else {
            const size_t *v = known_size(c, at, n);
            if (!v) {
                *unknown = at;
                *length = n;
                return 0;
            }
            value = *v;
        }
        at += n;
        if (value < larger) value = larger;
        larger = at < end && *at == '|' ? value : 0;
        if (!larger) {
            if (divides)
                product /= value ? value : 1;
            else if (value && product > SIZE_MAX / 16 / value)
                product = SIZE_MAX / 16; // refused by comparison or by memory
            else
                product *= value;
        }
        divides = at < end && *at == '/';
        if (at == end || *at == '+') {
            sum += product;
            product = 1;
        }
        if (at < end) at++;
    }
    *out = sum;
    return 1;
}

// The declared default of a size becomes its value; 0 when it has none.
static int take_default(oracle_case *c, const char *name, size_t length) {
    oracle_declared d;
    for (const char *at = c->mechanism->params; oracle_next_declared(&at, &d);)
        if (is_size(&d) && d.value[0] && strlen(d.name) == length && strncmp(d.name, name, length) == 0) {
            put_size(c, name, length, strtoul(d.value, NULL, 10));
            return 1;
        }
    return 0;
}

// The declared shape in numbers; sizes not yet known are taken from actual (NULL: an error).
static int resolve(oracle_case *c, oracle_slot *s, const size_t *actual, size_t actual_ndim) {
    s->ndim = 0;
    s->count = 1;
    for (const char *at = s->is->shape; *at; s->ndim++) {
        const char *end = at + strcspn(at, " "), *unknown;
        size_t length = 0, *size = &s->shape[s->ndim];
        while (!size_value(c, at, end, size, &unknown, &length)) {
            const char *more = at + length; // "+1" may follow the name
            const size_t past = *more == '+' ? strtoul(more + 1, (char **)&more, 10) : 0;
            if (actual && s->ndim < actual_ndim && unknown == at && more == end && actual[s->ndim] >= past) {
                *size = actual[s->ndim] - past; // a size of its own: the array says it
                if (*size < 1 || *size > MAX_SIZE)
                    return oracle_fail(c, "%s has the size %zu for %.*s; 1 to %d are allowed", s->is->name,
                                       *size, (int)length, unknown, MAX_SIZE);
                put_size(c, unknown, length, *size);
            } else if (!take_default(c, unknown, length)) {
                return oracle_fail(c, "the parameter %.*s is missing (needed for the shape of %s)",
                                   (int)length, unknown, s->is->name);
            }
        }
        if (*size && s->count > SIZE_MAX / 64 / *size) return oracle_fail(c, "%s is too large", s->is->name);
        s->count *= *size;
        at = *end ? end + 1 : end;
    }
    return 0;
}

static oracle_slot *slot_of(const oracle_case *c, oracle_kind kind, const char *name) {
    for (size_t i = 0; i < c->n_slots; i++)
        if (c->slots[i].is->kind == kind && strcmp(c->slots[i].is->name, name) == 0)
            return (oracle_slot *)&c->slots[i];
    return NULL;
}

const oracle_slot *oracle_slot_of(const oracle_case *c, oracle_kind kind, const char *name) {
    return slot_of(c, kind, name);
}

int oracle_set(oracle_case *c, const char *name, const npy *value) {
    oracle_slot *s = slot_of(c, ORACLE_INPUT, name);
    if (!s) return oracle_fail(c, "%s has no input %.40s here", c->mechanism->name, name);
    if (s->data || s->ints) return oracle_fail(c, "the input %s is given twice", name);
    int integer = (s->is->flags & ORACLE_INTEGER) != 0;
    if (integer != (value->dtype == NPY_I4))
        return oracle_fail(c, "the input %s is %s; it must be %s", name, npy_dtype_name(value->dtype),
                           integer ? "<i4" : "<f8 or <f4");
    // the shape is judged in oracle_run, when all that fixes it is known
    s->ndim = value->ndim;
    s->count = value->count;
    memcpy(s->shape, value->shape, sizeof s->shape);
    size_t bytes = value->count * (integer ? sizeof *s->ints : sizeof *s->data);
    void *copy = malloc(bytes ? bytes : 1);
    if (!copy) return oracle_fail(c, "not enough memory for the input %s", name);
    if (integer)
        memcpy(s->ints = copy, value->data, bytes);
    else
        for (size_t i = (s->data = copy, 0); i < value->count; i++) s->data[i] = npy_value(value, i);
    return 0;
}

static int bind_inputs(oracle_case *c) {
    for (size_t i = 0; i < c->n_slots; i++) {
        oracle_slot *s = &c->slots[i], given = *s;
        if (s->is->kind != ORACLE_INPUT) continue;
        if (!s->data && !s->ints) {
            if (s->is->flags & ORACLE_OPTIONAL) continue;
            return oracle_fail(c, "the input %s is missing", s->is->name);
        }
        char want[160], got[160];
        if (resolve(c, s, given.shape, given.ndim)) return -1;
        if (s->ndim != given.ndim || memcmp(s->shape, given.shape, s->ndim * sizeof *s->shape))
            return oracle_fail(c, "the input %s has the shape %s; it must be %s", s->is->name,
                               npy_shape_text(got, sizeof got, given.ndim, given.shape),
                               npy_shape_text(want, sizeof want, s->ndim, s->shape));
    }
    return 0;
}

static void defaults(oracle_case *c) {
    oracle_declared d;
    for (const char *at = c->mechanism->params; oracle_next_declared(&at, &d);)
        if (is_size(&d) && d.value[0]) oracle_put_size(c, d.name, strtoul(d.value, NULL, 10));
}

int oracle_shapes(oracle_case *c) {
    defaults(c);
    for (size_t i = 0; i < c->n_slots; i++)
        if (c->slots[i].is->kind == ORACLE_INPUT && resolve(c, &c->slots[i], NULL, 0)) return -1;
    return 0;
}

static int take_memory(oracle_case *c) {
    const oracle_slot *dy = slot_of(c, ORACLE_INPUT, "dy");
    int gradients = dy && dy->data;
    for (size_t i = 0; i < c->n_slots; i++) {
        oracle_slot *s = &c->slots[i];
        double **to = &s->data;
        if (s->is->kind == ORACLE_INPUT) {
            if (!gradients || !s->data || s->is->flags & ORACLE_NO_GRADIENT) continue;
            to = &s->grad;
        } else if (resolve(c, s, NULL, 0)) {
            return -1;
        }
        *to = calloc(s->count + 1, sizeof **to);
        if (!*to) return oracle_fail(c, "not enough memory for %s", s->is->name);
    }
    return 0;
}

int oracle_prepare(oracle_case *c) {
    oracle_declared d;
    if (bind_inputs(c)) return -1;
    defaults(c);
    if (c->mechanism->prepare && c->mechanism->prepare(c)) return -1;
    for (const char *at = c->mechanism->params; oracle_next_declared(&at, &d);)
        if (is_size(&d) && !known_size(c, d.name, strlen(d.name)))
            return oracle_fail(c, "the parameter %s is missing", d.name);
    return take_memory(c);
}

void oracle_close(oracle_case *c) {
    for (size_t i = 0; i < c->n_slots; i++) {
        free(c->slots[i].data);
        free(c->slots[i].ints);
        free(c->slots[i].grad);
    }
    c->n_slots = 0;
}

double *oracle_data(const oracle_case *c, const char *name) {
    const oracle_slot *s = slot_of(c, ORACLE_INPUT, name);
    return s ? s->data : NULL;
}

double *oracle_grad(const oracle_case *c, const char *name) {
    const oracle_slot *s = slot_of(c, ORACLE_INPUT, name);
    return s ? s->grad : NULL;
}

double *oracle_out(const oracle_case *c, const char *name) {
    const oracle_slot *s = slot_of(c, ORACLE_OUTPUT, name);
    if (!s) s = slot_of(c, ORACLE_MIDDLE, name);
    return s ? s->data : NULL;
}
