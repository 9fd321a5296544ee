// functions.c: see functions.h. One row a function.
#include "functions.h"

#include <stdio.h>
#include <string.h>

#include "kernels/mathd.h"
#include "model/ops/distance.h"
#include "model/ops/ops.h"

static size_t width(const tensor *t) { return t->shape[t->rank - 1]; }
static int same_shape(const tensor *a, const tensor *b) {
    return a->rank == b->rank && !memcmp(a->shape, b->shape, a->rank * sizeof *a->shape);
}

// ---- What must fit together -------------------------------------------------------------------------------
static int all_alike(const function_call *c, size_t n, char *why, size_t size) {
    for (size_t i = 1; i < n; i++)
        if (c->tensor[i] && !same_shape(c->tensor[0], c->tensor[i])) {
            snprintf(why, size, "its arguments are %zu and %zu wide; they must be alike", width(c->tensor[0]),
                     width(c->tensor[i]));
            return -1;
        }
    return 0;
}
static int heads_divide(const function_call *c, char *why, size_t size) {
    if (width(c->tensor[0]) % c->heads == 0) return 0;
    snprintf(why, size, "heads=%zu does not divide the width %zu", c->heads, width(c->tensor[0]));
    return -1;
}
static int qkv_fit(const function_call *c, char *why, size_t size) {
    return all_alike(c, 3, why, size) || heads_divide(c, why, size) ? -1 : 0;
}
static int rope_fits(const function_call *c, char *why, size_t size) {
    if (heads_divide(c, why, size)) return -1;
    if (width(c->tensor[0]) / c->heads % 2 == 0) return 0;
    snprintf(why, size, "a head has the odd width %zu; pairs of columns turn",
             width(c->tensor[0]) / c->heads);
    return -1;
}
static int attention_fits(const function_call *c, char *why, size_t size) {
    if (c->number[6] % 2 == 1 || c->number[6] == 0) return qkv_fit(c, why, size);
    snprintf(why, size, "pool must be odd, so that the window has a middle");
    return -1;
}
static int marks_fit(const function_call *c, char *why, size_t size) {
    return all_alike(c, 4, why, size) || heads_divide(c, why, size) ? -1 : 0;
}
static int three_alike(const function_call *c, char *why, size_t size) { return all_alike(c, 3, why, size); }
static int kernel_fits(const function_call *c, char *why, size_t size) {
    const tensor *k = c->tensor[1];
    if (k->rank == 2 && k->shape[0] == width(c->tensor[0])) return 0;
    snprintf(why, size, "its kernel must be [%zu][taps], a row a channel", width(c->tensor[0]));
    return -1;
}
static int scan_fits(const function_call *c, char *why, size_t size) {
    if (!same_shape(c->tensor[0], c->tensor[1]) || !same_shape(c->tensor[3], c->tensor[4])) {
        snprintf(why, size, "x and dt must be alike, b and c too");
        return -1;
    }
    if (c->tensor[2]->shape[1] == width(c->tensor[3])) return 0;
    snprintf(why, size, "a_log has %u states, b and c have %zu", c->tensor[2]->shape[1], width(c->tensor[3]));
    return -1;
}

// ---- The functions ----------------------------------------------------------------------------------------
#define ONE(NAME)                                                                                            \
    static tensor *call_##NAME(const function_call *c) { return op_##NAME(c->g, c->tensor[0]); }
ONE(gelu)
ONE(silu)
ONE(sigmoid)
ONE(tanh)
ONE(softplus)
ONE(elu1)

