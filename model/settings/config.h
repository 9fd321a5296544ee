// config.h: the one config language, "mixer=cat&task=mqar&length=64&seed=1". config.c is its only parser. Keys are
// declared as tables: the common ones in keys.c, each mixer's and task's own in its file; help, the page's controls and
// the docs are generated from them.
#ifndef SMX_CONFIG_H
#define SMX_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include <seqmix/error.h>

typedef enum { KEY_INT, KEY_REAL, KEY_WORD, KEY_TEXT } key_type;

typedef struct {
    const char *name;
    key_type type;
    const char *fallback; // default, in the config's own spelling
    double min, max;      // of KEY_INT and KEY_REAL
    const char *choices;  // of KEY_WORD: "none|learned|rope"
    const char *help;     // one line
    const char *group;    // "model", "task", "mixer", "training", "run"
} config_key;

// A complete config: every key has a value. Opaque; lookups by name abort in debug builds on an undeclared key.
typedef struct smx_config smx_config, config;

// Resolution, later wins: key fallback < task defaults < mixer defaults < recipe (task, mixer) < preset < given keys.
// Then the mixer may let keys that were not given follow the length (mixer.h, settle).
// Returns NULL with the error filled in; free with config_free. `text` may hold several runs ("a~b~c"): `which` picks.
config *config_parse(const char *text, size_t which, smx_error *error);
size_t config_runs(const char *text); // number of runs in the text, at least 1
void config_free(config *c);
// "key=value&..." of every key, table order; malloc'ed.
char *config_text(const config *c);

int64_t config_int(const config *c, const char *key);
double config_real(const config *c, const char *key);
const char *config_word(const config *c, const char *key); // KEY_WORD and KEY_TEXT
int config_is(const config *c, const char *key, const char *word);
// Does the value stand in the text or its preset (1), or does it come from defaults and recipes (0)?
int config_given(const config *c, const char *key);
int config_put(config *c, const char *key, int64_t value); // 0, or -1: not allowed, or no memory

// Fill an error about `key`: message is "key=value: <allowed>" in words. printf-like; always returns -1.
int config_fail(smx_error *error, const config *c, const char *key, const char *allowed, ...)
    __attribute__((format(printf, 4, 5)));

#endif
