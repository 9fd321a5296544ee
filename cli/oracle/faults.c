// faults.c: see faults.h. First what the numbers alone say; then near misses that the oracle itself is asked
// for, on inputs that are changed as the fault would change them; then where the wrong rows and columns lie.
// Long: each kind of fault is a few lines.
#include "faults.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"

enum {
    LOOSE = 4,       // times the tolerance: still taken for the same
    SMALL = 100,     // times as large: beside that it is small
    NEARER = 8,      // times as near as the reference: what the reference nearly is too is no diagnosis
    MOST_ROWS = 1100 // of a case that near misses are computed for
};

typedef struct {
    const faults_case *c;
    const faults_array *a;
    char *text;
    size_t length;
} search;

static int say(const search *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int say(const search *s, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(s->text, s->length, format, args);
    va_end(args);
    return 1;
}

static size_t rows_of(const faults_array *a) { return a->ndim >= 2 ? a->shape[0] : 0; }
static size_t row_size(const faults_array *a) { return rows_of(a) ? a->count / rows_of(a) : 0; }

static int same(const search *s, const double *got, const double *other, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!(compare_error(got[i], other[i]) <= LOOSE * s->c->tol * s->a->scale)) return 0;
    return 1;
}

// Whether what was given is that other array, and no more the reference. What is small beside the reference
// is compared by its own size.
static int is(const search *s, const double *got, const double *ref, const double *other, size_t n) {
    double off = 0, rest = 0, most = 0;
    for (size_t i = 0; i < n; i++) {
        off = fmax(off, compare_error(got[i], ref[i]));
        rest = fmax(rest, compare_error(got[i], other[i]));
        most = fmax(most, fabs(other[i]));
    }
    return rest * NEARER < off && rest <= LOOSE * s->c->tol * fmin(s->a->scale, SMALL * most);
}

// ---- The numbers alone

static int not_finite(const search *s) {
    const faults_array *a = s->a;
    size_t bad = 0, first = a->count;
    char place[160];
    for (size_t i = 0; i < a->count; i++)
        if (!isfinite(a->got[i]) && !bad++) first = i;
    if (!bad) return 0;
    npy shape = {NPY_F8, a->ndim, {0}, a->count, NULL};
    memcpy(shape.shape, a->shape, sizeof shape.shape);
    compare_place(place, sizeof place, &shape, first);
    return say(
        s,
        "%zu of %zu numbers are NaN or infinite, the first at %s: an exponential of a large number, or a "
        "row in which everything is masked",
        bad, a->count, place);
}

static int all_zero(const search *s) {
    for (size_t i = 0; i < s->a->count; i++)
        if (s->a->got[i] != 0) return 0;
    return say(s, s->a->gradient ? "all zero: is the graph cut (detach, a backward that returns nothing)?"
                                 : "all zero");
}

// A factor that makes them the same; those that sizes explain are named.
static int factor(const search *s) {
    const faults_array *a = s->a;
    double over = 0, under = 0, worst = 0;
    for (size_t i = 0; i < a->count; i++) {
        over += a->got[i] * a->ref[i];
        under += a->ref[i] * a->ref[i];
    }
    const double c = under > 0 ? over / under : 0;
    if (a->count < 2 || fabs(c - 1) < fmin(3e-3, LOOSE * s->c->tol) || !(fabs(c) > 1e-3 && fabs(c) < 1e3))
        return 0;
    for (size_t i = 0; i < a->count; i++) worst = fmax(worst, fabs(a->got[i] - c * a->ref[i]));
    if (!(worst <= LOOSE * s->c->tol * a->scale * fmax(1, fabs(c)) &&
          worst <= fabs(c - 1) / (fabs(c - 1) < 3e-3 ? NEARER : 4) * a->scale))
        return 0;
    char as[48] = "";
    static const char *const sizes[] = {"dk", "dv", "L"};
    size_t d;
    for (size_t i = 0; i < 4 && !*as; i++) {
        const json *n = json_get(s->c->params, i < 3 ? sizes[i] : "D"), *heads = json_get(s->c->params, "H");
        size_t h = 1;
        if (!n || !json_size(n, &d)) continue;
        if (i == 3 && heads && json_size(heads, &h) && h) d /= h;
        const char *name = i < 3 ? sizes[i] : "d";
        if (d > 1 && fabs(c * sqrt((double)d) - 1) < 1e-3) snprintf(as, sizeof as, " = 1/sqrt(%s)", name);
        if (d > 1 && fabs(c / sqrt((double)d) - 1) < 1e-3) snprintf(as, sizeof as, " = sqrt(%s)", name);
        if (d > 2 && fabs(c * (double)d - 1) < 1e-3) snprintf(as, sizeof as, " = 1/%s", name);
        if (d > 2 && fabs(c / (double)d - 1) < 1e-3) snprintf(as, sizeof as, " = %s", name);
    }
    return say(s, "the reference times %.6g%s: a scale is missing or taken twice", c, as);
}

static int within_half(const search *s) {
    const double half = compare_format_named("f16")->tol;
    if (s->c->tol >= half) return 0;
    for (size_t i = 0; i < s->a->count; i++)
        if (!(compare_error(s->a->got[i], s->a->ref[i]) <= half * s->a->scale)) return 0;
    return 1;
}

// How many heads lie side by side in a row of n numbers; 0: only one, or none.
static size_t heads_in(const faults_case *c, size_t n) {
    const json *heads = json_get(c->params, "H");
    size_t H = 0;
    return heads && json_size(heads, &H) && H > 1 && n && n % H == 0 ? H : 0;
}
// Whether head h of what was given is the reference's head r.
static int same_head(const search *s, size_t H, size_t h, size_t r) {
    const faults_array *a = s->a;
    const size_t n = row_size(a), d = n / H;
    for (size_t t = 0; t < rows_of(a); t++)
        if (!same(s, a->got + t * n + h * d, a->ref + t * n + r * d, d)) return 0;
    return 1;
}
static size_t other_head(const search *s, size_t H, size_t h) {
    size_t r = 0;
    while (r < H && (r == h || !same_head(s, H, h, r))) r++;
    return r;
}

