// recurrent_scratch.c: sizes of what the kernels of recurrent.c need. The same for every instruction set.
#include "recurrent_layout.h"

size_t smx_recurrent_fwd_scratch_bytes(const smx_recurrent *p) {
    return size_floats(recurrent_layout_of(p, 0).floats);
}
size_t smx_recurrent_bwd_scratch_bytes(const smx_recurrent *p) {
    return size_floats(recurrent_layout_of(p, 1).floats);
}
