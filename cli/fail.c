// fail.c: what the program says: sentences on standard error, values in JSON. Text from files and arguments
// reaches a terminal with its control characters spelt out, so that it can move no cursor and hide no line.
#include "cli.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void cli_printable(char *to, size_t size, const char *text) {
    size_t n = 0;
    for (const unsigned char *at = (const unsigned char *)text; *at && n + 5 < size; at++) {
        // C0 and DEL, and the C1 controls as UTF-8 has them (C2 80 to C2 9F).
        const int second = at[0] == 0xc2 && at[1] >= 0x80 && at[1] <= 0x9f;
        if (*at < 0x20 || *at == 0x7f || second)
            n += (size_t)snprintf(to + n, size - n, "\\x%02x", second ? *++at : *at);
        else
            to[n++] = (char)*at;
    }
    to[n] = 0;
}

enum { TEXT = 4096 };
static void say(const char *before, const char *format, va_list list, char safe[TEXT + 64]) {
    char text[TEXT];
    vsnprintf(text, sizeof text, format, list);
    cli_printable(safe, TEXT + 64, text);
    fprintf(stderr, "seqmix: %s%s\n", before, safe);
}

static char failed[TEXT + 64];
const char *cli_failed(void) { return failed; }

int cli_fail(const char *format, ...) {
    va_list list;
    va_start(list, format);
    say("", format, list, failed);
    va_end(list);
    return 2;
}

void cli_note(const char *format, ...) {
    char safe[TEXT + 64];
    va_list list;
    va_start(list, format);
    say("note: ", format, list, safe);
    va_end(list);
}

void cli_put_json_text(FILE *to, const char *text) {
    putc('"', to);
    for (; text && *text; text++)
        if (*text == '"' || *text == '\\')
            fprintf(to, "\\%c", *text);
        else if ((unsigned char)*text < 0x20 || *text == 0x7f)
            fprintf(to, "\\u%04x", (unsigned)*text);
        else
            putc(*text, to);
    putc('"', to);
}

void cli_put_json_number(FILE *to, double x, int digits) {
    if (isfinite(x))
        fprintf(to, "%.*g", digits, x);
    else
        fputs("null", to);
}

void cli_json_text(const char *text) { cli_put_json_text(stdout, text); }
void cli_json_number(double x, int digits) { cli_put_json_number(stdout, x, digits); }
