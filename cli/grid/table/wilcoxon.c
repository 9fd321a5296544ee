// wilcoxon.c: the signed-rank test (Wilcoxon 1945), exact: ranks of the absolute differences, ties sharing
// their mean rank; under the hypothesis each sign is a coin's, and the chance of every sum of ranks is
// counted. Differences of 0 are left out, as he did.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "comparison.h"

static int by_size(const void *a, const void *b) {
    const double x = fabs(*(const double *)a), y = fabs(*(const double *)b);
    return (x > y) - (x < y);
}

double wilcoxon(const double *differences, size_t n, size_t *used) {
    double d[WILCOXON_MOST];
    size_t m = 0, twice[WILCOXON_MOST], total = 0, positive = 0; // twice the ranks are whole numbers
    for (size_t i = 0; i < n && m < WILCOXON_MOST; i++)
        if (differences[i] != 0.0) d[m++] = differences[i];
    *used = m;
    if (!m) return 1.0;
    qsort(d, m, sizeof *d, by_size);
    for (size_t i = 0, j; i < m; i = j) {
        for (j = i; j < m && fabs(d[j]) == fabs(d[i]); j++) continue;
        for (size_t k = i; k < j; k++) twice[k] = i + 1 + j;
    }
    for (size_t i = 0; i < m; i++) {
        total += twice[i];
        if (d[i] > 0.0) positive += twice[i];
    }
    double *chance = calloc(total + 1, sizeof *chance);
    if (!chance) return NAN;
    chance[0] = 1.0;
    for (size_t i = 0, reach = 0; i < m; i++) {
        reach += twice[i];
        for (size_t sum = reach + 1; sum-- > 0;)
            chance[sum] = 0.5 * (chance[sum] + (sum >= twice[i] ? chance[sum - twice[i]] : 0.0));
    }
    const size_t least = positive < total - positive ? positive : total - positive;
    double tail = 0.0;
    for (size_t sum = 0; sum <= least; sum++) tail += chance[sum];
    free(chance);
    return 2.0 * tail < 1.0 ? 2.0 * tail : 1.0;
}
