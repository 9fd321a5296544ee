// ceiling.c: what the arithmetic units and the memory of this machine give at best, measured the same way as
// the kernels. Compiled once per instruction set, as the kernels are; with fused multiply-add too, for the
// names that end in "fma".
#include "kernels/core/simd.h"

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define BENCH_FN(name) JOIN(bench_##name##_, SMX_ISA_NAME)

// Chains enough to keep three units busy through the latency of both operations,
// few enough for the registers.
#if SMX_W == 16
#define CHAINS 16 // what SMX_UNROLL unrolls at most
#elif defined(__wasm__)
#define CHAINS 12
#else
#define CHAINS 14
#endif

double BENCH_FN(ceiling)(size_t n, float z);
double BENCH_FN(ceiling)(size_t n, float z) {
    vf a[CHAINS], b = vf_set(0.999f + z), c = vf_set(1e-3f + z);
    SMX_UNROLL for (int i = 0; i < CHAINS; i++) a[i] = vf_set(1.0f + 1e-3f * (float)i);
    for (size_t k = 0; k < n; k++) SMX_UNROLL for (int i = 0; i < CHAINS; i++) a[i] = vf_madd(a[i], b, c);
    float last[SMX_W];
    for (int i = 1; i < CHAINS; i++) a[0] += a[i];
    vf_store(last, a[0]);
    volatile float sink = last[0];
    (void)sink;
    return 2.0 * CHAINS * SMX_W * (double)n;
}

void BENCH_FN(triad)(float *restrict a, const float *b, const float *c, float s, size_t n);
void BENCH_FN(triad)(float *restrict a, const float *b, const float *c, float s, size_t n) {
    const vf scale = vf_set(s);
    for (size_t i = 0; i + SMX_W <= n; i += SMX_W) vf_store(a + i, vf_load(b + i) + scale * vf_load(c + i));
}
