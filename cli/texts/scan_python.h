// scan_python.h: a text's scan as Python: a loop over rows, each of its lines a line, over scan_* of
// cli/export/scan.py. Of each value the first axes are [batch][heads].
#ifndef CLI_SCAN_PYTHON_H
#define CLI_SCAN_PYTHON_H

#include "model/equations/scan.h"

// Written piece by piece through say. out: the name of the result; input(of, i, to): that of input i, at
// most 40 bytes. How a weight is called stands in w['NAME'].
typedef struct {
    void *of;
    void (*say)(void *of, const char *text);
    void (*input)(void *of, size_t i, char to[40]);
} scan_python_writer;
void cli_scan_python(const equation_scan *s, const char *out, const scan_python_writer *w);

#endif
