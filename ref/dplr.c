// dplr.c: diagonal plus low rank, the general core of the delta family
// (RWKV-7: 2503.14456; fla/ops/generalized_delta_rule/dplr), row by row:
//   S_t = diag(e^{g_t}) S_{t-1} + a_t w_t^T + k_t v_t^T,  w_t = S_{t-1}^T b_t,  y_t = scale S_t^T q_t
#include <seqmix/ref_cores.h>

#include "gates.h"

#include <stdlib.h>

// From the state before row t to the one after it (may be the same array); w [dv].
static void write_row(double *S, double *w, const double *before, const ref_dplr_arrays *x,
                      const ref_state *p, size_t b, size_t t, size_t h) {
    const size_t row = (b * p->L + t) * p->H + h, dk = p->dk, dv = p->dv;
    ref_gemm(w, x->b + row * dk, before, 1, dv, dk, dk, dv, dv, 0);
    gates_apply(S, before, x->g, p, b, t, h);
    for (size_t c = 0; c < dk; c++) {
        ref_axpy(S + c * dv, w, x->a[row * dk + c], dv);
        ref_axpy(S + c * dv, x->v + row * dv, x->k[row * dk + c], dv);
    }
}

int ref_dplr_fwd(double *y, double *state, const ref_dplr_arrays *x, const ref_state *p) {
    const size_t size = p->dk * p->dv, dk = p->dk, dv = p->dv;
    double *w;
    void *memory = ref_carve(&w, dv, REF_END);
    if (!memory) return REF_NO_MEMORY;
    for (size_t b = 0; b < p->B; b++)
        for (size_t h = 0; h < p->H; h++) {
            double *S = state + (b * p->H + h) * size;
            state_begin(S, x->start, (b * p->H + h) * size, size);
            for (size_t t = 0; t < p->L; t++) {
                const size_t row = (b * p->L + t) * p->H + h;
                write_row(S, w, S, x, p, b, t, h);
                ref_gemm(y + row * dv, x->q + row * dk, S, 1, dv, dk, dk, dv, dv, 0);
                ref_scale(y + row * dv, y + row * dv, p->scale, dv);
            }
        }
    free(memory);
    return REF_OK;
}

// The adjoint of the state, from the last row back. With G = dS_t:
//   dq = scale S_t dy, G += scale q dy^T;  da = G w, dk = G v, dv = G^T k, dw = G^T a;
//   dg = e^g <G, S_{t-1}> by rows, db = S_{t-1} dw, dS_{t-1} = diag(e^g) G + b dw^T
int ref_dplr_bwd(const ref_dplr_arrays *d, const double *dy, const double *dstate, const ref_dplr_arrays *x,
                 const ref_state *p) {
    const size_t size = p->dk * p->dv, dk = p->dk, dv = p->dv;
    double *S, *w, *G, *dw; // S [L+1]: before each row, and after the last
    void *memory = ref_carve(&S, (p->L + 1) * size, &w, p->L * dv, &G, size, &dw, dv, REF_END);
    if (!memory) return REF_NO_MEMORY;
    for (size_t b = 0; b < p->B; b++)
        for (size_t h = 0; h < p->H; h++) {
            const size_t head = (b * p->H + h) * size;
            state_begin(S, x->start, head, size);
            for (size_t t = 0; t < p->L; t++)
                write_row(S + (t + 1) * size, w + t * dv, S + t * size, x, p, b, t, h);
            state_begin(G, dstate, head, size);
            for (size_t t = p->L; t-- > 0;) {
                const size_t row = (b * p->L + t) * p->H + h;
                const double *now = S + (t + 1) * size, *before = S + t * size, *dout = dy + row * dv;
                ref_scale(dw, dw, 0, dv);
                for (size_t c = 0; c < dk; c++) {
                    const size_t i = row * dk + c;
                    double *Gc = G + c * dv;
                    d->q[i] += p->scale * ref_dot(now + c * dv, dout, dv);
                    ref_axpy(Gc, dout, p->scale * x->q[i], dv);
                    d->a[i] += ref_dot(Gc, w + t * dv, dv);
                    d->k[i] += ref_dot(Gc, x->v + row * dv, dv);
                    ref_axpy(d->v + row * dv, Gc, x->k[i], dv);
                    ref_axpy(dw, Gc, x->a[i], dv);
                }
                gates_back(G, d->g, before, x->g, p, b, t, h);
                for (size_t c = 0; c < dk; c++) {
                    d->b[row * dk + c] += ref_dot(before + c * dv, dw, dv);
                    ref_axpy(G + c * dv, dw, x->b[row * dk + c], dv);
                }
            }
            if (d->start) ref_axpy(d->start + head, G, 1, size);
        }
    free(memory);
    return REF_OK;
}
