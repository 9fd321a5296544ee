// usual.c: see usual.h.
#include "usual.h"

#include <stdlib.h>
#include <string.h>

#include "model/run/language/language.h"
#include "model/settings/pairs.h"

// (Goes with the names of before.)
static const char *const counted[] = {
#include "usual_0_1_0.inc"
};

static const config *program_language(void) {
    static config *plain; // read once, held until the program ends
    if (!plain) plain = config_parse("", 0, NULL);
    return plain;
}

typedef struct {
    const config *language;
    size_t next; // a config's keys stand in the order of the language
    int before;
    char *start, *to;
} leaving;

static const config_key *key_named(leaving *l, const char *name) {
    const config *c = l->language;
    for (size_t i = 0; i < c->n; i++) {
        const size_t at = (l->next + i) % c->n;
        if (strcmp(c->values[at].key->name, name)) continue;
        l->next = at + 1;
        return c->values[at].key;
    }
    return NULL;
}

static int was_counted(const char *name) {
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++)
        if (!strcmp(counted[i], name)) return 1;
    return 0;
}

static int keep(void *arg, const char *name, const char *value, smx_error *error) {
    leaving *l = arg;
    (void)error;
    const config_key *key = strcmp(name, "v") ? key_named(l, name) : NULL;
    if (key && config_is_fallback(key, value) && !(l->before && was_counted(name))) return 0;
    if (l->to > l->start) *l->to++ = '&';
    l->to = stpcpy(l->to, name);
    *l->to++ = '=';
    *l->to = 0;
    l->to = pairs_encode(l->to, value);
    return 0;
}

static char *left_out(const char *config_text, const config *language, int before) {
    leaving l = {.language = language ? language : program_language(), .before = before};
    l.start = l.to = l.language ? malloc(3 * strlen(config_text) + 1) : NULL;
    if (!l.to) return NULL;
    *l.to = 0;
    pairs_visit(pairs_run(config_text, 0), keep, &l, NULL);
    return l.start;
}

char *usual_left_out(const char *text, const config *language) { return left_out(text, language, 0); }
char *usual_of_before(const char *text, const config *language) { return left_out(text, language, 1); }
