// config.h: the one config language, "mixer=cat&task=mqar&length=64&seed=1". This folder is its only
// parser: a text is read once, into structs. Keys are declared as tables (key.h): the common ones in
// common.c, each mixer's and task's own in its file; help, the page's controls and the docs are generated
// from them.
#ifndef SMX_CONFIG_H
#define SMX_CONFIG_H

#include <seqmix/error.h>

#include "common.h"
#include "language.h"

typedef struct {
    const config_key *key;
    char *text;    // its value
    uint8_t given; // 1: the value stands in the config's text or in its preset
    uint8_t said;  // 1: it says something about this run; 0: of another task or mixer
} config_value;

// A block whose mixer or whose keys are its own.
typedef struct {
    unsigned mixer;
    config_part part;
    void *settings; // what the part's keys fill
} config_block;

// A complete config: every key has a value.
typedef struct smx_config {
    common_settings common;
    void *task, *mixer; // the own keys of its task and mixer, in the struct that their file declares
    config_part of_task, of_mixer;
    const config_language *language;
    config_own *own; // keys that a value brings, or NULL
    // With `mixers`, or keys of single blocks: one for each, else NULL. `mixer` and `of_mixer` are then the
    // first block's: its defaults are the model's.
    config_block *blocks;
    size_t n_blocks;
    size_t block; // config_of_block's: its number + 1
    struct config_block_key *block_keys;
    size_t n;
    config_value *values; // [n], every key of the language, as text: for this folder, and for who lists them
} config;

// Resolution, later wins: key fallback < task defaults < mixer defaults < recipe (task, mixer) < preset <
// given keys. Then task and mixer may let keys that were not given follow the length
// (config_part.follow_length). Returns NULL with the error filled in; free with config_free. `text` may
// hold several runs ("a~b~c"): `which` picks.
config *config_read(const config_language *language, const char *text, size_t which, smx_error *error);
// The same of a complete text with `changes` (NULL: none), which may not name a preset: that would give way
// to every key.
config *config_read_changed(const config_language *language, const char *text, const char *changes,
                            smx_error *error);
size_t config_read_runs(const config_language *language, const char *text); // runs in the text, at least 1
void config_free(config *c);

// "key=value&..." of every key that says something about this run, table order; malloc'ed.
char *config_text(const config *c);
// The value of a key by its name, as text; NULL where it says nothing about this run. For sentences and
// clients: what runs reads the structs.
const char *config_get(const config *c, const char *key);
// Is the value, however it is spelt, the key's fallback? 1 or 0. What names a training or its state hashes
// the others alone, so that a key which is added later moves no name.
int config_is_fallback(const config_key *key, const char *value);
// The config as its block i sees it, `view` or c itself; it lives as long as both.
const config *config_of_block(const config *c, size_t i, config *view);
// Does `is`, a change of the text of `was`, differ in keys of the task alone, so that a model trained as
// `was` can be judged as `is`? 0, or -1 with the error that names the key.
int config_same_model(const config *was, const config *is, smx_error *error);

// For follow_length. Does the value stand in the text or its preset (1), or does it come from defaults and
// recipes (0)?
int config_given(const config *c, const char *key);
int config_put(config *c, const char *key, size_t value); // 0, or -1: not allowed, or no memory

// "key=value does not fit: it must be <allowed>", about a key of the config. printf-like; always returns -1.
int config_fail(smx_error *error, const config *c, const char *key, const char *allowed, ...)
    __attribute__((format(printf, 4, 5)));

#endif
