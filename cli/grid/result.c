// result.c: see result.h.
#include "result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "builds.h"
#include "cli/cli.h"
#include "kernels/core/hash.h"
#include "model/base/json.h"

#define FORMAT "seqmix-job 1"
// Versions whose trainings have the bits of this one: their results share a table (docs/VERSIONS.md).
static const char *const same_bits[] = {SMX_VERSION};
static const char before_checksum[] = ",\"checksum\":\"";
enum { DIGITS = 16 };

void result_free(result *r) {
    free(r->config);
    free(r->stopped);
    free(r->machine.host);
    free(r->machine.isa);
    free(r->held_out);
    *r = (result){0};
}

// ---- Of a run -------------------------------------------------------------------------------------------

static void thin(result *r, const float *losses, size_t n) {
    r->stride = n ? (n + RESULT_CURVE - 1) / RESULT_CURVE : 1;
    for (size_t from = 0; from < n; from += r->stride) {
        const size_t count = n - from < r->stride ? n - from : r->stride;
        double sum = 0.0;
        for (size_t i = 0; i < count; i++) sum += (double)losses[from + i];
        r->curve[r->n_curve++] = sum / (double)count;
    }
}

int result_of(result *r, const job *j, smx_run *run, const char *stopped, const smx_evaluation *e) {
    smx_metrics m;
    size_t n;
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    smx_run_metrics(run, &m);
    const float *losses = smx_run_losses(run, &n);
    *r = (result){.config = strdup(j->config),
                  .eval = j->eval,
                  .every = j->every,
                  .data = j->data,
                  .stopped = strdup(stopped),
                  .step = m.step,
                  .params = m.params,
                  .digest = smx_run_digest(run),
                  .loss = n ? (double)losses[n - 1] : NAN,
                  .word = n ? hash_word_of(losses[n - 1]) : 0,
                  .value = NAN,
                  .choice = NAN,
                  .machine = {.host = strdup(host),
                              .isa = strdup(smx_isa()),
                              .threads = atol(j->threads),
                              .ended = (double)time(NULL)}};
    memcpy(r->name, j->name, sizeof r->name);
    snprintf(r->machine.build, sizeof r->machine.build, "%s", build_name());
    thin(r, losses, n);
    if (e) {
        snprintf(r->metric, sizeof r->metric, "%s", cli_measure(e, &r->value));
        r->accuracy = e->accuracy;
        r->sequence_accuracy = e->sequence_accuracy;
        r->r2 = e->r2;
        r->bits = cli_bits(e);
        r->held_out_loss = e->loss;
    }
    return r->config && r->stopped && r->machine.host && r->machine.isa ? 0 : -1;
}

// ---- As text --------------------------------------------------------------------------------------------

static void put_number(FILE *to, const char *name, double x) {
    fprintf(to, ",\"%s\":", name);
    cli_put_json_number(to, x, 9);
}

static void put_numbers(FILE *to, const char *name, const double *x, size_t n) {
    fprintf(to, ",\"%s\":[", name);
    for (size_t i = 0; i < n; i++) {
        if (i) fputc(',', to);
        cli_put_json_number(to, x[i], 6);
    }
    fputc(']', to);
}

void result_print(const result *r, FILE *to) {
    fprintf(to, "{\"name\":\"%s\",\"config\":", r->name);
    cli_put_json_text(to, r->config);
    fprintf(to, ",\"eval\":%ld", r->eval);
    if (r->every) fprintf(to, ",\"every\":%ld", r->every);
    if (r->data) fprintf(to, ",\"data\":\"%016llx\"", (unsigned long long)r->data);
    fputs(",\"stopped\":", to);
    cli_put_json_text(to, r->stopped);
    fprintf(to, ",\"step\":%llu,\"params\":%llu,\"digest\":\"%016llx\"", (unsigned long long)r->step,
            (unsigned long long)r->params, (unsigned long long)r->digest);
    put_number(to, "loss", r->loss);
    fprintf(to, ",\"word\":\"%08x\",\"metric\":\"%s\"", r->word, r->metric);
    put_number(to, "value", r->value);
    put_number(to, "accuracy", r->accuracy);
    put_number(to, "sequence_accuracy", r->sequence_accuracy);
    put_number(to, "r2", r->r2);
    put_number(to, "bits", r->bits);
    put_number(to, "held_out_loss", r->held_out_loss);
    if (isfinite(r->choice)) put_number(to, "choice", r->choice);
    fprintf(to, ",\"stride\":%llu", (unsigned long long)r->stride);
    put_numbers(to, "curve", r->curve, r->n_curve);
    if (r->every) put_numbers(to, "held_out", r->held_out, r->n_held_out);
}

