// las.c: LaS attention ([LaS] Eq. 4; docs/MECHANISMS.md#las): decay on the logits, average pooling of the
// attention map, optionally inside chunks. The pooling is done on the map, as printed; that it
// commutes with V is for tests.
#include <seqmix/ref.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

// exp(-alpha_h) evenly spaced from 1 down to exp(-bound); this form stays finite for a large bound.
void ref_las_alphas(double *alphas, size_t H, double bound) {
    for (size_t h = 0; h < H; h++) {
        double last = (double)(H - 1);
        alphas[h] = H == 1 ? 0 : -log(((last - (double)h) + (double)h * exp(-bound)) / last);
    }
}

void ref_las_decay(double *table, const double *alphas, size_t L, size_t H) {
    for (size_t h = 0; h < H; h++)
        for (size_t at = 0; at < 2 * L - 1; at++)
            table[h * (2 * L - 1) + at] = exp(-alphas[h] * fabs((double)(L - 1) - (double)at));
}

// The window of columns j + lo .. j + hi that column j of the pooled map averages. (Trailing: (T V)_j takes
// V_{j-r}, so column j takes A_{i,j+r}.)
typedef struct {
    long lo, hi;
} window;
static window window_of(size_t P, ref_pool pool) {
    const long half = (long)(P - 1) / 2;
    return pool == REF_POOL_TRAILING ? (window){0, (long)P - 1} : (window){-half, half};
}

// AP(A)_ij = (1/P) sum_r A_{i,j+r}, columns outside are 0, the divisor is always P ([Repro] (ii))
void ref_pool_fwd(double *pooled, const double *map, size_t L, size_t P, ref_pool pool) {
    const long n = (long)L;
    if (pool == REF_POOL_NONE) {
        memcpy(pooled, map, L * L * sizeof *map);
        return;
    }
    const window w = window_of(P, pool);
    for (long i = 0; i < n; i++)
        for (long j = 0; j < n; j++) {
            double sum = 0;
            for (long m = j + w.lo < 0 ? 0 : j + w.lo; m <= j + w.hi && m < n; m++) sum += map[i * n + m];
            pooled[i * n + j] = pool == REF_POOL_MASKED && j > i ? 0 : sum / (double)P;
        }
}

void ref_pool_bwd(double *dmap, const double *dpooled, size_t L, size_t P, ref_pool pool) {
    const long n = (long)L;
    if (pool == REF_POOL_NONE) {
        memcpy(dmap, dpooled, L * L * sizeof *dmap);
        return;
    }
    const window w = window_of(P, pool);
    memset(dmap, 0, L * L * sizeof *dmap);
    for (long i = 0; i < n; i++)
        for (long j = 0; j < n; j++) {
            if (pool == REF_POOL_MASKED && j > i) continue;
            for (long m = j + w.lo < 0 ? 0 : j + w.lo; m <= j + w.hi && m < n; m++)
                dmap[i * n + m] += dpooled[i * n + j] / (double)P;
        }
}

// The logits of one chunk of n rows: decay multiplies, ALiBi adds; table [H][2n-1].
static ref_attention core_of(const ref_las *p, size_t n, double *table) {
    size_t d = p->D / p->H;
    ref_attention a = {.B = 1,
                       .L = n,
                       .D = p->D,
                       .H = p->H,
                       .stride = p->D,
                       .causal = !p->both,
                       .scale = 1 / sqrt((double)d)};
    if (p->decay == REF_DECAY_EXP) {
        ref_las_decay(table, p->alphas, n, p->H);
        a.decay_table = table;
    } else if (p->decay != REF_DECAY_NONE) {
        ref_alibi_bias(table, n, p->H, p->decay == REF_DECAY_ALIBI ? 1 : a.scale);
        a.bias = table;
    }
    return a;
}

static size_t chunk_rows(const ref_las *p, size_t start) {
    size_t M = p->chunk ? p->chunk : p->L;
    return p->L - start < M ? p->L - start : M;
}

