// mingru.c: minGRU and minLSTM (2410.01201; lucidrains/minGRU-pytorch): gates of the row alone, so
//   h_t = (1 - s) h_{t-1} + s c~
//   minGRU   s = sigma(z)
//   minLSTM  1 - s = F = sigma(f) / (sigma(f) + sigma(i)) = sigma(u), u = log sigma(f) - log sigma(i)
//   c~ = c, or (positive) c + 1/2 for c >= 0 and sigma(c) below
#include <seqmix/ref_cores.h>

#include <math.h>
#include <stdlib.h>

static double sigma(double x) { return x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x)); }
static double log_sigma(double x) { return x < 0 ? x - log1p(exp(x)) : -log1p(exp(-x)); }
static double inner(double c, int positive) { return !positive ? c : c < 0 ? sigma(c) : c + 0.5; }
static double inner_slope(double c, int positive) {
    return positive && c < 0 ? sigma(c) * (1 - sigma(c)) : 1;
}

// z of minGRU whose 1 - sigma(z) is minLSTM's F: z = -u.
static double z_of(const ref_minlstm_arrays *x, size_t i) { return log_sigma(x->i[i]) - log_sigma(x->f[i]); }

// last may be y's last row.
int ref_mingru_fwd(double *y, double *last, const ref_mingru_arrays *x, const ref_mingru *p) {
    for (size_t i = 0; i < p->L * p->D; i++) {
        const double before = i >= p->D ? y[i - p->D] : x->h ? x->h[i] : 0;
        y[i] = sigma(-x->z[i]) * before + sigma(x->z[i]) * inner(x->c[i], p->positive);
    }
    ref_scale(last, y + (p->L - 1) * p->D, 1, p->D);
    return REF_OK;
}

int ref_mingru_bwd(const ref_mingru_arrays *d, const double *dy, const ref_mingru_arrays *x,
                   const ref_mingru *p) {
    double *y, *last, *G;
    void *memory = ref_carve(&y, p->L * p->D, &last, p->D, &G, p->D, REF_END);
    if (!memory) return REF_NO_MEMORY;
    ref_mingru_fwd(y, last, x, p);
    for (size_t i = p->L * p->D; i-- > 0;) {
        const double before = i >= p->D ? y[i - p->D]
                              : x->h    ? x->h[i]
                                        : 0,
                     s = sigma(x->z[i]), rest = sigma(-x->z[i]);
        double *g = G + i % p->D;
        *g += dy[i];
        d->z[i] += *g * s * rest * (inner(x->c[i], p->positive) - before);
        d->c[i] += *g * s * inner_slope(x->c[i], p->positive);
        *g *= rest;
    }
    if (d->h) ref_axpy(d->h, G, 1, p->D);
    free(memory);
    return REF_OK;
}

int ref_minlstm_fwd(double *y, double *last, const ref_minlstm_arrays *x, const ref_mingru *p) {
    ref_mingru_arrays r = {NULL, x->c, x->h};
    void *memory = ref_carve(&r.z, p->L * p->D, REF_END);
    if (!memory) return REF_NO_MEMORY;
    for (size_t i = 0; i < p->L * p->D; i++) r.z[i] = z_of(x, i);
    const int status = ref_mingru_fwd(y, last, &r, p);
    free(memory);
    return status;
}

// dz/df = -sigma(-f), dz/di = sigma(-i)
int ref_minlstm_bwd(const ref_minlstm_arrays *d, const double *dy, const ref_minlstm_arrays *x,
                    const ref_mingru *p) {
    ref_mingru_arrays r = {NULL, x->c, x->h}, dr = {NULL, d->c, d->h};
    void *memory = ref_carve(&r.z, p->L * p->D, &dr.z, p->L * p->D, REF_END);
    if (!memory) return REF_NO_MEMORY;
    for (size_t i = 0; i < p->L * p->D; i++) r.z[i] = z_of(x, i);
    const int status = ref_mingru_bwd(&dr, dy, &r, p);
    for (size_t i = 0; i < p->L * p->D; i++) {
        d->f[i] -= dr.z[i] * sigma(-x->f[i]);
        d->i[i] += dr.z[i] * sigma(-x->i[i]);
    }
    free(memory);
    return status;
}
