// linattn_scratch.c: how much scratch the kernels of linattn.c need. The same for every instruction set.
#include "linattn_layout.h"

size_t smx_linattn_fwd_scratch_bytes(const smx_linattn *p) {
    return size_floats(linattn_layout_of(p, 0).floats);
}
size_t smx_linattn_bwd_scratch_bytes(const smx_linattn *p) {
    return size_floats(linattn_layout_of(p, 1).floats);
}
size_t smx_linattn_carried_floats(const smx_linattn *p) {
    const linattn_layout l = linattn_layout_of(p, 0);
    return size_fits(size_mul(p->B, p->H, linattn_carried_floats(&l)));
}
