// config.c: the one parser of the config language. See config.h for the order of resolution.
#include "config.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keys.h"
#include "model/mixers/mixer.h"
#include "model/base/error.h"
#include "model/base/number.h"
#include "tasks/task.h"

enum { MAX_KEYS = 256, MAX_VALUE = 1024, MAX_TEXT = 1 << 16, MAX_RUNS = 64 };

struct smx_config {
    size_t n;
    const config_key *key[MAX_KEYS];
    char *value[MAX_KEYS];
    uint8_t given[MAX_KEYS]; // 1: the value stands in the text or its preset
};

// ---- Tables ---------------------------------------------------------------------------------------------

static size_t add_keys(const config_key **to, size_t n, const config_key *keys) {
    for (; keys && keys->name; keys++) {
        size_t i = 0;
        while (i < n && strcmp(to[i]->name, keys->name)) i++;
        if (i == n && n < MAX_KEYS) to[n++] = keys;
    }
    return n;
}

// Every key there is: common, tasks', mixers'. A key that several files declare is one key.
static size_t all_keys(const config_key **to) {
    size_t n = add_keys(to, 0, common_keys);
    for (size_t i = 0; smx_tasks[i]; i++) n = add_keys(to, n, smx_tasks[i]->keys);
    for (size_t i = 0; mixers[i]; i++) n = add_keys(to, n, mixers[i]->keys);
    return n;
}

static int key_index(const config *c, const char *name) {
    for (size_t i = 0; i < c->n; i++)
        if (!strcmp(c->key[i]->name, name)) return (int)i;
    return -1;
}

// The i-th word a KEY_WORD may have, or NULL.
static const char *choice(const config_key *key, size_t i, char *buffer, size_t size) {
    if (!strcmp(key->choices, "@tasks")) return smx_tasks[i] ? smx_tasks[i]->name : NULL;
    if (!strcmp(key->choices, "@mixers")) return mixers[i] ? mixers[i]->name : NULL;
    const char *p = key->choices;
    while (i-- > 0) {
        p = strchr(p, '|');
        if (!p) return NULL;
        p++;
    }
    size_t n = strcspn(p, "|");
    if (n >= size) n = size - 1;
    memcpy(buffer, p, n);
    buffer[n] = 0;
    return buffer;
}

// What a key allows, in words.
static void allowed_text(const config_key *key, char *to, size_t size) {
    if (key->type == KEY_WORD) {
        char word[64];
        const char *w;
        size_t at = (size_t)snprintf(to, size, "one of");
        for (size_t i = 0; (w = choice(key, i, word, sizeof word)) && at < size; i++)
            at += (size_t)snprintf(to + at, size - at, "%s %s", i ? "," : "", w);
    } else if (key->type == KEY_TEXT) {
        snprintf(to, size, "text without &, ~ and #");
    } else {
        char min[NUMBER_TEXT], max[NUMBER_TEXT];
        snprintf(to, size, "%s from %s to %s", key->type == KEY_INT ? "a whole number" : "a number",
                 number_write(min, key->min), number_write(max, key->max));
    }
}

// ---- Errors ---------------------------------------------------------------------------------------------

int config_fail(smx_error *e, const config *c, const char *key, const char *allowed, ...) {
    char text[256];
    va_list list;
    va_start(list, allowed);
    vsnprintf(text, sizeof text, allowed, list);
    va_end(list);
    int i = c ? key_index(c, key) : -1;
    return error_unfit(e, key, i < 0 ? "" : c->value[i], "%s", text);
}

static int fail_value(smx_error *e, const config_key *key, const char *value) {
    char allowed[256];
    allowed_text(key, allowed, sizeof allowed);
    return error_about(e, key->name, value, allowed, "%s=%.80s is not allowed: %s must be %s", key->name,
                       value, key->name, allowed);
}

static size_t distance(const char *a, const char *b) { // Levenshtein
    size_t row[66], n = strlen(b);
    if (n > 64 || strlen(a) > 64) return 99;
    for (size_t j = 0; j <= n; j++) row[j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t best = diagonal + (a[i - 1] != b[j - 1]);
            if (row[j] + 1 < best) best = row[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            diagonal = row[j];
            row[j] = best;
        }
    }
    return row[n];
}

