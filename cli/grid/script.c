// script.c: see script.h. A task of the array works through its part of the grid, so many jobs at a time as
// it has processors, and hands signals on. When one had to stop before its end (75), the task asks to be
// queued again: jobs that are done return at once.
#include "script.h"

#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "job.h"

static const char body[] =
    "\n"
    "work=$(mktemp) || exit 1\n"
    "part \"$SLURM_ARRAY_TASK_ID/$tasks\" >\"$work\" || exit 1\n"
    "stop=0 again=0 killed=0 failed=0 pids=\n"
    "hand_on() {\n"
    "    stop=1\n"
    "    [ -z \"$pids\" ] || kill -TERM $pids 2>/dev/null\n"
    "}\n"
    "trap hand_on USR1 TERM INT\n"
    "# Waits for the first of those that run. A signal interrupts the waiting (above 128), not the job.\n"
    "reap() {\n"
    "    local first=${pids%% *} status=0\n"
    "    while :; do\n"
    "        wait \"$first\"\n"
    "        status=$?\n"
    "        [ $status -gt 128 ] && kill -0 \"$first\" 2>/dev/null || break\n"
    "    done\n"
    "    pids=${pids#\"$first\"}\n"
    "    pids=${pids# }\n"
    "    case $status in\n"
    "        0) ;;\n"
    "        75) again=1 ;;\n"
    "        137 | 143) killed=1 ;;\n"
    "        *) failed=$((failed + 1)) ;;\n"
    "    esac\n"
    "}\n"
    "while IFS= read -r line && [ $stop = 0 ]; do\n"
    "    bash -c \"exec $line\" </dev/null &\n"
    "    pids=\"${pids:+$pids }$!\"\n"
    "    [ $stop = 0 ] || hand_on\n"
    "    set -- $pids\n"
    "    [ $# -lt \"${SLURM_CPUS_PER_TASK:-1}\" ] || reap\n"
    "done <\"$work\"\n"
    "while [ -n \"$pids\" ]; do reap; done\n"
    "rm -f \"$work\"\n"
    "# Whoever kills once may kill always (memory): five times, then it is a failure.\n"
    "[ $killed = 0 ] || [ \"${SLURM_RESTART_COUNT:-0}\" -ge 5 ] || again=1\n"
    "if [ $stop = 1 ] || [ $again = 1 ]; then\n"
    "    echo \"stopped before the end: queued again\"\n"
    "    scontrol requeue \"$SLURM_JOB_ID\"\n"
    "    exit 75\n"
    "fi\n"
    "failed=$((failed + killed))\n"
    "[ $failed = 0 ] || { echo \"$failed jobs failed\" >&2; exit 1; }\n";

int script_print(const script *s, void (*quote)(const char *)) {
    char logs[JOB_PATH];
    // sbatch expands % and splits at no space, but has no quotes of its own.
    if (strpbrk(s->out, "%\"'\\"))
        return cli_fail(
            "grid: --slurm: --out %.200s has a quote, a backslash or a %% in it, which sbatch would read",
            s->out);
    if (snprintf(logs, sizeof logs, "%s/logs", s->out) >= (int)sizeof logs)
        return cli_fail("grid: --out: the path is too long");
    if (cli_make_folders(logs, "grid: --out")) return 2;
    printf(
        "#!/bin/bash\n"
        "# %zu jobs in %ld array tasks; sbatch THIS. What sbatch is given beside it (--time, --partition, --array=1-%ld%%50) wins.\n"
        "#SBATCH --job-name=seqmix-grid\n"
        "#SBATCH --array=1-%ld\n"
        "#SBATCH --cpus-per-task=%ld\n"
        "#SBATCH --requeue\n"
        "#SBATCH --signal=B:USR1@120\n"
        "#SBATCH --open-mode=append\n"
        "#SBATCH --output=\"%s/%%A_%%a.log\"\n\n"
        "tasks=%ld\n"
        "part() {\n    seqmix grid ",
        s->jobs, s->tasks, s->tasks, s->tasks, s->cpus, logs, s->tasks);
    quote(s->config);
    for (size_t i = 0; i < s->n_axes; i++) {
        putchar(' ');
        quote(s->axes[i]);
    }
    if (s->seeds) printf(" --seeds %ld", s->seeds);
    if (s->eval != JOB_EVAL) printf(" --eval %ld", s->eval);
    fputs(" --out ", stdout);
    quote(s->out);
    puts(" --part \"$1\"\n}");
    fputs(body, stdout);
    return 0;
}
