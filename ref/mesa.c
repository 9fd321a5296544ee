// mesa.c: MesaNet (2506.05233; fla/ops/mesa_net/naive.py), the linear system of each row solved exactly:
//   P = e^g P + beta k k^T,  S = e^g S + beta k v^T,  y = scale S^T A^{-1} q,  A = P + diag lam
#include <seqmix/ref_cores.h>

#include "gates.h"

#include <stdlib.h>

// A = L D L^T in place, unit L below the diagonal, D on it (A is symmetric and positive definite).
static void factor(double *A, size_t n) {
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++) {
            double sum = A[i * n + j];
            for (size_t m = 0; m < j; m++) sum -= A[i * n + m] * A[j * n + m] * A[m * n + m];
            A[i * n + j] = i == j ? sum : sum / A[j * n + j];
        }
}
static void solve(double *x, const double *A, size_t n) {
    for (size_t i = 0; i < n; i++) x[i] -= ref_dot(A + i * n, x, i);
    for (size_t i = 0; i < n; i++) x[i] /= A[i * n + i];
    for (size_t i = n; i-- > 0;)
        for (size_t m = i + 1; m < n; m++) x[i] -= A[m * n + i] * x[m];
}

// z = (P + diag lam)^{-1} z; A [n][n] is scratch.
static void solve_row(double *z, double *A, const double *P, const double *lam, size_t n) {
    ref_scale(A, P, 1, n * n);
    for (size_t c = 0; c < n; c++) A[c * n + c] += lam[c];
    factor(A, n);
    solve(z, A, n);
}

// One state of the two, M [dk][columns]: M' = e^g M + beta k r^T; M' may be M.
static void write_row(double *to, const double *from, const double *r, size_t columns,
                      const ref_mesa_arrays *x, const ref_state *p, size_t row) {
    const double open = x->g ? exp(x->g[row]) : 1;
    for (size_t c = 0; c < p->dk; c++) {
        ref_scale(to + c * columns, from + c * columns, open, columns);
        ref_axpy(to + c * columns, r, x->beta[row] * x->k[row * p->dk + c], columns);
    }
}

int ref_mesa_fwd(double *y, double *state, double *state_kk, const ref_mesa_arrays *x, const ref_state *p) {
    const size_t dk = p->dk, dv = p->dv;
    double *A, *z;
    void *memory = ref_carve(&A, dk * dk, &z, dk, REF_END);
    if (!memory) return REF_NO_MEMORY;
    for (size_t h = 0; h < p->H; h++) {
        double *S = state + h * dk * dv, *P = state_kk + h * dk * dk;
        state_begin(S, x->S, h * dk * dv, dk * dv);
        state_begin(P, x->P, h * dk * dk, dk * dk);
        for (size_t t = 0; t < p->L; t++) {
            const size_t row = t * p->H + h;
            write_row(S, S, x->v + row * dv, dv, x, p, row);
            write_row(P, P, x->k + row * dk, dk, x, p, row);
            ref_scale(z, x->q + row * dk, p->scale, dk);
            solve_row(z, A, P, x->lam + h * dk, dk);
            ref_gemm(y + row * dv, z, S, 1, dv, dk, dk, dv, dv, 0);
        }
    }
    free(memory);
    return REF_OK;
}

// With z = A^{-1} scale q, G = dS and E = dP: G += z dy^T, u = A^{-1} S dy; dq = scale u, E -= u z^T,
// dlam = -u o z; dbeta = k^T G v + k^T E k, dk = beta (G v + (E + E^T) k), dv = beta G^T k.
int ref_mesa_bwd(const ref_mesa_arrays *d, const double *dy, const ref_mesa_arrays *x, const ref_state *p) {
    const size_t dk = p->dk, dv = p->dv, nS = dk * dv, nP = dk * dk;
    double *S, *P, *G, *E, *A, *z, *u;
    void *memory =
        ref_carve(&S, (p->L + 1) * nS, &P, (p->L + 1) * nP, &G, nS, &E, nP, &A, nP, &z, dk, &u, dk, REF_END);
    if (!memory) return REF_NO_MEMORY;
    for (size_t h = 0; h < p->H; h++) {
        state_begin(S, x->S, h * nS, nS);
        state_begin(P, x->P, h * nP, nP);
        for (size_t t = 0; t < p->L; t++) {
            const size_t row = t * p->H + h;
            write_row(S + (t + 1) * nS, S + t * nS, x->v + row * dv, dv, x, p, row);
            write_row(P + (t + 1) * nP, P + t * nP, x->k + row * dk, dk, x, p, row);
        }
        ref_scale(G, G, 0, nS);
        ref_scale(E, E, 0, nP);
        for (size_t t = p->L; t-- > 0;) {
            const size_t row = t * p->H + h;
            const double *k = x->k + row * dk, *v = x->v + row * dv, *dout = dy + row * dv,
                         beta = x->beta[row], *now = P + (t + 1) * nP;
            const double open = x->g ? exp(x->g[row]) : 1;
            ref_scale(z, x->q + row * dk, p->scale, dk);
            solve_row(z, A, now, x->lam + h * dk, dk);
            for (size_t c = 0; c < dk; c++) u[c] = ref_dot(S + (t + 1) * nS + c * dv, dout, dv);
            solve(u, A, dk); // A is still factored
            ref_axpy(d->q + row * dk, u, p->scale, dk);
            for (size_t c = 0; c < dk; c++) {
                d->lam[h * dk + c] -= u[c] * z[c];
                ref_axpy(G + c * dv, dout, z[c], dv);
                ref_axpy(E + c * dk, z, -u[c], dk);
            }
            for (size_t c = 0; c < dk; c++) {
                const double Gv = ref_dot(G + c * dv, v, dv), Ek = ref_dot(E + c * dk, k, dk);
                d->beta[row] += k[c] * (Gv + Ek);
                d->k[row * dk + c] += beta * (Gv + Ek);
                ref_axpy(d->k + row * dk, E + c * dk, beta * k[c], dk); // E^T k
                ref_axpy(d->v + row * dv, G + c * dv, beta * k[c], dv);
            }
            if (x->g) d->g[row] += open * (ref_dot(G, S + t * nS, nS) + ref_dot(E, P + t * nP, nP));
            ref_scale(G, G, open, nS);
            ref_scale(E, E, open, nP);
        }
        if (d->S) ref_axpy(d->S + h * nS, G, 1, nS);
        if (d->P) ref_axpy(d->P + h * nP, E, 1, nP);
    }
    free(memory);
    return REF_OK;
}
