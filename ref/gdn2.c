// gdn2.c: Gated DeltaNet-2 (2605.22791; fla/ops/gdn2/naive.py): what is erased and what is written have gates
// of their own, by channel,
//   R = diag(e^g) S, S' = R + k (w o v - R^T (b o k))^T,
// as an instance of dplr.c: a = -k, b = e^g o (b o k), and w o v is written.
#include <seqmix/ref_cores.h>

#include "gates.h"

#include <stdlib.h>

static double gate(const ref_gdn2_arrays *x, const ref_state *p, size_t row, size_t h, size_t c) {
    const double *g = gate_at(x->g, p, 0, row, h, c);
    return g ? exp(*g) : 1;
}

static void express(ref_dplr_arrays *to, const ref_gdn2_arrays *x, const ref_state *p) {
    const size_t rows = p->B * p->L;
    to->q = x->q, to->k = x->k, to->g = x->g, to->start = x->start;
    ref_scale(to->a, x->k, -1, rows * p->H * p->dk);
    ref_mul(to->v, x->w, x->v, rows * p->H * p->dv);
    for (size_t row = 0; row < rows; row++)
        for (size_t h = 0; h < p->H; h++)
            for (size_t c = 0; c < p->dk; c++) {
                const size_t i = (row * p->H + h) * p->dk + c;
                to->b[i] = gate(x, p, row, h, c) * x->b[i] * x->k[i];
            }
}

int ref_gdn2_fwd(double *y, double *state, const ref_gdn2_arrays *x, const ref_state *p) {
    const size_t nk = p->B * p->L * p->H * p->dk, nv = p->B * p->L * p->H * p->dv;
    ref_dplr_arrays r;
    void *memory = ref_carve(&r.a, nk, &r.b, nk, &r.v, nv, REF_END);
    if (!memory) return REF_NO_MEMORY;
    express(&r, x, p);
    const int status = ref_dplr_fwd(y, state, &r, p);
    free(memory);
    return status;
}

int ref_gdn2_bwd(const ref_gdn2_arrays *d, const double *dy, const double *dstate, const ref_gdn2_arrays *x,
                 const ref_state *p) {
    const size_t nk = p->B * p->L * p->H * p->dk, nv = p->B * p->L * p->H * p->dv;
    ref_dplr_arrays r, dr = {.q = d->q, .k = d->k, .g = d->g, .start = d->start};
    void *memory = ref_carve(&r.a, nk, &r.b, nk, &r.v, nv, &dr.a, nk, &dr.b, nk, &dr.v, nv, REF_END);
    if (!memory) return REF_NO_MEMORY;
    express(&r, x, p);
    const int status = ref_dplr_bwd(&dr, dy, dstate, &r, p);
    for (size_t row = 0; row < p->B * p->L; row++)
        for (size_t h = 0; h < p->H; h++)
            for (size_t c = 0; c < p->dk; c++) {
                const size_t i = (row * p->H + h) * p->dk + c;
                const double open = gate(x, p, row, h, c), *g = gate_at(x->g, p, 0, row, h, c);
                d->k[i] += open * x->b[i] * dr.b[i] - dr.a[i];
                d->b[i] += open * x->k[i] * dr.b[i];
                if (g && d->g) d->g[g - x->g] += open * x->b[i] * x->k[i] * dr.b[i];
            }
    for (size_t i = 0; i < nv; i++) {
        d->v[i] += x->w[i] * dr.v[i];
        d->w[i] += x->v[i] * dr.v[i];
    }
    free(memory);
    return status;
}
