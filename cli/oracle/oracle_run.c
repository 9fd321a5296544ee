// oracle_run.c: a mechanism computes, on queries and keys that are normed where it is asked.
#include "oracle_cases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// qk_norm: each head's part of a row of q and k over its length, or over the root of its mean square,
// with 1e-6 under the root (fla's use_qk_l2norm_in_kernel)
typedef struct {
    const oracle_slot *slot;
    double *raw; // the numbers that were given
    size_t width;
} normed;

static double of_norm(const normed *n, const double *x, int rms) {
    double sum = 0;
    for (size_t i = 0; i < n->width; i++) sum += x[i] * x[i];
    return 1 / sqrt(sum / (double)(rms ? n->width : 1) + 1e-6);
}

// how: 1: l2, 2: rms; below: neither, or there is no such parameter.
static int norm_rows(oracle_case *c, normed to[2], int how) {
    for (int i = 0; how > 0 && i < 2; i++) {
        const oracle_slot *s = oracle_slot_of(c, ORACLE_INPUT, i ? "k" : "q");
        const char *columns = strrchr(s->is->shape, '*');
        const size_t width =
            columns ? oracle_size(c, columns + 1) : oracle_size(c, "D") / oracle_size(c, "H");
        normed *n = &to[i];
        *n = (normed){s, malloc((s->count + 1) * sizeof *n->raw), width};
        if (!n->raw) return oracle_fail(c, "not enough memory for the norms of q and k");
        memcpy(n->raw, s->data, s->count * sizeof *n->raw);
        for (size_t at = 0; at < s->count; at += width) {
            const double r = of_norm(n, n->raw + at, how == 2);
            for (size_t j = 0; j < width; j++) s->data[at + j] *= r;
        }
    }
    return 0;
}

// With x' = r x and m = 1, of rms the width: dx = r (dx' - x' (x'.dx') / m). The inputs are again as they
// were given.
static void norm_rows_back(const oracle_case *c, const normed of[2], int how) {
    const oracle_slot *dy = oracle_slot_of(c, ORACLE_INPUT, "dy");
    for (int i = 0; i < 2; i++) {
        const normed *n = &of[i];
        if (!n->raw) continue;
        double *dx = dy && dy->data ? n->slot->grad : NULL, *x = n->slot->data;
        for (size_t at = 0; dx && at < n->slot->count; at += n->width) {
            const double r = of_norm(n, n->raw + at, how == 2);
            double dot = 0;
            for (size_t j = 0; j < n->width; j++) dot += x[at + j] * dx[at + j];
            if (how == 2) dot /= (double)n->width;
            for (size_t j = 0; j < n->width; j++) dx[at + j] = r * (dx[at + j] - x[at + j] * dot);
        }
        memcpy(x, n->raw, n->slot->count * sizeof *x);
        free(n->raw);
    }
}

int oracle_compute(oracle_case *c) {
    normed qk[2] = {{0}};
    const int how = oracle_choice(c, "qk_norm");
    int status = norm_rows(c, qk, how);
    if (!status) status = c->mechanism->run(c);
    norm_rows_back(c, qk, how);
    return status;
}

int oracle_run(oracle_case *c) {
    if (oracle_prepare(c)) return -1;
    if (oracle_compute(c)) return c->error.message[0] ? -1 : oracle_fail(c, "not enough memory");
    return 0;
}
