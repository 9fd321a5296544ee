// table_files.c: results of what a text or table held earlier: where there are results of what it holds
// today, those stand in the table alone.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/grid/files_digest.h"
#include "model/run/language/language.h"
#include "table.h"

enum { MOST_FILES = 64 };
typedef struct {
    char names[4200]; // what the configs say of files
    uint64_t today;   // 0: not to be read here
    size_t current, earlier;
} known_file;

static void names_of(const table *t, const table_row *row, char to[4200]) {
    int n = 0;
    *to = 0;
    for (size_t k = 0; k < t->n_keys && n < 4200; k++)
        if (row->values[k] && files_are_named_by(t->keys[k]))
            n += snprintf(to + n, (size_t)(4200 - n), "%s%s=%s", n ? " " : "", t->keys[k], row->values[k]);
}

static known_file *find(const table *t, const table_row *row, known_file *all, size_t *n) {
    char names[4200];
    size_t k = 0;
    names_of(t, row, names);
    while (k < *n && strcmp(all[k].names, names)) k++;
    if (k == MOST_FILES) return NULL;
    if (k < *n) return &all[k];
    all[k] = (known_file){0};
    strcpy(all[k].names, names);
    config *c = config_parse(row->config, 0, NULL);
    if (!c || files_digest(c, &all[k].today, NULL)) all[k].today = 0;
    config_free(c);
    return &all[(*n)++];
}

int table_find_earlier(table *t, char *earlier) {
    size_t n = 0, found = 0;
    known_file *all = NULL;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < t->n; i++) {
            const table_row *row = &t->rows[i];
            earlier[i] = 0;
            t->current += (size_t)pass;
            if (!row->r.data) continue;
            if (!all && !(all = calloc(MOST_FILES, sizeof *all)))
                return cli_fail("out of memory for the table");
            known_file *f = find(t, row, all, &n);
            if (!f || !f->today) continue;
            const int current = row->r.data == f->today;
            if (!pass) f->current += (size_t)current;
            earlier[i] = pass && !current && f->current;
            f->earlier += (size_t)earlier[i];
            t->current -= (size_t)(pass && !current);
        }
    for (size_t k = 0; k < n; k++)
        if (all[k].earlier)
            cli_note("%zu %s of what %.200s held earlier: left as they are, and not in the table",
                     all[k].earlier, all[k].earlier == 1 ? "result is" : "results are", all[k].names);
    for (size_t i = 0; i < t->n; i++) found += (size_t)earlier[i];
    free(all);
    return found ? 1 : 0;
}
