// filtered.h: projections behind a short filter over time, as CAT, LinCAT and LCAT share them.
#ifndef SMX_FILTERED_H
#define SMX_FILTERED_H

#include "attention_parts.h"

#define FILTER_KINDS(W)                                                                                      \
    W(FILTER_PER_HEAD, "per_head") W(FILTER_MULTI_HEAD, "multi_head") W(FILTER_MAPS, "maps")
#define FILTER_STARTS(W) W(FILTER_IDENTITY, "identity") W(FILTER_DECAY, "decay")
typedef enum { FILTER_KINDS(WORD_NAME) } filter_kind;
typedef enum { FILTER_STARTS(WORD_NAME) } filter_start;

typedef struct {
    size_t taps;
    const char *on; // some of the letters q, k, v, or "none"
    filter_start start;
    double std;
} filter_settings;

// Their keys, for a struct of settings with such `filters`; KEY_FILTER_KIND for one with a filter_kind
// `kind`.
#define KEY_FILTER(S) INT_KEY("filter", S, filters.taps, "3", 1, 4096, "taps of each filter (W)", "mixer")
#define KEY_FILTERS(S)                                                                                       \
    TEXT_KEY("filters", S, filters.on, "qkv", "which of q, k and v are filtered; none: plain attention",     \
             "mixer")
#define KEY_FILTER_KIND(S)                                                                                            \
    WORD_KEY(                                                                                                         \
        "filter_kind", S, kind, FILTER_KINDS, "per_head",                                                             \
        "per_head: one filter a head; multi_head: heads also mix with each other; maps: only the attention maps mix", \
        "mixer", KEY_RARE)
#define KEY_FILTER_STD(S)                                                                                    \
    REAL_KEY("filter_std", S, filters.std, "0.02", 0, 10, "noise around the identity tap at the start",      \
             "mixer", KEY_RARE)
#define KEY_FILTER_START(S)                                                                                  \
    WORD_KEY("filter_start", S, filters.start, FILTER_STARTS, "identity",                                    \
             "taps at the start: 1, 0, 0 ..., or a slow decay, which tells near from far ([CAT] Theorem 3)", \
             "mixer", KEY_RARE)

// `filters` is some of `letters`, or none. 0, or -1 with the error.
int check_filters(const config *c, const filter_settings *s, const char *letters, smx_error *error);
int is_filtered(const filter_settings *s, char which);

typedef struct {
    int multi_head; // heads also mix with each other
    int two_sided;  // 2W+1 taps, W of them ahead
    int unit;       // rows scaled to unit length between filter and projection
    int positive;   // taps are squares of the weights (not of multi_head)
} filter_opts;
// (X * F) W called `which`; X W where its filter is switched off.
tensor *filtered(graph *g, const config *c, const filter_settings *s, tensor *x, const char *which,
                 const char *w_name, const char *f_name, filter_opts opts);
// Queries, keys and values so: out[0..2]. Where nothing stands between x and the projections,
// the three of them read x together.
void filtered_qkv(graph *g, const config *c, const filter_settings *s, tensor *x, filter_opts qk,
                  filter_opts v, tensor *out[3]);

#endif
