// job_rivals.c: see job_rivals.h. A rival is computed by a process of its own, as any job is.
#include "job_rivals.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "job_process.h"

// seqmix job CONFIG --out FOLDER ... --plan NAME --rung N: its exit status; 75 where a signal or another
// worker was faster.
static int compute(const plan *p, const char *folder, const job_options *o, size_t rung,
                   const char *config_text) {
    char program[JOB_PATH], eval[24], every[24], seconds[24], ranks[24], number[24];
    const ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    program[n > 0 ? n : 0] = 0;
    snprintf(eval, sizeof eval, "%ld", o->eval);
    snprintf(every, sizeof every, "%ld", o->every);
    snprintf(seconds, sizeof seconds, "%ld", o->seconds);
    snprintf(ranks, sizeof ranks, "%ld", o->ranks);
    snprintf(number, sizeof number, "%zu", rung + 1);
    const char *const words[] = {
        "seqmix", "job",     config_text, "--out",  folder,  "--eval", eval,   "--save-every",
        seconds,  "--ranks", ranks,       "--plan", p->name, "--rung", number, o->every ? "--every" : NULL,
        every,    NULL};
    return process_run(*program ? program : "seqmix", words, NULL, NULL);
}

// Those that are missing, each worker beginning elsewhere. 0, or 2 with the sentence printed.
static int compute_missing(const plan *p, const char *folder, const job_options *o, const plan_missing *m,
                           int *any) {
    *any = 0;
    for (size_t k = 0; k < m->n && !process_stopped(); k++) {
        const char *config_text = p->rivals[m->rivals[(k + (size_t)getpid()) % m->n]].config;
        const int status = compute(p, folder, o, m->rung, config_text);
        if (status == 0) *any = 1;
        if (status != 0 && status != 75)
            return cli_fail("a rival failed, without which nobody knows who goes on: seqmix job '%.300s'",
                            config_text);
    }
    return 0;
}

int rivals_decide(const plan *p, const char *folder, const job_options *o, size_t rung,
                  const char *config_text) {
    int answer = RIVALS_WAIT, in_vain = 0;
    double pause = 0.1;
    plan_missing before = {0}; // its counts alone
    process_listen();
    while (!process_stopped() && answer == RIVALS_WAIT) {
        plan_missing missing;
        int any = 0;
        const int on = plan_decide(p, folder, rung, config_text, &missing);
        if (on == -1 && compute_missing(p, folder, o, &missing, &any)) answer = RIVALS_FAILED;
        // What was computed is there, or the plan looks for it elsewhere.
        in_vain = any && missing.rung == before.rung && missing.n == before.n ? in_vain + 1 : 0;
        before = missing;
        if (in_vain == 3) {
            cli_fail(
                "plan %s does not find what its rivals came to at rung %zu: seqmix grid --rungs with the "
                "same grid writes it again",
                p->name, missing.rung + 1);
            answer = RIVALS_FAILED;
        }
        free(missing.rivals);
        if (on >= 0) answer = on ? RIVALS_GO_ON : RIVALS_LEFT_BEHIND;
        if (on < -1) answer = RIVALS_FAILED;
        if (on != -1 || any || process_stopped()) continue;
        // Others work on all that is missing.
        nanosleep(&(struct timespec){.tv_sec = (time_t)pause, .tv_nsec = (long)((pause - (int)pause) * 1e9)},
                  NULL);
        if (pause < 2.0) pause *= 1.5;
    }
    process_hear_no_more();
    return answer;
}
