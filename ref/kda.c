// kda.c: Kimi delta attention (2510.26692; fla/ops/kda/naive.py), and every other gating of the delta rule,
//   R = diag(e^g) S, S' = R + k (beta (v - R^T k))^T,
// as an instance of dplr.c: a = -beta k, b = e^g o k, and beta v is written.
#include <seqmix/ref_cores.h>

#include "gates.h"

#include <stdlib.h>

static double gate(const ref_kda_arrays *x, const ref_state *p, size_t row, size_t h, size_t c) {
    const double *g = gate_at(x->g, p, 0, row, h, c);
    return g ? exp(*g) : 1;
}

// to: q, k, g and start are x's own; a, b and v are filled.
static void express(ref_dplr_arrays *to, const ref_kda_arrays *x, const ref_state *p) {
    to->q = x->q, to->k = x->k, to->g = x->g, to->start = x->start;
    for (size_t row = 0; row < p->B * p->L; row++)
        for (size_t h = 0; h < p->H; h++) {
            const size_t at = row * p->H + h;
            for (size_t c = 0; c < p->dk; c++) {
                const size_t i = at * p->dk + c;
                to->a[i] = -x->beta[at] * x->k[i];
                to->b[i] = gate(x, p, row, h, c) * x->k[i];
            }
            ref_scale(to->v + at * p->dv, x->v + at * p->dv, x->beta[at], p->dv);
        }
}

int ref_kda_fwd(double *y, double *state, const ref_kda_arrays *x, const ref_state *p) {
    const size_t nk = p->B * p->L * p->H * p->dk, nv = p->B * p->L * p->H * p->dv;
    ref_dplr_arrays r;
    void *memory = ref_carve(&r.a, nk, &r.b, nk, &r.v, nv, REF_END);
    if (!memory) return REF_NO_MEMORY;
    express(&r, x, p);
    const int status = ref_dplr_fwd(y, state, &r, p);
    free(memory);
    return status;
}

int ref_kda_bwd(const ref_kda_arrays *d, const double *dy, const double *dstate, const ref_kda_arrays *x,
                const ref_state *p) {
    const size_t nk = p->B * p->L * p->H * p->dk, nv = p->B * p->L * p->H * p->dv;
    ref_dplr_arrays r, dr = {.q = d->q, .k = d->k, .g = d->g, .start = d->start};
    void *memory = ref_carve(&r.a, nk, &r.b, nk, &r.v, nv, &dr.a, nk, &dr.b, nk, &dr.v, nv, REF_END);
    if (!memory) return REF_NO_MEMORY;
    express(&r, x, p);
    const int status = ref_dplr_bwd(&dr, dy, dstate, &r, p);
    for (size_t row = 0; row < p->B * p->L; row++)
        for (size_t h = 0; h < p->H; h++) {
            const size_t at = row * p->H + h;
            for (size_t c = 0; c < p->dk; c++) {
                const size_t i = at * p->dk + c;
                const double open = gate(x, p, row, h, c), *g = gate_at(x->g, p, 0, row, h, c);
                d->k[i] += open * dr.b[i] - x->beta[at] * dr.a[i];
                d->beta[at] -= x->k[i] * dr.a[i];
                if (g && d->g) d->g[g - x->g] += open * x->k[i] * dr.b[i];
            }
            ref_axpy(d->v + at * p->dv, dr.v + at * p->dv, x->beta[at], p->dv);
            d->beta[at] += ref_dot(x->v + at * p->dv, dr.v + at * p->dv, p->dv);
        }
    free(memory);
    return status;
}
