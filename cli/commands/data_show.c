// data_show.c: seqmix data 'CONFIG' --show: one sample as a person reads it:
// tokens over their targets, numbers, or an image.
#include "data_show.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PER_LINE = 20, WIDTH = 5 };

// A token as its task names it; a byte of text as its character.
static void token_word(const smx_task_instance *t, int32_t token, char *to, size_t size) {
    if (t->task->words)
        snprintf(to, size, "%s", t->task->words[token]);
    else if (t->task->bytes && token > 32 && token < 127)
        snprintf(to, size, "%c", token);
    else if (t->task->bytes)
        snprintf(to, size, "%s", token == ' ' ? "_" : token == '\n' ? "\\n" : "?");
    else
        snprintf(to, size, "%d", (int)token);
}

static void tokens_line(const smx_task_instance *t, const char *name, const int32_t *x, size_t from,
                        size_t to) {
    char word[16];
    printf("%-8s", name);
    for (size_t i = from; i < to; i++) {
        if (x[i] >= 0)
            token_word(t, x[i], word, sizeof word);
        else
            strcpy(word, ".");
        printf("%*s", WIDTH, word);
    }
    putchar('\n');
}

// Column `channel` of [rows][channels]; NaN: no target.
static void numbers_line(const char *name, const float *x, size_t channels, size_t channel, size_t from,
                         size_t to) {
    printf("%-8s", name);
    for (size_t i = from; i < to; i++) {
        const float v = x[i * channels + channel];
        if (v != v)
            printf("%*s", WIDTH + 1, ".");
        else
            printf("%*.2f", WIDTH + 1, (double)v);
    }
    putchar('\n');
}

// Two characters a pixel, from the standardised values of tasks/generators/pixels.c (mean 0.1307, deviation
// 0.3081).
static void image(const float *values, size_t side) {
    static const char shades[] = " .:-=+*#%@";
    for (size_t y = 0; y < side; y++) {
        char line[2 * 28 + 1];
        size_t end = 0;
        for (size_t x = 0; x < side; x++) {
            double v = (double)values[y * side + x] * 0.3081 + 0.1307;
            int shade = (int)lround(v < 0 ? 0 : v > 1 ? 9 : 9 * v);
            line[2 * x] = line[2 * x + 1] = shades[shade];
            if (shade) end = 2 * x + 2;
        }
        printf("%.*s\n", (int)end, line);
    }
}

void show_sample(const smx_task_instance *t, const smx_task_sample *s) {
    const size_t pixels = t->length * t->channels;
    const int picture = !t->per_position && !t->vocab && (pixels == 784 || pixels == 196) && t->classes == 10;
    if (picture) {
        image(s->values, pixels == 784 ? 28 : 14);
        printf("\nanswer: %d\n", (int)s->targets[0]);
        return;
    }
    const size_t per_line = t->vocab ? PER_LINE : PER_LINE - 4;
    for (size_t at = 0; at < t->length; at += per_line) {
        const size_t to = at + per_line < t->length ? at + per_line : t->length;
        if (at) putchar('\n');
        printf("%-8s", "row");
        for (size_t i = at; i < to; i++) printf("%*zu", t->vocab ? WIDTH : WIDTH + 1, i);
        putchar('\n');
        if (t->vocab) tokens_line(t, "token", s->tokens, at, to);
        for (size_t c = 0; c < t->channels; c++) {
            char name[24];
            snprintf(name, sizeof name, t->channels > 1 ? "value %zu" : "value", c);
            numbers_line(name, s->values, t->channels, c, at, to);
        }
        if (t->per_position && t->classes) tokens_line(t, "target", s->targets, at, to);
        if (t->per_position && !t->classes) numbers_line("target", s->target_values, 1, 0, at, to);
    }
    if (!t->per_position) printf("\nanswer: %d\n", (int)s->targets[0]);
}
