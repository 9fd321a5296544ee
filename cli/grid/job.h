// job.h: a job is one training that a grid asks for: a complete config of one run, how many held-out
// sequences judge it, what is in the files that it reads, and the name that these give it. The same job has
// the same name on every machine, so that a folder of results knows what is done.
#ifndef CLI_GRID_JOB_H
#define CLI_GRID_JOB_H

#include <stdint.h>
#include <stdio.h>

#include "model/settings/config.h"

enum { JOB_NAME = 17, JOB_EVAL = 1000, JOB_PATH = 4096 };

// What a line says of its job beside config and folder.
typedef struct {
    long eval, every, seconds, ranks; // --eval, --every, --save-every, --ranks
} job_options;
enum { JOB_SAVE_EVERY = 60 };
#define JOB_OPTIONS                                                                                          \
    { JOB_EVAL, 0, JOB_SAVE_EVERY, 1 }
// " --eval 20": those that are not the usual ones.
void job_print_options(const job_options *o, FILE *to);

typedef struct {
    char *config; // complete, numbers in their shortest spelling, without threads
    char *told;   // of it, what is not the language's own default (usual.h): what the name is made of
    char *threads;
    long eval;
    long every;            // judged also while it trains, every so many steps; 0: not
    uint64_t data;         // a digest of the files that it reads; 0: none, or not known
    char name[JOB_NAME];   // 16 hexadecimal digits: see job_name
    char before[JOB_NAME]; // the name that the first builds of version 0.1.0 gave; goes with the next version
} job;

// As if it read no file. 0; -1: out of memory. job_free in any case.
int job_of(job *j, const config *c, long eval, long every);
void job_free(job *j);
// Reads what the config's text=, file=, folder= or images hold, so that the job is that of today's files: 0,
// or -1 with the error. Jobs that read none stay as they are.
int job_read_files(job *j, const config *c, smx_error *error);

// Where the folder has the job's result or checkpoint under the name of before, and neither under today's,
// that is its name from now on.
void job_find(job *j, const char *folder);
// Is this its config? An older build's lacks keys. 1 or 0.
int job_is(const job *j, const char *config_text);

// FNV-1a 64 of job.told (before: of job.config), of eval where it is not JOB_EVAL, and of every and data
// where they are not 0.
void job_name(char to[JOB_NAME], const char *config_text, long eval, long every, uint64_t data);

// FOLDER/ab/abcd0123456789ef + ending: 256 folders, so that a million results are some thousands in each. -1:
// too long.
int job_path(const job *j, const char *folder, const char *ending, char path[JOB_PATH]);

#endif
