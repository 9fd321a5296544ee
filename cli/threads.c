// threads.c: the only place that knows OpenMP. Pieces are independent,
// so their number of threads moves no bit.
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void parallel_for(void *pool, size_t n, smx_piece piece, void *context) {
    int threads = *(int *)pool;
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
#endif
    for (size_t i = 0; i < n; i++) {
        uint64_t env = smx_fpenv_enter();
        piece(context, i);
        smx_fpenv_leave(env);
    }
    (void)threads;
}

int cli_has_threads(void) {
#ifdef _OPENMP
    return 1;
#else
    return 0;
#endif
}

void cli_use_threads(smx_run *run) {
    static int threads;
    threads = atoi(smx_run_config_value(run, "threads"));
    if (threads > 1) smx_run_parallel(run, parallel_for, &threads);
}

smx_parallel_for cli_threads(int n, void **pool) {
    static int threads;
    threads = n;
    *pool = &threads;
    return n > 1 ? parallel_for : NULL;
}
