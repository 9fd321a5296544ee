// job_ranks.h: job --ranks N: the training by seqmix-mpi under mpirun, its bytes those of one process.
#ifndef CLI_COMMANDS_JOB_RANKS_H
#define CLI_COMMANDS_JOB_RANKS_H

#include "job_work.h"

// Leaves a checkpoint of the last step, or of where the processes ended: one process goes on from there. 0,
// or the exit status: 75 after a signal, 2 with the sentence printed. Between process_listen and
// process_hear_no_more.
int ranks_train(job_work *w);

#endif
