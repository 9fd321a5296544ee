// library.c: where libseqmix is and the program is not: every digest, a line each as the committed lists have
// them. Of the kernels and of short trainings, with a team of two threads; then of each line of the file
// given, a digest and a config, trained for three steps, saved and opened again before the last of them.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seqmix/run.h>

#include "cli/team.h"
#include "model/audit/selfcheck.h"

static uint64_t trained(const char *config) {
    smx_error error;
    smx_run *run = smx_run_open(config, &error);
    if (!run || smx_run_step(run, 2, &error)) return printf("%s\n", error.message), 0;
    size_t size;
    void *saved = smx_run_save(run, &size, &error);
    smx_run *again = saved ? smx_run_load(saved, size, NULL, &error) : NULL;
    if (!again || smx_run_step(again, 1, &error)) return printf("%s\n", error.message), 0;
    const uint64_t digest = smx_run_digest(again);
    smx_run_close(run), smx_run_close(again), free(saved);
    return digest;
}

int main(int argc, char **argv) {
    smx_team *team = smx_team_open(2);
    for (size_t i = 0; i < smx_selfcheck_count(); i++)
        printf("%016llx  %s\n", (unsigned long long)smx_selfcheck_digest_parallel(i, smx_team_for, team),
               smx_selfcheck_name(i));
    smx_team_close(team);
    FILE *list = argc > 1 ? fopen(argv[1], "r") : NULL;
    char line[4096];
    while (list && fgets(line, sizeof line, list)) {
        line[strcspn(line, "\r\n")] = 0;
        printf("%016llx  %s\n", (unsigned long long)trained(line + 18), line + 18);
    }
    // A sentence with sizes in it: Windows' own printf knows no %zu.
    smx_error error = {0};
    smx_run_open("mixer=cat&task=mqar&length=32&pairs=20", &error);
    printf("%s\n", error.message);
}
