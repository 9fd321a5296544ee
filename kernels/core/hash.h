// hash.h: the two 64-bit hashes, both from FNV's start and prime. What they give is public (digests, the
// seeds of weights): neither changes.
#ifndef SMX_HASH_H
#define SMX_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HASH_START 0xcbf29ce484222325u
#define HASH_PRIME 0x100000001b3u

// FNV-1a (Fowler, Noll, Vo), a byte at a time: of names and of kernels' outputs.
static inline uint64_t hash_bytes(uint64_t h, const void *bytes, size_t n) {
    const unsigned char *b = bytes;
    for (size_t i = 0; i < n; i++) h = (h ^ b[i]) * HASH_PRIME;
    return h;
}
// The 32 bits of a float; every NaN is 0x7fc00000, since sign and payload are the machine's own.
static inline uint32_t hash_word_of(float x) {
    uint32_t word;
    memcpy(&word, &x, sizeof word);
    return (word & 0x7fffffffu) > 0x7f800000u ? 0x7fc00000u : word;
}
// A word at a time, so not FNV-1a: of weights and losses (digests of runs).
static inline uint64_t hash_words(uint64_t h, const float *x, size_t n) {
    for (size_t i = 0; i < n; i++) h = (h ^ hash_word_of(x[i])) * HASH_PRIME;
    return h;
}

#endif
