// linattn_layout.h: how linattn.c divides its scratch, in floats. Also what linattn_scratch.c reports.
#ifndef SMX_LINATTN_LAYOUT_H
#define SMX_LINATTN_LAYOUT_H

#include "kernels/attention/attention.h"

typedef struct {
    size_t C, Cp, d, dp;               // block rows; rounded up to whole tiles and registers
    size_t q, k, v;                    // [C][dp]
    size_t kt;                         // [Cp/TILE_N][d][TILE_N]
    size_t a;                          // [QUERY_ROWS][Cp]
    size_t o;                          // [QUERY_ROWS][dp]
    size_t state, sum;                 // [H][d][dp], [H][dp]
    size_t dout, vt, da, dk, dv, back; // backward only: [C][dp], as kt, as a, [C][dp] twice, second states
    size_t dden;                       // [C]
    uint64_t floats;
} linattn_layout;

static inline linattn_layout linattn_layout_of(const smx_linattn *p, int backward) {
    linattn_layout w = {0};
    uint64_t at = 0;
    w.C = p->C && p->C < p->L ? p->C : p->L;
    w.Cp = attention_padded(w.C);
    w.d = p->D / p->H;
    w.dp = attention_padded_width(w.d);
    const uint64_t rows = size_mul(w.C, w.dp), states = size_mul(p->H, w.d, w.dp);
    w.q = at, at += rows;
    w.k = at, at += rows;
    w.v = at, at += rows;
    w.kt = at, at += size_mul(w.d, w.Cp);
    w.a = at, at += size_mul(QUERY_ROWS, w.Cp);
    w.o = at, at += size_mul(QUERY_ROWS, w.dp);
    w.state = at, at += states;
    w.sum = at, at += size_mul(p->H, w.dp);
    if (backward) {
        w.dout = at, at += rows;
        w.vt = at, at += size_mul(w.d, w.Cp);
        w.da = at, at += size_mul(QUERY_ROWS, w.Cp);
        w.dk = at, at += rows;
        w.dv = at, at += rows;
        w.back = at, at += states;
        w.dden = at, at += w.Cp;
    }
    w.floats = at;
    return w;
}

// What one head carries from push to push: state [d][dp] and sum [dp] before its block, then the block's k
// and v [C][dp].
static inline uint64_t linattn_carried_floats(const linattn_layout *l) {
    return size_mul(l->d, l->dp) + l->dp + size_mul(2, l->C, l->dp);
}

#endif
