// judge_kernel.c: see judge_kernel.h.
#include "judge_kernel.h"

#include "seqmix_ref.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD = 64 }; // floats behind each array, which must stay

// How inputs are drawn, beyond the usual: numbers of eight significant bits, |x| < 2.
enum { SATURATED = 1, SHUT = 2, NEVER = 4, ENDS = 8, START = 16, EXTRA = 32 };

typedef struct {
    judge_case is;
    int drawn;
} planned;

#define A(about, B, L, H, Hkv, d, window, causal, cap, drawn)                                                \
    {                                                                                                        \
        {JUDGE_ATTENTION, about, B, L, H, Hkv, d, d, window, 0, 0, causal, 0, 0, cap, {0}, {0}, {0}, {0}},   \
            drawn                                                                                            \
    }
#define S(about, B, L, H, Hkv, dk, dv, rule, channel, drawn)                                                 \
    {                                                                                                        \
        {JUDGE_LINEAR_ATTENTION,                                                                             \
         about,                                                                                              \
         B,                                                                                                  \
         L,                                                                                                  \
         H,                                                                                                  \
         Hkv,                                                                                                \
         dk,                                                                                                 \
         dv,                                                                                                 \
         0,                                                                                                  \
         rule,                                                                                               \
         channel,                                                                                            \
         1,                                                                                                  \
         0,                                                                                                  \
         0,                                                                                                  \
         0,                                                                                                  \
         {0},                                                                                                \
         {0},                                                                                                \
         {0},                                                                                                \
         {0}},                                                                                               \
            drawn                                                                                            \
    }
#define C(about, B, L, D, W, silu, drawn)                                                                    \
    { {JUDGE_CAUSAL_CONV, about, B, L, D, D, 1, 1, W, 0, 0, 1, silu, 0, 0, {0}, {0}, {0}, {0}}, drawn }
#define R(about, B, L, H, dk, dv, drawn)                                                                     \
    { {JUDGE_RWKV7, about, B, L, H, H, dk, dv, 0, 0, 1, 1, 0, 1, 0, {0}, {0}, {0}, {0}}, drawn }
static const planned cases[] = {
    A("one row", 1, 1, 2, 2, 8, 0, 1, 0, 0),
    A("causal", 2, 17, 2, 2, 8, 0, 1, 0, 0),
    A("both sides", 1, 65, 2, 2, 16, 0, 0, 0, 0),
    A("grouped heads", 1, 63, 6, 2, 8, 0, 1, 0, 0),
    A("one head of keys", 3, 64, 8, 1, 32, 0, 1, 0, 0),
    A("soft cap", 1, 129, 2, 2, 8, 0, 1, 2, 0),
    A("sinks", 1, 66, 4, 2, 8, 0, 1, 0, EXTRA),
    A("window", 1, 130, 2, 1, 8, 9, 1, 0, 0),
    A("window, cap and sinks", 2, 300, 2, 2, 8, 100, 1, 20, EXTRA),
    A("logits beyond e^88", 1, 300, 2, 2, 16, 0, 1, 0, SATURATED),
    A("wide heads", 1, 128, 2, 2, 128, 0, 1, 0, 0),
    A("long", 1, 1025, 1, 1, 8, 0, 1, 0, 0),
    S("linear", 2, 17, 2, 2, 8, 8, 0, 0, 0),
    S("linear, one row and a state", 3, 1, 4, 2, 16, 8, 0, 0, START),
    S("linear, long", 1, 1025, 1, 1, 8, 6, 0, 0, 0),
    S("gated", 2, 65, 2, 2, 8, 8, JUDGE_GATED, 0, START),
    S("gated, each channel", 1, 63, 2, 1, 8, 6, JUDGE_GATED, 1, START),
    S("gates from 0 to -80", 1, 300, 2, 2, 8, 8, JUDGE_GATED, 1, SHUT),
    S("gates of minus infinity", 1, 128, 1, 1, 16, 8, JUDGE_GATED, 1, NEVER | START),
    S("delta", 2, 64, 2, 2, 8, 8, JUDGE_DELTA, 0, 0),
    S("delta, beta 0, 1 and 2", 1, 300, 2, 2, 8, 8, JUDGE_DELTA, 0, ENDS | START),
    S("delta, grouped", 1, 129, 6, 3, 8, 6, JUDGE_DELTA, 0, START),
    S("gated delta", 2, 66, 2, 2, 8, 8, JUDGE_GATED | JUDGE_DELTA, 0, START),
    S("gated delta, one row", 5, 1, 4, 4, 16, 16, JUDGE_GATED | JUDGE_DELTA, 0, START),
    S("gated delta, gates from 0 to -80", 1, 300, 2, 2, 8, 8, JUDGE_GATED | JUDGE_DELTA, 0, SHUT),
    S("gated delta, each channel", 1, 127, 1, 1, 32, 16, JUDGE_GATED | JUDGE_DELTA, 1, SHUT | START),
    C("three taps", 2, 17, 6, 3, 0, 0),
    C("bias, SiLU", 1, 300, 12, 4, 1, EXTRA),
    C("rows before", 3, 64, 8, 4, 1, EXTRA | START),
    C("one row", 5, 1, 16, 4, 1, START),
    C("fewer rows than taps", 2, 2, 3, 7, 0, START),
    R("plain", 2, 17, 2, 8, 6, 0),
    R("state", 1, 129, 2, 8, 8, START),
    R("gates from 0 to -80", 1, 300, 1, 16, 8, SHUT | START),
    R("one row", 3, 1, 4, 16, 16, START),
};
static const char *const input_names[][JUDGE_INPUTS] = {
    {"q", "k", "v", "sinks"},
    {"q", "k", "v", "state", "g", "beta"},
    {"x", "filter", "bias", "rows before"},
    {"r", "g", "k", "v", "kappa", "a", "state"},
};
static const char *const output_names[][JUDGE_OUTPUTS] = {
    {"y"}, {"y", "state"}, {"y", "rows"}, {"y", "state"}};

