// bench_variants.h: for bench.c.
#ifndef SMX_CLI_BENCH_VARIANTS_H
#define SMX_CLI_BENCH_VARIANTS_H

#include "bench/rows.h"

// Times the row in turns with every instruction set that this machine has, and with the chosen one without
// asking for rows ahead, for `seconds` each, and prints a line (an object with json) for each. 0, or 1 with
// a sentence where a variant computed something else or nothing.
int bench_variants(bench_row *r, double seconds, int json);
// Not a row that names its own instruction set, is fast or has threads.
int bench_has_variants(const bench_row *r);

#endif
