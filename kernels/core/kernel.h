// kernel.h: what every kernel file includes. The file is compiled once per instruction set with SMX_ISA_NAME
// set; SMX_FN(gemm) is then the name of this copy, which the compiler holds to smx.h.
#ifndef SMX_KERNEL_H
#define SMX_KERNEL_H

#include <assert.h>
#include <string.h>

#include <seqmix/smx.h>
#include "simd.h"
#include "vmath.h"
#include "reduce.h"

#ifdef SMX_ONLY // this build has one copy: it is the public function
#define SMX_FN(name) smx_##name
#else
#define SMX_JOIN_(a, b) a##b
#define SMX_JOIN(a, b) SMX_JOIN_(a, b)
#define SMX_FN(name) SMX_JOIN(smx_##name##_, SMX_ISA_NAME)
#endif
// This copy of a kernel of smx.h, where another file of its set calls it; and the head of its definition.
#define SMX_USES(name) __typeof__(smx_##name) SMX_FN(name);
#define SMX_COPY(result, name) SMX_USES(name) result SMX_FN(name)
#pragma GCC diagnostic error "-Wmissing-prototypes"

/*@ PURE ensures \result == \min(a, b); */
static inline size_t smx_min(size_t a, size_t b) { return a < b ? a : b; }
/*@ requires n <= MOST && 0 < to <= 16;
    PURE ensures \result == (n + to - 1) / to * to; */
static inline size_t smx_round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }

// A state that decays for long ends among the subnormal numbers, where an operation takes a hundred cycles.
// Recurrences call this between segments of rows: what lies below 2^-96 becomes zero. n is a multiple of 16.
/*@ PURE */
SMX_INLINE v16 settled(v16 x) { return v16_select(v16_lt(v16_abs(x), v16_set(0x1p-96f)), v16_set(0.0f), x); }
SMX_INLINE void smx_settle(float *state, size_t n) {
    for (size_t i = 0; i < n; i += 16) v16_store(state + i, settled(v16_load(state + i)));
}

#endif
