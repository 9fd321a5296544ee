// mixer.h: what a mixer is: a mechanism written as its equations over graph ops. A new one is a text,
// mixers/NAME.eq, and nothing else (scripts/mixers.awk reads them); or, where no text can say it, a file in
// mixers/ with a `const mixer` and one line in mixers.c.
#ifndef SMX_MIXER_H
#define SMX_MIXER_H

#include "model/settings/config.h"
#include "model/graph/graph.h"

#ifdef __wasm__
#define MODES(list) NULL
#else
#define MODES(list) list
#endif
typedef struct mixer {
    const char *name, *title;
    const char *help;       // what it is, one or two sentences
    const char *source;     // paper and equation
    const char *cost;       // in L
    const char *defaults;   // config text
    const config_key *keys; // its own keys, ended by a NULL name
    size_t settings;        // bytes of the struct that they fill: config.mixer
    // Let keys that were not given follow the config's length;
    // defaults and recipes were made for `usual`. May be NULL.
    void (*follow_length)(config *c, size_t usual);
    // Reject what cannot be built, in words, for sequences of `length`. May be NULL.
    int (*check)(const config *c, size_t length, smx_error *error);
    // x [B][L][D] -> [B][L][D]. At most one op_... in an argument list: C leaves the order of arguments open.
    tensor *(*build)(graph *g, const config *c, tensor *x);
    // 0: this configuration is causal; otherwise how many tokens ahead an output of one block may see. NULL:
    // always 0.
    size_t (*lookahead)(const config *c, size_t length);
    // What differs in kind from the defaults, for audits and tests: "pool=masked~pool=none", each a change of
    // the defaults. Written MODES("..."): no call of the module, which is downloaded, asks for them.
    const char *modes;
    int is_text; // 1: it is a text, NAME.eq
    // 1: the mechanism brings its own residual (Focus, CHELA as printed): the block adds none. NULL: 0.
    int (*has_residual)(const config *c);
} mixer;

extern const mixer *const mixers[]; // ended by NULL
const char *mixer_text(const char *name,
                       smx_error *error); // of a mixer that is a text; NULL: not in this module
const mixer *mixer_find(const char *name);
const char *mixer_name(size_t i);                       // of the i-th; NULL past the last
const mixer *mixer_of(const config *c);                 // the config's
size_t mixer_lookahead(const config *c, size_t length); // of the config's mixer, the most of several

#endif
