// writing.c: see writing.h.
#include "writing.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "tasks/task.h"

smx_run *writing_load(const char *file, const char *changes) {
    static const char *const texts[] = {NULL, "text=sample", "text=sample&split=tenth"};
    size_t size;
    smx_error first = {0}, e = {0};
    void *bytes = cli_read_file(file, &size);
    if (!bytes) return NULL;
    smx_run *run = smx_run_load(bytes, size, changes, &first);
    for (size_t i = 1;
         !run && !changes && i < 3 && (!strcmp(first.key, "text") || !strcmp(first.key, "split")); i++)
        run = smx_run_load(bytes, size, texts[i], &e);
    free(bytes);
    if (!run) cli_fail("%s", first.message);
    return run;
}

int writing_is_text(const smx_run *run) {
    const smx_task *task = smx_task_find(smx_run_config_value(run, "task"));
    return task && task->bytes;
}

smx_run_state *writing_state(smx_run *run, size_t most) {
    smx_error e = {0};
    smx_run_state *state = smx_state_open(run, 1, 0, &e);
    if (!state) state = smx_state_open(run, 1, most, &e);
    if (!state) cli_fail("%s", e.message);
    return state;
}

static int separates(char c) { return c == ',' || isspace((unsigned char)c); }
const char *writing_next(const char *at) {
    while (separates(*at)) at++;
    return at;
}
const char *writing_first(const char *text) {
    static const char mark[] = "\xef\xbb\xbf";
    return writing_next(text + (strncmp(text, mark, 3) ? 0 : 3));
}
int32_t writing_token(const char **at, size_t vocab) {
    char *end;
    const long x = strtol(*at, &end, 10);
    if (end == *at || (*end && !separates(*end)) || x < 0 || (size_t)x >= vocab) return -1;
    *at = writing_next(end);
    return (int32_t)x;
}

// Green where the model was sure, red where it was surprised: 0 to 8 bits.
static int colour(double bits) {
    static const int scale[] = {34, 70, 106, 142, 178, 172, 166, 160, 196};
    return scale[bits < 0 ? 0 : bits > 8 ? 8 : (int)bits];
}

static void put(const writing *w, const char *text) {
    if (w->json) {
        fputs("{\"text\":", stdout);
        cli_json_text(text);
        fputs(",\"bits\":", stdout);
        cli_json_number(w->bits, 6);
        puts("}");
    } else if (w->colours) {
        printf("\033[38;5;%dm%s\033[0m", colour(w->bits), text);
    } else {
        fputs(text, stdout);
    }
}

// `signs` of what is no character for the bytes at hand, where they do not go out raw.
static void flush(writing *w, size_t signs) {
    for (size_t i = 0; i < w->n; i++)
        if (!w->safe && !w->json)
            putchar(w->byte[i]);
        else if (i < signs)
            put(w, "\xef\xbf\xbd"), w->bits = 0; // the surprise of them all beside the first
    w->n = 0;
    w->bits = 0;
}
void writing_flush(writing *w) { flush(w, 1); } // as browsers do: one sign for the beginning of a character

// One whole character.
static void put_character(writing *w) {
    char text[8] = "", safe[16];
    memcpy(text, w->byte, w->n);
    const int control = (w->n == 1 && *text != '\n' && *text != '\t') || w->n == 2;
    if (w->safe && control) {
        cli_printable(safe, sizeof safe, text);
        put(w, *text ? safe : "\\x00");
    } else if (*text) {
        put(w, text);
    } else if (w->json) {
        printf("{\"text\":\"\\u0000\",\"bits\":");
        cli_json_number(w->bits, 6);
        puts("}");
    } else {
        putchar(0);
    }
    w->n = 0;
    w->bits = 0;
}

void writing_byte(writing *w, int byte, double bits) {
    if (w->n && (byte & 0xc0) != 0x80) writing_flush(w); // the one before did not end
    if (!w->n)
        w->wanted = byte < 0x80                   ? 1
                    : byte >= 0xf0 && byte < 0xf5 ? 4
                    : byte >= 0xe0                ? 3
                    : byte >= 0xc2                ? 2
                                                  : 0;
    w->bits += bits;
    w->byte[w->n++] = (unsigned char)byte;
    // No beginning, or one of those that begin no character.
    const int second = w->n == 2 ? w->byte[1] : 0xa0, first = w->byte[0];
    const int wrong = !w->wanted || first >= 0xf5 || (first == 0xe0 && second < 0xa0) ||
                      (first == 0xed && second > 0x9f && w->n == 2) || (first == 0xf0 && second < 0x90) ||
                      (first == 0xf4 && second > 0x8f && w->n == 2);
    if (wrong)
        flush(w, w->n);
    else if (w->n == w->wanted)
        put_character(w);
}
