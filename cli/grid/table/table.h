// table.h: the results of a folder as one table, the same whatever order, number and kinds of machines wrote
// them.
#ifndef CLI_GRID_TABLE_H
#define CLI_GRID_TABLE_H

#include "cli/grid/plan/names.h"
#include "cli/grid/result.h"

typedef struct {
    result r;
    char
        *completed; // its config, where keys of today were not there when it was written: with their defaults
    const char *config; // that, or r's own
    char **values;      // [keys] of the table: what `config` says of each, NULL: nothing
    char *texts;        // what they point into
} table_row;

typedef struct {
    int numeric;
    double low, high; // what is allowed
    int of_model;     // of the model or its mixer: a size of it may hang on it
} table_limits;

typedef struct {
    size_t n, room;
    table_row *rows; // in order of the keys that vary, then of seeds
    size_t n_keys;
    char **keys;          // every key of the language, in its order, then those of texts and of single blocks
    table_limits *limits; // [n_keys]
    char *varies;         // [n_keys] at least two of the rows say different things of it
    size_t seed, mixer, task, rate; // among the keys
    // What else was found.
    size_t begun, damaged, foreign; // checkpoints; files that are no whole results; of other versions, names
    size_t running, rungs;          // claims of workers; results at rungs
    size_t current;    // rows that are of no file, of what it holds today, or of one that is not here
    size_t older;      // rows whose file has not all keys of today
    char lacking[200]; // which: "sliding, value_positive"
    names whole;       // kinds of config that are known to be complete
} table;

// Every DIR/ab/*.json, each training once: of two files of one config, completed, that say the same, one is
// taken; of two that differ, none. 0; 1: some files are not in it, each with a note; 2 with the sentence
// printed.
int table_read(table *t, const char *folder);
// Marks the rows [n] of what files held that hold something else today, with results in the table: 1 where
// there are some, with a note, 0, or 2 with the sentence printed. t->current: the rows of what they hold now.
int table_find_earlier(table *t, char *earlier);
void table_free(table *t);
// A note where they were computed by several builds whose sources or self-checks are not the same.
void table_note_builds(const table *t, const char *folder);

// "There is no result in FOLDER", and what there is instead: 2.
int table_fail_empty(const table *t, const char *folder);

// Compares what two rows say of a key: nothing first, numbers by their value.
int table_compare(const table *t, size_t key, const table_row *a, const table_row *b);
// A better value of a's metric than b's?
int table_better(const char *metric, double a, double b);

void table_print_json(const table *t, FILE *to);
void table_print_csv(const table *t, FILE *to);
void table_print_machines(const table *t, FILE *to); // CSV: who computed what, and how long it took
void table_print_curves(const table *t, FILE *to);   // CSV, a point a line: losses, and what --every judged
void table_put_csv(FILE *to, const char *text);      // in quotes where it has to be; NULL: nothing

#endif
