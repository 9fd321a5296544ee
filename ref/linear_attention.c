// linear_attention.c: causal linear attention (Katharopoulos et al. 2020; [CHELA]; MECHANISMS 6) in
// its three equal forms, and its normalisers. The gradient is that of the quadratic form.
#include "ref.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// O = (Q K^T o mask) V
void ref_linattn_quadratic(double *o, const double *q, const double *k, const double *v, size_t L, size_t D,
                           size_t H) {
    size_t d = D / H;
    memset(o, 0, L * D * sizeof *o);
    for (size_t h = 0; h < H; h++)
        for (size_t t = 0; t < L; t++)
            for (size_t s = 0; s <= t; s++) {
                double a = ref_dot(q + t * D + h * d, k + s * D + h * d, d);
                ref_axpy(o + t * D + h * d, v + s * D + h * d, a, d);
            }
}

// S_t = S_{t-1} + k_t v_t^T, o_t = S_t^T q_t
int ref_linattn_recurrent(double *o, const double *q, const double *k, const double *v, size_t L, size_t D,
                          size_t H) {
    size_t d = D / H;
    double *S;
    void *memory = ref_carve(&S, d * d, REF_END);
    if (!memory) return REF_NO_MEMORY;
    for (size_t h = 0; h < H; h++) {
        memset(S, 0, d * d * sizeof *S);
        for (size_t t = 0; t < L; t++) {
            size_t at = t * D + h * d;
            for (size_t a = 0; a < d; a++) ref_axpy(S + a * d, v + at, k[at + a], d);
            ref_gemm(o + at, q + at, S, 1, d, d, d, d, d, 0);
        }
    }
    free(memory);
    return REF_OK;
}

// Per block of C rows ([CHELA]'s tiling): O = Q S + (Q K^T o mask) V, then S += K^T V
int ref_linattn_tiled(double *o, const double *q, const double *k, const double *v, size_t L, size_t D,
                      size_t H, size_t C) {
    size_t d = D / H;
    double *S, *A;
    void *memory = ref_carve(&S, d * d, &A, C * C, REF_END);
    if (!memory) return REF_NO_MEMORY;
    for (size_t h = 0; h < H; h++) {
        memset(S, 0, d * d * sizeof *S);
        for (size_t start = 0; start < L; start += C) {
            size_t n = L - start < C ? L - start : C, at = start * D + h * d;
            ref_gemm(A, q + at, k + at, n, n, d, D, D, n, REF_TRANS_B);
            for (size_t i = 0; i < n; i++)
                for (size_t j = i + 1; j < n; j++) A[i * n + j] = 0;
            ref_gemm(o + at, q + at, S, n, d, d, D, d, D, 0);
            ref_gemm(o + at, A, v + at, n, d, n, n, D, D, REF_ACCUMULATE);
            ref_gemm(S, k + at, v + at, d, d, n, D, D, d, REF_TRANS_A | REF_ACCUMULATE);
        }
    }
    free(memory);
    return REF_OK;
}

// phi = elu + 1, as exp(x) for x <= 0
static void phi_fwd(double *y, const double *x, size_t n) {
    for (size_t i = 0; i < n; i++) y[i] = x[i] > 0 ? x[i] + 1 : exp(x[i]);
}

static void phi_bwd(double *dx, const double *dy, const double *x, size_t n) {
    for (size_t i = 0; i < n; i++) dx[i] = dy[i] * (x[i] > 0 ? 1 : exp(x[i]));
}

// den_t [L][H] = q_t . sum_{s<=t} k_s
static void denominators(double *den, const double *q, const double *k, size_t L, size_t D, size_t H) {
    size_t d = D / H;
    for (size_t h = 0; h < H; h++)
        for (size_t t = 0; t < L; t++) {
            double sum = 0;
            for (size_t s = 0; s <= t; s++) sum += ref_dot(q + t * D + h * d, k + s * D + h * d, d);
            den[t * H + h] = sum;
        }
}

