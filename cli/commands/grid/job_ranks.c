// job_ranks.c: see job_work.h. This process keeps the claim and judges; the processes of mpirun share the
// steps and save into a folder of their own, as they clean up where they save.
#include "job_work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/grid/builds.h"
#include "cli/grid/training.h"

// What was saved there, also by processes of another day.
static void bring(const job_work *w, const char *saved) {
    if (job_is_there(saved) && rename(saved, w->checkpoint)) cli_note("%s cannot be renamed", saved);
}

int ranks_train(job_work *w) {
    char program[JOB_PATH], saved[JOB_PATH + 32], stopped[JOB_PATH + 64], ranks[24], seconds[24];
    const ssize_t n = readlink("/proc/self/exe", program, sizeof program - 8);
    program[n > 0 ? n : 0] = 0;
    char *slash = strrchr(program, '/');
    snprintf(slash ? slash : program, 16, "%sseqmix-mpi", slash ? "/" : "");
    if (job_is_there(program) && !build_is_of(program))
        return cli_fail("job: --ranks: %s is of another build than this seqmix: make mpi", program);
    snprintf(saved, sizeof saved, "%s/run.safetensors", w->ranks);
    snprintf(stopped, sizeof stopped, "%s.stopped", saved);
    snprintf(ranks, sizeof ranks, "%ld", w->o.job.ranks);
    snprintf(seconds, sizeof seconds, "%lds", w->o.job.seconds);
    if (mkdir(w->ranks, 0777) && !job_is_there(w->ranks))
        return cli_fail("%s cannot be made a folder", w->ranks);
    bring(w, saved);
    const int begun = job_is_there(w->checkpoint);
    char *text = training_config(&w->j);
    if (!text) return cli_fail("out of memory");
    const char *const words[] = {
        "mpirun", "-n",     ranks, program,        "train", begun ? w->changes : text, "--eval",
        "0",      "--save", saved, "--save-every", seconds, begun ? "--load" : NULL,   w->checkpoint,
        NULL};
    // On this machine alone, and not only where a scheduler counts as many places as there are processes.
    setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 0);
    setenv("OMPI_MCA_plm", "isolated", 0);
    setenv("OMPI_MCA_ras", "^slurm", 0);
    const double wall = cli_seconds();
    const int status = process_run("mpirun", words, saved, &w->ranks_processor_seconds);
    w->ranks_seconds = cli_seconds() - wall;
    free(text);
    bring(w, saved);
    unlink(stopped);
    rmdir(w->ranks);
    if (process_stopped()) return 75;
    if (status == 2 && !job_is_there(w->checkpoint) && !w->ranks_processor_seconds) return 2;
    if (status) cli_note("mpirun ended with %d: one process goes on from what was saved", status);
    return 0;
}