static int fail_key(smx_error *e, const config *c, const char *name, const char *value) {
    const char *nearest = c->key[0]->name;
    for (size_t i = 1; i < c->n; i++)
        if (distance(name, c->key[i]->name) < distance(name, nearest)) nearest = c->key[i]->name;
    return error_about(e, name, value, nearest, "there is no key %.60s (value %.60s); the nearest is %s",
                       name, value, nearest);
}

// ---- Values ---------------------------------------------------------------------------------------------

// A finite decimal number and nothing else.
static int read_number(const char *text, double *x) {
    if (!isdigit((unsigned char)*text) && *text != '-' && *text != '.') return -1;
    for (const char *p = text; *p; p++)
        if (!isdigit((unsigned char)*p) && !strchr("+-.eE", *p)) return -1; // no hex, no inf
    char *end;
    *x = number_read(text, &end);
    return *end || !isfinite(*x) ? -1 : 0;
}

static int check_value(const config_key *key, const char *value, smx_error *e) {
    double x = 0.0;
    char word[64];
    const char *w;
    switch (key->type) {
    case KEY_WORD:
        for (size_t i = 0; (w = choice(key, i, word, sizeof word)); i++)
            if (!strcmp(w, value)) return 0;
        return fail_value(e, key, value);
    case KEY_TEXT:
        return 0;
    case KEY_INT:
        if (read_number(value, &x) || x != floor(x)) return fail_value(e, key, value);
        break;
    case KEY_REAL:
        if (read_number(value, &x)) return fail_value(e, key, value);
        break;
    }
    return x < key->min || x > key->max ? fail_value(e, key, value) : 0;
}

static char *copy_text(const char *s, size_t n) {
    char *t = malloc(n + 1);
    if (t) {
        memcpy(t, s, n);
        t[n] = 0;
    }
    return t;
}

static int out_of_memory(smx_error *e) { return error_say(e, "out of memory"); }

static int set_value(config *c, const char *name, const char *value, smx_error *e) {
    int i = key_index(c, name);
    if (i < 0) return fail_key(e, c, name, value);
    if (check_value(c->key[i], value, e)) return -1;
    char *copy = copy_text(value, strlen(value));
    if (!copy) return out_of_memory(e);
    free(c->value[i]);
    c->value[i] = copy;
    return 0;
}

// ---- Text -----------------------------------------------------------------------------------------------

// Decode %XX in place; -1 when broken or a control character.
static int decode(char *s) {
    char *to = s;
    for (; *s; s++) {
        int ch = (unsigned char)*s;
        if (ch == '%') {
            if (!isxdigit((unsigned char)s[1]) || !isxdigit((unsigned char)s[2])) return -1;
            char hex[3] = {s[1], s[2], 0};
            ch = (int)strtol(hex, NULL, 16);
            s += 2;
        }
        if (ch < 32 || ch == 127) return -1;
        *to++ = (char)ch;
    }
    *to = 0;
    return 0;
}

// Call `each` for every key=value of text[0..n); stops at the first that returns non-zero.
static int each_pair(const char *text, size_t n, int (*each)(void *, const char *, const char *, smx_error *),
                     void *arg, smx_error *e) {
    for (size_t at = 0; at < n;) {
        size_t len = 0;
        while (at + len < n && text[at + len] != '&') len++;
        if (len) {
            char pair[MAX_VALUE];
            if (len >= sizeof pair)
                return error_say(e, "'%.40s...' is %zu characters long; at most %d are allowed", text + at,
                                 len, MAX_VALUE - 1);
            memcpy(pair, text + at, len);
            pair[len] = 0;
            char *value = strchr(pair, '=');
            if (!value || value == pair)
                return error_about(e, "", pair, "key=value", "'%.100s' is not of the form key=value", pair);
            *value++ = 0;
            if (decode(pair) || decode(value))
                return error_about(e, pair, value, "printable text, with %XX for other characters",
                                   "'%.100s' has a broken %%XX or a control character", pair);
            int stop = each(arg, pair, value, e);
            if (stop) return stop;
        }
        at += len + 1;
    }
    return 0;
}

static int each_text(const char *text, int (*each)(void *, const char *, const char *, smx_error *),
                     void *arg, smx_error *e) {
    return text ? each_pair(text, strlen(text), each, arg, e) : 0;
}

