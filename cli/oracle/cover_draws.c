// cover_draws.c: of a plan's cases (cover.h) the parameters, which draws say something of a mechanism, and
// what they are.
#include "cover.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/core/hash.h"

enum { USUAL, FULL, HUGE_ONES, TINY, SATURATED, ZERO_KEYS, ALL_GATES, OPEN, SHUT, BETA };
const char *const cover_draws[] = {
    "usual",      "full",       "huge",         "tiny", "saturated", "zero keys", "gates of all kinds",
    "gates open", "gates shut", "beta 0, 1, 2", NULL};
enum { TRIAL_ROWS = 8 };

int cover_number(const char *const *names, const char *name) {
    for (int i = 0; names[i]; i++)
        if (!strcmp(names[i], name)) return i;
    return -1;
}

// ---- Parameters

int cover_has(const oracle_mechanism *m, const char *name) {
    oracle_declared d;
    for (const char *at = m->params; oracle_next_declared(&at, &d);)
        if (!strcmp(d.name, name)) return 1;
    return 0;
}

size_t cover_given(const cover *p, int mode, const char *name) {
    size_t n = 0;
    const json *v = json_get(p->what.fixed, name);
    if (!v) v = json_get(p->what.modes[mode], name);
    return v && json_size(v, &n) ? n : 0;
}

int cover_is_fixed(const cover *p, const char *name) { return json_get(p->what.fixed, name) != NULL; }

void cover_append(char *text, size_t size, const char *format, ...) {
    const size_t n = strlen(text);
    va_list rest;
    va_start(rest, format);
    vsnprintf(text + n, size - n, format, rest);
    va_end(rest);
}

static void set_size(char *text, const cover *p, const char *name, size_t value) {
    if (cover_has(p->what.mechanism, name) && !cover_is_fixed(p, name))
        cover_append(text, COVER_PARAMS, "%s\"%s\":%zu", *text ? "," : "", name, value);
}

static size_t common(size_t a, size_t b) { return b ? common(b, a % b) : a; }

// Rows as bins need them: the next whole number of bins.
static size_t fitting_rows(const cover *p, int mode, size_t n) {
    size_t step = 1;
    for (int i = 0; i < 2; i++) {
        const size_t of = cover_given(p, mode, i ? "C" : "n_bins");
        if (of) step = step / common(step, of) * of;
    }
    return (n + step - 1) / step * step;
}

static const char *const apart[] = {"Hq", "Hk", "Hv", "g_columns", "beta_columns", NULL};

const char *cover_heads(const cover *p) {
    const oracle_mechanism *m = p->what.mechanism;
    if (p->what.same_heads) return NULL;
    if (cover_has(m, "H")) return cover_is_fixed(p, "H") ? NULL : "H";
    for (int i = 0; apart[i]; i++)
        if (!cover_has(m, apart[i]) || cover_is_fixed(p, apart[i])) return NULL;
    return "Hv";
}

// Heads of queries and keys apart from the states' (linear_attention_core): as many, more queries than states
// or fewer. g and beta stay what the mode has: a column for each head or channel of one, or one for all.
static void set_apart(char *text, const cover *p, const cover_case *c, int shared) {
    const int mode = c->is[COVER_MODE];
    const size_t given = cover_given(p, mode, "Hv"), g = cover_given(p, mode, "g_columns"),
                 beta = cover_given(p, mode, "beta_columns"),
                 H = cover_heads(p) ? (size_t)c->is[COVER_HEADS] : given,
                 dk = cover_is_fixed(p, "dk") ? cover_given(p, mode, "dk") : (size_t)c->is[COVER_COLUMNS];
    if (cover_heads(p)) {
        set_size(text, p, "Hq", shared == 0 ? H : shared == 1 ? 2 * H : 1);
        set_size(text, p, "Hk", shared == 0 ? H : shared == 1 && H % 2 == 0 ? H / 2 : 1);
        set_size(text, p, "Hv", H);
    }
    if (g) set_size(text, p, "g_columns", g == given ? H : H * dk);
    if (beta) set_size(text, p, "beta_columns", beta == given ? H : 1);
}

static int is_packed(const cover *p, int mode) {
    const json *v = json_get(p->what.fixed, "mode");
    if (!v) v = json_get(p->what.modes[mode], "mode");
    return v && v->type == JSON_STRING && !strcmp(v->string, "packed");
}