static uint32_t next_random(uint64_t *state) { // SplitMix64 (Steele et al. 2014)
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)(z >> 32);
}
static double eighths(uint64_t *state) { return ((int)(next_random(state) % 511) - 255) / 128.0; }
static double one_of(uint64_t *state, const double *values, size_t n) {
    return values[next_random(state) % n];
}

// What input i of the case is drawn from.
static double number(const planned *p, size_t i, uint64_t *state) {
    static const double shut[] = {0, -1.0 / 4096, -0.125, -5, -80}, never[] = {0, -0.125, -8, -INFINITY},
                        ends[] = {0, 1, 2};
    const judge_op op = p->is.op;
    const double x = eighths(state);
    if (op == JUDGE_ATTENTION) return p->drawn & SATURATED && i < 2 ? 16 * x : x;
    if (op == JUDGE_CAUSAL_CONV) return x;
    const int is_gate = i == (op == JUDGE_RWKV7 ? 1 : 4);
    if (is_gate && p->drawn & SHUT) return one_of(state, shut, 5);
    if (is_gate && p->drawn & NEVER) return one_of(state, never, 4);
    if (is_gate) return -fabs(x) / 4;
    if (op == JUDGE_RWKV7) return i == 4 ? x / 6 : i == 5 ? fabs(x) / 2 : x;
    if (i == 5) return p->drawn & ENDS ? one_of(state, ends, 3) : fabs(x) / 2;
    return i == 1 && p->is.rule & JUDGE_DELTA ? x / (2 * sqrt((double)p->is.dk)) : x; // keys no longer than 1
}

// How many numbers each array of the case has; 0: it is not there.
static void find_sizes(judge_case *c, int drawn) {
    const size_t rows = c->B * c->L, q = rows * c->H * c->dk, k = rows * c->Hkv * c->dk,
                 v = rows * c->Hkv * c->dv, state = c->B * c->Hkv * c->dk * c->dv,
                 start = drawn & START ? state : 0, before = c->window ? c->B * (c->window - 1) * c->H : 0;
    const size_t of[][JUDGE_INPUTS + JUDGE_OUTPUTS] = {
        {q, k, v, drawn & EXTRA ? c->H : 0, 0, 0, 0, rows * c->H * c->dv, 0},
        {q, k, v, start, c->rule & JUDGE_GATED ? (c->per_channel ? k : rows * c->Hkv) : 0,
         c->rule & JUDGE_DELTA ? rows * c->Hkv : 0, 0, rows * c->H * c->dv, state},
        {rows * c->H, c->H * c->window, drawn & EXTRA ? c->H : 0, drawn & START ? before : 0, 0, 0, 0,
         rows * c->H, before},
        {q, q, q, v, q, q, start, v, state},
    };
    memcpy(c->in_n, of[c->op], sizeof c->in_n);
    memcpy(c->out_n, of[c->op] + JUDGE_INPUTS, sizeof c->out_n);
}

