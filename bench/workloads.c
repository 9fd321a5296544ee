// workloads.c: rows that are whole training steps of configs: W1, W2, the recall preset, every preset, and
// the cost of long sequences. Data are made, gradients taken and weights updated in each step, as in
// training.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/run/language/recipes.h"
#include "model/run/language/language.h"
#include "model/mixers/mixer.h"
#include "rows.h"

// The two workloads in the config language; bench/peers builds the same models from the checkpoint of step 0.
// W1: one block of CAT with one head, 16 targets a sequence. A norm before the block and one before the head.
static const char W1[] =
    "mixer=cat&task=mqar&length=64&vocab=64&pairs=16&width=64&heads=1&blocks=1&filter=3&norm=layer&mlp=0"
    "&position=none&embed_std=1&init=fan_in&batch=32&rate=0.001&warmup=0&schedule=constant&decay=0.01"
    "&clip=0&beta1=0.9&beta2=0.999&epsilon=1e-8&steps=1000000&seed=1";
// W2: two blocks of attention over the 196 pixels of a 14x14 image;
// a norm before the mean, no biases on q, k, v and o.
static const char W2[] =
    "mixer=attention&task=smnist&data=digits&length=196&width=64&heads=4&blocks=2&norm=layer&mlp=2"
    "&activation=gelu&position=learned&position_std=0.3&init=fan_in&batch=16&rate=0.001&warmup=0"
    "&schedule=constant&decay=0.01&clip=0&beta1=0.9&beta2=0.999&epsilon=1e-8&steps=1000000&seed=1";
static const char MQAR[] = "mixer=cat&task=mqar&vocab=64&length=64&pairs=8&width=32&seed=1";

static int open_run(bench_row *r, smx_error *error) {
    r->lab = smx_run_open(r->config, error);
    if (!r->lab) return -1;
    smx_metrics m;
    smx_run_metrics(r->lab, &m);
    r->flops = (double)m.flops;
    r->bytes = (size_t)m.bytes;
    return 0;
}
static void run_step(bench_row *r) {
    smx_error error;
    r->check = NAN;
    if (smx_run_step(r->lab, 1, &error)) return;
    size_t n;
    const float *losses = smx_run_losses(r->lab, &n);
    r->check = losses[n - 1];
}
static bench_row *add_run(const char *name, const char *config) {
    bench_row *r = bench_add(name, open_run, run_step);
    r->config = malloc(strlen(config) + 1);
    if (r->config) strcpy(r->config, config);
    return r;
}

// From the config to 99 % of held-out answers right, tried on 64 sequences every 10 steps;
// check: the steps it took.
static void run_until_solved(bench_row *r) {
    smx_error error;
    smx_evaluation e = {0};
    smx_metrics m = {0};
    smx_run_close(r->lab);
    r->lab = smx_run_open(r->config, &error);
    while (r->lab && m.step < m.steps + !m.step) {
        if (smx_run_step(r->lab, 10, &error) || smx_run_evaluate(r->lab, 64, 0, &e, &error)) break;
        smx_run_metrics(r->lab, &m);
        if (e.accuracy >= 0.99) break;
    }
    r->check = e.accuracy >= 0.99 ? (double)m.step : 0.0;
    r->flops = (double)m.flops * (double)m.step;
}

static void add_presets(void) {
    for (const preset *p = presets; p->name; p++)
        for (size_t i = 0; i < config_runs(p->config); i++) {
            config *c = config_parse(p->config, i, NULL);
            char *text = c ? config_text(c) : NULL, name[96];
            snprintf(name, sizeof name, "preset/%s/%zu %s", p->name, i + 1, c ? c->of_mixer.name : "?");
            if (text) add_run(name, text);
            free(text);
            config_free(c);
        }
}

