// pairs.h: the outside of a config text: runs between ~, pairs between &, %XX for other characters.
#ifndef SMX_CONFIG_PAIRS_H
#define SMX_CONFIG_PAIRS_H

#include <stddef.h>

#include <seqmix/error.h>

typedef struct {
    const char *text;
    size_t n;
} config_span; // a part of a text

size_t pairs_runs(const char *text);               // runs in it, at least 1
config_span pairs_run(const char *text, size_t i); // its i-th run

// Call `each` for every key=value of a run; stops at the first that returns non-zero, and returns that; -1
// where the text is broken, with the error.
typedef int pairs_each(void *arg, const char *key, const char *value, smx_error *error);
int pairs_visit(config_span run, pairs_each *each, void *arg, smx_error *error);

// The value as it stands in a text, with %XX for what would end it: at most 3 bytes for each, and returns
// the end.
char *pairs_encode(char *to, const char *value);

// The text with each key=@PATH as key=VALUE, read(PATH) giving the value, malloc'ed: for who has files. NULL
// where read gave none (it has said why) or there is no memory.
char *pairs_with_files(const char *text, const char *key, char *(*read)(const char *path));

#endif
