// state_scratch.c: sizes of what the kernels of state.c need. The same for every instruction set.
#include "state_layout.h"

size_t smx_state_floats(size_t L, size_t H, size_t dk, size_t dv) {
    const smx_state p = {.B = 1, .L = L, .H = H, .dk = dk, .dv = dv};
    return (L + STATE_SEGMENT - 1) / STATE_SEGMENT * H * state_layout_of(&p, 0).size;
}
size_t smx_state_fwd_scratch_bytes(const smx_state *p) {
    return state_layout_of(p, 0).floats * sizeof(float);
}
size_t smx_state_carried_floats(const smx_state *p) { return state_push_layout_of(p).floats; }
size_t smx_state_push_scratch_bytes(const smx_state *p) {
    return state_push_layout_of(p).scratch * sizeof(float);
}
size_t smx_state_bwd_scratch_bytes(const smx_state *p) {
    return state_layout_of(p, 1).floats * sizeof(float);
}
