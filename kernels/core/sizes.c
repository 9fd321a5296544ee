// sizes.c: the product of sizes.h, and the scratch of a matrix product, which layouts of other kernels hold.
// The same for every instruction set.
#include "sizes.h"

#include <seqmix/smx.h>

// (As doubles: a division takes longer, and WebAssembly has no carry.)
uint64_t smx_size_product(uint64_t a, uint64_t b) {
    return (double)a * (double)b < (double)SIZES_MOST ? a * b : SIZES_MOST;
}

size_t smx_gemm_scratch_bytes(size_t m, size_t n, size_t k) {
    (void)m, (void)n;
    return (k < SMX_KC ? k : SMX_KC) * 32 * sizeof(float); // one panel of the widest tile
}
