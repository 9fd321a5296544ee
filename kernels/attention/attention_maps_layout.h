// attention_maps_layout.h: how attention_maps.c divides its scratch, in floats. Also what scratch.c reports.
#ifndef SMX_ATTENTION_MAPS_LAYOUT_H
#define SMX_ATTENTION_MAPS_LAYOUT_H

#include "attention.h"

typedef struct {
    size_t n, Lp, d, dp;
    size_t q, kt, v, a;     // per head: [n][dp], panels [d][Lp], [n][dp], [QUERY_ROWS][Lp]
    size_t o, mixed;        // [QUERY_ROWS][dp], [QUERY_ROWS][Lp]
    size_t k, dout, vt, da; // backward only, per head
    uint64_t floats;
} maps_layout;

static inline maps_layout maps_layout_of(const smx_attention *p, int backward) {
    maps_layout w = {0};
    uint64_t at = 0;
    w.n = attention_rows(p);
    w.d = p->D / p->H;
    w.Lp = attention_padded(w.n);
    w.dp = attention_padded_width(w.d);
    const uint64_t rows = size_mul(p->H, w.n, w.dp), panels = size_mul(p->H, w.d, w.Lp),
                   scores = size_mul(p->H, QUERY_ROWS, w.Lp);
    w.q = at, at += rows;
    w.kt = at, at += panels;
    w.v = at, at += rows;
    w.a = at, at += scores;
    w.o = at, at += size_mul(QUERY_ROWS, w.dp);
    w.mixed = at, at += size_mul(QUERY_ROWS, w.Lp);
    if (backward) {
        w.k = at, at += rows;
        w.dout = at, at += rows;
        w.vt = at, at += panels;
        w.da = at, at += scores;
    }
    w.floats = at;
    return w;
}

#endif
