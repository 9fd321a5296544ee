// job.h: a job is one training that a grid asks for: a complete config of one run, how many held-out
// sequences judge it, and the name that both give it. The same job has the same name on every machine, so
// that a folder of results knows what is done.
#ifndef CLI_GRID_JOB_H
#define CLI_GRID_JOB_H

#include "model/settings/config.h"

enum { JOB_NAME = 17, JOB_EVAL = 1000, JOB_PATH = 4096 };

typedef struct {
    char *config; // complete, numbers in their shortest spelling, without threads: what the name is made of
    char *threads;
    long eval;
    char name[JOB_NAME]; // 16 hexadecimal digits: FNV-1a 64 of config, and of eval where it is not JOB_EVAL
} job;

// 0; -1: out of memory. job_free in any case.
int job_of(job *j, const config *c, long eval);
void job_free(job *j);

// The name of a job's config and eval.
void job_name(char to[JOB_NAME], const char *config_text, long eval);

// FOLDER/ab/abcd0123456789ef + ending: 256 folders, so that a million results are some thousands in each. -1:
// too long.
int job_path(const job *j, const char *folder, const char *ending, char path[JOB_PATH]);

#endif
