// sizes.h: sizes of memory begin from what somebody asks for: a key, a file, an argument. They are multiplied
// in 64 bits on every machine (a size_t has 32 in WebAssembly), and a product too large for any memory is
// SIZES_MOST, of which a hundred can be added without wrapping.
#ifndef SMX_SIZES_H
#define SMX_SIZES_H

#include <stddef.h>
#include <stdint.h>

#define SIZES_MOST ((uint64_t)1 << 56)

static inline uint64_t size_product(size_t count, const uint64_t *factors) {
    uint64_t n = 1;
    for (size_t i = 0; i < count;
         i++) { // (as doubles: a division takes longer, and WebAssembly has no carry)
        const uint64_t by = factors[i];
        n = (double)n * (double)by < (double)SIZES_MOST ? n * by : SIZES_MOST;
    }
    return n;
}
// The product of its arguments. A factor of 0 makes 0 where no product before it was too large.
#define size_mul(...)                                                                                        \
    size_product(sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t), (const uint64_t[]){__VA_ARGS__})

// As a size_t: where that has no room for n, the most that it has, which no memory holds.
static inline size_t size_fits(uint64_t n) {
    const uint64_t most = SIZE_MAX < SIZES_MOST ? SIZE_MAX : SIZES_MOST;
    return (size_t)(n < most ? n : most);
}
// Floats as bytes.
static inline size_t size_floats(uint64_t floats) { return size_fits(size_mul(floats, sizeof(float))); }

#endif
