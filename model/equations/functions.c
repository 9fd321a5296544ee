// functions.c: see functions.h. One row a function. Long because it is the one list of them.
#include "functions.h"

#include <stdio.h>
#include <string.h>

#include "kernels/core/mathd.h"
#include "model/ops/attention/distance.h"
#include "model/ops/ops.h"

const char *const weight_shapes[] = {
    [WEIGHT_MATRIX] = "Dd",       [WEIGHT_OUTPUT] = "Dd",     [WEIGHT_FILTER] = "Ht",
    [WEIGHT_CHANNEL_TAPS] = "Dt", [WEIGHT_HEAD_TAPS] = "tHH", [WEIGHT_MAPS] = "HH",
    [WEIGHT_KERNEL] = "Dl",       [WEIGHT_STATES] = "Ds",     [WEIGHT_STATE_PAIRS] = "Ds2",
    [WEIGHT_GAIN] = "D",          [WEIGHT_BIAS] = "D",        [WEIGHT_SUM_BIAS] = "n",
    [WEIGHT_HEADS] = "H",         [WEIGHT_RATES] = "H",       [WEIGHT_SINKS] = "H",
    [WEIGHT_PAIRS] = "D12",       [WEIGHT_CARRIED_4] = "4D",  [WEIGHT_CARRIED_3] = "3D",
    [WEIGHT_VALUE] = "d"};

static size_t width(const tensor *t) { return t->shape[t->rank - 1]; }
static int same_shape(const tensor *a, const tensor *b) {
    return a->rank == b->rank && !memcmp(a->shape, b->shape, a->rank * sizeof *a->shape);
}

// ---- What must fit together -------------------------------------------------------------------------------
// -1 with the sentence, for `return unless(...)`.
static int unless(int fits, char *why, size_t size, const char *sentence, size_t a, size_t b) {
    if (!fits) snprintf(why, size, sentence, a, b);
    return fits ? 0 : -1;
}
static int all_alike(const function_call *c, size_t n, char *why, size_t size) {
    for (size_t i = 1; i < n; i++)
        if (c->tensor[i] && !same_shape(c->tensor[0], c->tensor[i]))
            return unless(0, why, size, "its arguments are %zu and %zu wide; they must be alike",
                          width(c->tensor[0]), width(c->tensor[i]));
    return 0;
}
static int two_alike(const function_call *c, char *why, size_t size) { return all_alike(c, 2, why, size); }
static int three_alike(const function_call *c, char *why, size_t size) { return all_alike(c, 3, why, size); }
static int heads_divide(const function_call *c, char *why, size_t size) {
    return unless(width(c->tensor[0]) % c->heads == 0, why, size, "heads=%zu does not divide the width %zu",
                  c->heads, width(c->tensor[0]));
}
static int qkv_fit(const function_call *c, char *why, size_t size) {
    return all_alike(c, 3, why, size) || heads_divide(c, why, size) ? -1 : 0;
}
static int marks_fit(const function_call *c, char *why, size_t size) {
    return all_alike(c, 4, why, size) || heads_divide(c, why, size) ? -1 : 0;
}
static int rope_fits(const function_call *c, char *why, size_t size) {
    const size_t d = width(c->tensor[0]) / c->heads;
    if (heads_divide(c, why, size)) return -1;
    return unless(d % 2 == 0, why, size, "a head has the odd width %zu; pairs of columns turn", d, 0);
}
// What attention's later arguments are, by number.
enum { BIAS = 8, CAP, SINK, KV_HEADS, SCORE };
static size_t kv_heads(const function_call *c) {
    return c->number[KV_HEADS] ? c->number[KV_HEADS] : c->heads;
}
static int attention_fits(const function_call *c, char *why, size_t size) {
    const size_t groups = kv_heads(c), H = c->heads, wide = width(c->tensor[0]);
    const int new_columns = c->tensor[BIAS] || c->tensor[SINK];
    if (unless(!(c->number[3] || c->number[6]) ||
                   !(new_columns || c->number[KV_HEADS] || c->number[SCORE] || c->real[CAP] > 0.0),
               why, size, "decay and pool go with none of bias, cap, sink, kv_heads and score", 0, 0) ||
        unless(!new_columns || !(c->real[CAP] > 0.0), why, size, "cap goes without bias and sink", 0, 0) ||
        unless(!c->tensor[SINK] || !c->number[SCORE], why, size, "a sink needs score=softmax", 0, 0) ||
        unless(!c->tensor[BIAS] || (!c->number[7] && width(c->tensor[BIAS]) == H), why, size,
               "bias must have a column a head: heads=%zu, and causal=yes", H, 0))
        return -1;
    if (c->number[KV_HEADS])
        return unless(!(H % groups) && !(wide % H) && width(c->tensor[1]) == wide / H * groups &&
                          width(c->tensor[2]) == wide / H * groups,
                      why, size,
                      "kv_heads must divide heads=%zu, and k and v have as many heads of q's width", H, 0);
    if (unless(!c->number[6] || (c->number[6] % 2 && !c->number[7]), why, size,
               "pool must be odd, so that the window has a middle, and causal=yes", 0, 0))
        return -1;
    return qkv_fit(c, why, size);
}
static int future_fits(size_t future, size_t taps, char *why, size_t size) {
    return unless(future < taps, why, size, "future must be below the %zu taps", taps, 0);
}
static int pool_fits(const function_call *c, char *why, size_t size) {
    return future_fits(c->number[3], c->number[1], why, size);
}
static int taps_fit(const function_call *c, char *why, size_t size) {
    return future_fits(c->number[2], width(c->tensor[1]), why, size);
}
static int head_taps_fit(const function_call *c, char *why, size_t size) {
    return heads_divide(c, why, size) || taps_fit(c, why, size) ? -1 : 0;
}
static int unit_fits(const function_call *c, char *why, size_t size) {
    if (heads_divide(c, why, size) || future_fits(c->number[3], width(c->tensor[2]), why, size)) return -1;
    return unless(width(c->tensor[1]) % c->heads == 0, why, size,
                  "heads=%zu does not divide the %zu columns of w", c->heads, width(c->tensor[1]));
}
static int scan_fits(const function_call *c, char *why, size_t size) {
    if (unless(same_shape(c->tensor[0], c->tensor[1]) && same_shape(c->tensor[3], c->tensor[4]), why, size,
               "x and dt must be alike, b and c too", 0, 0))
        return -1;
    return unless(width(c->tensor[2]) == width(c->tensor[3]), why, size,
                  "a_log has %zu states, b and c have %zu", width(c->tensor[2]), width(c->tensor[3]));
}
// Of a state: beta a column a head, gates a column a head or key column; what is erased is as wide as k.
static int state_fits(const function_call *c, char *why, size_t size) {
    const size_t H = c->heads, dk = width(c->tensor[0]);
    const tensor *beta = c->tensor[3], *gates = c->tensor[4], *erase = c->tensor[5];
    if (unless(dk % H == 0 && width(c->tensor[1]) == dk && width(c->tensor[2]) % H == 0 &&
                   (!erase || width(erase) == dk),
               why, size, "q, k and erase must be alike, and heads=%zu divide them and v", H, 0) ||
        unless(!beta || width(beta) == H, why, size, "beta must have a column a head: heads=%zu", H, 0))
        return -1;
    return unless(!gates || width(gates) == H || width(gates) == dk, why, size,
                  "gates must have a column a head (heads=%zu) or a column of k (%zu)", H, dk);
}
static int shared_state_fits(const function_call *c, char *why, size_t size) {
    const size_t H = c->heads;
    return unless(width(c->tensor[0]) == width(c->tensor[1]) && width(c->tensor[2]) % H == 0 &&
                      width(c->tensor[3]) == H && width(c->tensor[4]) == H,
                  why, size, "c and b must be alike, heads=%zu divide u, dt and gates have a column a head",
                  H, 0);
}
static int heads_wide(const function_call *c, char *why, size_t size) {
    return unless(width(c->tensor[0]) == c->heads, why, size,
                  "dt must have a column a head: heads=%zu, its width is %zu", c->heads, width(c->tensor[0]));
}
static int join_fits(const function_call *c, char *why, size_t size) {
    const tensor *a = c->tensor[0], *b = c->tensor[1];
    return unless(a->rank == b->rank && a->shape[1] == b->shape[1] && a->n / width(a) == b->n / width(b), why,
                  size, "a and b must have the same rows", 0, 0);
}
static int gates_fit(const function_call *c, size_t gates, char *why, size_t size) {
    return unless(width(c->tensor[0]) % gates == 0, why, size,
                  "z must have %zu columns for each of the result; it has %zu", gates, width(c->tensor[0]));
}
static int lstm_fits(const function_call *c, char *why, size_t size) { return gates_fit(c, 4, why, size); }
static int gru_fits(const function_call *c, char *why, size_t size) { return gates_fit(c, 3, why, size); }
static int taylor_fits(const function_call *c, char *why, size_t size) {
    const size_t H = c->heads, d = width(c->tensor[0]);
    if (unless(d % H == 0 && width(c->tensor[1]) == d && width(c->tensor[2]) % H == 0, why, size,
               "q and k must be alike, and heads=%zu divide them and v", H, 0))
        return -1;
    return unless(d / H <= 64, why, size, "a head of q has %zu columns; at most %zu are allowed", d / H, 64);
}
static int columns_fit(const function_call *c, char *why, size_t size) {
    const size_t end = c->number[1] + c->number[2];
    return unless(end <= width(c->tensor[0]), why, size, "columns up to %zu of %zu", end - 1,
                  width(c->tensor[0]));
}
// A stream has a row of what belongs to a bin for each of its own, and may end anywhere.
static size_t bins_of(const graph *g, size_t bin) { return g->mode == GRAPH_STREAM ? g->span : g->L / bin; }
static int bins_fit(const function_call *c, size_t bin, char *why, size_t size) {
    return unless(c->g->mode == GRAPH_STREAM || c->g->L % bin == 0, why, size,
                  "bin=%zu does not divide the length %zu", bin, c->g->L);
}
static int bin_max_fits(const function_call *c, char *why, size_t size) {
    return bins_fit(c, c->number[1], why, size);
}
static int repeat_fits(const function_call *c, char *why, size_t size) {
    return bins_fit(c, c->number[2], why, size);
}
static int coefficients_fit(const function_call *c, char *why, size_t size) {
    const tensor *raw = c->tensor[0];
    return unless(raw->rank >= 3 && width(raw) % 2 == 0, why, size, "it takes pairs, some for each bin", 0,
                  0);
}
static int resonate_fits(const function_call *c, char *why, size_t size) {
    const size_t bin = c->number[2], bins = bins_of(c->g, bin),
                 all = c->g->B * bins * width(c->tensor[0]) * 2;
    const tensor *x = c->tensor[0], *t = c->tensor[1];
    if (bins_fit(c, bin, why, size)) return -1;
    return unless(x->rank == 3 && x->shape[1] == c->g->span && t->rank >= 3 && t->shape[1] == bins &&
                      t->n % all == 0 && t->n / all <= 64,
                  why, size,
                  "it needs pairs of coefficients for each bin of %zu rows and each of %zu columns", bin,
                  width(c->tensor[0]));
}

