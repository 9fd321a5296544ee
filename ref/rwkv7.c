// rwkv7.c: RWKV-7's state (2503.14456; fla/ops/rwkv7/fused_recurrent.py),
//   S' = diag(e^g) S - (a o kappa) (kappa^T S) + k v^T, y = scale S'^T r,
// as an instance of dplr.c: a = -(a o kappa), b = kappa.
#include <seqmix/ref_cores.h>

#include <stdlib.h>

static void express(ref_dplr_arrays *to, const ref_rwkv7_arrays *x, size_t n) {
    to->q = x->r, to->k = x->k, to->v = x->v, to->b = x->kappa, to->g = x->g, to->start = x->start;
    for (size_t i = 0; i < n; i++) to->a[i] = -x->a[i] * x->kappa[i];
}

int ref_rwkv7_fwd(double *y, double *state, const ref_rwkv7_arrays *x, const ref_state *p) {
    const size_t n = p->B * p->L * p->H * p->dk;
    ref_dplr_arrays r;
    void *memory = ref_carve(&r.a, n, REF_END);
    if (!memory) return REF_NO_MEMORY;
    express(&r, x, n);
    const int status = ref_dplr_fwd(y, state, &r, p);
    free(memory);
    return status;
}

int ref_rwkv7_bwd(const ref_rwkv7_arrays *d, const double *dy, const double *dstate,
                  const ref_rwkv7_arrays *x, const ref_state *p) {
    const size_t n = p->B * p->L * p->H * p->dk;
    ref_dplr_arrays r, dr = {d->r, d->k, d->v, NULL, d->kappa, d->g, d->start};
    void *memory = ref_carve(&r.a, n, &dr.a, n, REF_END);
    if (!memory) return REF_NO_MEMORY;
    express(&r, x, n);
    const int status = ref_dplr_bwd(&dr, dy, dstate, &r, p);
    for (size_t i = 0; i < n; i++) {
        d->a[i] -= x->kappa[i] * dr.a[i];
        d->kappa[i] -= x->a[i] * dr.a[i];
    }
    free(memory);
    return status;
}
