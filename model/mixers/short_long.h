// short_long.h: the short-long convolution ([CHELA] Eqs. 7-8) as a part of mixers, and its exact fusion.
#ifndef SMX_SHORT_LONG_H
#define SMX_SHORT_LONG_H

#include "model/settings/config.h"
#include "model/ops/ops.h"
#include "weights.h"

// Keys of every mixer with a long convolution, and of the short ones before it.
typedef struct {
    double squash;
    int skip;
} long_settings;
// For a struct of settings with such `conv`; KEY_FUSED for one with an int `fused`.
#define KEY_SQUASH(S)                                                                                        \
    REAL_KEY(                                                                                                \
        "squash", S, conv.squash, "0", 0, 100,                                                               \
        "soft threshold on long kernels (lambda of Fu et al.): entries smaller than this are 0; 0: off",     \
        "mixer", KEY_RARE)
#define KEY_SKIP(S)                                                                                          \
    FLAG_KEY("skip", S, conv.skip, "1|0", "1",                                                               \
             "1: each channel of a long convolution also passes its input on", "mixer")
#define KEY_FUSED(S)                                                                                         \
    FLAG_KEY("fused", S, fused, "0|1", "0",                                                                  \
             "1: the two short kernels as one, for models whose weights were fused after training", "mixer", \
             KEY_RARE)

// 1 + the least k with 10^k >= length^2: ceil(2 log10 length) + 1 in integers.
size_t short_taps(size_t length);

// K_l * x + skip x with fresh weights conv_k (and conv_skip). Long kernels have as many taps as the config's
// length; on longer input they are extended by zeros, on shorter cut.
tensor *long_conv(graph *g, const config *c, const long_settings *s, tensor *x);
// The same, and the rows after each by a kernel of their own, conv_ahead: its first tap meets the next row.
tensor *two_sided_conv(graph *g, const config *c, const long_settings *s, tensor *x);
// Z = K_l * SiLU(K_s * x), K_s * x the sum of two short convolutions of 3 and short_taps taps (or one, fused)
// causal 0: K_l on both sides.
tensor *short_long(graph *g, const config *c, const long_settings *s, int fused, int causal, tensor *x);

// Weights of a model with fused=1 (`to`) from the same one with fused=0: short = short_3 + short_n, the
// smaller padded at its old end; all else is copied. 0, or -1 when a weight has no source.
int short_long_fuse(params *to, const params *from);

#endif
