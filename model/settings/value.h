// value.h: one key's value: what is allowed, and its text as a number.
#ifndef SMX_CONFIG_VALUE_H
#define SMX_CONFIG_VALUE_H

#include <seqmix/error.h>

#include "language.h"

// The value as a number: of a word its place among the choices, of a text 0. -1 with the error where the
// key does not allow it.
int value_read(const config_language *language, const config_key *key, const char *text, double *x,
               smx_error *error);
// Into the key's field of `settings`: the number, or the text itself, which has to stay.
void value_keep(void *settings, const config_key *key, const char *text, double x);

// The key that does the work of what others call so; NULL: none that has another name here.
const char *value_usual_key(const char *name);
// The name that is meant by one that no key has: the usual word for one of ours, else the nearest of `names`.
const char *value_meant_key(const char *name, const char *(*names)(const void *of, size_t i), const void *of);

#endif
