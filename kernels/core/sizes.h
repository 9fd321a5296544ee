// sizes.h: sizes of memory begin from what somebody asks for: a key, a file, an argument. They are multiplied
// in 64 bits on every machine (a size_t has 32 in WebAssembly), and a product too large for any memory is
// SIZES_MOST, of which a hundred can be added without wrapping.
#ifndef SMX_SIZES_H
#define SMX_SIZES_H

#include <stddef.h>
#include <stdint.h>

#define SIZES_MOST ((uint64_t)1 << 56)

// The product of two, and of two to four. (A factor of 0 makes 0.)
uint64_t smx_size_product(uint64_t a, uint64_t b);
#define size_mul(...) SIZE_CHOSEN(__VA_ARGS__, size_mul4, size_mul3, smx_size_product, 0)(__VA_ARGS__)
#define SIZE_CHOSEN(a, b, c, d, name, ...) name
#define size_mul3(a, b, c) smx_size_product(smx_size_product(a, b), c)
#define size_mul4(a, b, c, d) smx_size_product(size_mul3(a, b, c), d)
// As a size_t: where that has no room for n, the most that it has, which no memory holds.
static inline size_t size_fits(uint64_t n) {
    const uint64_t most = SIZE_MAX < SIZES_MOST ? SIZE_MAX : SIZES_MOST;
    return (size_t)(n < most ? n : most);
}
// Floats as bytes.
static inline size_t size_floats(uint64_t floats) { return size_fits(size_mul(floats, sizeof(float))); }

#endif
