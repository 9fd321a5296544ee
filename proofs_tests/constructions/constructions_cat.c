// constructions_cat.c: the layers of [CAT]'s Theorems 1 to 3 and Corollary 1,
// from the operations of constructions.c.
#include "constructions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <seqmix/ref.h>

// ---- Theorem 1 and Corollary 1 --------------------------------------------------------------------------
// norm(X * F), or with `delay` norm(X * F * D_1)
static int ngrams(double *out, double *work, const double *x, const con_recall *m, int delay,
                  con_precision p) {
    const size_t taps = m->N + (size_t)delay;
    double *f = calloc(taps, sizeof *f);
    if (!f) return CON_NO_MEMORY;
    memcpy(f + delay, m->filter, m->N * sizeof *f);
    int status = con_conv(m->no_norm ? out : work, x, f, m->L, m->D, taps, 0, p);
    free(f);
    if (!status && !m->no_norm) status = con_unitnorm(out, work, m->L, m->D, p);
    return status;
}

int con_recall_fwd(double *y, double *map, const double *x, const con_recall *m, con_precision p) {
    const size_t L = m->L, D = m->D, n = L * D, starts = m->N - 1 + (m->delay == CON_KEY_DELAY);
    double *work, *q, *k, *v, *wq, *bias;
    void *memory = ref_carve(&work, n, &q, n, &k, n, &v, n, &wq, D * D, &bias, 2 * L - 1, REF_END);
    if (!memory) return CON_NO_MEMORY;
    int status = ngrams(k, work, x, m, 0, p);
    for (size_t c = 0; c < D; c++) wq[c * D + c] = m->c * sqrt((double)D);
    if (!status) status = con_linear(q, k, wq, L, D, D, p);
    if (!status && m->delay == CON_KEY_DELAY) status = ngrams(k, work, x, m, 1, p);
    if (m->mask_starts) memset(k, 0, (starts < L ? starts : L) * D * sizeof *k);
    if (m->delay == CON_KEY_DELAY) {
        memcpy(v, x, n * sizeof *v);
    } else { // the tap at t + 1 comes first: future = 1
        const double delay[2] = {m->delay == CON_VALUE_DELAY ? 2 : 1, 0};
        if (!status) status = con_conv(v, x, delay, L, D, 2, 1, p);
    }
    if (m->delay == CON_STRICT) bias[L - 1] = -INFINITY; // j = i
    if (!status) status = con_attention(y, map, q, k, v, m->delay == CON_STRICT ? bias : NULL, L, D, 1, p);
    free(memory);
    return status;
}

// The filtered, normalised N-gram whose token i steps back is digit i of `code` (base V + 1; V: before the
// sequence). Returns 0 where that is no N-gram: a token before one that is before the sequence, or nothing at
// all.
static int encode(double *u, size_t code, const double *table, size_t V, size_t D, const double *filter,
                  size_t N, int starts) {
    int before = 0;
    double square = 0;
    memset(u, 0, D * sizeof *u);
    for (size_t i = 0; i < N; i++, code /= V + 1) {
        const size_t token = code % (V + 1);
        if (token == V) {
            if (i == 0 || !starts) return 0;
            before = 1;
        } else {
            if (before) return 0;
            for (size_t c = 0; c < D; c++) u[c] += filter[i] * table[token * D + c];
        }
    }
    for (size_t c = 0; c < D; c++) square += u[c] * u[c];
    for (size_t c = 0; c < D && square > 0; c++) u[c] /= sqrt(square);
    return 1;
}
double con_wrong_cosine(const double *table, size_t V, size_t D, const double *filter, size_t N, int starts) {
    size_t codes = 1;
    double best = -1, *u;
    for (size_t i = 0; i < N; i++) codes *= V + 1;
    void *memory = ref_carve(&u, codes * D, REF_END);
    char *full = calloc(codes, 1), *any = calloc(codes, 1);
    if (memory && full && any) {
        for (size_t a = 0; a < codes; a++) {
            full[a] = (char)encode(u + a * D, a, table, V, D, filter, N, 0);
            any[a] = (char)encode(u + a * D, a, table, V, D, filter, N, starts);
        }
        for (size_t a = 0; a < codes; a++) { // a query is a full N-gram; a key may reach before the sequence
            double own = 0;
            for (size_t c = 0; full[a] && c < D; c++) own += u[a * D + c] * u[a * D + c];
            if (full[a] && own == 0) best = 1; // filtered to nothing: it matches itself no better than others
            for (size_t b = 0; full[a] && b < codes; b++) {
                if (!any[b] || a == b) continue;
                double cosine = 0;
                for (size_t c = 0; c < D; c++) cosine += u[a * D + c] * u[b * D + c];
                if (cosine > best) best = cosine;
            }
        }
    } else {
        best = -2;
    }
    free(memory), free(full), free(any);
    return best;
}

