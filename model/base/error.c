// error.c: see error.h.
#include "error.h"

#include <stdio.h>

int error_say_list(smx_error *e, const char *sentence, va_list list) {
    if (!e) return -1;
    vsnprintf(e->message, sizeof e->message, sentence, list);
    e->key[0] = e->value[0] = e->allowed[0] = 0;
    e->kind = SMX_REFUSED;
    return -1;
}

int error_say(smx_error *e, const char *sentence, ...) {
    va_list list;
    va_start(list, sentence);
    error_say_list(e, sentence, list);
    va_end(list);
    return -1;
}

int error_about(smx_error *e, const char *key, const char *value, const char *allowed, const char *sentence,
                ...) {
    if (!e) return -1;
    va_list list;
    va_start(list, sentence);
    error_say_list(e, sentence, list);
    va_end(list);
    snprintf(e->key, sizeof e->key, "%s", key);
    snprintf(e->value, sizeof e->value, "%s", value);
    snprintf(e->allowed, sizeof e->allowed, "%s", allowed);
    return -1;
}

int error_unfit(smx_error *e, const char *key, const char *value, const char *allowed, ...) {
    char text[sizeof e->allowed];
    va_list list;
    va_start(list, allowed);
    vsnprintf(text, sizeof text, allowed, list);
    va_end(list);
    return error_about(e, key, value, text, "%s=%s does not fit: it must be %s", key, value, text);
}
