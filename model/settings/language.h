// language.h: what the config language is made of besides its common keys. Who knows the tasks and mixers
// that there are hands this to the parser (model/run/language/language.c), which knows none.
#ifndef SMX_LANGUAGE_H
#define SMX_LANGUAGE_H

#include "key.h"

struct smx_config;

// Keys that the value of another key brings: the numbers of a mixer's text.
enum { CONFIG_OWN_KEYS = 16, CONFIG_OWN_NAME = 32 };
typedef struct {
    config_key keys[CONFIG_OWN_KEYS + 1]; // ended by a NULL name; names and fallbacks stand below
    char name[CONFIG_OWN_KEYS][CONFIG_OWN_NAME], fallback[CONFIG_OWN_KEYS][CONFIG_OWN_NAME];
    char choices[CONFIG_OWN_KEYS][4 * CONFIG_OWN_NAME];
} config_own;

// A task or a mixer, as the parser sees it.
typedef struct {
    const char *name;       // NULL: there is none
    const char *defaults;   // config text, or NULL
    const config_key *keys; // its own, ended by a NULL name; or NULL
    size_t bytes;           // of the struct that its keys fill; 0: it has none
    // Let keys that were not given follow the config's length; defaults and recipes were made for `usual`.
    // May be NULL.
    void (*follow_length)(struct smx_config *c, size_t usual);
} config_part;

// Good settings for a mixer on a task (either may be "*"); later lines override earlier ones.
typedef struct {
    const char *task, *mixer, *config;
} recipe;

typedef struct {
    const char *name, *title;
    const char *config; // may hold several runs
    const char *lesson; // the sentence it teaches
    const char *expect; // what was measured, over seeds 1, 2, 3
} preset;

typedef struct {
    config_part (*task)(size_t i), (*mixer)(size_t i); // the i-th; a name of NULL past the last
    // The mixer whose key `bringing` has a value that brings keys, and what it brings: rows are filled from
    // the first on.
    const char *bringer, *bringing;
    void (*brings)(const char *value, config_own *own);
    const recipe *recipes; // ended by a NULL task
    const preset *presets; // ended by a NULL name
} config_language;

#endif
