// hgrn2.c: HGRN2 (2404.07904; fla/layers/hgrn2.py): gla.c with the key tied to the gate, k = 1 - e^g.
#include <seqmix/ref_cores.h>

#include <math.h>
#include <stdlib.h>

int ref_hgrn2_fwd(double *y, double *state, const ref_hgrn2_arrays *x, const ref_state *p) {
    const size_t n = p->B * p->L * p->H * p->dk;
    double *k;
    void *memory = ref_carve(&k, n, REF_END);
    if (!memory) return REF_NO_MEMORY;
    for (size_t i = 0; i < n; i++) k[i] = -expm1(x->g[i]);
    ref_gla_fwd(y, state, x->q, k, x->v, x->g, x->start, p);
    free(memory);
    return REF_OK;
}

// dg = dg of gla - e^g dk. gla.c overwrites what it gives: its gradients are taken first, then added.
int ref_hgrn2_bwd(const ref_hgrn2_arrays *d, const double *dy, const double *dstate,
                  const ref_hgrn2_arrays *x, const ref_state *p) {
    const size_t n = p->B * p->L * p->H * p->dk, nv = p->B * p->L * p->H * p->dv,
                 size = p->B * p->H * p->dk * p->dv;
    double *k, *dq, *dk, *dv, *dstart;
    void *memory = ref_carve(&k, n, &dq, n, &dk, n, &dv, nv, &dstart, size, REF_END);
    if (!memory) return REF_NO_MEMORY;
    for (size_t i = 0; i < n; i++) k[i] = -expm1(x->g[i]);
    const int status = ref_gla_bwd(dq, dk, dv, d->g, dstart, dy, dstate, x->q, k, x->v, x->g, x->start, p);
    ref_axpy(d->q, dq, 1, n);
    ref_axpy(d->v, dv, 1, nv);
    for (size_t i = 0; i < n; i++) d->g[i] -= exp(x->g[i]) * dk[i];
    if (d->start) ref_axpy(d->start, dstart, 1, size);
    free(memory);
    return status;
}
