// deltaproduct.c: DeltaProduct (2502.10297; fla/ops/gated_delta_product/naive.py): n delta steps a row, the
// gate before the first, the query after the last: kda.c on n L rows, of which the last of each n is read.
#include <seqmix/ref_cores.h>

#include <stdlib.h>
#include <string.h>

// What kda.c takes instead: a query in the last of n rows, else 0; a gate in the first, else 0.
static void express(ref_kda_arrays *to, const ref_deltaproduct_arrays *x, const ref_state *p, size_t n) {
    to->k = x->k, to->v = x->v, to->beta = x->beta, to->start = x->start;
    for (size_t row = 0; row < p->B * p->L; row++) {
        memcpy(to->q + (row * n + n - 1) * p->H * p->dk, x->q + row * p->H * p->dk,
               p->H * p->dk * sizeof *x->q);
        if (x->g) memcpy(to->g + row * n * p->H, x->g + row * p->H, p->H * sizeof *x->g);
    }
    if (!x->g) to->g = NULL;
}

static ref_state steps(const ref_state *p, size_t n) {
    ref_state s = *p;
    s.L *= n;
    return s;
}

int ref_deltaproduct_fwd(double *y, double *state, const ref_deltaproduct_arrays *x, const ref_state *p,
                         size_t n) {
    const ref_state s = steps(p, n);
    const size_t rows = s.B * s.L, width = p->H * p->dv;
    ref_kda_arrays r;
    double *all;
    void *memory = ref_carve(&r.q, rows * p->H * p->dk, &r.g, rows * p->H, &all, rows * width, REF_END);
    if (!memory) return REF_NO_MEMORY;
    express(&r, x, p, n);
    const int status = ref_kda_fwd(all, state, &r, &s);
    for (size_t row = 0; row < p->B * p->L; row++)
        memcpy(y + row * width, all + (row * n + n - 1) * width, width * sizeof *y);
    free(memory);
    return status;
}

int ref_deltaproduct_bwd(const ref_deltaproduct_arrays *d, const double *dy, const double *dstate,
                         const ref_deltaproduct_arrays *x, const ref_state *p, size_t n) {
    const ref_state s = steps(p, n);
    const size_t rows = s.B * s.L, nq = p->H * p->dk, width = p->H * p->dv;
    ref_kda_arrays r, dr = {.k = d->k, .v = d->v, .beta = d->beta, .start = d->start};
    double *all;
    void *memory = ref_carve(&r.q, rows * nq, &r.g, rows * p->H, &dr.q, rows * nq, &dr.g, rows * p->H, &all,
                             rows * width, REF_END);
    if (!memory) return REF_NO_MEMORY;
    express(&r, x, p, n);
    for (size_t row = 0; row < p->B * p->L; row++)
        memcpy(all + (row * n + n - 1) * width, dy + row * width, width * sizeof *dy);
    const int status = ref_kda_bwd(&dr, all, dstate, &r, &s);
    for (size_t row = 0; row < p->B * p->L; row++) {
        ref_axpy(d->q + row * nq, dr.q + (row * n + n - 1) * nq, 1, nq);
        if (x->g && d->g) ref_axpy(d->g + row * p->H, dr.g + row * n * p->H, 1, p->H);
    }
    free(memory);
    return status;
}
