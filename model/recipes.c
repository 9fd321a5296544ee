// recipes.c: settings that were measured to learn, by task and mixer, and the named presets. `make presets` measures
// each claim again.
#include "keys.h"

const recipe recipes[] = {
    {"mqar", "*", "vocab=64&length=64&pairs=8&width=32&batch=32&rate=0.01&steps=600"},
    {"mqar", "cat", "batch=8&rate=0.02&steps=300"},
    {"mqar", "attention", "batch=32&rate=0.005&steps=600"},
    {"ar", "*", "vocab=64&length=64&width=32&batch=64&rate=0.01&steps=600"},
    {0},
};

const preset presets[] = {
    {"recall", "A filter solves recall",
     "mixer=cat&task=mqar&vocab=64&length=64&pairs=8&width=32&seed=1~mixer=attention~mixer=attention&blocks=2&position=learned",
     "One block of attention cannot look one token back, so it guesses among the values; a filter of three taps can.",
     "CAT reaches 99 % in about 70 steps; one block of attention stays at 1/8; two blocks with positions need 250 to 450."},
    {0},
};
