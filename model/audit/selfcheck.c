// selfcheck.c: see selfcheck.h. Kernels come from kernels/digest.c; trainings are a few steps of every mixer
// and of the model's other parts, weights and loss words hashed together.
#include "selfcheck.h"

#include <stdio.h>

#include "kernels/digest.h"
#include "kernels/core/hash.h"
#include "model/mixers/mixer.h"
#include <seqmix/run.h>

// Explicit where a recipe would decide, so that better recipes move no digest.
#define SMALL                                                                                                \
    "task=mqar&bins=8&iir=causal&vocab=32&length=40&pairs=4&width=16&heads=2&batch=5&steps=12&warmup=3&rate=0.01"

// What the mixers below do not reach: norms, MLPs, positions, schedules.
static const struct {
    const char *name, *config;
} extras[] = {
    {"layer norm, gelu, learned positions, cosine",
     "mixer=cat&norm=layer&mlp=2&position=learned&schedule=cosine&decay=0.1&blocks=2&" SMALL},
    {"rms norm, silu, rope, multi-head filters",
     "mixer=cat&norm=rms&mlp=1&activation=silu&position=rope&filter_kind=multi_head&" SMALL},
    {"alibi, bidirectional", "mixer=attention&position=alibi&causal=0&" SMALL},
    {"sinusoidal positions, xavier, ar", "mixer=attention&position=sinusoidal&init=xavier&" SMALL "&task=ar"},
    {"batch norm", "mixer=cat&norm=batch&mlp=1&" SMALL},
    {"dropout", "mixer=cat&norm=rms&mlp=1&dropout=0.2&" SMALL},
    {"a scan",
     "mixer=equations&" SMALL "&eq=k = unitnorm_heads(x @ w_k)%0Av = x @ w_v%0Ag = softplus(x @ w_g)%0A"
     "start(S, learned)%0Ascan S[k][v], h[v] over k, v, g%0A R = diag(exp(-g)) @ S%0A"
     " S = R + outer(k, v - k @ R)%0A h = tanh(k @ S + h @ u[heads][v][v])%0Ay = h @ w_o"},
#define OPTIMISED(name, word)                                                                                \
    {"optimizer=" word, "optimizer=" word "&mixer=cat&norm=layer&mlp=2&decay=0.1&" SMALL},
    OPTIMISERS_BUT_ADAMW(OPTIMISED)};
enum { EXTRAS = sizeof extras / sizeof *extras };

static size_t mixer_count(void) {
    size_t n = 0;
    while (mixer_name(n)) n++;
    return n;
}

size_t smx_selfcheck_count(void) { return smx_digest_count() + mixer_count() + EXTRAS; }

const char *smx_selfcheck_name(size_t i) {
    static _Thread_local char name[96];
    const size_t kernels = smx_digest_count(), n = mixer_count();
    if (i < kernels)
        snprintf(name, sizeof name, "kernel %s", smx_digest_name(i));
    else if (i < kernels + n)
        snprintf(name, sizeof name, "train %s", mixer_name(i - kernels));
    else if (i < kernels + n + EXTRAS)
        snprintf(name, sizeof name, "train with %s", extras[i - kernels - n].name);
    else
        return NULL;
    return name;
}

static uint64_t train(const char *config, smx_parallel_for hook, void *pool) {
    smx_error error;
    smx_run *r = smx_run_open(config, &error);
    if (r && hook) smx_run_parallel(r, hook, pool);
    if (!r || smx_run_step(r, 12, &error)) {
        smx_run_close(r);
        return 0;
    }
    size_t n;
    const float *losses = smx_run_losses(r, &n);
    const uint64_t h = hash_words(smx_run_digest(r), losses, n);
    smx_run_close(r);
    return h;
}

uint64_t smx_selfcheck_digest(size_t i) { return smx_selfcheck_digest_parallel(i, NULL, NULL); }
uint64_t smx_selfcheck_digest_parallel(size_t i, smx_parallel_for hook, void *pool) {
    const size_t kernels = smx_digest_count(), n = mixer_count();
    if (i < kernels) return smx_digest_kernel(i, NULL);
    if (i >= kernels + n + EXTRAS) return 0;
    if (i >= kernels + n) return train(extras[i - kernels - n].config, hook, pool);
    char config[256];
    snprintf(config, sizeof config, "mixer=%s&" SMALL, mixer_name(i - kernels));
    return train(config, hook, pool);
}
