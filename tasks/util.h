// util.h: what several task files share: errors about a length, distinct draws. Not for tasks outside this
// folder.
#ifndef SMX_TASK_UTIL_H
#define SMX_TASK_UTIL_H

#include <string.h>

#include "kernels/core/philox.h"
#include "task.h"

enum { TASK_DISTINCT_MAX = 65536 }; // largest range for draw_distinct: 8 KiB of stack

// As config_fail about the key "length", for the length that was asked for (which may not be the config's).
// Always -1.
int length_fail(smx_error *error, size_t length, const char *allowed, ...)
    __attribute__((format(printf, 3, 4)));

// Zeroed memory for instance->data, which free releases. NULL with the error.
void *instance_data(smx_task_instance *instance, size_t bytes, size_t length, smx_error *error);

// The form of a task that reads tokens and answers tokens at rows.
void answer_tokens(smx_task_instance *instance, size_t length, size_t vocab, size_t max_targets);

static inline void fill_tokens(int32_t *tokens, int32_t value, size_t n) {
    for (size_t i = 0; i < n; i++) tokens[i] = value;
}

// Element i of a random order of 0..n-1 that belongs to (seed, pass): a Feistel network over the next power
// of four (Black & Rogaway 2002), walked until it lands below n. Nothing is stored, so any image of any pass
// is found at once.
uint64_t shuffled(uint64_t i, uint64_t n, uint64_t seed, uint64_t pass);

// out[0], out[stride], ... = n distinct numbers of low..low+range-1 in random order; n <= range <=
// TASK_DISTINCT_MAX.
void draw_distinct(smx_rng *rng, int32_t *out, size_t stride, size_t n, int32_t low, uint32_t range);

#endif
