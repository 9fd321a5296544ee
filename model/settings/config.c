// config.c: from a text to settings. See config.h for the order of resolution.
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/error.h"
#include "model/base/number.h"
#include "pairs.h"
#include "stack.h"
#include "value.h"
#include "values.h"

enum { MAX_TEXT = 1 << 16, MAX_RUNS = 64 };

static int out_of_memory(smx_error *e) { return error_say(e, "out of memory"); }

// ---- Keys -----------------------------------------------------------------------------------------------

static void add_keys(config *c, const config_key *keys) {
    for (; keys && keys->name; keys++)
        if (!values_find(c, keys->name)) values_add(c, keys);
}

// Every key there is: common, tasks', mixers'. A key that several files declare is one key.
static void add_all_keys(config *c) {
    const config_language *l = c->language;
    add_keys(c, common_keys);
    for (size_t i = 0; l->task(i).name; i++) add_keys(c, l->task(i).keys);
    for (size_t i = 0; l->mixer(i).name; i++) add_keys(c, l->mixer(i).keys);
}

static int set_fallbacks(config *c, smx_error *e) {
    for (size_t i = 0; i < c->n; i++)
        if (values_set(c, c->values[i].key->name, c->values[i].key->fallback, e)) return -1;
    return 0;
}

// Keys of other mixers and tasks say nothing about this run.
static void mark_said(config *c) {
    for (size_t i = 0; i < c->n; i++) {
        const char *name = c->values[i].key->name;
        c->values[i].said = keys_declare(common_keys, name) || keys_declare(c->of_task.keys, name) ||
                            keys_declare(c->of_mixer.keys, name) ||
                            (c->own && keys_declare(c->own->keys, name));
    }
    config_value *list = values_find(c, "mixers");
    const int listed = *list->text != 0;
    list->said = listed;
    // What `mixers` lists, each block says for itself.
    for (size_t i = 0; i < c->n && listed; i++)
        if (!strcmp(c->values[i].key->group, "mixer") || c->values[i].key == values_find(c, "mixer")->key)
            c->values[i].said = 0;
}

static void keep_all(config *c) {
    if (c->block) {
        values_keep(c, c->mixer, c->of_mixer.keys);
        return;
    }
    values_keep(c, &c->common, common_keys);
    values_keep(c, c->task, c->of_task.keys);
    values_keep(c, c->mixer, c->of_mixer.keys);
    if (c->own) values_keep(c, c->mixer, c->own->keys);
}

// ---- Presets --------------------------------------------------------------------------------------------

typedef struct {
    char name[80];
} preset_name;
static int find_preset_name(void *arg, const char *key, const char *value, smx_error *e) {
    (void)e;
    if (!strcmp(key, "preset")) snprintf(((preset_name *)arg)->name, sizeof(preset_name), "%s", value);
    return 0;
}

static int find_preset(const preset **found, const preset *presets, const char *text, smx_error *e) {
    preset_name asked = {""};
    *found = NULL;
    if (pairs_visit(pairs_run(text, 0), find_preset_name, &asked, e)) return -1;
    if (!asked.name[0]) return 0;
    char allowed[sizeof e->allowed];
    size_t at = 0;
    for (const preset *p = presets; p->name; p++) {
        if (!strcmp(p->name, asked.name)) {
            *found = p;
            return 0;
        }
        if (at < sizeof allowed)
            at += (size_t)snprintf(allowed + at, sizeof allowed - at, "%s%s", at ? ", " : "one of ", p->name);
    }
    return error_about(e, "preset", asked.name, allowed, "there is no preset %.60s; it must be %s",
                       asked.name, allowed);
}

size_t config_read_runs(const config_language *l, const char *text) {
    const preset *p;
    find_preset(&p, l->presets, text, NULL);
    // Runs after the first in the given text come on top of the preset's.
    return p ? pairs_runs(p->config) + pairs_runs(text) - 1 : pairs_runs(text);
}

// ---- Resolution -----------------------------------------------------------------------------------------

static int assign(void *arg, const char *key, const char *value, smx_error *e) {
    return strcmp(key, "preset") ? values_set(arg, key, value, e) : 0;
}

static int assign_given(void *arg, const char *key, const char *value, smx_error *e) {
    if (assign(arg, key, value, e)) return -1;
    config_value *v = values_find(arg, key);
    if (v) v->given = 1;
    return 0;
}

static int assign_text(config *c, const char *text, smx_error *e) {
    return text ? pairs_visit((config_span){text, strlen(text)}, assign, c, e) : 0;
}

// What is given for one run, in order: base run of the preset, its change of that, the text's first run,
// its change of that.
typedef struct {
    config_span part[4];
    size_t n;
} given;

static int assign_all_given(config *c, const given *g, smx_error *e) {
    for (size_t i = 0; i < g->n; i++)
        if (pairs_visit(g->part[i], assign_given, c, e)) return -1;
    return 0;
}

