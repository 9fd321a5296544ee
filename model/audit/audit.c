// audit.c: the causality audit. A row may hide from one change (a maximum elsewhere, a choice that stays), so
// there are several starts of the weights, several inputs and several sizes of change for each row.
#include "audit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/graph/graph.h"
#include "model/mixers/mixer.h"
#include "model/ops/ops.h"
#include "kernels/core/philox.h"

static const double weight_spread[] = {0.0, 0.3, 1.0}; // added to the weights' own start, times N(0, 1)
static const double input_size[] = {1.0, 3.0};
static const double change_size[] = {1.0 / 16, 1.0, 16.0};
#define COUNT(array) (sizeof(array) / sizeof *(array))

typedef struct {
    params weights;
    graph *g;
    tensor *y;
    float *x, *before; // [L][D]
    double *moved;     // [L]
    double largest;    // of `before`
} bench;

// Mixers that are looked at: the config's, or one for each block.
static size_t blocks_of(const config *c) { return c->blocks ? c->n_blocks : 1; }
static size_t claimed(const config *c, size_t length) {
    size_t sum = 0;
    for (size_t i = 0; i < blocks_of(c); i++) {
        config view;
        sum += mixer_lookahead(config_of_block(c, i, &view), length);
    }
    return sum < length ? sum : length - 1;
}
static int open_bench(bench *b, const config *c, int direct, smx_error *error) {
    const size_t L = c->common.length, D = c->common.width;
    memset(b, 0, sizeof *b);
    for (size_t i = 0; i < blocks_of(c); i++) {
        config view;
        const config *own = config_of_block(c, i, &view);
        if (mixer_of(own)->check && mixer_of(own)->check(own, L, error)) return -1;
    }
    b->g = graph_new(GRAPH_EVAL, &b->weights, 1, L);
    b->x = calloc(L * D, sizeof *b->x);
    b->before = calloc(L * D, sizeof *b->before);
    b->moved = calloc(L, sizeof *b->moved);
    if (!b->g || !b->x || !b->before || !b->moved)
        return config_fail(error, c, "length", "smaller: there is no memory for an audit");
    b->g->direct = direct;
    b->y = op_values(b->g, D);
    for (size_t i = 0; i < blocks_of(c); i++) { // mixers of their own: one after another
        config view;
        const config *own = config_of_block(c, i, &view);
        if (i)
            graph_push(b->g, "mixer_%d", (int)i);
        else
            graph_push(b->g, "mixer");
        b->y = mixer_of(own)->build(b->g, own, b->y);
        graph_pop(b->g);
    }
    b->g->values = b->x;
    if (b->g->failed) {
        if (error) *error = b->g->error;
        return -1;
    }
    return params_create(&b->weights, 1, error) || graph_plan(b->g, NULL, error) ? -1 : 0;
}
static void close_bench(bench *b) {
    graph_free(b->g);
    params_free(&b->weights);
    free(b->x);
    free(b->before);
    free(b->moved);
}

// How far each output row moved from `before`, and the furthest of all.
// NaN on one side only counts as infinitely far.
static double moves(bench *b, size_t L, size_t D) {
    double top = 0.0;
    for (size_t i = 0; i < L; i++) {
        if (i == 0) b->largest = 0.0;
        b->moved[i] = 0.0;
        for (size_t c = 0; c < D; c++) {
            const float old = b->before[i * D + c], now = b->y->data[i * D + c];
            double d = (double)now - (double)old;
            if (old > b->largest || -old > b->largest) b->largest = old < 0 ? -(double)old : (double)old;
            if (old != old && now != now) d = 0.0;
            if (d != d) d = 1e300;
            if (d < 0) d = -d;
            if (d > b->moved[i]) b->moved[i] = d;
        }
        if (b->moved[i] > top) top = b->moved[i];
    }
    return top;
}

// Row j changed: what moved before it.
static void note(audit_result *r, double *shares, const bench *b, size_t j, double top) {
    r->draws++;
    for (size_t i = 0; i < r->length && top > 0.0; i++) {
        const double share = b->moved[i] / (b->g->direct ? top : b->largest);
        if (i < j && share > AUDIT_ROUNDING && j - i > r->measured) r->measured = j - i;
        if (i + r->claimed < j && share > r->rounding) r->rounding = share;
        if (shares && share > shares[i * r->length + j]) shares[i * r->length + j] = share;
    }
}

