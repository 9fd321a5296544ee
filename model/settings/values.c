// values.c: see values.h.
#include "values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/error.h"
#include "value.h"

int keys_declare(const config_key *keys, const char *name) {
    for (; keys && keys->name; keys++)
        if (!strcmp(keys->name, name)) return 1;
    return 0;
}

config_value *values_find(const config *c, const char *name) {
    for (size_t i = 0; i < c->n; i++) {
        const char *key = c->values[i].key->name;
        if (*key == *name && !strcmp(key, name)) return &c->values[i]; // the first letter tells most apart
    }
    return NULL;
}

config_value *values_find_here(const config *c, const char *name) {
    char own[128];
    if (!c->block) return values_find(c, name);
    snprintf(own, sizeof own, "block%zu.%s", c->block - 1, name);
    config_value *v = values_find(c, own);
    return v ? v : values_find(c, name);
}

config_value *values_add(config *c, const config_key *key) {
    if (c->n == MAX_KEYS) return NULL;
    config_value *v = &c->values[c->n++];
    v->key = key;
    return v;
}

static const char *key_name(const void *c, size_t i) {
    return i < ((const config *)c)->n ? ((const config *)c)->values[i].key->name : NULL;
}

int values_set(config *c, const char *name, const char *text, smx_error *e) {
    config_value *v = values_find(c, name);
    if (!v) {
        const char *meant = value_meant_key(name, key_name, c);
        return error_about(e, name, text, meant, "there is no key %.60s (value %.60s); the nearest is %s",
                           name, text, meant);
    }
    double x;
    if (value_read(c->language, v->key, text, &x, e)) return -1;
    char *copy = malloc(strlen(text) + 1);
    if (!copy) return error_say(e, "out of memory");
    strcpy(copy, text);
    free(v->text);
    v->text = copy;
    return 0;
}

void values_keep(const config *c, void *settings, const config_key *keys) {
    for (; keys && keys->name; keys++) {
        double x;
        const char *text = values_find_here(c, keys->name)->text;
        value_read(c->language, keys, text, &x, NULL);
        value_keep(settings, keys, text, x);
    }
}

static int fits(const char *pattern, const char *name) {
    return !strcmp(pattern, "*") || !strcmp(pattern, name);
}
int recipe_fits(const recipe *r, const char *task, const char *mixer) {
    return fits(r->task, task) && fits(r->mixer, mixer);
}
