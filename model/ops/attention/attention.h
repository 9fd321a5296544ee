// attention.h: what the softmax attentions of this folder share.
#ifndef SMX_OPS_ATTENTION_H
#define SMX_OPS_ATTENTION_H

#include "model/ops/pieces.h"
#include "model/ops/ops.h"

// B sequences of L rows as wide as the node's output.
smx_attention attention_shape(const node *n, const attention_opts *o, size_t B, size_t L);
// 1 / sqrt(width of a head)
float attention_scale(const node *n, size_t heads);
// Pairs of query and key that a sequence looks at.
uint64_t attention_pairs(const smx_attention *p);
// Whether chunks of M rows fill every sequence and every block of rows that a group of nodes takes:
// then they are row-wise.
int chunks_are_rows(const graph *g, size_t M);

#endif
