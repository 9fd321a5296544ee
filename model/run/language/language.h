// language.h: the config language with all its tasks, mixers, recipes and presets: what a config text is
// read with.
#ifndef SMX_RUN_LANGUAGE_H
#define SMX_RUN_LANGUAGE_H

#include "model/settings/config.h"

extern const config_language language;

// config_read, config_read_changed and config_read_runs with it.
config *config_parse(const char *text, size_t which, smx_error *error);
config *config_change(const char *text, const char *changes, smx_error *error);
size_t config_runs(const char *text);

#endif
