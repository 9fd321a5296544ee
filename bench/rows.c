// rows.c: rows as such: made, opened, closed. Which ones there are: list.c.
#include "rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/core/philox.h"
#include "model/base/error.h"

static bench_row *rows;
static size_t n_rows, room;

bench_row *bench_add(const char *name, int (*open)(bench_row *, smx_error *), void (*run)(bench_row *)) {
    static bench_row nowhere;
    if (n_rows == room) {
        bench_row *longer = realloc(rows, (room + 64) * sizeof *rows);
        if (!longer) return &nowhere;
        rows = longer;
        room += 64;
    }
    bench_row *r = &rows[n_rows++];
    memset(r, 0, sizeof *r);
    snprintf(r->name, sizeof r->name, "%s", name);
    r->open = open;
    r->run = run;
    return r;
}

bench_row *bench_add_variant(const char *of, const char *keys, const char *target) {
    bench_row model = {0};
    for (size_t i = 0; i < n_rows; i++)
        if (!strcmp(rows[i].name, of)) model = rows[i];
    char name[96];
    snprintf(name, sizeof name, "%.60s %.30s", of, keys);
    bench_row *r = bench_add(name, model.open, model.run);
    memcpy(r->a, model.a, sizeof r->a);
    r->target = target;
    r->fast = !strcmp(keys, "fast=1");
    if (!model.config) return r;
    const size_t size = strlen(model.config) + strlen(keys) + 2;
    r->config = malloc(size);
    if (r->config) snprintf(r->config, size, "%s&%s", model.config, keys);
    return r;
}

size_t bench_made(void) { return n_rows; }
bench_row *bench_row_at(size_t i) { return i < n_rows ? &rows[i] : NULL; }

float *bench_floats(bench_row *r, size_t slot, size_t n) {
    float *x = aligned_alloc(SMX_ALIGN, (n * sizeof *x + SMX_ALIGN - 1) / SMX_ALIGN * SMX_ALIGN + SMX_ALIGN);
    if (!x) return NULL;
    smx_rng rng = rng_open(slot, RNG_START, 0);
    for (size_t i = 0; i < n; i++) x[i] = (float)(2.0 * rng_uniform(&rng) - 1.0);
    r->bytes += n * sizeof *x;
    return r->x[slot] = x;
}
int bench_scratch(bench_row *r, size_t bytes) {
    r->scratch = aligned_alloc(SMX_ALIGN, (bytes + SMX_ALIGN) / SMX_ALIGN * SMX_ALIGN);
    r->bytes += bytes;
    return r->scratch ? 0 : -1;
}

static const char *isa_before; // of a row that chose another

int bench_open(bench_row *r, smx_error *error) {
    memset(error, 0, sizeof *error);
    isa_before = smx_isa();
    if (r->isa && smx_isa_choose(r->isa)) return error_say(error, "%s is not usable on this machine", r->isa);
    if (r->fast && !smx_fast_isa())
        return error_say(error, "%s has no copies with fused multiply-add here", smx_isa());
    smx_fast(r->fast);
    if (r->open(r, error)) {
        if (!error->message[0]) error_say(error, "out of memory for %s", r->name);
        bench_close(r);
        return -1;
    }
    return 0;
}

void bench_close(bench_row *r) {
    for (size_t i = 0; i < sizeof r->x / sizeof *r->x; i++) {
        free(r->x[i]);
        r->x[i] = NULL;
    }
    free(r->scratch);
    r->scratch = NULL;
    smx_state_close(r->state);
    smx_state_close(r->filled);
    r->state = r->filled = NULL;
    smx_run_close(r->lab);
    r->lab = NULL;
    r->bytes = 0;
    smx_fast(0);
    smx_isa_choose(isa_before);
}
