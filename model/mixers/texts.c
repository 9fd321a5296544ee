// texts.c: the equations of mixers that are texts, as scripts/mixers.awk made strings of them; without
// comments in the modules, which are downloaded. One array: each name, its text, the next name; beside each
// other, what they have in common is compressed.
#include "mixer.h"

#include <string.h>

#define TEXT_KEYS(name, rows)
#define TEXT_MIXER(...)
#ifdef __wasm__
#define MIXER_TEXT(name, whole, plain) #name "\0" plain "\0"
#else
#define MIXER_TEXT(name, whole, plain) #name "\0" whole "\0"
#endif
static const char texts[] =
#include "build/mixer_texts.def"
    ;

const char *mixer_text(const char *name, smx_error *error) {
    (void)error;
    const char *at = texts;
    while (strcmp(at, name)) {
        at += strlen(at) + 1;
        at += strlen(at) + 1;
    }
    return at + strlen(at) + 1;
}