// ---- The oracle, a sequence at a time

static double *part(double *x, size_t n, size_t B, size_t b) { return n ? x + n / B * b : NULL; }

static int run_oracle(const judge_case *c, double *const *in, double *const *out) {
    int status = 0;
    for (size_t b = 0; b < c->B && !status; b++) {
        double *x[JUDGE_INPUTS], *y = part(out[0], c->out_n[0], c->B, b),
                                 *last = part(out[1], c->out_n[1], c->B, b);
        for (size_t i = 0; i < JUDGE_INPUTS; i++) x[i] = part(in[i], c->in_n[i], c->B, b);
        const double scale = c->scale > 0 ? c->scale : 1 / sqrt((double)c->dk);
        if (c->op == JUDGE_ATTENTION) {
            const ref_attn_arrays a = {x[0], x[1], x[2], NULL, c->in_n[3] ? in[3] : NULL, NULL, NULL};
            const ref_attn p = {c->L,      c->H,  c->Hkv,     c->dk, c->dv, c->causal,
                                c->window, scale, c->softcap, 0,     0,     NULL};
            status = ref_attn_fwd(y, &a, &p);
        } else if (c->op == JUDGE_LINEAR_ATTENTION) {
            const ref_grouped_arrays a = {x[0], x[1], x[2], x[5], x[4], x[3]};
            const ref_gates gates = !(c->rule & JUDGE_GATED) ? REF_GATES_NONE
                                    : c->per_channel         ? REF_GATES_CHANNEL
                                                             : REF_GATES_HEAD;
            const ref_grouped p = {c->L, c->H, c->Hkv, c->Hkv, c->dk, c->dv, gates, c->Hkv, scale};
            status = ref_grouped_fwd(y, last, &a, &p);
        } else if (c->op == JUDGE_CAUSAL_CONV) {
            const ref_causal_conv_arrays a = {x[0], in[1], c->in_n[2] ? in[2] : NULL, x[3]};
            const ref_causal_conv p = {c->L, c->H, c->window, c->silu};
            ref_causal_conv_fwd(y, last, &a, &p);
        } else {
            const ref_rwkv7_arrays a = {x[0], x[1], x[2], x[3], x[4], x[5], x[6]};
            const ref_state p = {1, c->L, c->H, c->dk, c->dv, REF_GATES_CHANNEL, scale};
            status = ref_rwkv7_fwd(y, last, &a, &p);
        }
    }
    return status;
}

// ---- A case

typedef struct {
    float *in[JUDGE_INPUTS], *kept[JUDGE_INPUTS], *out[JUDGE_OUTPUTS];
    double *exact_in[JUDGE_INPUTS], *exact[JUDGE_OUTPUTS];
} memory;

static void give_back(memory *m) {
    for (size_t i = 0; i < JUDGE_INPUTS; i++) free(m->in[i]), free(m->kept[i]), free(m->exact_in[i]);
    for (size_t i = 0; i < JUDGE_OUTPUTS; i++) free(m->out[i]), free(m->exact[i]);
}

