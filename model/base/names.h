// names.h: which name was meant by one that nobody has.
#ifndef SMX_NAMES_H
#define SMX_NAMES_H

#include <stddef.h>

// Levenshtein's distance: letters to change, add or leave out; 99 where a name has more than 64.
size_t name_distance(const char *a, const char *b);

#endif
