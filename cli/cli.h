// cli.h: the program's commands. Each takes what follows its name and returns the exit status: 0 done, 1 a check failed,
// 2 bad input (one sentence on standard error).
#ifndef SMX_CLI_H
#define SMX_CLI_H

#include <seqmix/run.h>

typedef struct {
    const char *name, *help; // help: "usage: what it does"
    int (*run)(int, char **);
} cli_command;

int cli_train(int argc, char **argv);
int cli_eval(int argc, char **argv);
int cli_selfcheck(int argc, char **argv);
int cli_data(int argc, char **argv);
int cli_presets(int argc, char **argv);
int cli_audit(int argc, char **argv);
int cli_bench(int argc, char **argv);
int cli_sweep(int argc, char **argv);
int cli_help(int argc, char **argv);
// A manual page: which is "--man" (the program) or "--man=config".
int cli_man(const char *which, const cli_command *commands, size_t n);
int cli_oracle(int argc, char **argv);
int cli_compare(int argc, char **argv);
int cli_vectors(int argc, char **argv);

// "seqmix: message" on standard error; returns 2.
int cli_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
double cli_seconds(void);           // monotonic
double cli_processor_seconds(void); // of all threads: what other programs do hardly changes it

// threads.c: give the run as many threads as its config asks for.
void cli_use_threads(smx_run *run);
int cli_has_threads(void); // whether this build has them at all
// n threads as smx_run_parallel takes them; NULL where one is enough.
smx_parallel_for cli_threads(int n, void **pool);

// options.c. A whole number in lo..hi, or a file's name, after option argv[*i]: 0, or 2 with the sentence printed.
int cli_read_count(int argc, char **argv, int *i, long lo, long hi, long *to);
int cli_read_path(int argc, char **argv, int *i, const char **to);
// The run of a checkpoint with changes to its config (NULL: none); NULL with the sentence printed.
smx_run *cli_load_run(const char *file, const char *changes);
// Says that a complete config's images, under changes to it ("": none), are procedural digits; "" where they are not.
const char *cli_images(const char *config, const char *changes);
// The same as a note on standard error, once until it changes.
void cli_note_images(const char *config, const char *changes);
// What an evaluation is judged by: "r2", "bits" (per character) or "accuracy"; *value (NULL allowed): how much of it.
const char *cli_measure(const smx_evaluation *e, double *value);
double cli_bits(const smx_evaluation *e); // 0 for regression

// files.c: whole files. read: malloc'ed, NULL with a message printed. write: to a temporary beside it, then renamed, so
// that no half-written file is left; 0 or 2.
void *cli_read_file(const char *path, size_t *size);
int cli_write_file(const char *path, const void *bytes, size_t size);
// Would cli_write_file find its folder writable? 0 or 2: asked before a long training, not after it.
int cli_can_write(const char *path);

#endif
