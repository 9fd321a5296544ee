// fuzz_json.c: libFuzzer target for the JSON reader. Whatever the text: a tree that holds together, or NULL
// with a sentence that tells the line.
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/json.h"

static void check(const json *v, int depth) {
    size_t members = 0, whole;
    if (depth > 65 || v->type > JSON_OBJECT || strlen(json_type_name(v->type)) < 3) abort();
    if (v->type == JSON_NUMBER && !isfinite(v->number)) abort();
    if (v->type == JSON_STRING && strlen(v->string) > 1 << 20) abort();
    if (v->type != JSON_ARRAY && v->type != JSON_OBJECT && v->child) abort();
    if (json_size(v, &whole) && (double)whole != v->number) abort();
    for (const json *m = v->child; m; m = m->next, members++) {
        if ((v->type == JSON_OBJECT) != (m->key != NULL)) abort();
        // a key stands once
        if (m->key && json_get(v, m->key) != m) abort();
        check(m, depth + 1);
    }
    if (members != v->count) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *exact = malloc(size + !size);
    smx_error error = {0};
    if (!exact) abort();
    if (size) memcpy(exact, data, size);
    json *root = json_parse(exact, size, &error);
    if (root)
        check(root, 0);
    else if (strncmp(error.message, "JSON, line ", 11))
        abort();
    json_free(root);
    free(exact);
    return 0;
}
