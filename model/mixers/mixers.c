// mixers.c: the registry: one line per mixer that is C; those that are texts come by themselves.
#include "mixer.h"

#include <string.h>

extern const mixer mixer_attention, mixer_cat, mixer_lcat, mixer_las, mixer_lincat, mixer_linear;
extern const mixer mixer_focus, mixer_focus_h, mixer_chela, mixer_longconv, mixer_ema, mixer_mamba,
    mixer_hyena, mixer_equations;

// Mixers that are texts: NAME.eq.
#define TEXT_KEYS(name, rows)
#define MIXER_TEXT(name, whole, plain)
#define TEXT_MIXER(name, ...) extern const mixer mixer_##name;
#include "build/mixer_texts.def"
#undef TEXT_MIXER
#define TEXT_MIXER(name, ...) &mixer_##name,

const mixer *const mixers[] = {
    &mixer_cat,       &mixer_attention,
    &mixer_las,       &mixer_lcat,
    &mixer_lincat,    &mixer_linear,
    &mixer_focus,     &mixer_focus_h,
    &mixer_chela,     &mixer_longconv,
    &mixer_ema,       &mixer_mamba,
    &mixer_hyena,
#include "build/mixer_texts.def"
    &mixer_equations, NULL,
};

const char *mixer_name(size_t i) {
    return i < sizeof mixers / sizeof *mixers && mixers[i] ? mixers[i]->name : NULL;
}

const mixer *mixer_find(const char *name) {
    for (size_t i = 0; mixers[i]; i++)
        if (!strcmp(mixers[i]->name, name)) return mixers[i];
    return NULL;
}

const mixer *mixer_of(const config *c) { return mixers[c->common.mixer]; }

size_t mixer_lookahead(const config *c, size_t length) {
    size_t most = 0;
    for (size_t i = 0; i < (c->blocks && !c->block ? c->n_blocks : 1); i++) {
        config view;
        const config *own = c->block ? c : config_of_block(c, i, &view);
        const mixer *m = mixer_of(own);
        const size_t ahead = m->lookahead ? m->lookahead(own, length) : 0;
        if (ahead > most) most = ahead;
    }
    return most;
}
