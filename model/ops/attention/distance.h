// distance.h: what attention weakens by distance: tables [H][2L-1], entry (L-1) + j - i, for attention_opts.
#ifndef SMX_DISTANCE_H
#define SMX_DISTANCE_H

#include "model/graph/graph.h"

// Rows that such a table is for: the sequence, or, of one that comes in pieces, a chunk of it.
size_t distance_rows(const graph *g, size_t chunk);
// ALiBi (Press et al.), attention_opts.bias: -m_h |i-j|, m_h = 2^(-8(h+1)/H), times `scale`.
// The graph owns it. chunk: attention_opts.chunk.
const float *alibi_table(graph *g, size_t heads, size_t chunk, double scale);

// LaS (Zimerman & Wolf 2024, Eq. 4). alphas [H]: exp(-alpha_h) evenly spaced from 1 down to exp(-B).
enum { LAS_MAX_HEADS = 256 };
void las_alphas(double *alphas, size_t H, double B);
// table [H][2L-1], smx_attention.decay_table: exp(-alpha_h (i - j)) by distance, 0 below 2^-60, where a logit
// no longer differs from 0 in its softmax and gradients would become subnormal numbers; 1 above the diagonal,
// where the mask decides; L > 0.
void las_decay(float *table, const double *alphas, size_t H, size_t L);
// The same, owned by the graph: attention_opts.decay_table.
const float *decay_table(graph *g, const double *alphas, size_t H, size_t chunk);

#endif
