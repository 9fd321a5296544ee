// memory.c: how much memory the program may have: what the machine has, or less where a control group says so
// (a container, a batch system, a service). Who takes more is killed without a word, so it is looked at
// before.
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST = 4096 };

// The number that a file begins with; 0: there is none ("max"), or no file.
static double number_in(const char *path) {
    double x = 0.0;
    FILE *f = fopen(path, "r");
    if (f && fscanf(f, "%lf", &x) != 1) x = 0.0;
    if (f) fclose(f);
    return x;
}

// The least limit from the group up to the root of the hierarchy. A group's path may be one of outside the
// container: what is not there has no limit, and the container's own is the root's.
static double least_limit(const char *hierarchy, char *group, const char *file, double least) {
    char path[LONGEST];
    for (;;) {
        if (snprintf(path, sizeof path, "%s%s/%s", hierarchy, group, file) < (int)sizeof path) {
            const double limit = number_in(path);
            if (limit > 0.0 && limit < least) least = limit;
        }
        char *slash = strrchr(group, '/');
        if (!slash) return least;
        *slash = 0;
    }
}

// A line of /proc/self/cgroup is NUMBER:CONTROLLERS:PATH; version 2 has no controllers, version 1 the word
// memory.
static double limit_of_line(const char *root, char *line, double least) {
    char hierarchy[LONGEST];
    char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!group) return least;
    *group++ = 0;
    group[strcspn(group, "\n")] = 0;
    const int second = !controllers[1];
    if (!second && strcmp(controllers + 1, "memory")) return least;
    snprintf(hierarchy, sizeof hierarchy, "%s/sys/fs/cgroup%s", root, second ? "" : "/memory");
    return least_limit(hierarchy, group, second ? "memory.max" : "memory.limit_in_bytes", least);
}

static double swap(const char *root) {
    char path[LONGEST], line[256];
    double kilobytes = 0.0;
    snprintf(path, sizeof path, "%s/proc/meminfo", root);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f)) sscanf(line, "SwapTotal: %lf", &kilobytes);
    if (f) fclose(f);
    return 1024.0 * kilobytes;
}

double cli_memory(const char *root, int *group) {
    char path[LONGEST], line[LONGEST];
    const double machine = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGE_SIZE);
    double least = machine;
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f)) least = limit_of_line(root, line, least);
    if (f) fclose(f);
    *group = least < machine;
    return least + swap(root);
}

int cli_refuse_too_large(const smx_run *run) {
    int group;
    smx_metrics m;
    smx_run_metrics(run, &m);
    const double there = cli_memory("", &group);
    if ((double)m.bytes <= there) return 0;
    return cli_fail(
        "training holds %.4g GB, and this %s %.4g GB: it would be killed; a smaller length, batch or width "
        "takes less",
        (double)m.bytes * 1e-9, group ? "program may have (its control group's limit)" : "machine has",
        there * 1e-9);
}
