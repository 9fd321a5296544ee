// table.c: see table.h.
#include "table.h"

#include <stdlib.h>
#include <string.h>

#include "data.h"
#include "model/base/error.h"
#include "model/base/number.h"

typedef struct {
    const uint8_t *at, *end;
    uint8_t separator;
    size_t line; // of `at`, from 1
} reader;

static int ends_line(uint8_t c) { return c == '\n' || c == '\r'; }
// Past the end of a line, where there is one.
static void skip_end(reader *r) {
    if (r->at == r->end || !ends_line(*r->at)) return;
    if (*r->at++ == '\r' && r->at < r->end && *r->at == '\n') r->at++;
    r->line++;
}
static void skip_empty(reader *r) {
    while (r->at < r->end && ends_line(*r->at)) skip_end(r);
}
// Past a cell, up to the separator or the end of the line behind it. -1: a quote stays open.
static int skip_cell(reader *r) {
    const uint8_t *look = r->at;
    while (look < r->end && *look == ' ') look++;
    if (look < r->end && *look == '"') {
        for (r->at = look + 1;; r->at++) {
            if (r->at == r->end) return -1;
            if (*r->at == '"') {
                if (r->at + 1 == r->end || r->at[1] != '"') break;
                r->at++;
            } else if (*r->at == '\n' || (*r->at == '\r' && (r->at + 1 == r->end || r->at[1] != '\n'))) {
                r->line++;
            }
        }
        r->at++;
    }
    while (r->at < r->end && *r->at != r->separator && !ends_line(*r->at)) r->at++;
    return 0;
}

static uint8_t separator_of(reader r) {
    static const uint8_t all[] = {',', ';', '\t'};
    size_t count[3] = {0};
    for (int quoted = 0; r.at < r.end && (quoted || !ends_line(*r.at)); r.at++) {
        quoted ^= *r.at == '"';
        for (int i = 0; i < 3; i++) count[i] += !quoted && *r.at == all[i];
    }
    return all[count[1] > count[0] ? (count[2] > count[1] ? 2 : 1) : (count[2] > count[0] ? 2 : 0)];
}

// Once to count, once (start not NULL) to note where cells start.
static int walk(reader r, table_file *t, uint32_t *start, uint32_t *line, const char *name, smx_error *e) {
    size_t rows = 0, cells = 0;
    for (skip_empty(&r); r.at < r.end; skip_empty(&r), rows++) {
        const size_t first = r.line;
        size_t own = 0;
        if (line) line[rows] = (uint32_t)first;
        for (int more = 1; more; own++) {
            if (start) start[cells] = (uint32_t)(r.at - t->bytes);
            cells++;
            if (skip_cell(&r)) return data_fail(e, "file", name, "a quote in line %zu stays open", first);
            more = r.at < r.end && *r.at == r.separator;
            r.at += more;
        }
        skip_end(&r);
        if (!rows) t->columns = own;
        if (own != t->columns)
            return data_fail(e, "file", name, "line %zu has %zu cells where the first has %zu", first, own,
                             t->columns);
    }
    if (start) start[cells] = (uint32_t)(r.end - t->bytes);
    if (rows < 2) return data_fail(e, "file", name, "no table: a line of names and a row are the least");
    if (t->columns > TABLE_COLUMNS)
        return data_fail(e, "file", name, "%zu columns, at most %d are read", t->columns, TABLE_COLUMNS);
    t->rows = rows - 1;
    return 0;
}

int table_open(table_file *t, const uint8_t *bytes, size_t size, const char *name, smx_error *e) {
    *t = (table_file){.bytes = bytes};
    if (size && memchr(bytes, 0, size)) // UTF-16 without its mark, UTF-32, or a picture
        return data_fail(e, "file", name,
                         "no text: a byte is 0 (UTF-8, or UTF-16 that begins with its mark)");
    reader r = {bytes, bytes + size, ',', 1};
    if (size >= 3 && !memcmp(bytes, "\xef\xbb\xbf", 3)) r.at += 3;
    skip_empty(&r);
    r.separator = separator_of(r);
    if (walk(r, t, NULL, NULL, name, e)) return -1;
    t->start = malloc(((t->rows + 1) * t->columns + 1) * sizeof *t->start);
    t->line = malloc((t->rows + 1) * sizeof *t->line);
    if (t->start && t->line) return walk(r, t, t->start, t->line, name, e);
    table_close(t);
    return data_fail(e, "file", name, "there is no memory for its %zu rows", t->rows);
}

void table_close(table_file *t) {
    free(t->start);
    free(t->line);
    t->start = t->line = NULL;
}

static void cell_at(const table_file *t, size_t i, char *to) {
    const uint8_t *at = t->bytes + t->start[i], *end = t->bytes + t->start[i + 1];
    // What lies between a cell and the next: one separator, or ends of lines.
    const int last = (i + 1) % t->columns == 0;
    size_t n = 0;
    while (at < end && *at == ' ') at++;
    if (at < end && *at == '"') {
        for (at++; at < end && (*at != '"' || (at + 1 < end && at[1] == '"')); at++) {
            at += *at == '"';
            if (n < TABLE_CELL - 1) to[n++] = (char)*at;
        }
    } else {
        if (!last) end--;
        while (last && at < end && ends_line(end[-1])) end--;
        for (; at < end; at++)
            if (n < TABLE_CELL - 1) to[n++] = (char)*at;
        while (n && to[n - 1] == ' ') n--;
    }
    for (size_t k = 0; k < n; k++)
        if (!to[k]) to[k] = ' '; // a text in C ends at a 0
    to[n] = 0;
}
void table_cell(const table_file *t, size_t row, size_t column, char *to) {
    cell_at(t, (row + 1) * t->columns + column, to);
}
void table_column(const table_file *t, size_t column, char *to) { cell_at(t, column, to); }

int table_missing(const char *cell) {
    static const char *const words[] = {"", "NA", "N/A", "NaN", "nan", "null", "?"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(cell, words[i])) return 1;
    return 0;
}
int table_number(const char *cell, double *x) {
    char *end;
    *x = number_read(cell, &end);
    return end != cell && !*end;
}

size_t table_find(const table_file *t, const char *name) {
    char own[TABLE_CELL];
    for (size_t i = 0; i < t->columns; i++) {
        table_column(t, i, own);
        if (!strcmp(own, name)) return i;
    }
    size_t n = 0;
    for (const char *p = name; *p; p++) {
        if (*p < '0' || *p > '9' || n > TABLE_COLUMNS) return t->columns;
        n = 10 * n + (size_t)(*p - '0');
    }
    return n >= 1 && n <= t->columns ? n - 1 : t->columns;
}
