// scan_layout.h: how ema.c and scan.c divide their scratch, in floats. Also what scan_scratch.c reports.
#ifndef SMX_SCAN_LAYOUT_H
#define SMX_SCAN_LAYOUT_H

#include <stddef.h>

enum { SCAN_ROWS = 32 }; // rows between kept states: backward holds this many states, and L / SCAN_ROWS kept ones

// In blocks of S states of 16 channels. ema: 3 coefficients, g, 3 sums and their 3 parts, SCAN_ROWS + 1 states, kept
// ones. scan: A, g, a sum and its part, SCAN_ROWS + 1 states, SCAN_ROWS decays, kept ones.
static inline size_t scan_blocks(size_t L) { return 11 + 2 * SCAN_ROWS + L / SCAN_ROWS + 1; }

#endif
