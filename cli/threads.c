// threads.c: the threads of the program: a team of each size that a run asks for.
#include "cli.h"

#include <stdlib.h>

#include "team.h"

smx_parallel_for cli_threads(int n, void **pool) {
    static smx_team *teams[257];
    if (n < 2 || n >= (int)(sizeof teams / sizeof *teams)) return NULL;
    if (!teams[n]) teams[n] = smx_team_open(n);
    *pool = teams[n];
    return teams[n] ? smx_team_for : NULL;
}

void cli_use_threads(smx_run *run) {
    void *pool;
    smx_parallel_for hook = cli_threads(atoi(smx_run_config_value(run, "threads")), &pool);
    if (hook) smx_run_parallel(run, hook, pool);
}
