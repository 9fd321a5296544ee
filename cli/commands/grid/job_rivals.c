// job_rivals.c: see job_work.h.
#include "job_work.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/commands/runs/train_signals.h"

// A seed that would have begun later has no file of its own: this one marks it, so that nobody waits for it.
static int leave_mark(const job_work *w) {
    char path[JOB_PATH];
    if (job_make_folder(w) || plan_path(&w->j, w->o.out, 0, path)) return 2;
    const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0) return cli_fail("%s cannot be made: %s", path, strerror(errno));
    close(fd);
    return 0;
}

// What lies about of a rival that does not go on to the rung.
static int leave_behind(const plan *p, const job_words *o, size_t which, size_t rung) {
    job_work w = {.o = *o};
    int status = plan_job(p, which, &w.j, &w.steps) ? 2 : 0;
    w.until = w.steps;
    if (!status) status = job_find_paths(&w);
    if (!status) {
        printf("%s left behind before rung %zu\n", w.j.name, rung + 1);
        job_clear_away(&w);
        if (which % p->seeds >= plan_seeds(p, rung - 1)) status = leave_mark(&w);
    }
    job_free(&w.j);
    return status;
}

// Before the first result of a rung: who comes later has no need to look.
static int leave_others_behind(const plan *p, const job_words *o, const plan_state *s) {
    int status = 0;
    for (size_t i = s->in; i < s->out && !status; i++)
        for (size_t k = 0; k < p->seeds && !status; k++)
            status = leave_behind(p, o, s->settings[i] * p->seeds + k, s->rung);
    return status;
}

// Those that are missing, each worker beginning elsewhere; *any: one is done. 0, 75, or 2 with the sentence
// printed.
static int compute_missing(const plan *p, const job_words *o, const plan_state *s, int *any) {
    *any = 0;
    for (size_t k = 0; k < s->n; k++) {
        const size_t which = s->missing[(k + (size_t)getpid()) % s->n];
        const int status = job_compute_rival(p, o, which, s->rung);
        if (signals_stop()) return TRY_AGAIN;
        if (status == 0) *any = 1;
        if (status != 0 && status != TRY_AGAIN)
            return cli_fail("a rival failed, without which nobody knows who goes on: seqmix job '%.300s'",
                            p->rivals[which].config);
    }
    return 0;
}

// Others work on all that is missing.
static int pause_for(double *seconds) {
    const signals_rules rules = {.status = TRY_AGAIN};
    if (signals_start(&rules)) return 2;
    nanosleep(
        &(struct timespec){.tv_sec = (time_t)*seconds, .tv_nsec = (long)((*seconds - (int)*seconds) * 1e9)},
        NULL);
    if (*seconds < 2.0) *seconds *= 1.5;
    signals_end();
    return signals_stop() ? TRY_AGAIN : 0;
}

int rivals_finish(const plan *p, const job_words *o, int wait) {
    int status = 0, over = 0, in_vain = 0;
    double pause = 0.1;
    size_t rung = 0, n = 0; // before
    while (!status && !over) {
        plan_state s;
        int any = 0;
        status = plan_look(p, o->out, wait ? p->n : 1, &s) ? 2 : 0;
        over = s.rung == p->n_rungs || (!s.rung && !wait);
        if (!status && s.rung && s.fresh) status = leave_others_behind(p, o, &s);
        if (!status && !over) status = compute_missing(p, o, &s, &any);
        // What was computed is there, or the plan looks for it elsewhere.
        in_vain = any && s.rung == rung && s.n == n ? in_vain + 1 : 0;
        rung = s.rung;
        n = s.n;
        plan_state_free(&s);
        if (in_vain == 3)
            status = cli_fail(
                "plan %s does not find what its rivals came to at rung %zu: seqmix grid --rungs with the "
                "same grid writes it again",
                p->name, rung + 1);
        if (status || over || any) continue;
        if (!wait) over = 1; // who works on them goes on
        if (wait) status = pause_for(&pause);
    }
    return status;
}