static tensor *call_layernorm(const function_call *c) {
    return op_layernorm(c->g, c->tensor[0], c->tensor[1], c->tensor[2]);
}
static tensor *call_unitnorm(const function_call *c) { return op_unitnorm(c->g, c->tensor[0], 1); }
static tensor *call_rmsnorm(const function_call *c) {
    return op_rmsnorm(c->g, c->tensor[0], c->tensor[1], 1);
}
static tensor *call_affine(const function_call *c) {
    return op_affine(c->g, c->tensor[0], c->tensor[1], c->tensor[2]);
}
static tensor *call_gate(const function_call *c) {
    return op_gate(c->g, c->tensor[0], c->tensor[1], c->tensor[2]);
}
static tensor *call_conv(const function_call *c) { return op_conv(c->g, c->tensor[0], c->tensor[1], 0); }
static tensor *call_conv_heads(const function_call *c) {
    return op_conv_heads(c->g, c->tensor[0], c->tensor[1]);
}
static tensor *call_bias(const function_call *c) { return op_bias(c->g, c->tensor[0], c->tensor[1]); }
static tensor *call_unit_projection(const function_call *c) {
    return op_unit_projection(c->g, c->tensor[0], c->tensor[1], c->tensor[2], 0);
}
static tensor *call_pool(const function_call *c) {
    return op_pool(c->g, c->tensor[0], c->number[1], 0, c->number[2]);
}
static tensor *call_landmark_keys(const function_call *c) {
    return op_block_filter(c->g, c->tensor[0], c->number[1], c->number[2] == 1, c->number[3] == 1);
}
static tensor *call_landmark(const function_call *c) {
    return op_landmark(c->g, c->tensor[0], c->tensor[1], c->tensor[2], c->tensor[3], c->heads, c->number[4]);
}
static tensor *call_s4d(const function_call *c) {
    tensor *k = op_s4d_kernel(c->g, c->tensor[1], c->tensor[2], c->tensor[3], c->tensor[4]);
    return op_longconv(c->g, c->tensor[0], k, c->tensor[5], 0.0);
}
static tensor *call_rope(const function_call *c) { return op_rope(c->g, c->tensor[0], c->heads); }
enum { DECAY_NONE, DECAY_EXP, DECAY_ALIBI, DECAY_ALIBI_SCALED };
static tensor *call_attention(const function_call *c) {
    const size_t H = c->heads, d = width(c->tensor[0]) / H;
    attention_opts opts = {.heads = H, .causal = 1, .chunk = c->number[5], .pool_window = c->number[6]};
    double alphas[LAS_MAX_HEADS];
    if (c->number[3] == DECAY_EXP) {
        las_alphas(alphas, H, c->real[4]);
        opts.decay_table = decay_table(c->g, alphas, H);
    }
    if (c->number[3] == DECAY_ALIBI) opts.bias = alibi_table(c->g, H, 1.0);
    if (c->number[3] == DECAY_ALIBI_SCALED) opts.bias = alibi_table(c->g, H, 1.0 / md_sqrt((double)d));
    return op_attention(c->g, c->tensor[0], c->tensor[1], c->tensor[2], &opts);
}
static tensor *call_attention_maps(const function_call *c) {
    const attention_opts opts = {.heads = c->heads, .causal = 1};
    return op_attention_maps(c->g, c->tensor[0], c->tensor[1], c->tensor[2], c->tensor[3], &opts);
}
static tensor *call_linear_attention(const function_call *c) {
    static const int normaliser[] = {SMX_LINATTN_SUM, SMX_LINATTN_RMS, SMX_LINATTN_NONE};
    return op_linear_attention(c->g, c->tensor[0], c->tensor[1], c->tensor[2], c->heads,
                               normaliser[c->number[3]], c->number[4]);
}
static tensor *call_longconv(const function_call *c) {
    return op_longconv(c->g, c->tensor[0], c->tensor[1], c->tensor[2], 0.0);
}
static tensor *call_ema(const function_call *c) {
    return op_ema(c->g, c->tensor[0], c->tensor[1], c->tensor[2], c->tensor[3], c->tensor[4], c->tensor[5]);
}
static tensor *call_scan(const function_call *c) {
    return op_selective_scan(c->g, c->tensor[0], c->tensor[1], c->tensor[2], c->tensor[3], c->tensor[4],
                             c->tensor[5]);
}

