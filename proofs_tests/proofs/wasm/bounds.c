// bounds.c: rows of kernels beside what is proved of their floats (bound_cases.h), for verify.wasm.
#include "proofs_tests/kernels/rows/bound_cases.h"

size_t verify_bound_count(void) { return CHECK_COUNT(bound_cases); }
const char *verify_bound_what(size_t i) { return bound_cases[i].what; }
const char *verify_bound_kernel(size_t i) { return bound_cases[i].kernel; }
const char *verify_bound_theorem(size_t i) { return bound_cases[i].theorem; }
// Error and bound of the number that is nearest to its bound; how many numbers were looked at
const double *verify_bound_measure(size_t i) {
    static double out[3];
    if (i >= CHECK_COUNT(bound_cases)) fail_msg("there is no row %zu", i);
    const bound_seen s = bound_measure(i, 1);
    out[0] = s.error;
    out[1] = s.bound;
    out[2] = (double)s.numbers;
    return out;
}
