// clock.c: how long something takes.
#include "cli.h"

#include <time.h>

static double clock_seconds(clockid_t which) {
    struct timespec t;
    clock_gettime(which, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
double cli_seconds(void) { return clock_seconds(CLOCK_MONOTONIC); }
double cli_processor_seconds(void) { return clock_seconds(CLOCK_PROCESS_CPUTIME_ID); }
