// fuzz_weights.c: libFuzzer target for weights that another program wrote (cli/arrays/weights_file.c).
// Whatever the bytes: each tensor of a file that opens is read as its shape has it, in floats all of which
// may be looked at, or not, with a sentence that names the file; never by another shape.
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/arrays/weights_file.h"

// What opening refuses with goes to stderr: not to libFuzzer's, which it has opened before.
int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    FILE *const nowhere = fopen("/dev/null", "w");
    if (nowhere) stderr = nowhere;
    return 0;
}

static void read_tensor(weights_file *f, const char *name) {
    size_t other[SAFETENSORS_DIMS + 1] = {0};
    smx_error error;
    safetensor t;
    const int found = !safetensors_find(&t, f->header, name, f->size);
    const size_t rank = found ? t.rank : 1;
    if (found) memcpy(other, t.shape, rank * sizeof *other);
    float *x = weights_read(f, name, rank, other, "the fuzzer", &error);
    if (x) {
        float sum = 0;
        if (!found) abort();
        for (size_t i = 0; i < t.count; i++) sum += x[i];
        volatile float use = sum;
        (void)use;
        free(x);
    } else if (!strstr(error.message, f->path) || strlen(error.message) < strlen(f->path) + 20) {
        abort();
    }
    other[rank ? rank - 1 : 0]++; // of another size, or rank
    x = weights_read(f, name, rank ? rank : 1, other, "the fuzzer", &error);
    if (x) abort();
}

static void read_file(const unsigned char *bytes, size_t size) {
    static int file = -1;
    char path[64];
    weights_file f;
    if (file < 0) file = memfd_create("weights", 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (file < 0 || ftruncate(file, 0) || pwrite(file, bytes, size, 0) != (ssize_t)size) return;
    if (!weights_open(&f, path)) {
        for (const json *t = f.header->child; t; t = t->next) read_tensor(&f, t->key);
        read_tensor(&f, "wte.weight");
    }
    weights_close(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static unsigned char file[8 + 8192 + 64];
    if (size && data[0] == 1) { // a header of these bytes, then numbers
        const size_t n = size - 1 < 8192 ? size - 1 : 8192;
        memset(file, 0x41, sizeof file);
        memset(file, 0, 8);
        file[0] = (unsigned char)n;
        file[1] = (unsigned char)(n >> 8);
        memcpy(file + 8, data + 1, n);
        for (size_t numbers = 0; numbers <= 64; numbers += 32) read_file(file, 8 + n + numbers);
    } else {
        read_file(data, size);
    }
    return 0;
}