// Windows, taps and states, of as many cases as have another number of them as of those that have the mode's.
static void set_reach(char *text, const cover *p, const cover_case *c, int number) {
    enum { MODES = 0, ROWS = -1, TURNS = 11 };
    static const int windows[TURNS] = {MODES, 1, MODES, 16, MODES, ROWS, MODES, 64, 2, MODES, 65},
                     counts[TURNS] = {MODES, 1, MODES, 7, MODES, 16, MODES, 8, 2, MODES, 4};
    static const char *const counted[] = {"past", "S", NULL};
    const int mode = c->is[COVER_MODE], window = windows[number % TURNS], count = counts[number % TURNS];
    const char *named = cover_has(p->what.mechanism, "window") ? "window" : "W";
    const int has_window = *named != 'W' || !strcmp(p->what.mechanism->name, "sliding_core");
    if (window && has_window && cover_given(p, mode, named))
        set_size(text, p, named, (size_t)(window == ROWS ? c->is[COVER_ROWS] : window));
    for (int i = 0; count && counted[i]; i++)
        if (cover_given(p, mode, counted[i])) set_size(text, p, counted[i], (size_t)count);
}

void cover_sizes(char text[COVER_PARAMS], const cover *p, const cover_case *c) {
    static const size_t packed[] = {3, 1, 6, 2, 9}; // sequences in one array
    const int mode = c->is[COVER_MODE], number = (int)(c->seed / 1000);
    const int shared =
        number % 7 % 3; // keys: each head's own, two heads', all heads'; apart from dv's number % 3
    const size_t H = cover_is_fixed(p, "H")              ? cover_given(p, mode, "H")
                     : cover_has(p->what.mechanism, "H") ? (size_t)c->is[COVER_HEADS]
                                                         : 1,
                 d = (size_t)c->is[COVER_COLUMNS], groups = cover_given(p, mode, "groups");
    *text = 0;
    set_size(text, p, "L", fitting_rows(p, mode, (size_t)c->is[COVER_ROWS]));
    if (is_packed(p, mode)) set_size(text, p, "N", packed[number % (int)(sizeof packed / sizeof *packed)]);
    set_reach(text, p, c, number);
    if (c->is[COVER_HEADS] == 0) return;
    if (cover_has(p->what.mechanism, "Hq"))
        set_apart(text, p, c, shared);
    else
        set_size(text, p, "H", H);
    set_size(text, p, "Hkv", shared == 0 ? H : shared == 1 && H % 2 == 0 ? H / 2 : 1);
    if (cover_given(p, mode, "H") && cover_given(p, mode, "HV"))
        set_size(text, p, "HV", H * (cover_given(p, mode, "HV") / cover_given(p, mode, "H")));
    set_size(text, p, "dk", d);
    set_size(text, p, "dv", number % 3 || d < 4 ? d : number % 2 && d <= 64 ? 2 * d : d / 2);
    set_size(text, p, "d", d);
    set_size(text, p, "D", groups ? groups * d : H * d);
}

double cover_work(const cover_case *c) {
    const double n = c->is[COVER_ROWS], d = fmax(1, c->is[COVER_COLUMNS]);
    return n * fmax(1, c->is[COVER_HEADS]) * d * fmax(n, d) * c->is[COVER_BATCH];
}

// ---- What may be drawn

int cover_is_state(const oracle_array *a) {
    return a->kind == ORACLE_INPUT && a->flags & ORACLE_OPTIONAL && a->shape[0] != 'L' &&
           a->name[strlen(a->name) - 1] == '0';
}

static int is_gate(const cover *p, const oracle_array *a) { // a logarithm of a decay: never above 0
    const vectors_range *r = vectors_range_of(p->what.mechanism->name, a->name);
    return r->low < 0 && r->high <= 0;
}

static void draw_trial(oracle_case *c, const oracle_slot *s, npy *to) {
    const vectors_range *r = vectors_range_of(c->mechanism->name, s->is->name);
    smx_rng rng = rng_open(1, 64, hash_bytes(HASH_START, s->is->name, strlen(s->is->name)));
    if (to->dtype == NPY_I4) {
        vectors_integers(to->data, to->count, c, s->is->name, &rng);
        return;
    }
    for (size_t i = 0; i < to->count; i++)
        ((double *)to->data)[i] =
            ldexp(r->low + (int)rng_below(&rng, (uint32_t)(r->high - r->low + 1)), -r->shift);
}