static size_t count_runs(const char *text) {
    size_t n = 1;
    for (; *text; text++) n += *text == '~';
    return n;
}

// Start of the i-th run in text, its length in *n.
static const char *run_text(const char *text, size_t i, size_t *n) {
    while (i-- > 0) text = strchr(text, '~') + 1;
    *n = strcspn(text, "~");
    return text;
}

// ---- Presets --------------------------------------------------------------------------------------------

typedef struct {
    char value[MAX_VALUE];
    const char *key;
} find_arg;
static int find_pair(void *arg, const char *key, const char *value, smx_error *e) {
    (void)e;
    find_arg *f = arg;
    if (!strcmp(key, f->key)) snprintf(f->value, sizeof f->value, "%s", value);
    return 0;
}

static const preset *find_preset(const char *text, int *failed, smx_error *e) {
    find_arg f = {.key = "preset"};
    size_t n;
    const char *first = run_text(text, 0, &n);
    *failed = each_pair(first, n, find_pair, &f, e);
    if (*failed || !f.value[0]) return NULL;
    for (const preset *p = presets; p->name; p++)
        if (!strcmp(p->name, f.value)) return p;
    char allowed[sizeof e->allowed];
    size_t at = 0;
    for (const preset *p = presets; p->name && at < sizeof allowed; p++)
        at += (size_t)snprintf(allowed + at, sizeof allowed - at, "%s%s", at ? ", " : "one of ", p->name);
    *failed = error_about(e, "preset", f.value, allowed, "there is no preset %.60s; it must be %s", f.value,
                          allowed);
    return NULL;
}

size_t config_runs(const char *text) {
    int failed;
    const preset *p = find_preset(text, &failed, NULL);
    size_t own = count_runs(text);
    // Runs after the first in the given text come on top of the preset's.
    return p ? count_runs(p->config) + own - 1 : own;
}

// ---- Resolution -----------------------------------------------------------------------------------------

static int assign(void *arg, const char *key, const char *value, smx_error *e) {
    return strcmp(key, "preset") ? set_value(arg, key, value, e) : 0;
}

static int assign_mark(void *arg, const char *key, const char *value, smx_error *e) {
    config *c = arg;
    if (assign(c, key, value, e)) return -1;
    int i = key_index(c, key);
    if (i >= 0) c->given[i] = 1;
    return 0;
}

typedef struct {
    const char *part[4]; // given texts in order
    size_t length[4];
    size_t n;
} given;

static int assign_given(config *c, const given *g, smx_error *e) {
    for (size_t i = 0; i < g->n; i++)
        if (each_pair(g->part[i], g->length[i], assign_mark, c, e)) return -1;
    return 0;
}

static void add_given(given *g, const char *text, size_t run) {
    g->part[g->n] = run_text(text, run, &g->length[g->n]);
    g->n++;
}

config *config_parse(const char *text, size_t which, smx_error *e) {
    if (!text) text = "";
    if (strlen(text) > MAX_TEXT || count_runs(text) > MAX_RUNS) {
        error_say(e, "the config has %zu characters and %zu runs; at most %d and %d are allowed",
                  strlen(text), count_runs(text), MAX_TEXT, MAX_RUNS);
        return NULL;
    }
    int failed;
    const preset *p = find_preset(text, &failed, e);
    if (failed) return NULL;
    if (which >= config_runs(text)) {
        error_say(e, "run %zu was asked for, the config has %zu", which + 1, config_runs(text));
        return NULL;
    }
    // Base run of the preset, the given first run, then the delta of run `which`.
    given g = {.n = 0};
    size_t own = which, of_preset = p ? count_runs(p->config) : 0;
    if (p) {
        add_given(&g, p->config, 0);
        if (which > 0 && which < of_preset) add_given(&g, p->config, which);
        own = which < of_preset ? 0 : which - of_preset + 1;
    }
    add_given(&g, text, 0);
    if (own) add_given(&g, text, own);
    find_arg again = {.key = "preset"};
    if (own && each_pair(g.part[g.n - 1], g.length[g.n - 1], find_pair, &again, e)) return NULL;
    if (again.value[0]) {
        error_about(e, "preset", again.value, "in the first run",
                    "preset=%.60s stands in run %zu; a preset belongs into the first run", again.value,
                    own + 1);
        return NULL;
    }

    config *c = calloc(1, sizeof *c);
    if (!c) {
        out_of_memory(e);
        return NULL;
    }
    c->n = all_keys(c->key);
    // Two passes: the first finds task and mixer, the second lays their defaults under the given values.
    for (size_t i = 0; i < c->n; i++)
        if (set_value(c, c->key[i]->name, c->key[i]->fallback, e)) goto fail;
    if (assign_given(c, &g, e)) goto fail;
    const smx_task *task = smx_task_find(config_word(c, "task"));
    const mixer *m = mixer_find(config_word(c, "mixer"));
    for (size_t i = 0; i < c->n; i++)
        if (set_value(c, c->key[i]->name, c->key[i]->fallback, e)) goto fail;
    if (each_text(task->defaults, assign, c, e) || each_text(m->defaults, assign, c, e)) goto fail;
    for (const recipe *r = recipes; r->task; r++)
        if ((!strcmp(r->task, "*") || !strcmp(r->task, task->name)) &&
            (!strcmp(r->mixer, "*") || !strcmp(r->mixer, m->name)) && each_text(r->config, assign, c, e))
            goto fail;
    size_t usual = (size_t)config_int(c, "length");
    if (assign_given(c, &g, e)) goto fail;
    if (m->settle) m->settle(c, usual);
    return c;
fail:
    config_free(c);
    return NULL;
}