static void try_input(audit_result *r, double *shares, bench *b, smx_rng *random, double size) {
    const size_t L = r->length, D = b->y->n / L;
    for (size_t i = 0; i < L * D; i++) b->x[i] = (float)(size * rng_normal(random));
    graph_forward(b->g);
    memcpy(b->before, b->y->data, L * D * sizeof *b->before);
    float *kept = b->moved ? malloc(D * sizeof *kept) : NULL;
    for (size_t j = 0; kept && j < L; j++)
        for (size_t s = 0; s < COUNT(change_size); s++) {
            memcpy(kept, b->x + j * D, D * sizeof *kept);
            for (size_t c = 0; c < D; c++) b->x[j * D + c] += (float)(change_size[s] * rng_normal(random));
            graph_forward(b->g);
            note(r, shares, b, j, moves(b, L, D));
            memcpy(b->x + j * D, kept, D * sizeof *kept);
        }
    free(kept);
}

// With long convolutions summed directly, or as training computes them. Returns whether there are any, or -1.
static int audit_sums(audit_result *r, double *share, const config *c, int direct, smx_error *error) {
    bench b;
    int status = open_bench(&b, c, direct, error);
    *r = (audit_result){.length = c->common.length};
    if (!status) {
        r->claimed = claimed(c, r->length);
        if (share) memset(share, 0, r->length * r->length * sizeof *share);
        smx_rng random = rng_open(1, RNG_EVAL, 0);
        float *start = malloc(b.weights.total * sizeof *start + 1);
        if (start) memcpy(start, b.weights.data, b.weights.total * sizeof *start);
        for (size_t w = 0; start && w < COUNT(weight_spread); w++) {
            for (size_t i = 0; i < b.weights.total; i++)
                b.weights.data[i] = start[i] + (float)(weight_spread[w] * rng_normal(&random));
            for (size_t i = 0; i < COUNT(input_size); i++) try_input(r, share, &b, &random, input_size[i]);
        }
        free(start);
        status = b.g->has_long;
    }
    close_bench(&b);
    return status;
}

int audit_mixer(audit_result *r, double *share, const config *c, smx_error *error) {
    const uint64_t env = smx_fpenv_enter();
    const int fast = smx_fast(0);
    int status = audit_sums(r, share, c, 1, error);
    if (status > 0) {
        audit_result runs;
        status = audit_sums(&runs, NULL, c, 0, error);
        r->by_fft = 1;
        r->fft_rounding = runs.rounding;
        if (runs.measured > r->measured) r->measured = runs.measured;
    }
    smx_fast(fast);
    smx_fpenv_leave(env);
    return status < 0 ? -1 : 0;
}

// ---- Modes ----------------------------------------------------------------------------------------------

// A task that no recipe speaks of, so that a mixer has its own defaults.
static const char mode_base[] = "&task=nar&length=48&width=24&heads=2";

const char *audit_mode(char *text, size_t size, const char *mixer_name, size_t i) {
    const char *mode = mixer_find(mixer_name)->modes;
    size_t n = 0;
    if (i > 0) {
        for (; mode && i > 1; i--) mode = strchr(mode, '~') ? strchr(mode, '~') + 1 : NULL;
        if (!mode || !*mode) return NULL;
        n = strcspn(mode, "~");
    }
    snprintf(text, size, "mixer=%s%s%s%.*s", mixer_name, mode_base, n ? "&" : "", (int)n, n ? mode : "");
    return text;
}

const char *audit_mode_change(const char *text) {
    const char *base = strstr(text, mode_base);
    return base && base[sizeof mode_base - 1] ? base + sizeof mode_base : "";
}

void audit_row(char *text, size_t size, const char *mixer_name, const char *mode_text,
               const audit_result *r) {
    char beyond[96] = "not one bit";
    const char *change = audit_mode_change(mode_text);
    if (r->rounding > 0.0) snprintf(beyond, sizeof beyond, "rounding %.1e", r->rounding);
    const size_t n = strlen(beyond);
    if (r->fft_rounding > 0.0)
        snprintf(beyond + n, sizeof beyond - n, " reading on; rounding %.0e by FFT", r->fft_rounding);
    snprintf(text, size, "| %s | %s | %zu | %zu | %s |%s", mixer_name, *change ? change : "defaults",
             r->claimed, r->measured, beyond, r->claimed == r->measured ? "" : " WRONG");
}