// The right numbers in the wrong places.
static int moved(const search *s) {
    const faults_array *a = s->a;
    const size_t L = rows_of(a), n = row_size(a);
    if (L < 3 || same(s, a->got, a->ref, a->count)) return 0;
    if (is(s, a->got + n, a->ref + n, a->ref, (L - 1) * n))
        return say(s, "every row is the row before it: one row late");
    if (is(s, a->got, a->ref, a->ref + n, (L - 1) * n))
        return say(s, "every row is the row after it: one row early");
    int reversed = 1;
    for (size_t t = 0; t < L && reversed; t++)
        reversed = same(s, a->got + t * n, a->ref + (L - 1 - t) * n, n);
    if (reversed) return say(s, "the rows are in reverse order");
    const size_t H = heads_in(s->c, n);
    if (!H) return 0;
    const size_t d = n / H;
    for (size_t h = 0, from; h < H; h++)
        if (!same_head(s, H, h, h) && (from = other_head(s, H, h)) < H)
            return say(s,
                       "the numbers are right, their places are not: head %zu of %zu has those of head %zu",
                       h, H, from);
    int interleaved = 1, outside = 1;
    for (size_t t = 0; t < L; t++)
        for (size_t i = 0; i < n && (interleaved || outside); i++) { // of head i / d, column i % d
            interleaved = interleaved && same(s, a->got + t * n + i % d * H + i / d, a->ref + t * n + i, 1);
            outside = outside && same(s, a->got + i / d * L * d + t * d + i % d, a->ref + t * n + i, 1);
        }
    if (interleaved || outside)
        return say(s, "the numbers are right, their places are not: heads are laid out %s",
                   interleaved ? "column by column" : "before the rows, [H][L][d]");
    return 0;
}

// Dropout: each number is 0 or as it is where it is kept, and yet it is not the reference.
static int dropped(const search *s) {
    const faults_array *a = s->a;
    const json *p = json_get(s->c->params, "p");
    const npy *in = NULL;
    if (!s->c->mechanism || strcmp(s->c->mechanism->name, "dropout") || !p || p->type != JSON_NUMBER)
        return 0;
    for (size_t i = 0; i < s->c->n_inputs; i++)
        if (!strcmp(s->c->input_name[i], a->gradient ? "dy" : "x")) in = &s->c->input[i];
    if (!in || in->count != a->count) return 0;
    const double share = floor(p->number * 65536 + 0.5) / 65536;
    const size_t n = row_size(a);
    size_t zeros = 0, right = 0;
    int columns = 1, rows = 1;
    for (size_t i = 0; i < a->count; i++) {
        const double kept = npy_value(in, i) / (1 - share);
        const int zero = a->got[i] == 0;
        if (!zero && !same(s, &a->got[i], &kept, 1)) return 0;
        if (kept == 0) continue;
        zeros += (size_t)zero;
        right += zero == (a->ref[i] == 0);
        columns = columns && n && (zero == (a->got[i % n] == 0) || npy_value(in, i % n) == 0);
        rows = rows && n && (zero == (a->got[i / n * n] == 0) || npy_value(in, i / n * n) == 0);
    }
    return say(s, "%s",
               !zeros    ? "nothing is dropped: each number is divided by 1 - p and stays"
               : !right  ? "dropped is what should stay: the draws are compared the other way round"
               : columns ? "the same columns are dropped in each row: drawn once, not for each number"
               : rows    ? "whole rows are dropped: drawn for each row, not for each number"
                         : "other numbers are dropped: other draws, or another seed, step or place");
}

// ---- Near misses: the oracle on inputs that are changed as the fault would change them

typedef struct {
    npy input[ORACLE_MAX_ARRAYS]; // data borrowed from the case, but those that `own` says
    int own[ORACLE_MAX_ARRAYS], left_out[ORACLE_MAX_ARRAYS];
    const char *key; // a parameter that is otherwise
    char value[40];  // as JSON
    size_t from, to; // rows; to 0: all
} variant;

static variant as_it_is(const faults_case *c) {
    variant v = {.key = NULL};
    memcpy(v.input, c->input, sizeof v.input);
    return v;
}
static void forget(variant *v) {
    for (size_t i = 0; i < ORACLE_MAX_ARRAYS; i++)
        if (v->own[i]) npy_free(&v->input[i]);
}
// Numbers of the variant's own, to be changed. NULL: no memory, or whole numbers.
static double *change(variant *v, size_t i) {
    npy *a = &v->input[i];
    if (a->dtype == NPY_I4) return NULL;
    double *copy = malloc(a->count * sizeof *copy + 1);
    if (!copy) return NULL;
    for (size_t k = 0; k < a->count; k++) copy[k] = npy_value(a, k);
    if (v->own[i]) npy_free(a);
    a->data = copy;
    a->dtype = NPY_F8;
    v->own[i] = 1;
    return copy;
}

static size_t case_rows(const faults_case *c) {
    const json *L = json_get(c->params, "L");
    size_t n = 0;
    return L && json_size(L, &n) ? n : 0;
}
static int has_rows(const faults_case *c, size_t i) {
    const size_t L = case_rows(c);
    return L && c->input[i].ndim >= 2 && c->input[i].shape[0] == L;
}

