// fuzz_checkpoint.c: libFuzzer target for the loader of checkpoints. Whatever the bytes: a run that saves,
// loads and steps again, or NULL with a sentence. Bytes are those of the input, or a good checkpoint with
// edits in its header. That one has no checksum, as an earlier version wrote it: else nothing behind the
// checksum would be tried.
#define _GNU_SOURCE // memmem
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seqmix/run.h>

static char *good;
static size_t good_size;

static void load(const char *bytes, size_t size) {
    smx_error error = {0};
    char *exact = malloc(size + !size);
    if (!exact) abort();
    if (size) memcpy(exact, bytes, size);
    smx_run *run = smx_run_load(exact, size, NULL, &error);
    free(exact);
    if (!run) {
        if (strlen(error.message) < 10 || !memchr(error.message, 0, sizeof error.message)) abort();
        return;
    }
    size_t saved;
    void *again = smx_run_save(run, &saved, &error);
    smx_run *same = again ? smx_run_load(again, saved, NULL, &error) : NULL;
    if (!same || smx_run_digest(same) != smx_run_digest(run)) abort();
    if (smx_run_step(run, 1, &error) && strlen(error.message) < 10) abort();
    smx_run_close(same);
    free(again);
    smx_run_close(run);
}

// In the header of `good` spaces stand for `from`, `length` characters from there on.
static void blank(const char *from, size_t length) {
    char *at = memmem(good, good_size, from, strlen(from));
    if (!at) abort();
    memset(at, ' ', length);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc;
    (void)argv;
    smx_error error;
    smx_run *run =
        smx_run_open("mixer=attention&task=mqar&length=8&pairs=2&vocab=8&width=8&heads=1&batch=1", &error);
    if (!run) {
        fprintf(stderr, "%s\n", error.message);
        exit(2);
    }
    smx_run_step(run, 1, &error);
    good = smx_run_save(run, &good_size, &error);
    smx_run_close(run);
    if (!good) return -1;
    blank("\"format\":\"seqmix2\",", 19);
    blank("\"checksum\":\"", 12 + 16 + 1);
    char *comma = memmem(good, good_size, "              ,", 15); // behind the checksum
    if (!comma) abort();
    comma[14] = ' ';
    run = smx_run_load(good, good_size, NULL, &error);
    if (!run) {
        fprintf(stderr, "%s\n", error.message);
        exit(2);
    }
    smx_run_close(run);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!size) return 0;
    size_t header = 0;
    for (int i = 7; i >= 0; i--) header = header << 8 | (unsigned char)good[i];
    char *bytes = malloc(good_size + size);
    if (!bytes) abort();
    memcpy(bytes, good, good_size);
    if (data[0] % 3 == 0) { // the bytes as they come
        load((const char *)data + 1, size - 1);
    } else if (data[0] % 3 == 1) { // edits: place in the header (or its length), value; then cut
        for (size_t i = 1; i + 2 < size; i += 3)
            bytes[(data[i] << 8 | data[i + 1]) % (8 + header)] = (char)data[i + 2];
        load(bytes, data[0] < 128 ? good_size : good_size - data[0] % 64);
    } else if (size > 4) { // a piece of the header replaced by one of another length
        size_t from = (data[1] << 8 | data[2]) % header, cut = data[3] % (header - from + 1), put = size - 4;
        size_t length = header - cut + put;
        memcpy(bytes + 8 + from, data + 4, put);
        memcpy(bytes + 8 + from + put, good + 8 + from + cut, good_size - 8 - from - cut);
        for (int i = 0; i < 8; i++) bytes[i] = (char)((uint64_t)length >> (8 * i));
        load(bytes, good_size - cut + put);
    }
    free(bytes);
    return 0;
}
