// selfcheck.c: seqmix selfcheck: every digest of model/audit/selfcheck.h, one a line, and what differs from a list.
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

int cli_selfcheck(int argc, char **argv) {
    const char *against = NULL;
    long threads = 1;
    for (int i = 0; i < argc; i += 2) {
        char *end = "?";
        if (i + 1 < argc && !strcmp(argv[i], "--against"))
            against = argv[i + 1];
        else if (i + 1 < argc && !strcmp(argv[i], "--threads")) {
            threads = strtol(argv[i + 1], &end, 10);
            if (*end || threads < 1 || threads > 64)
                return cli_fail("--threads is '%s'; it must be a whole number from 1 to 64", argv[i + 1]);
        } else
            return cli_fail("selfcheck takes --against FILE and --threads N, not '%s'", argv[i]);
    }
    void *pool;
    smx_parallel_for hook = cli_threads((int)threads, &pool);
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