static void write_value(FILE *to, const json *v) {
    if (v->type == JSON_STRING) fprintf(to, "\"%s\"", v->string); // words of the mechanisms' own
    if (v->type == JSON_NUMBER) fprintf(to, "%.17g", v->number);
    if (v->type == JSON_TRUE || v->type == JSON_FALSE) fputs(v->type == JSON_TRUE ? "true" : "false", to);
    if (v->type != JSON_ARRAY) return;
    fputc('[', to);
    for (const json *e = v->child; e; e = e->next) {
        if (e != v->child) fputc(',', to);
        write_value(to, e);
    }
    fputc(']', to);
}

// The parameters as they are but for what the variant changes.
static json *params_of(const faults_case *c, const variant *v) {
    char *text = NULL;
    size_t size = 0;
    smx_error error;
    FILE *to = open_memstream(&text, &size);
    if (!to) return NULL;
    fputc('{', to);
    int n = 0;
    for (const json *p = c->params ? c->params->child : NULL; p; p = p->next) {
        if (v->key && !strcmp(p->key, v->key)) continue;
        fprintf(to, "%s\"%s\":", n++ ? "," : "", p->key);
        if (v->to && !strcmp(p->key, "L"))
            fprintf(to, "%zu", v->to - v->from);
        else
            write_value(to, p);
    }
    if (v->key) fprintf(to, "%s\"%s\":%s", n ? "," : "", v->key, v->value);
    fputc('}', to);
    json *params = fclose(to) ? NULL : json_parse(text, size, &error);
    free(text);
    return params;
}

// What the oracle gives for the array at hand: malloc'ed [*count], NULL where it does not take the variant.
static double *run(const search *s, const variant *v, size_t *count) {
    const faults_case *c = s->c;
    oracle_case o;
    double *found = NULL;
    json *params = params_of(c, v);
    int status = !params || oracle_open(&o, c->mechanism, params, c->mode);
    if (!params) return NULL;
    for (size_t i = 0; i < c->n_inputs && !status; i++) {
        npy a = v->input[i];
        if (v->left_out[i] || (!s->a->gradient && !strcmp(c->input_name[i], "dy"))) continue;
        if (v->to && has_rows(c, i)) {
            const size_t bytes = a.count / a.shape[0] * npy_item_size(a.dtype);
            a.data = (char *)a.data + v->from * bytes;
            a.count = a.count / a.shape[0] * (v->to - v->from);
            a.shape[0] = v->to - v->from;
        }
        status = oracle_set(&o, c->input_name[i], &a);
    }
    if (!status) status = oracle_run(&o);
    const oracle_slot *slot =
        status ? NULL : oracle_slot_of(&o, s->a->gradient ? ORACLE_INPUT : ORACLE_OUTPUT, s->a->name);
    const double *data = !slot ? NULL : s->a->gradient ? slot->grad : slot->data;
    if (data && (found = malloc(slot->count * sizeof *found + 1))) {
        memcpy(found, data, slot->count * sizeof *found);
        *count = slot->count;
    }
    oracle_close(&o);
    json_free(params);
    return found;
}

// Whether the variant gives what was given; forgets it.
static int is_it(const search *s, variant *v) {
    size_t n = 0;
    double *other = run(s, v, &n);
    const int yes = other && n == s->a->count && is(s, s->a->got, s->a->ref, other, n);
    free(other);
    forget(v);
    return yes;
}

static int named(const char *name, const char *names) {
    const size_t n = strlen(name);
    for (const char *at = names; *at; at += strcspn(at, " "), at += *at == ' ')
        if (!strncmp(at, name, n) && (at[n] == ' ' || !at[n])) return 1;
    return 0;
}

static int other_parameters(const search *s) {
    oracle_declared d;
    oracle_case of = {.mechanism = s->c->mechanism, .params = s->c->params, .mode = s->c->mode};
    for (const char *at = s->c->mechanism->params; oracle_next_declared(&at, &d);) {
        if (strcmp(d.type, "flag") == 0) {
            variant v = as_it_is(s->c);
            v.key = d.name;
            const char *now = oracle_flag(&of, d.name) ? "false" : "true";
            snprintf(v.value, sizeof v.value, "%s", now);
            if (is_it(s, &v)) return say(s, "it is what the oracle gives with %s=%s", d.name, now);
        }
        if (strcmp(d.name, "momentum") == 0) {
            variant v = as_it_is(s->c);
            v.key = d.name;
            snprintf(v.value, sizeof v.value, "%.17g", 1 - oracle_real(&of, d.name));
            if (is_it(s, &v))
                return say(s,
                           "it is what the oracle gives with momentum=%.6g: the share of what was, not of "
                           "what is new",
                           1 - oracle_real(&of, d.name));
        }
        for (const char *word = strchr(d.type, '|') ? d.type : ""; *word;) {
            const size_t n = strcspn(word, "|");
            variant v = as_it_is(s->c);
            v.key = d.name;
            snprintf(v.value, sizeof v.value, "\"%.*s\"", (int)n, word);
            if (is_it(s, &v)) return say(s, "it is what the oracle gives with %s=%.*s", d.name, (int)n, word);
            word += n + (word[n] == '|');
        }
    }
    return 0;
}

static int left_out(const search *s) {
    for (size_t i = 0; i < s->c->n_inputs; i++) {
        if (!strcmp(s->c->input_name[i], "dy")) continue;
        variant v = as_it_is(s->c);
        v.left_out[i] = 1;
        if (is_it(s, &v))
            return strcmp(s->c->input_name[i], "s0")
                       ? say(s, "it is what the oracle gives without %s", s->c->input_name[i])
                       : say(s,
                             "it is what the oracle gives without s0: the state that is handed on is not used");
    }
    return 0;
}

