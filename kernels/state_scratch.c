// state_scratch.c: sizes of what the kernels of state.c need. The same for every instruction set.
#include "state_layout.h"

size_t smx_state_floats(size_t L, size_t H, size_t dk, size_t dv) {
    return size_fits(size_mul((L + STATE_SEGMENT - 1) / STATE_SEGMENT, H, dk, (dv + 15) / 16 * 16));
}
size_t smx_state_fwd_scratch_bytes(const smx_state *p) { return size_floats(state_layout_of(p, 0).floats); }
size_t smx_state_carried_floats(const smx_state *p) { return size_fits(state_push_layout_of(p).floats); }
size_t smx_state_push_scratch_bytes(const smx_state *p) {
    return size_floats(state_push_layout_of(p).scratch);
}
size_t smx_state_bwd_scratch_bytes(const smx_state *p) { return size_floats(state_layout_of(p, 1).floats); }
