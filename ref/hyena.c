// hyena.c: Hyena (Poli et al. 2023): the recurrence of gates and long convolutions (Def. 3.1), and its
// implicit filters (Sec. 3.3).
#include <seqmix/ref.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

// z = v; for n = 1 .. N: z = x_n o (h_n * z + skip_n z). zs, where not NULL, [N][L D]: z before each step.
static void forward(double *y, double *zs, const double *v, const ref_hyena *p, double *work) {
    const size_t n = p->L * p->D;
    memcpy(y, v, n * sizeof *y);
    for (size_t i = 0; i < p->N; i++) {
        if (zs) memcpy(zs + i * n, y, n * sizeof *y);
        ref_long_conv_fwd(work, y, p->h[i], p->skip[i], p->L, p->D, 0);
        ref_mul(y, work, p->x[i], n);
    }
}
int ref_hyena_fwd(double *y, const double *v, const ref_hyena *p) {
    double *work;
    void *memory = ref_carve(&work, p->L * p->D, REF_END);
    if (!memory) return REF_NO_MEMORY;
    forward(y, NULL, v, p, work);
    free(memory);
    return REF_OK;
}
int ref_hyena_bwd(double *dv, const ref_hyena *d, const double *dy, const double *v, const ref_hyena *p) {
    const size_t n = p->L * p->D;
    double *zs, *y, *conv, *dz, *dconv;
    void *memory = ref_carve(&zs, p->N * n, &y, n, &conv, n, &dz, n, &dconv, n, REF_END);
    if (!memory) return REF_NO_MEMORY;
    forward(y, zs, v, p, conv);
    memcpy(dz, dy, n * sizeof *dz);
    for (size_t i = p->N; i-- > 0;) {
        ref_long_conv_fwd(conv, zs + i * n, p->h[i], p->skip[i], p->L, p->D, 0);
        ref_mul(d->x[i], dz, conv, n);
        ref_mul(dconv, dz, p->x[i], n);
        ref_long_conv_bwd(dz, d->h[i], d->skip[i], dconv, zs + i * n, p->h[i], p->skip[i], p->L, p->D, 0);
    }
    memcpy(dv, dz, n * sizeof *dv);
    free(memory);
    return REF_OK;
}

// k [D][L], k_ct = (sin(f (sin(f (pos W1 + b1)) W2 + b2)) W3)_tc (e^{-rate_c t / (L - 1)} + shift)
static double window(const ref_hyena_filters *p, size_t t, size_t c) {
    return exp(-p->rates[c] * (double)t / (double)(p->L > 1 ? p->L - 1 : 1)) + p->shift;
}
typedef struct {
    double *a1, *s1, *a2, *s2, *h; // before and after each sine; the network's output [L][D]
} layers;
static void network(const layers *w, const ref_hyena_filters *p) {
    const size_t n = p->L * p->hidden;
    ref_linear_fwd(w->a1, p->pos, p->w1, p->b1, p->L, p->e, p->hidden);
    for (size_t i = 0; i < n; i++) w->s1[i] = sin(p->freq * w->a1[i]);
    ref_linear_fwd(w->a2, w->s1, p->w2, p->b2, p->L, p->hidden, p->hidden);
    for (size_t i = 0; i < n; i++) w->s2[i] = sin(p->freq * w->a2[i]);
    ref_linear_fwd(w->h, w->s2, p->w3, NULL, p->L, p->hidden, p->D);
}
int ref_hyena_filters_fwd(double *k, const ref_hyena_filters *p) {
    const size_t n = p->L * p->hidden;
    layers w;
    void *memory = ref_carve(&w.a1, n, &w.s1, n, &w.a2, n, &w.s2, n, &w.h, p->L * p->D, REF_END);
    if (!memory) return REF_NO_MEMORY;
    network(&w, p);
    for (size_t t = 0; t < p->L; t++)
        for (size_t c = 0; c < p->D; c++) k[c * p->L + t] = w.h[t * p->D + c] * window(p, t, c);
    free(memory);
    return REF_OK;
}
int ref_hyena_filters_bwd(const ref_hyena_filters *d, const double *dk, const ref_hyena_filters *p) {
    const size_t n = p->L * p->hidden;
    layers w;
    double *dh, *ds;
    void *memory = ref_carve(&w.a1, n, &w.s1, n, &w.a2, n, &w.s2, n, &w.h, p->L * p->D, &dh, p->L * p->D, &ds,
                             n, REF_END);
    if (!memory) return REF_NO_MEMORY;
    network(&w, p);
    for (size_t t = 0; t < p->L; t++)
        for (size_t c = 0; c < p->D; c++) {
            const double grad = dk[c * p->L + t];
            dh[t * p->D + c] = grad * window(p, t, c);
            d->rates[c] -= grad * w.h[t * p->D + c] * (window(p, t, c) - p->shift) * (double)t /
                           (double)(p->L > 1 ? p->L - 1 : 1);
        }
    ref_linear_bwd(ds, d->w3, NULL, dh, w.s2, p->w3, p->L, p->hidden, p->D);
    for (size_t i = 0; i < n; i++) ds[i] *= p->freq * cos(p->freq * w.a2[i]);
    ref_linear_bwd(w.s2, d->w2, d->b2, ds, w.s1, p->w2, p->L, p->hidden, p->hidden);
    for (size_t i = 0; i < n; i++) ds[i] = w.s2[i] * p->freq * cos(p->freq * w.a1[i]);
    ref_linear_bwd(d->pos, d->w1, d->b1, ds, p->pos, p->w1, p->L, p->e, p->hidden);
    free(memory);
    return REF_OK;
}
