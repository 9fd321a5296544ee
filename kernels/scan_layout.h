// scan_layout.h: how ema.c and scan.c divide their scratch, in floats. Also what scan_scratch.c reports.
#ifndef SMX_SCAN_LAYOUT_H
#define SMX_SCAN_LAYOUT_H

#include <stddef.h>

enum { SCAN_ROWS = 32 }; // rows of a segment: backward holds this many states of 16 channels

// A block is S states of 16 channels; `all` those of every channel. Coefficients (3 blocks a group in ema,
// one in scan), the running state, sums over time (3 a group), the part of a segment (3 blocks), and a
// segment's states and decays.
typedef struct {
    size_t block, all, segments, coefficients, state, total, part, rows, decays, floats;
} scan_layout;
static inline scan_layout scan_layout_of(size_t L, size_t D, size_t S) {
    scan_layout l = {0};
    l.block = S * 16;
    l.all = (D + 15) / 16 * l.block;
    l.segments = (L + SCAN_ROWS - 1) / SCAN_ROWS;
    l.state = 3 * l.all;
    l.total = l.state + l.all;
    l.part = l.total + 3 * l.all;
    l.rows = l.part + 3 * l.block;
    l.decays = l.rows + (SCAN_ROWS + 1) * l.block;
    l.floats = l.decays + SCAN_ROWS * l.block;
    return l;
}

// Where the segment of row t0 ends, at most at L; row 0 is row `at` of its sequence.
static inline size_t scan_segment_end(size_t at, size_t t0, size_t L) {
    const size_t rest = SCAN_ROWS - (at + t0) % SCAN_ROWS;
    return L - t0 < rest ? L : t0 + rest;
}

#endif
