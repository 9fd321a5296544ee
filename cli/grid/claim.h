// claim.h: who works on a job: a file beside its result, made exclusively, which says host and process and is
// touched while they live. No locks: NFS will do. What a claim prevents is work done twice; where it fails (a
// clock that jumps, a machine asleep for minutes), two workers compute the same bytes, and no harm is done.
#ifndef CLI_GRID_CLAIM_H
#define CLI_GRID_CLAIM_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

enum { CLAIM_WHO = 400 };

// The process has one claim at a time. 0: it is this process's; 1: another's that lives, `who` filled: "host
// (process 12, step 3 of 9)"; 2 with the sentence printed. A claim whose process is dead (on this machine) or
// that was not touched for two minutes by the file system's own clock is taken over.
// about: the job's config, for who watches.
int claim_take(const char *path, const char *about, char who[CLAIM_WHO]);
// Shown to others from the next touch on.
void claim_progress(uint64_t step, uint64_t steps);
// Another worker has taken it over: this one was thought dead.
int claim_lost(void);
void claim_release(void); // also where there is none

// Reads a claim for who watches: 0, or -1: there is none. `lives` as above, but judged by time alone where
// the process is on another machine.
typedef struct {
    char host[256];
    long pid;
    uint64_t step, steps;
    char about[2000];
    double touched; // seconds ago, by the file system's clock
    int lives;
} claim_state;
int claim_read(const char *path, claim_state *state);

// Now, as the file system of the file tells it, which also told when the file was written: clocks of machines
// do not enter. (Of a folder that may only be read it is this machine's time.)
time_t claim_time_there(const char *path);

// What a claim says, in its words; pid 0 where it says none, or says it in part (it is being written).
enum { CLAIM_LINE = 700 };
typedef struct {
    claim_state state;                              // not touched, lives
    char machine[160], began[32], line[CLAIM_LINE]; // the first line, as a whole
} claim_content;
void claim_parse(const char *text, claim_content *c);

#endif
