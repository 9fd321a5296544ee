// state_parts.h: what the mixers that carry a state of keys and values share.
#ifndef SMX_STATE_PARTS_H
#define SMX_STATE_PARTS_H

#include "attention_parts.h"

// x W [D][out] with a fresh weight called w_name.
tensor *state_matrix(graph *g, const config *c, tensor *x, const char *w_name, size_t out);
// Each head by its root mean square, then by the columns' gain.
tensor *normed_heads(graph *g, const config *c, tensor *o);

#endif
