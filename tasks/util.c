// util.c: see util.h.
#include "util.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/base/error.h"

int length_fail(smx_error *error, size_t length, const char *allowed, ...) {
    char text[sizeof error->allowed], value[24];
    va_list args;
    va_start(args, allowed);
    vsnprintf(text, sizeof text, allowed, args);
    va_end(args);
    snprintf(value, sizeof value, "%zu", length);
    return error_unfit(error, "length", value, "%s", text);
}

void *instance_data(smx_task_instance *instance, size_t bytes, size_t length, smx_error *error) {
    instance->data = calloc(1, bytes);
    instance->release = free;
    if (!instance->data) length_fail(error, length, "less: there is no memory for the task");
    return instance->data;
}

void answer_tokens(smx_task_instance *instance, size_t length, size_t vocab, size_t max_targets) {
    instance->length = length;
    instance->vocab = instance->classes = vocab;
    instance->channels = 0;
    instance->per_position = 1;
    instance->max_targets = max_targets;
}

uint64_t shuffled(uint64_t i, uint64_t n, uint64_t seed, uint64_t pass) {
    unsigned bits = 1;
    while (n > (uint64_t)1 << (2 * bits)) bits++;
    uint32_t mask = (uint32_t)(((uint64_t)1 << bits) - 1);
    do {
        uint32_t left = (uint32_t)(i >> bits), right = (uint32_t)i & mask;
        for (uint32_t round = 0; round < 6; round++) {
            smx_rng rng = rng_open(seed, RNG_SHUFFLE, pass);
            rng.counter[0] = right << 3 | round;
            uint32_t next = left ^ (rng_u32(&rng) & mask);
            left = right;
            right = next;
        }
        i = (uint64_t)left << bits | right;
    } while (i >= n);
    return i;
}

void draw_distinct(smx_rng *rng, int32_t *out, size_t stride, size_t n, int32_t low, uint32_t range) {
    uint64_t seen[TASK_DISTINCT_MAX / 64];
    memset(seen, 0, (range + 63) / 64 * sizeof *seen);
    for (size_t i = 0; i < n; i++) {
        uint32_t x;
        do x = rng_below(rng, range);
        while (seen[x / 64] >> (x % 64) & 1);
        seen[x / 64] |= (uint64_t)1 << (x % 64);
        out[i * stride] = low + (int32_t)x;
    }
}
