// texts.c: the equations of mixers that are texts, as scripts/mixers.awk made strings of them; without comments
// in the modules, which are downloaded.
#include "mixer.h"

#define TEXT_KEYS(name, rows)
#define TEXT_MIXER(...)
#ifdef __wasm__
#define MIXER_TEXT(whole, plain) plain,
#else
#define MIXER_TEXT(whole, plain) whole,
#endif
static const char *const texts[] = {
#include "build/mixer_texts.def"
};

const char *mixer_text(size_t number, smx_error *error) {
    (void)error;
    return texts[number - 1];
}