// ---- How far ahead ----------------------------------------------------------------------------------------
static long within(size_t rows, size_t chunk, size_t L) {
    const size_t most = (chunk && chunk < L ? chunk : L) - 1;
    return (long)(rows < most ? rows : most);
}
static long conv_ahead(const function_call *c) { return within(c->number[2], 0, c->g->L); }
static long unit_ahead(const function_call *c) { return within(c->number[3], 0, c->g->L); }
static long pool_ahead(const function_call *c) { return within(c->number[3], c->number[2], c->g->L); }
static long attention_ahead(const function_call *c) {
    return c->number[7] ? within(c->g->L, c->number[5], c->g->L) : 0;
}
enum { RESONATE_CAUSAL, RESONATE_CARRY, RESONATE_LITERAL };
static long resonate_ahead(const function_call *c) {
    return c->number[3] == RESONATE_LITERAL ? (long)c->number[2] - 1 : 0;
}
static long bin_ahead(const function_call *c) { return (long)c->number[1] - 1; }
static long shift_ahead(const function_call *c) { return -(long)c->number[1]; }
static long reverse_ahead(const function_call *c) { return (long)c->g->L - 1; }
static long coefficients_ahead(const function_call *c) {
    return c->number[3] ? 0 : -(long)(c->g->L / c->tensor[0]->shape[1]);
}