// Runs the mechanism forward on a few rows with those parameters, the input `twice` doubled: 0 where it takes
// them.
static int trial(oracle_case *c, const cover *p, const json *params, const char *twice) {
    int status = oracle_open(c, p->what.mechanism, params, NULL) || oracle_shapes(c);
    for (size_t i = 0; i < c->n_slots && !status; i++) {
        const oracle_slot s = c->slots[i];
        if (s.is->kind != ORACLE_INPUT || s.is->flags & ORACLE_OPTIONAL) continue;
        npy a = {s.is->flags & ORACLE_INTEGER ? NPY_I4 : NPY_F8, s.ndim, {0}, s.count, NULL};
        memcpy(a.shape, s.shape, sizeof a.shape);
        a.data = malloc(a.count * npy_item_size(a.dtype) + 1);
        if (!a.data) return -1;
        draw_trial(c, &s, &a);
        for (size_t k = 0; twice && !strcmp(twice, s.is->name) && a.dtype == NPY_F8 && k < a.count; k++)
            ((double *)a.data)[k] *= 2;
        status = oracle_set(c, s.is->name, &a);
        npy_free(&a);
    }
    return status || oracle_run(c) ? -1 : 0;
}

static void append_value(char *text, size_t size, const json *v) {
    if (v->type == JSON_NUMBER) cover_append(text, size, "%.17g", v->number);
    if (v->type == JSON_STRING) cover_append(text, size, "\"%s\"", v->string);
    if (v->type == JSON_TRUE || v->type == JSON_FALSE)
        cover_append(text, size, v->type == JSON_TRUE ? "true" : "false");
    if (v->type != JSON_ARRAY) return;
    cover_append(text, size, "[");
    for (const json *x = v->child; x; x = x->next) {
        append_value(text, size, x);
        cover_append(text, size, x->next ? "," : "");
    }
    cover_append(text, size, "]");
}

json *cover_params(const cover *p, const cover_case *c, char *text, size_t size) {
    char sizes[COVER_PARAMS];
    cover_sizes(sizes, p, c);
    snprintf(text, size, "{%s}", sizes);
    json *own = json_parse(text, strlen(text), NULL);
    text[strlen(text) - 1] = 0;
    const json *from[] = {p->what.fixed, p->what.modes[c->is[COVER_MODE]]};
    for (int i = 0; i < 2; i++)
        for (const json *v = from[i] ? from[i]->child : NULL; v; v = v->next) {
            if (json_get(own, v->key) || (i && cover_is_fixed(p, v->key))) continue;
            cover_append(text, size, "%s\"%s\":", text[1] ? "," : "", v->key);
            append_value(text, size, v);
        }
    json_free(own);
    cover_append(text, size, "}");
    return json_parse(text, strlen(text), NULL);
}

static json *params_of(const cover *p, const cover_case *c) {
    char text[3 * COVER_PARAMS];
    return cover_params(p, c, text, sizeof text);
}

int cover_takes(const cover *p, int mode, int H, int d) {
    const cover_case c = {
        {[COVER_MODE] = mode, [COVER_ROWS] = TRIAL_ROWS, [COVER_HEADS] = H, [COVER_COLUMNS] = d}, 0};
    json *params = params_of(p, &c);
    oracle_case run;
    const int fits = params && !trial(&run, p, params, NULL);
    if (params) oracle_close(&run);
    json_free(params);
    return fits;
}

// How far second is from 2^power times first, of its largest.
static double off_by(const oracle_slot *first, const oracle_slot *second, int power) {
    double off = 0, most = 0;
    for (size_t i = 0; i < first->count; i++) {
        off = fmax(off, fabs(second->data[i] - ldexp(first->data[i], power)));
        most = fmax(most, fabs(second->data[i]));
    }
    return most > 0 ? off / most : INFINITY;
}