int ref_las_heads_fwd(double *o, const double *q, const double *k, const double *v, const ref_las *p) {
    size_t D = p->D, H = p->H, d = D / H, M = chunk_rows(p, 0);
    double *map, *pooled, *table;
    void *memory = ref_carve(&map, M * M, &pooled, M * M, &table, H * 2 * M, REF_END);
    if (!memory) return REF_NO_MEMORY;
    for (size_t start = 0; start < p->L; start += M) {
        size_t n = chunk_rows(p, start), at = start * D;
        ref_attention a = core_of(p, n, table);
        for (size_t h = 0; h < H; h++) {
            ref_attention_map(map, q + at, k + at, &a, 0, h);                      // softmax(D o S)
            ref_pool_fwd(pooled, map, n, p->P, p->pool);                           // AP(A)
            ref_gemm(o + at + h * d, pooled, v + at + h * d, n, d, n, n, D, D, 0); // AP(A) V
        }
    }
    free(memory);
    return REF_OK;
}

int ref_las_heads_bwd(double *dq, double *dk, double *dv, const double *dout, const double *q,
                      const double *k, const double *v, const ref_las *p) {
    size_t D = p->D, H = p->H, d = D / H, M = chunk_rows(p, 0);
    double *map, *pooled, *dpooled, *dmap, *table;
    void *memory =
        ref_carve(&map, M * M, &pooled, M * M, &dpooled, M * M, &dmap, M * M, &table, H * 2 * M, REF_END);
    if (!memory) return REF_NO_MEMORY;
    memset(dq, 0, p->L * D * sizeof *dq);
    memset(dk, 0, p->L * D * sizeof *dk);
    for (size_t start = 0; start < p->L; start += M) {
        size_t n = chunk_rows(p, start), at = start * D;
        ref_attention a = core_of(p, n, table);
        for (size_t h = 0; h < H; h++) {
            ref_attention_map(map, q + at, k + at, &a, 0, h);
            ref_pool_fwd(pooled, map, n, p->P, p->pool);
            ref_gemm(dv + at + h * d, pooled, dout + at + h * d, n, d, n, n, D, D, REF_TRANS_A);
            ref_gemm(dpooled, dout + at + h * d, v + at + h * d, n, n, d, D, D, n, REF_TRANS_B);
            ref_pool_bwd(dmap, dpooled, n, p->P, p->pool);
            ref_attention_map_bwd(dq + at, dk + at, dmap, map, q + at, k + at, &a, 0, h);
        }
    }
    free(memory);
    return REF_OK;
}

int ref_las_attention_fwd(double *y, const double *x, const ref_qkvo *w, const ref_las *p) {
    size_t L = p->L, D = p->D, n = L * D;
    double *q, *k, *v, *o;
    void *memory = ref_carve(&q, n, &k, n, &v, n, &o, n, REF_END);
    if (!memory) return REF_NO_MEMORY;
    ref_linear_fwd(q, x, w->wq, NULL, L, D, D);
    ref_linear_fwd(k, x, w->wk, NULL, L, D, D);
    ref_linear_fwd(v, x, w->wv, NULL, L, D, D);
    int status = ref_las_heads_fwd(o, q, k, v, p);
    ref_linear_fwd(y, o, w->wo, NULL, L, D, D);
    free(memory);
    return status;
}

int ref_las_attention_bwd(double *dx, const ref_qkvo *dw, const double *dy, const double *x,
                          const ref_qkvo *w, const ref_las *p) {
    size_t L = p->L, D = p->D, n = L * D;
    double *q, *k, *v, *o, *dq, *dk, *dv, *dout, *part;
    void *memory = ref_carve(&q, n, &k, n, &v, n, &o, n, &dq, n, &dk, n, &dv, n, &dout, n, &part, n, REF_END);
    if (!memory) return REF_NO_MEMORY;
    ref_linear_fwd(q, x, w->wq, NULL, L, D, D);
    ref_linear_fwd(k, x, w->wk, NULL, L, D, D);
    ref_linear_fwd(v, x, w->wv, NULL, L, D, D);
    int status = ref_las_heads_fwd(o, q, k, v, p);
    ref_linear_bwd(dout, dw->wo, NULL, dy, o, w->wo, L, D, D);
    if (!status) status = ref_las_heads_bwd(dq, dk, dv, dout, q, k, v, p);
    ref_linear_bwd(dx, dw->wq, NULL, dq, x, w->wq, L, D, D);
    ref_linear_bwd(part, dw->wk, NULL, dk, x, w->wk, L, D, D);
    ref_axpy(dx, part, 1, n);
    ref_linear_bwd(part, dw->wv, NULL, dv, x, w->wv, L, D, D);
    ref_axpy(dx, part, 1, n);
    free(memory);
    return status;
}
