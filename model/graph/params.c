// params.c: the weights of a model and how they start.
#include "params.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/core/hash.h"
#include "kernels/core/philox.h"
#include "model/base/error.h"

void params_free(params *p) {
    for (size_t i = 0; i < p->count; i++) free(p->list[i]);
    free(p->list);
    free(p->memory);
    memset(p, 0, sizeof *p);
}

const param *params_find(const params *p, const char *name) {
    for (size_t i = 0; i < p->count; i++)
        if (!strcmp(p->list[i]->name, name)) return p->list[i];
    return NULL;
}

static void start_param(const param *w, float *data, uint64_t seed) {
    smx_rng r = rng_open(seed, RNG_START, hash_bytes(HASH_START, w->name, strlen(w->name)));
    size_t last = w->shape[w->rank - 1];
    switch (w->start.kind) {
    case INIT_NORMAL:
        for (size_t i = 0; i < w->n; i++) data[i] = (float)(w->start.scale * rng_normal(&r));
        break;
    case INIT_UNIFORM:
        for (size_t i = 0; i < w->n; i++) data[i] = (float)(w->start.scale * (2.0 * rng_uniform(&r) - 1.0));
        break;
    case INIT_CONSTANT:
        for (size_t i = 0; i < w->n; i++) data[i] = (float)w->start.scale;
        break;
    case INIT_DECAY: {
        double rho = 1.0 - 1.0 / (double)last, square = 0.0, tap = 1.0;
        for (size_t i = 0; i < last; i++, tap *= rho) square += tap * tap;
        for (size_t i = 0; i < w->n; i++) {
            tap = i % last ? tap * rho : 1.0 / md_sqrt(square);
            data[i] = (float)(w->start.scale * rng_normal(&r) + tap);
        }
        break;
    }
    case INIT_IDENTITY:
        for (size_t i = 0; i < w->n; i++)
            data[i] = (float)(w->start.scale * rng_normal(&r) + (i % last == 0));
        break;
    case INIT_IDENTITY_MIDDLE:
        for (size_t i = 0; i < w->n; i++)
            data[i] = (float)(w->start.scale * rng_normal(&r) + (i % last == last / 2));
        break;
    case INIT_IDENTITY_HEADS:
        for (size_t i = 0; i < w->n; i++)
            data[i] = (float)(w->start.scale * rng_normal(&r) + (i < last * last && i % (last + 1) == 0));
        break;
    case INIT_LONG:
        for (size_t i = 0; i < w->n; i++) {
            double channel = (double)(i / last) / (double)(w->n / last > 1 ? w->n / last - 1 : 1);
            double rate = md_exp(-channel * md_log((double)last));
            double size = w->start.scale * md_sqrt(1.0 - md_exp(-2.0 * rate));
            data[i] = (float)(size * md_exp(-rate * (double)(i % last)) * rng_normal(&r));
        }
        break;
    case INIT_STEP:
    case INIT_STEP_PLUS:
        for (size_t i = 0; i < w->n; i++) {
            double step = md_log(0.001) + rng_uniform(&r) * (md_log(0.1) - md_log(0.001));
            data[i] = (float)(w->start.kind == INIT_STEP ? step : md_log(md_exp(md_exp(step)) - 1.0));
        }
        break;
    case INIT_COUNT:
        for (size_t i = 0; i < w->n; i++) data[i] = (float)(w->start.scale * (double)(i % last));
        break;
    case INIT_LOG_COUNT:
        for (size_t i = 0; i < w->n; i++) data[i] = (float)md_log((double)(i % last + 1));
        break;
    case INIT_FORGET:
        for (size_t i = 0; i < w->n; i++) data[i] = i / (w->n / 4) == 1 ? (float)w->start.scale : 0.0f;
        break;
    }
}

static int by_name(const void *a, const void *b) {
    return strcmp((*(param *const *)a)->name, (*(param *const *)b)->name);
}

int params_create(params *p, uint64_t seed, smx_error *error) {
    p->seed = seed;
    // In order of name: compilers differ in the order in which they evaluate arguments,
    // so the order of building is no order.
    qsort(p->list, p->count, sizeof *p->list, by_name);
    uint64_t total = 0, batch = 0;
    for (size_t i = 0; i < p->count; i++) {
        p->list[i]->offset = (size_t)total;
        total += (p->list[i]->n + 15) / 16 * 16;
        if (!p->list[i]->running) continue;
        p->list[i]->batch = (size_t)batch;
        batch += (p->list[i]->n + 15) / 16 * 16;
    }
    p->sealed = 1;
    p->memory = total > GRAPH_MOST
                    ? NULL
                    : calloc((2 * (size_t)total + (size_t)batch) * sizeof *p->data + SMX_ALIGN, 1);
    if (!p->memory) return error_say(error, "out of memory for %llu weights", (unsigned long long)total);
    p->total = (size_t)total;
    p->data = aligned(p->memory);
    p->grad = p->data + p->total;
    p->batch = p->grad + p->total;
    p->batch_n = (size_t)batch;
    for (size_t i = 0; i < p->count; i++) start_param(p->list[i], p->data + p->list[i]->offset, seed);
    return 0;
}

void params_follow(params *p) {
    for (size_t i = 0; i < p->count; i++) {
        const param *w = p->list[i];
        float *running = p->data + w->offset;
        const float *batch = p->batch + w->batch;
        for (size_t j = 0; w->running && j < w->n; j++) running[j] += 0.1f * (batch[j] - running[j]);
    }
}
