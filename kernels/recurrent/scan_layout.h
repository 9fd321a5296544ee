// scan_layout.h: how ema.c and scan.c divide their scratch, in floats. Also what scan_scratch.c reports.
#ifndef SMX_SCAN_LAYOUT_H
#define SMX_SCAN_LAYOUT_H

#include "kernels/core/sizes.h"

enum { SCAN_ROWS = 32 }; // rows of a segment: backward holds this many states of 16 channels

// A block is S states of 16 channels; `all` those of every channel. Coefficients (3 blocks a group in ema,
// one in scan), the running state, sums over time (3 a group), the part of a segment (3 blocks), and a
// segment's states and decays.
typedef struct {
    size_t block, all, segments, coefficients, state, total, part, rows, decays;
    uint64_t floats;
} scan_layout;
static inline scan_layout scan_layout_of(size_t L, size_t D, size_t S) {
    scan_layout l = {0};
    const uint64_t block = size_mul(S, 16), all = size_mul((D + 15) / 16, block);
    l.block = block;
    l.all = all;
    l.segments = (L + SCAN_ROWS - 1) / SCAN_ROWS;
    uint64_t at = 0;
    l.coefficients = at, at += 3 * all;
    l.state = at, at += all;
    l.total = at, at += 3 * all;
    l.part = at, at += 3 * block;
    l.rows = at, at += size_mul(SCAN_ROWS + 1, block);
    l.decays = at, at += size_mul(SCAN_ROWS, block);
    l.floats = at;
    return l;
}

// Where the segment of row t0 ends, at most at L; row 0 is row `at` of its sequence.
static inline size_t scan_segment_end(size_t at, size_t t0, size_t L) {
    const size_t rest = SCAN_ROWS - (at + t0) % SCAN_ROWS;
    return L - t0 < rest ? L : t0 + rest;
}

#endif
