// philox.h: the one source of random numbers: Philox4x32-10 (Salmon, Moraes, Dror & Shaw 2011), a
// counter-based generator in integer arithmetic. A draw is a function of (seed, stream, index, position)
// alone, so sample 7 is the same whoever makes it, in any order and thread. Not for cryptography.
#ifndef SMX_PHILOX_H
#define SMX_PHILOX_H

#include <stdint.h>

#include "mathd.h"

// Streams of one seed never meet: the stream is a word of the counter.
enum { RNG_START, RNG_TRAIN, RNG_EVAL, RNG_SHUFFLE, RNG_DRAW, RNG_DROPOUT };

// out [4] = the ten-round bijection of counter [4] under key [2].
static inline void philox4x32(uint32_t out[4], const uint32_t counter[4], const uint32_t key[2]) {
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3], k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; round++) {
        uint64_t a = (uint64_t)0xD2511F53u * c0, b = (uint64_t)0xCD9E8D57u * c2;
        c0 = (uint32_t)(b >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)b;
        c2 = (uint32_t)(a >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)a;
        k0 += 0x9E3779B9u; // golden ratio
        k1 += 0xBB67AE85u; // sqrt(3) - 1
    }
    out[0] = c0, out[1] = c1, out[2] = c2, out[3] = c3;
}

typedef struct {
    uint32_t key[2], counter[4]; // key: seed; counter: block, stream, index (low, high)
    uint32_t word[4];            // the current block's output
    unsigned used;               // words of it already given
    int has_spare;
    double spare; // the second normal of the last pair
} smx_rng;

static inline smx_rng rng_open(uint64_t seed, uint32_t stream, uint64_t index) {
    smx_rng r = {{(uint32_t)seed, (uint32_t)(seed >> 32)},
                 {0, stream, (uint32_t)index, (uint32_t)(index >> 32)},
                 {0, 0, 0, 0},
                 4,
                 0,
                 0};
    return r;
}

static inline uint32_t rng_u32(smx_rng *r) {
    if (r->used == 4) {
        philox4x32(r->word, r->counter, r->key);
        r->counter[0]++; // 2^34 words a sample
        r->used = 0;
    }
    return r->word[r->used++];
}

// Uniform in 0..n-1, n >= 1, without bias (Lemire 2019: multiply, reject the short remainder).
static inline uint32_t rng_below(smx_rng *r, uint32_t n) {
    uint64_t m = (uint64_t)rng_u32(r) * n;
    if ((uint32_t)m < n) {
        uint32_t least = (0u - n) % n;
        while ((uint32_t)m < least) m = (uint64_t)rng_u32(r) * n;
    }
    return (uint32_t)(m >> 32);
}

// 53 random bits as an integer: the high 27 of one word, then the high 26 of the next.
static inline uint64_t rng_u53(smx_rng *r) {
    uint64_t high = rng_u32(r) >> 5;
    return high << 26 | rng_u32(r) >> 6;
}

// Uniform in [0, 1), a multiple of 2^-53.
static inline double rng_uniform(smx_rng *r) { return (double)rng_u53(r) * 0x1p-53; }

// Standard normal (Box & Muller 1958): radius sqrt(-2 ln u) with u in (0, 1], angle a whole number of 2^-53
// turns; the cosine is given first, the sine kept for the next call. |result| < 8.6.
static inline double rng_normal(smx_rng *r) {
    if (r->has_spare) {
        r->has_spare = 0;
        return r->spare;
    }
    double u = 1 - rng_uniform(r), s, c;
    md_sincos_turn(&s, &c, rng_u53(r), (uint64_t)1 << 53);
    double radius = md_sqrt(-2 * md_log(u));
    r->spare = radius * s;
    r->has_spare = 1;
    return radius * c;
}

#endif
