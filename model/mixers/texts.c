// texts.c: the equations of mixers that are texts, as scripts/mixers.awk made strings of them; without comments
// in the modules, which are downloaded.
#include "mixer.h"

#include <string.h>

#define TEXT_KEYS(name, rows)
#define TEXT_MIXER(...)
#ifdef __wasm__
#define MIXER_TEXT(name, whole, plain) {#name, plain},
#else
#define MIXER_TEXT(name, whole, plain) {#name, whole},
#endif
static const struct {
    const char *name, *text;
} texts[] = {
#include "build/mixer_texts.def"
};

const char *mixer_text(const char *name, smx_error *error) {
    (void)error;
    size_t i = 0;
    while (strcmp(texts[i].name, name)) i++;
    return texts[i].text;
}
