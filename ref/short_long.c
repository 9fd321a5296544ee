// short_long.c: the short-long convolution ([CHELA] Eqs. 7-8; docs/MECHANISMS.md#chela).
#include <seqmix/ref.h>

#include <stdlib.h>

void ref_long_conv_fwd(double *y, const double *x, const double *k, const double *skip, size_t L, size_t D,
                       double lambda) {
    ref_longconv_fwd(y, x, k, skip, 1, L, D, L, lambda, D);
}

void ref_long_conv_bwd(double *dx, double *dk, double *dskip, const double *dy, const double *x,
                       const double *k, const double *skip, size_t L, size_t D, double lambda) {
    ref_longconv_bwd(dx, dk, dskip, dy, x, k, skip, 1, L, D, L, lambda, D);
}

// ceil(2 log10 L) + 1 in integers
size_t ref_short_n(size_t L) {
    size_t k = 0;
    for (double power = 1; power < (double)L * (double)L; power *= 10) k++;
    return k + 1;
}

// [CHELA] Eq. 8, what fuses: the two parallel short kernels, the smaller padded with zeros at its old end
void ref_short_fuse(double *fused, const double *short_3, const double *short_n, size_t D, size_t n) {
    size_t W = n > 3 ? n : 3;
    for (size_t c = 0; c < D; c++)
        for (size_t w = 0; w < W; w++)
            fused[c * W + w] = (w < 3 ? short_3[c * 3 + w] : 0) + (w < n ? short_n[c * n + w] : 0);
}

int ref_short_sum_fwd(double *y, const double *x, const double *short_3, const double *short_n, size_t L,
                      size_t D, size_t n) {
    double *part;
    void *memory = ref_carve(&part, L * D, REF_END);
    if (!memory) return REF_NO_MEMORY;
    ref_conv_fwd(y, x, short_3, 1, L, D, D, 3, 0, D, D);
    ref_conv_fwd(part, x, short_n, 1, L, D, D, n, 0, D, D);
    ref_axpy(y, part, 1, L * D);
    free(memory);
    return REF_OK;
}

int ref_short_sum_bwd(double *dx, double *dshort_3, double *dshort_n, const double *dy, const double *x,
                      const double *short_3, const double *short_n, size_t L, size_t D, size_t n) {
    double *part;
    void *memory = ref_carve(&part, L * D, REF_END);
    if (!memory) return REF_NO_MEMORY;
    ref_conv_bwd(dx, dshort_3, dy, x, short_3, 1, L, D, D, 3, 0, D, D);
    ref_conv_bwd(part, dshort_n, dy, x, short_n, 1, L, D, D, n, 0, D, D);
    ref_axpy(dx, part, 1, L * D);
    free(memory);
    return REF_OK;
}

// [CHELA] Eq. 7: Z = K_l * SiLU(K_s * X); the skip acts on the SiLU's output. With conv_ahead the long kernel
// has a part for the rows after each.
int ref_short_long_fwd(double *z, const double *x, const ref_short_long_weights *w, const ref_short_long *p) {
    size_t L = p->L, D = p->D;
    double *s;
    void *memory = ref_carve(&s, L * D, REF_END);
    if (!memory) return REF_NO_MEMORY;
    int status = ref_short_sum_fwd(s, x, w->short_3, w->short_n, L, D, p->n);
    ref_silu_fwd(s, s, L * D);
    ref_long_conv_fwd(z, s, w->conv_k, w->conv_skip, L, D, p->lambda);
    if (w->conv_ahead) ref_long_conv_ahead_fwd(z, s, w->conv_ahead, L, D, p->lambda);
    free(memory);
    return status;
}

int ref_short_long_bwd(double *dx, const ref_short_long_weights *dw, const double *dz, const double *x,
                       const ref_short_long_weights *w, const ref_short_long *p) {
    size_t L = p->L, D = p->D, n = L * D;
    double *pre, *s, *ds;
    void *memory = ref_carve(&pre, n, &s, n, &ds, n, REF_END);
    if (!memory) return REF_NO_MEMORY;
    int status = ref_short_sum_fwd(pre, x, w->short_3, w->short_n, L, D, p->n);
    ref_silu_fwd(s, pre, n);
    ref_long_conv_bwd(ds, dw->conv_k, dw->conv_skip, dz, s, w->conv_k, w->conv_skip, L, D, p->lambda);
    if (w->conv_ahead) ref_long_conv_ahead_bwd(ds, dw->conv_ahead, dz, s, w->conv_ahead, L, D, p->lambda);
    ref_silu_bwd(ds, ds, pre, n);
    if (!status)
        status = ref_short_sum_bwd(dx, dw->short_3, dw->short_n, ds, x, w->short_3, w->short_n, L, D, p->n);
    free(memory);
    return status;
}
