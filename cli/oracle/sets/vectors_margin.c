// vectors_margin.c: see vectors.h. The margin itself is the oracle's (ref_landmark_lead).
#include <math.h>
#include <string.h>

#include <seqmix/ref.h>
#include "vectors.h"

double vectors_margin(const oracle_case *c) {
    const size_t L = oracle_size(c, "L"), D = oracle_size(c, "D"), H = oracle_size(c, "H");
    if (strcmp(c->mechanism->name, "landmark_attention_qkv") == 0) {
        const ref_landmark p = {.B = 1, .L = L, .D = D, .H = H, .stride = D, .block = oracle_size(c, "B")};
        return ref_landmark_lead(oracle_data(c, "q"), oracle_data(c, "marks"), &p);
    }
    if (strcmp(c->mechanism->name, "lcat")) return INFINITY;
    // The choice depends on queries and keys only, so the values go unfiltered.
    const ref_lcat p = {.L = L,
                        .D = D,
                        .H = H,
                        .block = oracle_size(c, "B"),
                        .filter = (ref_lcat_filter)oracle_choice(c, "filter")};
    const ref_lcat_weights w = {
        .wq = oracle_data(c, "wq"), .wk = oracle_data(c, "wk"), .wv = oracle_data(c, "wv")};
    double lead;
    return ref_lcat_lead(&lead, oracle_data(c, "x"), &w, &p) ? 0 : lead;
}
