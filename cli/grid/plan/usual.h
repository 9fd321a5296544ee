// usual.h: what a job's name is made of: the keys of its complete config whose values are not the language's
// own, so that a key which is added later moves no name. For one version also the text of before, when
// every key counted.
#ifndef CLI_GRID_USUAL_H
#define CLI_GRID_USUAL_H

#include "model/settings/config.h"

// Of a complete config with numbers in their shortest spelling: "v=1", then each key=value that is not the
// fallback of that key in the language (keys.fallback; of blocks and of equations' own: all), in its order.
// malloc'ed; NULL: out of memory. `language`: a config of it; NULL: of the program's.
char *usual_left_out(const char *config_text, const config *language);
// The keys that version 0.1.0 counted: all that it had.
char *usual_of_before(const char *config_text, const config *language);

#endif