static int collect_given(given *g, const config_language *l, const char *text, size_t which, smx_error *e) {
    if (strlen(text) > MAX_TEXT || pairs_runs(text) > MAX_RUNS)
        return error_say(e, "the config has %zu characters and %zu runs; at most %d and %d are allowed",
                         strlen(text), pairs_runs(text), MAX_TEXT, MAX_RUNS);
    const preset *p;
    if (find_preset(&p, l->presets, text, e)) return -1;
    if (which >= config_read_runs(l, text))
        return error_say(e, "run %zu was asked for, the config has %zu", which + 1,
                         config_read_runs(l, text));
    size_t own = which, of_preset = p ? pairs_runs(p->config) : 0;

    if (p) {
        g->part[g->n++] = pairs_run(p->config, 0);
        if (which > 0 && which < of_preset) g->part[g->n++] = pairs_run(p->config, which);
        own = which < of_preset ? 0 : which - of_preset + 1;
    }
    g->part[g->n++] = pairs_run(text, 0);
    if (!own) return 0;
    g->part[g->n] = pairs_run(text, own);
    preset_name again = {""};
    if (pairs_visit(g->part[g->n++], find_preset_name, &again, e)) return -1;
    return again.name[0] ? error_about(e, "preset", again.name, "in the first run",
                                       "preset=%.60s stands in run %zu; a preset belongs into the first run",
                                       again.name, own + 1)
                         : 0;
}

// ---- Keys that a value brings
typedef struct {
    const config_language *language;
    int is_mixer;
    char *value; // of the key that brings others
} bringing;
static int find_bringing(void *arg, const char *key, const char *value, smx_error *e) {
    bringing *b = arg;
    if (!strcmp(key, "mixer")) b->is_mixer = !strcmp(value, b->language->bringer);
    if (strcmp(key, b->language->bringing)) return 0;
    free(b->value);
    b->value = malloc(strlen(value) + 1);
    if (!b->value) return out_of_memory(e);
    strcpy(b->value, value);
    return 0;
}

// Common and tasks' keys, and those of the mixer itself, keep their names; a key of another mixer gives way.
static int add_own_key(config *c, const config_key *k, smx_error *e) {
    const config_language *l = c->language;
    int taken = keys_declare(common_keys, k->name);
    for (size_t i = 0; l->task(i).name; i++) taken |= keys_declare(l->task(i).keys, k->name);
    for (size_t i = 0; l->mixer(i).name; i++)
        taken |= !strcmp(l->mixer(i).name, l->bringer) && keys_declare(l->mixer(i).keys, k->name);
    if (taken)
        return error_about(e, k->name, k->fallback, "",
                           "%s: %s = %s needs another name: there is a key %s already", l->bringing, k->name,
                           k->fallback, k->name);
    config_value *v = values_find(c, k->name);
    if (v)
        v->key = k;
    else
        values_add(c, k);
    return 0;
}

static int add_own_keys(config *c, const given *g, smx_error *e) {
    bringing b = {.language = c->language};
    int status = 0;
    for (size_t i = 0; i < g->n && !status; i++) status = pairs_visit(g->part[i], find_bringing, &b, e);
    if (!status && b.is_mixer && b.value) {
        c->own = calloc(1, sizeof *c->own);
        if (!c->own) status = out_of_memory(e);
        if (c->own) c->language->brings(b.value, c->own);
    }
    for (const config_key *k = c->own ? c->own->keys : NULL; !status && k && k->name; k++)
        status = add_own_key(c, k, e);
    free(b.value);
    return status;
}

// Two passes: the first finds task and mixer, the second lays their defaults under the given values.
static int resolve(config *c, const given *g, smx_error *e) {
    const config_language *l = c->language;
    for (size_t i = 0; i < g->n; i++)
        if (stack_open_keys(c, g->part[i], e)) return -1;
    if (add_own_keys(c, g, e) || set_fallbacks(c, e) || assign_all_given(c, g, e) || stack_take_first(c, e))
        return -1;
    values_keep(c, &c->common, common_keys);
    c->of_task = l->task(c->common.task);
    c->of_mixer = l->mixer(c->common.mixer);
    c->task = calloc(1, c->of_task.bytes + 1);
    c->mixer = calloc(1, c->of_mixer.bytes + 1);
    if (!c->task || !c->mixer) return out_of_memory(e);
    mark_said(c);
    if (set_fallbacks(c, e) || assign_text(c, c->of_task.defaults, e) ||
        assign_text(c, c->of_mixer.defaults, e))
        return -1;
    for (const recipe *r = l->recipes; r->task; r++)
        if (recipe_fits(r, c->of_task.name, c->of_mixer.name) && assign_text(c, r->config, e)) return -1;
    values_keep(c, &c->common, common_keys);
    const size_t usual = c->common.length;
    if (assign_all_given(c, g, e) || stack_take_first(c, e)) return -1;
    keep_all(c);
    if (stack_open(c, e)) return -1;
    if (c->of_task.follow_length) c->of_task.follow_length(c, usual);
    if (!c->blocks && c->of_mixer.follow_length) c->of_mixer.follow_length(c, usual);
    for (size_t i = 0; i < c->n_blocks; i++) {
        config view;
        config_of_block(c, i, &view);
        if (view.of_mixer.follow_length) view.of_mixer.follow_length(&view, usual);
    }
    return 0;
}

