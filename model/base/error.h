// error.h: the one place where an smx_error (include/seqmix/error.h) is filled.
// `e` may be NULL: nobody asks. All return -1.
#ifndef SMX_ERROR_FILL_H
#define SMX_ERROR_FILL_H

#include <stdarg.h>

#include <seqmix/error.h>

// A sentence about nothing in particular.
int error_say(smx_error *e, const char *sentence, ...) __attribute__((format(printf, 2, 3)));
int error_say_list(smx_error *e, const char *sentence, va_list list);
// About `key`, the value given and what is allowed ("": not known), said by the sentence.
int error_about(smx_error *e, const char *key, const char *value, const char *allowed, const char *sentence,
                ...) __attribute__((format(printf, 5, 6)));
// "key=value does not fit: it must be ALLOWED"
int error_unfit(smx_error *e, const char *key, const char *value, const char *allowed, ...)
    __attribute__((format(printf, 4, 5)));

#endif
