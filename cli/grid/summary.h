// summary.h: what a table comes to: each setting over its seeds, the best rate of each, and pairs against a
// baseline.
#ifndef CLI_GRID_SUMMARY_H
#define CLI_GRID_SUMMARY_H

#include "table.h"

enum { MOST_BEST = 8 };

// Rows from..from+n-1 of the table: one setting with several seeds.
typedef struct {
    size_t from, n, stopped;
    double mean, low, high; // of the value, where none stopped; else NaN
    int best;               // of those that differ in the keys of `over` only
    size_t behind;          // the best: how many of those have fewer seeds and were not asked for that
    size_t edge;            // the best: 1 + which key of `over` is at the end of the values tried; 0: none
    int largest;            // at the upper end
} setting;

typedef struct {
    const table *t;
    size_t n_over, over[MOST_BEST]; // keys of which the best is looked for
    size_t n;
    setting *settings;
} summary;

// a against b, seed by seed: Wilcoxon's signed-rank test, exact and two-sided, pairs without a difference
// left out.
typedef struct {
    const setting *a, *b;
    size_t pairs, wins, ties; // seeds that both have; of them those where a is better, and those alike
    double difference;        // mean of a - b
    double p, holm;           // and after Holm's correction for all comparisons of the table
} comparison;

// over: "rate,decay", NULL: rate. 0, or 2 with the sentence printed. summary_free in any case.
int summary_of(summary *s, const table *t, const char *over);
void summary_free(summary *s);
// The best settings where `baseline`, "mixer=attention", does not hold against those where it does, all else
// that both have alike (but what hangs on the baseline's key alone: each mixer may have its own heads);
// malloc'ed. 0, or 2 with the sentence printed.
int summary_pairs(const summary *s, const char *baseline, comparison **pairs, size_t *n);

// Of a best: "the largest rate tried: try larger ones; 1 with fewer seeds not considered", or "".
enum { SUMMARY_NOTE = 200 };
void summary_note(const summary *s, const setting *g, char to[SUMMARY_NOTE]);

void summary_print_csv(const summary *s, FILE *to);
void summary_print(const summary *s, FILE *to); // the best, for people
void summary_print_pairs_csv(const summary *s, const comparison *c, size_t n, FILE *to);
void summary_print_pairs(const summary *s, const char *baseline, const comparison *c, size_t n, FILE *to);

// Of n differences: p, and how many were not 0. n at most WILCOXON_MOST.
enum { WILCOXON_MOST = 1000 };
double wilcoxon(const double *differences, size_t n, size_t *used);

#endif
