// landmark_layout.h: how landmark.c divides its scratch, in floats. Also what landmark_scratch.c reports.
#ifndef SMX_LANDMARK_LAYOUT_H
#define SMX_LANDMARK_LAYOUT_H

#include "attention.h"

typedef struct {
    size_t blocks, Bp, marks, d, dp; // all blocks; block, complete blocks and width rounded up to registers
    size_t q, raw_q;                 // [QUERY_ROWS][dp], times scale and as it is
    size_t kt;                       // [blocks][d][Bp]: k transposed, block by block
    size_t v;                        // [L][dp]
    size_t lt;                       // [d][marks]: landmarks transposed
    size_t score;                    // [QUERY_ROWS][marks]
    size_t s;                        // [QUERY_ROWS][2 Bp]: chosen block, own block
    size_t o;                        // [QUERY_ROWS][dp]
    size_t k, vt, dout, ds, dk, dv;  // backward only: [L][dp], as kt, as q, as s, [L][dp] twice
    uint64_t floats;
} landmark_layout;

static inline landmark_layout landmark_layout_of(const smx_landmark *p, int backward) {
    landmark_layout w = {0};
    uint64_t at = 0;
    w.blocks = (p->L + p->block - 1) / p->block;
    w.Bp = (p->block + 15) / 16 * 16;
    w.marks = (p->L / p->block + 15) / 16 * 16;
    w.d = p->D / p->H;
    w.dp = attention_padded_width(w.d);
    const uint64_t panels = size_mul(w.blocks, w.d, w.Bp), rows = size_mul(p->L, w.dp),
                   group = size_mul(QUERY_ROWS, w.dp);
    w.q = at, at += group;
    w.kt = at, at += panels;
    w.s = at, at += size_mul(QUERY_ROWS, 2, w.Bp);
    w.o = at, at += group;
    if (!backward) {
        w.raw_q = at, at += group;
        w.v = at, at += rows;
        w.lt = at, at += size_mul(w.d, w.marks);
        w.score = at, at += size_mul(QUERY_ROWS, w.marks);
    } else {
        w.k = at, at += rows;
        w.vt = at, at += panels;
        w.dout = at, at += group;
        w.ds = at, at += size_mul(QUERY_ROWS, 2, w.Bp);
        w.dk = at, at += rows;
        w.dv = at, at += rows;
    }
    w.floats = at;
    return w;
}

#endif
