// runs.c: what several commands do with a run: load it, name what it is judged by and on which images.
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/run/language/language.h"
#include "model/settings/pairs.h"
#include "model/settings/value.h"

int cli_refuse_several(const char *command, const char *config) {
    const size_t runs = config ? config_runs(config) : 1;
    if (runs == 1) return 0;
    smx_error e = {0};
    char *all = smx_config_complete(config, &e); // what is wrong with one of them says more
    if (!all) return cli_fail("%s", e.message);
    free(all);
    return cli_fail(
        "%s takes one run, and '%.200s' are %zu: write out the one that is meant (seqmix help preset has "
        "the configs of presets)",
        command, config, runs);
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

const char *cli_images(const char *config_text, const char *changes) {
    config *c = config_change(config_text, changes, NULL);
    const char *data = c ? config_get(c, "data") : NULL, *test = c ? config_get(c, "test") : NULL;
    const int images = data && test; // only tasks on images have both
    const int trained = images && !strcmp(data, "digits");
    const int judged = images && (!strcmp(test, "same") ? trained : !strcmp(test, "digits"));
    config_free(c);
    return trained && judged ? "procedural digits"
           : trained         ? "trained on procedural digits"
           : judged          ? "judged on procedural digits"
                             : "";
}

void cli_note_images(const char *config, const char *changes) {
    static const char *said = "";
    const char *now = cli_images(config, changes);
    if (*now && now != said) cli_note("%s: drawn by a generator, not MNIST", now);
    said = now;
}

static int note_unread(void *c, const char *key, const char *value, smx_error *error) {
    (void)value, (void)error;
    if (!strcmp(key, "preset") || config_get(c, key)) return 0; // a preset becomes its keys
    const char *usual = value_usual_key(key);
    cli_note("%s is a key of another mixer or task: it says nothing in this run%s%s", key,
             usual ? "; you may mean " : "", usual ? usual : "");
    return 0;
}

void cli_note_unread(const char *read, const char *given) {
    config *c = given ? config_parse(read, 0, NULL) : NULL;
    if (c) pairs_visit(pairs_run(given, 0), note_unread, c, NULL);
    config_free(c);
}

double cli_bits(const smx_evaluation *e) { return e->regression ? 0 : e->loss / 0.69314718055994531; }

const char *cli_measure(const smx_evaluation *e, double *value) {
    if (value) *value = e->regression ? e->r2 : e->text ? cli_bits(e) : e->accuracy;
    return e->regression ? "r2" : e->text ? "bits" : "accuracy";
}
