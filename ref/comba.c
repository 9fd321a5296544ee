// comba.c: Comba (2506.02475; fla/ops/comba): scalar plus low rank, the read before the decay,
//   S' = e^g S + k (beta (v - S^T p))^T,
// as an instance of dplr.c: a = -beta k, b = p, and beta v is written.
#include <seqmix/ref_cores.h>

#include <stdlib.h>

static void express(ref_dplr_arrays *to, const ref_comba_arrays *x, const ref_state *p) {
    to->q = x->q, to->k = x->k, to->b = x->p, to->g = x->g, to->start = x->start;
    for (size_t at = 0; at < p->B * p->L * p->H; at++) {
        ref_scale(to->a + at * p->dk, x->k + at * p->dk, -x->beta[at], p->dk);
        ref_scale(to->v + at * p->dv, x->v + at * p->dv, x->beta[at], p->dv);
    }
}

int ref_comba_fwd(double *y, double *state, const ref_comba_arrays *x, const ref_state *p) {
    const size_t n = p->B * p->L * p->H;
    ref_dplr_arrays r;
    void *memory = ref_carve(&r.a, n * p->dk, &r.v, n * p->dv, REF_END);
    if (!memory) return REF_NO_MEMORY;
    express(&r, x, p);
    const int status = ref_dplr_fwd(y, state, &r, p);
    free(memory);
    return status;
}

int ref_comba_bwd(const ref_comba_arrays *d, const double *dy, const double *dstate,
                  const ref_comba_arrays *x, const ref_state *p) {
    const size_t n = p->B * p->L * p->H, dk = p->dk, dv = p->dv;
    ref_dplr_arrays r, dr = {.q = d->q, .k = d->k, .b = d->p, .g = d->g, .start = d->start};
    void *memory = ref_carve(&r.a, n * dk, &r.v, n * dv, &dr.a, n * dk, &dr.v, n * dv, REF_END);
    if (!memory) return REF_NO_MEMORY;
    express(&r, x, p);
    const int status = ref_dplr_bwd(&dr, dy, dstate, &r, p);
    for (size_t at = 0; at < n; at++) {
        d->beta[at] +=
            ref_dot(x->v + at * dv, dr.v + at * dv, dv) - ref_dot(x->k + at * dk, dr.a + at * dk, dk);
        ref_axpy(d->k + at * dk, dr.a + at * dk, -x->beta[at], dk);
        ref_axpy(d->v + at * dv, dr.v + at * dv, x->beta[at], dv);
    }
    free(memory);
    return status;
}
