// filtered.h: projections behind a short filter over time, as CAT, LinCAT and LCAT share them.
#ifndef SMX_FILTERED_H
#define SMX_FILTERED_H

#include "attention_parts.h"

#define KEY_FILTER                                                                                           \
    { "filter", KEY_INT, "3", 1, 4096, NULL, "taps of each filter (W)", "mixer" }
#define KEY_FILTERS                                                                                          \
    {                                                                                                        \
        "filters", KEY_TEXT, "qkv", 0, 0, NULL, "which of q, k and v are filtered; none: plain attention",   \
            "mixer"                                                                                          \
    }
#define KEY_FILTER_KIND                                                                                                   \
    {                                                                                                                     \
        "filter_kind", KEY_WORD, "per_head", 0, 0, "per_head|multi_head|maps",                                            \
            "per_head: one filter a head; multi_head: heads also mix with each other; maps: only the attention maps mix", \
            "mixer"                                                                                                       \
    }
#define KEY_FILTER_STD                                                                                       \
    { "filter_std", KEY_REAL, "0.02", 0, 10, NULL, "noise around the identity tap at the start", "mixer" }

#define KEY_FILTER_START                                                                                     \
    {                                                                                                        \
        "filter_start", KEY_WORD, "identity", 0, 0, "identity|decay",                                        \
            "taps at the start: 1, 0, 0 ..., or a slow decay, which tells near from far ([CAT] Theorem 3)",  \
            "mixer"                                                                                          \
    }

// `filters` is some of `letters`, or none. 0, or -1 with the error.
int check_filters(const config *c, const char *letters, smx_error *error);
int is_filtered(const config *c, char which);

typedef struct {
    int multi_head; // heads also mix with each other
    int two_sided;  // 2W+1 taps, W of them ahead
    int unit;       // rows scaled to unit length between filter and projection
} filter_opts;
// (X * F) W called `which`; X W where its filter is switched off.
tensor *filtered(graph *g, const config *c, tensor *x, const char *which, const char *w_name,
                 const char *f_name, filter_opts opts);
// Queries, keys and values so: out[0..2]. Where nothing stands between x and the projections, the three of them read x together.
void filtered_qkv(graph *g, const config *c, tensor *x, filter_opts qk, filter_opts v, tensor *out[3]);

#endif