config *config_read(const config_language *language, const char *text, size_t which, smx_error *e) {
    given g = {.n = 0};
    if (collect_given(&g, language, text ? text : "", which, e)) return NULL;
    config *c = calloc(1, sizeof *c);
    config_value *values = calloc(MAX_KEYS, sizeof *values);
    if (!c || !values) {
        free(c);
        free(values);
        out_of_memory(e);
        return NULL;
    }
    c->language = language;
    c->values = values;
    add_all_keys(c);
    if (!resolve(c, &g, e)) return c;
    config_free(c);
    return NULL;
}

config *config_read_changed(const config_language *language, const char *text, const char *changes,
                            smx_error *e) {
    if (!changes || !*changes) return config_read(language, text, 0, e);
    preset_name asked = {""};
    if (pairs_visit(pairs_run(changes, 0), find_preset_name, &asked, e)) return NULL;
    if (asked.name[0]) {
        error_about(
            e, "preset", asked.name, "keys",
            "preset=%s does not fit: a saved run has every key already, and a preset gives way to keys",
            asked.name);
        return NULL;
    }
    const size_t size = strlen(text) + strlen(changes) + 2;
    char *all = malloc(size);
    if (!all) {
        out_of_memory(e);
        return NULL;
    }
    snprintf(all, size, "%s&%s", text, changes);
    config *c = config_read(language, all, 0, e);
    free(all);
    return c;
}

void config_free(config *c) {
    if (!c) return;
    for (size_t i = 0; i < c->n; i++) free(c->values[i].text);
    free(c->values);
    stack_free(c);
    free(c->own);
    free(c->task);
    free(c->mixer);
    free(c);
}

// ---- As text --------------------------------------------------------------------------------------------

char *config_text(const config *c) {
    size_t size = 1;
    for (size_t i = 0; i < c->n; i++)
        size += strlen(c->values[i].key->name) + 3 * strlen(c->values[i].text) + 2;
    char *text = malloc(size), *to = text;
    if (!text) return NULL;
    *to = 0;
    for (size_t i = 0; i < c->n; i++) {
        const config_value *v = &c->values[i];
        if (!v->said) continue;
        to += sprintf(to, "%s%s=", to == text ? "" : "&", v->key->name);
        to = pairs_encode(to, v->text);
    }
    return text;
}

const char *config_get(const config *c, const char *key) {
    const config_value *v = values_find(c, key);
    int read = v && v->said;
    for (size_t i = 0; v && i < c->n_blocks; i++) read |= keys_declare(c->blocks[i].part.keys, key);
    return read ? v->text : NULL;
}

int config_is_fallback(const config_key *key, const char *value) {
    if (!strcmp(value, key->fallback)) return 1;
    if (key->type != KEY_INT && key->type != KEY_REAL) return 0;
    return number_read(value, NULL) == number_read(key->fallback, NULL);
}

int config_same_model(const config *was, const config *is, smx_error *error) {
    for (size_t i = 0; i < was->n; i++) {
        const config_value *v = &was->values[i], *other = values_find(is, v->key->name);
        if (v->said && strcmp(v->key->group, "task") && (!other || strcmp(v->text, other->text)))
            return config_fail(error, is, v->key->name,
                               "%s as in training: an evaluation changes keys of the task only",
                               config_get(was, v->key->name));
    }
    if (was->common.task == is->common.task) return 0;
    return config_fail(error, is, "task", "%s as in training", was->of_task.name);
}

int config_given(const config *c, const char *key) {
    const config_value *v = values_find_here(c, key);
    return v && v->given;
}

int config_put(config *c, const char *key, size_t value) {
    char text[32];
    snprintf(text, sizeof text, "%zu", value);
    const config_value *v = values_find_here(c, key);
    if (!v || values_set(c, v->key->name, text, NULL)) return -1;
    keep_all(c);
    return 0;
}

int config_fail(smx_error *e, const config *c, const char *key, const char *allowed, ...) {
    char text[sizeof e->allowed];
    va_list list;
    va_start(list, allowed);
    vsnprintf(text, sizeof text, allowed, list);
    va_end(list);
    const config_value *v = values_find_here(c, key);
    return error_unfit(e, v ? v->key->name : key, v ? v->text : "", "%s", text);
}
