// comparison.h: the best settings against those of a baseline, seed by seed.
#ifndef CLI_GRID_COMPARISON_H
#define CLI_GRID_COMPARISON_H

#include "summary.h"

// a against b: Wilcoxon's signed-rank test, exact and two-sided, pairs without a difference left out.
typedef struct {
    const setting *a, *b;
    size_t pairs, wins, ties; // seeds that both have; of them those where a is better, and those alike
    double difference;        // mean of a - b
    double low, high;         // Student's 95 % interval of it; NaN of one pair
    double p, holm;           // and after Holm's correction for all comparisons of the table
} comparison;

enum { EQUAL_ALL_ELSE, EQUAL_WEIGHTS, EQUAL_SECONDS }; // as collect --equal lists them
typedef struct {
    comparison *at;
    size_t n;
    int equal;
    size_t unequal; // comparisons of which one has more than a tenth more weights
    double most;    // at most so many times as many
    size_t alone;   // bests with nothing to be compared with
    char why[300];  // the first of them
} comparisons;

// The best settings where `baseline`, "mixer=attention", does not hold against those where it does, all else
// that both have alike (but what hangs on the baseline's key alone: each mixer may have its own heads).
// equal: sizes may differ, and of the baseline's settings the best is taken that has as many weights (to a
// tenth) or takes as long (to a quarter). No result of the baseline is no failure: `why` says so. 0, or 2
// with the sentence printed; comparisons_free in any case.
int comparisons_of(comparisons *c, const summary *s, const char *baseline, int equal);
void comparisons_free(comparisons *c);

void comparisons_print_csv(const comparisons *c, const summary *s, FILE *to);
// What has nothing to be compared with and why, and what is not as large: a line each.
void comparisons_print_remarks(const comparisons *c, FILE *to);
void comparisons_print(const comparisons *c, const summary *s, const char *baseline, FILE *to);

// Of n differences: p, and how many were not 0. n at most WILCOXON_MOST.
enum { WILCOXON_MOST = 1000 };
double wilcoxon(const double *differences, size_t n, size_t *used);
// Half of the 95 % interval of the mean of n numbers (Student); NaN of less than two.
double student_half(const double *x, size_t n);

#endif
