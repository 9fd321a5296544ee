// cat.c: convolution-augmented attention ([CAT] Def. 1; docs/MECHANISMS.md#cat): filtered projections, then
// softmax attention (CAT) or linear attention (LinCAT).
#include <seqmix/ref.h>

#include <stdlib.h>
#include <string.h>

static size_t taps(const ref_filtered *p) { return p->two_sided ? 2 * p->W + 1 : p->W; }
static size_t ahead(const ref_filtered *p) { return p->two_sided ? p->W : 0; }

int ref_filtered_linear_fwd(double *y, const double *x, const double *w, const double *f,
                            const ref_filtered *p) {
    size_t L = p->L, D = p->D, H = p->H, d = D / H, n = L * D;
    double *u, *unit, *rnorm;
    void *memory = ref_carve(&u, n, &unit, n, &rnorm, L, REF_END);
    if (!memory) return REF_NO_MEMORY;
    if (p->multi_head) { // filters on the projected heads
        ref_linear_fwd(u, x, w, NULL, L, D, D);
        if (f)
            ref_conv_heads_fwd(y, u, f, 1, L, D, H, p->W, D, D);
        else
            memcpy(y, u, n * sizeof *y);
    } else {
        for (size_t h = 0; h < H; h++) { // K_h = norm(X * F_h) W_k[:, h]
            if (f)
                ref_conv_fwd(u, x, f + h * taps(p), 1, L, D, 1, taps(p), ahead(p), D, D);
            else
                memcpy(u, x, n * sizeof *u);
            if (p->unit) ref_unitnorm_fwd(unit, rnorm, u, L, D);
            ref_gemm(y + h * d, p->unit ? unit : u, w + h * d, L, d, D, D, D, D, 0);
        }
    }
    free(memory);
    return REF_OK;
}

int ref_filtered_linear_bwd(double *dx, double *dw, double *df, const double *dy, const double *x,
                            const double *w, const double *f, const ref_filtered *p) {
    size_t L = p->L, D = p->D, H = p->H, d = D / H, n = L * D;
    double *u, *unit, *rnorm, *du, *dunit, *part;
    void *memory = ref_carve(&u, n, &unit, n, &rnorm, L, &du, n, &dunit, n, &part, n, REF_END);
    if (!memory) return REF_NO_MEMORY;
    if (p->multi_head) {
        ref_linear_fwd(u, x, w, NULL, L, D, D);
        if (f)
            ref_conv_heads_bwd(du, df, dy, u, f, 1, L, D, H, p->W, D, D);
        else
            memcpy(du, dy, n * sizeof *du);
        ref_linear_bwd(dx, dw, NULL, du, x, w, L, D, D);
    } else {
        memset(dx, 0, n * sizeof *dx);
        for (size_t h = 0; h < H; h++) {
            if (f)
                ref_conv_fwd(u, x, f + h * taps(p), 1, L, D, 1, taps(p), ahead(p), D, D);
            else
                memcpy(u, x, n * sizeof *u);
            if (p->unit) ref_unitnorm_fwd(unit, rnorm, u, L, D);
            const double *in = p->unit ? unit : u;
            ref_gemm(dw + h * d, in, dy + h * d, D, d, L, D, D, D, REF_TRANS_A | REF_ACCUMULATE);
            ref_gemm(p->unit ? dunit : du, dy + h * d, w + h * d, L, D, d, D, D, D, REF_TRANS_B);
            if (p->unit) ref_unitnorm_bwd(du, dunit, u, rnorm, L, D);
            if (f)
                ref_conv_bwd(part, df + h * taps(p), du, x, f + h * taps(p), 1, L, D, 1, taps(p), ahead(p), D,
                             D);
            ref_axpy(dx, f ? part : du, 1, n);
        }
    }
    free(memory);
    return REF_OK;
}

static ref_filtered filtered(const ref_cat *p, int is_v) {
    return (ref_filtered){.L = p->L,
                          .D = p->D,
                          .H = p->H,
                          .W = p->W,
                          .multi_head = p->multi_head,
                          .two_sided = is_v && p->two_sided,
                          .unit = is_v ? p->norm_v : p->norm};
}

// Both kinds of attention on the filtered q, k, v.
static int mix_fwd(double *o, const double *q, const double *k, const double *v, const ref_cat_weights *w,
                   const ref_cat *p, int linear) {
    ref_heads heads = {
        .L = p->L, .D = p->D, .H = p->H, .causal = 1, .pos = p->pos, .rope_base = p->rope_base};
    ref_linattn sum = {.B = 1, .L = p->L, .D = p->D, .H = p->H, .stride = p->D, .norm = REF_LINATTN_SUM};
    return linear ? ref_linear_attention_fwd(o, q, k, v, &sum)
                  : ref_heads_fwd(o, q, k, v, w->filter_maps, &heads);
}

