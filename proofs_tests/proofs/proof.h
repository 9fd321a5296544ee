// proof.h: what the proof_*.c files share: figures that are printed in one form and asserted, seeded numbers,
// and bounds on a share from counted trials. The index of theorems is made from the first comment of each
// file (Claim, Statement, Needs, Model, Check) and from the lines "figure: ..." that it prints.
#ifndef PROOF_H
#define PROOF_H

#include "proofs_tests/support/check.h"
#include "proofs_tests/constructions/constructions.h"

#define PROOF_EACH_PRECISION(p) for (con_precision p = CON_FLOAT; p <= CON_DOUBLE; p++)
// Unit roundoff: u = 2^-24 or 2^-53.
static CHECK_UNUSED double proof_u(con_precision p) { return p == CON_FLOAT ? 0x1p-24 : 0x1p-53; }
// What the roundings of two logits of size c at most multiply a ratio of weights by. A logit, relative to c:
// the filter's N terms and the D/2 + 3 of a norm for each of two keys, D + 2 of a product and two scales.
// (The sum of a filter must not cancel to far below its largest term.)
static CHECK_UNUSED double proof_logits(const con_recall *m, con_precision p) {
    return exp(2 * (double)(2 * (m->N + m->D) + 8) * m->c * proof_u(p));
}
static CHECK_UNUSED const char *proof_short(con_precision p) { return p == CON_FLOAT ? "float32" : "double"; }

// PROOF_DRAW=n in the environment makes every seeded number another one (to see how far a figure varies).
static CHECK_UNUSED uint64_t proof_draw(void) {
#ifdef __wasm__
    return 0;
#else
    const char *n = getenv("PROOF_DRAW");
    return n ? strtoull(n, NULL, 10) : 0;
#endif
}
static CHECK_UNUSED uint64_t proof_drawn(uint64_t seed) { return seed + proof_draw() * 0xD1B54A32D192ED03u; }
static CHECK_UNUSED void proof_seed(uint64_t seed) { check_seed(proof_drawn(seed)); }

// A figure with the bound that it must keep; NaN keeps none. `what` is a printf format. A bound is claimed,
// or derived as the file's first comment or the line above it says, and then holds for every draw; or it is
// measured: no more than twice (no less than half) the worst of 1,000 draws, or of as many as the file says.
enum { PROOF_LEAST, PROOF_MOST, PROOF_MEASURED_LEAST, PROOF_MEASURED_MOST };
static CHECK_UNUSED void proof_figure(int kind, double value, double bound, const char *what, ...)
    __attribute__((format(printf, 4, 5)));
static CHECK_UNUSED void proof_figure(int kind, double value, double bound, const char *what, ...) {
    char text[300];
    const int most = kind % 2, measured = kind / 2;
    va_list arguments;
    va_start(arguments, what);
    vsnprintf(text, sizeof text, what, arguments);
    va_end(arguments);
    print_message("figure: %s: %.6g (%s %.6g%s)\n", text, value, most ? "at most" : "at least", bound,
                  measured ? ", measured" : "");
    if ((most ? !(value <= bound) : !(value >= bound)) && !(measured && proof_draw()))
        fail_msg("%s is %.17g, not %s %.17g", text, value, most ? "at most" : "at least", bound);
}
#define proof_at_most(value, bound, ...) proof_figure(PROOF_MOST, value, bound, __VA_ARGS__)
#define proof_at_least(value, bound, ...) proof_figure(PROOF_LEAST, value, bound, __VA_ARGS__)
#define proof_measured(value, bound, ...) proof_figure(PROOF_MEASURED_MOST, value, bound, __VA_ARGS__)
#define proof_measured_least(value, bound, ...) proof_figure(PROOF_MEASURED_LEAST, value, bound, __VA_ARGS__)
#define proof_ok(call)                                                                                       \
    do {                                                                                                     \
        if ((call) != 0) fail_msg("no memory for %s", #call);                                                \
    } while (0)

// NaN stays: fmin and fmax would drop it.
static CHECK_UNUSED double proof_largest(double a, double b) { return isnan(b) || b > a ? b : a; }
static CHECK_UNUSED double proof_smallest(double a, double b) { return isnan(b) || b < a ? b : a; }

static CHECK_UNUSED double proof_normal(void) { // Box & Muller
    double u = check_uniform(0x1p-53, 1), turn = check_uniform(0, 1);
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * turn);
}

// Wilson's interval for a share of which `hits` of n trials were seen,
// at z standard deviations (2.576: 99 %).
static CHECK_UNUSED void proof_wilson(double *low, double *high, double hits, double n, double z) {
    const double share = hits / n, middle = (share + z * z / (2 * n)) / (1 + z * z / n);
    const double half = z / (1 + z * z / n) * sqrt(share * (1 - share) / n + z * z / (4 * n * n));
    *low = middle - half;
    *high = middle + half;
}

#endif
