// equations.h: the mixer that is a text, for who computes it in another way as well.
#ifndef SMX_MIXER_EQUATIONS_H
#define SMX_MIXER_EQUATIONS_H

#include "model/equations/build.h"
#include "model/settings/config.h"

// x [B][L][D] -> y as the text of a config with mixer=equations says, its steps in trace (NULL: not wanted).
tensor *equations_mixer(graph *g, const config *c, tensor *x, equation_trace *trace);

// The numbers of a text as keys of its config.
void equations_keys(const char *text, config_own *own);

#endif