static int draw(planned *p, memory *m, uint64_t state) {
    judge_case *c = &p->is;
    for (size_t i = 0; i < JUDGE_INPUTS; i++) {
        const size_t n = c->in_n[i];
        m->in[i] = malloc((n + GUARD) * sizeof(float));
        m->kept[i] = malloc((n + GUARD) * sizeof(float));
        m->exact_in[i] = malloc((n + 1) * sizeof(double));
        if (!m->in[i] || !m->kept[i] || !m->exact_in[i]) return -1;
        for (size_t k = 0; k < n + GUARD; k++) m->kept[i][k] = m->in[i][k] = (float)number(p, i, &state);
        for (size_t k = 0; k < n; k++) m->exact_in[i][k] = m->in[i][k];
        c->in[i] = n ? m->in[i] : NULL;
    }
    for (size_t i = 0; i < JUDGE_OUTPUTS; i++) {
        m->out[i] = malloc((c->out_n[i] + GUARD) * sizeof(float));
        m->exact[i] = calloc(c->out_n[i] + 1, sizeof(double));
        if (!m->out[i] || !m->exact[i]) return -1;
        for (size_t k = 0; k < c->out_n[i] + GUARD; k++) m->out[i][k] = NAN;
        c->out[i] = c->out_n[i] ? m->out[i] : NULL;
    }
    return 0;
}

static void say(char *why, size_t size, const char *what, const char *name, const char *rest) {
    if (!*why) snprintf(why, size, "%s %s%s", name, what, rest);
}

// What is wrong with the outputs; "" where nothing is.
static void find_fault(char *why, size_t size, const judge_case *c, const memory *m, double tolerance) {
    char rest[160];
    for (size_t i = 0; i < JUDGE_INPUTS; i++)
        if (memcmp(m->in[i], m->kept[i], (c->in_n[i] + GUARD) * sizeof(float)))
            say(why, size, "is changed by the call", input_names[c->op][i] ? input_names[c->op][i] : "memory",
                "");
    for (size_t i = 0; i < JUDGE_OUTPUTS; i++) {
        double scale = 0, most = 0;
        size_t wrong = 0, first = 0, nan = 0;
        const size_t n = c->out_n[i], columns = i || !n ? 1 : n / c->B / c->L;
        for (size_t k = 0; k < n; k++) scale = fmax(scale, fabs(m->exact[i][k]));
        for (size_t k = 0; k < n; k++) {
            const double off = fabs(m->out[i][k] - m->exact[i][k]);
            if (off <= tolerance * scale) continue;
            if (!wrong++) first = k;
            if (isnan(off))
                nan++;
            else
                most = fmax(most, off);
        }
        if (nan) {
            snprintf(rest, sizeof rest, ": %zu of %zu numbers, the first in %s %zu", nan, n,
                     i ? "place" : "row", i ? first : first / columns % c->L);
            say(why, size, "is NaN or not written", output_names[c->op][i], rest);
        } else if (wrong) {
            snprintf(rest, sizeof rest,
                     " by %.3g of its scale (%.3g is allowed): %zu of %zu numbers, the first in %s %zu%s",
                     most / scale, tolerance, wrong, n, i ? "place" : "row",
                     i ? first : first / columns % c->L,
                     c->B > 1 && first >= n / c->B ? ", not in the first sequence" : "");
            say(why, size, "is off", output_names[c->op][i], rest);
        }
        for (size_t k = n; k < n + GUARD; k++)
            if (!isnan(m->out[i][k])) {
                say(why, size, "is written beyond its end",
                    output_names[c->op][i] ? output_names[c->op][i] : "state", "");
                break;
            }
    }
}

int judge(judge_op op, judge_kernel kernel, void *yours, double tolerance, FILE *to) {
    int wrong = 0, taken = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        planned p = cases[i];
        memory m = {{0}, {0}, {0}, {0}, {0}};
        char why[400] = "";
        if (p.is.op != op) continue;
        find_sizes(&p.is, p.drawn);
        if (draw(&p, &m, 1000 + i) || run_oracle(&p.is, m.exact_in, m.exact)) {
            give_back(&m);
            return -1;
        }
        const int status = kernel(&p.is, yours);
        if (status == 0)
            find_fault(why, sizeof why, &p.is, &m, tolerance);
        else if (status != 1)
            snprintf(why, sizeof why, "the kernel failed: %d", status);
        wrong += *why != 0;
        taken += status != 1;
        if (to)
            fprintf(to, "%s (B %zu, L %zu, H %zu and %zu, columns %zu and %zu): %s\n", p.is.about, p.is.B,
                    p.is.L, p.is.H, p.is.Hkv, p.is.dk, p.is.dv,
                    *why     ? why
                    : status ? "not supported"
                             : "OK");
        give_back(&m);
    }
    return taken ? wrong : -2;
}
