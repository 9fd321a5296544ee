// bench_variants.c: what the choice of kernels costs on this machine. Dispatch takes the widest registers,
// and kernels ask for rows ahead, because that was faster where it was measured; one run of this says
// whether it is so here. All variants take turns, so that a machine that slows down slows them all.
#include "bench_variants.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "kernels/core/ahead.h"

enum { MAX_VARIANTS = 8, TURNS = 11 };

typedef struct {
    const char *isa;
    int ahead;
    double ms[TURNS], check;
} variant;

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}
static double median(const variant *v) {
    double sorted[TURNS];
    memcpy(sorted, v->ms, sizeof sorted);
    qsort(sorted, TURNS, sizeof *sorted, by_value);
    return sorted[TURNS / 2];
}

// One turn: opened anew, as memory may be laid out for the instruction set. NaN: it could not be opened.
static double turn(bench_row *r, variant *v, double seconds) {
    smx_error error;
    const char *const before = r->isa;
    double took = NAN;
    r->isa = v->isa;
    smx_private_ahead = v->ahead;
    r->check = 0.0; // computed by the first run
    if (!bench_open(r, &error)) {
        r->run(r);
        v->check = r->check;
        const double start = cli_processor_seconds();
        size_t runs = 0;
        do r->run(r);
        while (runs++, cli_processor_seconds() - start < seconds);
        took = 1e3 * (cli_processor_seconds() - start) / (double)runs;
        bench_close(r);
    }
    smx_private_ahead = 1;
    r->isa = before;
    return took;
}

int bench_has_variants(const bench_row *r) { return !r->isa && !r->fast && r->threads <= 1; }

int bench_variants(bench_row *r, double seconds, int json) {
    variant list[MAX_VARIANTS] = {{.isa = smx_isa(), .ahead = 1}, {.isa = smx_isa(), .ahead = 0}};
    size_t n = 2;
    const char *isa;
    for (size_t i = 0; n < MAX_VARIANTS && (isa = smx_isa_name(i)); i++)
        if (strcmp(isa, list[0].isa)) list[n++] = (variant){.isa = isa, .ahead = 1};
    for (size_t t = 0; t < TURNS; t++)
        for (size_t i = 0; i < n; i++) list[i].ms[t] = turn(r, &list[i], seconds / TURNS);
    const double chosen = median(&list[0]);
    for (size_t i = 0; i < n; i++) {
        const double ms = median(&list[i]);
        if (!isfinite(ms) || !isfinite(list[i].check))
            return cli_fail("%s could not be computed with %s", r->name, list[i].isa), 1;
        if (list[i].check != list[0].check)
            return cli_fail("%s gives %.9g with %s and %.9g with %s", r->name, list[i].check, list[i].isa,
                            list[0].check, list[0].isa),
                   1;
        if (json)
            printf(
                "{\"name\":\"%s\",\"isa\":\"%s\",\"ahead\":%s,\"chosen\":%s,\"unit\":\"ms\",\"median\":%.6g,\"of_chosen\":%.4g,\"check\":%.9g}\n",
                r->name, list[i].isa, list[i].ahead ? "true" : "false", i ? "false" : "true", ms, ms / chosen,
                list[i].check);
        else
            printf("%-20s %-8s %-20s %10.4f ms  x %.2f\n", i ? "" : r->name, list[i].isa,
                   i == 0          ? "chosen"
                   : list[i].ahead ? ""
                                   : "not asking ahead",
                   ms, ms / chosen);
    }
    fflush(stdout);
    return 0;
}
