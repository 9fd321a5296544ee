// delta.c: the delta rule (Schlag et al. 2021; Yang et al. 2024),
// gated (Yang, Kautz & Hatamizadeh 2024), row by row:
//   R_t = diag(e^{g_t}) S_{t-1},  u_t = beta_t (v_t - R_t^T k_t),  S_t = R_t + k_t u_t^T,
//   y_t = scale S_t^T q_t
// What the state answers to k_t moves towards v_t by the share beta_t.
#include "gates.h"

#include <stdlib.h>
#include <string.h>

// From the state before row t: R, miss = v - R^T k, S = R + k (beta miss)^T. S may be `before`.
static void write_row(double *S, double *R, double *miss, const double *before, const double *k,
                      const double *v, double beta, const double *g, const ref_state *p, size_t b, size_t t,
                      size_t h) {
    gates_apply(R, before, g, p, b, t, h);
    ref_gemm(miss, k, R, 1, p->dv, p->dk, p->dk, p->dv, p->dv, 0);
    for (size_t e = 0; e < p->dv; e++) miss[e] = v[e] - miss[e];
    memcpy(S, R, p->dk * p->dv * sizeof *S);
    for (size_t a = 0; a < p->dk; a++) ref_axpy(S + a * p->dv, miss, beta * k[a], p->dv);
}

int ref_delta_fwd(double *y, double *state, const double *q, const double *k, const double *v,
                  const double *beta, const double *g, const double *start, const ref_state *p) {
    const size_t size = p->dk * p->dv;
    double *R, *miss;
    void *memory = ref_carve(&R, size, &miss, p->dv, REF_END);
    if (!memory) return REF_NO_MEMORY;
    for (size_t b = 0; b < p->B; b++)
        for (size_t h = 0; h < p->H; h++) {
            double *S = state + (b * p->H + h) * size;
            state_begin(S, start, (b * p->H + h) * size, size);
            for (size_t t = 0; t < p->L; t++) {
                const size_t row = (b * p->L + t) * p->H + h;
                write_row(S, R, miss, S, k + row * p->dk, v + row * p->dv, beta[row], g, p, b, t, h);
                ref_gemm(y + row * p->dv, q + row * p->dk, S, 1, p->dv, p->dk, p->dk, p->dv, p->dv, 0);
                ref_scale(y + row * p->dv, y + row * p->dv, p->scale, p->dv);
            }
        }
    free(memory);
    return REF_OK;
}

// The adjoint of the state, from the last row back. With G = dS_t and miss = v - R^T k:
//   du = G^T k, dbeta = du . miss, dv = beta du, dR = G - k dv^T, dk = beta G miss - R dv,
//   dS_{t-1} = diag(e^g) dR
int ref_delta_bwd(double *dq, double *dk, double *dv, double *dbeta, double *dg, double *dstart,
                  const double *dy, const double *dstate, const double *q, const double *k, const double *v,
                  const double *beta, const double *g, const double *start, const ref_state *p) {
    const size_t size = p->dk * p->dv;
    double *S, *R, *G, *miss, *du;
    void *memory =
        ref_carve(&S, (p->L + 1) * size, &R, size, &G, size, &miss, p->L * p->dv, &du, p->dv, REF_END);
    if (!memory) return REF_NO_MEMORY;
    for (size_t b = 0; b < p->B; b++)
        for (size_t h = 0; h < p->H; h++) {
            const size_t head = (b * p->H + h) * size;
            state_begin(S, start, head, size);
            for (size_t t = 0; t < p->L; t++) {
                const size_t row = (b * p->L + t) * p->H + h;
                write_row(S + (t + 1) * size, R, miss + t * p->dv, S + t * size, k + row * p->dk,
                          v + row * p->dv, beta[row], g, p, b, t, h);
            }
            state_begin(G, dstate, head, size);
            for (size_t t = p->L; t-- > 0;) {
                const size_t row = (b * p->L + t) * p->H + h;
                const double *kt = k + row * p->dk, *dout = dy + row * p->dv, *e = miss + t * p->dv;
                for (size_t a = 0; a < p->dk; a++) {
                    dq[row * p->dk + a] = p->scale * ref_dot(S + (t + 1) * size + a * p->dv, dout, p->dv);
                    ref_axpy(G + a * p->dv, dout, p->scale * q[row * p->dk + a], p->dv);
                }
                gates_apply(R, S + t * size, g, p, b, t, h); // again: kept for all rows it is as much as S
                ref_gemm(du, kt, G, 1, p->dv, p->dk, p->dk, p->dv, p->dv, 0);
                dbeta[row] = ref_dot(du, e, p->dv);
                ref_scale(dv + row * p->dv, du, beta[row], p->dv);
                for (size_t a = 0; a < p->dk; a++) {
                    dk[row * p->dk + a] = beta[row] * ref_dot(G + a * p->dv, e, p->dv) -
                                          ref_dot(R + a * p->dv, dv + row * p->dv, p->dv);
                    ref_axpy(G + a * p->dv, dv + row * p->dv, -kt[a], p->dv);
                }
                gates_back(G, dg, S + t * size, g, p, b, t, h);
            }
            if (dstart) memcpy(dstart + head, G, size * sizeof *G);
        }
    free(memory);
    return REF_OK;
}
