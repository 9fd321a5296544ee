// cli.h: what the program's commands share. A command returns the exit status: 0 done, 1 a check failed, 2
// bad input (one sentence on standard error).
#ifndef SMX_CLI_H
#define SMX_CLI_H

#include <stdio.h>

#include <seqmix/run.h>

#include "options.h"

extern const cli_command cli_train, cli_eval, cli_generate, cli_read, cli_data, cli_sweep, cli_presets,
    cli_selfcheck, cli_bench, cli_oracle, cli_vectors, cli_compare, cli_judge, cli_audit, cli_equations,
    cli_check, cli_export, cli_import, cli_grid, cli_job, cli_collect, cli_report, cli_watch, cli_reproduce,
    cli_completion, cli_help;
extern const cli_command *const *cli_commands; // every one, ends with NULL; main says which
// A manual page: of the program, or of the config language.
void cli_man_program(void);
void cli_man_config(void);

// "seqmix: message" on standard error, control characters of what a file or an argument said made harmless;
// returns 2.
int cli_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
const char *cli_failed(void); // the last such message, "" before one
// The same as a note: "seqmix: note: ..."
void cli_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
// text with every control character as \xNN, cut to size.
void cli_printable(char *to, size_t size, const char *text);
// JSON on standard output, valid whatever the value: a string in quotes;
// a number with so many digits, null where it is not finite.
void cli_json_text(const char *text);
void cli_json_number(double x, int digits);
void cli_put_json_text(FILE *to, const char *text); // the same elsewhere
void cli_put_quoted(FILE *to, const char *text);    // a word in the shell's quotes
void cli_put_json_number(FILE *to, double x, int digits);

// screen.c: how wide the terminal of standard error is, 0 where it is none.
int cli_columns(void);

// clock.c
double cli_seconds(void);           // monotonic
double cli_processor_seconds(void); // of all threads: what other programs do hardly changes it

// threads.c: give the run as many threads as its config asks for.
void cli_use_threads(smx_run *run);
// n threads as smx_run_parallel takes them, the pool valid until the program ends; NULL where one is enough.
smx_parallel_for cli_threads(int n, void **pool);

// memory.c: bytes that the program may take, of the machine whose files stand below root (""); *group: a
// control group allows less than there is.
double cli_memory(const char *root, int *group);
// Where training holds more than that: 2 with the sentence printed; else 0.
int cli_refuse_too_large(const smx_run *run);

// runs.c. Where one run is meant, a config of several (~ in it, or a preset that has them) would be read in
// part, and is refused: 2 with the sentence printed, or 0.
int cli_refuse_several(const char *command, const char *config);
// The run of a checkpoint with changes to its config (NULL: none); NULL with the sentence printed.
smx_run *cli_load_run(const char *file, const char *changes);
// Says that a complete config's images, under changes to it ("": none), are procedural digits;
// "" where they are not.
const char *cli_images(const char *config, const char *changes);
// The same as a note on standard error, once until it changes.
void cli_note_images(const char *config, const char *changes);
// A note for each key given that a run of the config `read` does not read: another mixer's or task's.
void cli_note_unread(const char *read, const char *given);
// What an evaluation is judged by: "r2", "bits" (per character) or "accuracy";
// *value (NULL allowed): how much of it.
const char *cli_measure(const smx_evaluation *e, double *value);
double cli_bits(const smx_evaluation *e); // 0 for regression

// files.c: whole files. read: malloc'ed, NULL with a message printed.
void *cli_read_file(const char *path, size_t *size);
// write: readers of path see the old file or the new one, whole, also after a crash; 0 or 2.
// See files.c for links, devices, owners.
int cli_write_file(const char *path, const void *bytes, size_t size);
// The same of several pieces, with the reason left to the caller: 0, or -1 with one sentence in why. Not
// durable: one of a set that is synced when it is whole.
typedef struct {
    const void *bytes;
    size_t size;
} cli_piece;
int cli_write_pieces(const char *path, const cli_piece *pieces, size_t n, int durable, char *why,
                     size_t size);
// cli_write_file into a folder that other machines write into, too: their temporaries are left alone, as a
// lock says little about them over a network. Two that write the same path do no harm: the last one stays.
int cli_write_shared(const char *path, const void *bytes, size_t size);
void cli_sweep_folder(const char *folder); // removes what dead writers left there
// Would cli_write_file find its folder writable? 0 or 2: asked before a long training, not after it.
int cli_can_write(const char *path);

// folders.c. Makes the folder and those above it, and holds it until the program ends or makes another:
// programs that write a set of files into the same folder take turns. 0, or 2 with a message that begins with
// `option`.
int cli_make_folder(const char *path, const char *option);
// The folders alone, without taking turns.
int cli_make_folders(const char *path, const char *option);
// After the files of the set (all but the manifest that says it is whole, if it has one):
// they are on the disk.
void cli_finish_folder(void);

#endif