void config_free(config *c) {
    for (size_t i = 0; c && i < c->n; i++) free(c->value[i]);
    free(c);
}

static int declares(const config_key *keys, const char *name) {
    for (; keys && keys->name; keys++)
        if (!strcmp(keys->name, name)) return 1;
    return 0;
}

// Keys of other mixers and tasks say nothing about this run.
static int relevant(const config *c, size_t i) {
    const char *name = c->key[i]->name;
    return declares(common_keys, name) || declares(smx_task_find(config_word(c, "task"))->keys, name) ||
           declares(mixer_find(config_word(c, "mixer"))->keys, name);
}

char *config_text(const config *c) {
    size_t size = 1;
    for (size_t i = 0; i < c->n; i++) size += strlen(c->key[i]->name) + 3 * strlen(c->value[i]) + 2;
    char *text = malloc(size), *to = text;
    if (!text) return NULL;
    *to = 0;
    for (size_t i = 0; i < c->n; i++) {
        if (!relevant(c, i)) continue;
        to += sprintf(to, "%s%s=", to == text ? "" : "&", c->key[i]->name);
        for (const char *v = c->value[i]; *v; v++)
            to += strchr("&~#%= \"\\", *v) || (unsigned char)*v > 126
                      ? sprintf(to, "%%%02X", (unsigned char)*v)
                      : sprintf(to, "%c", *v);
    }
    return text;
}

char *smx_config_complete(const char *text, smx_error *e) {
    if (!text) text = "";
    char *all = calloc(1, 1);
    if (!all) out_of_memory(e);
    for (size_t i = 0; all && i < config_runs(text); i++) {
        config *c = config_parse(text, i, e);
        char *one = c ? config_text(c) : NULL;
        char *longer = one ? realloc(all, strlen(all) + strlen(one) + 2) : NULL;
        if (longer) {
            all = longer;
            if (i) strcat(all, "~");
            strcat(all, one);
        } else {
            if (c) out_of_memory(e);
            free(all);
            all = NULL;
        }
        free(one);
        config_free(c);
    }
    return all;
}

// ---- Reading --------------------------------------------------------------------------------------------

const char *config_word(const config *c, const char *key) {
    int i = key_index(c, key);
    assert(i >= 0 && "undeclared key");
    return i < 0 ? "" : c->value[i];
}
double config_real(const config *c, const char *key) {
    double x = 0.0;
    int bad = read_number(config_word(c, key), &x);
    assert(!bad && "not a number");
    return bad ? 0.0 : x;
}
int64_t config_int(const config *c, const char *key) {
    return (int64_t)config_real(c, key);
} // ranges end at 2^53
int config_given(const config *c, const char *key) {
    int i = key_index(c, key);
    return i >= 0 && c->given[i];
}
int config_put(config *c, const char *key, int64_t value) {
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)value);
    return set_value(c, key, text, NULL);
}
int config_is(const config *c, const char *key, const char *word) {
    return !strcmp(config_word(c, key), word);
}
