// focus.c: Focus (Lutati, Zimerman & Wolf, EMNLP 2023, Eqs. 1-14; docs/MECHANISMS.md#focus): second-order
// filters whose coefficients a hypernetwork chooses bin by bin, then attention in chunks and gates. focus_h:
// learned constant filters instead.
//   g = GlobalConv(x)                                        depthwise, as long as the sequence
//   e = adaptive max pool of g to O values a bin and channel
//       (local_global, H_local and H_global: and of a short convolution of x, beside them)
//   Theta = sigma(W_2 sigma(W_1 e + b_1) + b_2)              bin b uses what bin b-1 said, bin 0: Theta = 0
//   x_f = sum over F filters of x through 1/(1 + Theta_0 z^-1 + Theta_1 z^-2)
//   y = Attention(x W_q, x_f W_k, x_f W_v) inside chunks of L/C tokens
//   gamma = SiLU(x_f W_gamma + b_gamma),  phi = sigma(x_f W_phi + b_phi)
//   z = SiLU(x_f W_h + (gamma o y) U_h + b_h),  o = phi o z + (1 - phi) o x
#include "mixer.h"
#include "attention_parts.h"
#include "short_long.h"

#include <string.h>

#include "kernels/core/mathd.h"

#define IIRS(W) W(IIR_CAUSAL, "causal") W(IIR_CARRY, "carry") W(IIR_LITERAL, "literal")
#define THETAS(W) W(THETA_SIGMOID, "sigmoid") W(THETA_TRIANGLE, "triangle") W(THETA_BOUNDED, "bounded")
#define HYPERS(W)                                                                                            \
    W(HYPER_PER_CHANNEL, "per_channel") W(HYPER_JOINT, "joint") W(HYPER_LOCAL_GLOBAL, "local_global")

// The first four lines are Focus-H's too.
typedef struct {
    size_t bins, iir_filters, chunks;
    enum { IIRS(WORD_NAME) } iir;
    enum { THETAS(WORD_NAME) } theta;
    double theta_sum;
    size_t oversample, hidden, local;
    enum { HYPERS(WORD_NAME) } hyper;
    long_settings conv;
    int share_conv;
} focus_settings;
#define S focus_settings

#define KEYS_OF_BOTH                                                                                         \
    INT_KEY("bins", S, bins, "8", 1, 1 << 20,                                                                \
            "bins (N_bins), each with its own filters; divides length and follows it", "mixer"),             \
        WORD_KEY("iir", S, iir, IIRS, "causal",                                                              \
                 "causal: a recurrence that starts anew in each bin; carry: its state goes on; literal: "    \
                 "times conj(H), sees ahead in the bin",                                                     \
                 "mixer"),                                                                                   \
        INT_KEY("iir_filters", S, iir_filters, "1", 1, 64, "filters of each channel, added up (F)",          \
                "mixer"),                                                                                    \
        WORD_KEY("theta", S, theta, THETAS, "sigmoid",                                                       \
                 "coefficients in (0,1)^2, of every stable filter, or of a sum below theta_sum", "mixer",    \
                 KEY_RARE),                                                                                  \
        REAL_KEY("theta_sum", S, theta_sum, "0.9", 0, 0.999999, "their sum is below this (theta=bounded)",   \
                 "mixer", KEY_RARE),                                                                         \
        INT_KEY("chunks", S, chunks, "1", 1, 1 << 20,                                                        \
                "attention inside so many chunks of the sequence (C); divides length", "mixer")

static const config_key keys[] = {
    KEYS_OF_BOTH,
    INT_KEY("oversample", S, oversample, "1", 1, 1024, "pooled values of each channel and bin (O)", "mixer",
            KEY_RARE),
    WORD_KEY("hyper", S, hyper, HYPERS, "per_channel",
             "hypernetwork: one for every channel alone; one that sees all channels of a bin; or a channel's "
             "own, fed the global and a local convolution",
             "mixer", KEY_RARE),
    INT_KEY("local", S, local, "8", 1, 4096, "taps of the local convolution (hyper=local_global)", "mixer",
            KEY_RARE),
    INT_KEY("hidden", S, hidden, "16", 1, 65536, "hidden width of the hypernetwork", "mixer", KEY_RARE),
    KEY_SKIP(S),
    KEY_SQUASH(S),
    FLAG_KEY("share_conv", S, share_conv, "0|1", "0", "1: one global convolution for all blocks", "mixer",
             KEY_RARE),
    {0},
};
static const config_key keys_h[] = {KEYS_OF_BOTH, {0}};

