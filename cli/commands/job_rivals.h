// job_rivals.h: what a job at a rung waits for: the results of its rivals at the rung before. Those that
// nobody works on are computed by whoever needs them.
#ifndef CLI_COMMANDS_JOB_RIVALS_H
#define CLI_COMMANDS_JOB_RIVALS_H

#include "cli/grid/plan.h"

enum { RIVALS_GO_ON, RIVALS_LEFT_BEHIND, RIVALS_WAIT, RIVALS_FAILED };

// Whether the config goes on from rung 0 on. RIVALS_WAIT: a signal came first; RIVALS_FAILED with the
// sentence printed. Before any other thread is made.
int rivals_decide(const plan *p, const char *folder, const job_options *o, size_t rung,
                  const char *config_text);

#endif
