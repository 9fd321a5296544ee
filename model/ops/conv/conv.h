// conv.h: the sizes of a short convolution over rows of D columns that lie one after the other, for whoever
// calls smx_conv.
#ifndef SMX_OPS_CONV_H
#define SMX_OPS_CONV_H

#include <seqmix/smx.h>

smx_conv conv_sizes(size_t B, size_t L, size_t D, size_t groups, size_t W, size_t future);

#endif
