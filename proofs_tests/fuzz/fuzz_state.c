// fuzz_state.c: libFuzzer target for the loader of states. Whatever the bytes: a state that reads on, saves
// and loads again, or NULL with a sentence. Bytes are those of the input, or a good state with edits, mostly
// with its checksum made to fit: else nothing behind the checksum would be tried.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seqmix/state.h>

#include "kernels/core/hash.h"
#include "model/audit/audit.h"
#include "model/mixers/mixer.h"

// Every mixer in every mode that reads on, with a state of each.
static struct {
    smx_run *run;
    unsigned char *good;
    size_t size;
} runs[400];
static size_t n_runs;

static void load(smx_run *run, const void *bytes, size_t size) {
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

// Adds the run of a config, with a state that has read six tokens. 0: there is none of it.
static int add(const char *mode, const char *more, smx_error *error) {
    char text[1280];
    snprintf(text, sizeof text,
             "%s&task=own&channels=0&vocab=5&classes=5&length=16&width=8&heads=2&batch=1%s", mode, more);
    smx_run *run = smx_run_open(text, error);
    smx_run_state *state = run ? smx_state_open(run, 1, 40, error) : NULL;
    const int32_t tokens[] = {1, 2, 3, 4, 0, 1};
    if (state && !smx_state_push(state, tokens, NULL, 6, NULL, error))
        runs[n_runs].good = smx_state_save(state, &runs[n_runs].size, error);
    smx_state_close(state);
    runs[n_runs].run = run;
    if (runs[n_runs].good) return n_runs++, 1;
    smx_run_close(run);
    return 0;
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc;
    (void)argv;
    smx_error error = {.message = "no mixer reads on"};
    static const char *const positions[] = {"&position=sinusoidal", "&position=rope", "&position=alibi"};
    size_t turn = 0;
    for (size_t k = 0; mixers[k]; k++) {
        char mode[1024];
        for (size_t i = 0; audit_mode(mode, sizeof mode, mixers[k]->name, i); i++) {
            if (n_runs + 2 > sizeof runs / sizeof *runs) break;
            add(mode, "", &error);
            if (!strstr(mode, "position=")) add(mode, positions[turn++ % 3], &error);
        }
    }
    if (n_runs >= 100) return 0;
    fprintf(stderr, "%zu settings: %s\n", n_runs, error.message);
    exit(2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2) return 0;
    const size_t which = data[0] % n_runs, good_size = runs[which].size;
    const unsigned char *good = runs[which].good;
    data++, size--;
    if (data[0] % 8 == 0) { // the bytes as they come
        load(runs[which].run, data + 1, size - 1);
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
    load(runs[which].run, bytes, kept);
    free(bytes);
    return 0;
}