// Help stays out of the module that is downloaded.
#ifdef __wasm__
#define HELP(text) NULL
#else
#define HELP(text) text
#endif
// Lines of the rows
#define TENSOR(n)                                                                                            \
    { .kind = ARGUMENT_TENSOR, .name = n }
#define WEIGHT(n, r)                                                                                         \
    { .kind = ARGUMENT_WEIGHT, .name = n, .role = r }
#define MAYBE_WEIGHT(n, r)                                                                                   \
    { .kind = ARGUMENT_WEIGHT, .name = n, .role = r, .optional = 1 }
#define NUMBER(n, f, l, m)                                                                                   \
    { .kind = ARGUMENT_NUMBER, .name = n, .fallback = f, .least = l, .most = m }
#define REAL(n, f, l, m)                                                                                     \
    { .kind = ARGUMENT_REAL, .name = n, .fallback = f, .least = l, .most = m }
#define WORD(n, w)                                                                                           \
    { .kind = ARGUMENT_WORD, .name = n, .words = w }
#define QKV TENSOR("q"), TENSOR("k"), TENSOR("v")
enum { MOST_ROWS = 1 << 20 };

const equation_function equation_functions[] = {
    {"gelu", HELP("x Phi(x), entry by entry (tanh form)"), {TENSOR("x")}, NULL, call_gelu},
    {"silu", HELP("x sigmoid(x)"), {TENSOR("x")}, NULL, call_silu},
    {"sigmoid", HELP("1 / (1 + e^-x)"), {TENSOR("x")}, NULL, call_sigmoid},
    {"tanh", HELP("hyperbolic tangent"), {TENSOR("x")}, NULL, call_tanh},
    {"softplus", HELP("ln(1 + e^x)"), {TENSOR("x")}, NULL, call_softplus},
    {"elu1",
     HELP("x + 1 where x > 0, else e^x: positive features for linear attention"),
     {TENSOR("x")},
     NULL,
     call_elu1},
    {"gate", HELP("by a + (1 - by) b"), {TENSOR("by"), TENSOR("a"), TENSOR("b")}, three_alike, call_gate},
    {"affine",
     HELP("gain x + bias, a number each a column"),
     {TENSOR("x"), WEIGHT("gain", WEIGHT_GAIN), WEIGHT("bias", WEIGHT_BIAS)},
     NULL,
     call_affine},
    {"layernorm",
     HELP("rows to mean 0 and deviation 1, then gain and bias"),
     {TENSOR("x"), WEIGHT("gain", WEIGHT_GAIN), WEIGHT("bias", WEIGHT_BIAS)},
     NULL,
     call_layernorm},
    {"rmsnorm",
     HELP("rows over their root mean square, times gain"),
     {TENSOR("x"), WEIGHT("gain", WEIGHT_GAIN)},
     NULL,
     call_rmsnorm},
    {"unitnorm", HELP("rows to length 1"), {TENSOR("x")}, NULL, call_unitnorm},
    {"conv",
     HELP("each head its own short filter over time; tap 0 meets the current row (CAT Def. 1)"),
     {TENSOR("x"), WEIGHT("filter", WEIGHT_FILTER)},
     heads_divide,
     call_conv},
    {"conv_each",
     HELP("each column its own short filter over time"),
     {TENSOR("x"), WEIGHT("filter", WEIGHT_CHANNEL_TAPS)},
     NULL,
     call_conv},
    {"conv_heads",
     HELP("filters over time that also mix the heads (CAT's multi-head filter)"),
     {TENSOR("x"), WEIGHT("filter", WEIGHT_HEAD_TAPS)},
     heads_divide,
     call_conv_heads},
    {"bias",
     HELP("x + b, b repeated over the rows; x + b_name says the same"),
     {TENSOR("x"), WEIGHT("b", WEIGHT_BIAS)},
     NULL,
     call_bias},
    {"unit_projection",
     HELP("each head: rows of the filtered x to length 1, then its part of w (CAT Theorem 1)"),
     {TENSOR("x"), WEIGHT("w", WEIGHT_MATRIX), WEIGHT("filter", WEIGHT_FILTER)},
     heads_divide,
     call_unit_projection},
    {"pool",
     HELP("mean over the last `window` rows, divisor always `window`; inside chunks"),
     {TENSOR("x"), NUMBER("window", 3, 1, 65535), NUMBER("chunk", 0, 0, MOST_ROWS)},
     NULL,
     call_pool},
    {"landmark_keys",
     HELP(
         "what a block's last row says of the block: the sum of its rows (box), or a decaying sum of all before (rho)"),
     {TENSOR("k"), NUMBER("block", 8, 1, 65536), WORD("kind", "box|rho"), WORD("learns", "no|yes")},
     NULL,
     call_landmark_keys},
    {"landmark_attention",
     HELP("each query: softmax over its own block and the earlier block whose landmark it likes best (LCAT)"),
     {QKV, TENSOR("marks"), NUMBER("block", 8, 1, 65536)},
     marks_fit,
     call_landmark},
    {"s4d",
     HELP("the impulse response of a small linear system a column, as a filter as long as the sequence"),
     {TENSOR("x"), WEIGHT("log_dt", WEIGHT_BIAS), WEIGHT("log_a", WEIGHT_STATES),
      WEIGHT("a_im", WEIGHT_STATES), WEIGHT("c", WEIGHT_STATE_PAIRS), WEIGHT("skip", WEIGHT_GAIN)},
     NULL,
     call_s4d},
    {"rope",
     HELP("turns pairs of columns of each head by an angle that grows with the row (Su et al.)"),
     {TENSOR("x")},
     rope_fits,
     call_rope},
    {"attention",
     HELP(
         "causal softmax attention, a head each; decay: e^(-alpha distance) on the logits (LaS) or ALiBi; pool: masked average pooling of its map"),
     {QKV, WORD("decay", "none|exp|alibi|alibi_scaled"), REAL("range", 1, 0, 700),
      NUMBER("chunk", 0, 0, MOST_ROWS), NUMBER("pool", 0, 0, 65535)},
     attention_fits,
     call_attention},
    {"attention_maps",
     HELP("the same, its maps mixed across the heads (CAT Table 2)"),
     {QKV, WEIGHT("mix", WEIGHT_MAPS)},
     qkv_fit,
     call_attention_maps},
    {"linear_attention",
     HELP(
         "running sums of keys times values, read by the queries; sum: divided by the sum of weights, rms: each head to size 1"),
     {QKV, WORD("normaliser", "sum|rms|none"), NUMBER("tile", 64, 1, MOST_ROWS)},
     qkv_fit,
     call_linear_attention},
    {"longconv",
     HELP("a filter as long as the sequence a column, and skip x"),
     {TENSOR("x"), WEIGHT("kernel", WEIGHT_KERNEL), MAYBE_WEIGHT("skip", WEIGHT_GAIN)},
     kernel_fits,
     call_longconv},
    {"ema",
     HELP("several damped moving averages a column (MEGA)"),
     {TENSOR("x"), WEIGHT("alpha", WEIGHT_STATES), WEIGHT("delta", WEIGHT_STATES),
      WEIGHT("beta", WEIGHT_STATES), WEIGHT("eta", WEIGHT_STATES), WEIGHT("skip", WEIGHT_GAIN)},
     NULL,
     call_ema},
    {"selective_scan",
     HELP("a state space model whose step, input and output depend on the row (Mamba)"),
     {TENSOR("x"), TENSOR("dt"), WEIGHT("a_log", WEIGHT_STATES), TENSOR("b"), TENSOR("c"),
      WEIGHT("skip", WEIGHT_GAIN)},
     scan_fits,
     call_scan},
    {0},
};

const equation_function *function_find(const char *name) {
    for (const equation_function *f = equation_functions; f->name; f++)
        if (!strcmp(f->name, name)) return f;
    return NULL;
}