static int mix_bwd(double *dq, double *dk, double *dv, const ref_cat_weights *dw, const double *dout,
                   const double *q, const double *k, const double *v, const ref_cat_weights *w,
                   const ref_cat *p, int linear) {
    ref_heads heads = {
        .L = p->L, .D = p->D, .H = p->H, .causal = 1, .pos = p->pos, .rope_base = p->rope_base};
    ref_linattn sum = {.B = 1, .L = p->L, .D = p->D, .H = p->H, .stride = p->D, .norm = REF_LINATTN_SUM};
    return linear ? ref_linear_attention_bwd(dq, dk, dv, dout, q, k, v, &sum)
                  : ref_heads_bwd(dq, dk, dv, dw->filter_maps, dout, q, k, v, w->filter_maps, &heads);
}

static int project(double *q, double *k, double *v, const double *x, const ref_cat_weights *w,
                   const ref_cat *p) {
    ref_filtered fqk = filtered(p, 0), fv = filtered(p, 1);
    int status = ref_filtered_linear_fwd(q, x, w->wq, w->filter_q, &fqk);
    if (!status) status = ref_filtered_linear_fwd(k, x, w->wk, w->filter_k, &fqk);
    if (!status) status = ref_filtered_linear_fwd(v, x, w->wv, w->filter_v, &fv);
    return status;
}

static int layer_fwd(double *y, const double *x, const ref_cat_weights *w, const ref_cat *p, int linear) {
    size_t L = p->L, D = p->D, n = L * D;
    double *q, *k, *v, *o;
    void *memory = ref_carve(&q, n, &k, n, &v, n, &o, n, REF_END);
    if (!memory) return REF_NO_MEMORY;
    int status = project(q, k, v, x, w, p);
    if (!status) status = mix_fwd(o, q, k, v, w, p, linear);
    ref_linear_fwd(y, o, w->wo, NULL, L, D, D);
    free(memory);
    return status;
}

static int layer_bwd(double *dx, const ref_cat_weights *dw, const double *dy, const double *x,
                     const ref_cat_weights *w, const ref_cat *p, int linear) {
    size_t L = p->L, D = p->D, n = L * D;
    ref_filtered fqk = filtered(p, 0), fv = filtered(p, 1);
    double *q, *k, *v, *o, *dq, *dk, *dv, *dout, *part;
    void *memory = ref_carve(&q, n, &k, n, &v, n, &o, n, &dq, n, &dk, n, &dv, n, &dout, n, &part, n, REF_END);
    if (!memory) return REF_NO_MEMORY;
    int status = project(q, k, v, x, w, p);
    if (!status) status = mix_fwd(o, q, k, v, w, p, linear);
    ref_linear_bwd(dout, dw->wo, NULL, dy, o, w->wo, L, D, D);
    if (!status) status = mix_bwd(dq, dk, dv, dw, dout, q, k, v, w, p, linear);
    if (!status) status = ref_filtered_linear_bwd(dx, dw->wq, dw->filter_q, dq, x, w->wq, w->filter_q, &fqk);
    if (!status)
        status = ref_filtered_linear_bwd(part, dw->wk, dw->filter_k, dk, x, w->wk, w->filter_k, &fqk);
    ref_axpy(dx, part, 1, n);
    if (!status) status = ref_filtered_linear_bwd(part, dw->wv, dw->filter_v, dv, x, w->wv, w->filter_v, &fv);
    ref_axpy(dx, part, 1, n);
    free(memory);
    return status;
}

int ref_cat_attention_fwd(double *y, const double *x, const ref_cat_weights *w, const ref_cat *p) {
    return layer_fwd(y, x, w, p, 0);
}

int ref_cat_attention_bwd(double *dx, const ref_cat_weights *dw, const double *dy, const double *x,
                          const ref_cat_weights *w, const ref_cat *p) {
    return layer_bwd(dx, dw, dy, x, w, p, 0);
}

int ref_lincat_fwd(double *y, const double *x, const ref_cat_weights *w, const ref_cat *p) {
    return layer_fwd(y, x, w, p, 1);
}

int ref_lincat_bwd(double *dx, const ref_cat_weights *dw, const double *dy, const double *x,
                   const ref_cat_weights *w, const ref_cat *p) {
    return layer_bwd(dx, dw, dy, x, w, p, 1);
}
