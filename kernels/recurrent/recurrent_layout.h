// recurrent_layout.h: how recurrent.c divides its scratch, in floats. Also what recurrent_scratch.c reports.
#ifndef SMX_RECURRENT_LAYOUT_H
#define SMX_RECURRENT_LAYOUT_H

#include <seqmix/smx.h>

#include "kernels/core/sizes.h"

enum { RECURRENT_PANEL = 32 }; // columns of the widest panel

typedef struct {
    size_t a;      // [B][gates E]: h U; backward: one row's part of da
    size_t state;  // [B][2][E]: h, c; backward: their gradients
    size_t row;    // [5][E]: what one row keeps, or room
    size_t panels; // U, backward its transpose, as recurrent.c lays it out
    size_t da;     // GRU's backward: [B][L][3 E]
    size_t gemm;   // what smx_gemm asks for
    uint64_t floats;
} recurrent_layout;

static inline recurrent_layout recurrent_layout_of(const smx_recurrent *p, int backward) {
    const size_t wide = (4 * p->E + 15) / 16 * 16; // of four gates, whole registers
    recurrent_layout w = {0};
    uint64_t at = 0;
    w.a = at, at += size_mul(p->B, wide);
    w.state = at, at += size_mul(p->B, wide);
    w.row = at, at += 2 * wide;
    w.panels = at, at += size_mul(backward ? wide : p->E, (backward ? p->E : wide) + RECURRENT_PANEL - 1);
    w.da = at, at += backward ? size_mul(p->B, p->L, wide) : 0;
    w.gemm = at, at += smx_gemm_scratch_bytes(1, 1, SMX_KC) / sizeof(float);
    w.floats = at;
    return w;
}

#endif
