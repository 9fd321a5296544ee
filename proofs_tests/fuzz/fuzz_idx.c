// fuzz_idx.c: libFuzzer target for the readers of MNIST's files: IDX and gzip. Whatever the bytes, the
// reader returns a set whose every byte may be read, or -1 with a sentence. Build with clang
// -fsanitize=fuzzer,address,undefined.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tasks/files/data.h"
#include "tasks/files/idx.h"

static void check_error(const smx_error *error) {
    if (!error->message[0] || !memchr(error->message, 0, sizeof error->message)) abort();
}

// Copies into blocks of exactly the right size, so that the sanitizer sees any read beyond.
static void read_pair(const uint8_t *images, size_t images_size, const uint8_t *labels, size_t labels_size) {
    uint8_t *a = malloc(images_size + !images_size), *b = malloc(labels_size + !labels_size);
    if (!a || !b) abort();
    if (images_size) memcpy(a, images, images_size);
    if (labels_size) memcpy(b, labels, labels_size);
    smx_error error = {0};
    idx_set set;
    if (idx_open(&set, a, images_size, "images", b, labels_size, "labels", &error)) {
        check_error(&error);
    } else {
        unsigned sum = 0;
        for (size_t i = 0; i < set.count * IDX_PIXELS; i++) sum += set.pixels[i];
        for (size_t i = 0; i < set.count; i++)
            if (set.labels[i] > 9) abort();
        if (sum > 255u * set.count * IDX_PIXELS) abort();
    }
    free(a);
    free(b);
}

static const uint8_t image_head[16] = {0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 28, 0, 0, 0, 28};
static const uint8_t label_file[10] = {0, 0, 8, 1, 0, 0, 0, 2, 3, 9};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 3) return 0;
    unsigned mode = data[0] % 3;
    size_t split = (data[1] << 8 | data[2]) % (size - 2);
    data += 3;
    size -= 3;
    if (mode == 0) { // the bytes as they come
        read_pair(data, split < size ? split : size, data + (split < size ? split : size),
                  split < size ? size - split : 0);
    } else if (mode == 1) { // a good pair with edits (place, value), then cut or lengthened
        uint8_t images[16 + 2 * IDX_PIXELS + 16] = {0}, labels[10 + 16] = {0};
        size_t images_size = 16 + 2 * IDX_PIXELS, labels_size = sizeof label_file;
        memcpy(images, image_head, sizeof image_head);
        memcpy(labels, label_file, sizeof label_file);
        if (size && data[0] & 1) images_size += data[0] / 2 % 32 - (size_t)16;
        if (size && data[0] & 1) labels_size += data[0] / 16 % 8 - (size_t)4;
        for (size_t i = 1; i + 1 < size; i += 2)
            if (data[i] & 0x80)
                labels[data[i] % sizeof labels] = data[i + 1];
            else
                images[data[i] % 24] = data[i + 1];
        read_pair(images, images_size, labels, labels_size);
    } else { // gzip
        uint8_t *bytes = malloc(size + 1), *out = NULL;
        if (!bytes) abort();
        static const uint8_t head[10] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3};
        memcpy(bytes, data, size);
        if (split % 2 == 0) memcpy(bytes, head, size < sizeof head ? size : sizeof head);
        smx_error error = {0};
        size_t out_size = 0;
        if (data_gunzip(&out, &out_size, bytes, size, "packed", &error)) {
            check_error(&error);
        } else {
            read_pair(out, out_size, out, out_size);
            free(out);
        }
        free(bytes);
    }
    return 0;
}
