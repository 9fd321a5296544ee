// longconv.c: long convolution (Fu et al. 2023, "Simple Hardware-Efficient Long Convolutions for Sequence
// Modeling", Sec. 3), a comparator: a kernel as long as the sequence for each channel, squashed, in the layer
// of state space models:
//   K = sign(k) max(|k| - lambda, 0),  y = GELU(K * x + D x) W_o
// causal = 0: a second kernel takes the rows after each (Goel et al. 2022, "It's Raw!", Sec. 4).
#include "mixer.h"
#include "attention_parts.h"
#include "short_long.h"

typedef struct {
    long_settings conv;
    int causal;
} longconv_settings;

static const config_key keys[] = {
    KEY_SQUASH(longconv_settings), KEY_SKIP(longconv_settings), KEY_CAUSAL(longconv_settings), {0}};

static int check(const config *c, size_t length, smx_error *error) {
    (void)length;
    return check_heads_without_inner_position(c, error);
}

static tensor *build(graph *g, const config *c, tensor *x) {
    const longconv_settings *s = c->mixer;
    tensor *y = graph_name(g, (s->causal ? long_conv : two_sided_conv)(g, c, &s->conv, x), "conv");
    return output_projection(g, c, op_gelu(g, y));
}

static size_t lookahead(const config *c, size_t length) {
    return ((const longconv_settings *)c->mixer)->causal ? 0 : length - 1;
}

const mixer mixer_longconv = {
    .name = "longconv",
    .title = "Long convolution",
    .help = "One free filter per channel, as long as the sequence; its values do not depend on the input.",
    .source = "Fu et al. 2023, Sec. 3",
    .cost = "L D log L",
    .defaults = "norm=rms&embed_std=0.1",
    .keys = keys,
    .settings = sizeof(longconv_settings),
    .check = check,
    .build = build,
    .lookahead = lookahead,
    .modes = MODES("squash=0.05~skip=0~causal=0~causal=0&squash=0.05"),
};
