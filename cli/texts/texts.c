// texts.c: the equations of a built-in mixer as a text of model/equations, for a config: what its builder in
// model/mixers does, line by line, with the place in the paper beside it. test_equations.c holds that text
// and builder train to the same words. Long because it has a function for each of them.
#include "texts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/core/mathd.h"
#include "model/base/error.h"
#include "model/base/number.h"
#include "model/mixers/equations.h"
#include "model/mixers/mixer.h"
#include "model/run/language/language.h"

typedef struct {
    const config *c;
    char *to;
    size_t size, n;
    const char *cannot; // why the language cannot say it, or NULL
} writer;

static void say(writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(writer *w, const char *format, ...) {
    va_list list;
    va_start(list, format);
    w->n += (size_t)vsnprintf(w->to + w->n, w->n < w->size ? w->size - w->n : 0, format, list);
    va_end(list);
    if (w->n >= w->size) w->n = w->size - 1;
}
static const char *word(const writer *w, const char *key) {
    const char *text = config_get(w->c, key);
    return text ? text : "";
}
static int is(const writer *w, const char *key, const char *value) { return !strcmp(word(w, key), value); }
static size_t number(const writer *w, const char *key) { return (size_t)atoll(word(w, key)); }
static const char *real(char to[NUMBER_TEXT], double x) { return number_write(to, x); }

// ---- Parts ------------------------------------------------------------------------------------------------
static void projections(writer *w, const char *note) {
    const int rope = is(w, "position", "rope");
    say(w, rope ? "q = rope(x @ w_q)  # %s; pairs of columns turn with the row\n" : "q = x @ w_q  # %s\n",
        note);
    say(w, rope ? "k = rope(x @ w_k)\n" : "k = x @ w_k\n");
    say(w, "v = x @ w_v\n");
}
static const char *alibi(const writer *w) {
    return is(w, "position", "alibi")          ? ", decay=alibi"
           : is(w, "position", "alibi_scaled") ? ", decay=alibi_scaled"
                                               : "";
}
static void chunk(writer *w) {
    if (number(w, "chunk")) say(w, ", chunk=%zu", number(w, "chunk"));
}
static int filtered(const writer *w, char which) {
    return !is(w, "filters", "none") && strchr(word(w, "filters"), which) != NULL;
}
static void filter_starts(writer *w, const char *which, const char *kind) {
    if (strcmp(kind, "middle") && strcmp(kind, "decay") && is(w, "filter_std", "0.02"))
        return; // the usual start
    for (; *which; which++)
        if (filtered(w, *which)) say(w, "start(filter_%c, %s, %s)\n", *which, kind, word(w, "filter_std"));
}
// q, k, v filtered over time where the config says so; where a row is brought to length 1, the filter comes
// first, as printed.
static void filtered_line(writer *w, char which, int unit, int two_sided, const char *note) {
    const int many = is(w, "filter_kind", "multi_head");
    const char *ahead = two_sided ? ", future=taps" : "", *taps = two_sided ? "[2 * taps + 1]" : "[taps]";
    char line[160];
    if (!filtered(w, which))
        snprintf(line, sizeof line, unit ? "unitnorm(x) @ w_%c" : "x @ w_%c", which);
    else if (unit)
        snprintf(line, sizeof line, "unit_projection(x, w_%c, filter_%c%s%s)", which, which, taps, ahead);
    else
        snprintf(line, sizeof line, "%s(x @ w_%c, filter_%c%s%s)", many ? "conv_heads" : "conv", which, which,
                 taps, ahead);
    const int rope = is(w, "position", "rope") && which != 'v';
    say(w, rope ? "%c = rope(%s)" : "%c = %s", which, line);
    say(w, *note ? "  # %s\n" : "%s\n", note);
}
static void taps_line(writer *w) {
    if (!is(w, "filters", "none")) say(w, "taps = %s\n", word(w, "filter"));
}

// ---- Softmax attention ------------------------------------------------------------------------------------
static void attention(writer *w) {
    say(w, "# Softmax attention (Vaswani et al. 2017, Eq. 1)\n");
    projections(w, "queries, keys and values");
    if (number(w, "sliding"))
        say(w, "y = sliding_attention(q, k, v, rows=%s%s", word(w, "sliding"), alibi(w));
    else
        say(w, "y = attention(q, k, v%s", alibi(w));
    chunk(w);
    say(w, "%s) @ w_o  # softmax(Q K^T / sqrt(d)) V, then W_o\n", is(w, "causal", "0") ? ", causal=no" : "");
}

static void cat(writer *w) {
    const int maps = is(w, "filter_kind", "maps"), qk = !is(w, "filter_norm", "none"),
              qkv = is(w, "filter_norm", "qkv");
    const int two_sided = is(w, "value_filter", "two_sided") && filtered(w, 'v');
    say(w, "# CAT (Li, Zhang, Huang & Oymak 2025, Def. 1)\n");
    if (maps) {
        projections(w, "no filters over time here:");
        say(w, "y = attention_maps(q, k, v, filter_maps%s) @ w_o  # Table 2: A'_h = sum_g M_hg A_g\n",
            alibi(w));
        say(w, "start(filter_maps, heads, %s)\n", word(w, "filter_std"));
        return;
    }
    taps_line(w);
    filtered_line(w, 'q', qk, 0, "Q = (X * F_q) W_q; filter and projection commute");
    filtered_line(w, 'k', qk, 0, qk ? "Theorem 1: filtered rows to length 1" : "");
    filtered_line(w, 'v', qkv, two_sided, two_sided ? "Theorem 2: taps ahead on the values" : "");
    say(w, "y = attention(q, k, v%s) @ w_o  # softmax attention on what was filtered\n", alibi(w));
    const char *kind = is(w, "filter_kind", "multi_head") ? "heads"
                       : is(w, "filter_start", "decay")   ? "decay"
                                                          : "identity";
    if (is(w, "value_positive", "1") && filtered(w, 'v'))
        w->cannot = "value_positive=1: the squares of a weight";
    filter_starts(w, two_sided ? "qk" : "qkv", kind);
    if (two_sided) filter_starts(w, "v", "middle");
}

static void las(writer *w) {
    char line[80];
    const size_t half = (number(w, "window") - 1) / 2;
    if (!is(w, "alphas", "spaced"))
        w->cannot = "alphas that are listed: the language has the evenly spaced ones only";
    say(w, "# LaS attention (Zimerman & Wolf 2024, Eq. 4)\n");
    projections(w, "queries, keys and values");
    snprintf(line, sizeof line, "%s", "v");
    if (is(w, "pool", "centred") || is(w, "pool", "trailing")) {
        say(w, "s = pool(v, window=%s", word(w, "window"));
        chunk(w);
        if (is(w, "pool", "centred")) say(w, ", future=%zu", half);
        say(w, ")  # averaging a map's columns is averaging the values\n");
        snprintf(line, sizeof line, "%s", "s");
    }
    say(w, "y = attention(q, k, %s", line);
    if (!is(w, "las_decay", "none")) say(w, ", decay=%s", word(w, "las_decay"));
    if (is(w, "las_decay", "exp")) say(w, ", range=%s", word(w, "decay_range"));
    chunk(w);
    if (is(w, "pool", "masked")) say(w, ", pool=%s", word(w, "window"));
    if (is(w, "causal", "0")) say(w, ", causal=no");
    say(w, ") @ w_o  # near rows count more\n");
}

static void lcat(writer *w) {
    const int learns = is(w, "dense_keys", "filtered");
    say(w, "# LCAT (Li, Zhang, Huang & Oymak 2025, Sec. 5)\n");
    if (filtered(w, 'v')) taps_line(w);
    say(w, "q = x @ w_q\nk = x @ w_k\n");
    filtered_line(w, 'v', 0, 0, "");
    say(w, "m = landmark_keys(k, block=%s, kind=%s%s)  # what a block says of itself\n", word(w, "block"),
        word(w, "landmark"), learns ? ", learns=yes" : "");
    say(w,
        "y = landmark_attention(q, %s, v, m, block=%s) @ w_o  # own block, and the one that is liked best\n",
        learns ? "m" : "k", word(w, "block"));
    filter_starts(w, "v", is(w, "filter_start", "decay") ? "decay" : "identity");
}

// ---- Linear attention and states --------------------------------------------------------------------------
static void lincat(writer *w) {
    say(w, "# LinCAT (Li, Zhang, Huang & Oymak 2025, Sec. 3)\n");
    taps_line(w);
    filtered_line(w, 'q', 0, 0, "Q = (X * F_q) W_q; filter and projection commute");
    filtered_line(w, 'k', 0, 0, "");
    filtered_line(w, 'v', 0, 0, "");
    say(w, "y = linear_attention(elu1(q), elu1(k), v, tile=%s) @ w_o  # phi = elu + 1\n", word(w, "tile"));
    filter_starts(w, "qkv",
                  is(w, "filter_kind", "multi_head") ? "heads"
                  : is(w, "filter_start", "decay")   ? "decay"
                                                     : "identity");
}
static void linear(writer *w) {
    const int sum = is(w, "normaliser", "sum");
    say(w, "# Linear attention (Katharopoulos et al. 2020, Eqs. 8-12)\n");
    projections(w, "queries, keys and values");
    say(w,
        sum ? "y = linear_attention(elu1(q), elu1(k), v, %s, tile=%s) @ w_o  # phi = elu + 1\n"
            : "y = linear_attention(q, k, v, %s, tile=%s) @ w_o\n",
        word(w, "normaliser"), word(w, "tile"));
}

// ---- Recurrent networks -----------------------------------------------------------------------------------
// What a text cannot say: numbers that come from positions.
static void hyena(writer *w) { w->cannot = "filters that a network says from their positions"; }

// ---- State space models -----------------------------------------------------------------------------------
static void mamba(writer *w) {
    char a[NUMBER_TEXT], b[NUMBER_TEXT];
    const size_t D = number(w, "width"), taps = number(w, "mamba_conv"), rank = (D + 15) / 16;
    say(w, "# Mamba (Gu & Dao 2023, Alg. 2)\n");
    say(w, "E = %s * width\n", word(w, "expand"));
    say(w,
        "u = silu(bias(conv_each(x @ w_x[E], conv_k[%zu]), conv_b))  # Fig. 3: a short filter before the scan\n",
        taps);
    say(w, "dt = softplus(u @ w_dt1[%zu] @ w_dt2[E] + b_dt)  # the step of each row and column\n", rank);
    say(w, "b = u @ w_b[%s]\nc = u @ w_c[%s]\n", word(w, "mamba_states"), word(w, "mamba_states"));
    say(w, "s = selective_scan(u, dt, a_log[%s], b, c, skip)  # h_t = e^(dt A) h_{t-1} + dt b x_t\n",
        word(w, "mamba_states"));
    say(w, "y = (s * silu(x @ w_z[E])) @ w_o[width]\n");
    say(w, "start(conv_k, uniform, %s)\nstart(w_dt2, uniform, %s)\n", real(a, 1.0 / md_sqrt((double)taps)),
        real(b, 1.0 / md_sqrt((double)rank)));
    say(w, "start(b_dt, step_plus)\nstart(a_log, log_count)\n");
}
static void ema(writer *w) {
    char eta[NUMBER_TEXT];
    say(w,
        "# MEGA's moving averages (Ma et al. 2023, Eqs. 5-6, 12-14); it has its own residual connection\nN = %s\n",
        word(w, "ema_states"));
    say(w, "average = ema(x, alpha[N], delta[N], beta[N], eta[N], ema_skip)\n"
           "z = silu(average @ w_h + b_h)\n"
           "phi = sigmoid(average @ w_phi + b_phi)\n"
           "y = gate(phi, z, x)\n");
    say(w, "start(alpha, normal, 0.2)\nstart(delta, normal, 0.2)\nstart(eta, normal, %s)\n",
        real(eta, 1.0 / (double)number(w, "ema_states")));
}

// ---- Long convolutions ------------------------------------------------------------------------------------
static void long_conv(writer *w, const char *of) {
    say(w, "longconv(%s, conv_k", of);
    if (is(w, "skip", "1")) say(w, ", conv_skip");
    if (!is(w, "squash", "0")) say(w, ", squash=%s", word(w, "squash"));
    say(w, ")");
}
// Beside it the rows after each, by a kernel of their own, the sequence read backwards.
static void conv_ahead(writer *w, const char *of) {
    say(w, " + reverse(longconv(shift(reverse(%s)), conv_ahead", of);
    if (!is(w, "squash", "0")) say(w, ", squash=%s", word(w, "squash"));
    say(w, "))");
}
static void longconv(writer *w) {
    say(w, "# Long convolution (Fu et al. 2023, Sec. 3)\ny = gelu(");
    long_conv(w, "x");
    if (is(w, "causal", "0")) conv_ahead(w, "x");
    say(w, ") @ w_o\n");
}
static void chela(writer *w) {
    size_t n = 0;
    const uint64_t L = number(w, "length");
    for (uint64_t power = 1; power < L * L; power *= 10) n++;
    n++;
    say(w, "# CHELA (Liu et al. 2024, Eqs. 7-15); as printed it has its own residual connection\n");
    if (is(w, "fused", "1"))
        say(w, "s = silu(conv_each(x, short[%zu]))  # Eq. 7, both short filters as one\n", n > 3 ? n : 3);
    else
        say(w, "s = silu(conv_each(x, short_3[3]) + conv_each(x, short_n[%zu]))  # Eq. 7\n", n);
    say(w, "z = ");
    long_conv(w, "s");
    if (is(w, "causal", "0")) conv_ahead(w, "s");
    say(w, "  # Eq. 8\n");
    say(w, "q = affine(z, alpha_q, beta_q)\nk = affine(z, alpha_k, beta_k)\nv = silu(x @ w_v + b_v)\n"
           "g_a = silu(z @ w_g + b_g)  # Eq. 10\n");
    if (is(w, "causal", "1"))
        say(w, "m = linear_attention(q, k, v, rms, tile=%s) * g_a\n", word(w, "tile"));
    else
        say(w,
            "past = linear_attention(q, k, v, none, tile=%s)\n"
            "later = linear_attention(reverse(q), shift(reverse(k)), shift(reverse(v)), none, tile=%s)\n"
            "m = rms_heads(past + reverse(later)) * g_a\n",
            word(w, "tile"), word(w, "tile"));
    say(w, "g_o = sigmoid(z @ w_o + b_o)\n"
           "y = gate(g_o, m, x)  # U = M o G_o + X o (1 - G_o)\n");
    if (is(w, "fused", "0")) say(w, "start(short_n, normal, 0.1)\n");
}

// ---- Focus ------------------------------------------------------------------------------------------------
static void focus_rest(writer *w) {
    const size_t L = number(w, "length"), bin = L / number(w, "bins");
    say(w, "x_f = resonate(x, theta, bin=%zu, mode=%s)  # Eq. 7: second-order filters, bin by bin\n", bin,
        word(w, "iir"));
    say(w, "q = x @ w_q\nk = x_f @ w_k\nv = x_f @ w_v\n");
    say(w, "a = attention(q, k, v, chunk=%zu)\n", L / number(w, "chunks"));
    say(w, "gamma = silu(x_f @ w_gamma + b_gamma)\n"
           "phi = sigmoid(x_f @ w_phi + b_phi)\n"
           "z = silu((x_f @ w_h + b_h) + (gamma * a) @ u_h)\n"
           "y = gate(phi, z, x)  # o = phi o z + (1 - phi) o x\n");
}
static void coefficients(writer *w, const char *raw, int shift) {
    char factor[NUMBER_TEXT];
    say(w, "theta = coefficients(%s", raw);
    if (is(w, "theta", "triangle")) say(w, ", kind=triangle");
    if (is(w, "theta", "bounded"))
        say(w, ", factor=%s", real(factor, number_read(word(w, "theta_sum"), NULL) / 2));
    say(w, shift ? ")  # bin b uses what bin b-1 said\n" : ", shift=no)\n");
}
static void focus(writer *w) {
    char a[NUMBER_TEXT], b[NUMBER_TEXT];
    const size_t D = number(w, "width"), F = number(w, "iir_filters"), O = number(w, "oversample"),
                 hidden = number(w, "hidden");
    const int joint = is(w, "hyper", "joint");
    const size_t in = joint                            ? D * O
                      : is(w, "hyper", "local_global") ? 2 * O
                                                       : O,
                 out = joint ? D * F * 2 : F * 2;
    if (is(w, "share_conv", "1")) w->cannot = "share_conv=1: a weight that all blocks share";
    say(w, "# Focus (Lutati, Zimerman & Wolf 2023, Eqs. 1-14); it has its own residual connection\ng = ");
    long_conv(w, "x");
    say(w, "  # Eq. 1\n");
    const size_t bin = number(w, "length") / number(w, "bins");
    if (is(w, "hyper", "local_global"))
        say(w,
            "e_g = bin_max(g, bin=%zu, values=%zu)\nlocal = conv_each(x, local_k[%s])\n"
            "e = join(e_g, bin_max(local, bin=%zu, values=%zu))  # H_global, H_local\n"
            "start(local_k, identity, 0.1)\n",
            bin, O, word(w, "local"), bin, O);
    else
        say(w, "e = bin_max(g, bin=%zu, values=%zu%s)\n", bin, O, joint ? ", joint=yes" : "");
    say(w, "h = sigmoid(linear(e, hyper_w1[%zu], hyper_b1))  # the hypernetwork\n", hidden);
    say(w, "r = linear(h, hyper_w2[%zu], hyper_b2)\n", out);
    coefficients(w, "r", 1);
    focus_rest(w);
    say(w, "start(hyper_w1, uniform, %s)\nstart(hyper_w2, normal, %s)\n",
        real(a, md_sqrt(6.0 / (double)(in + hidden))), real(b, md_sqrt(2.0 / (double)hidden)));
}
static void focus_h(writer *w) {
    say(w, "# Focus-H (Lutati, Zimerman & Wolf 2023, Sec. 5); it has its own residual connection\n");
    say(w, "r = repeat_pairs(x, theta_raw[%s], bin=%zu)  # the same filters everywhere\n",
        word(w, "iir_filters"), number(w, "length") / number(w, "bins"));
    coefficients(w, "r", 0);
    focus_rest(w);
}
static void equations_own(writer *w) { say(w, "%s\n", word(w, "eq")); }

// ---- Mixers that are texts --------------------------------------------------------------------------------
static int is_used(const equations *e, const equation_line *key) {
    for (size_t i = 0; i < e->n_nodes; i++)
        if (e->nodes[i].kind == EQUATION_WORD && e->nodes[i].line != key->line &&
            !strcmp(e->nodes[i].name, key->name))
            return 1;
    return 0;
}
static const equation_line *line_at(const equations *e, unsigned line, size_t *keys) {
    double value;
    *keys = 0;
    for (size_t i = 0; i < e->n_lines && e->lines[i].line <= line; i++) {
        if (e->lines[i].line == line) return &e->lines[i];
        *keys += equations_key(&e->lines[i], &value) != 0;
    }
    return NULL;
}
// The text for the values that its keys have: what other values ask for is left out, and so are keys that
// only ifs ask for.
static void plain_text(writer *w, const char *text, const equations *e,
                       const double values[CONFIG_OWN_KEYS]) {
    for (unsigned line = 1; *text; line++) {
        const size_t n = strcspn(text, "\n");
        size_t keys;
        double value;
        char number[NUMBER_TEXT];
        const equation_line *l = line_at(e, line, &keys);
        const char *note = memchr(text, '#', n);
        const int rest = note ? (int)(text + n - note) : 0;
        if (!l && *text == '#')
            say(w, "%.*s\n", (int)n, text);
        else if (l && equations_key(l, &value) && keys < CONFIG_OWN_KEYS && is_used(e, l))
            say(w, "%s = %s%s%.*s\n", l->name, real(number, values[keys]), rest ? "  " : "", rest,
                rest ? note : "");
        else if (l && !equations_key(l, &value))
            say(w, "%.*s\n", (int)(n - l->deeper), text + l->deeper);
        text += n + (text[n] == '\n');
    }
}
int cli_text_plain(char *to, size_t size, const config *c, smx_error *error) {
    const mixer *m = mixer_of(c);
    if (!m->is_text && strcmp(m->name, "equations")) return cli_text(to, size, c, error);
    writer w = {.c = c, .to = to, .size = size};
    double values[CONFIG_OWN_KEYS] = {0};
    const char *text = m->is_text ? mixer_text(m->name, error) : word(&w, "eq");
    equations *e = text ? equations_of(c, values, error) : NULL;
    to[0] = 0;
    if (e) plain_text(&w, text, e, values);
    free(e);
    return e ? 0 : -1;
}

static const struct {
    const char *mixer;
    void (*write)(writer *w);
} texts[] = {{"attention", attention},
             {"cat", cat},
             {"las", las},
             {"lcat", lcat},
             {"lincat", lincat},
             {"linear", linear},
             {"focus", focus},
             {"focus_h", focus_h},
             {"chela", chela},
             {"longconv", longconv},
             {"ema", ema},
             {"mamba", mamba},
             {"hyena", hyena},
             {"equations", equations_own}};

int cli_text(char *to, size_t size, const config *c, smx_error *error) {
    writer w = {.c = c, .to = to, .size = size};
    to[0] = 0;
    if (c->blocks)
        return error_say(
            error, "a text is one mixer for all blocks; this config has mixers or keys of single blocks");
    if (mixer_of(c)->is_text) return cli_text_plain(to, size, c, error);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (!strcmp(texts[i].mixer, c->of_mixer.name)) texts[i].write(&w);
    if (!w.n && !w.cannot) return error_say(error, "the language has no text for mixer=%s", c->of_mixer.name);
    if (w.cannot)
        return error_say(error, "the language cannot say this of mixer=%s: %s", c->of_mixer.name, w.cannot);
    return 0;
}
