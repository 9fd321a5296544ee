// differential.c: differential attention (2410.05258; microsoft/unilm
// Diff-Transformer/multihead_diffattn.py): two of attn.c's maps a head, the second times lambda taken off the
// first, on values twice as wide; then each head's rms norm.
#include <seqmix/ref_cores.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double lambda(const ref_differential_arrays *x, const ref_differential *p) {
    return exp(ref_dot(x->lq1, x->lk1, p->d)) - exp(ref_dot(x->lq2, x->lk2, p->d)) + p->lambda_start;
}

// The 2 H maps as attn.c's heads: 2h and 2h + 1 are the pair of head h.
static ref_attn maps(const ref_differential *p) {
    return (ref_attn){.L = p->L,
                      .H = 2 * p->H,
                      .Hkv = 2 * p->H,
                      .dk = p->d,
                      .dv = 2 * p->d,
                      .causal = 1,
                      .scale = 1 / sqrt((double)p->d)};
}

// Keys of Hkv pairs to H pairs; values of Hkv heads to both of each pair.
static void spread(ref_attn_arrays *to, const ref_differential_arrays *x, const ref_differential *p) {
    to->q = x->q;
    ref_heads_spread(to->k, x->k, p->L, p->H, p->Hkv, 2 * p->d);
    ref_heads_spread(to->v, x->v, p->L, 2 * p->H, p->Hkv, 2 * p->d);
}

// o [L][H][2 d]: before the norm.
static void combine(double *o, const double *both, double share, const ref_differential *p) {
    const size_t w = 2 * p->d;
    for (size_t r = 0; r < p->L * p->H; r++) {
        memcpy(o + r * w, both + 2 * r * w, w * sizeof *o);
        ref_axpy(o + r * w, both + (2 * r + 1) * w, -share, w);
    }
}

int ref_differential_fwd(double *y, const ref_differential_arrays *x, const ref_differential *p) {
    const size_t w = 2 * p->d, n = p->L * p->H * w;
    const ref_attn a = maps(p);
    ref_attn_arrays r = {0};
    double *both, *o, *rstd;
    void *memory = ref_carve(&r.k, n, &r.v, 2 * n, &both, 2 * n, &o, n, &rstd, p->L * p->H, REF_END);
    if (!memory) return REF_NO_MEMORY;
    spread(&r, x, p);
    const int status = ref_attn_fwd(both, &r, &a);
    combine(o, both, lambda(x, p), p);
    ref_rmsnorm_fwd(y, rstd, o, x->gain, p->L * p->H, w, p->eps);
    ref_scale(y, y, 1 - p->lambda_start, n);
    free(memory);
    return status;
}

int ref_differential_bwd(const ref_differential_arrays *d, const double *dy, const ref_differential_arrays *x,
                         const ref_differential *p) {
    const size_t w = 2 * p->d, rows = p->L * p->H, n = rows * w;
    const ref_attn a = maps(p);
    ref_attn_arrays r = {0}, dr = {.q = d->q};
    double *both, *o, *rstd, *dboth, *dout;
    void *memory = ref_carve(&r.k, n, &r.v, 2 * n, &dr.k, n, &dr.v, 2 * n, &both, 2 * n, &dboth, 2 * n, &o, n,
                             &dout, n, &rstd, rows, REF_END);
    if (!memory) return REF_NO_MEMORY;
    spread(&r, x, p);
    int status = ref_attn_fwd(both, &r, &a);
    const double share = lambda(x, p);
    combine(o, both, share, p);
    ref_rmsnorm_fwd(dboth, rstd, o, x->gain, rows, w, p->eps);
    ref_scale(dboth, dy, 1 - p->lambda_start, n); // the norm's output is not needed any more
    ref_rmsnorm_bwd(dout, d->gain, dboth, o, x->gain, rstd, rows, w);
    double dshare = 0;
    for (size_t i = 0; i < rows; i++) {
        memcpy(dboth + 2 * i * w, dout + i * w, w * sizeof *dboth);
        ref_scale(dboth + (2 * i + 1) * w, dout + i * w, -share, w);
        dshare -= ref_dot(dout + i * w, both + (2 * i + 1) * w, w);
    }
    if (!status) status = ref_attn_bwd(&dr, dboth, &r, &a);
    ref_heads_gather(d->k, dr.k, p->L, p->Hkv, p->H, w);
    ref_heads_gather(d->v, dr.v, p->L, p->Hkv, 2 * p->H, w);
    const double e1 = dshare * exp(ref_dot(x->lq1, x->lk1, p->d)),
                 e2 = -dshare * exp(ref_dot(x->lq2, x->lk2, p->d));
    ref_axpy(d->lq1, x->lk1, e1, p->d);
    ref_axpy(d->lk1, x->lq1, e1, p->d);
    ref_axpy(d->lq2, x->lk2, e2, p->d);
    ref_axpy(d->lk2, x->lq2, e2, p->d);
    free(memory);
    return status;
}