static int exchanged(const search *s) {
    const faults_case *c = s->c;
    for (size_t i = 0; i < c->n_inputs; i++)
        for (size_t j = 0; j < i; j++) {
            const npy *a = &c->input[i], *b = &c->input[j];
            if (a->ndim != b->ndim || memcmp(a->shape, b->shape, a->ndim * sizeof *a->shape) ||
                a->dtype == NPY_I4 || named("dy", c->input_name[i]) || named("dy", c->input_name[j]))
                continue;
            variant v = as_it_is(c);
            v.input[i] = *b;
            v.input[j] = *a;
            if (is_it(s, &v))
                return say(s, "it is what the oracle gives with %s and %s exchanged", c->input_name[j],
                           c->input_name[i]);
        }
    return 0;
}

static int weights_turned(const search *s) {
    const faults_case *c = s->c;
    for (size_t i = 0; i < c->n_inputs; i++) {
        const npy *a = &c->input[i];
        const size_t n = a->ndim ? a->shape[a->ndim - 1] : 0;
        if (named(c->input_name[i], "filter_q filter_k filter_v filter conv_k short_3 short_n")) {
            variant v = as_it_is(c);
            double *x = change(&v, i);
            for (size_t k = 0; x && k < a->count; k++) x[k] = npy_value(a, k / n * n + n - 1 - k % n);
            if (is_it(s, &v))
                return say(s, "it is what the oracle gives with the taps of %s in reverse order",
                           c->input_name[i]);
        }
        if (a->ndim == 2 && a->shape[0] == a->shape[1] && !has_rows(c, i) && n > 1) {
            variant v = as_it_is(c);
            double *x = change(&v, i);
            for (size_t k = 0; x && k < a->count; k++) x[k] = npy_value(a, k % n * n + k / n);
            if (is_it(s, &v))
                return say(s,
                           "it is what the oracle gives with %s transposed ([out][in]; every matrix here is "
                           "[in][out])",
                           c->input_name[i]);
        }
    }
    return 0;
}

// The factor 1/sqrt(d) of the logits: left out, twice, or that of other columns: to which these are padded,
// or those of most models.
static int scaled_logits(const search *s) {
    const json *D = json_get(s->c->params, "D"), *H = json_get(s->c->params, "H"),
               *own = json_get(s->c->params, "d");
    size_t d = 0, h = 1, padded = 1;
    if (!D ? !own || !json_size(own, &d) : !json_size(D, &d) || (H && (!json_size(H, &h) || !h))) return 0;
    if ((d /= h) < 2) return 0;
    while (padded < d) padded *= 2;
    const size_t taken[] = {1, d * d, padded, 64, 128};
    for (size_t i = 0; i < s->c->n_inputs; i++) {
        if (!named(s->c->input_name[i], "q wq")) continue;
        for (size_t t = 0; t < sizeof taken / sizeof *taken; t++) {
            if (taken[t] == d) continue;
            variant v = as_it_is(s->c);
            double *x = change(&v, i);
            const double by = sqrt((double)d / (double)taken[t]);
            for (size_t k = 0; x && k < v.input[i].count; k++) x[k] *= by;
            if (!is_it(s, &v)) continue;
            if (t > 1)
                return say(s, "it is what the oracle gives with the logits' factor of %zu columns, not %zu",
                           taken[t], d);
            return say(s, "it is what the oracle gives %s",
                       t ? "with the factor 1/sqrt(d) of the logits twice"
                         : "without the factor 1/sqrt(d) of the logits");
        }
    }
    return 0;
}

// Gates and step sizes: g, beta, dt, alpha.
static int gates(const search *s) {
    const faults_case *c = s->c;
    static const double bounds[] = {-1, -2, -5, -10, -20, -30, -60, -88};
    for (size_t i = 0; i < c->n_inputs; i++) {
        const char *name = c->input_name[i];
        if (!named(name, "g beta dt") || !has_rows(c, i)) continue;
        const size_t L = case_rows(c), n = c->input[i].count / L;
        for (int late = 0; late < 2; late++) {
            variant v = as_it_is(c);
            double *x = change(&v, i);
            for (size_t t = 0; x && t < L; t++)
                for (size_t k = 0; k < n; k++) {
                    const size_t from = late ? t - (t > 0) : t + (t + 1 < L);
                    x[t * n + k] = late && !t ? 0 : npy_value(&c->input[i], from * n + k);
                }
            if (is_it(s, &v))
                return say(s, "it is what the oracle gives with %s of the row %s", name,
                           late ? "before: the gate is one row late" : "after: the gate is one row early");
        }
        for (int one = 0; one < 2; one++) {
            variant v = as_it_is(c);
            double *x = change(&v, i);
            for (size_t k = 0; x && k < v.input[i].count; k++) x[k] = one;
            if (is_it(s, &v)) return say(s, "it is what the oracle gives with %s=%d everywhere", name, one);
        }
        for (size_t b = 0; b < sizeof bounds / sizeof *bounds && !strcmp(name, "g"); b++) {
            variant v = as_it_is(c);
            double *x = change(&v, i);
            for (size_t k = 0; x && k < v.input[i].count; k++) x[k] = fmax(x[k], bounds[b]);
            if (is_it(s, &v)) return say(s, "it is what the oracle gives with g cut off at %g", bounds[b]);
        }
        // Heads' columns the other way round: column j of a row gates what column n - 1 - j should.
        variant v = as_it_is(c);
        double *x = change(&v, i);
        for (size_t k = 0; x && k < v.input[i].count; k++)
            x[k] = npy_value(&c->input[i], k / n * n + n - 1 - k % n);
        if (n > 1 && is_it(s, &v))
            return say(s, "it is what the oracle gives with the columns of %s swapped", name);
        if (n == 1) forget(&v);
    }
    return 0;
}

