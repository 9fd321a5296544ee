// recurrent.c: LSTM (Hochreiter & Schmidhuber 1997) and GRU (Cho et al. 2014), row by row. z [B][L][gates E]
// is x W + b. Backward runs forward again and keeps what it needs.
#include <seqmix/ref.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double sigma(double x) { return 1 / (1 + exp(-x)); }

// a = h U
static void product(double *a, const double *h, const double *u, size_t E, size_t G) {
    ref_gemm(a, h, u, 1, G, E, E, G, G, 0);
}

// One row, gates i f g o; s [2][E] is h, c. gate [4][E] may be NULL.
static void lstm_row(double *s, double *gate, double *a, const double *z, const double *u, size_t E) {
    product(a, s, u, E, 4 * E);
    for (size_t e = 0; e < E; e++) {
        const double i = sigma(z[e] + a[e]), f = sigma(z[E + e] + a[E + e]),
                     g = tanh(z[2 * E + e] + a[2 * E + e]), o = sigma(z[3 * E + e] + a[3 * E + e]);
        s[E + e] = f * s[E + e] + i * g;
        s[e] = o * tanh(s[E + e]);
        if (gate) gate[e] = i, gate[E + e] = f, gate[2 * E + e] = g, gate[3 * E + e] = o;
    }
}
// One row, gates r z n; gate [4][E]: these, and what h says to n.
static void gru_row(double *h, double *gate, double *a, const double *z, const double *u, const double *bias,
                    size_t E) {
    product(a, h, u, E, 3 * E);
    ref_axpy(a, bias, 1, 3 * E);
    for (size_t e = 0; e < E; e++) {
        const double r = sigma(z[e] + a[e]), t = sigma(z[E + e] + a[E + e]),
                     n = tanh(z[2 * E + e] + r * a[2 * E + e]);
        h[e] = (1 - t) * n + t * h[e];
        if (gate) gate[e] = r, gate[E + e] = t, gate[2 * E + e] = n, gate[3 * E + e] = a[2 * E + e];
    }
}
static void begin(double *s, const double *start, size_t n) {
    if (start)
        memcpy(s, start, n * sizeof *s);
    else
        memset(s, 0, n * sizeof *s);
}

int ref_lstm_fwd(double *y, double *last, const double *z, const double *u, const double *start,
                 const ref_recurrent *p) {
    const size_t E = p->E;
    double *s, *a;
    void *memory = ref_carve(&s, 2 * E, &a, 4 * E, REF_END);
    if (!memory) return REF_NO_MEMORY;
    for (size_t b = 0; b < p->B; b++) {
        begin(s, start ? start + b * 2 * E : NULL, 2 * E);
        for (size_t t = 0; t < p->L; t++) {
            lstm_row(s, NULL, a, z + (b * p->L + t) * 4 * E, u, E);
            memcpy(y + (b * p->L + t) * E, s, E * sizeof *y);
        }
        if (last) memcpy(last + b * 2 * E, s, 2 * E * sizeof *s);
    }
    free(memory);
    return REF_OK;
}

