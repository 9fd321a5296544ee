// exports.c: the rows for JavaScript: bench.wasm is the module's own objects with these functions.
// Timing is bench/wasm.mjs's.
#include <string.h>

#include "rows.h"

static smx_error failure;

size_t bench_rows(void) { return bench_count(); }
const char *bench_name(size_t i) { return bench_at(i)->name; }
const char *bench_target(size_t i) { return bench_at(i)->target ? bench_at(i)->target : ""; }
const char *bench_failure(void) { return failure.message; }
static int fast; // the row that is open
int bench_start(size_t i) {
    fast = bench_at(i)->fast;
    return bench_open(bench_at(i), &failure);
}
void bench_run(size_t i, size_t n) {
    bench_row *r = bench_at(i);
    while (n--) r->run(r);
}
void bench_stop(size_t i) { bench_close(bench_at(i)); }
// Of one run: 0 FLOPs, 1 bytes moved, 2 bytes held, 3 what was computed
double bench_figure(size_t i, int which) {
    const bench_row *r = bench_at(i);
    const double figures[] = {r->flops, r->moved, (double)r->bytes, r->check};
    return figures[which & 3];
}
double bench_ceiling_here(size_t n) { return bench_ceiling(fast ? smx_fast_isa() : smx_isa(), n); }
