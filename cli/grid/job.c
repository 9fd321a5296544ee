// job.c: see job.h.
#include "job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files_digest.h"
#include "kernels/core/hash.h"
#include "model/base/error.h"
#include "model/base/number.h"
#include "model/settings/pairs.h"
#include "cli/grid/plan/usual.h"

// The same number is the same text, however it was given.
static const char *spelling(const config_value *v, char number[NUMBER_TEXT]) {
    if (v->key->type != KEY_INT && v->key->type != KEY_REAL) return v->text;
    const double x = number_read(v->text, NULL);
    return number_write(number, x == 0.0 ? 0.0 : x);
}

static char *canonical(const config *c) {
    size_t size = 1;
    for (size_t i = 0; i < c->n; i++)
        size += strlen(c->values[i].key->name) + 3 * strlen(c->values[i].text) + 2 + NUMBER_TEXT;
    char *text = malloc(size), *to = text, number[NUMBER_TEXT];
    for (size_t i = 0; text && i < c->n; i++) {
        const config_value *v = &c->values[i];
        if (!v->said || !strcmp(v->key->name, "threads")) continue;
        to += sprintf(to, "%s%s=", to == text ? "" : "&", v->key->name);
        to = pairs_encode(to, spelling(v, number));
    }
    return text;
}

void job_name(char to[JOB_NAME], const char *config_text, long eval, long every, uint64_t data) {
    uint64_t h = hash_bytes(HASH_START, config_text, strlen(config_text));
    char more[96] = "";
    int n = 0;
    if (eval != JOB_EVAL) n += snprintf(more + n, sizeof more - (size_t)n, "#%ld", eval);
    if (every) n += snprintf(more + n, sizeof more - (size_t)n, "/%ld", every);
    if (data) n += snprintf(more + n, sizeof more - (size_t)n, "@%016llx", (unsigned long long)data);
    h = hash_bytes(h, more, (size_t)n);
    snprintf(to, JOB_NAME, "%016llx", (unsigned long long)h);
}

static int name(job *j) {
    char *before = usual_of_before(j->config, NULL);
    if (!before) return -1;
    job_name(j->name, j->told, j->eval, j->every, j->data);
    job_name(j->before, before, j->eval, j->every, j->data);
    free(before);
    return 0;
}

int job_of(job *j, const config *c, long eval, long every) {
    *j = (job){
        .config = canonical(c), .eval = eval, .every = every, .threads = strdup(config_get(c, "threads"))};
    j->told = j->config ? usual_left_out(j->config, NULL) : NULL;
    return !j->told || !j->threads ? -1 : name(j);
}

int job_read_files(job *j, const config *c, smx_error *error) {
    if (files_digest(c, &j->data, error)) return -1;
    return name(j) ? error_say(error, "out of memory") : 0;
}

void job_print_options(const job_options *o, FILE *to) {
    if (o->eval != JOB_EVAL) fprintf(to, " --eval %ld", o->eval);
    if (o->every) fprintf(to, " --every %ld", o->every);
    if (o->seconds != JOB_SAVE_EVERY) fprintf(to, " --save-every %ld", o->seconds);
    if (o->ranks != 1) fprintf(to, " --ranks %ld", o->ranks);
}

void job_free(job *j) {
    free(j->config);
    free(j->told);
    free(j->threads);
    *j = (job){0};
}

int job_path(const job *j, const char *folder, const char *ending, char path[JOB_PATH]) {
    const int n = snprintf(path, JOB_PATH, "%s/%.2s/%s%s", folder, j->name, j->name, ending);
    return n < JOB_PATH ? 0 : -1;
}

static int has(const job *j, const char *folder, const char *ending) {
    char path[JOB_PATH];
    return !job_path(j, folder, ending, path) && access(path, F_OK) == 0;
}
void job_find(job *j, const char *folder) {
    job before = *j;
    memcpy(before.name, j->before, JOB_NAME);
    if (has(j, folder, ".json") || has(j, folder, ".safetensors")) return;
    if (has(&before, folder, ".json") || has(&before, folder, ".safetensors")) *j = before;
}

int job_is(const job *j, const char *config_text) {
    char *told = usual_left_out(config_text, NULL);
    const int same = told && !strcmp(told, j->told);
    free(told);
    return same;
}