int ref_lstm_bwd(double *dz, double *du, double *dstart, const double *dy, const double *dlast,
                 const double *z, const double *u, const double *start, const ref_recurrent *p) {
    const size_t E = p->E, L = p->L;
    double *s, *gates, *a, *d; // s [L+1][2][E]: before each row, and after the last
    void *memory = ref_carve(&s, (L + 1) * 2 * E, &gates, L * 4 * E, &a, 4 * E, &d, 2 * E, REF_END);
    if (!memory) return REF_NO_MEMORY;
    for (size_t b = 0; b < p->B; b++) {
        begin(s, start ? start + b * 2 * E : NULL, 2 * E);
        for (size_t t = 0; t < L; t++) {
            memcpy(s + (t + 1) * 2 * E, s + t * 2 * E, 2 * E * sizeof *s);
            lstm_row(s + (t + 1) * 2 * E, gates + t * 4 * E, a, z + (b * L + t) * 4 * E, u, E);
        }
        begin(d, dlast ? dlast + b * 2 * E : NULL, 2 * E);
        for (size_t t = L; t-- > 0;) {
            const double *past = s + t * 2 * E, *now = past + 2 * E, *gate = gates + t * 4 * E;
            double *to = dz + (b * L + t) * 4 * E;
            for (size_t e = 0; e < E; e++) {
                const double i = gate[e], f = gate[E + e], g = gate[2 * E + e], o = gate[3 * E + e],
                             c = tanh(now[E + e]), dh = d[e] + dy[(b * L + t) * E + e],
                             dc = d[E + e] + dh * o * (1 - c * c);
                to[e] = dc * g * i * (1 - i);
                to[E + e] = dc * past[E + e] * f * (1 - f);
                to[2 * E + e] = dc * i * (1 - g * g);
                to[3 * E + e] = dh * c * o * (1 - o);
                d[E + e] = dc * f;
            }
            ref_gemm(d, to, u, 1, E, 4 * E, 4 * E, 4 * E, E, REF_TRANS_B);
            ref_gemm(du, past, to, E, 4 * E, 1, E, 4 * E, 4 * E, REF_TRANS_A | REF_ACCUMULATE);
        }
        if (dstart) memcpy(dstart + b * 2 * E, d, 2 * E * sizeof *d);
    }
    free(memory);
    return REF_OK;
}

int ref_gru_fwd(double *y, double *last, const double *z, const double *u, const double *bias,
                const double *start, const ref_recurrent *p) {
    const size_t E = p->E;
    double *h, *a;
    void *memory = ref_carve(&h, E, &a, 3 * E, REF_END);
    if (!memory) return REF_NO_MEMORY;
    for (size_t b = 0; b < p->B; b++) {
        begin(h, start ? start + b * E : NULL, E);
        for (size_t t = 0; t < p->L; t++) {
            gru_row(h, NULL, a, z + (b * p->L + t) * 3 * E, u, bias, E);
            memcpy(y + (b * p->L + t) * E, h, E * sizeof *y);
        }
        if (last) memcpy(last + b * E, h, E * sizeof *h);
    }
    free(memory);
    return REF_OK;
}

int ref_gru_bwd(double *dz, double *du, double *dbias, double *dstart, const double *dy, const double *dlast,
                const double *z, const double *u, const double *bias, const double *start,
                const ref_recurrent *p) {
    const size_t E = p->E, L = p->L;
    double *h, *gates, *a, *d;
    void *memory = ref_carve(&h, (L + 1) * E, &gates, L * 4 * E, &a, 3 * E, &d, E, REF_END);
    if (!memory) return REF_NO_MEMORY;
    for (size_t b = 0; b < p->B; b++) {
        begin(h, start ? start + b * E : NULL, E);
        for (size_t t = 0; t < L; t++) {
            memcpy(h + (t + 1) * E, h + t * E, E * sizeof *h);
            gru_row(h + (t + 1) * E, gates + t * 4 * E, a, z + (b * L + t) * 3 * E, u, bias, E);
        }
        begin(d, dlast ? dlast + b * E : NULL, E);
        for (size_t t = L; t-- > 0;) {
            const double *past = h + t * E, *gate = gates + t * 4 * E;
            double *to = dz + (b * L + t) * 3 * E;
            for (size_t e = 0; e < E; e++) {
                const double r = gate[e], zt = gate[E + e], n = gate[2 * E + e], said = gate[3 * E + e],
                             dh = d[e] + dy[(b * L + t) * E + e], dn = dh * (1 - zt) * (1 - n * n);
                to[e] = a[e] = dn * said * r * (1 - r);
                to[E + e] = a[E + e] = dh * (past[e] - n) * zt * (1 - zt);
                to[2 * E + e] = dn;
                a[2 * E + e] = dn * r;
                d[e] = dh * zt;
            }
            ref_gemm(d, a, u, 1, E, 3 * E, 3 * E, 3 * E, E, REF_TRANS_B | REF_ACCUMULATE);
            ref_gemm(du, past, a, E, 3 * E, 1, E, 3 * E, 3 * E, REF_TRANS_A | REF_ACCUMULATE);
            ref_axpy(dbias, a, 1, 3 * E);
        }
        if (dstart) memcpy(dstart + b * E, d, E * sizeof *d);
    }
    free(memory);
    return REF_OK;
}
