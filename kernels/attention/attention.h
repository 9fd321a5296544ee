// attention.h: sizes that the kernels of softmax attention and their scratch functions share,
// the same at every width.
#ifndef SMX_ATTENTION_H
#define SMX_ATTENTION_H

#include <seqmix/smx.h>

#include "kernels/core/sizes.h"

// Query rows held at a time: a multiple of every register tile's height (12 and 4). The same everywhere,
// because the gradients of keys and values are summed block by block.
enum { QUERY_ROWS = 24 };

static inline size_t attention_padded(size_t L) { return (L + 31) / 32 * 32; }
static inline size_t attention_padded_width(size_t d) { return (d + 15) / 16 * 16; }
// Rows that attend to each other: a chunk, or the whole sequence.
static inline size_t attention_rows(const smx_attention *p) {
    return p->chunk && p->chunk < p->L ? p->chunk : p->L;
}

// Row by row under a sliding window: rows that are kept behind the newest group, whole groups of query rows
// and panels of 32, so that sums fall as in the whole sequence; as many again come before they move down.
// 0: all rows are kept, as where tables by distance hang on the length.
static inline size_t attention_window(const smx_attention *p) {
    const int slides = p->sliding && !p->chunk && !p->decay_table && !p->bias && p->pool_window <= 1;
    const size_t rows = slides ? (p->sliding + 95) / 96 * 96 : 0;
    return 2 * rows < p->L ? rows : 0;
}

// One head of one chunk in scratch, offsets in floats.
typedef struct {
    size_t n, Lp, d, dp; // rows; n and d rounded up to whole tiles and registers
    size_t half;         // masked pooling: (P-1)/2, at most n; 0: off
    size_t band;         // masked pooling: the length of a row of weights near the diagonal; 0: off
    size_t q;            // [n][dp], times scale
    size_t kt;           // [Lp/TILE_N][d][TILE_N]: k transposed, panel by panel
    size_t v;            // [n][dp]
    size_t s;            // [QUERY_ROWS][Lp]
    size_t o;            // [QUERY_ROWS][dp]
    size_t pooled, near; // masked pooling: pooled v [n][dp]; weights near the diagonal [QUERY_ROWS][band]
    size_t stats;        // row by row only: [QUERY_ROWS][2]
    // backward only
    size_t k, dout;                // [n][dp]
    size_t vt;                     // as kt: of v, or of pooled v
    size_t ds;                     // [QUERY_ROWS][Lp]
    size_t raw_vt, dpooled, dnear; // masked pooling: v as kt; [n][dp]; [QUERY_ROWS][band]
    uint64_t floats;
} attention_layout;

enum { ATTENTION_FORWARD, ATTENTION_BACKWARD, ATTENTION_PUSH };
static inline attention_layout attention_layout_of(const smx_attention *p, int what) {
    attention_layout w = {0};
    uint64_t at = 0;
    w.n = attention_rows(p);
    w.d = p->D / p->H;
    w.dp = attention_padded_width(w.d);
    if (p->pool_window > 1) {
        w.half = (p->pool_window - 1) / 2 < w.n ? (p->pool_window - 1) / 2 : w.n;
        w.band = attention_padded(2 * w.half + QUERY_ROWS + 32);
    }
    const int backward = what == ATTENTION_BACKWARD, push = what == ATTENTION_PUSH;
    if (push && attention_window(p)) w.n = 2 * attention_window(p);
    w.Lp = attention_padded(w.n);
    const uint64_t rows = size_mul(push ? QUERY_ROWS : w.n, w.dp), panels = push ? 0 : size_mul(w.d, w.Lp);
    w.q = at, at += rows;
    w.v = at, at += push ? 0 : rows;
    w.kt = at, at += panels;
    w.s = at, at += size_mul(QUERY_ROWS, w.Lp);
    w.o = at, at += size_mul(QUERY_ROWS, w.dp);
    if (w.half) {
        w.pooled = at, at += push ? 0 : rows;
        w.near = at, at += size_mul(QUERY_ROWS, w.band);
    }
    w.stats = at, at += push ? 2 * QUERY_ROWS : 0;
    if (backward) {
        w.k = at, at += rows;
        w.dout = at, at += rows;
        w.vt = at, at += panels;
        w.ds = at, at += size_mul(QUERY_ROWS, w.Lp);
        if (w.half) {
            w.raw_vt = at, at += panels;
            w.dpooled = at, at += rows;
            w.dnear = at, at += size_mul(QUERY_ROWS, w.band);
        }
    }
    w.floats = at;
    return w;
}

// What one head keeps when rows come in pieces: k [Lp/KEPT_ROWS][d][KEPT_ROWS], v [Lp][dp], and v pooled,
// [Lp][dp].
enum { KEPT_ROWS = 32 };
static inline uint64_t attention_kept_floats(const attention_layout *w) {
    return size_mul(w->Lp, w->d + w->dp * (w->half ? 2 : 1));
}

#endif