// Bins and chunks keep the length that they have at the config's length.
static size_t bin_length(const config *c) {
    return c->common.length / ((const focus_settings *)c->mixer)->bins;
}
static size_t chunk_length(const config *c) {
    return c->common.length / ((const focus_settings *)c->mixer)->chunks;
}

// Bins that were not asked for keep their usual length, or the nearest one that divides the sequence.
static void follow_length(config *c, size_t usual) {
    const size_t L = c->common.length, bins = ((const focus_settings *)c->mixer)->bins;
    if (config_given(c, "bins") || L == usual) return;
    size_t R = usual > bins ? usual / bins : 1, off = 0;
    if (R > L) R = L;
    while (L % (R - off) && (L % (R + off))) off++;
    config_put(c, "bins", L / (L % (R - off) ? R + off : R - off));
}

static int check(const config *c, size_t length, smx_error *error) {
    const focus_settings *s = c->mixer;
    const size_t L = c->common.length;
    if (L % s->bins) return config_fail(error, c, "bins", "a divisor of length=%zu", L);
    if (L % s->chunks) return config_fail(error, c, "chunks", "a divisor of length=%zu", L);
    if (length % bin_length(c))
        return config_fail(
            error, c, "bins",
            "such that bins of length/bins tokens fill %zu tokens: its bin length %zu must divide them",
            length, bin_length(c));
    return check_heads_without_inner_position(c, error);
}

static tensor *linear(graph *g, const config *c, tensor *x, const char *w_name, const char *b_name) {
    size_t D = x->shape[x->rank - 1];
    tensor *w = weight_matrix(g, w_name, D, D, start_matrix(c, D, D));
    return op_linear(g, x, w, weight_vector(g, b_name, D, 0.0));
}

// Raw pairs to Theta. bounded: Theta_0 + Theta_1 < s < 1, so |y| <= max|x| / (1 - s) even where carry
// switches filters.
static tensor *coefficients(graph *g, const focus_settings *s, tensor *raw, int shift) {
    const double factor = s->theta == THETA_BOUNDED ? s->theta_sum / 2 : 1;
    return op_theta(g, raw, s->theta == THETA_TRIANGLE, factor, shift);
}

// Steps 1-4: Theta [B][bins][D][F][2], from the bins before. The hidden layer starts by Xavier; the last by
// hyperfan-in (Chang et al. 2020): Var(W_2) = 1/(d_j d_k E[h^2]) with d_j = 2 coefficients, d_k = hidden and
// E[h^2] = 1/4 of sigma(0).
static tensor *hypernetwork(graph *g, const config *c, tensor *x, size_t R) {
    const focus_settings *s = c->mixer;
    const size_t D = x->shape[x->rank - 1], F = s->iir_filters, O = s->oversample;
    const size_t hidden = s->hidden, joint = s->hyper == HYPER_JOINT;
    const int split = s->hyper == HYPER_LOCAL_GLOBAL;
    size_t in = joint ? D * O : split ? 2 * O : O, out = joint ? D * F * 2 : F * 2;
    char prefix[sizeof g->prefix];
    memcpy(prefix, g->prefix, sizeof prefix);
    if (s->share_conv) strcpy(g->prefix, "shared.");
    tensor *filtered = long_conv(g, c, &s->conv, x);
    memcpy(g->prefix, prefix, sizeof prefix);
    graph_name(g, filtered, "g");
    tensor *e = op_maxpool(g, filtered, R, O, (int)joint);
    if (split) {
        tensor *near = op_conv(g, x,
                               graph_param(g, "local_k", (init){INIT_IDENTITY, 0.1}, 0, 2,
                                           (uint32_t[]){(uint32_t)D, (uint32_t)s->local}),
                               0);
        near = op_maxpool(g, graph_name(g, near, "local"), R, O, 0);
        e = op_join(g, e, near, 1);
    }
    graph_name(g, e, "e");
    tensor *w_1 =
        weight_matrix(g, "hyper_w1", in, hidden, (init){INIT_UNIFORM, md_sqrt(6.0 / (double)(in + hidden))});
    tensor *h = op_sigmoid(g, op_linear(g, e, w_1, weight_vector(g, "hyper_b1", hidden, 0.0)));
    tensor *w_2 =
        weight_matrix(g, "hyper_w2", hidden, out, (init){INIT_NORMAL, md_sqrt(2.0 / (double)hidden)});
    tensor *raw = op_linear(g, h, w_2, weight_vector(g, "hyper_b2", out, 0.0));
    return coefficients(g, s, raw, 1);
}

