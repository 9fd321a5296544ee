// conv_scratch.c: how much scratch the kernels of conv.c need. The same for every instruction set.
#include <seqmix/smx.h>
#include "conv_layout.h"

size_t smx_conv_scratch_bytes(const smx_conv *p) {
    return size_floats(conv_layout_of(p->L, p->D, p->W).floats);
}
size_t smx_conv_heads_scratch_bytes(const smx_conv_heads *p) {
    return size_floats(conv_heads_layout_of(p->L, p->D, p->H, p->W).floats);
}
