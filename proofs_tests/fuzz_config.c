// fuzz_config.c: libFuzzer target for the parser of the config language. Whatever the text: a complete config that is its
// own completion, or NULL with a sentence.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "run.h"

static void check_error(const smx_error *e) {
    if (strlen(e->message) < 10 || !memchr(e->message, 0, sizeof e->message) || !memchr(e->key, 0, sizeof e->key) ||
        !memchr(e->value, 0, sizeof e->value) || !memchr(e->allowed, 0, sizeof e->allowed))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    smx_error error = {{0}, {0}, {0}, {0}};
    if (!text) abort();
    if (size) memcpy(text, data, size);
    text[size] = 0;
    char *complete = smx_config_complete(text, &error);
    if (!complete) {
        check_error(&error);
    } else {
        char *again = smx_config_complete(complete, &error);
        if (!again || strcmp(again, complete)) abort();
        if (config_runs(complete) != config_runs(text)) abort();
        free(again);
    }
    free(complete);
    free(text);
    return 0;
}
