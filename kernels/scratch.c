// scratch.c: how much scratch the kernels of gemm.c and attention.c need. The same for every instruction set.
#include "smx.h"
#include "attention.h"

size_t smx_gemm_scratch_bytes(size_t m, size_t n, size_t k) {
    (void)m, (void)n;
    return (k < SMX_KC ? k : SMX_KC) * 32 * sizeof(float); // one panel of the widest tile
}

// What split_scratch of attention.c takes.
static size_t attention_floats(const smx_attention *p, int backward) {
    size_t d = p->D / p->H, dp = attention_padded_width(d), Lp = attention_padded(p->L);
    size_t forward = 2 * p->L * dp + d * Lp + (size_t)QUERY_ROWS * (Lp + dp);
    return backward ? forward + 2 * p->L * dp + d * Lp + (size_t)QUERY_ROWS * Lp : forward;
}
size_t smx_attention_fwd_scratch_bytes(const smx_attention *p) { return attention_floats(p, 0) * sizeof(float); }
size_t smx_attention_bwd_scratch_bytes(const smx_attention *p) { return attention_floats(p, 1) * sizeof(float); }