static long input_named(const faults_case *c, const char *name) {
    for (size_t i = 0; i < c->n_inputs; i++)
        if (!strcmp(c->input_name[i], name)) return (long)i;
    return -1;
}

// A state that is read before it is written, or whose gate meets what is being written.
static int order_of_steps(const search *s) {
    const faults_case *c = s->c;
    const long q = input_named(c, "q"), g = input_named(c, "g");
    const size_t L = case_rows(c), n = row_size(s->a);
    if (q < 0 || !has_rows(c, (size_t)q) || s->a->gradient || L < 2) return 0;
    if (rows_of(s->a) == L) {
        variant v = as_it_is(c);
        const size_t d = v.input[q].count / L;
        double *x = change(&v, (size_t)q);
        if (x) memmove(x, x + d, (L - 1) * d * sizeof *x); // row t + 1 asks the state after row t
        size_t count = 0;
        double *other = run(s, &v, &count);
        const int before =
            other && count == s->a->count && is(s, s->a->got + n, s->a->ref + n, other, (L - 1) * n);
        free(other);
        forget(&v);
        if (before) return say(s, "the row itself is not heard: the state is read before it is written");
    }
    if (g < 0 || !has_rows(c, (size_t)g)) return 0;
    // S_t = e^g_t T_t, where T has the gates one row late: the queries ask e^g_t T_t.
    variant v = as_it_is(c);
    const size_t gates = v.input[g].count / L, columns = v.input[q].count / L;
    double *x = change(&v, (size_t)q), *late = change(&v, (size_t)g);
    for (size_t i = 0; x && i < v.input[q].count; i++)
        x[i] *= exp(npy_value(&c->input[g], i / columns * gates + i % columns * gates / columns));
    for (size_t i = 0; late && i < v.input[g].count; i++)
        late[i] = i < gates ? 0 : npy_value(&c->input[g], i - gates);
    if (is_it(s, &v))
        return say(s, "the gate also meets what the row writes: it acts after the write, not before");
    return 0;
}

// Blocks of columns in the order of another library: of an LSTM (i f g o), a GRU (r z n).
static int gate_blocks(const search *s) {
    const faults_case *c = s->c;
    const size_t blocks = !strcmp(c->mechanism->name, "lstm")  ? 4
                          : !strcmp(c->mechanism->name, "gru") ? 3
                                                               : 0;
    const char *names = blocks == 4 ? "ifgo" : "rzn";
    for (size_t a = 0; a < blocks; a++)
        for (size_t b = 0; b < a; b++) {
            variant v = as_it_is(c);
            for (size_t i = 0; i < c->n_inputs; i++) {
                if (!named(c->input_name[i], "w u b bx bh")) continue;
                const npy *is = &c->input[i];
                const size_t columns = is->shape[is->ndim - 1], E = columns / blocks;
                double *x = change(&v, i);
                for (size_t k = 0; x && E && k < is->count; k++) {
                    const size_t column = k % columns, block = column / E;
                    const size_t from = block == a ? b : block == b ? a : block;
                    x[k] = npy_value(is, k - column + from * E + column % E);
                }
            }
            if (is_it(s, &v))
                return say(s,
                           "it is what the oracle gives with the gates %c and %c swapped (the order is %s)",
                           names[b], names[a], names);
        }
    return 0;
}

// Soft caps and sinks of attention.
static int caps_and_sinks(const search *s) {
    const faults_case *c = s->c;
    const json *cap = json_get(c->params, "softcap"), *own = json_get(c->params, "d");
    size_t d = 1;
    if (cap && cap->type == JSON_NUMBER && cap->number > 0) {
        variant v = as_it_is(c);
        v.key = "softcap";
        snprintf(v.value, sizeof v.value, "0");
        if (is_it(s, &v)) return say(s, "it is what the oracle gives with softcap=0");
    }
    const long sinks = input_named(c, "sinks");
    for (int scaled = 0; scaled < 2 && sinks >= 0 && own && json_size(own, &d); scaled++) {
        variant v = as_it_is(c);
        double *x = change(&v, (size_t)sinks);
        for (size_t k = 0; x && k < v.input[sinks].count; k++)
            x[k] = scaled ? x[k] / sqrt((double)d) : x[k] + log(2);
        if (is_it(s, &v))
            return say(s, "it is what the oracle gives with each sink %s",
                       scaled ? "times 1/sqrt(d), as the logits are" : "counted twice");
    }
    return 0;
}

