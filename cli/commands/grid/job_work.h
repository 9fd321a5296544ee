// job_work.h: a job at work: what it was told, its files in the folder of results, its training.
#ifndef CLI_COMMANDS_JOB_WORK_H
#define CLI_COMMANDS_JOB_WORK_H

#include "cli/grid/held_out.h"
#include "cli/grid/plan/plan.h"

enum { TRY_AGAIN = 75 }; // an exit status: sysexits.h's EX_TEMPFAIL

typedef struct {
    const char *config, *out, *plan;
    job_options job;
    long rung, threads; // threads 0: as the config says
} job_words;
typedef struct {
    job_words o;
    job j;
    int rival;             // of a line that is another job's, or none's
    uint64_t steps, until; // of the whole training, of this rung of it
    int scratch;           // the checkpoint there is of more steps: it is left alone
    char path[JOB_PATH],   // of the result, or of that at the rung
        whole[JOB_PATH], checkpoint[JOB_PATH], claim[JOB_PATH], held_out_file[JOB_PATH], failed[JOB_PATH],
        ranks[JOB_PATH]; // a folder
    smx_run *run;
    smx_metrics m;
    char *changes; // to the config of a checkpoint
    held_out_curve held_out;
    uint64_t from, saved_step;
    double saved;
    double ranks_seconds, ranks_processor_seconds; // of the processes of --ranks
} job_work;

// job_train.c. Exit statuses: 0; 75: a signal, or another worker is at it; 2 with the sentence printed.
// Whose training it is: of the config, as the files say that it reads, up to the plan's rung, 0 on (p NULL:
// to the end). job_done_with in any case.
int job_prepare(job_work *w, const config *c, const plan *p, size_t rung);
int job_work_on(job_work *w, int *computed); // *computed: by this process, now
void job_done_with(job_work *w);
int job_compute(job_work *w, const config *c, const plan *p, size_t rung, int *computed); // these three
int job_compute_rival(const plan *p, const job_words *o, size_t which, size_t rung);

// job_files.c. 0, or 2 with the sentence printed.
int job_find_paths(job_work *w);
int job_make_folder(const job_work *w);
int job_is_there(const char *path);
// What cannot be used is nobody's to delete: it gets another name.
int job_set_aside(const char *path, const char *why);
// What lies about of a training that is over.
void job_clear_away(const job_work *w);
// Whether there is a result of the job or its rung, also where the whole training is over because it
// diverged: 1, and it is printed; 0; 2 with the sentence printed.
int job_is_done(job_work *w);
int job_write_result(const job_work *w, const result *r); // and prints it
// For who watches: host, time and sentence. Gone with the result.
void job_note_failure(const job_work *w);

// job_process.c: another program at work for a job, which hears of the signals that the job hears.
// Between these two, HUP, INT, TERM and USR1 are kept for process_stopped, and sent on as TERM, or, where the
// program saves first, as USR1, with TERM after that.
void process_listen(void);
void process_hear_no_more(void);
int process_stopped(void); // the signal heard last, 0: none
// Starts and awaits it: its exit status, 75 where a signal ended it; 2 with the sentence printed where it
// cannot be started. saves: the file that it writes on USR1 (NULL: none); where it has one, its standard
// error is this program's, else what it says goes nowhere. *busy (NULL allowed): processor seconds that it
// took.
int process_run(const char *program, const char *const words[], const char *saves, double *busy);

// job_ranks.c: job --ranks N: the training by seqmix-mpi under mpirun, its bytes those of one process.
// Leaves a checkpoint of the last step, or of where the processes ended: one process goes on from there. 0,
// or the exit status: 75 after a signal, 2 with the sentence printed. Between process_listen and
// process_hear_no_more.
int ranks_train(job_work *w);

// job_rivals.c: what is left of a plan: rung by rung, those that go on and that nobody works on, in this
// process. Decisions hang on results alone, so that every worker makes the same ones.
// Who ended the first rung goes on, and leaves at once where others do. wait: until all of it is done. 0, 75
// after a signal, 2 with the sentence printed.
int rivals_finish(const plan *p, const job_words *o, int wait);

#endif
