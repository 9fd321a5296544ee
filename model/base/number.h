// number.h: decimal text to double and back. Not the C library's: the point is a point whatever locale the
// host program has set, every machine reads the same bits, and the WebAssembly module is spared 128-bit
// floats (7 KB of what a page fetches).
#ifndef SMX_NUMBER_H
#define SMX_NUMBER_H

#include <stddef.h>

// The double nearest to the decimal number at the start of `text`, ties to even; *end (if wanted) is what
// follows it, `text` itself where there is none. A sign, digits with or without a point, an exponent: no
// spaces, no hexadecimal, no infinity or NaN; what is too large becomes infinity.
double number_read(const char *text, char **end);

// The shortest decimal that reads back as the finite x. `to` holds NUMBER_TEXT bytes; returns it.
enum { NUMBER_TEXT = 32 };
char *number_write(char *to, double x);

// The value of one hexadecimal digit; -1: it is none.
int number_hex(char digit);

#endif
