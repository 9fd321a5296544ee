// texts.h: built-in mixers as texts.
#ifndef SMX_CLI_TEXTS_H
#define SMX_CLI_TEXTS_H

#include "model/settings/config.h"

// The equations of the config's mixer into to[size]; 0, or -1 with why the language cannot say them.
int cli_text(char *to, size_t size, const config *c, smx_error *error);
// The same for the values that the keys of a text have, without its ifs: of mixers that are texts, and of
// mixer=equations.
int cli_text_plain(char *to, size_t size, const config *c, smx_error *error);
// The complete config that trains the same run by its text, malloc'ed; own_residual: the mixer brings its
// residual itself.
char *cli_text_config(const config *c, const char *text, int own_residual);
// A config whose mixer is its text: of a built-in one that of cli_text, which is put into equations[size].
// NULL: the error says why.
config *cli_config_with_text(const char *text, char *equations, size_t size, smx_error *error);

#endif
