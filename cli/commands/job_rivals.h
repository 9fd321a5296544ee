// job_rivals.h: what is left of a plan: rung by rung, those that go on and that nobody works on, in this
// process. Decisions hang on results alone, so that every worker makes the same ones.
#ifndef CLI_COMMANDS_JOB_RIVALS_H
#define CLI_COMMANDS_JOB_RIVALS_H

#include "job_work.h"

// Who ended the first rung goes on, and leaves at once where others do. wait: until all of it is done. 0, 75
// after a signal, 2 with the sentence printed.
int rivals_finish(const plan *p, const job_words *o, int wait);

#endif
