// value.c: see value.h.
#include "value.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/base/error.h"
#include "model/base/names.h"
#include "model/base/number.h"

enum { MOST_TEXT = 1023, MOST_LINES = 8192 }; // bytes of a value
enum { MOST_TO_FIT = 1 << 30 };               // of a key that is refused by what it has to fit

// The i-th word that a key may have, or NULL.
static const char *choice(const config_language *l, const config_key *key, size_t i, char *buffer,
                          size_t size) {
    if (!strcmp(key->choices, "@tasks")) return l->task(i).name;
    if (!strcmp(key->choices, "@mixers")) return l->mixer(i).name;
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
static void allowed_text(const config_language *l, const config_key *key, char *to, size_t size) {
    if (key->choices) {
        char word[64];
        const char *w;
        size_t at = (size_t)snprintf(to, size, "one of");
        for (size_t i = 0; (w = choice(l, key, i, word, sizeof word)) && at < size; i++)
            at += (size_t)snprintf(to + at, size - at, "%s %s", i ? "," : "", w);
    } else if (key->type == KEY_TEXT) {
        snprintf(to, size, "text without &, ~ and #, at most %d bytes of one line", MOST_TEXT);
    } else if (key->type == KEY_LINES) {
        snprintf(to, size, "text of at most %d bytes", MOST_LINES);
    } else {
        char min[NUMBER_TEXT], max[NUMBER_TEXT];
        snprintf(to, size, "%s from %s to %s", key->type == KEY_INT ? "a whole number" : "a number",
                 number_write(min, key->min), number_write(max, key->max));
    }
}

// A finite decimal number and nothing else.
static int read_number(const char *text, double *x) {
    if (!isdigit((unsigned char)*text) && *text != '-' && *text != '.') return -1;
    for (const char *p = text; *p; p++)
        if (!isdigit((unsigned char)*p) && !strchr("+-.eE", *p)) return -1; // no hex, no inf
    char *end;
    *x = number_read(text, &end);
    return *end || !isfinite(*x) ? -1 : 0;
}

int value_read(const config_language *l, const config_key *key, const char *text, double *x, smx_error *e) {
    char word[64];
    const char *w;
    *x = 0.0;
    if (key->choices) {
        for (size_t i = 0; (w = choice(l, key, i, word, sizeof word)); i++, ++*x)
            if (!strcmp(w, text)) {
                if (key->type == KEY_FLAG) *x = *text == '1';
                return 0;
            }
    } else if (key->type == KEY_TEXT) {
        if (strlen(text) <= MOST_TEXT && !strpbrk(text, "\n\t\r")) return 0;
    } else if (key->type == KEY_LINES) {
        if (strlen(text) <= MOST_LINES) return 0;
    } else if (!read_number(text, x) && (key->type == KEY_REAL || *x == floor(*x)) && *x >= key->min &&
               *x <= (key->traits & KEY_FITS ? MOST_TO_FIT : key->max)) {
        return 0;
    }
    char allowed[256];
    allowed_text(l, key, allowed, sizeof allowed);
    return error_about(e, key->name, text, allowed, "%s=%.80s is not allowed: %s must be %s%s", key->name,
                       text, key->name, allowed, strchr(text, '=') ? "; keys are separated by &" : "");
}

void value_keep(void *settings, const config_key *key, const char *text, double x) {
    char *at = (char *)settings + key->at;
    if (key->type == KEY_REAL) {
        memcpy(at, &x, sizeof x);
    } else if (key->type == KEY_TEXT || key->type == KEY_LINES) {
        memcpy(at, &text, sizeof text);
    } else { // ranges end at 2^53
        const uint64_t large = (uint64_t)x;
        const uint32_t small = (uint32_t)large;
        memcpy(at, key->bytes == sizeof large ? (const void *)&large : &small, key->bytes);
    }
}

// ---- Names that no key has ------------------------------------------------------------------------------

// What others call the same thing, or what does its work here.
static const struct {
    const char *theirs, *ours;
} usual_names[] = {
    {"lr", "rate"},       {"learning_rate", "rate"}, {"dim", "width"},          {"d_model", "width"},
    {"layers", "blocks"}, {"epochs", "steps"},       {"weight_decay", "decay"}, {"hidden", "mlp"},
};

const char *value_usual_key(const char *name) {
    for (size_t i = 0; i < sizeof usual_names / sizeof *usual_names; i++)
        if (!strcmp(name, usual_names[i].theirs)) return usual_names[i].ours;
    return NULL;
}

const char *value_meant_key(const char *name, const char *(*names)(const void *of, size_t i),
                            const void *of) {
    const char *usual = value_usual_key(name);
    if (usual) return usual;
    const char *nearest = names(of, 0), *one;
    for (size_t i = 1; (one = names(of, i)); i++)
        if (name_distance(name, one) < name_distance(name, nearest)) nearest = one;
    return nearest;
}