// The heads of an array's rows, or of what it has no rows of; 0: its shape names none.
static size_t heads_named(const faults_case *c, const char *shape) {
    const char *at = !strncmp(shape, "L ", 2) ? shape + 2 : shape;
    char name[16];
    size_t n = 0;
    const size_t length = strcspn(at, "* ");
    if (*at != 'H' || length >= sizeof name) return 0;
    snprintf(name, sizeof name, "%.*s", (int)length, at);
    const json *value = json_get(c->params, name);
    return value && json_size(value, &n) ? n : 0;
}
// to[head i of each row] = from[the head that takes the keys of i's group by turns], or back.
static void turn_heads(double *to, const double *from, size_t count, size_t rows, size_t heads, size_t keys,
                       int back) {
    const size_t d = count / rows / heads, group = heads / keys;
    for (size_t t = 0; t < rows; t++)
        for (size_t i = 0; i < heads; i++) {
            const size_t h = i % group * keys + i / group, a = (t * heads + i) * d, b = (t * heads + h) * d;
            memcpy(to + (back ? b : a), from + (back ? a : b), d * sizeof *to);
        }
}
// Heads that share keys: head h should take those of h / group, and takes those of h modulo their number.
static int by_turns(const search *s) {
    const faults_case *c = s->c;
    oracle_case o;
    size_t heads = 0, keys = 0, own = 0, n = 0;
    variant v = as_it_is(c);
    int yes = 0;
    if (!oracle_open(&o, c->mechanism, c->params, c->mode)) {
        for (const oracle_slot *k = o.slots; k < o.slots + o.n_slots; k++) {
            const size_t h = heads_named(c, k->is->shape);
            if (k->is->kind == ORACLE_OUTPUT && !strcmp(k->is->name, "y")) heads = h;
            if (k->is->kind == ORACLE_INPUT && !strcmp(k->is->name, "k")) keys = h;
            if (k->is->kind == (s->a->gradient ? ORACLE_INPUT : ORACLE_OUTPUT) &&
                !strcmp(k->is->name, s->a->name))
                own = h;
        }
        const int shared = keys > 1 && heads > keys && heads % keys == 0;
        for (const oracle_slot *k = o.slots; shared && k < o.slots + o.n_slots; k++) {
            const long i = k->is->kind == ORACLE_INPUT ? input_named(c, k->is->name) : -1;
            const size_t rows = i >= 0 && has_rows(c, (size_t)i) ? case_rows(c) : 1;
            if (i < 0 || heads_named(c, k->is->shape) != heads) continue;
            double *x = change(&v, (size_t)i), *from = x ? malloc(v.input[i].count * sizeof *x + 1) : NULL;
            if (from) memcpy(from, x, v.input[i].count * sizeof *x);
            if (from) turn_heads(x, from, v.input[i].count, rows, heads, keys, 0);
            free(from);
        }
        double *found = shared ? run(s, &v, &n) : NULL, *other = found ? malloc(n * sizeof *found + 1) : NULL;
        if (other && n == s->a->count) {
            memcpy(other, found, n * sizeof *other);
            if (own == heads)
                turn_heads(other, found, n, rows_of(s->a) == case_rows(c) ? case_rows(c) : 1, heads, keys, 1);
            yes = is(s, s->a->got, s->a->ref, other, n);
        }
        free(found);
        free(other);
    }
    oracle_close(&o);
    forget(&v);
    return yes && say(s, "head h takes the keys of head h %% %zu: by turns, not in groups of %zu", keys,
                      heads / keys);
}

// A window or kernel of one row more or less, where no array has that size.
static int off_by_one(const search *s) {
    for (const json *p = s->c->params ? s->c->params->child : NULL; p; p = p->next) {
        size_t n;
        if (!named(p->key, "W P chunk B window") || !json_size(p, &n)) continue;
        for (int more = -1; more <= 1; more += 2) {
            variant v = as_it_is(s->c);
            v.key = p->key;
            snprintf(v.value, sizeof v.value, "%zu", n + (size_t)more);
            if (n && n + (size_t)more && is_it(s, &v))
                return say(s, "it is what the oracle gives with %s=%s, not %zu", p->key, v.value, n);
        }
    }
    return 0;
}

static int one_head(const search *s) {
    size_t H = 1;
    const json *heads = json_get(s->c->params, "H");
    if (!heads || !json_size(heads, &H) || H < 2) return 0;
    variant v = as_it_is(s->c);
    v.key = "H";
    snprintf(v.value, sizeof v.value, "1");
    return is_it(s, &v) ? say(s, "it is what the oracle gives with H=1, one head over all columns") : 0;
}

static int other_gradient(const search *s) {
    if (!s->a->gradient) return 0;
    for (size_t i = 0; i < s->c->n_inputs; i++) {
        if (!strcmp(s->c->input_name[i], s->a->name) || !strcmp(s->c->input_name[i], "dy")) continue;
        faults_array other = *s->a;
        other.name = s->c->input_name[i];
        search t = *s;
        t.a = &other;
        variant v = as_it_is(s->c);
        size_t n = 0;
        double *x = run(&t, &v, &n);
        const int yes = x && n == s->a->count && is(s, s->a->got, s->a->ref, x, n);
        free(x);
        if (yes) return say(s, "it is the gradient by %s", other.name);
    }
    return 0;
}

// ---- Where the wrong rows lie

typedef struct {
    size_t L, wrong, first, last;
    unsigned char *bad; // [L]
} wrong_rows;

// Of `count` parts of an array, the wrong ones: rows; heads, columns (number i: part i % period / size).
typedef struct {
    size_t wrong, first, last;
    int apart; // some are right, and those that are wrong are so by much more
} parts;
static parts find_parts(const search *s, size_t count, size_t size, size_t period) {
    const faults_array *a = s->a;
    parts w = {0};
    double right = 0, wrong = INFINITY, *most = calloc(count + 1, sizeof *most);
    for (size_t i = 0; most && i < a->count; i++) {
        double *const part = &most[i % period / size];
        const double error = compare_error(a->got[i], a->ref[i]) / a->scale;
        *part = fmax(*part, isnan(error) ? INFINITY : error);
    }
    for (size_t p = 0; most && p < count; p++) {
        if (most[p] <= s->c->tol) {
            right = fmax(right, most[p]);
            continue;
        }
        wrong = fmin(wrong, most[p]);
        if (!w.wrong++) w.first = p;
        w.last = p;
    }
    w.apart = w.wrong && w.wrong < count && wrong > NEARER * right;
    free(most);
    return w;
}

static wrong_rows find_rows(const faults_array *a, double tol) {
    wrong_rows w = {.L = rows_of(a)};
    w.bad = calloc(w.L + 1, 1);
    const size_t n = row_size(a);
    for (size_t i = 0; w.bad && n && i < a->count; i++)
        if (!(compare_error(a->got[i], a->ref[i]) <= tol * a->scale)) w.bad[i / n] = 1;
    for (size_t t = 0; w.bad && t < w.L; t++) {
        if (!w.bad[t]) continue;
        if (!w.wrong++) w.first = t;
        w.last = t;
    }
    return w;
}

