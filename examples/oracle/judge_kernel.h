// judge_kernel.h: a kernel in C, C++ or CUDA judged by the oracle where it is, case by case, as ggml's
// test-backend-ops does: you give a function that fills outputs, it draws inputs and says what is wrong.
// Beside it and judge_kernel.c you need seqmix_ref.c and seqmix_ref.h (make amalgamation):
//     cc -std=c99 -O2 yours.c judge_kernel.c seqmix_ref.c -lm -o judge && ./judge
#ifndef JUDGE_KERNEL_H
#define JUDGE_KERNEL_H

#include <stddef.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    // q [B][L][H dk], k [B][L][Hkv dk], v [B][L][Hkv dv], sinks [H] or NULL -> y [B][L][H dv]. Query head
    // h uses head h / (H / Hkv); scale, soft cap (0: none), mask, the last `window` rows (0: all),
    // softmax, with e^sink in the denominator.
    JUDGE_ATTENTION,
    // ONNX's LinearAttention: q [B][L][H dk], k [B][L][Hkv dk], v [B][L][Hkv dv], state [B][Hkv][dk][dv]
    // or NULL, g [B][L][Hkv] (rule & JUDGE_GATED; or [Hkv dk]: per_channel), beta [B][L][Hkv] (rule &
    // JUDGE_DELTA) -> y [B][L][H dv], state [B][Hkv][dk][dv]. g are logarithms; what is erased is read
    // after the decay.
    JUDGE_LINEAR_ATTENTION,
    // x [B][L][H], filter [H][window], bias [H] or NULL, rows before [B][window-1][H] or NULL -> y
    // [B][L][H], the last window - 1 rows. The last tap meets the row itself; then SiLU where silu is 1.
    JUDGE_CAUSAL_CONV,
    // r, g, k [B][L][H dk], v [B][L][H dv], kappa, a [B][L][H dk], state [B][H][dk][dv] or NULL -> y
    // [B][L][H dv], state. S' = diag(e^g) S - (a o kappa)(kappa^T S) + k v^T, y = S'^T r.
    JUDGE_RWKV7
} judge_op;
enum { JUDGE_GATED = 1, JUDGE_DELTA = 2, JUDGE_INPUTS = 7, JUDGE_OUTPUTS = 2 };

typedef struct {
    judge_op op;
    const char *about; // what the case is for
    size_t B, L, H, Hkv, dk, dv, window;
    int rule, per_channel, causal, silu;
    double scale, softcap;
    const float *in[JUDGE_INPUTS]; // in the order above; NULL: not there
    float *out[JUDGE_OUTPUTS];     // NaN before the call: what is not written is wrong
    size_t in_n[JUDGE_INPUTS], out_n[JUDGE_OUTPUTS];
} judge_case;

// Fills case->out. 0: done; 1: the kernel has no such case; any other number: it failed.
typedef int (*judge_kernel)(const judge_case *c, void *yours);

// Tries the kernel on all cases of an operator, one line each to `to` (NULL: none): OK, "not supported",
// or what is wrong and where it begins. tolerance: of the largest magnitude of an output; 2e-5 for
// float32 sums, 2^-8 and 2^-5 for results stored in float16 and bfloat16. How many cases are wrong; -1
// without memory, -2 where the kernel took none.
int judge(judge_op op, judge_kernel kernel, void *yours, double tolerance, FILE *to);

#ifdef __cplusplus
}
#endif
#endif
