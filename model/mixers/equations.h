// equations.h: the mixer that is a text, for who computes it in another way as well.
#ifndef SMX_MIXER_EQUATIONS_H
#define SMX_MIXER_EQUATIONS_H

#include "model/equations/build.h"
#include "model/settings/config.h"

// The value of a text's key.
typedef union {
    double real;
    size_t whole;
    int word; // which of its words
} text_key;

// x [B][L][D] -> y as the text of a config with mixer=equations says, its steps in trace (NULL: not wanted).
tensor *equations_mixer(graph *g, const config *c, tensor *x, equation_trace *trace);

// The numbers and words of a text as keys of its config.
void equations_keys(const char *text, config_own *own);

// The text of a config as trees, malloc'ed, and the values of its keys; NULL with the error.
equations *equations_of(const config *c, double keys[CONFIG_OWN_KEYS], smx_error *error);

#endif
