// fail.c: how the program says what went wrong.
#include "cli.h"

#include <stdarg.h>
#include <stdio.h>

int cli_fail(const char *format, ...) {
    va_list list;
    va_start(list, format);
    fputs("seqmix: ", stderr);
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
    return 2;
}
