// fuzz_npy.c: libFuzzer target for the reader of .npy files, from memory and from a file, and of tensors of
// safetensors files. Whatever the bytes: an array whose every number may be read, the same from both, or -1
// with a sentence that begins with the name.
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/arrays/npy.h"

static void check_error(const char *sentence, const char *name) {
    if (strncmp(sentence, name, strlen(name)) || strlen(sentence) < strlen(name) + 10) abort();
}

static void check_array(const npy *a) {
    size_t count = 1;
    double sum = 0;
    char shape[160];
    if (a->ndim > NPY_MAX_DIMS || a->dtype > NPY_I4) abort();
    for (size_t d = 0; d < a->ndim; d++) count *= a->shape[d];
    if (count != a->count) abort();
    for (size_t i = 0; i < a->count; i++) sum += isfinite(npy_value(a, i)) ? npy_value(a, i) : 0;
    if (strlen(npy_shape_text(shape, sizeof shape, a->ndim, a->shape)) >= sizeof shape) abort();
    volatile double use = sum;
    (void)use;
}

static int to_file(char path[64], const unsigned char *bytes, size_t size) {
    static int file = -1;
    if (file < 0) file = memfd_create("npy", 0);
    snprintf(path, 64, "/proc/self/fd/%d", file);
    return file < 0 || ftruncate(file, 0) || pwrite(file, bytes, size, 0) != (ssize_t)size ? -1 : 0;
}

static void from_file(const unsigned char *bytes, size_t size, const npy *same) {
    char path[64];
    smx_error error;
    npy a;
    if (to_file(path, bytes, size)) return;
    if (npy_read(&a, path, &error)) {
        check_error(error.message, path);
        if (same) abort();
        return;
    }
    if (!same || a.count != same->count || a.dtype != same->dtype ||
        memcmp(a.data, same->data, a.count * npy_item_size(a.dtype)))
        abort();
    npy_free(&a);
}

static void read_bytes(const unsigned char *bytes, size_t size) {
    unsigned char *exact = malloc(size + !size); // so that the sanitizer sees any read beyond
    smx_error error;
    npy a;
    if (!exact) abort();
    if (size) memcpy(exact, bytes, size);
    if (npy_decode(&a, exact, size, "a.npy", &error)) {
        check_error(error.message, "a.npy");
        from_file(exact, size, NULL);
    } else {
        check_array(&a);
        from_file(exact, size, &a);
        npy_free(&a);
    }
    free(exact);
}

// A safetensors file whose header begins with these bytes, with some numbers behind it.
static void read_packed(const unsigned char *text, size_t n) {
    static unsigned char file[8192 + 256];
    static const char *const names[] = {"x", "y", "d_x"};
    char path[64];
    smx_error error;
    npy a;
    if (n > 8192) n = 8192;
    memset(file, 0, sizeof file);
    file[0] = (unsigned char)n;
    file[1] = (unsigned char)(n >> 8);
    memcpy(file + 8, text, n);
    for (size_t t = 0; t < 3; t++)
        for (size_t data = 0; data <= 128; data += 32) {
            if (to_file(path, file, 8 + n + data)) return;
            if (npy_read_packed(&a, path, names[t], &error)) {
                check_error(error.message, path);
                continue;
            }
            check_array(&a);
            npy_free(&a);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size && data[0] == 1) { // a header of these bytes, then data
        static unsigned char file[16384];
        size_t head = size - 1 < 8192 ? size - 1 : 8192;
        memcpy(file, "\x93NUMPY\x01\x00", 8);
        file[8] = (unsigned char)head;
        file[9] = (unsigned char)(head >> 8);
        memcpy(file + 10, data + 1, head);
        for (size_t n = 0; n <= 64; n += 8) read_bytes(file, 10 + head + n);
    } else if (size && data[0] == 2) { // a good file with edits (place, value)
        unsigned char file[128 + 48] = "\x93NUMPY\x01\x00\x76";
        memset(file + 10, ' ', 118);
        memcpy(file + 10, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }", 59);
        file[127] = '\n';
        for (size_t i = 1; i + 1 < size; i += 2) file[data[i] % sizeof file] = data[i + 1];
        read_bytes(file, sizeof file);
    } else if (size && data[0] == 3) {
        read_packed(data + 1, size - 1);
    } else {
        read_bytes(data, size);
    }
    return 0;
}
