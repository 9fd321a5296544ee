// list.c: the list of rows, in the order in which they are measured.
#include "rows.h"

static void make_list(void) {
    if (bench_made()) return;
    bench_add_ceilings();
    bench_add_kernels();
    bench_add_scans();
    bench_add_reading();
    bench_add_workloads();
}
size_t bench_count(void) {
    make_list();
    return bench_made();
}
bench_row *bench_at(size_t i) {
    make_list();
    return bench_row_at(i);
}
