// collect_keep.h: the winners' weights.
#ifndef CLI_COMMANDS_COLLECT_KEEP_H
#define CLI_COMMANDS_COLLECT_KEEP_H

#include "cli/grid/table/summary.h"

// 0; 1: some cannot be had back to the bit, each with a note; 2 with the sentence printed.
int collect_keep(const summary *s, const char *folder);

#endif
