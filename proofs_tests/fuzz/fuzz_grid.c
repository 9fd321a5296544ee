// fuzz_grid.c: libFuzzer target for what machines leave each other in a grid's folder: plans, rungs, claims,
// results, curves, failures, lists of jobs. Whatever the bytes, a reader gives something that can be used,
// and that is read alike when it is written again, or says that it is none. The first byte says which.
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/grid/claim.h"
#include "cli/grid/held_out.h"
#include "cli/grid/plan/plan.h"
#include "cli/grid/progress.h"
#include "kernels/core/hash.h"

// Sentences go to standard error: kept from the log of a run of millions.
int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    FILE *nowhere = fopen("/dev/null", "w");
    if (nowhere) stderr = nowhere;
    return 0;
}

static void check_rungs(const plan *p) {
    if (p->n_rungs < 2 || p->n_rungs > MOST_RUNGS || p->rungs[p->n_rungs - 1] != 1.0) abort();
    if (!(p->keep > 0.0 && p->keep < 1.0)) abort();
    for (size_t i = 0; i < p->n_rungs; i++) {
        static const uint64_t steps[] = {1, 7, 100000};
        for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
            const uint64_t n = plan_steps(p, i, steps[k]);
            if (n < 1 || n > steps[k] || (i + 1 == p->n_rungs && n != steps[k])) abort();
        }
        if (p->few[i] > p->seeds || (i && plan_seeds(p, i) < plan_seeds(p, i - 1))) abort();
    }
}

static void read_plan(char *text) {
    plan p = {0}, again = {0};
    size_t size;
    if (!plan_parse(&p, text)) {
        check_rungs(&p);
        if (!p.n || !p.seeds || p.n % p.seeds || p.eval < 1 || p.every < 0) abort();
        char *first = plan_text(&p, &size), *copy = first ? strdup(first) : NULL;
        if (!copy || plan_parse(&again, copy)) abort();
        char *second = plan_text(&again, &size);
        if (!second || strcmp(first, second)) abort();
        free(first), free(second), free(copy);
    }
    plan_free(&p);
    plan_free(&again);
}

static void read_rungs(const char *text) {
    plan p = {.seeds = 3};
    char rungs[256];
    const size_t n = strcspn(text, " ");
    snprintf(rungs, sizeof rungs, "%.*s", (int)(n < sizeof rungs ? n : sizeof rungs - 1), text);
    if (!plan_read_rungs(&p, rungs, text[n] ? text + n + 1 : "1/2", p.seeds)) check_rungs(&p);
}

static void read_claim(const char *text) {
    claim_content c;
    claim_parse(text, &c);
    if (c.state.pid < 0 || c.state.pid > INT_MAX) abort();
    const char *const words[] = {c.state.host, c.machine, c.began, c.line, c.state.about};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) > 2000 || strchr(words[i], '\n')) abort();
}

static void read_result(const char *text, size_t size) {
    result r, again;
    char why[400] = "", *whole = NULL, *second, *third;
    size_t whole_size, second_size, third_size;
    if (result_read(&r, text, size, why, sizeof why) == RESULT_WHOLE)
        result_free(&r);
    else if (strlen(why) < 10)
        abort();
    // With its checksum made to fit: else nothing behind it would be tried.
    FILE *to = open_memstream(&whole, &whole_size);
    if (!to) abort();
    fwrite(text, 1, size, to);
    fprintf(to, ",\"checksum\":\"%016llx\"}\n", (unsigned long long)hash_bytes(HASH_START, text, size));
    if (fclose(to)) abort();
    if (result_read(&r, whole, whole_size, why, sizeof why) == RESULT_WHOLE) {
        if (r.n_curve > RESULT_CURVE || strlen(r.name) != JOB_NAME - 1) abort();
        // Written, it is whole; and what is read of that is written alike.
        if (!(second = result_text(&r, &second_size))) abort();
        if (result_read(&again, second, second_size, why, sizeof why) == RESULT_WHOLE) {
            if (!(third = result_text(&again, &third_size))) abort();
            if (second_size != third_size || memcmp(second, third, second_size)) abort();
            free(third);
            result_free(&again);
        } else
            abort();
        free(second);
        result_free(&r);
    }
    free(whole);
}

static void read_curve(const char *text) {
    for (uint64_t wanted = 1; wanted < 5; wanted += 3) {
        held_out_curve curve;
        if (!held_out_parse(&curve, wanted, text) && curve.n != wanted) abort();
        held_out_free(&curve);
    }
}

static void read_failed(char *text) {
    progress_failed f = {0};
    progress_parse_failed(text, &f);
    if (strchr(f.host, '\n') || strchr(f.why, '\n') || strchr(f.about, '\n')) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!size) return 0;
    const unsigned kind = *data % 7;
    char *text = malloc(size); // of exactly the right size, so that the sanitizer sees a read beyond
    if (!text) abort();
    memcpy(text, data + 1, size - 1);
    text[size - 1] = 0;
    if (kind == 0) read_plan(text);
    if (kind == 1) read_rungs(text);
    if (kind == 2) read_claim(text);
    if (kind == 3) read_result(text, size - 1);
    if (kind == 4) read_curve(text);
    if (kind == 5) read_failed(text);
    if (kind == 6 && progress_count(text, NULL) && size < 5) abort();
    free(text);
    return 0;
}