static void find_linear(cover *p, int mode) {
    const cover_case c = {{[COVER_MODE] = mode, [COVER_ROWS] = TRIAL_ROWS}, 0};
    json *params = params_of(p, &c);
    oracle_case once, again;
    size_t found = 0;
    const int status = params ? trial(&once, p, params, NULL) : -1;
    const oracle_slot *y = status ? NULL : oracle_slot_of(&once, ORACLE_OUTPUT, "y"), *z;
    for (size_t i = 0; y && i < once.n_slots && found < COVER_NAMES; i++) {
        const oracle_slot *s = &once.slots[i];
        if (s->is->kind != ORACLE_INPUT || !s->data) continue;
        if (!trial(&again, p, params, s->is->name) && (z = oracle_slot_of(&again, ORACLE_OUTPUT, "y")) &&
            (off_by(y, z, 1) <= 1e-9 || off_by(y, z, 2) <= 1e-9))
            snprintf(p->linear[mode][found++], sizeof **p->linear, "%s", s->is->name);
        oracle_close(&again);
    }
    if (params) oracle_close(&once);
    json_free(params);
}

static int is_linear(const cover *p, int mode, const char *name) {
    for (int i = 0; i < COVER_NAMES && *p->linear[mode][i]; i++)
        if (!strcmp(p->linear[mode][i], name)) return 1;
    return 0;
}

// The arrays of a mode; 0 where its parameters do not fit.
static int arrays_of(oracle_case *c, const cover *p, int mode, json **params) {
    const cover_case at = {{[COVER_MODE] = mode, [COVER_ROWS] = TRIAL_ROWS}, 0};
    *params = params_of(p, &at);
    return *params && !oracle_open(c, p->what.mechanism, *params, NULL) && !oracle_shapes(c);
}

static const char *const loud[] = {"q", "logits"}, *const quiet[] = {"k", "x"};
// What the rules below do not say of a mechanism: gates that are logits, as far as exp reaches and beyond (of
// minLSTM no two sigmoids are both 0; input gates of mLSTM up to 4: above, a row is divided by a sum that can
// be as near to 0 as chance has it, for which no float32 is right); rows whose mean square is near eps, and
// far above.
static const struct {
    const char *mechanism;
    int draw;
    const char *items;
} own_draws[] = {{"mlstm_core", SATURATED, "i:-20,-4,0 f:-100,-20,-4,0,4 "},
                 {"slstm_core", SATURATED, "b:-100,-4,0,4,100 "},
                 {"lstm", SATURATED, "b:-100,-4,0,4,100 "},
                 {"gru", SATURATED, "bx:-100,-4,0,4,100 "},
                 {"mingru_core", SATURATED, "z:-100,-4,0,4,100 "},
                 {"minlstm_core", SATURATED, "f:-20,-4,0,4,20 i:-20,-4,0,4,20 "},
                 {"rglru_core", SATURATED, "ga:-8,-4,0,4,40 gi:-100,-4,0,4,100 "},
                 {"selective_scan", SATURATED, "dt:0.0001220703125,0.5,24 "},
                 {"causal_conv_core", SATURATED, "x*6 "},
                 {"layer_norm", SATURATED, "x*20 "},
                 {"layer_norm", TINY, "x*-9 "},
                 {"rms_norm", SATURATED, "x*20 "},
                 {"rms_norm", TINY, "x*-9 "}};
static const char *own_draw(const cover *p, int draw) {
    for (size_t i = 0; i < sizeof own_draws / sizeof *own_draws; i++)
        if (own_draws[i].draw == draw && !strcmp(own_draws[i].mechanism, p->what.mechanism->name))
            return own_draws[i].items;
    return "";
}
static int is_one_of(const char *name, const char *const two[2]) {
    return !strcmp(name, two[0]) || !strcmp(name, two[1]);
}

