// check.h: what can be known of a text of equations without training it: does the float32 run compute what
// the oracle computes, are its gradients gradients, does it see the future and through which equation, do
// gradients grow with the length, does it stay finite where inputs are large, what does it cost.
#ifndef SMX_CHECK_H
#define SMX_CHECK_H

#include <stddef.h>
#include <stdint.h>

#include <seqmix/error.h>

#include "model/settings/config.h"

enum { CHECK_ROWS = 200, CHECK_LENGTHS = 5, CHECK_COSTS = 2, CHECK_LARGE = 256 };
typedef struct {
    char name[24]; // "y", "x", or a weight: of the last two the gradient is judged
    size_t n;
    double error;      // largest difference of float32 from double, by the largest number in double
    double allowed;    // what float32 rounding after each equation may do to it, measured, with room
    double difference; // double's gradient against central differences, by its size; below 0: not tried
    int fine;
} check_row;
typedef struct {
    size_t length, weights;
    check_row rows[CHECK_ROWS];
    size_t n_rows;
    size_t ahead;        // rows that an output sees ahead, measured
    unsigned ahead_line; // of the text, that lets it; 0: none
    size_t says_ahead;   // what the operations say
    size_t lengths[CHECK_LENGTHS], n_lengths;
    double growth[CHECK_LENGTHS]; // |gradient at x| for a unit gradient at the last row
    char not_finite[24]; // on inputs CHECK_LARGE times as large: y, or what has such a gradient; "": none
    struct {
        size_t length;
        double flops, bytes; // a token, forward; kept for backward. Below 0: it cannot be built so long
    } cost[CHECK_COSTS];
    int computes, differentiates, causal, stable; // verdicts
} check_report;

// Of a config with mixer=equations. 0, or -1: it cannot be built, the error says why.
int check_config(check_report *r, const config *c, uint64_t seed, smx_error *error);
// (Seeing ahead and what is not finite are no failures: they are reported.)
int check_passes(const check_report *r);

// Only the first part, on a graph of its own: for who tries many texts. fine: all rows.
int check_numbers(check_report *r, const config *c, size_t length, uint64_t seed, smx_error *error);

#endif
