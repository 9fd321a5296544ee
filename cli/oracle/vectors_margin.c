// vectors_margin.c: see vectors.h.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <seqmix/ref.h>
#include "vectors.h"

static double dot(const double *a, const double *b, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

// q, marks [L][D]: every query of every head scores the last row of each complete block before its own.
static double smallest_lead(const double *q, const double *marks, size_t L, size_t D, size_t H,
                            size_t block) {
    double lead = INFINITY, squares = 0;
    size_t d = D / H, scores = 0;
    for (size_t h = 0; h < H; h++)
        for (size_t t = 0; t < L; t++) {
            double best = -INFINITY, next = -INFINITY;
            for (size_t b = 0; b < t / block; b++) {
                double s = dot(q + t * D + h * d, marks + ((b + 1) * block - 1) * D + h * d, d);
                squares += s * s;
                scores++;
                next = fmax(next, fmin(s, best));
                best = fmax(best, s);
            }
            if (isfinite(next)) lead = fmin(lead, best - next);
        }
    return scores ? lead / sqrt(squares / (double)scores) : INFINITY;
}

double vectors_margin(const oracle_case *c) {
    size_t L = oracle_size(c, "L"), D = oracle_size(c, "D"), H = oracle_size(c, "H"),
           block = oracle_size(c, "B");
    if (strcmp(c->mechanism->name, "landmark_attention_qkv") == 0)
        return smallest_lead(oracle_data(c, "q"), oracle_data(c, "marks"), L, D, H, block);
    if (strcmp(c->mechanism->name, "lcat")) return INFINITY;
    double *q, *k, *marks;
    void *memory = ref_carve(&q, L * D, &k, L * D, &marks, L * D, REF_END);
    if (!memory) return INFINITY;
    double forget = oracle_choice(c, "filter") == REF_LCAT_RHO ? -expm1(-1 / (double)block) : 0;
    ref_linear_fwd(q, oracle_data(c, "x"), oracle_data(c, "wq"), NULL, L, D, D);
    ref_linear_fwd(k, oracle_data(c, "x"), oracle_data(c, "wk"), NULL, L, D, D);
    ref_block_filter_fwd(marks, k, 1, L, D, block, forget);
    double margin = smallest_lead(q, marks, L, D, H, block);
    free(memory);
    return margin;
}
