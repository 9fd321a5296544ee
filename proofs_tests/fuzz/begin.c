// begin.c: runs a fuzz target without libFuzzer, so that `make test` sees where one no longer begins, or
// holds what its reader no longer does: on each file that is given, and on changes of each that are the same
// every time. usage: fuzz_NAME CHANGES FILE...
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv);

static uint64_t draw(uint64_t below) {
    static uint64_t x = 0x9e3779b97f4a7c15u;
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    return x % below;
}

int main(int argc, char **argv) {
    enum { MOST = 8192 };
    static uint8_t whole[MOST], changed[MOST];
    if (LLVMFuzzerInitialize) LLVMFuzzerInitialize(&argc, &argv);
    const long changes = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
    long inputs = 0;
    for (int i = 2; i < argc; i++) {
        FILE *file = fopen(argv[i], "rb");
        if (!file) return perror(argv[i]), 2;
        const size_t size = fread(whole, 1, MOST, file);
        fclose(file);
        LLVMFuzzerTestOneInput(whole, size);
        for (long k = 0; k < changes; k++, inputs++) {
            memcpy(changed, whole, size);
            for (uint64_t n = 1 + draw(3); n-- && size;) {
                const size_t at = draw(size);
                changed[at] = (uint8_t)(draw(2) ? draw(256) : whole[draw(size)]);
            }
            LLVMFuzzerTestOneInput(changed, draw(4) ? size : draw(size + 1));
        }
        inputs++;
    }
    printf("%ld inputs\n", inputs);
    return 0;
}
