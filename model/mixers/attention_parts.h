// attention_parts.h: what the mixers built on attention share.
#ifndef SMX_ATTENTION_PARTS_H
#define SMX_ATTENTION_PARTS_H

#include "model/settings/config.h"
#include "model/ops/attention/distance.h"
#include "model/ops/ops.h"
#include "weights.h"

// Keys that several of these mixers have, for their tables.
#define KEY_CHUNK(S)                                                                                         \
    INT_KEY("chunk", S, chunk, "0", 0, 1 << 20,                                                              \
            "attention inside blocks of so many tokens; the last one may be shorter; 0: off", "mixer",       \
            KEY_RARE)
#define KEY_CAUSAL(S)                                                                                        \
    FLAG_KEY("causal", S, causal, "1|0", "1", "1: a token sees only itself and what came before", "mixer",   \
             KEY_RARE)
#define KEY_TILE(S)                                                                                          \
    INT_KEY("tile", S, tile, "64", 1, 1 << 20,                                                               \
            "rows of a tile of linear attention (C); only its speed depends on it", "mixer", KEY_RARE)

// heads divides width, and rope finds pairs of columns. 0, or -1 with the error.
int check_heads(const config *c, smx_error *error);
// heads, and no position that lives inside softmax attention.
int check_heads_without_inner_position(const config *c, smx_error *error);

// x W with a fresh weight called w_name.
tensor *projected(graph *g, const config *c, tensor *x, const char *w_name);
// The output projection W_o.
tensor *output_projection(graph *g, const config *c, tensor *o);

// Softmax attention of q, k, v [B][L][D] with the positions that live inside it (rope, alibi); opts gives the
// rest. mix [H][H] combines the maps of the heads; NULL: each its own.
tensor *softmax_attention(graph *g, const config *c, tensor *q, tensor *k, tensor *v, attention_opts opts,
                          tensor *mix);

// Tokens ahead that attention over whole chunks (0: the whole length) sees.
size_t lookahead_of_chunk(size_t chunk, size_t length);

#endif
