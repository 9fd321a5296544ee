// linear_attention.c: causal linear attention as [CHELA] and LinCAT use it (docs/MECHANISMS.md#linear), and
// the three equal forms of its core: quadratic, recurrent, tiled.
#include <seqmix/ref.h>

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

// q and k as the core meets them: through phi for the sum normaliser
static void features(double *f, const double *x, const ref_linattn *p) {
    if (p->norm == REF_LINATTN_SUM)
        ref_elu1_fwd(f, x, p->L * p->D);
    else
        memcpy(f, x, p->L * p->D * sizeof *f);
}

int ref_linear_attention_fwd(double *y, const double *q, const double *k, const double *v,
                             const ref_linattn *p) {
    double *fq, *fk, *norm;
    void *memory = ref_carve(&fq, p->L * p->D, &fk, p->L * p->D, &norm, p->L * p->H, REF_END);
    if (!memory) return REF_NO_MEMORY;
    features(fq, q, p);
    features(fk, k, p);
    ref_linattn_fwd(y, norm, fq, fk, v, p);
    free(memory);
    return REF_OK;
}

int ref_linear_attention_bwd(double *dq, double *dk, double *dv, const double *dy, const double *q,
                             const double *k, const double *v, const ref_linattn *p) {
    size_t n = p->L * p->D;
    double *fq, *fk, *y, *norm;
    void *memory = ref_carve(&fq, n, &fk, n, &y, n, &norm, p->L * p->H, REF_END);
    if (!memory) return REF_NO_MEMORY;
    features(fq, q, p);
    features(fk, k, p);
    ref_linattn_fwd(y, norm, fq, fk, v, p);
    ref_linattn_bwd(dq, dk, dv, dy, fq, fk, v, y, norm, p);
    if (p->norm == REF_LINATTN_SUM) {
        ref_elu1_bwd(dq, dq, fq, n);
        ref_elu1_bwd(dk, dk, fk, n);
    }
    free(memory);
    return REF_OK;
}
