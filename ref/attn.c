// attn.c: softmax attention with what models of 2024 to 2026 add, in the order in which they add it: QK-norm,
// grouped heads, soft cap (Gemma 2), forget gates (FoX: 2503.02130), window, sinks (gpt-oss).
#include <seqmix/ref_cores.h>

#include <math.h>
#include <stdlib.h>

// The first row after the last, and the first, that row i sees.
static size_t end_of(const ref_attn *p, size_t i) { return p->causal ? i + 1 : p->L; }
static size_t first_of(const ref_attn *p, size_t i) {
    return p->causal && p->window && i + 1 > p->window ? i + 1 - p->window : 0;
}

// Weights [L] of row i, head h, over the rows that it sees; inner [L]: before the cap, NULL: not wanted.
// Returns the sink's weight.
static double weigh(double *A, double *inner, const double *q, const double *k, const ref_attn_arrays *x,
                    const ref_attn *p, size_t h, size_t i) {
    const size_t first = first_of(p, i), end = end_of(p, i), dk = p->dk;
    double most = x->sinks ? x->sinks[h] : -INFINITY, sum = 0, gates = 0;
    for (size_t j = end; j-- > first;) {
        double s =
            p->scale * ref_dot(q + (i * p->H + h) * dk, k + (j * p->Hkv + h / (p->H / p->Hkv)) * dk, dk);
        if (inner) inner[j] = s;
        if (p->softcap > 0) s = p->softcap * tanh(s / p->softcap);
        if (x->g && j < i) gates += x->g[(j + 1) * p->H + h];
        A[j] = s + gates;
        most = fmax(most, A[j]);
    }
    for (size_t j = first; j < end && p->sigmoid; j++) A[j] = 1 / (1 + exp(-A[j]));
    if (p->sigmoid) return 0;
    for (size_t j = first; j < end; j++) sum += A[j] = exp(A[j] - most);
    const double sink = x->sinks ? exp(x->sinks[h] - most) : 0;
    for (size_t j = first; j < end; j++) A[j] /= sum + sink;
    return sink / (sum + sink);
}

// q and k after their norms, where there are any; the memory, or NULL.
static void *norms(double **q, double **k, double **rstd_q, double **rstd_k, const ref_attn_arrays *x,
                   const ref_attn *p) {
    const size_t nq = p->L * p->H, nk = p->L * p->Hkv;
    void *memory = ref_carve(q, x->q_gain ? nq * p->dk : 0, k, x->k_gain ? nk * p->dk : 0, rstd_q, nq, rstd_k,
                             nk, REF_END);
    if (!memory) return NULL;
    if (x->q_gain) ref_rmsnorm_fwd(*q, *rstd_q, x->q, x->q_gain, nq, p->dk, p->eps);
    if (x->k_gain) ref_rmsnorm_fwd(*k, *rstd_k, x->k, x->k_gain, nk, p->dk, p->eps);
    if (!x->q_gain) *q = x->q;
    if (!x->k_gain) *k = x->k;
    return memory;
}

int ref_attn_fwd(double *y, const ref_attn_arrays *x, const ref_attn *p) {
    double *q, *k, *rq, *rk, *A;
    void *memory = norms(&q, &k, &rq, &rk, x, p), *row = ref_carve(&A, p->L, REF_END);
    for (size_t h = 0; memory && row && h < p->H; h++)
        for (size_t i = 0; i < p->L; i++) {
            double *out = y + (i * p->H + h) * p->dv;
            weigh(A, NULL, q, k, x, p, h, i);
            for (size_t c = 0; c < p->dv; c++) out[c] = 0;
            for (size_t j = first_of(p, i); j < end_of(p, i); j++)
                ref_axpy(out, x->v + (j * p->Hkv + h / (p->H / p->Hkv)) * p->dv, A[j], p->dv);
        }
    const int status = memory && row ? REF_OK : REF_NO_MEMORY;
    free(row);
    free(memory);
    return status;
}

// dA_j = dy.v_j, ds_j = A_j (dA_j - sum A dA); the sink's is -A_sink sum A dA. The sum is dy.y. A gate is in
// the logits of all rows before it, seen from it and after: running sums. The cap's slope is 1 - tanh^2.
static void row_back(double *dq, double *dk, const ref_attn_arrays *d, double *dA, const double *A,
                     const double *inner, double sink, const double *q, const double *k, const double *dout,
                     const ref_attn_arrays *x, const ref_attn *p, size_t h, size_t i) {
    const size_t first = first_of(p, i), end = end_of(p, i), to = (i * p->H + h) * p->dk;
    double all = 0, gates = 0;
    for (size_t j = first; j < end; j++) {
        const size_t at = (j * p->Hkv + h / (p->H / p->Hkv)) * p->dv;
        dA[j] = ref_dot(dout, x->v + at, p->dv);
        all += A[j] * dA[j];
        ref_axpy(d->v + at, dout, A[j], p->dv);
    }
    if (p->y) all = ref_dot(dout, p->y + (i * p->H + h) * p->dv, p->dv);
    if (x->sinks) d->sinks[h] -= sink * all;
    for (size_t j = first; j < end; j++) {
        const size_t at = (j * p->Hkv + h / (p->H / p->Hkv)) * p->dk;
        double ds = A[j] * (dA[j] - (p->sigmoid ? A[j] * dA[j] : all));
        gates += ds;
        if (x->g && j < i) d->g[(j + 1) * p->H + h] += gates;
        if (p->softcap > 0) ds *= 1 - pow(tanh(inner[j] / p->softcap), 2);
        ref_axpy(dq + to, k + at, p->scale * ds, p->dk);
        ref_axpy(dk + at, q + to, p->scale * ds, p->dk);
    }
}

int ref_attn_bwd(const ref_attn_arrays *d, const double *dy, const ref_attn_arrays *x, const ref_attn *p) {
    const size_t nq = p->L * p->H, nk = p->L * p->Hkv;
    double *q, *k, *rq, *rk, *A, *inner, *dA, *dq, *dk, *dx;
    void *normed = norms(&q, &k, &rq, &rk, x, p),
         *memory = ref_carve(&A, p->L, &inner, p->L, &dA, p->L, &dq, nq * p->dk, &dk, nk * p->dk, &dx,
                             (nq > nk ? nq : nk) * p->dk, REF_END);
    const int status = normed && memory ? REF_OK : REF_NO_MEMORY;
    for (size_t h = 0; !status && h < p->H; h++)
        for (size_t i = 0; i < p->L; i++) {
            const double sink = weigh(A, inner, q, k, x, p, h, i);
            row_back(dq, dk, d, dA, A, inner, sink, q, k, dy + (i * p->H + h) * p->dv, x, p, h, i);
        }
    if (!status) {
        if (x->q_gain) ref_rmsnorm_bwd(dx, d->q_gain, dq, x->q, x->q_gain, rq, nq, p->dk);
        ref_axpy(d->q, x->q_gain ? dx : dq, 1, nq * p->dk);
        if (x->k_gain) ref_rmsnorm_bwd(dx, d->k_gain, dk, x->k, x->k_gain, rk, nk, p->dk);
        ref_axpy(d->k, x->k_gain ? dx : dk, 1, nk * p->dk);
    }
    free(memory);
    free(normed);
    return status;
}
