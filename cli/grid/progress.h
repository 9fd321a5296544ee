// progress.h: how far a grid's folder is: from the names of its files, and from what workers say of
// themselves.
#ifndef CLI_GRID_PROGRESS_H
#define CLI_GRID_PROGRESS_H

#include "claim.h"
#include "job.h"

typedef struct {
    char name[JOB_NAME];
    claim_state claim;
} progress_running;
typedef struct {
    char name[JOB_NAME];
    char host[256], why[2000], about[2000];
    double ago; // seconds, by the file system's clock
} progress_failed;
typedef struct {
    size_t begun, left_behind; // begun: and nobody is at them; left behind at a rung
    size_t n_running, n_failed;
    time_t now; // where there is one that failed
    progress_running *running;
    progress_failed *failed;
} progress;

// 0, or 2 with the sentence printed. progress_free in any case. What vanishes meanwhile is not there.
int progress_of(progress *p, const char *folder);
void progress_free(progress *p);

// How many jobs there are in a list or a Slurm script of `seqmix grid`, whose plans are in the folder: 0: it
// is neither.
size_t progress_jobs(const char *path, const char *folder);

// The same of its text (folder NULL: a line of a plan counts as one), and of what a job that failed left (not
// how long ago): both are cut into lines.
size_t progress_count(char *text, const char *folder);
void progress_parse_failed(char *text, progress_failed *failed);

#endif
