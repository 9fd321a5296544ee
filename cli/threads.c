// threads.c: the only place that knows OpenMP. Pieces are independent, so their number of threads moves no bit.
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

void cli_config_value(const char *config, const char *key, char *to, size_t size) {
    size_t n = strlen(key);
    *to = 0;
    for (const char *p = config; p; p = strchr(p, '&') ? strchr(p, '&') + 1 : NULL)
        if (!strncmp(p, key, n) && p[n] == '=')
            snprintf(to, size, "%.*s", (int)strcspn(p + n + 1, "&"), p + n + 1);
}

void cli_use_threads(smx_run *run) {
    static int threads;
    char value[32];
    cli_config_value(smx_run_config(run), "threads", value, sizeof value);
    threads = atoi(value);
    if (threads > 1) smx_run_parallel(run, parallel_for, &threads);
}

smx_parallel_for cli_threads(int n, void **pool) {
    static int threads;
    threads = n;
    *pool = &threads;
    return n > 1 ? parallel_for : NULL;
}