// ---- The functions ----------------------------------------------------------------------------------------
static tensor *call_scale(const function_call *c) { return op_scale(c->g, c->tensor[0], c->real[1]); }
// The kernels' norms have eps = 1e-5: with another one x is scaled before, x / sqrt(m + eps) =
// s x / sqrt(s^2 m + 1e-5). (0 / 0 is no number: eps is at least 1e-20.)
static const double usual_eps = 1e-5, least_eps = 1e-20;
static tensor *scaled_for(const function_call *c, size_t at, tensor *x) {
    const double eps = c->real[at];
    return eps < 0 ? x : op_scale(c->g, x, md_sqrt(usual_eps / (eps > least_eps ? eps : least_eps)));
}
// x / sqrt(|x|^2 + eps) is a root mean square with eps / d, over the root of d.
static tensor *unit(const function_call *c, size_t parts) {
    const double eps = c->real[1], d = (double)(width(c->tensor[0]) / parts);
    if (!(eps > 0)) return op_unitnorm(c->g, c->tensor[0], parts);
    tensor *x = op_scale(c->g, c->tensor[0], md_sqrt(usual_eps * d / eps));
    return op_scale(c->g, op_rms(c->g, x, parts), 1 / md_sqrt(d));
}
static tensor *call_unitnorm(const function_call *c) { return unit(c, 1); }
static tensor *call_unitnorm_heads(const function_call *c) { return unit(c, c->heads); }
static tensor *call_layernorm(const function_call *c) {
    return op_layernorm(c->g, scaled_for(c, 3, c->tensor[0]), c->tensor[1], c->tensor[2]);
}
static tensor *call_rmsnorm(const function_call *c) {
    return op_rmsnorm(c->g, scaled_for(c, 2, c->tensor[0]), c->tensor[1], 1);
}
static tensor *call_rms_heads(const function_call *c) {
    return op_rms(c->g, scaled_for(c, 1, c->tensor[0]), c->heads);
}
static tensor *call_gain_heads(const function_call *c) {
    return op_gain(c->g, c->tensor[0], op_spread(c->g, c->tensor[1], width(c->tensor[0]) / c->heads));
}
// A weight as a value: from here on it may be used several times.
static tensor *call_value(const function_call *c) { return op_spread(c->g, c->tensor[0], 1); }
static tensor *call_decays(const function_call *c) {
    tensor *rate = op_exp(c->g, op_spread(c->g, c->tensor[1], 1));
    return op_gain(c->g, c->tensor[0], op_scale(c->g, rate, -1.0));
}
static tensor *call_divide(const function_call *c) {
    tensor *l = op_log(c->g, c->tensor[1]);
    tensor *inverse = op_exp(c->g, op_scale(c->g, l, -1.0));
    return op_mul(c->g, c->tensor[0], inverse);
}
static void fill_number(float *data, const uint32_t *shape, double number) {
    for (size_t i = 0; i < shape[0]; i++) data[i] = (float)number;
}
static tensor *plus(graph *g, tensor *x, double number) {
    const uint32_t D = (uint32_t)width(x);
    return op_bias(g, x, op_table(g, fill_number, 1, &D, number));
}
static tensor *call_offset(const function_call *c) { return plus(c->g, c->tensor[0], c->real[1]); }
static tensor *call_power(const function_call *c) {
    tensor *square = c->tensor[0], *y = NULL;
    for (size_t n = c->number[1]; n; n >>= 1) {
        if (n & 1) y = y ? op_mul(c->g, y, square) : square;
        if (n > 1) square = op_mul(c->g, square, square);
    }
    return y == c->tensor[0] ? op_scale(c->g, y, 1.0) : y;
}
static tensor *call_per_head(const function_call *c) { return op_spread(c->g, c->tensor[0], c->number[1]); }
static tensor *call_sum_heads(const function_call *c) { return op_sum_heads(c->g, c->tensor[0], c->heads); }
static tensor *call_softmax_heads(const function_call *c) {
    return op_softmax_heads(c->g, c->tensor[0], c->heads);
}
static tensor *call_layernorm_heads(const function_call *c) {
    const size_t d = width(c->tensor[0]) / c->heads;
    tensor *mean = op_scale(c->g, op_sum_heads(c->g, c->tensor[0], c->heads), -1.0 / (double)d);
    tensor *rest = op_add(c->g, c->tensor[0], op_spread(c->g, mean, d));
    return op_affine(c->g, op_rms(c->g, scaled_for(c, 3, rest), c->heads), c->tensor[1], c->tensor[2]);
}
static tensor *call_shift(const function_call *c) { return op_shift(c->g, c->tensor[0], c->number[1]); }
static tensor *call_reverse(const function_call *c) { return op_reverse(c->g, c->tensor[0]); }
static tensor *call_columns(const function_call *c) {
    return op_columns(c->g, c->tensor[0], c->number[1], c->number[2], 1);
}
static tensor *call_join(const function_call *c) { return op_join(c->g, c->tensor[0], c->tensor[1], 1); }
static tensor *call_conv(const function_call *c) {
    return op_conv(c->g, c->tensor[0], c->tensor[1], c->number[2]);
}
static tensor *call_unit_projection(const function_call *c) {
    return op_unit_projection(c->g, c->tensor[0], c->tensor[1], c->tensor[2], c->number[3]);
}
static tensor *call_pool(const function_call *c) {
    return op_pool(c->g, c->tensor[0], c->number[1], c->number[3], c->number[2]);
}
static tensor *call_landmark_keys(const function_call *c) {
    return op_block_filter(c->g, c->tensor[0], c->number[1], c->number[2] == 1, c->number[3] == 1);
}
static tensor *call_landmark(const function_call *c) {
    return op_landmark(c->g, c->tensor[0], c->tensor[1], c->tensor[2], c->tensor[3], c->heads, c->number[4]);
}
// Named for who looks inside.
static tensor *s4d_kernel(graph *g, tensor *log_dt, tensor *log_a, tensor *a_im, tensor *out) {
    return graph_name(g, op_s4d_kernel(g, log_dt, log_a, a_im, out), "kernel");
}
static tensor *call_s4d(const function_call *c) {
    tensor *k = s4d_kernel(c->g, c->tensor[1], c->tensor[2], c->tensor[3], c->tensor[4]);
    return op_longconv(c->g, c->tensor[0], k, c->tensor[5], 0.0);
}
static tensor *call_s4d_real(const function_call *c) {
    tensor *k = s4d_kernel(c->g, c->tensor[1], c->tensor[2], NULL, c->tensor[3]);
    return op_longconv(c->g, c->tensor[0], k, c->tensor[4], 0.0);
}
static tensor *call_rope(const function_call *c) { return op_rope(c->g, c->tensor[0], c->heads); }
enum { DECAY_NONE, DECAY_EXP, DECAY_ALIBI, DECAY_ALIBI_SCALED };
static attention_opts attention_of(const function_call *c) {
    const size_t H = c->heads, d = width(c->tensor[0]) / H;
    attention_opts opts = {
        .heads = H, .causal = c->number[7] == 0, .chunk = c->number[5], .pool_window = c->number[6]};
    double alphas[LAS_MAX_HEADS];
    if (c->number[3] == DECAY_EXP) {
        las_alphas(alphas, H, c->real[4]);
        opts.decay_table = decay_table(c->g, alphas, H, opts.chunk);
    }
    if (c->number[3] == DECAY_ALIBI) opts.bias = alibi_table(c->g, H, opts.chunk, 1.0);
    if (c->number[3] == DECAY_ALIBI_SCALED)
        opts.bias = alibi_table(c->g, H, opts.chunk, 1.0 / md_sqrt((double)d));
    return opts;
}
// Each head of k or v for as many of q.
static tensor *grouped(const function_call *c, tensor *x) {
    tensor *y = x;
    for (size_t n = c->heads / kv_heads(c); n > 1; n--) y = op_join(c->g, y, x, kv_heads(c));
    return y;
}
// Gates and a sink are columns of each head before those of q and k, so that a logit begins with them: with
// G_i - G_j, of sums in two floats each (one would lose what neighbours differ by), and -s beside a sink of
// 0.
static tensor *call_attention(const function_call *c) {
    graph *g = c->g;
    const size_t H = c->heads;
    attention_opts opts = attention_of(c);
    tensor *q = c->tensor[0], *k = grouped(c, c->tensor[1]), *v = grouped(c, c->tensor[2]);
    tensor *of_q = NULL, *of_k = NULL;
    opts.cap = c->real[CAP];
    opts.score = c->number[SCORE] ? SMX_SCORE_SIGMOID : c->tensor[SINK] ? SMX_SCORE_SINK : SMX_SCORE_SOFTMAX;
    if (c->tensor[BIAS]) {
        tensor *sums = op_join(g, op_cumsum(g, c->tensor[BIAS]), op_running(g, c->tensor[BIAS], SUM_REST), H);
        tensor *one = plus(g, op_scale(g, sums, 0.0), 1.0);
        of_q = op_join(g, sums, one, 2 * H);
        of_k = op_join(g, one, op_scale(g, sums, -1.0), 2 * H);
    }
    if (c->tensor[SINK]) {
        tensor *zero = op_scale(g, op_columns(g, q, 0, H, 1), 0.0), *one = plus(g, zero, 1.0);
        tensor *less = op_bias(g, zero, op_scale(g, c->tensor[SINK], -1.0));
        of_q = of_q ? op_join(g, of_q, one, H) : one;
        of_k = of_k ? op_join(g, of_k, less, H) : less;
    }
    if (!of_q) return op_attention(g, q, k, v, &opts);
    const size_t more = width(of_q) / H, d = width(q) / H;
    opts.scale = 1.0;
    opts.sink_column = c->tensor[SINK] ? more : 0;
    q = op_join(g, of_q, op_scale(g, q, 1.0 / md_sqrt((double)d)), H);
    k = op_join(g, of_k, k, H);
    v = op_join(g, of_q, v, H); // (any columns)
    return op_columns(g, op_attention(g, q, k, v, &opts), more, d, H);
}
static tensor *call_attention_maps(const function_call *c) {
    const size_t H = c->heads, d = width(c->tensor[0]) / H;
    attention_opts opts = {.heads = H, .causal = 1};
    if (c->number[4] == 1) opts.bias = alibi_table(c->g, H, opts.chunk, 1.0);
    if (c->number[4] == 2) opts.bias = alibi_table(c->g, H, opts.chunk, 1.0 / md_sqrt((double)d));
    return op_attention_maps(c->g, c->tensor[0], c->tensor[1], c->tensor[2], c->tensor[3], &opts);
}
static tensor *call_linear_attention(const function_call *c) {
    static const int normaliser[] = {SMX_LINATTN_SUM, SMX_LINATTN_RMS, SMX_LINATTN_NONE};
    return op_linear_attention(c->g, c->tensor[0], c->tensor[1], c->tensor[2], c->heads,
                               normaliser[c->number[3]], c->number[4]);
}
static double root_scale(const function_call *c) {
    return 1.0 / md_sqrt((double)(width(c->tensor[0]) / c->heads));
}
static tensor *call_gla(const function_call *c) {
    return op_gla(c->g, c->tensor[0], c->tensor[1], c->tensor[2], c->tensor[3], c->tensor[4], c->heads, 0,
                  root_scale(c));
}
static tensor *call_ssd(const function_call *c) {
    return op_gla(c->g, c->tensor[0], c->tensor[1], c->tensor[2], c->tensor[3], c->tensor[4], c->heads, 1,
                  1.0);
}
static tensor *call_delta(const function_call *c) {
    return op_delta(c->g, c->tensor[0], c->tensor[1], c->tensor[2], c->tensor[3], c->tensor[4], c->tensor[5],
                    c->heads, root_scale(c));
}
static tensor *call_retention(const function_call *c) {
    return op_retention(c->g, c->tensor[0], c->tensor[1], c->tensor[2], c->heads, root_scale(c));
}
static tensor *call_taylor(const function_call *c) {
    return op_taylor_attention(c->g, c->tensor[0], c->tensor[1], c->tensor[2], c->heads);
}
static tensor *call_sliding(const function_call *c) {
    const size_t H = c->heads;
    attention_opts opts = {.heads = H, .causal = 1, .sliding = c->number[3], .chunk = c->number[5]};
    if (c->number[4] == 1) opts.bias = alibi_table(c->g, H, opts.chunk, 1.0);
    if (c->number[4] == 2) opts.bias = alibi_table(c->g, H, opts.chunk, root_scale(c));
    return op_attention(c->g, c->tensor[0], c->tensor[1], c->tensor[2], &opts);
}
static tensor *call_longconv(const function_call *c) {
    return op_longconv(c->g, c->tensor[0], c->tensor[1], c->tensor[2], c->real[3]);
}
static tensor *call_ema(const function_call *c) {
    return op_ema(c->g, c->tensor[0], c->tensor[1], c->tensor[2], c->tensor[3], c->tensor[4], c->tensor[5]);
}
static tensor *call_scan(const function_call *c) {
    return op_selective_scan(c->g, c->tensor[0], c->tensor[1], c->tensor[2], c->tensor[3], c->tensor[4],
                             c->tensor[5]);
}
static tensor *call_bin_max(const function_call *c) {
    return op_maxpool(c->g, c->tensor[0], c->number[1], c->number[2], c->number[3] == 1);
}
static tensor *call_repeat(const function_call *c) { return op_repeat(c->g, c->tensor[1], c->number[2]); }
static tensor *call_coefficients(const function_call *c) {
    return op_theta(c->g, c->tensor[0], c->number[1] == 1, c->real[2], c->number[3] == 0);
}
static tensor *call_resonate(const function_call *c) {
    static const int mode[] = {SMX_IIR_CAUSAL, SMX_IIR_CARRY, SMX_IIR_LITERAL};
    const size_t bins = bins_of(c->g, c->number[2]);
    return op_iir(c->g, c->tensor[0], c->tensor[1], c->number[2],
                  c->tensor[1]->n / (c->g->B * bins * width(c->tensor[0]) * 2), mode[c->number[3]]);
}

