// util.h: what several task files share: errors about a length, distinct draws, the in-context guess. Not for
// tasks outside this folder.
#ifndef SMX_TASK_UTIL_H
#define SMX_TASK_UTIL_H

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../kernels/philox.h"
#include "task.h"

enum { TASK_DISTINCT_MAX = 65536 }; // largest range for draw_distinct: 8 KiB of stack

// As config_fail about the key "length", for the length that was asked for (which may not be the config's).
// Always -1.
__attribute__((format(printf, 3, 4))) static inline int length_fail(smx_error *error, size_t length,
                                                                    const char *allowed, ...) {
    if (!error) return -1;
    va_list args;
    va_start(args, allowed);
    vsnprintf(error->allowed, sizeof error->allowed, allowed, args);
    va_end(args);
    snprintf(error->key, sizeof error->key, "length");
    snprintf(error->value, sizeof error->value, "%zu", length);
    snprintf(error->message, sizeof error->message, "length=%zu: %s", length, error->allowed);
    return -1;
}

static inline void fill_tokens(int32_t *tokens, int32_t value, size_t n) {
    for (size_t i = 0; i < n; i++) tokens[i] = value;
}

// out[0], out[stride], ... = n distinct numbers of low..low+range-1 in random order; n <= range <=
// TASK_DISTINCT_MAX.
static inline void draw_distinct(smx_rng *rng, int32_t *out, size_t stride, size_t n, int32_t low,
                                 uint32_t range) {
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

// Expected share of the most frequent of `kinds` values among n uniform draws: how often the best answer that
// knows which values occur, but not where, is right. Measured over about a quarter million draws of a fixed
// stream.
static inline double frequent_share(size_t n, size_t kinds) {
    enum { DRAWS = 1 << 18, MOST = 4096 };
    if (n == 0 || kinds == 0) return 0;
    if (kinds > MOST || n > DRAWS / 16) return 1.0 / (double)kinds;
    smx_rng rng = rng_open(0x67756573, RNG_SHUFFLE, kinds);
    size_t rounds = DRAWS / n, total = 0;
    for (size_t r = 0; r < rounds; r++) {
        uint16_t count[MOST] = {0}, most = 0;
        for (size_t i = 0; i < n; i++) {
            uint16_t c = ++count[rng_below(&rng, (uint32_t)kinds)];
            if (c > most) most = c;
        }
        total += most;
    }
    return (double)total / ((double)rounds * (double)n);
}

#endif
