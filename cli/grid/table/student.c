// student.c: Student's t (1908): the 95 % interval of a mean. The distribution of whole degrees of freedom as
// finite series (Abramowitz & Stegun 26.7.3 and 26.7.4), its quantile by halving.
#include <math.h>

#include "comparison.h"

// The chance that |t| stays below x, with n degrees of freedom.
static double within(double x, size_t n) {
    const double root = sqrt((double)n + x * x), sine = x / root, cosine = sqrt((double)n) / root;
    double term = n % 2 ? cosine : 1.0, sum = 0.0;
    for (size_t k = n % 2 ? 1 : 0; k + 2 <= n; k += 2) {
        sum += term;
        term *= cosine * cosine * ((double)k + 1.0) / ((double)k + 2.0);
    }
    if (n % 2 == 0) return sine * sum;
    return 0.63661977236758134 * (atan(x / sqrt((double)n)) + sine * sum);
}

double student_half(const double *x, size_t n) {
    double mean = 0.0, squares = 0.0, low = 0.0, high = 13.0; // 12.71 of one degree
    if (n < 2) return NAN;
    for (size_t i = 0; i < n; i++) mean += x[i] / (double)n;
    for (size_t i = 0; i < n; i++) squares += (x[i] - mean) * (x[i] - mean);
    for (int i = 0; i < 60; i++) {
        const double middle = 0.5 * (low + high);
        if (within(middle, n - 1) < 0.95)
            low = middle;
        else
            high = middle;
    }
    return low * sqrt(squares / (double)(n - 1) / (double)n);
}
