// labelled_formats.c: CIFAR-10's binary files, WAV and tab-separated lines: see labelled.h.
#include <string.h>

#include "data.h"
#include "labelled.h"

enum { CIFAR_RECORD = 1 + 3 * CIFAR_PIXELS };

int cifar_open(size_t *count, const uint8_t *bytes, size_t size, const char *name, smx_error *error) {
    if (!size || size % CIFAR_RECORD)
        return data_fail(error, "folder", name, "%zu bytes, where CIFAR-10's files have a multiple of %d",
                         size, CIFAR_RECORD);
    *count = size / CIFAR_RECORD;
    for (size_t i = 0; i < *count; i++)
        if (bytes[i * CIFAR_RECORD] > 9)
            return data_fail(error, "folder", name, "the label of image %zu is %u; CIFAR-10 has 0 to 9", i,
                             bytes[i * CIFAR_RECORD]);
    return 0;
}

static uint32_t little(const uint8_t *b, int n) {
    uint32_t x = 0;
    for (int i = n - 1; i >= 0; i--) x = x << 8 | b[i];
    return x;
}

int wav_open(wav_sound *sound, const uint8_t *bytes, size_t size, const char *name, smx_error *error) {
    if (size < 12 || memcmp(bytes, "RIFF", 4) || memcmp(bytes + 8, "WAVE", 4))
        return data_fail(error, "folder", name, "is no WAV file: it does not begin with RIFF and WAVE");
    *sound = (wav_sound){NULL, 0, 0};
    for (size_t at = 12; at + 8 <= size;) { // chunk by chunk: name, size, bytes, filled up to an even number
        const uint8_t *chunk = bytes + at + 8;
        const size_t has = little(bytes + at + 4, 4), room = size - at - 8;
        if (!memcmp(bytes + at, "fmt ", 4)) {
            if (has < 16 || has > room) return data_fail(error, "folder", name, "its header is cut short");
            const uint32_t form = little(chunk, 2), channels = little(chunk + 2, 2),
                           bits = little(chunk + 14, 2);
            sound->rate = little(chunk + 4, 4);
            if (form != 1 || channels != 1 || bits != 16)
                return data_fail(error, "folder", name,
                                 "holds sound of form %u, %u channels and %u bits; plain 16-bit sound of one "
                                 "channel is read",
                                 (unsigned)form, (unsigned)channels, (unsigned)bits);
        } else if (!memcmp(bytes + at, "data", 4)) {
            if (!sound->rate) return data_fail(error, "folder", name, "its sound stands before its header");
            if (has > room)
                return data_fail(error, "folder", name, "is cut short: %zu bytes of sound, %zu are there",
                                 has, room);
            sound->samples = chunk;
            sound->count = has / 2;
            return 0;
        }
        if (has > room) break;
        at += 8 + has + has % 2;
    }
    return data_fail(error, "folder", name, "holds no sound");
}

int tsv_next(tsv_line *line, size_t *at, size_t *number, const uint8_t *bytes, size_t size, const char *name,
             smx_error *error) {
    while (*at < size) {
        const uint8_t *start = bytes + *at, *end = memchr(start, '\n', size - *at);
        size_t n = end ? (size_t)(end - start) : size - *at;
        *at += n + (end != NULL);
        ++*number;
        if (n && start[n - 1] == '\r') n--;
        if (!n) continue;
        const uint8_t *tab = memchr(start, '\t', n);
        if (!tab || tab == start)
            return data_fail(error, "folder", name, "line %zu has no label and tab in front of its text",
                             *number);
        *line = (tsv_line){start, tab + 1, (size_t)(tab - start), n - (size_t)(tab - start) - 1};
        return 0;
    }
    return 1;
}
