// result.h: what became of a job, and its file: a JSON object in one line. What training and data decide
// comes first and has the same bytes wherever it was computed; who computed it stands apart; a checksum ends
// it.
#ifndef CLI_GRID_RESULT_H
#define CLI_GRID_RESULT_H

#include <stdint.h>
#include <stdio.h>

#include <seqmix/run.h>

#include "job.h"

enum { RESULT_CURVE = 200 }; // points of a loss curve at most

typedef struct {
    char *host, *isa;
    char build[17]; // builds.h; "" of a program that did not say
    long threads;
    uint64_t from;                     // the step of the checkpoint that it went on from
    double seconds, processor_seconds; // since then
    double ended;                      // of Unix time
} result_machine;

typedef struct {
    char name[JOB_NAME];
    char *config; // as in job
    long eval, every;
    uint64_t data; // of the job
    char *stopped; // "", or why the training ended before its last step: it will end so everywhere
    uint64_t step, params, digest;
    double loss; // of the last step
    uint32_t word;
    char metric[16];
    double value; // what it is judged by, NaN where it stopped
    double accuracy, sequence_accuracy, r2, bits, held_out_loss;
    double choice;   // `value` on other held-out sequences: what a best is chosen by; NaN: not known
    uint64_t stride; // of the curve: the mean training loss of so many steps each, and of what is left
    size_t n_curve;
    double curve[RESULT_CURVE];
    size_t n_held_out; // the measure of `choice` every `every` steps
    double *held_out;
    result_machine machine;
} result;

void result_free(result *r);

// Of a run that was trained. stopped: the sentence, "" for none; e: its evaluation, NULL: it was not judged.
// The machine is this one. 0, or -1: out of memory.
int result_of(result *r, const job *j, smx_run *run, const char *stopped, const smx_evaluation *e);

// {"name":...,"curve":[...]} without the closing brace: what is the same everywhere.
void result_print(const result *r, FILE *to);
void result_print_machine(const result *r, FILE *to); // {...}
// Beside name, config and machine, and what an older program did not write: 0: all the same; 1: not, the
// first that is not in what: "digest a and b"; -1: out of memory.
int result_differs(const result *a, const result *b, char *what, size_t size);
// The whole file, malloc'ed, with its checksum; NULL: out of memory.
char *result_text(const result *r, size_t *size);

// Reads such a text. RESULT_WHOLE; RESULT_OTHER: whole, of another version of seqmix; RESULT_DAMAGED: not
// one, or not all of it. why: what is wrong with it, for "FILE why".
enum { RESULT_WHOLE, RESULT_OTHER, RESULT_DAMAGED };
int result_read(result *r, const char *text, size_t size, char *why, size_t why_size);

#endif
