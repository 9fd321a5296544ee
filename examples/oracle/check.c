// check.c: judge a kernel by the oracle. The kernel here is libseqmix's own attention; put yours in its
// place.
//   cc check.c $(pkg-config --cflags --libs seqmix seqmix_ref) -lm -o check && ./check
#include <math.h>
#include <seqmix/ref.h>
#include <seqmix/smx.h>
#include <stdio.h>
#include <stdlib.h>

enum { B = 2, L = 40, H = 4, D = 32, N = B * L * D };

static float q[N], k[N], v[N], o[N], stats[B * H * L * 2];
static double rq[N], rk[N], rv[N], ro[N], rstats[B * H * L * 2];

static void fill(float *x, double *same) {
    for (int i = 0; i < N; i++) same[i] = x[i] = (float)rand() / (float)RAND_MAX * 4 - 2;
}

int main(void) {
    fill(q, rq);
    fill(k, rk);
    fill(v, rv);
    smx_attention p = {.B = B, .L = L, .D = D, .H = H, .stride = D, .causal = 1, .scale = 1 / sqrtf(D / H)};
    size_t scratch_bytes = (smx_attention_fwd_scratch_bytes(&p) + SMX_ALIGN - 1) / SMX_ALIGN * SMX_ALIGN;
    void *scratch = aligned_alloc(SMX_ALIGN, scratch_bytes ? scratch_bytes : SMX_ALIGN);
    if (!scratch) return 2;
    smx_attention_fwd(o, stats, q, k, v, scratch, &p);
    free(scratch);

    ref_attention r = {.B = B, .L = L, .D = D, .H = H, .stride = D, .causal = 1, .scale = 1 / sqrt(D / H)};
    ref_attention_fwd(ro, rstats, rq, rk, rv, &r);

    double error = 0, scale = 0;
    for (int i = 0; i < N; i++) scale = fmax(scale, fabs(ro[i]));
    for (int i = 0; i < N; i++)
        if (!isnan(error) && !(fabs(o[i] - ro[i]) <= error)) error = fabs(o[i] - ro[i]); // a NaN stays
    printf("largest error %.2g of the scale; 2e-05 is allowed\n", error / scale);
    return error <= 2e-5 * scale ? 0 : 1;
}
