// script.c: see script.h. A task of the array works through its part of the grid, so many jobs at a time as
// it has processors, and hands signals on. When one had to stop before its end (75), the task asks to be
// queued again: jobs that are done return at once.
#include "script.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/grid/job.h"

static const char body[] =
    "\n"
    "work=$(mktemp) || exit 1\n"
    "for ((i = SLURM_ARRAY_TASK_ID; i <= tasks; i += array)); do\n"
    "    part \"$i/$tasks\" || exit 1\n"
    "done >\"$work\"\n"
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
    "    bash -c \"exec $within $line\" </dev/null &\n"
    "    pids=\"${pids:+$pids }$!\"\n"
    "    [ $stop = 0 ] || hand_on\n"
    "    set -- $pids\n"
    "    [ $# -lt $((${SLURM_CPUS_PER_TASK:-1} / ranks)) ] || reap\n"
    "done <\"$work\"\n"
    "while [ -n \"$pids\" ]; do reap; done\n"
    "rm -f \"$work\"\n"
    "# Whoever kills once may kill always (memory): five times, then it is a failure.\n"
    "[ $killed = 0 ] || [ \"${SLURM_RESTART_COUNT:-0}\" -ge 5 ] || again=1\n"
    "if [ $stop = 1 ] || [ $again = 1 ]; then\n"
    "    # The id of this task: of an array's last task, SLURM_JOB_ID alone is the id of the whole array.\n"
    "    me=${SLURM_ARRAY_JOB_ID:-$SLURM_JOB_ID}${SLURM_ARRAY_JOB_ID:+_$SLURM_ARRAY_TASK_ID}\n"
    "    echo \"stopped before the end: asking for $me to be queued again\"\n"
    "    if scontrol requeue \"$me\"; then\n"
    "        echo \"queued again\"\n"
    "    else\n"
    "        echo \"NOT queued again (this cluster does not requeue): sbatch the same script once more; it goes on"
    " from there\" >&2\n"
    "    fi\n"
    "    exit 75\n"
    "fi\n"
    "failed=$((failed + killed))\n"
    "[ $failed = 0 ] || { echo \"$failed jobs failed\" >&2; exit 1; }\n";

// The folder of this program, and where it runs. sbatch has no quotes of its own within those of its options.
static int find_folders(char program[JOB_PATH], char here[JOB_PATH]) {
    const ssize_t n = readlink("/proc/self/exe", program, JOB_PATH - 1);
    program[n > 0 ? n : 0] = 0;
    char *slash = strrchr(program, '/');
    if (slash) *slash = 0;
    if (!getcwd(here, JOB_PATH))
        return cli_fail("grid: --slurm: this folder has no name: %s", strerror(errno));
    if (strpbrk(here, "\"'\\\n"))
        return cli_fail(
            "grid: --slurm: this folder's name, %.200s, has a quote, a backslash or a line break in "
            "it, which sbatch would read",
            here);
    return 0;
}

long script_most_tasks(int *asked) {
    long most = 0;
    FILE *from = popen("command -v scontrol >/dev/null && timeout 10 scontrol show config 2>/dev/null |"
                       " sed -n 's/^MaxArraySize *= *//p'",
                       "r");
    *asked = from && fscanf(from, "%ld", &most) == 1 && most > 1;
    if (from) pclose(from);
    return *asked ? most - 1 : 1000;
}

int script_print(const script *s) {
    char logs[JOB_PATH], program[JOB_PATH], here[JOB_PATH];
    if (find_folders(program, here)) return 2;
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
        "#SBATCH --chdir=\"%s\"\n"
        "#SBATCH --output=\"%s/%%A_%%a.log\"\n\n",
        s->jobs, s->array, s->array, s->array, s->cpus * s->ranks, here, logs);
    if (s->setup) puts(s->setup);
    if (*program && !s->within) {
        fputs("PATH=", stdout);
        cli_put_quoted(stdout, program);
        puts(":$PATH # the seqmix that made this script");
    }
    printf("tasks=%ld array=%ld ranks=%ld within=", s->tasks, s->array, s->ranks);
    cli_put_quoted(stdout, s->within ? s->within : "");
    printf("\npart() {\n    $within seqmix grid ");
    cli_put_quoted(stdout, s->config);
    for (size_t i = 0; i < s->n_axes; i++) {
        putchar(' ');
        cli_put_quoted(stdout, s->axes[i]);
    }
    fputs(s->options, stdout);
    fputs(" --out ", stdout);
    cli_put_quoted(stdout, s->out);
    puts(" --part \"$1\"\n}");
    fputs(body, stdout);
    return 0;
}
