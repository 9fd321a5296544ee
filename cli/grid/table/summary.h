// summary.h: what a table comes to: each setting over its seeds, and the best rate of each. (comparison.h:
// pairs against a baseline.)
#ifndef CLI_GRID_SUMMARY_H
#define CLI_GRID_SUMMARY_H

#include "table.h"

enum { MOST_BEST = 8, SUMMARY_WIDEST = 24 };

// Rows from..from+n-1 of the table: one setting with several seeds.
typedef struct {
    size_t from, n, stopped;
    double mean, low, high; // of the value, where none stopped; else NaN
    double deviation;       // its standard deviation over seeds (n - 1); NaN of one seed
    double choice;          // mean of what the best is chosen by
    char metric[16];        // what its trainings are judged by
    int mixed;              // not all by the same: then it has no mean, and is no best
    double seconds;         // of a processor, the mean of its trainings
    int best;               // of those that differ in the keys of `over` only
    size_t behind;          // the best: how many of those have fewer seeds and were not asked for that
    size_t equals;          // the best: how many of those are as good
    size_t edge;            // the best: 1 + which key of `over` is at the end of the values tried; 0: none
    int largest;            // at the upper end
} setting;

typedef struct {
    const table *t;
    size_t n_over, over[MOST_BEST]; // keys of which the best is looked for
    int own_choice; // on other sequences than those that judge; not where some results lack that value
    size_t n;
    setting *settings;
    int *widths; // [keys of the table] of columns, for people
} summary;

// over: "rate,decay", NULL: rate. 0, or 2 with the sentence printed. summary_free in any case.
int summary_of(summary *s, const table *t, const char *over);
void summary_free(summary *s);
const table_row *summary_row(const summary *s, const setting *g); // its first
int summary_is_over(const summary *s, size_t key);

// Of a best: "the largest rate tried: try larger ones; 1 with fewer seeds not considered", or "1 other is as
// good: the first is taken", or "".
enum { SUMMARY_NOTE = 200 };
void summary_note(const summary *s, const setting *g, char to[SUMMARY_NOTE]);

// Columns: what varies, and mixer and task always.
int summary_is_column(const summary *s, size_t k);
void summary_print_csv(const summary *s, FILE *to);
void summary_print(const summary *s, FILE *to); // the best, for people
// The columns, each wide enough, without the end of the line; g NULL: their heads.
void summary_put_cells(const summary *s, FILE *to, const setting *g);
void summary_put_keys_csv(const summary *s, FILE *to, const char *after);
void summary_put_values_csv(const summary *s, FILE *to, const setting *g);
void summary_put_number_csv(FILE *to, double x); // and a comma; nothing where it is not finite

#endif