int ref_linear_attention_fwd(double *y, const double *q, const double *k, const double *v,
                             const ref_linattn *p) {
    size_t L = p->L, D = p->D, H = p->H, d = D / H, n = L * D;
    double *o, *fq, *fk, *den;
    void *memory = ref_carve(&o, n, &fq, n, &fk, n, &den, L * H, REF_END);
    if (!memory) return REF_NO_MEMORY;
    switch (p->norm) {
    case REF_LINATTN_NONE:
        ref_linattn_quadratic(y, q, k, v, L, D, H);
        break;
    case REF_LINATTN_RMS: // [CHELA] Norm: the rows of [L*H][d], no affine
        ref_linattn_quadratic(o, q, k, v, L, D, H);
        ref_rmsnorm_fwd(y, den, o, NULL, L * H, d, p->eps);
        break;
    case REF_LINATTN_SUM:
        phi_fwd(fq, q, n);
        phi_fwd(fk, k, n);
        ref_linattn_quadratic(o, fq, fk, v, L, D, H);
        denominators(den, fq, fk, L, D, H);
        for (size_t r = 0; r < L * H; r++)
            ref_scale(y + r * d, o + r * d, den[r] < FLT_MIN ? 0 : 1 / den[r], d);
        break;
    }
    free(memory);
    return REF_OK;
}

// With a_ts = q_t . k_s: da_ts = do_t . v_s + dden_t, where dden [L][H] (or NULL) is the gradient of sum_s
// a_ts.
static void quadratic_bwd(double *dq, double *dk, double *dv, const double *dout, const double *dden,
                          const double *q, const double *k, const double *v, size_t L, size_t D, size_t H) {
    size_t d = D / H;
    memset(dq, 0, L * D * sizeof *dq);
    memset(dk, 0, L * D * sizeof *dk);
    memset(dv, 0, L * D * sizeof *dv);
    for (size_t h = 0; h < H; h++)
        for (size_t t = 0; t < L; t++)
            for (size_t s = 0; s <= t; s++) {
                size_t qt = t * D + h * d, ks = s * D + h * d;
                double a = ref_dot(q + qt, k + ks, d);
                double da = ref_dot(dout + qt, v + ks, d) + (dden ? dden[t * H + h] : 0);
                ref_axpy(dv + ks, dout + qt, a, d);
                ref_axpy(dq + qt, k + ks, da, d);
                ref_axpy(dk + ks, q + qt, da, d);
            }
}

int ref_linear_attention_bwd(double *dq, double *dk, double *dv, const double *dy, const double *q,
                             const double *k, const double *v, const ref_linattn *p) {
    size_t L = p->L, D = p->D, H = p->H, d = D / H, n = L * D;
    double *o, *dout, *fq, *fk, *dfq, *dfk, *den, *dden;
    void *memory =
        ref_carve(&o, n, &dout, n, &fq, n, &fk, n, &dfq, n, &dfk, n, &den, L * H, &dden, L * H, REF_END);
    if (!memory) return REF_NO_MEMORY;
    switch (p->norm) {
    case REF_LINATTN_NONE:
        quadratic_bwd(dq, dk, dv, dy, NULL, q, k, v, L, D, H);
        break;
    case REF_LINATTN_RMS:
        ref_linattn_quadratic(o, q, k, v, L, D, H);
        ref_rmsnorm_fwd(dfq, den, o, NULL, L * H, d, p->eps);
        ref_rmsnorm_bwd(dout, NULL, dy, o, NULL, den, L * H, d);
        quadratic_bwd(dq, dk, dv, dout, NULL, q, k, v, L, D, H);
        break;
    case REF_LINATTN_SUM: // y = o / den: do = dy / den, dden = -(dy . o) / den^2
        phi_fwd(fq, q, n);
        phi_fwd(fk, k, n);
        ref_linattn_quadratic(o, fq, fk, v, L, D, H);
        denominators(den, fq, fk, L, D, H);
        for (size_t r = 0; r < L * H; r++) {
            double rden = den[r] < FLT_MIN ? 0 : 1 / den[r];
            ref_scale(dout + r * d, dy + r * d, rden, d);
            dden[r] = -ref_dot(dy + r * d, o + r * d, d) * rden * rden;
        }
        quadratic_bwd(dfq, dfk, dv, dout, dden, fq, fk, v, L, D, H);
        phi_bwd(dq, dfq, q, n);
        phi_bwd(dk, dfk, k, n);
        break;
    }
    free(memory);
    return REF_OK;
}