// The rows from `from` to `to` alone, as a sequence of its own: is its row `at` the array's row `row`?
static int sees_only(const search *s, size_t from, size_t to, size_t at, size_t row) {
    variant v = as_it_is(s->c);
    const long s0 = input_named(s->c, "s0");
    if (s0 >= 0) v.left_out[s0] = 1;
    v.from = from;
    v.to = to;
    size_t count = 0;
    double *other = run(s, &v, &count);
    const size_t n = row_size(s->a);
    const int yes =
        other && count >= (at + 1) * n && is(s, s->a->got + row * n, s->a->ref + row * n, other + at * n, n);
    free(other);
    return yes;
}

static int truncated(const search *s, const wrong_rows *w) {
    const size_t r = w->first;
    if (!s->c->mechanism || s->a->gradient || r < 1 || rows_of(s->a) != case_rows(s->c)) return 0;
    if (r > 1 && sees_only(s, 1, r + 1, r - 1, r))
        return say(s,
                   "a truncated history: row %zu, the first that is wrong, depends only on the last %zu rows",
                   r, r);
    const size_t more = r + 1 < w->L ? r + 1 : r;
    if (sees_only(s, r, more + 1, more - r, more) && sees_only(s, r, r + 1, 0, r))
        return say(s, "the history begins anew at row %zu: the state is not handed on to the next block", r);
    return 0;
}

// A gradient that is right within the first block and takes nothing from what comes after it.
static int stops(const search *s) {
    if (!s->c->mechanism || !s->a->gradient || rows_of(s->a) != case_rows(s->c)) return 0;
    for (size_t block = 256; block >= 8; block /= 2) {
        variant v = as_it_is(s->c);
        v.to = block;
        size_t count = 0;
        double *other = block < rows_of(s->a) ? run(s, &v, &count) : NULL;
        const int yes = other && count == block * row_size(s->a) && is(s, s->a->got, s->a->ref, other, count);
        free(other);
        if (yes)
            return say(
                s,
                "what rows from %zu on send back does not reach the rows before: the gradient stops at a "
                "block's edge",
                block);
    }
    return 0;
}

static int pattern(const search *s, const wrong_rows *w) {
    if (!w->wrong || w->wrong == w->L) return 0;
    const size_t rows = s->c->mechanism ? case_rows(s->c) : 0;
    if (rows && w->L != rows) // a state's heads, a weight's inputs
        return say(s, "wrong in %zu of %zu places of its first dimension, from %zu to %zu", w->wrong, w->L,
                   w->first, w->last);
    const size_t run = w->last - w->first + 1;
    if (w->wrong == 1 && w->last + 1 == w->L)
        return say(s, "only row %zu of %zu is wrong: the last row, or a last block that is not full", w->last,
                   w->L);
    for (size_t block = 256; block >= 8; block /= 2) // the last block, not full
        if (w->L % block && w->first == w->L / block * block && w->wrong > 0 && w->last + 1 == w->L &&
            w->first)
            return say(s, "only rows %zu to %zu are wrong: the last block of %zu, which is not full",
                       w->first, w->last, block);
    // The smallest block of which few places are ever wrong, and those in most blocks.
    for (size_t block = 8; block <= 256; block *= 2) {
        size_t places = 0, low = block, high = 0;
        for (size_t p = 0; p < block; p++) {
            size_t bad = 0;
            for (size_t t = p; t < w->L; t += block) bad += w->bad[t];
            if (!bad) continue;
            places++;
            if (p < low) low = p;
            high = p;
        }
        if (places && high - low < block / 4 && 2 * w->wrong >= places * (w->L / block) &&
            w->L / block >= 2 && run > block)
            return places == 1
                       ? say(s,
                             "only row %zu of every %zu is wrong: the mask, or what is handed on, at a "
                             "block's edge",
                             low, block)
                       : say(s,
                             "only rows %zu to %zu of every %zu are wrong: the mask, or what is handed "
                             "on, at a block's edge",
                             low, high, block);
    }
    for (size_t block = 8; block <= 256; block *= 2) { // and of which few are ever right, in most blocks
        size_t right = 0, wrong = 0;
        for (size_t t = 0; t < w->L / block * block; t++) {
            right += !w->bad[t] && t % block == block - 1;
            wrong += w->bad[t];
        }
        if (right == w->L / block && right >= 2 && 10 * wrong >= 9 * right * (block - 1))
            return say(s, "right only in the last row of every %zu: rows see to the end of their block",
                       block);
    }
    if (w->first == 1 && w->wrong + 1 == w->L)
        return say(s, "right in row 0 alone%s",
                   s->a->gradient ? "" : ": what is handed on from row to row is wrong");
    if (w->last + 2 == w->L && w->wrong + 1 == w->L)
        return say(s, "right in the last row alone: %s",
                   s->a->gradient ? "what later rows send back, through a state or the mask, is wrong"
                                  : "rows depend on later ones (the mask)");
    if (w->last + 1 == w->L && w->wrong == run)
        return say(
            s,
            "right up to row %zu, wrong from row %zu on: a history, table or buffer that ends there, or a "
            "mistake that is carried on",
            w->first - 1, w->first);
    if (!w->first && w->wrong == run)
        return say(
            s, "only the first %zu rows are wrong: what stands before row 0 (padding, the first state)", run);
    return say(s, "%zu of %zu rows are wrong, from row %zu to %zu", w->wrong, w->L, w->first, w->last);
}

