// table_summary.c: a table's columns and first rows as JSON, for who chooses among them.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data.h"
#include "table.h"

enum { PREVIEWED = 10, DIFFERENT = 11, ESCAPED = 6 * TABLE_CELL };

typedef struct {
    char *text;
    size_t n, room;
    int failed;
} writer;

static void put(writer *w, const char *text, size_t n) {
    if (w->n + n + 1 > w->room) {
        const size_t room = 2 * (w->n + n) + 1024;
        char *more = realloc(w->text, room);
        if (!more) {
            w->failed = 1;
            return;
        }
        w->text = more;
        w->room = room;
    }
    memcpy(w->text + w->n, text, n);
    w->text[w->n += n] = 0;
}
static void put_text(writer *w, const char *text) { put(w, text, strlen(text)); }
static void put_count(writer *w, const char *name, size_t n) {
    char text[64];
    put(w, text, (size_t)snprintf(text, sizeof text, ",\"%s\":%zu", name, n));
}
static void put_string(writer *w, const char *s) {
    char text[ESCAPED + 3];
    size_t n = 0;
    text[n++] = '"';
    for (; *s; s++)
        if (*s == '"' || *s == '\\') {
            text[n++] = '\\';
            text[n++] = *s;
        } else if ((unsigned char)*s < 32) {
            n += (size_t)snprintf(text + n, 7, "\\u%04x", *s);
        } else {
            text[n++] = *s;
        }
    text[n++] = '"';
    put(w, text, n);
}

static void put_column(writer *w, const table_file *t, size_t column) {
    char cell[TABLE_CELL], word[TABLE_CELL] = "", different[DIFFERENT][TABLE_CELL];
    size_t numbers = 0, words = 0, missing = 0, line = 0, word_line = 0, n = 0;
    double x;
    for (size_t i = 0; i < t->rows; i++) {
        table_cell(t, i, column, cell);
        if (table_missing(cell)) {
            if (!missing++) line = t->line[i + 1];
            continue;
        }
        if (table_number(cell, &x)) {
            numbers++;
        } else if (!words++) {
            strcpy(word, cell);
            word_line = t->line[i + 1];
        }
        size_t known = 0;
        while (known < n && n < DIFFERENT && strcmp(different[known], cell)) known++;
        if (known == n && n < DIFFERENT) strcpy(different[n++], cell);
    }
    table_column(t, column, cell);
    put_text(w, "{\"name\":");
    put_string(w, cell);
    put_count(w, "numbers", numbers);
    put_count(w, "words", words);
    put_text(w, ",\"word\":");
    put_string(w, word);
    put_count(w, "wordLine", word_line);
    put_count(w, "missing", missing);
    put_count(w, "line", line);
    put_count(w, "different", n);
    put_text(w, "}");
}

char *table_summary(const uint8_t *bytes, size_t size, const char *name, smx_error *error) {
    table_file t;
    if (table_open(&t, bytes, size, name, error)) return NULL;
    writer w = {0};
    char cell[TABLE_CELL];
    put_text(&w, "{\"columns\":[");
    for (size_t i = 0; i < t.columns; i++) {
        if (i) put_text(&w, ",");
        put_column(&w, &t, i);
    }
    put_text(&w, "],\"preview\":[");
    for (size_t r = 0; r < t.rows && r < PREVIEWED; r++) {
        put_text(&w, r ? ",[" : "[");
        for (size_t i = 0; i < t.columns; i++) {
            if (i) put_text(&w, ",");
            table_cell(&t, r, i, cell);
            put_string(&w, cell);
        }
        put_text(&w, "]");
    }
    put_text(&w, "]");
    put_count(&w, "rows", t.rows);
    put_text(&w, "}");
    table_close(&t);
    if (!w.failed) return w.text;
    free(w.text);
    data_fail(error, "file", name, "there is no memory to say what is in it");
    return NULL;
}
