// selfcheck.c: seqmix selfcheck: every digest of model/audit/selfcheck.h, one a line,
// and what differs from a list.
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/audit/selfcheck.h"

// The digest that `list` has for name, or "" if none. A line is "digest  name".
static void listed(const char *list, const char *name, char digest[17]) {
    *digest = 0;
    for (const char *line = list; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        size_t n = strcspn(line, "\r\n"), m = strlen(name);
        if (n == 18 + m && !memcmp(line + 18, name, m)) {
            memcpy(digest, line, 16);
            digest[16] = 0;
        }
    }
}

typedef struct {
    const char *against;
    long threads;
} options;
static const cli_option table[] = {
    {"--against", "FILE", "the list to agree with", OPTION_TEXT, offsetof(options, against), 0, 0},
    {"--threads", "N", "with so many threads (1)", OPTION_COUNT, offsetof(options, threads), 1, 64},
    {0},
};

static int selfcheck(int argc, char **argv);
const cli_command cli_selfcheck = {
    .name = "selfcheck",
    .usage = "",
    .help = "a digest of every kernel and of short trainings, the same everywhere",
    .options = table,
    .example = "seqmix selfcheck --against proofs_tests/digests.txt",
    .run = selfcheck,
};

static int selfcheck(int argc, char **argv) {
    options o = {.threads = 1};
    if (cli_read_options(&cli_selfcheck, argc, argv, &o)) return 2;
    const char *const against = o.against;
    void *pool;
    smx_parallel_for hook = cli_threads((int)o.threads, &pool);
    size_t size, differing = 0, count = smx_selfcheck_count();
    char *list = against ? cli_read_file(against, &size) : NULL;
    if (against && !list) return 2;
    for (size_t i = 0; i < count; i++) {
        char digest[17], expected[17] = "";
        snprintf(digest, sizeof digest, "%016llx",
                 (unsigned long long)smx_selfcheck_digest_parallel(i, hook, pool));
        if (list) listed(list, smx_selfcheck_name(i), expected);
        int differs = list && strcmp(digest, expected);
        differing += (size_t)differs;
        printf("%s  %s%s%s\n", digest, smx_selfcheck_name(i),
               differs ? (*expected ? "  DIFFERS from " : "  is not in the list") : "",
               differs ? expected : "");
    }
    free(list);
    if (against)
        printf("%zu of %zu digests agree with %s (%s)\n", count - differing, count, against, smx_isa());
    return differing ? 1 : 0;
}
