// fuzz_config.c: libFuzzer target for the parser of the config language. Whatever the text: a complete config
// that is its own completion, or NULL with a sentence. The text is the input itself, or made of keys that
// exist with values near and beyond what each allows.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/run/language/language.h"
#include "model/run/language/recipes.h"
#include "model/mixers/mixer.h"
#include <seqmix/run.h>
#include "tasks/task.h"

static void check_error(const smx_error *e) {
    if (strlen(e->message) < 10 || !memchr(e->message, 0, sizeof e->message) ||
        !memchr(e->key, 0, sizeof e->key) || !memchr(e->value, 0, sizeof e->value) ||
        !memchr(e->allowed, 0, sizeof e->allowed))
        abort();
}

static void parse(const char *text) {
    smx_error error = {0};
    char *complete = smx_config_complete(text, &error);
    if (!complete) {
        check_error(&error);
        return;
    }
    char *again = smx_config_complete(complete, &error);
    if (!again || strcmp(again, complete) || config_runs(complete) != config_runs(text)) abort();
    free(again);
    free(complete);
}

enum { MAX_KEYS = 400 };
static const config_key *keys[MAX_KEYS];
static size_t n_keys;

static void add(const config_key *k) {
    for (; k && k->name; k++)
        if (n_keys < MAX_KEYS) keys[n_keys++] = k;
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc;
    (void)argv;
    add(common_keys);
    for (size_t i = 0; mixers[i]; i++) add(mixers[i]->keys);
    for (size_t i = 0; smx_tasks[i]; i++) add(smx_tasks[i]->keys);
    return 0;
}

// The i-th of the words between |.
static void choice(char *to, size_t size, const char *choices, size_t i) {
    size_t count = 1;
    for (const char *at = choices; *at; at++) count += *at == '|';
    for (i %= count; i; i--) choices = strchr(choices, '|') + 1;
    snprintf(to, size, "%.*s", (int)strcspn(choices, "|"), choices);
}

static void value(char *to, size_t size, const config_key *k, uint8_t kind, uint8_t which) {
    size_t n_mixers = 0, n_tasks = 0;
    while (mixers[n_mixers]) n_mixers++;
    while (smx_tasks[n_tasks]) n_tasks++;
    if (!strcmp(k->name, "mixer"))
        snprintf(to, size, "%s", mixers[which % n_mixers]->name);
    else if (!strcmp(k->name, "task"))
        snprintf(to, size, "%s", smx_tasks[which % n_tasks]->name);
    else if (k->choices && k->choices[0] != '@')
        choice(to, size, k->choices, which);
    else if (kind % 4 == 0)
        snprintf(to, size, "%.17g", k->min + (which - 128.0) / 16);
    else if (kind % 4 == 1)
        snprintf(to, size, "%.17g", k->max - (which - 128.0) / 16);
    else
        snprintf(to, size, "%u", which);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size * 96 + 1);
    if (!text) abort();
    if (size && data[0] < 32) { // (key, kind, which): and now and then a run of its own
        size_t n = 0;
        text[0] = 0;
        for (size_t i = 1; i + 2 < size; i += 3) {
            char word[64];
            const config_key *k = keys[data[i] * n_keys / 256];
            value(word, sizeof word, k, data[i + 1], data[i + 2]);
            n += (size_t)sprintf(text + n, "%s%.30s=%s",
                                 !n                  ? ""
                                 : data[i + 1] > 240 ? "~"
                                                     : "&",
                                 k->name, word);
        }
    } else {
        if (size) memcpy(text, data, size);
        text[size] = 0;
    }
    parse(text);
    free(text);
    return 0;
}