// ---- Theorem 2 ------------------------------------------------------------------------------------------
int con_ar_fwd(double *y, double *weights, const double *x, const double *W, const double *F, size_t L,
               size_t D, size_t R, con_precision p) {
    double *q, *v, *o, *wt, *map;
    void *memory = ref_carve(&q, L * D, &v, L * D, &o, L * D, &wt, D * D, &map, weights ? L * L : 1, REF_END);
    if (!memory) return CON_NO_MEMORY;
    for (size_t i = 0; i < D; i++)
        for (size_t j = 0; j < D; j++)
            wt[j * D + i] = W[i * D + j] * sqrt((double)D); // score_j = x_j . W x_L
    int status = con_linear(q, x, wt, L, D, D, p);
    if (!status) status = con_conv(v, x, F, L, D, 2 * R + 1, R, p);
    if (!status) status = con_attention(o, weights ? map : NULL, q, x, v, NULL, L, D, 1, p);
    memcpy(y, o + (L - 1) * D, D * sizeof *y);
    if (weights) memcpy(weights, map + (L - 1) * L, L * sizeof *weights);
    free(memory);
    return status;
}

// ---- Theorem 3 ------------------------------------------------------------------------------------------
// Columns: signals 0..S-1, N, B, K.
//   embeddings   signal s: e_s + e_K    noise: e_N + e_K    marker: e_B + e_K
//   W_k          e_s -> -e_s    e_N, e_B -> -e_K    e_K -> 0        W_v: the identity on signals
//   query filter rho^i over the whole past: q_s = rho^(age of s), so the oldest signal that was not emitted
//   since has the least q_s and the largest logit -c q_s; noise and marker have -c sum_i rho^i, the least of
//   all.
static void copy_weights(double *wq, double *wk, double *wv, double *taps, size_t length, const con_copy *m) {
    const size_t S = m->S, D = S + 3;
    const double L = (double)m->L, c = exp(1) * L * log(2 * L / m->epsilon);
    for (size_t i = 0; i < D; i++) wq[i * D + i] = c * sqrt((double)D);
    for (size_t s = 0; s < S; s++) {
        wk[s * D + s] = -1;
        wv[s * D + s] = 1;
    }
    wk[S * D + S + 2] = wk[(S + 1) * D + S + 2] = -1;
    for (size_t i = 0; i < length; i++) taps[i] = pow(1 - 1 / L, (double)i);
}
int con_copy_look(int32_t *answer, double *y, double *query, double *map, const int32_t *tokens,
                  size_t length, const con_copy *m, con_precision p) {
    const size_t S = m->S, D = S + 3, n = length * D;
    double *x, *mixed, *q, *k, *v, *o, *wq, *wk, *wv, *taps;
    void *memory = ref_carve(&x, n, &mixed, n, &q, n, &k, n, &v, n, &o, n, &wq, D * D, &wk, D * D, &wv, D * D,
                             &taps, length, REF_END);
    if (!memory) return CON_NO_MEMORY;
    for (size_t t = 0; t < length; t++) x[t * D + (size_t)tokens[t]] = x[t * D + S + 2] = 1;
    copy_weights(wq, wk, wv, taps, length, m);
    int status = con_conv(mixed, x, taps, length, D, length, 0, p);
    if (!status) status = con_linear(q, mixed, wq, length, D, D, p);
    if (!status) status = con_linear(k, x, wk, length, D, D, p);
    if (!status) status = con_linear(v, x, wv, length, D, D, p);
    if (!status) status = con_attention(o, map, q, k, v, NULL, length, D, 1, p);
    for (size_t t = 0; t < length; t++) {
        size_t best = 0;
        for (size_t s = 1; s < S; s++)
            if (o[t * D + s] > o[t * D + best]) best = s;
        answer[t] = (int32_t)best;
    }
    if (y) memcpy(y, o, n * sizeof *y);
    if (query) memcpy(query, mixed, n * sizeof *query);
    free(memory);
    return status;
}
int con_copy_fwd(int32_t *answer, double *y, const int32_t *tokens, size_t length, const con_copy *m,
                 con_precision p) {
    return con_copy_look(answer, y, NULL, NULL, tokens, length, m, p);
}
int con_copy_generate(int32_t *tokens, size_t start, size_t n, const con_copy *m, con_precision p) {
    int32_t *answer = malloc((start + n + 1) * sizeof *answer);
    if (!answer) return CON_NO_MEMORY;
    int status = CON_OK;
    for (size_t i = 0; !status && i < n; i++) {
        status = con_copy_fwd(answer, NULL, tokens, start + i + 1, m, p);
        if (!status) tokens[start + i + 1] = answer[start + i];
    }
    free(answer);
    return status;
}
