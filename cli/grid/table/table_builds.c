// table_builds.c: were a table's results computed by builds that compute the same?
#include <stdio.h>
#include <string.h>

#include "cli/grid/builds.h"
#include "cli/cli.h"
#include "table.h"

enum { MOST_BUILDS = 32 };
typedef struct {
    build_facts facts;
    size_t results;
} known_build;

static size_t find_builds(const table *t, const char *folder, known_build all[MOST_BUILDS]) {
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++) {
        const char *name = t->rows[i].r.machine.build;
        size_t k = 0;
        while (k < n && strcmp(all[k].facts.name, name)) k++;
        if (k == MOST_BUILDS) continue;
        if (k == n) {
            all[n] = (known_build){0};
            builds_find(folder, name, &all[n++].facts);
        }
        all[k].results++;
    }
    return n;
}

// A training that went on from a checkpoint, or by what rivals came to at a rung, may hang on a build that
// has no result: those that were at work in the folder count, too.
static size_t add_builds(const table *t, const char *folder, known_build all[MOST_BUILDS], size_t n) {
    char names[MOST_BUILDS][17];
    size_t i = 0;
    while (i < t->n && !t->rows[i].r.machine.from) i++;
    if (i == t->n && !t->rungs) return n;
    const size_t there = builds_list(folder, names, MOST_BUILDS);
    for (i = 0; i < there && n < MOST_BUILDS; i++) {
        size_t k = 0;
        while (k < n && strcmp(all[k].facts.name, names[i])) k++;
        if (k < n) continue;
        all[n] = (known_build){0};
        builds_find(folder, names[i], &all[n++].facts);
    }
    return n;
}

// The same sources, and self-checks that agree: then only the compiler or its flags are others.
static int compute_alike(const known_build *all, size_t n) {
    for (size_t k = 0; k < n; k++)
        if (!*all[k].facts.check || strcmp(all[k].facts.check, all[0].facts.check) ||
            strcmp(all[k].facts.sources, all[0].facts.sources))
            return 0;
    return 1;
}

void table_note_builds(const table *t, const char *folder) {
    known_build all[MOST_BUILDS];
    const size_t n = add_builds(t, folder, all, find_builds(t, folder, all));
    char text[2000];
    int at = 0;
    for (size_t k = 0; k < n; k++)
        if (all[k].facts.differing)
            cli_note(
                "build %s has other self-checks on some of its machines than on others (%s/builds): one of them "
                "computes wrongly; --recheck finds its results",
                all[k].facts.name, folder);
    if (n < 2 || compute_alike(all, n)) return;
    for (size_t k = 0; k < n && at < (int)sizeof text - 250; k++) {
        const build_facts *f = &all[k].facts;
        char of[32] = "what was begun by ";
        if (all[k].results) snprintf(of, sizeof of, "%zu of ", all[k].results);
        at += snprintf(text + at, sizeof text - (size_t)at, "%s%s%s%s%s%s", k ? ", " : "", of,
                       *f->name ? f->name : "a build that did not say which", *f->compiler ? " (" : "",
                       f->compiler, *f->compiler ? ")" : "");
    }
    cli_note(
        "the results are of %zu builds that may compute differently: %s; give each its own folder, or see "
        "with --recheck",
        n, text);
}
