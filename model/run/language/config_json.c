// config_json.c: the config table as JSON, for the page's controls, and a config's values. One list, read
// from the same tables as the parser.
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seqmix/run.h>

#include "language.h"
#include "model/base/error.h"
#include "model/base/json.h"
#include "model/mixers/mixer.h"
#include "model/base/number.h"
#include "recipes.h"
#include "tasks/task.h"

typedef struct {
    char *text;
    size_t n, room;
} writer;

static void put(writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(writer *w, const char *format, ...) {
    va_list list;
    va_start(list, format);
    int n = vsnprintf(w->text ? w->text + w->n : NULL, w->text ? w->room - w->n : 0, format, list);
    va_end(list);
    w->n += (size_t)n;
}

static void put_string(writer *w, const char *s) {
    put(w, "\"");
    for (char character[8]; s && *s; put(w, "%s", character)) s = json_character(character, s);
    put(w, "\"");
}

static void put_field(writer *w, const char *name, const char *value) {
    put(w, "\"%s\":", name);
    put_string(w, value ? value : "");
    put(w, ",");
}

static void put_choices(writer *w, const config_key *k) {
    put(w, "\"choices\":[");
    if (!strcmp(k->choices, "@tasks")) {
        for (size_t i = 0; smx_tasks[i]; i++) put(w, "%s\"%s\"", i ? "," : "", smx_tasks[i]->name);
    } else if (!strcmp(k->choices, "@mixers")) {
        for (size_t i = 0; mixers[i]; i++) put(w, "%s\"%s\"", i ? "," : "", mixers[i]->name);
    } else {
        for (const char *p = k->choices; p; p = strchr(p, '|') ? strchr(p, '|') + 1 : NULL)
            put(w, "%s\"%.*s\"", p == k->choices ? "" : ",", (int)strcspn(p, "|"), p);
    }
    put(w, "],");
}

static void put_keys(writer *w, const config_key *keys, int *first) {
    static const char *const types[] = {"int", "real", "word", "word", "text", "lines"};
    for (; keys && keys->name; keys++) {
        put(w, *first ? "{" : ",{");
        *first = 0;
        put_field(w, "name", keys->name);
        put_field(w, "type", types[keys->type]);
        put_field(w, "default", keys->fallback);
        if (keys->choices) put_choices(w, keys);
        if (keys->type == KEY_INT || keys->type == KEY_REAL) {
            char min[NUMBER_TEXT], max[NUMBER_TEXT];
            put(w, "\"min\":%s,\"max\":%s,", number_write(min, keys->min), number_write(max, keys->max));
        }
        put_field(w, "help", keys->help);
        put(w, "\"group\":");
        put_string(w, keys->group);
        put(w, keys->traits & KEY_RARE ? ",\"rare\":true}" : "}");
    }
}

// {...,"keys":[own keys]: the caller closes it.
static void put_owner(writer *w, const char *name, const char *title, const char *help, const char *source,
                      const char *cost, const char *defaults, const config_key *keys) {
    int first = 1;
    put(w, "{");
    put_field(w, "name", name);
    put_field(w, "title", title);
    put_field(w, "help", help);
    put_field(w, "source", source);
    if (cost) put_field(w, "cost", cost);
    put_field(w, "defaults", defaults);
    put(w, "\"keys\":[");
    put_keys(w, keys, &first);
    put(w, "]");
}

static void put_fact(writer *w, const char *name, int fact) {
    put(w, ",\"%s\":%s", name, fact ? "true" : "false");
}

static void put_all(writer *w) {
    int first = 1;
    put(w, "{\"version\":\"%s\",\"keys\":[", SMX_VERSION);
    put_keys(w, common_keys, &first);
    put(w, "],\"mixers\":[");
    for (size_t i = 0; mixers[i]; i++) {
        const mixer *m = mixers[i];
        if (i) put(w, ",");
        put_owner(w, m->name, m->title, m->help, m->source, m->cost, m->defaults, m->keys);
        put(w, "}");
    }
    put(w, "],\"tasks\":[");
    for (size_t i = 0; smx_tasks[i]; i++) {
        const smx_task *t = smx_tasks[i];
        if (i) put(w, ",");
        put_owner(w, t->name, t->title, t->help, t->source, NULL, t->defaults, t->keys);
        put_fact(w, "images", t->image != NULL);
        put_fact(w, "own", t->own);
        put_fact(w, "permuted", t->permuted);
        put_fact(w, "recall", t->recall);
        put(w, "}");
    }
    put(w, "],\"presets\":[");
    for (const preset *p = presets; p->name; p++) {
        put(w, p == presets ? "{" : ",{");
        put_field(w, "name", p->name);
        put_field(w, "title", p->title);
        put_field(w, "config", p->config);
        put_field(w, "lesson", p->lesson);
        put(w, "\"expect\":");
        put_string(w, p->expect);
        put(w, "}");
    }
    put(w, "]}");
}

const char *smx_config_json(void) {
    static _Atomic(char *) made; // once; the tables never change
    char *text = made;
    if (text) return text;
    writer measure = {0};
    put_all(&measure);
    writer w = {.text = malloc(measure.n + 1), .room = measure.n + 1};
    if (!w.text) return "{}";
    put_all(&w);
    if (atomic_compare_exchange_strong(&made, &text, w.text)) return w.text;
    free(w.text); // another thread was faster
    return text;
}

// Pass 1 measures, pass 2 writes. -1 with the error where the text is no config.
static int put_values(writer *w, const char *text, smx_error *error) {
    put(w, "[");
    for (size_t run = 0; run < config_runs(text); run++) {
        config *c = config_parse(text, run, error);
        if (!c) return -1;
        const char *before = run ? ",{" : "{";
        for (size_t i = 0; i < c->n; i++) {
            if (!c->values[i].said) continue;
            put(w, "%s\"%s\":", before, c->values[i].key->name);
            put_string(w, c->values[i].text);
            before = ",";
        }
        put(w, "}");
        config_free(c);
    }
    put(w, "]");
    return 0;
}

char *smx_config_values(const char *text, smx_error *error) {
    if (!text) text = "";
    writer measure = {0}, w = {0};
    if (put_values(&measure, text, error)) return NULL;
    w.room = measure.n + 1;
    w.text = malloc(w.room);
    if (!w.text) error_say(error, "out of memory");
    if (w.text && put_values(&w, text, error)) {
        free(w.text);
        return NULL;
    }
    return w.text;
}
