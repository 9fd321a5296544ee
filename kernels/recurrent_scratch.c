// recurrent_scratch.c: sizes of what the kernels of recurrent.c need. The same for every instruction set.
#include "recurrent_layout.h"

size_t smx_recurrent_fwd_scratch_bytes(const smx_recurrent *p) {
    return recurrent_layout_of(p, 0).floats * sizeof(float);
}
size_t smx_recurrent_bwd_scratch_bytes(const smx_recurrent *p) {
    return recurrent_layout_of(p, 1).floats * sizeof(float);
}
