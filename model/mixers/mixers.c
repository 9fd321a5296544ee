// mixers.c: the registry: one line per mixer.
#include "../mixer.h"

#include <string.h>

extern const mixer mixer_attention, mixer_cat;

const mixer *const mixers[] = {
    &mixer_cat,
    &mixer_attention,
    NULL,
};

const mixer *mixer_find(const char *name) {
    for (size_t i = 0; mixers[i]; i++)
        if (!strcmp(mixers[i]->name, name)) return mixers[i];
    return NULL;
}
