// scan_scratch.c: scratch sizes of the kernels of ema.c, scan.c and s4d.c.
// The same for every instruction set.
#include "scan_layout.h"
#include "s4d_layout.h"
#include <seqmix/smx.h>

size_t smx_scan_state_floats(size_t L, size_t D, size_t S) {
    const scan_layout l = scan_layout_of(L, D, S);
    return size_fits(size_mul(l.segments, (D + 15) / 16, S, 16));
}
size_t smx_scan_scratch_bytes(size_t L, size_t D, size_t S) {
    return size_floats(scan_layout_of(L, D, S).floats);
}
size_t smx_s4d_scratch_bytes(size_t L) {
    (void)L;
    return 2 * S4D_BLOCK * sizeof(float);
}
