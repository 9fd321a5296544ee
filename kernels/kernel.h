// kernel.h: what every kernel file includes. The file is compiled once per instruction set with SMX_ISA_NAME set;
// SMX_FN(gemm) is then the name of this copy, and the prototypes below make the compiler check it.
#ifndef SMX_KERNEL_H
#define SMX_KERNEL_H

#include <assert.h>
#include <string.h>

#include "smx.h"
#include "simd.h"
#include "vmath.h"
#include "reduce.h"

#define SMX_JOIN_(a, b) a##b
#define SMX_JOIN(a, b) SMX_JOIN_(a, b)
#define SMX_FN(name) SMX_JOIN(smx_##name##_, SMX_ISA_NAME)

#define SMX_KERNEL(result, name, parameters, arguments) result SMX_FN(name) parameters;
#include "kernels.def"
#undef SMX_KERNEL

static inline size_t smx_min(size_t a, size_t b) { return a < b ? a : b; }
static inline size_t smx_round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }

#endif
