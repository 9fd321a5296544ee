// report.h: the page of a table.
#ifndef CLI_COMMANDS_REPORT_H
#define CLI_COMMANDS_REPORT_H

#include "cli/grid/table/table.h"

// Writes FOLDER/report.html, or `out` (NULL: not given). again: the page loads itself again after so many
// seconds; 0: it does not, and its path is printed. 0, or 2 with the sentence printed.
int report_write(const char *folder, const table *t, const char *best, const char *baseline, int equal,
                 const char *out, long again);

#endif
