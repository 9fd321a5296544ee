// attention_parts.h: what the mixers built on softmax attention share.
#ifndef SMX_ATTENTION_PARTS_H
#define SMX_ATTENTION_PARTS_H

#include "../config.h"
#include "../ops.h"

// heads divides width; rope needs an even head width.
int check_heads(const config *c, smx_error *error);

// softmax(Q K^T / sqrt(d)) V per head, with what the key `position` does inside attention: rope turns q and k, alibi adds
// -m_h |i-j|, alibi_scaled the same divided by sqrt(d) ([LaS] Eq. 2).
tensor *softmax_attention(graph *g, const config *c, tensor *q, tensor *k, tensor *v, int causal);

#endif
