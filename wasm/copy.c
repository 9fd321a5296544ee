// copy.c: memcpy and memset sixteen bytes at a time, where there is SIMD: those of Emscripten's C library
// move four, and rows of numbers are copied and zeroed in every step. (C11 7.24.2.1, 7.24.6.1)
#include <stddef.h>
#ifdef __wasm_simd128__
#include <wasm_simd128.h>

// (A compiler makes calls of these two out of loops like theirs.)
#define ITSELF __attribute__((no_builtin))

ITSELF void *memcpy(void *restrict to, const void *restrict from, size_t n) {
    char *t = to;
    const char *f = from;
    if (n < sizeof(v128_t)) {
        for (size_t i = 0; i < n; i++) t[i] = f[i];
        return to;
    }
    const size_t last = n - sizeof(v128_t); // the last sixteen bytes, which the others may overlap
    for (size_t i = 0; i < last; i += sizeof(v128_t)) wasm_v128_store(t + i, wasm_v128_load(f + i));
    wasm_v128_store(t + last, wasm_v128_load(f + last));
    return to;
}

ITSELF void *memset(void *to, int byte, size_t n) {
    char *t = to;
    if (n < sizeof(v128_t)) {
        for (size_t i = 0; i < n; i++) t[i] = (char)byte;
        return to;
    }
    const size_t last = n - sizeof(v128_t);
    const v128_t value = wasm_i8x16_splat((int8_t)byte);
    for (size_t i = 0; i < last; i += sizeof(v128_t)) wasm_v128_store(t + i, value);
    wasm_v128_store(t + last, value);
    return to;
}
#endif