// As b's job, so that only what became of it differs.
static char *figures_of(const result *r, const result *a, const result *b) {
    char *text = NULL;
    size_t size;
    result of = *r;
    memcpy(of.name, b->name, sizeof of.name);
    of.config = b->config;
    if (!isfinite(a->choice) || !isfinite(b->choice)) of.choice = NAN;
    FILE *to = open_memstream(&text, &size);
    if (!to) return NULL;
    result_print(&of, to);
    return fclose(to) ? free(text), NULL : text;
}

int result_differs(const result *a, const result *b, char *what, size_t size) {
    char *x = figures_of(a, a, b), *y = figures_of(b, a, b);
    const int differs = x && y ? strcmp(x, y) != 0 : -1;
    if (differs == 1) {
        // Quotes within a text are escaped, so that ," begins a field.
        size_t at = 0, from = 0;
        for (; x[at] == y[at]; at++)
            if (at && x[at] == '"' && x[at - 1] == ',') from = at;
        const size_t key = strcspn(x + from + 1, "\""), value = from + key + 3;
        const char *end_x = strstr(x + value, ",\""), *end_y = strstr(y + value, ",\"");
        const int n = (int)(end_x ? end_x - x - (long)value : (long)strlen(x + value)),
                  m = (int)(end_y ? end_y - y - (long)value : (long)strlen(y + value));
        if (x[value] == '[') // the whole curve says little
            snprintf(what, size, "%.*s", (int)key, x + from + 1);
        else
            snprintf(what, size, "%.*s %.*s and %.*s", (int)key, x + from + 1, n > 60 ? 60 : n, x + value,
                     m > 60 ? 60 : m, y + value);
    }
    free(x);
    free(y);
    return differs;
}

static void put_fixed(FILE *to, const char *name, double x, int places) {
    fprintf(to, ",\"%s\":", name);
    if (isfinite(x))
        fprintf(to, "%.*f", places, x);
    else
        fputs("null", to);
}

void result_print_machine(const result *r, FILE *to) {
    const result_machine *m = &r->machine;
    fputs("{\"host\":", to);
    cli_put_json_text(to, m->host);
    fputs(",\"isa\":", to);
    cli_put_json_text(to, m->isa);
    if (*m->build) fprintf(to, ",\"build\":\"%s\"", m->build);
    fprintf(to, ",\"threads\":%ld,\"from\":%llu", m->threads, (unsigned long long)m->from);
    put_fixed(to, "seconds", m->seconds, 3);
    put_fixed(to, "processor_seconds", m->processor_seconds, 3);
    put_fixed(to, "ended", m->ended, 0);
    fputc('}', to);
}

char *result_text(const result *r, size_t *size) {
    char *text = NULL;
    FILE *to = open_memstream(&text, size);
    if (!to) return NULL;
    fputs("{\"format\":\"" FORMAT "\",\"version\":\"" SMX_VERSION "\",\"result\":", to);
    result_print(r, to);
    fputs("},\"machine\":", to);
    result_print_machine(r, to);
    fflush(to);
    const uint64_t sum = hash_bytes(HASH_START, text, *size);
    fprintf(to, "%s%016llx\"}\n", before_checksum, (unsigned long long)sum);
    if (!fclose(to)) return text;
    free(text);
    return NULL;
}

// ---- Reading --------------------------------------------------------------------------------------------

// The text ends with its checksum, and that fits.
static int is_whole(const char *text, size_t size) {
    const size_t tail = sizeof before_checksum - 1 + DIGITS + 3; // "}\n
    char right[sizeof before_checksum + DIGITS + 3];
    if (size <= tail) return 0;
    snprintf(right, sizeof right, "%s%016llx\"}\n", before_checksum,
             (unsigned long long)hash_bytes(HASH_START, text, size - tail));
    return !memcmp(text + size - tail, right, tail);
}

static const char *text_at(const json *o, const char *key) {
    const json *v = json_get(o, key);
    return v && v->type == JSON_STRING ? v->string : NULL;
}
static uint64_t count_at(const json *o, const char *key) {
    size_t n = 0;
    return json_size(json_get(o, key), &n) ? n : 0;
}

static uint64_t digest_at(const json *o, const char *key) {
    const char *text = text_at(o, key);
    return text ? strtoull(text, NULL, 16) : 0;
}