// Time and memory per token of every mechanism whose cost is linear in the length, attention in blocks of 64
// among them: one sequence of 1,024 to 65,536 tokens. `work` is what a token costs beyond a constant.
static double no_work(double L) { return L > 0.0; }
static double of_transform(double L) { return log2(2.0 * L); }
static double of_landmarks(double L) { return L / 8.0 + 8.0; }
static void add_lengths(void) {
    static const struct {
        const char *mixer, *blocks; // blocks: the key that bounds attention, by its size or by their number
        double (*work)(double);
        const char *target;
    } list[] = {
        {"attention", "chunk", no_work, "per token within 1.3 x of 1,024"},
        {"las", "chunk", no_work, "per token within 1.3 x of 1,024"},
        {"focus", "chunks", of_transform, "per token / log L within 1.3 x of 1,024"},
        {"focus_h", "chunks", no_work, "per token within 1.3 x of 1,024"},
        {"lcat", NULL, of_landmarks, "per token / (L/B + B) within 1.3 x of 1,024"},
        {"chela", NULL, of_transform, "per token / log L within 1.3 x of 1,024"},
        {"longconv", NULL, of_transform, "per token / log L within 1.3 x of 1,024"},
        {"s4d", NULL, of_transform, "per token / log L within 1.3 x of 1,024"},
        {"linear", NULL, no_work, "per token within 1.3 x of 1,024"},
        {"lincat", NULL, no_work, "per token within 1.3 x of 1,024"},
        {"ema", NULL, no_work, "per token within 1.3 x of 1,024"},
        {"mamba", NULL, no_work, "per token within 1.3 x of 1,024"},
        {"gla", NULL, no_work, "per token within 1.3 x of 1,024"},
        {"retnet", NULL, no_work, "per token within 1.3 x of 1,024"},
        {"mamba2", NULL, no_work, "per token within 1.3 x of 1,024"},
        {"deltanet", NULL, no_work, "per token within 1.3 x of 1,024"},
        {"gated_deltanet", NULL, no_work, "per token within 1.3 x of 1,024"},
        {"based", NULL, no_work, "per token within 1.3 x of 1,024"},
        {"lstm", NULL, no_work, "per token within 1.3 x of 1,024"},
        {"gru", NULL, no_work, "per token within 1.3 x of 1,024"},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        for (int length = 1024; length <= 65536; length *= 8) {
            char name[96], text[512];
            snprintf(name, sizeof name, "length/%s %d", list[i].mixer, length);
            int n = snprintf(
                text, sizeof text,
                "mixer=%s&task=mqar&length=%d&vocab=256&pairs=64&width=64&blocks=1&batch=1&steps=1000000",
                list[i].mixer, length);
            if (list[i].blocks)
                snprintf(text + n, sizeof text - (size_t)n, "&%s=%d", list[i].blocks,
                         strcmp(list[i].blocks, "chunk") ? length / 64 : 64);
            bench_row *r = add_run(name, text);
            r->target = list[i].target;
            r->tokens = length;
            r->work = list[i].work(length);
        }
}

// A mixer's text of 50 operations, from its bytes to a run whose memory is there.
static void run_open(bench_row *r) {
    smx_error error;
    smx_run_close(r->lab);
    r->lab = smx_run_open(r->config, &error);
    r->check = r->lab != NULL;
}
static void add_text(void) {
    char text[2048] = "mixer=equations&task=mqar&length=32&vocab=16&pairs=2&width=8&batch=1&eq=";
    size_t n = strlen(text);
    for (int i = 0; i < 16; i++) // a product, a function and a sum each
        n += (size_t)(i ? snprintf(text + n, sizeof text - n, "t%d = t%d + gelu(t%d @ w%d)\n", i, i - 1,
                                   i - 1, i)
                        : snprintf(text + n, sizeof text - n, "t0 = x + gelu(x @ w0)\n"));
    snprintf(text + n, sizeof text - n, "y = 2 * (t15 @ w_o)");
    bench_row *r = add_run("text of 50 operations opened", text);
    r->run = run_open;
    r->target = "<= 2 ms";
}

void bench_add_workloads(void) {
    add_run("W1", W1)->target =
        ">= 1.4 x [1.8 x] PyTorch; wasm >= 45 % [60 %] of the ceiling, >= 2.3 x [3 x] jax-js";
    bench_add_variant("W1", "fast=1", ">= 2.2 x [3 x] PyTorch");
    add_run("W2", W2)->target = ">= 1.4 x [1.8 x] PyTorch; wasm >= 2.3 x [3 x] jax-js";
    bench_add_variant("W2", "fast=1", ">= 2.2 x [3 x] PyTorch");
#ifndef __wasm__
    bench_add_variant("W2", "threads=2", "efficiency >= 80 %")->threads = 2;
#endif
    add_run("mqar step", MQAR)->target = "<= 0.8 ms native, <= 2.2 [1.2] ms in Chromium";
    bench_row *r = add_run("mqar solved", MQAR);
    r->run = run_until_solved;
    r->target = "<= 500 [250] ms in Chromium";
    add_text();
    add_presets();
    add_lengths();
}
