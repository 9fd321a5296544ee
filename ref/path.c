// path.c: PaTH (2505.16381; fla/ops/path_attn/naive.py): between a query and a key stand the reflections of
// the rows between,
//   logit_ij = scale q_i^T M_i .. M_{j+1} k_j + g_{j+1} + .. + g_i,  M_t = I - beta_t w_t w_t^T
// From the diagonal down: p_i = q_i, p_{j-1} = M_j p_j, logit_ij = scale p_j.k_j + gates.
#include <seqmix/ref_cores.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Weights A [i+1] of row i, and P [i+1][dk].
static void weigh(double *A, double *P, const ref_path_arrays *x, const ref_state *p, size_t h, size_t i) {
    const size_t dk = p->dk;
    double most = -INFINITY, sum = 0, gates = 0;
    memcpy(P + i * dk, x->q + (i * p->H + h) * dk, dk * sizeof *P);
    for (size_t j = i + 1; j-- > 0;) {
        const size_t row = j * p->H + h;
        const double *now = P + j * dk, *w = x->w + row * dk;
        A[j] = p->scale * ref_dot(now, x->k + row * dk, dk) + gates;
        most = fmax(most, A[j]);
        if (x->g) gates += x->g[row];
        if (!j) break;
        memcpy(P + (j - 1) * dk, now, dk * sizeof *P);
        ref_axpy(P + (j - 1) * dk, w, -x->beta[row] * ref_dot(w, now, dk), dk);
    }
    for (size_t j = 0; j <= i; j++) sum += A[j] = exp(A[j] - most);
    for (size_t j = 0; j <= i; j++) A[j] /= sum;
}

int ref_path_fwd(double *y, const ref_path_arrays *x, const ref_state *p) {
    double *A, *P;
    void *memory = ref_carve(&A, p->L, &P, p->L * p->dk, REF_END);
    if (!memory) return REF_NO_MEMORY;
    memset(y, 0, p->L * p->H * p->dv * sizeof *y);
    for (size_t h = 0; h < p->H; h++)
        for (size_t i = 0; i < p->L; i++) {
            weigh(A, P, x, p, h, i);
            for (size_t j = 0; j <= i; j++)
                ref_axpy(y + (i * p->H + h) * p->dv, x->v + (j * p->H + h) * p->dv, A[j], p->dv);
        }
    free(memory);
    return REF_OK;
}

// With r = dp_{j-1}: p_{j-1} = p_j - beta w (w.p_j) gives dp_j = r - beta w (w.r) + scale ds_j k_j,
// dbeta = -(w.p_j)(w.r), dw = -beta ((w.p_j) r + (w.r) p_j).
int ref_path_bwd(const ref_path_arrays *d, const double *dy, const ref_path_arrays *x, const ref_state *p) {
    const size_t dk = p->dk, dv = p->dv;
    double *A, *dA, *P, *r;
    void *memory = ref_carve(&A, p->L, &dA, p->L, &P, p->L * dk, &r, dk, REF_END);
    if (!memory) return REF_NO_MEMORY;
    for (size_t h = 0; h < p->H; h++)
        for (size_t i = 0; i < p->L; i++) {
            const double *dout = dy + (i * p->H + h) * dv;
            double all = 0, gates = 0;
            weigh(A, P, x, p, h, i);
            for (size_t j = 0; j <= i; j++) {
                dA[j] = ref_dot(dout, x->v + (j * p->H + h) * dv, dv);
                all += A[j] * dA[j];
                ref_axpy(d->v + (j * p->H + h) * dv, dout, A[j], dv);
            }
            memset(r, 0, dk * sizeof *r);
            for (size_t j = 0; j <= i; j++) {
                const size_t row = j * p->H + h;
                const double *w = x->w + row * dk, *now = P + j * dk, ds = A[j] * (dA[j] - all);
                if (j) {
                    const double wp = ref_dot(w, now, dk), wr = ref_dot(w, r, dk), beta = x->beta[row];
                    d->beta[row] -= wp * wr;
                    ref_axpy(d->w + row * dk, r, -beta * wp, dk);
                    ref_axpy(d->w + row * dk, now, -beta * wr, dk);
                    ref_axpy(r, w, -beta * wr, dk);
                    if (x->g) d->g[row] += gates;
                }
                gates += ds;
                ref_axpy(r, x->k + row * dk, p->scale * ds, dk);
                ref_axpy(d->k + row * dk, now, p->scale * ds, dk);
            }
            ref_axpy(d->q + (i * p->H + h) * dk, r, 1, dk);
        }
    free(memory);
    return REF_OK;
}
