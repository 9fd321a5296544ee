// mlp.c: the position-wise two-layer network D -> E -> D (Vaswani et al. 2017, Eq. 2, with GELU or SiLU).
#include <seqmix/ref.h>

#include <stdlib.h>

int ref_mlp_fwd(double *y, const double *x, const ref_mlp_weights *w, size_t N, size_t D, size_t E,
                ref_act act) {
    double *h;
    void *memory = ref_carve(&h, N * E, REF_END);
    if (!memory) return REF_NO_MEMORY;
    ref_linear_fwd(h, x, w->w1, w->b1, N, D, E);
    (act == REF_ACT_GELU ? ref_gelu_fwd : ref_silu_fwd)(h, h, N * E);
    ref_linear_fwd(y, h, w->w2, w->b2, N, E, D);
    free(memory);
    return REF_OK;
}

int ref_mlp_bwd(double *dx, const ref_mlp_weights *dw, const double *dy, const double *x,
                const ref_mlp_weights *w, size_t N, size_t D, size_t E, ref_act act) {
    double *pre, *h, *dh;
    void *memory = ref_carve(&pre, N * E, &h, N * E, &dh, N * E, REF_END);
    if (!memory) return REF_NO_MEMORY;
    ref_linear_fwd(pre, x, w->w1, w->b1, N, D, E);
    (act == REF_ACT_GELU ? ref_gelu_fwd : ref_silu_fwd)(h, pre, N * E);
    ref_linear_bwd(dh, dw->w2, dw->b2, dy, h, w->w2, N, E, D);
    (act == REF_ACT_GELU ? ref_gelu_bwd : ref_silu_bwd)(dh, dh, pre, N * E);
    ref_linear_bwd(dx, dw->w1, dw->b1, dh, x, w->w1, N, D, E);
    free(memory);
    return REF_OK;
}
