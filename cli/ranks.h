// ranks.h: the processes that share one training. ranks.c: there is one. ranks_mpi.c stands for it in
// seqmix-mpi, which mpirun starts as often as it is told to.
#ifndef CLI_RANKS_H
#define CLI_RANKS_H

#include <seqmix/parallel.h>

// First and last in main; end returns the status. All processes but the first are silent from start on.
void ranks_start(int *argc, char ***argv);
int ranks_end(int status);
const smx_ranks *ranks_all(void); // NULL: one process
// Whether it is the process that prints, saves and evaluates.
int ranks_first(void);
// Whether any of the processes says yes; all ask. 1 at once where one does not answer.
int ranks_any(int yes);
// While a message is waited for: 1 gives up waiting, as if the other did not answer.
void ranks_give_up(int (*asked)(void));
// A sentence of this process alone, which the first one cannot know.
void ranks_say(const char *message);
// Processor seconds that this process spent waiting for messages.
double ranks_waited(void);
// Bytes that all processes have sent; all ask.
unsigned long long ranks_sent(void);

#endif
