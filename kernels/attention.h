// attention.h: sizes that attention.c and its scratch function share, the same at every width.
#ifndef SMX_ATTENTION_H
#define SMX_ATTENTION_H

#include <stddef.h>

// Query rows held at a time: a multiple of every register tile's height (12 and 4). The same everywhere, because the
// gradients of keys and values are summed block by block.
enum { QUERY_ROWS = 24 };

static inline size_t attention_padded(size_t L) { return (L + 31) / 32 * 32; }
static inline size_t attention_padded_width(size_t d) { return (d + 15) / 16 * 16; }

#endif