// Lines of the rows
#define TENSOR(n)                                                                                            \
    { .kind = ARGUMENT_TENSOR, .name = n }
#define MAYBE_TENSOR(n)                                                                                      \
    { .kind = ARGUMENT_TENSOR, .name = n, .optional = 1 }
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
#define EPS REAL("eps", -1, 0, 1) // below 0: the usual one
#define ARGUMENTS(...)                                                                                       \
    .arguments = (const function_argument[]) {                                                               \
        __VA_ARGS__, { 0 }                                                                                   \
    }
// What readers are told stays out of the module that is downloaded.
#ifdef __wasm__
#define TOLD(...) .help = NULL
#else
#define TOLD(...) __VA_ARGS__
#endif
enum { MOST_ROWS = 1 << 20 };

const equation_function equation_functions[] = {
    {.name = "linear",
     ARGUMENTS(TENSOR("x"), WEIGHT("w", WEIGHT_MATRIX), MAYBE_WEIGHT("b", WEIGHT_SUM_BIAS)),
     .any_shape = 1,
     .three = op_linear,
     TOLD(.help = "the product with a matrix, and b added; x @ w and x @ w + b_name say the same",
          .formula = "y = x W + b", .gives = "[..][n]", .cost = "D n", .example = "y = linear(x, w_1, b_1)",
          .twin = "ref_linear")},
    {.name = "add",
     ARGUMENTS(TENSOR("a"), TENSOR("b")),
     .any_shape = 1,
     .check = two_alike,
     .two = op_add,
     TOLD(.help = "entry by entry; a + b says the same", .formula = "y = a + b", .cost = "0",
          .example = "q = x @ w_q\ny = add(x, q)", .twin = "ref_add")},
    {.name = "mul",
     ARGUMENTS(TENSOR("a"), TENSOR("b")),
     .any_shape = 1,
     .check = two_alike,
     .two = op_mul,
     TOLD(.help = "entry by entry; a * b says the same", .formula = "y = a \\odot b", .cost = "D",
          .example = "y = mul(x, sigmoid(x @ w_g)) @ w_o", .twin = "ref_mul")},
    {.name = "scale",
     ARGUMENTS(TENSOR("x"), REAL("by", 1, -1000000, 1000000)),
     .any_shape = 1,
     .apply = call_scale,
     TOLD(.help = "times a number; x * 2, 2 * x, -x and x / 2 say the same", .formula = "y = s x",
          .cost = "D", .example = "y = scale(x @ w_o, 0.5)", .twin = "ref_scale")},
    {.name = "divide",
     ARGUMENTS(TENSOR("a"), TENSOR("b")),
     .any_shape = 1,
     .check = two_alike,
     .apply = call_divide,
     TOLD(.help = "a e^(-ln b), entry by entry, b positive; a / b says the same", .formula = "y = a / b",
          .cost = "2 D", .example = "u = softplus(x @ w_u)\ny = divide(x, u) @ w_o",
          .twin = "ref_log, ref_exp, ref_mul")},
    {.name = "offset",
     ARGUMENTS(TENSOR("x"), REAL("by", 1, -1000000, 1000000)),
     .any_shape = 1,
     .apply = call_offset,
     TOLD(.help = "a number added; x + 1, 1 - x and x - 2 say the same", .formula = "y = x + s", .cost = "0",
          .example = "f = sigmoid(x @ w_f)\ny = offset(-f, 1) * x + f * mean(x)", .twin = "check/twins.c")},
    {.name = "power",
     ARGUMENTS(TENSOR("x"), NUMBER("to", 2, 1, 64)),
     .any_shape = 1,
     .apply = call_power,
     TOLD(.help = "x to a whole power; x^2 and x**2 say the same", .formula = "y = x^n", .cost = "2 D",
          .example = "y = power(relu(x @ w_1), 2) @ w_o", .twin = "check/twins.c")},
    {.name = "value",
     ARGUMENTS(WEIGHT("w", WEIGHT_VALUE)),
     .any_shape = 1,
     .apply = call_value,
     TOLD(.help =
              "a weight as a value, which meets every row; scale[width] says the same where a tensor can stand",
          .formula = "y = w", .gives = "[n]", .cost = "0",
          .example = "y = (x * value(s[width]) + b_1[width]) @ w_o", .twin = "check/twins.c")},
    {.name = "max",
     ARGUMENTS(TENSOR("a"), TENSOR("b")),
     .any_shape = 1,
     .check = two_alike,
     .two = op_max,
     TOLD(.help = "the larger of two, entry by entry; the gradient goes to it (to b where they are equal)",
          .formula = "y = \\max(a, b)", .cost = "0", .example = "y = max(x @ w_a, x @ w_b) @ w_o",
          .twin = "check/twins.c")},
    {.name = "bias",
     ARGUMENTS(TENSOR("x"), WEIGHT("b", WEIGHT_BIAS)),
     .any_shape = 1,
     .two = op_bias,
     TOLD(.help = "b added to every row; x + b_name says the same", .formula = "y = x + b", .cost = "0",
          .example = "y = bias(conv(x, f), b_f) @ w_o", .twin = "ref_bias")},
    {.name = "gain",
     ARGUMENTS(TENSOR("x"), WEIGHT("gain", WEIGHT_GAIN)),
     .any_shape = 1,
     .two = op_gain,
     TOLD(.help = "each column times a number of its own", .formula = "y_{tc} = g_c x_{tc}", .cost = "D",
          .example = "y = gain(x, g) @ w_o", .twin = "ref_mul")},
    {.name = "gain_heads",
     ARGUMENTS(TENSOR("x"), WEIGHT("gain", WEIGHT_HEADS)),
     .any_shape = 1,
     .check = heads_divide,
     .apply = call_gain_heads,
     TOLD(.help = "each head times a number of its own", .formula = "y_{tc} = g_{h(c)} x_{tc}", .cost = "D",
          .example = "y = gain_heads(x, g) @ w_o", .twin = "ref_mul")},
    {.name = "affine",
     ARGUMENTS(TENSOR("x"), WEIGHT("gain", WEIGHT_GAIN), WEIGHT("bias", WEIGHT_BIAS)),
     .any_shape = 1,
     .three = op_affine,
     TOLD(.help = "each column times a number, and one added", .formula = "y_{tc} = g_c x_{tc} + b_c",
          .cost = "D", .example = "y = affine(x, alpha, beta) @ w_o", .twin = "ref_mul, ref_bias")},
    {.name = "gelu",
     ARGUMENTS(TENSOR("x")),
     .any_shape = 1,
     .one = op_gelu,
     TOLD(.help = "x Phi(x), entry by entry (tanh form)", .formula = "y = x \\Phi(x)", .cost = "0",
          .example = "y = gelu(x @ w_1) @ w_o", .twin = "ref_gelu")},
    {.name = "silu",
     ARGUMENTS(TENSOR("x")),
     .any_shape = 1,
     .one = op_silu,
     TOLD(.help = "x sigmoid(x)", .formula = "y = x \\sigma(x)", .cost = "0",
          .example = "y = silu(x @ w_1) @ w_o", .twin = "ref_silu")},
    {.name = "sigmoid",
     ARGUMENTS(TENSOR("x")),
     .any_shape = 1,
     .one = op_sigmoid,
     TOLD(.help = "1 / (1 + e^-x)", .formula = "y = 1 / (1 + e^{-x})", .cost = "0",
          .example = "y = sigmoid(x @ w_1) @ w_o", .twin = "ref_sigmoid")},
    {.name = "relu",
     ARGUMENTS(TENSOR("x")),
     .any_shape = 1,
     .one = op_relu,
     TOLD(.help = "x where x > 0, else 0; slope 0 at 0", .formula = "y = \\max(x, 0)", .cost = "0",
          .example = "y = relu(x @ w_1) @ w_o", .twin = "check/twins.c")},
    {.name = "sqrt",
     ARGUMENTS(TENSOR("x")),
     .any_shape = 1,
     .one = op_sqrt,
     TOLD(.help = "square root; slope 0 at 0", .formula = "y = \\sqrt{x}", .cost = "0",
          .example = "a = sigmoid(x @ w_1)\ny = sqrt(1 - a^2) * x", .twin = "check/twins.c")},
    {.name = "abs",
     ARGUMENTS(TENSOR("x")),
     .any_shape = 1,
     .one = op_abs,
     TOLD(.help = "x without its sign; slope 0 at 0", .formula = "y = |x|", .cost = "0",
          .example = "y = abs(x @ w_1) @ w_o", .twin = "check/twins.c")},
    {.name = "sin",
     ARGUMENTS(TENSOR("x")),
     .any_shape = 1,
     .one = op_sin,
     TOLD(.help = "sine of an angle between -8192 and 8192, else NaN", .formula = "y = \\sin x", .cost = "0",
          .example = "y = sin(x @ w_1) @ w_o", .twin = "check/twins.c")},
    {.name = "cos",
     ARGUMENTS(TENSOR("x")),
     .any_shape = 1,
     .one = op_cos,
     TOLD(.help = "cosine of an angle between -8192 and 8192, else NaN", .formula = "y = \\cos x",
          .cost = "0", .example = "y = cos(x @ w_1) @ w_o", .twin = "check/twins.c")},
    {.name = "tanh",
     ARGUMENTS(TENSOR("x")),
     .any_shape = 1,
     .one = op_tanh,
     TOLD(.help = "hyperbolic tangent", .formula = "y = \\tanh x", .cost = "0",
          .example = "y = tanh(x @ w_1) @ w_o", .twin = "ref_tanh")},
    {.name = "softplus",
     ARGUMENTS(TENSOR("x")),
     .any_shape = 1,
     .one = op_softplus,
     TOLD(.help = "ln(1 + e^x)", .formula = "y = \\ln(1 + e^x)", .cost = "0",
          .example = "y = softplus(x @ w_1) @ w_o", .twin = "check/twins.c")},
    {.name = "elu1",
     ARGUMENTS(TENSOR("x")),
     .any_shape = 1,
     .one = op_elu1,
     TOLD(.help = "x + 1 where x > 0, else e^x: positive features for linear attention",
          .formula = "y = x + 1 \\text{ where } x > 0, \\text{ else } e^x", .cost = "0",
          .example = "y = elu1(x @ w_1) @ w_o", .twin = "ref_elu1")},
    {.name = "exp",
     ARGUMENTS(TENSOR("x")),
     .any_shape = 1,
     .one = op_exp,
     TOLD(.help = "e^x: infinite above 88", .formula = "y = e^x", .cost = "0",
          .example = "y = exp(x @ w_1) @ w_o", .twin = "ref_exp")},
    {.name = "log",
     ARGUMENTS(TENSOR("x")),
     .any_shape = 1,
     .one = op_log,
     TOLD(.help = "natural logarithm of positive numbers", .formula = "y = \\ln x", .cost = "0",
          .example = "y = log(softplus(x @ w_1)) @ w_o", .twin = "ref_log")},
    {.name = "gate",
     ARGUMENTS(TENSOR("by"), TENSOR("a"), TENSOR("b")),
     .any_shape = 1,
     .check = three_alike,
     .three = op_gate,
     TOLD(.help = "between b and a, as far as `by` says", .formula = "y = g \\odot a + (1 - g) \\odot b",
          .cost = "2 D", .example = "y = gate(sigmoid(x @ w_g), x @ w_a, x)", .twin = "check/twins.c")},
    {.name = "layernorm",
     ARGUMENTS(TENSOR("x"), WEIGHT("gain", WEIGHT_GAIN), WEIGHT("bias", WEIGHT_BIAS), EPS),
     .any_shape = 1,
     .apply = call_layernorm,
     TOLD(.help =
              "rows to mean 0 and deviation 1, then gain and bias; eps: in place of 10^-5, at least 10^-20",
          .formula = "y = g \\odot (x - \\mu) / \\sqrt{\\sigma^2 + 10^{-5}} + b", .cost = "3 D",
          .example = "y = layernorm(x, g, b) @ w_o", .twin = "ref_layernorm")},
    {.name = "rmsnorm",
     ARGUMENTS(TENSOR("x"), WEIGHT("gain", WEIGHT_GAIN), EPS),
     .any_shape = 1,
     .apply = call_rmsnorm,
     TOLD(.help = "rows over their root mean square, times gain; eps: in place of 10^-5, at least 10^-20",
          .formula = "y = g \\odot x / \\sqrt{\\overline{x^2} + 10^{-5}}", .cost = "3 D",
          .example = "y = rmsnorm(x, g) @ w_o", .twin = "ref_rmsnorm")},
    {.name = "rms_heads",
     ARGUMENTS(TENSOR("x"), EPS),
     .any_shape = 1,
     .check = heads_divide,
     .apply = call_rms_heads,
     TOLD(.help = "each head of a row over its root mean square; eps: in place of 10^-5, at least 10^-20",
          .formula = "y_h = x_h / \\sqrt{\\overline{x_h^2} + 10^{-5}}", .cost = "2 D",
          .example = "y = rms_heads(x @ w_1) @ w_o", .twin = "ref_rmsnorm")},
    {.name = "layernorm_heads",
     ARGUMENTS(TENSOR("x"), WEIGHT("gain", WEIGHT_GAIN), WEIGHT("bias", WEIGHT_BIAS), EPS),
     .any_shape = 1,
     .check = heads_divide,
     .apply = call_layernorm_heads,
     TOLD(.help =
              "each head of a row to mean 0 and deviation 1, then gain and bias, a number a column; eps: in place of 10^-5, at least 10^-20",
          .formula = "y_h = g_h \\odot (x_h - \\mu_h) / \\sqrt{\\sigma_h^2 + 10^{-5}} + b_h", .cost = "3 D",
          .example = "y = layernorm_heads(x @ w_1, g, b) @ w_o", .twin = "check/twins.c")},
    {.name = "softmax_heads",
     ARGUMENTS(TENSOR("x")),
     .any_shape = 1,
     .check = heads_divide,
     .apply = call_softmax_heads,
     TOLD(.help = "the softmax of each head of a row", .formula = "y_h = e^{x_h} / \\sum_c e^{x_{hc}}",
          .cost = "0", .example = "y = (softmax_heads(x @ w_1) * x) @ w_o", .twin = "check/twins.c")},
    {.name = "sum_heads",
     ARGUMENTS(TENSOR("x")),
     .any_shape = 1,
     .check = heads_divide,
     .apply = call_sum_heads,
     TOLD(.help = "the sum of each head's columns, a column a head", .formula = "y_h = \\sum_c x_{hc}",
          .gives = "[..][H]", .cost = "0",
          .example = "q = x @ w_q\nk = x @ w_k\ny = per_head(sigmoid(sum_heads(q * k))) * x",
          .twin = "check/twins.c")},
    {.name = "per_head",
     ARGUMENTS(TENSOR("s"), NUMBER("columns", -1, 1, 65536)),
     .any_shape = 1,
     .apply = call_per_head,
     TOLD(.help = "each column so many times: a column a head then meets x", .formula = "y_{hc} = s_h",
          .gives = "[..][columns times as many]", .cost = "0",
          .example = "y = per_head(sigmoid(x @ w_s[heads])) * x", .twin = "check/twins.c")},
    {.name = "unitnorm",
     ARGUMENTS(TENSOR("x"), EPS),
     .any_shape = 1,
     .apply = call_unitnorm,
     TOLD(.help = "rows to length 1; with eps x over the root of |x|^2 + eps", .formula = "y = x / |x|",
          .cost = "2 D", .example = "y = unitnorm(x @ w_1) @ w_o", .twin = "ref_unitnorm")},
    {.name = "unitnorm_heads",
     ARGUMENTS(TENSOR("x"), EPS),
     .any_shape = 1,
     .check = heads_divide,
     .apply = call_unitnorm_heads,
     TOLD(.help = "each head of a row to length 1; with eps x_h over the root of |x_h|^2 + eps",
          .formula = "y_h = x_h / |x_h|", .cost = "2 D",
          .example = "q = unitnorm_heads(x @ w_q)\ny = attention(q, q, x) @ w_o", .twin = "ref_unitnorm")},
    {.name = "shift",
     ARGUMENTS(TENSOR("x"), NUMBER("by", 1, 0, MOST_ROWS)),
     .apply = call_shift,
     .ahead = shift_ahead,
     TOLD(.help = "each row what stood `by` rows before it; zeros first", .formula = "y_t = x_{t-n}",
          .cost = "0", .example = "k = shift(x) @ w_k\ny = attention(x @ w_q, k, x) @ w_o",
          .twin = "check/twins_filters.c")},
    {.name = "reverse",
     ARGUMENTS(TENSOR("x")),
     .apply = call_reverse,
     .ahead = reverse_ahead,
     TOLD(.help = "the last row first", .formula = "y_t = x_{L-1-t}", .cost = "0",
          .example = "later = reverse(mean(reverse(x)))\ny = join(mean(x), later) @ w_o[width]",
          .twin = "check/twins_filters.c")},
    {.name = "columns",
     ARGUMENTS(TENSOR("x"), NUMBER("from", 0, 0, 65535), NUMBER("count", 1, 1, 65536)),
     .any_shape = 1,
     .check = columns_fit,
     .apply = call_columns,
     TOLD(.help = "`count` columns from number `from` on", .formula = "y_{tc} = x_{t, a + c}",
          .gives = "[..][count]", .cost = "0", .example = "u = x @ w_u[8]\ny = columns(u, 2, 4) @ w_o[width]",
          .twin = "check/twins_filters.c")},
    {.name = "join",
     ARGUMENTS(TENSOR("a"), TENSOR("b")),
     .any_shape = 1,
     .check = join_fits,
     .apply = call_join,
     TOLD(.help = "the columns of a, then those of b", .formula = "y = [a \\mid b]",
          .gives = "[L][D of a + D of b]", .cost = "0", .example = "y = join(x, shift(x)) @ w_o[width]",
          .twin = "check/twins_filters.c")},
    {.name = "cumsum",
     ARGUMENTS(TENSOR("x")),
     .one = op_cumsum,
     TOLD(.help = "the sum of the rows so far", .formula = "y_t = \\sum_{s \\le t} x_s", .cost = "0",
          .example = "y = cumsum(x @ w_1) / cumsum(exp(x)) @ w_o", .twin = "check/twins_filters.c")},
    {.name = "mean",
     ARGUMENTS(TENSOR("x")),
     .one = op_mean,
     TOLD(.help = "the mean of the rows so far", .formula = "y_t = \\frac{1}{t+1} \\sum_{s \\le t} x_s",
          .cost = "D", .example = "y = gelu(mean(x) @ w_1) @ w_o", .twin = "check/twins_filters.c")},
    {.name = "conv",
     ARGUMENTS(TENSOR("x"), WEIGHT("filter", WEIGHT_FILTER), NUMBER("future", 0, 0, 65535)),
     .check = head_taps_fit,
     .apply = call_conv,
     .ahead = conv_ahead,
     TOLD(.help = "each head its own short filter over time; tap `future` meets the current row (CAT Def. 1)",
          .formula = "y_{tc} = \\sum_w f_{h(c),w} x_{t - w + n, c}", .cost = "D taps",
          .example = "y = attention(x @ w_q, conv(x @ w_k, filter_k), x @ w_v) @ w_o", .twin = "ref_conv")},
    {.name = "conv_each",
     ARGUMENTS(TENSOR("x"), WEIGHT("filter", WEIGHT_CHANNEL_TAPS), NUMBER("future", 0, 0, 65535)),
     .check = taps_fit,
     .apply = call_conv,
     .ahead = conv_ahead,
     TOLD(.help = "each column its own short filter over time",
          .formula = "y_{tc} = \\sum_w f_{c,w} x_{t - w + n, c}", .cost = "D taps",
          .example = "y = silu(conv_each(x, f[4])) @ w_o", .twin = "ref_conv")},
    {.name = "conv_heads",
     ARGUMENTS(TENSOR("x"), WEIGHT("filter", WEIGHT_HEAD_TAPS)),
     .check = heads_divide,
     .two = op_conv_heads,
     TOLD(.help = "filters over time that also mix the heads (CAT's multi-head filter)",
          .formula = "y_{t,h} = \\sum_w \\sum_g f_{w,h,g} x_{t - w, g}", .cost = "D H taps",
          .example = "y = attention(x @ w_q, conv_heads(x @ w_k, f), x @ w_v) @ w_o",
          .twin = "ref_conv_heads")},
    {.name = "unit_projection",
     ARGUMENTS(TENSOR("x"), WEIGHT("w", WEIGHT_MATRIX), WEIGHT("filter", WEIGHT_FILTER),
               NUMBER("future", 0, 0, 65535)),
     .check = unit_fits,
     .apply = call_unit_projection,
     .ahead = unit_ahead,
     TOLD(.help = "each head: rows of the filtered x to length 1, then its part of w (CAT Theorem 1)",
          .formula = "y_h = \\frac{x * f_h}{|x * f_h|} W_h", .gives = "[L][n]", .cost = "H D taps + D n",
          .example = "q = unit_projection(x, w_q, filter_q)\ny = attention(q, q, x @ w_v) @ w_o",
          .twin = "ref_filtered_linear")},
    {.name = "pool",
     ARGUMENTS(TENSOR("x"), NUMBER("window", 3, 1, 65535), NUMBER("chunk", 0, 0, MOST_ROWS),
               NUMBER("future", 0, 0, 65535)),
     .check = pool_fits,
     .apply = call_pool,
     .ahead = pool_ahead,
     TOLD(.help = "mean over `window` rows, `future` of them ahead, divisor always `window`; inside chunks",
          .formula = "y_t = \\frac{1}{P} \\sum_{p < P} x_{t - p + n}", .cost = "D P",
          .example = "y = attention(x @ w_q, x @ w_k, pool(x @ w_v)) @ w_o", .twin = "ref_conv")},
    {.name = "rope",
     ARGUMENTS(TENSOR("x")),
     .check = rope_fits,
     .apply = call_rope,
     TOLD(.help = "turns pairs of columns of each head by an angle that grows with the row (Su et al.)",
          .formula = "y_{t,m} = e^{i t\\, 10000^{-2m/d}} x_{t,m}", .cost = "2 D",
          .example = "q = rope(x @ w_q)\nk = rope(x @ w_k)\ny = attention(q, k, x @ w_v) @ w_o",
          .twin = "ref_rope")},
    {.name = "attention",
     ARGUMENTS(QKV, WORD("decay", "none|exp|alibi|alibi_scaled"), REAL("range", 1, 0, 700),
               NUMBER("chunk", 0, 0, MOST_ROWS), NUMBER("pool", 0, 0, 65535), WORD("causal", "yes|no"),
               MAYBE_TENSOR("bias"), REAL("cap", 0, 0, 1000000), MAYBE_WEIGHT("sink", WEIGHT_SINKS),
               NUMBER("kv_heads", 0, 0, 65536), WORD("score", "softmax|sigmoid")),
     .check = attention_fits,
     .apply = call_attention,
     .ahead = attention_ahead,
     TOLD(.help =
              "causal softmax attention, a head each; decay: e^(-alpha distance) on the logits (LaS) or ALiBi; pool: masked average pooling of its map; bias: gates, a column a head, whose sum from j + 1 to i is added to a logit (FoX); cap: a tanh(z / a); sink: a logit that takes weight and gives no value; kv_heads: so many heads of k and v, each for as many of q",
          .formula = "y_i = \\sum_{j \\le i} \\operatorname{softmax}_j(q_i \\cdot k_j / \\sqrt{d})\\, v_j",
          .cost = "D L", .example = "y = attention(x @ w_q, x @ w_k, x @ w_v) @ w_o",
          .twin = "ref_attention")},
    {.name = "sliding_attention",
     ARGUMENTS(QKV, NUMBER("rows", 16, 1, MOST_ROWS), WORD("decay", "none|alibi|alibi_scaled"),
               NUMBER("chunk", 0, 0, MOST_ROWS)),
     .check = qkv_fit,
     .apply = call_sliding,
     TOLD(.help = "causal softmax attention over the last `rows` rows, the row itself among them",
          .formula =
              "y_i = \\sum_{i - W < j \\le i} \\operatorname{softmax}_j(q_i \\cdot k_j / \\sqrt{d})\\, v_j",
          .cost = "2 D W", .example = "y = sliding_attention(x @ w_q, x @ w_k, x @ w_v, rows=5) @ w_o",
          .twin = "ref_attention")},
    {.name = "taylor_attention",
     ARGUMENTS(QKV),
     .check = taylor_fits,
     .apply = call_taylor,
     TOLD(.help = "softmax attention whose exponential is its series to the second term, by a state (Based)",
          .formula =
              "y_t = \\frac{\\sum_{s \\le t} w_{ts} v_s}{\\sum_{s \\le t} w_{ts}},\\quad w = 1 + a + a^2 / 2,\\quad a = q_t \\cdot k_s / \\sqrt{d}",
          .gives = "[L][D of v]", .cost = "D d^2",
          .example = "y = taylor_attention(x @ w_q, x @ w_k, x @ w_v) @ w_o", .twin = "ref_based")},
    {.name = "retention",
     ARGUMENTS(QKV),
     .check = state_fits,
     .apply = call_retention,
     TOLD(.help = "gla whose state fades by 1 - 2^(-5 - h) a row, h the head (RetNet)",
          .formula = "S_t = (1 - 2^{-5-h}) S_{t-1} + k_t v_t^\\top,\\quad y_t = S_t^\\top q_t / \\sqrt{d}",
          .gives = "[L][D of v]", .cost = "2 D d",
          .example = "y = rms_heads(retention(rope(x @ w_q), rope(x @ w_k), x @ w_v)) @ w_o",
          .twin = "ref_gla")},
    {.name = "lstm",
     ARGUMENTS(TENSOR("z"), WEIGHT("u", WEIGHT_CARRIED_4)),
     .check = lstm_fits,
     .two = op_lstm,
     TOLD(.help = "an LSTM: z is what a row says to the gates i, f, g and o, side by side",
          .formula =
              "c_t = \\sigma(f) c_{t-1} + \\sigma(i) \\tanh g,\\quad y_t = \\sigma(o) \\tanh c_t,\\quad [i f g o] = z_t + y_{t-1} U",
          .gives = "[L][D / 4]", .cost = "D^2 / 4", .example = "y = lstm(linear(x, w[4 * width], b), u)",
          .twin = "ref_lstm")},
    {.name = "gru",
     ARGUMENTS(TENSOR("z"), WEIGHT("u", WEIGHT_CARRIED_3), WEIGHT("b", WEIGHT_BIAS)),
     .check = gru_fits,
     .three = op_gru,
     TOLD(.help = "a GRU: z is what a row says to the gates r, z and to n, side by side",
          .formula =
              "y_t = (1 - \\sigma(z)) n + \\sigma(z) y_{t-1},\\quad n = \\tanh(z_n + \\sigma(r)\\, a_n),\\quad a = y_{t-1} U + b",
          .gives = "[L][D / 3]", .cost = "D^2 / 3",
          .example = "y = gru(linear(x, w[3 * width], b_x), u, b_h)", .twin = "ref_gru")},
    {.name = "attention_maps",
     ARGUMENTS(QKV, WEIGHT("mix", WEIGHT_MAPS), WORD("decay", "none|alibi|alibi_scaled")),
     .check = qkv_fit,
     .apply = call_attention_maps,
     TOLD(.help = "the same, its maps mixed across the heads (CAT Table 2)",
          .formula = "A'_h = \\sum_g M_{hg} A_g,\\quad y_h = A'_h v_h", .cost = "D L + H^2 L / 2",
          .example = "y = attention_maps(x @ w_q, x @ w_k, x @ w_v, mix) @ w_o",
          .twin = "ref_attention_maps")},
    {.name = "linear_attention",
     ARGUMENTS(QKV, WORD("normaliser", "sum|rms|none"), NUMBER("tile", 64, 1, MOST_ROWS)),
     .check = qkv_fit,
     .apply = call_linear_attention,
     TOLD(.help =
              "running sums of keys times values, read by the queries; sum: divided by the sum of weights, rms: each head to size 1",
          .formula = "y_t = r_t \\sum_{s \\le t} (q_t \\cdot k_s) v_s", .cost = "D (tile + d)",
          .example = "y = linear_attention(elu1(x @ w_q), elu1(x @ w_k), x @ w_v) @ w_o",
          .twin = "ref_linattn")},
    {.name = "gla",
     ARGUMENTS(QKV, MAYBE_TENSOR("beta"), MAYBE_TENSOR("gates")),
     .check = state_fits,
     .apply = call_gla,
     TOLD(.help =
              "a state of keys and values that fades by e^gates (gates at most 0: a column a head or key column) and takes in beta k v",
          .formula =
              "S_t = e^{g_t} S_{t-1} + k_t (\\beta_t v_t)^\\top,\\quad y_t = S_t^\\top q_t / \\sqrt{d}",
          .gives = "as v", .cost = "2 D d",
          .example = "g = -softplus(x @ w_g[heads])\ny = gla(x @ w_q, x @ w_k, x @ w_v, gates=g) @ w_o",
          .twin = "ref_gla")},
    {.name = "ssd",
     ARGUMENTS(TENSOR("c"), TENSOR("b"), TENSOR("u"), TENSOR("dt"), TENSOR("gates")),
     .check = shared_state_fits,
     .apply = call_ssd,
     TOLD(.help = "Mamba-2's scan: c and b are shared by the heads of u, dt and gates have a column a head",
          .formula = "S_t = e^{g_t} S_{t-1} + b_t (dt_t u_t)^\\top,\\quad y_t = S_t^\\top c_t",
          .gives = "as u", .cost = "2 D N",
          .example =
              "dt = softplus(x @ w_dt[heads])\ny = ssd(x @ w_c[4], x @ w_b[4], x @ w_u, dt, decays(dt, a_log)) @ w_o",
          .twin = "ref_gla")},
    {.name = "delta",
     ARGUMENTS(QKV, TENSOR("beta"), MAYBE_TENSOR("gates"), MAYBE_TENSOR("erase")),
     .check = state_fits,
     .apply = call_delta,
     TOLD(.help =
              "a state that corrects itself: what it answers to a key moves by beta towards the value (the delta rule); erase: another key, e_t, whose answer is taken away",
          .formula =
              "S_t = R + k_t (\\beta_t (v_t - R^\\top e_t))^\\top,\\quad e_t = k_t \\text{ or erase},\\quad R = e^{g_t} S_{t-1},\\quad y_t = S_t^\\top q_t / \\sqrt{d}",
          .gives = "as v", .cost = "3 D d",
          .example =
              "k = unitnorm_heads(x @ w_k)\nq = unitnorm_heads(x @ w_q)\ny = delta(q, k, x @ w_v, sigmoid(x @ w_b[heads])) @ w_o",
          .twin = "ref_delta")},
    {.name = "decays",
     ARGUMENTS(TENSOR("dt"), WEIGHT("a_log", WEIGHT_RATES)),
     .any_shape = 1,
     .check = heads_wide,
     .apply = call_decays,
     TOLD(.help = "-e^a_log dt, a column a head: log decays for gla, ssd and delta",
          .formula = "g_{th} = -e^{a_h} dt_{th}", .cost = "H",
          .example =
              "dt = softplus(x @ w_dt[heads])\ny = gla(x @ w_q, x @ w_k, x @ w_v, gates=decays(dt, a_log)) @ w_o",
          .twin = "ref_exp, ref_mul")},
    {.name = "landmark_keys",
     ARGUMENTS(TENSOR("k"), NUMBER("block", 8, 1, 65536), WORD("kind", "box|rho"), WORD("learns", "no|yes")),
     .apply = call_landmark_keys,
     TOLD(.help =
              "what a block's last row says of the block: the sum of its rows (box), or a decaying sum of all before (rho)",
          .formula = "m_t = \\sum_{s = t-B+1}^{t} k_s \\text{ or } k_t + e^{-1/B} m_{t-1}", .cost = "D",
          .example =
              "k = x @ w_k\nm = landmark_keys(k)\ny = landmark_attention(x @ w_q, k, x @ w_v, m) @ w_o",
          .twin = "ref_block_filter")},
    {.name = "landmark_attention",
     ARGUMENTS(QKV, TENSOR("marks"), NUMBER("block", 8, 1, 65536)),
     .check = marks_fit,
     .apply = call_landmark,
     TOLD(.help =
              "each query: softmax over its own block and the earlier block whose landmark it likes best (LCAT)",
          .formula =
              "b_i = \\arg\\max_b m_b \\cdot q_i,\\quad y_i = \\operatorname{attention}(q_i; b_i \\cup \\text{own block})",
          .cost = "D (L / B + B)",
          .example =
              "k = x @ w_k\nm = landmark_keys(k)\ny = landmark_attention(x @ w_q, k, x @ w_v, m) @ w_o",
          .twin = "ref_landmark")},
    {.name = "longconv",
     ARGUMENTS(TENSOR("x"), WEIGHT("kernel", WEIGHT_KERNEL), MAYBE_WEIGHT("skip", WEIGHT_GAIN),
               REAL("squash", 0, 0, 10)),
     .apply = call_longconv,
     TOLD(.help =
              "a filter as long as the sequence a column, and skip x; squash: kernels moved towards 0 by so much",
          .formula = "y_t = \\sum_{s \\le t} K_s x_{t-s} + d\\, x_t", .cost = "5 D log2 L",
          .example = "y = gelu(longconv(x, k, skip)) @ w_o", .twin = "ref_longconv")},
    {.name = "s4d",
     ARGUMENTS(TENSOR("x"), WEIGHT("log_dt", WEIGHT_BIAS), WEIGHT("log_a", WEIGHT_STATES),
               WEIGHT("a_im", WEIGHT_STATES), WEIGHT("c", WEIGHT_STATE_PAIRS), WEIGHT("skip", WEIGHT_GAIN)),
     .apply = call_s4d,
     TOLD(.help =
              "the impulse response of a small linear system a column, as a filter as long as the sequence",
          .formula =
              "K_l = 2 \\Re \\sum_s c_s \\frac{e^{dt A_s} - 1}{A_s} e^{dt A_s l},\\quad A_s = -e^{a_s} + i b_s",
          .cost = "5 D log2 L + D S",
          .example =
              "y = gelu(s4d(x, log_dt, log_a, a_im, c, skip)) @ w_o\nstart(log_dt, step)\nstart(log_a, constant, -0.7)\nstart(a_im, count, 3.14159)",
          .twin = "ref_s4d")},
    {.name = "s4d_real",
     ARGUMENTS(TENSOR("x"), WEIGHT("log_dt", WEIGHT_BIAS), WEIGHT("log_a", WEIGHT_STATES),
               WEIGHT("c", WEIGHT_STATES), WEIGHT("skip", WEIGHT_GAIN)),
     .apply = call_s4d_real,
     TOLD(.help = "the same of real states",
          .formula = "K_l = \\sum_s c_s \\frac{e^{dt A_s} - 1}{A_s} e^{dt A_s l},\\quad A_s = -e^{a_s}",
          .cost = "5 D log2 L + D S",
          .example =
              "y = gelu(s4d_real(x, log_dt, log_a, c, skip)) @ w_o\nstart(log_dt, step)\nstart(log_a, log_count)",
          .twin = "ref_s4d")},
    {.name = "ema",
     ARGUMENTS(TENSOR("x"), WEIGHT("alpha", WEIGHT_STATES), WEIGHT("delta", WEIGHT_STATES),
               WEIGHT("beta", WEIGHT_STATES), WEIGHT("eta", WEIGHT_STATES), WEIGHT("skip", WEIGHT_GAIN)),
     .apply = call_ema,
     TOLD(.help = "several damped moving averages a column (MEGA)",
          .formula =
              "h_t = a \\odot \\beta x_t + (1 - a \\odot d) \\odot h_{t-1},\\quad y_t = \\eta \\cdot h_t + s x_t",
          .cost = "3 D S", .example = "y = silu(ema(x, alpha, delta, beta, eta, skip)) @ w_o",
          .twin = "ref_mega_ema")},
    {.name = "selective_scan",
     ARGUMENTS(TENSOR("x"), TENSOR("dt"), WEIGHT("a_log", WEIGHT_STATES), TENSOR("b"), TENSOR("c"),
               WEIGHT("skip", WEIGHT_GAIN)),
     .check = scan_fits,
     .apply = call_scan,
     TOLD(.help = "a state space model whose step, input and output depend on the row (Mamba)",
          .formula =
              "h_t = e^{dt_t A} h_{t-1} + dt_t b_t x_t,\\quad y_t = c_t \\cdot h_t + s x_t,\\quad A = -e^{a}",
          .cost = "4 D S",
          .example =
              "dt = softplus(x @ w_dt)\ny = selective_scan(x, dt, a_log, x @ w_b[16], x @ w_c[16], skip) @ w_o\nstart(a_log, log_count)",
          .twin = "ref_selective_scan")},
    {.name = "bin_max",
     ARGUMENTS(TENSOR("x"), NUMBER("bin", 8, 1, MOST_ROWS), NUMBER("values", 1, 1, 1024),
               WORD("joint", "no|yes")),
     .check = bin_max_fits,
     .apply = call_bin_max,
     .ahead = bin_ahead,
     TOLD(.help = "the largest of each column in `values` parts of each bin of `bin` rows (Focus)",
          .formula = "e_{b,c,o} = \\max_{t \\in \\text{part } o \\text{ of bin } b} x_{tc}",
          .gives = "[L / bin][D][values], joint: [L / bin][D values]", .cost = "0",
          .example =
              "e = bin_max(x, 4)\nt = coefficients(linear(e, w_e[2], b_e))\ny = resonate(x, t, 4) @ w_o",
          .twin = "check/twins_filters.c")},
    {.name = "repeat_pairs",
     ARGUMENTS(TENSOR("x"), WEIGHT("raw", WEIGHT_PAIRS), NUMBER("bin", 8, 1, MOST_ROWS)),
     .check = repeat_fits,
     .apply = call_repeat,
     TOLD(.help =
              "a weight of pairs, the same for every bin; x only says how many columns there are (Focus-H)",
          .formula = "y_b = r", .gives = "[L / bin][D][n][2]", .cost = "0",
          .example = "t = coefficients(repeat_pairs(x, raw, 4), shift=no)\ny = resonate(x, t, 4) @ w_o",
          .twin = "check/twins_filters.c")},
    {.name = "coefficients",
     ARGUMENTS(TENSOR("raw"), WORD("kind", "sigmoid|triangle"), REAL("factor", 1, 0, 1),
               WORD("shift", "yes|no")),
     .any_shape = 1,
     .check = coefficients_fit,
     .apply = call_coefficients,
     .ahead = coefficients_ahead,
     TOLD(.help =
              "pairs to filter coefficients; shift: a bin takes what the bin before said, the first gets zeros (Focus)",
          .formula = "\\theta_b = f \\sigma(r_{b-1})", .cost = "0",
          .example =
              "e = bin_max(x, 4)\nt = coefficients(linear(e, w_e[2], b_e))\ny = resonate(x, t, 4) @ w_o",
          .twin = "check/twins_filters.c")},
    {.name = "resonate",
     ARGUMENTS(TENSOR("x"), TENSOR("coefficients"), NUMBER("bin", 8, 1, MOST_ROWS),
               WORD("mode", "causal|carry|literal")),
     .any_shape = 1,
     .check = resonate_fits,
     .apply = call_resonate,
     .ahead = resonate_ahead,
     TOLD(.help =
              "second-order filters whose coefficients change from bin to bin (Focus); causal: each bin from rest, carry: on with the state, literal: sees ahead in the bin",
          .formula = "y_t = x_t - \\theta_{b,0} y_{t-1} - \\theta_{b,1} y_{t-2}", .cost = "2 D F",
          .example =
              "e = bin_max(x, 4)\nt = coefficients(linear(e, w_e[2], b_e))\ny = resonate(x, t, 4) @ w_o",
          .twin = "ref_focus_filter")},
    {0},
};

const equation_function *function_find(const char *name) {
    for (const equation_function *f = equation_functions; f->name; f++)
        if (!strcmp(f->name, name)) return f;
    return NULL;
}

tensor *function_apply(const equation_function *f, const function_call *c) {
    if (f->one) return f->one(c->g, c->tensor[0]);
    if (f->two) return f->two(c->g, c->tensor[0], c->tensor[1]);
    if (f->three) return f->three(c->g, c->tensor[0], c->tensor[1], c->tensor[2]);
    return f->apply(c);
}

size_t function_arguments(const equation_function *f) {
    size_t n = 0;
    while (f->arguments[n].kind != ARGUMENT_END) n++;
    return n;
}