// A gradient by what the input is made of, or makes: a factor of the chain rule too many or too few.
static int chain_rule(const search *s) {
    static const char *const by[] = {"times %s", "over %s", "times e^%s",
                                     "over e^%s: by the decay, not its logarithm",
                                     "times %s (1 - %s): by what a sigmoid makes it of"};
    const long i = s->a->gradient ? input_named(s->c, s->a->name) : -1;
    const npy *const x = i < 0 ? NULL : &s->c->input[i];
    if (!x || x->dtype == NPY_I4 || x->count != s->a->count) return 0;
    double *other = malloc(x->count * sizeof *other + 1);
    for (size_t f = 0; other && f < sizeof by / sizeof *by; f++) {
        for (size_t k = 0; k < x->count; k++) {
            const double at = npy_value(x, k), ref = s->a->ref[k];
            other[k] = f == 0   ? ref * at
                       : f == 1 ? ref / at
                       : f == 2 ? ref * exp(at)
                       : f == 3 ? ref / exp(at)
                                : ref * at * (1 - at);
        }
        if (!is(s, s->a->got, s->a->ref, other, x->count)) continue;
        free(other);
        const int n = snprintf(s->text, s->length, "the reference ");
        snprintf(s->text + n, s->length - (size_t)n, by[f], s->a->name, s->a->name);
        return 1;
    }
    free(other);
    return 0;
}

// Some heads, or some columns of all of them, and from which row on.
static int columns(const search *s, const wrong_rows *rows) {
    char from[40] = "";
    if (rows->wrong && rows->first) snprintf(from, sizeof from, ", from row %zu on", rows->first);
    const size_t n = row_size(s->a), H = heads_in(s->c, n), d = n / (H ? H : 1);
    parts w = H ? find_parts(s, H, d, n) : (parts){0};
    if (w.wrong && w.wrong < H)
        return w.wrong == 1 ? say(s, "only head %zu of %zu is wrong%s", w.first, H, from)
                            : say(s, "only %zu of %zu heads are wrong, from %zu to %zu%s", w.wrong, H,
                                  w.first, w.last, from);
    w = d > 1 && rows_of(s->a) == case_rows(s->c) ? find_parts(s, d, 1, d) : (parts){0};
    if (!w.wrong || w.wrong == d || w.wrong != w.last - w.first + 1) return 0;
    return say(s, "only columns %zu to %zu of %zu are wrong%s%s", w.first, w.last, d,
               H ? ", in each head" : "", from);
}

// Of formats that only store results: a state or sum that is rounded from row to row is off by more and more.
static int grows(const search *s) {
    const faults_array *a = s->a;
    const size_t quarter = rows_of(a) / 4 * row_size(a);
    double square[2] = {0, 0};
    if (rows_of(a) < 64 || s->c->tol < compare_format_named("f16")->tol) return 0;
    for (size_t end = 0; end < 2; end++)
        for (size_t i = end * (a->count - quarter), n = 0; n < quarter; i++, n++) {
            const double error = compare_error(a->got[i], a->ref[i]) / a->scale;
            square[end] += error * error;
        }
    const double most = sqrt(fmax(square[0], square[1])), least = sqrt(fmin(square[0], square[1]));
    return most >= 2 * least &&
           say(s,
               "the error grows along the rows, %.2g times from one end to the other: is a state or a sum "
               "kept in that format from row to row, not in float32?",
               most / least);
}

static int near_miss(const search *s) {
    if (!s->c->mechanism || case_rows(s->c) > MOST_ROWS) return 0;
    return other_parameters(s) || left_out(s) || exchanged(s) || weights_turned(s) || scaled_logits(s) ||
           caps_and_sinks(s) || gates(s) || gate_blocks(s) || off_by_one(s) || by_turns(s) ||
           order_of_steps(s) || one_head(s) || other_gradient(s);
}

faults_worth faults_explain(char *text, size_t length, const faults_case *c, const faults_array *a) {
    search s = {c, a, text, length};
    *text = 0;
    if (a->gradient) {
        const int n = snprintf(text, length, "gradient only, the forward pass is right: ");
        if ((size_t)n >= length) return FAULTS_VAGUE;
        s.text += n;
        s.length -= (size_t)n;
    }
    if (not_finite(&s) || all_zero(&s) || dropped(&s) || factor(&s) || moved(&s) || chain_rule(&s) ||
        near_miss(&s) || stops(&s))
        return FAULTS_NAMED;
    // By little: in certain places, or everywhere, as rounding is?
    const size_t n = row_size(a), heads = heads_in(c, n), d = heads ? n / heads : n;
    const parts of_rows = n ? find_parts(&s, rows_of(a), n, a->count) : (parts){0};
    const size_t right =
        rows_of(a) - of_rows.wrong; // more of them than the first row, of which little is summed
    const int little = within_half(&s), rows_apart = of_rows.apart && right > 1 && 8 * right >= rows_of(a),
              heads_apart =
                  n && ((heads && find_parts(&s, heads, d, n).apart) || find_parts(&s, d, 1, d).apart);
    if (little && !rows_apart && !heads_apart) {
        say(&s,
            "within float16's tolerance: something is computed or stored in lower precision, or approximated");
        return FAULTS_PLACE;
    }
    if (grows(&s)) return FAULTS_NAMED;
    wrong_rows w = find_rows(a, c->tol);
    const int rows = w.bad && (!little || rows_apart), most = heads_apart && 2 * w.wrong > w.L;
    const int place = (most && columns(&s, &w)) || (rows && pattern(&s, &w)) || columns(&s, &w);
    const faults_worth worth = w.bad && truncated(&s, &w) ? FAULTS_NAMED
                               : place                    ? FAULTS_PLACE
                                                          : FAULTS_VAGUE;
    free(w.bad);
    const size_t said = strlen(s.text);
    if (little && worth == FAULTS_PLACE)
        snprintf(s.text + said, s.length - said, "; off by less than float16's tolerance");
    if (worth == FAULTS_VAGUE) say(&s, "no near miss that is known: the numbers are wrong everywhere");
    return worth;
}
