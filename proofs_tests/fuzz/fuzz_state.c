// fuzz_state.c: libFuzzer target for the loader of states. Whatever the bytes: a state that reads on, saves
// and loads again, or NULL with a sentence. Bytes are those of the input, or a good state with edits, mostly
// with its checksum made to fit: else nothing behind the checksum would be tried.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seqmix/state.h>

#include "kernels/hash.h"

static smx_run *run;
static unsigned char *good;
static size_t good_size;

static void load(const void *bytes, size_t size) {
    smx_error error = {0};
    unsigned char *exact = malloc(size + !size);
    if (!exact) abort();
    if (size) memcpy(exact, bytes, size);
    smx_run_state *state = smx_state_load(run, exact, size, &error);
    free(exact);
    if (!state) {
        if (strlen(error.message) < 10 || !memchr(error.message, 0, sizeof error.message)) abort();
        return;
    }
    smx_state_form form;
    smx_state_look(state, &form);
    int32_t *tokens = calloc(form.sequences, sizeof *tokens);
    if (!tokens) abort();
    if (smx_state_push(state, tokens, NULL, 1, NULL, &error) && strlen(error.message) < 10) abort();
    size_t saved;
    void *again = smx_state_save(state, &saved, &error);
    smx_run_state *same = again ? smx_state_load(run, again, saved, &error) : NULL;
    if (!same && strlen(error.message) < 10) abort(); // what overflowed is refused
    smx_state_close(same);
    free(again);
    free(tokens);
    smx_state_close(state);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc;
    (void)argv;
    smx_error error;
    run = smx_run_open("mixer=cat&task=own&channels=0&vocab=5&classes=5&length=8&width=8&heads=2&batch=1",
                       &error);
    smx_run_state *state = run ? smx_state_open(run, 1, 40, &error) : NULL;
    const int32_t tokens[] = {1, 2, 3, 4, 0, 1};
    if (state && !smx_state_push(state, tokens, NULL, 6, NULL, &error))
        good = smx_state_save(state, &good_size, &error);
    smx_state_close(state);
    if (good) return 0;
    fprintf(stderr, "%s\n", error.message);
    exit(2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!size) return 0;
    if (data[0] % 8 == 0) { // the bytes as they come
        load(data + 1, size - 1);
        return 0;
    }
    unsigned char *bytes = malloc(good_size);
    if (!bytes) abort();
    memcpy(bytes, good, good_size);
    for (size_t i = 1; i + 2 < size; i += 3) // edits: mostly of the header
        bytes[data[0] % 2 ? data[i] % 56 : (data[i] << 8 | data[i + 1]) % good_size] = data[i + 2];
    const size_t kept = data[0] < 240 ? good_size : good_size - 1 - data[0] % 64;
    uint64_t sum = hash_bytes(HASH_START, bytes, kept - 8);
    for (size_t i = 0; i < 8 && data[0] % 8 != 7; i++, sum >>= 8) bytes[kept - 8 + i] = (unsigned char)sum;
    load(bytes, kept);
    free(bytes);
    return 0;
}
