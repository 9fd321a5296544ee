// stabilise.h: xLSTM's exponential gates without overflow (2405.04517), for mlstm.c and slstm.c.
#ifndef REF_STABILISE_H
#define REF_STABILISE_H

#include <math.h>

// F: log sigma(f) = -log(1 + e^{-f}), or f itself; and its slope.
static inline double forget_log(double f, int exponential) {
    if (exponential) return f;
    return f < 0 ? f - log1p(exp(f)) : -log1p(exp(-f));
}
static inline double forget_slope(double f, int exponential) {
    if (exponential) return 1;
    return f < 0 ? 1 / (1 + exp(f)) : exp(-f) / (1 + exp(-f));
}

// m = max(F + before, i), and the shares of the old state and the new, e^{F + before - m} and e^{i - m}. With
// both gates shut nothing is there, and nothing is kept.
typedef struct {
    double m, keep, take;
} shares;
static inline shares stabilise(double i, double F, double before) {
    const double m = fmax(F + before, i);
    if (m == -INFINITY) return (shares){m, 0, 0};
    return (shares){m, exp(F + before - m), exp(i - m)};
}

#endif
