// texts_config.c: the config that trains a text as its mixer was trained (texts.h).
#include "texts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/error.h"
#include "model/run/language/language.h"
#include "model/settings/pairs.h"

static int of_mixer(const config *c, const char *name) {
    for (const config_key *k = c->of_mixer.keys; k && k->name; k++)
        if (!strcmp(k->name, name)) return 1;
    for (const config_key *k = c->own ? c->own->keys : NULL; k && k->name; k++)
        if (!strcmp(k->name, name)) return 1;
    return 0;
}
char *cli_text_config(const config *c, const char *text, int own_residual) {
    size_t size = 3 * strlen(text) + 64;
    for (size_t i = 0; i < c->n; i++)
        size += strlen(c->values[i].key->name) + 3 * strlen(c->values[i].text) + 2;
    char *all = malloc(size), *to = all;
    if (!all) return NULL;
    for (size_t i = 0; i < c->n; i++) {
        const char *name = c->values[i].key->name, *value = c->values[i].text;
        if (!c->values[i].said || of_mixer(c, name) || !strcmp(name, "mixer")) continue;
        // What softmax attention does with positions, the text says.
        const int inner =
            !strcmp(name, "position") && (!strcmp(value, "rope") || !strncmp(value, "alibi", 5));
        to += sprintf(to, "%s=", name);
        to = pairs_encode(to, inner ? "none" : value);
        *to++ = '&';
    }
    to += sprintf(to, "residual=%d&mixer=equations&eq=", !own_residual);
    *pairs_encode(to, text) = 0;
    return all;
}

config *cli_config_with_text(const char *text, char *equations, size_t size, smx_error *e) {
    config *c = config_parse(text, 0, e);
    if (!c || cli_text(equations, size, c, e)) {
        config_free(c);
        return NULL;
    }
    if (!strcmp(c->of_mixer.name, "equations")) return c;
    char *all = cli_text_config(c, equations, 1);
    config_free(c);
    c = all ? config_parse(all, 0, e) : NULL;
    if (!all) error_say(e, "there is no memory for the text");
    free(all);
    return c;
}
