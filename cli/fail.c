// fail.c: what the program says: sentences on standard error, values in JSON. Text from files and arguments
// reaches a terminal with its control characters spelt out, so that it can move no cursor and hide no line.
#include "cli.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "model/base/json.h"

void cli_printable(char *to, size_t size, const char *text) {
    size_t n = 0;
    while (*text && n + 5 < size) {
        const unsigned char *at = (const unsigned char *)text;
        const size_t length = json_utf8(text, 4);
        // C0 and DEL, the C1 controls as UTF-8 has them (C2 80 to C2 9F), and what is no UTF-8.
        const int second = at[0] == 0xc2 && at[1] < 0xa0;
        if (!length || *at < 0x20 || *at == 0x7f || second)
            n += (size_t)snprintf(to + n, size - n, "\\x%02x", at[second && length]);
        else
            memcpy(to + n, text, length), n += length;
        text += length ? length : 1;
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

void cli_put_quoted(FILE *to, const char *text) {
    putc('\'', to);
    for (; *text; text++)
        if (*text == '\'')
            fputs("'\\''", to);
        else
            putc(*text, to);
    putc('\'', to);
}

void cli_put_json_text(FILE *to, const char *text) {
    putc('"', to);
    for (char character[8]; text && *text; fputs(character, to)) text = json_character(character, text);
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
