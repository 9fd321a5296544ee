// options.c: what several commands read from their arguments.
#include "cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/run/language.h"

// A whole number in lo..hi after an option, or 2.
int cli_read_count(int argc, char **argv, int *i, long lo, long hi, long *to) {
    if (*i + 1 >= argc) return cli_fail("%s needs a whole number from %ld to %ld after it", argv[*i], lo, hi);
    char *end;
    const char *text = argv[++*i];
    errno = 0;
    long x = strtol(text, &end, 10);
    if (!*text || *end || errno || x < lo || x > hi)
        return cli_fail("%s %s is not allowed: it must be a whole number from %ld to %ld", argv[*i - 1], text,
                        lo, hi);
    *to = x;
    return 0;
}

int cli_read_path(int argc, char **argv, int *i, const char **to) {
    if (*i + 1 >= argc) return cli_fail("%s needs a file name after it", argv[*i]);
    *to = argv[++*i];
    return 0;
}

smx_run *cli_load_run(const char *file, const char *changes) {
    size_t size;
    smx_error e = {0};
    void *bytes = cli_read_file(file, &size);
    if (!bytes) return NULL;
    smx_run *run = smx_run_load(bytes, size, changes, &e);
    free(bytes);
    if (!run) cli_fail("%s", e.message);
    return run;
}

// Whether the value of a key, where there is one, is this word.
static int is(const config *c, const char *key, const char *word) {
    const char *value = config_get(c, key);
    return value && !strcmp(value, word);
}

const char *cli_images(const char *text, const char *changes) {
    config *c = config_change(text, changes, NULL); // what is wrong with it says who uses it
    if (!c || !config_get(c, "images")) {
        config_free(c);
        return "";
    }
    const int trained = is(c, "data", "digits"),
              judged = is(c, "test", "same") ? trained : is(c, "test", "digits");
    config_free(c);
    return trained && judged ? "procedural digits"
           : trained         ? "trained on procedural digits"
           : judged          ? "judged on procedural digits"
                             : "";
}

void cli_note_images(const char *config, const char *changes) {
    static const char *said = "";
    const char *now = cli_images(config, changes);
    if (*now && now != said) fprintf(stderr, "seqmix: note: %s: drawn by a generator, not MNIST\n", now);
    said = now;
}

double cli_bits(const smx_evaluation *e) { return e->regression ? 0 : e->loss / 0.69314718055994531; }

const char *cli_measure(const smx_evaluation *e, double *value) {
    if (value) *value = e->regression ? e->r2 : e->text ? cli_bits(e) : e->accuracy;
    return e->regression ? "r2" : e->text ? "bits" : "accuracy";
}
