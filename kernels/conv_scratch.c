// conv_scratch.c: how much scratch the kernels of conv.c need. The same for every instruction set.
#include <seqmix/smx.h>
#include "conv_layout.h"

size_t smx_conv_scratch_bytes(size_t L, size_t D, size_t groups, size_t W) {
    (void)groups;
    return conv_layout_of(L, D, W).floats * sizeof(float);
}
size_t smx_conv_heads_scratch_bytes(size_t L, size_t D, size_t H, size_t W) {
    return conv_heads_layout_of(L, D, H, W).floats * sizeof(float);
}