static void find_draws(cover *p, int mode) {
    oracle_case c;
    json *params;
    unsigned found = 1 << USUAL | 1 << FULL;
    if (*p->linear[mode][0]) found |= 1 << HUGE_ONES | 1 << TINY;
    const int there = arrays_of(&c, p, mode, &params);
    for (size_t i = 0; there && i < c.n_slots; i++) {
        const oracle_array *a = c.slots[i].is;
        if (a->kind != ORACLE_INPUT) continue;
        if (is_gate(p, a)) found |= 1 << ALL_GATES | 1 << OPEN | 1 << SHUT;
        if (!strcmp(a->name, "beta")) found |= 1 << BETA;
        if (is_one_of(a->name, quiet)) found |= 1 << ZERO_KEYS;
        if (p->what.saturated && is_one_of(a->name, loud) && !is_linear(p, mode, a->name))
            found |= 1 << SATURATED;
    }
    for (int i = 0; cover_draws[i]; i++)
        if (*own_draw(p, i) && (i != SATURATED || p->what.saturated)) found |= 1u << i;
    if (params) oracle_close(&c);
    json_free(params);
    p->draws[mode] = found & (p->what.draws ? p->what.draws : ~0u);
}

// Keys of delta rules are shorter than 1 at any width: what erases with them stays bounded.
static int is_short_key(const cover *p, const oracle_array *a) {
    static const char *const keys[] = {"k", "kk", "a", "b", "p", "w", NULL};
    const vectors_range *r = vectors_range_of(p->what.mechanism->name, a->name);
    return a->shape[0] == 'L' && cover_number(keys, a->name) >= 0 && ldexp(r->high, -r->shift) < 0.5;
}

void cover_drawn(char text[COVER_DRAWN], const cover *p, const cover_case *c) {
    static const char *const erasing[] = {"beta", "kk", "w", "a", NULL};
    const int mode = c->is[COVER_MODE], draw = c->is[COVER_DRAW];
    oracle_case arrays;
    json *params;
    size_t n = 0;
    int erases = 0;
    *text = 0;
    const int there = arrays_of(&arrays, p, mode, &params);
    for (size_t i = 0; there && i < arrays.n_slots; i++) {
        const oracle_array *a = arrays.slots[i].is;
        erases |= a->kind == ORACLE_INPUT && cover_number(erasing, a->name) >= 0;
    }
    for (size_t i = 0; there && i < arrays.n_slots; i++) {
        const oracle_array *a = arrays.slots[i].is;
        if (a->kind != ORACLE_INPUT) continue;
        if (erases && c->is[COVER_COLUMNS] > 8 && is_short_key(p, a))
            cover_append(text, COVER_DRAWN, "%s*-%d ", a->name,
                         (int)ceil(log2(c->is[COVER_COLUMNS] / 8.0) / 2));
        if (draw == SATURATED && is_one_of(a->name, loud) && !is_linear(p, mode, a->name))
            cover_append(text, COVER_DRAWN, "%s^6 ", a->name);
        if (draw == SATURATED && !strcmp(a->name, "sinks")) // of rows that it has no part in, and all of
            cover_append(text, COVER_DRAWN, "sinks:-60,-4,0,4 ");
        if (draw == ZERO_KEYS && is_one_of(a->name, quiet))
            cover_append(text, COVER_DRAWN, "%s%%60 ", a->name);
        if (draw == BETA && !strcmp(a->name, "beta")) cover_append(text, COVER_DRAWN, "beta:0,1,2 ");
        if (draw >= ALL_GATES && draw <= SHUT && is_gate(p, a))
            cover_append(text, COVER_DRAWN, "%s:%s ", a->name,
                         draw == OPEN   ? "0"
                         : draw == SHUT ? "-inf,-0.25,-0.5,-1"
                                        : "0,-0.01,-1,-2.5,-4,-6,-9,-20,-80");
    }
    cover_append(text, COVER_DRAWN, "%s", own_draw(p, draw));
    if (draw == FULL) cover_append(text, COVER_DRAWN, "+ ");
    while (n < COVER_NAMES && *p->linear[mode][n]) n++;
    if (n && (draw == HUGE_ONES || draw == TINY)) { // or dy, by which gradients are linear
        const size_t which = c->seed / 1000 % (n + 1);
        cover_append(text, COVER_DRAWN, "%s*%d ", which == n ? "dy" : p->linear[mode][which],
                     draw == TINY ? -p->what.huge : p->what.huge);
    }
    if (*text) text[strlen(text) - 1] = 0;
    if (params) oracle_close(&arrays);
    json_free(params);
}

void cover_find_draws(cover *p) {
    for (size_t i = 0; i < p->what.n_modes; i++) {
        find_linear(p, (int)i);
        find_draws(p, (int)i);
    }
}