static int fill_held_out(result *r, const json *list) {
    const size_t n = list ? list->count : 0;
    r->held_out = n ? malloc(n * sizeof *r->held_out) : NULL;
    if (n && !r->held_out) return -1;
    for (const json *p = n ? list->child : NULL; p; p = p->next)
        r->held_out[r->n_held_out++] = p->type == JSON_NUMBER ? p->number : NAN;
    return 0;
}

static int is_word(const char *text) {
    return strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_-") == strlen(text);
}

static int fill(result *r, const json *o, const json *machine) {
    const char *name = text_at(o, "name"), *config_text = text_at(o, "config"), *why = text_at(o, "stopped"),
               *metric = text_at(o, "metric"), *digest = text_at(o, "digest"), *word = text_at(o, "word"),
               *host = text_at(machine, "host"), *isa = text_at(machine, "isa");
    const json *curve = json_get(o, "curve");
    if (!name || !config_text || !why || !metric || !digest || !word || !host || !isa || !curve) return -1;
    if (strlen(name) != JOB_NAME - 1 || curve->count > RESULT_CURVE) return -1;
    // They are written as they are, in lines and tables.
    const char *build = text_at(machine, "build");
    if (!is_word(name) || !is_word(metric) || !is_word(isa) || (build && !is_word(build))) return -1;
    *r = (result){.config = strdup(config_text),
                  .eval = (long)count_at(o, "eval"),
                  .every = (long)count_at(o, "every"),
                  .data = digest_at(o, "data"),
                  .stopped = strdup(why),
                  .step = count_at(o, "step"),
                  .params = count_at(o, "params"),
                  .digest = strtoull(digest, NULL, 16),
                  .loss = json_number(o, "loss"),
                  .word = (uint32_t)strtoul(word, NULL, 16),
                  .value = json_number(o, "value"),
                  .accuracy = json_number(o, "accuracy"),
                  .sequence_accuracy = json_number(o, "sequence_accuracy"),
                  .r2 = json_number(o, "r2"),
                  .bits = json_number(o, "bits"),
                  .held_out_loss = json_number(o, "held_out_loss"),
                  .choice = json_number(o, "choice"),
                  .stride = count_at(o, "stride"),
                  .machine = {.host = strdup(host),
                              .isa = strdup(isa),
                              .threads = (long)count_at(machine, "threads"),
                              .from = count_at(machine, "from"),
                              .seconds = json_number(machine, "seconds"),
                              .processor_seconds = json_number(machine, "processor_seconds"),
                              .ended = json_number(machine, "ended")}};
    memcpy(r->name, name, sizeof r->name);
    snprintf(r->machine.build, sizeof r->machine.build, "%s", build ? build : "");
    if (fill_held_out(r, json_get(o, "held_out"))) return -1;
    snprintf(r->metric, sizeof r->metric, "%s", metric);
    for (const json *p = curve->child; p; p = p->next)
        r->curve[r->n_curve++] = p->type == JSON_NUMBER ? p->number : NAN;
    return r->config && r->stopped && r->machine.host && r->machine.isa ? 0 : -1;
}

static int has_same_bits(const char *version) {
    for (size_t i = 0; i < sizeof same_bits / sizeof *same_bits; i++)
        if (!strcmp(version, same_bits[i])) return 1;
    return 0;
}

int result_read(result *r, const char *text, size_t size, char *why, size_t why_size) {
    *r = (result){0};
    if (!is_whole(text, size)) {
        snprintf(why, why_size, "is no whole result of a job: its checksum is missing or does not fit");
        return RESULT_DAMAGED;
    }
    json *j = json_parse(text, size, NULL);
    const char *format = text_at(j, "format"), *version = text_at(j, "version");
    int kind = RESULT_DAMAGED;
    if (!format || !version)
        snprintf(why, why_size, "is no result of a job: it has no format and version");
    else if (strcmp(format, FORMAT) || !has_same_bits(version)) {
        snprintf(
            why, why_size,
            "was written by seqmix %.20s (%.20s); this is seqmix %s (%s), and results of several versions "
            "are not mixed: give each its own folder",
            version, format, SMX_VERSION, FORMAT);
        kind = RESULT_OTHER;
    } else if (fill(r, json_get(j, "result"), json_get(j, "machine")))
        snprintf(why, why_size, "is no result of a job: a part of it is missing");
    else
        kind = RESULT_WHOLE;
    json_free(j);
    if (kind != RESULT_WHOLE) result_free(r);
    return kind;
}