// Focus-H: one Theta for every bin, bin 0 included.
static tensor *constant_filters(graph *g, const config *c, tensor *x, size_t R) {
    const focus_settings *s = c->mixer;
    const uint32_t D = x->shape[x->rank - 1], F = (uint32_t)s->iir_filters;
    tensor *raw = graph_param(g, "theta_raw", (init){INIT_NORMAL, 1}, 0, 3, (uint32_t[]){D, F, 2});
    return coefficients(g, s, op_repeat(g, raw, R), 0);
}

// Steps 5-7.
static tensor *filter_and_attend(graph *g, const config *c, tensor *x, tensor *theta, size_t R) {
    const focus_settings *s = c->mixer;
    const size_t D = x->shape[x->rank - 1], F = s->iir_filters;
    const int mode = s->iir == IIR_LITERAL ? SMX_IIR_LITERAL
                     : s->iir == IIR_CARRY ? SMX_IIR_CARRY
                                           : SMX_IIR_CAUSAL;
    tensor *x_f = graph_name(g, op_iir(g, x, theta, R, F, mode), "x_f");
    tensor *q = graph_name(g, projected(g, c, x, "w_q"), "q");
    tensor *k = graph_name(g, projected(g, c, x_f, "w_k"), "k");
    tensor *v = graph_name(g, projected(g, c, x_f, "w_v"), "v");
    attention_opts chunks = {.causal = 1, .chunk = chunk_length(c)};
    tensor *y = graph_name(g, softmax_attention(g, c, q, k, v, chunks, NULL), "y");
    tensor *gamma = graph_name(g, op_silu(g, linear(g, c, x_f, "w_gamma", "b_gamma")), "gamma");
    tensor *phi = graph_name(g, op_sigmoid(g, linear(g, c, x_f, "w_phi", "b_phi")), "phi");
    tensor *from_filter = linear(g, c, x_f, "w_h", "b_h");
    tensor *gated = op_mul(g, gamma, y);
    tensor *from_attention = op_linear(g, gated, weight_matrix(g, "u_h", D, D, start_matrix(c, D, D)), NULL);
    tensor *z = graph_name(g, op_silu(g, op_add(g, from_filter, from_attention)), "z");
    return op_gate(g, phi, z, x);
}

static tensor *build(graph *g, const config *c, tensor *x) {
    const size_t R = bin_length(c);
    tensor *theta = graph_name(g, hypernetwork(g, c, x, R), "theta");
    return filter_and_attend(g, c, x, theta, R);
}
static tensor *build_h(graph *g, const config *c, tensor *x) {
    const size_t R = bin_length(c);
    tensor *theta = graph_name(g, constant_filters(g, c, x, R), "theta");
    return filter_and_attend(g, c, x, theta, R);
}

static size_t lookahead(const config *c, size_t length) {
    (void)length;
    return ((const focus_settings *)c->mixer)->iir == IIR_LITERAL ? bin_length(c) - 1 : 0;
}
static int has_residual(const config *c) {
    (void)c;
    return 1;
}

const mixer mixer_focus = {
    .name = "focus",
    .title = "Focus",
    .help = "Each stretch of the sequence is filtered by resonators that a small network chose from the "
            "stretch before; then attention in chunks.",
    .source = "Lutati, Zimerman & Wolf 2023, Eqs. 1-14",
    .cost = "L D log L + L (L/C) D",
    .defaults = "norm=rms&embed_std=0.1&skip=0",
    .keys = keys,
    .settings = sizeof(focus_settings),
    .follow_length = follow_length,
    .check = check,
    .build = build,
    .lookahead = lookahead,
    .has_residual = has_residual,
    .modes =
        MODES("iir=carry~iir=literal~iir=literal&bins=2&iir_filters=2&oversample=2~theta=triangle&iir=carry~"
              "theta=bounded&iir=carry~"
              "hyper=joint&oversample=2&chunks=2~hyper=local_global&oversample=2&squash=0.05~"
              "skip=1&iir_filters=2&chunks=4"),
};
const mixer mixer_focus_h = {
    .name = "focus_h",
    .title = "Focus-H",
    .help = "Focus without its hypernetwork: the same learned filters everywhere.",
    .source = "Lutati, Zimerman & Wolf 2023, Sec. 5",
    .cost = "L D F + L (L/C) D",
    .defaults = "norm=rms&embed_std=0.1",
    .keys = keys_h,
    .settings = sizeof(focus_settings),
    .follow_length = follow_length,
    .check = check,
    .build = build_h,
    .lookahead = lookahead,
    .has_residual = has_residual,
    .modes = MODES("iir=carry~iir=literal~theta=triangle&iir_filters=2~theta=bounded&iir=carry~chunks=2"),
};
