// rglru.c: Griffin's RG-LRU (2402.19427; recurrentgemma/torch/layers.py), row by row:
//   log a = -c softplus(lam) sigma(ga),  h_t = a h_{t-1} + sqrt(1 - a^2) sigma(gi) x
#include <seqmix/ref_cores.h>

#include <math.h>
#include <stdlib.h>

static double sigma(double x) { return x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x)); }
static double softplus(double x) { return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x)); }

static double log_a(const ref_rglru_arrays *x, const ref_rglru *p, size_t i) {
    return -p->c * softplus(x->lam[i % p->D]) * sigma(x->ga[i]);
}
// sqrt(1 - a^2), 1 in the first row where that is asked for.
static double root(const ref_rglru *p, size_t i, double la) {
    return p->first_whole && i < p->D ? 1 : sqrt(-expm1(2 * la));
}

// h [L+1][D]: before each row, and after the last.
static void run(double *h, const ref_rglru_arrays *x, const ref_rglru *p) {
    for (size_t c = 0; c < p->D; c++) h[c] = x->h ? x->h[c] : 0;
    for (size_t i = 0; i < p->L * p->D; i++) {
        const double la = log_a(x, p, i);
        h[i + p->D] = exp(la) * h[i] + root(p, i, la) * sigma(x->gi[i]) * x->x[i];
    }
}

int ref_rglru_fwd(double *y, double *last, const ref_rglru_arrays *x, const ref_rglru *p) {
    double *h;
    void *memory = ref_carve(&h, (p->L + 1) * p->D, REF_END);
    if (!memory) return REF_NO_MEMORY;
    run(h, x, p);
    ref_scale(y, h + p->D, 1, p->L * p->D);
    ref_scale(last, h + p->L * p->D, 1, p->D);
    free(memory);
    return REF_OK;
}

// With G = dh_t: dlog a = a h_{t-1} G - (a^2 / root) sigma(gi) x G, where the root is one. At a = 1 the
// root's
// slope is infinite and that of sigma(ga) or softplus(lam) is 0; their product has the limit 0.
int ref_rglru_bwd(const ref_rglru_arrays *d, const double *dy, const ref_rglru_arrays *x,
                  const ref_rglru *p) {
    double *h, *G;
    void *memory = ref_carve(&h, (p->L + 1) * p->D, &G, p->D, REF_END);
    if (!memory) return REF_NO_MEMORY;
    run(h, x, p);
    for (size_t i = p->L * p->D; i-- > 0;) {
        const size_t c = i % p->D;
        const double la = log_a(x, p, i), a = exp(la), r = root(p, i, la), in = sigma(x->gi[i]),
                     gate = sigma(x->ga[i]), plus = softplus(x->lam[c]);
        G[c] += dy[i];
        d->x[i] += G[c] * r * in;
        d->gi[i] += G[c] * r * x->x[i] * in * (1 - in);
        double dla = G[c] * a * h[i];
        if (!(p->first_whole && i < p->D) && r > 0) dla -= G[c] * in * x->x[i] * a * a / r;
        d->ga[i] -= dla * p->c * plus * gate * (1 - gate);
        d->lam[c] -= dla * p->c * gate * sigma(x->lam[c]);
        G[c] *= a;
    }
    if (d->h) ref_axpy(d->h, G, 1, p->D);
    free(memory);
    return REF_OK;
}
