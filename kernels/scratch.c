// scratch.c: how much scratch the kernels of gemm.c, attention.c and attention_maps.c need.
// The same for every instruction set.
#include <seqmix/smx.h>
#include "attention.h"
#include "attention_maps_layout.h"

// (As doubles: a division takes longer, and WebAssembly has no carry.)
uint64_t smx_size_product(uint64_t a, uint64_t b) {
    return (double)a * (double)b < (double)SIZES_MOST ? a * b : SIZES_MOST;
}

size_t smx_gemm_scratch_bytes(size_t m, size_t n, size_t k) {
    (void)m, (void)n;
    return (k < SMX_KC ? k : SMX_KC) * 32 * sizeof(float); // one panel of the widest tile
}

size_t smx_attention_fwd_scratch_bytes(const smx_attention *p) {
    return size_floats(attention_layout_of(p, 0).floats);
}
size_t smx_attention_bwd_scratch_bytes(const smx_attention *p) {
    return size_floats(attention_layout_of(p, 1).floats);
}
size_t smx_attention_push_scratch_bytes(const smx_attention *p) {
    return size_floats(attention_layout_of(p, ATTENTION_PUSH).floats);
}
size_t smx_attention_kept_floats(const smx_attention *p) {
    const attention_layout w = attention_layout_of(p, ATTENTION_PUSH);
    return size_fits(size_mul(p->B, p->H, attention_kept_floats(&w)));
}
size_t smx_attention_maps_fwd_scratch_bytes(const smx_attention *p) {
    return size_floats(maps_layout_of(p, 0).floats);
}
size_t smx_attention_maps_bwd_scratch_bytes(const smx_attention *p) {
    return size_floats(maps_layout_of(p, 1).floats);
}
