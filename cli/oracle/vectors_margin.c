// vectors_margin.c: see vectors.h.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <seqmix/ref.h>
#include "vectors.h"

double vectors_margin(const oracle_case *c) {
    const size_t L = oracle_size(c, "L"), D = oracle_size(c, "D");
    const ref_landmark p = {
        .B = 1, .L = L, .D = D, .H = oracle_size(c, "H"), .stride = D, .block = oracle_size(c, "B")};
    if (strcmp(c->mechanism->name, "landmark_attention_qkv") == 0)
        return ref_landmark_lead(oracle_data(c, "q"), oracle_data(c, "marks"), &p);
    if (strcmp(c->mechanism->name, "lcat")) return INFINITY;
    double *q, *k, *marks;
    void *memory = ref_carve(&q, L * D, &k, L * D, &marks, L * D, REF_END);
    if (!memory) return INFINITY;
    double forget = oracle_choice(c, "filter") == REF_LCAT_RHO ? -expm1(-1 / (double)p.block) : 0;
    ref_linear_fwd(q, oracle_data(c, "x"), oracle_data(c, "wq"), NULL, L, D, D);
    ref_linear_fwd(k, oracle_data(c, "x"), oracle_data(c, "wk"), NULL, L, D, D);
    ref_block_filter_fwd(marks, k, 1, L, D, p.block, forget);
    double margin = ref_landmark_lead(q, marks, &p);
    free(memory);
    return margin;
}
