// fuzz_labelled.c: libFuzzer target for the formats of labelled files: CIFAR-10, WAV, tab-separated lines.
// Whatever the bytes, a reader gives what may be read to its last byte, or -1 with a sentence. Build with
// clang -fsanitize=fuzzer,address,undefined.
#include <stdlib.h>
#include <string.h>

#include "tasks/files/labelled.h"

static void check_error(const smx_error *error) {
    if (!error->message[0] || !memchr(error->message, 0, sizeof error->message)) abort();
}
static unsigned sum(const uint8_t *bytes, size_t n) {
    unsigned all = 0;
    for (size_t i = 0; i < n; i++) all += bytes[i];
    return all;
}
static volatile unsigned sink;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t *bytes = malloc(size + !size); // of exactly that size, so that the sanitizer sees any read beyond
    if (!bytes) abort();
    if (size) memcpy(bytes, data, size);
    smx_error error = {0};
    size_t count;
    if (cifar_open(&count, bytes, size, "images", &error))
        check_error(&error);
    else
        sink = sum(bytes, count * 3073);
    wav_sound sound;
    memset(&error, 0, sizeof error);
    if (wav_open(&sound, bytes, size, "sound", &error))
        check_error(&error);
    else
        sink = sum(sound.samples, 2 * sound.count);
    tsv_line line;
    size_t at = 0, number = 0, lines = 0;
    int status;
    memset(&error, 0, sizeof error);
    while (!(status = tsv_next(&line, &at, &number, bytes, size, "table", &error))) {
        sink = sum(line.label, line.label_size) + sum(line.text, line.text_size);
        if (!line.label_size || ++lines > size) abort();
    }
    if (status < 0) check_error(&error);
    free(bytes);
    return 0;
}
