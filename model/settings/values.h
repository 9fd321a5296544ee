// values.h: the values of a config while it is read: text beside each key, then in structs. For this folder
// only.
#ifndef SMX_SETTINGS_VALUES_H
#define SMX_SETTINGS_VALUES_H

#include "config.h"

enum { MAX_KEYS = 1024 };

int keys_declare(const config_key *keys, const char *name);

config_value *values_find(const config *c, const char *name);
// As the block sees it whose view this is: its own value where there is one.
config_value *values_find_here(const config *c, const char *name);
// One more key, without a value; NULL where there is no room.
config_value *values_add(config *c, const config_key *key);
// Refused in a sentence where there is no such key, or the text does not fit it.
int values_set(config *c, const char *name, const char *text, smx_error *error);
// The values of these keys, which were looked at when they were set, into the struct of the table.
void values_keep(const config *c, void *settings, const config_key *keys);

int recipe_fits(const recipe *r, const char *task, const char *mixer);

#endif
