// job.c: seqmix job 'CONFIG' --out DIR: one training of a grid, on whatever machine, as often as it takes.
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

#include "job_work.h"
#include "model/run/language/language.h"

static const cli_option table[] = {
    {"--out", "DIR", "where the result goes, its checkpoint until then: DIR/ab/abcd0123456789ef.json",
     OPTION_TEXT, offsetof(job_words, out), 0, 0},
    {"--eval", "N", "judged on so many held-out sequences (1000), chosen by a quarter as many others",
     OPTION_COUNT, offsetof(job_words, job.eval), 1, 10000000},
    {"--every", "N", "judged by these others every N steps, too: a curve in the result", OPTION_COUNT,
     offsetof(job_words, job.every), 1, 1000000000},
    {"--save-every", "N",
     "a checkpoint every N seconds (60), and after TERM, INT, HUP and USR1, which end with 75", OPTION_COUNT,
     offsetof(job_words, job.seconds), 1, 1000000},
    {"--ranks", "N", "on so many processes of mpirun (1): seqmix-mpi beside this program", OPTION_COUNT,
     offsetof(job_words, job.ranks), 1, 8},
    {"--plan", "NAME",
     "one of the rivals of this plan in DIR/plans (seqmix grid --rungs), and those that then go on; without a "
     "config: what is left of the plan, and wait for what others do",
     OPTION_TEXT, offsetof(job_words, plan), 0, 0},
    {"--rung", "1", "up to the plan's first rung (a later one: what is left of the plan)", OPTION_COUNT,
     offsetof(job_words, rung), 1, MOST_RUNGS},
    {"--threads", "N", "of so many threads, whatever the config says", OPTION_COUNT,
     offsetof(job_words, threads), 1, 256},
    {0},
};

static int run_job(int argc, char **argv);
const cli_command cli_job = {
    .name = "job",
    .usage = "'CONFIG'",
    .help =
        "one training of a grid, its result into a folder: gone on with where it was begun, at once where "
        "it is done",
    .options = table,
    .plain = offsetof(job_words, config),
    .most = 1,
    .example = "seqmix job 'mixer=cat&task=mqar&seed=2' --out results",
    .run = run_job,
};

static int open_plan(plan *p, job_words *o) {
    if (o->rung && !o->plan) return cli_fail("job: --rung needs --plan beside it");
    if (o->rung && !o->config) return cli_fail("job: --rung needs a config: one of the rivals of the plan");
    if (o->config && !o->rung) return cli_fail("job: --plan beside a config needs --rung");
    if (plan_open(p, o->out, o->plan)) return 2;
    if ((size_t)o->rung > p->n_rungs)
        return cli_fail("job: --rung %ld is not allowed: plan %s has %zu rungs", o->rung, o->plan,
                        p->n_rungs);
    if (p->eval != o->job.eval || p->every != o->job.every)
        return cli_fail("job: plan %s is of --eval %ld and --every %ld", o->plan, p->eval, p->every);
    return 0;
}

static int is_rival(const plan *p, const char *config_text) {
    for (size_t i = 0; i < p->n; i++)
        if (!strcmp(p->rivals[i].config, config_text)) return 1;
    return 0;
}

// Up to the first rung, then with those that go on, if this was the last to get there.
static int run_rival(const plan *p, const job_words *o, const config *c) {
    job_work w = {.o = *o};
    int computed = 0;
    if (!o->threads) w.o.threads = atol(config_get(c, "threads"));
    const job_words rest = w.o;
    int status = job_prepare(&w, c, p, 0);
    if (!status && !is_rival(p, w.j.config))
        status = cli_fail("job: --plan %s does not have this config", p->name);
    if (!status && o->rung == 1) status = job_work_on(&w, &computed);
    job_done_with(&w);
    if (status || (o->rung == 1 && !computed)) return status;
    return rivals_finish(p, &rest, o->rung > 1);
}

static int run_config(job_words *o) {
    plan p = {0};
    job_work w = {.o = *o};
    smx_error e = {0};
    int computed;
    if (cli_refuse_several("job", o->config)) return 2;
    config *c = config_parse(o->config, 0, &e);
    if (!c) return cli_fail("%s", e.message);
    int status = o->plan || o->rung ? open_plan(&p, o) : 0;
    if (!status) status = o->plan ? run_rival(&p, o, c) : job_compute(&w, c, NULL, 0, &computed);
    config_free(c);
    plan_free(&p);
    return status;
}

static int run_job(int argc, char **argv) {
    job_words o = {.job = JOB_OPTIONS};
    plan p = {0};
    if (cli_read_options(&cli_job, argc, argv, &o)) return 2;
    if (!o.config && !o.plan && !o.rung)
        return cli_usage_error(&cli_job, "a config, such as 'mixer=cat&task=mqar'");
    if (!o.out) return cli_usage_error(&cli_job, "--out DIR, a folder for its result");
    if (o.job.ranks > 1 && (o.plan || o.job.every))
        return cli_fail("job: --ranks goes without --plan and --every: its processes train to the end");
    if (o.config) return run_config(&o);
    const int status = open_plan(&p, &o) ? 2 : rivals_finish(&p, &o, 1);
    plan_free(&p);
    return status;
}
