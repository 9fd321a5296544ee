// stack.c: see stack.h.
#include "stack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/error.h"
#include "values.h"

// A key of one block: the mixers' row under another name.
struct config_block_key {
    config_key key;
    char name[64];
    struct config_block_key *next;
};
// "block12.filter" -> 12 and "filter"; NULL: no such name.
static const char *block_of(const char *name, size_t *block) {
    if (strncmp(name, "block", 5)) return NULL;
    const char *p = name + 5;
    for (*block = 0; *p >= '0' && *p <= '9' && p - name < 15; p++) *block = 10 * *block + (size_t)(*p - '0');
    return p > name + 5 && *p == '.' && p[1] ? p + 1 : NULL;
}
static int of_some_mixer(const config *c, const char *name) {
    for (size_t i = 0; c->language->mixer(i).name; i++)
        if (keys_declare(c->language->mixer(i).keys, name)) return 1;
    return 0;
}
static config_value *add_block_key(config *c, size_t block, const config_key *row) {
    struct config_block_key *k = calloc(1, sizeof *k);
    if (!k) return NULL;
    k->key = *row;
    k->next = c->block_keys;
    c->block_keys = k;
    snprintf(k->name, sizeof k->name, "block%zu.%s", block, row->name);
    k->key.name = k->name;
    return values_add(c, &k->key);
}
static int open_block_key(void *arg, const char *name, const char *value, smx_error *e) {
    config *c = arg;
    size_t block;
    const char *key = block_of(name, &block);
    if (!key || values_find(c, name)) return 0;
    if (!of_some_mixer(c, key))
        return error_about(e, name, value, "a key of a mixer",
                           "%.60s=%.60s: no mixer has a key %.40s; one block may have keys of its mixer only",
                           name, value, key);
    return add_block_key(c, block, values_find(c, key)->key) ? 0 : error_say(e, "out of memory");
}

int stack_open_keys(config *c, config_span text, smx_error *e) {
    return pairs_visit(text, open_block_key, c, e);
}

// The i-th name of `mixers`, its list begun again where it ends; n: how many there are.
static size_t listed(const char *list, size_t i, char *name, size_t size) {
    size_t n = 1;
    for (const char *p = list; *p; p++) n += *p == ',';
    for (i %= n; i > 0; i--) list = strchr(list, ',') + 1;
    snprintf(name, size, "%.*s", (int)strcspn(list, ","), list);
    return n;
}
static int mixer_named(const config *c, const char *name, unsigned *at, smx_error *e) {
    const config_language *l = c->language;
    for (*at = 0; l->mixer(*at).name; ++*at)
        if (!strcmp(l->mixer(*at).name, name) && strcmp(name, l->bringer)) return 0;
    return error_unfit(e, "mixers", values_find(c, "mixers")->text,
                       "names of mixers with commas between; %.40s %s", *name ? name : "an empty place",
                       strcmp(name, l->bringer) ? "is none" : "stands alone: mixer=equations");
}
int stack_take_first(config *c, smx_error *e) {
    const config_value *list = values_find(c, "mixers"), *one = values_find(c, "mixer");
    char name[64];
    unsigned at;
    if (!*list->text) return 0;
    if (one->given)
        return error_about(e, "mixers", list->text, "mixer or mixers",
                           "mixer=%.40s and mixers=%.60s are both given; one of them is allowed", one->text,
                           list->text);
    for (size_t i = listed(list->text, 0, name, sizeof name); i-- > 0;) {
        listed(list->text, i, name, sizeof name);
        if (mixer_named(c, name, &at, e)) return -1;
    }
    return values_set(c, "mixer", name, e);
}

typedef struct {
    const char *key;
    char value[1100];
} looked_for;
static int look(void *arg, const char *key, const char *value, smx_error *e) {
    looked_for *l = arg;
    (void)e;
    if (!strcmp(key, l->key)) snprintf(l->value, sizeof l->value, "%s", value);
    return 0;
}
static void look_in(looked_for *l, const char *text) {
    if (text) pairs_visit((config_span){text, strlen(text)}, look, l, NULL);
}
// What a key of a listed mixer is where its block does not say: as if the mixer stood alone.
static int settle_block_key(config *c, size_t block, const config_part *part, const config_key *key,
                            smx_error *e) {
    looked_for l = {.key = key->name};
    const config_value *plain = values_find(c, key->name);
    snprintf(l.value, sizeof l.value, "%s", key->fallback);
    look_in(&l, part->defaults);
    for (const recipe *r = c->language->recipes; r->task; r++)
        if (recipe_fits(r, c->of_task.name, part->name)) look_in(&l, r->config);
    if (plain->given) snprintf(l.value, sizeof l.value, "%s", plain->text);
    config_value *v = add_block_key(c, block, key);
    if (!v) return error_say(e, "out of memory");
    return values_set(c, v->key->name, l.value, e);
}

int stack_open(config *c, smx_error *e) {
    const char *list = values_find(c, "mixers")->text;
    if (!*list && !c->block_keys) return 0;
    const size_t n = c->common.blocks;
    char first[64];
    if (*list && listed(list, 0, first, sizeof first) > n)
        return error_unfit(e, "mixers", list, "no more names than there are blocks: blocks=%zu", n);
    c->blocks = calloc(n, sizeof *c->blocks);
    if (!c->blocks) return error_say(e, "out of memory");
    c->n_blocks = n;
    for (size_t i = 0; i < c->n_blocks; i++) {
        config_block *b = &c->blocks[i];
        char name[64];
        b->mixer = c->common.mixer;
        if (*list) {
            listed(list, i, name, sizeof name);
            if (mixer_named(c, name, &b->mixer, e)) return -1;
        }
        b->part = c->language->mixer(b->mixer);
        b->settings = calloc(1, b->part.bytes + 1);
        if (!b->settings) return error_say(e, "out of memory");
        for (const config_key *k = b->part.keys; k && k->name; k++) {
            char own[128];
            snprintf(own, sizeof own, "block%zu.%s", i, k->name);
            if (*list && !values_find(c, own) && settle_block_key(c, i, &b->part, k, e)) return -1;
            if (values_find(c, own)) values_find(c, own)->said = 1;
        }
        config view;
        config_of_block(c, i, &view);
        values_keep(&view, b->settings, b->part.keys);
    }
    for (size_t i = 0; i < c->n; i++) {
        size_t block;
        const config_value *v = &c->values[i];
        if (!block_of(v->key->name, &block) || v->said) continue;
        if (block >= c->n_blocks)
            return error_unfit(e, v->key->name, v->text, "of a block from 0 to %zu: blocks=%zu",
                               c->n_blocks - 1, c->n_blocks);
        return error_unfit(e, v->key->name, v->text, "a key of %s, the mixer of block %zu",
                           c->blocks[block].part.name, block);
    }
    return 0;
}

const config *config_of_block(const config *c, size_t i, config *view) {
    if (i >= c->n_blocks) return c;
    *view = *c;
    view->mixer = c->blocks[i].settings;
    view->of_mixer = c->blocks[i].part;
    view->common.mixer = c->blocks[i].mixer;
    view->block = i + 1;
    return view;
}

void stack_free(config *c) {
    for (size_t i = 0; i < c->n_blocks; i++) free(c->blocks[i].settings);
    free(c->blocks);
    for (struct config_block_key *k = c->block_keys, *next; k; k = next) {
        next = k->next;
        free(k);
    }
}
