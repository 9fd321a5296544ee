// chela.c: the CHELA layer and block ([CHELA] Eqs. 9-15; docs/MECHANISMS.md#chela).
#include <seqmix/ref.h>

#include <stdlib.h>
#include <string.h>

typedef struct {
    double *z, *q, *k, *v_pre, *v, *ga_pre, *ga, *a, *m, *go;
    ref_short_long conv;
    ref_linattn attn;
    void *memory;
} state;

static void scale_shift(double *y, const double *z, const double *alpha, const double *beta, size_t L,
                        size_t D) {
    for (size_t t = 0; t < L; t++)
        for (size_t c = 0; c < D; c++) y[t * D + c] = alpha[c] * z[t * D + c] + beta[c];
}

static int forward(state *s, const double *x, const ref_chela_weights *w, const ref_chela *p) {
    size_t L = p->L, D = p->D, n = L * D;
    s->memory = ref_carve(&s->z, n, &s->q, n, &s->k, n, &s->v_pre, n, &s->v, n, &s->ga_pre, n, &s->ga, n,
                          &s->a, n, &s->m, n, &s->go, n, REF_END);
    if (!s->memory) return REF_NO_MEMORY;
    s->conv = (ref_short_long){.L = L, .D = D, .n = p->n, .lambda = p->lambda};
    s->attn = (ref_linattn){.B = 1,
                            .L = L,
                            .D = D,
                            .H = p->H,
                            .stride = D,
                            .norm = REF_LINATTN_RMS,
                            .eps = p->eps,
                            .both = p->both};
    // Z = ShortLong(X);  Q = alpha_q o Z + beta_q;  K = alpha_k o Z + beta_k
    int status = ref_short_long_fwd(s->z, x, &w->conv, &s->conv);
    scale_shift(s->q, s->z, w->alpha_q, w->beta_q, L, D);
    scale_shift(s->k, s->z, w->alpha_k, w->beta_k, L, D);
    // V = SiLU(X W_v + b_v)
    ref_linear_fwd(s->v_pre, x, w->w_v, w->b_v, L, D, D);
    ref_silu_fwd(s->v, s->v_pre, n);
    // Eq. 10: G_a = SiLU(Z W_g + b_g); printed with W_v, a W_g of its own is meant
    ref_linear_fwd(s->ga_pre, s->z, w->w_g, w->b_g, L, D, D);
    ref_silu_fwd(s->ga, s->ga_pre, n);
    // M = Norm(LinAttn(Q, K, V)) o G_a
    if (!status) status = ref_linear_attention_fwd(s->a, s->q, s->k, s->v, &s->attn);
    ref_mul(s->m, s->a, s->ga, n);
    // G_o = sigma(Z W_o + b_o)
    ref_linear_fwd(s->go, s->z, w->w_o, w->b_o, L, D, D);
    ref_sigmoid_fwd(s->go, s->go, n);
    if (status) free(s->memory);
    return status;
}

int ref_chela_layer_fwd(double *u, double *z, double *m, const double *x, const ref_chela_weights *w,
                        const ref_chela *p) {
    size_t n = p->L * p->D;
    state s;
    int status = forward(&s, x, w, p);
    if (status) return status;
    for (size_t i = 0; i < n; i++) u[i] = s.m[i] * s.go[i] + x[i] * (1 - s.go[i]); // U, Eq. 15
    if (z) memcpy(z, s.z, n * sizeof *z);
    if (m) memcpy(m, s.m, n * sizeof *m);
    free(s.memory);
    return REF_OK;
}

// dz += alpha dy; dalpha, dbeta accumulate
static void scale_shift_bwd(double *dz, double *dalpha, double *dbeta, const double *dy, const double *z,
                            const double *alpha, size_t L, size_t D) {
    for (size_t t = 0; t < L; t++)
        for (size_t c = 0; c < D; c++) {
            dz[t * D + c] += alpha[c] * dy[t * D + c];
            dalpha[c] += dy[t * D + c] * z[t * D + c];
            dbeta[c] += dy[t * D + c];
        }
}

int ref_chela_layer_bwd(double *dx, const ref_chela_weights *dw, const double *du, const double *x,
                        const ref_chela_weights *w, const ref_chela *p) {
    size_t L = p->L, D = p->D, n = L * D;
    double *dm, *dgo, *da, *dga, *dq, *dk, *dv, *dz, *part;
    state s;
    int status = forward(&s, x, w, p);
    if (status) return status;
    void *memory =
        ref_carve(&dm, n, &dgo, n, &da, n, &dga, n, &dq, n, &dk, n, &dv, n, &dz, n, &part, n, REF_END);
    if (!memory) {
        free(s.memory);
        return REF_NO_MEMORY;
    }
    for (size_t i = 0; i < n; i++) { // U = M o G_o + X o (1 - G_o)
        dm[i] = du[i] * s.go[i];
        dgo[i] = du[i] * (s.m[i] - x[i]);
        dx[i] = du[i] * (1 - s.go[i]);
    }
    ref_sigmoid_bwd(dgo, dgo, s.go, n); // G_o
    ref_linear_bwd(dz, dw->w_o, dw->b_o, dgo, s.z, w->w_o, L, D, D);
    ref_mul(da, dm, s.ga, n); // M
    ref_mul(dga, dm, s.a, n);
    status = ref_linear_attention_bwd(dq, dk, dv, da, s.q, s.k, s.v, &s.attn);
    ref_silu_bwd(dga, dga, s.ga_pre, n); // G_a
    ref_linear_bwd(part, dw->w_g, dw->b_g, dga, s.z, w->w_g, L, D, D);
    ref_axpy(dz, part, 1, n);
    ref_silu_bwd(dv, dv, s.v_pre, n); // V
    ref_linear_bwd(part, dw->w_v, dw->b_v, dv, x, w->w_v, L, D, D);
    ref_axpy(dx, part, 1, n);
    scale_shift_bwd(dz, dw->alpha_q, dw->beta_q, dq, s.z, w->alpha_q, L, D);
    scale_shift_bwd(dz, dw->alpha_k, dw->beta_k, dk, s.z, w->alpha_k, L, D);
    if (!status) status = ref_short_long_bwd(part, &dw->conv, dz, x, &w->conv, &s.conv);
    ref_axpy(dx, part, 1, n);
    free(memory);
    free(s.memory);
    return status;
}

// Y = FFN(LN(X_a)) + X_a with X_a = CHELA(LN(X)) as printed, or X + CHELA(LN(X))
int ref_chela_block_fwd(double *y, const double *x, const ref_chela_block_weights *w,
                        const ref_chela_block *p) {
    size_t L = p->layer.L, D = p->layer.D, n = L * D;
    double *x1, *xa, *x2, *stats;
    void *memory = ref_carve(&x1, n, &xa, n, &x2, n, &stats, 2 * L, REF_END);
    if (!memory) return REF_NO_MEMORY;
    ref_layernorm_fwd(x1, stats, x, w->ln1_gain, w->ln1_bias, L, D, p->layer.eps);
    int status = ref_chela_layer_fwd(xa, NULL, NULL, x1, &w->layer, &p->layer);
    if (p->residual) ref_axpy(xa, x, 1, n);
    ref_layernorm_fwd(x2, stats, xa, w->ln2_gain, w->ln2_bias, L, D, p->layer.eps);
    if (!status) status = ref_mlp_fwd(y, x2, &w->ffn, L, D, p->E, p->act);
    ref_axpy(y, xa, 1, n);
    free(memory);
    return status;
}

int ref_chela_block_bwd(double *dx, const ref_chela_block_weights *dw, const double *dy, const double *x,
                        const ref_chela_block_weights *w, const ref_chela_block *p) {
    size_t L = p->layer.L, D = p->layer.D, n = L * D;
    double *x1, *xa, *x2, *stats1, *stats2, *dx2, *dxa, *dx1;
    void *memory =
        ref_carve(&x1, n, &xa, n, &x2, n, &stats1, 2 * L, &stats2, 2 * L, &dx2, n, &dxa, n, &dx1, n, REF_END);
    if (!memory) return REF_NO_MEMORY;
    ref_layernorm_fwd(x1, stats1, x, w->ln1_gain, w->ln1_bias, L, D, p->layer.eps);
    int status = ref_chela_layer_fwd(xa, NULL, NULL, x1, &w->layer, &p->layer);
    if (p->residual) ref_axpy(xa, x, 1, n);
    ref_layernorm_fwd(x2, stats2, xa, w->ln2_gain, w->ln2_bias, L, D, p->layer.eps);
    if (!status) status = ref_mlp_bwd(dx2, &dw->ffn, dy, x2, &w->ffn, L, D, p->E, p->act);
    ref_layernorm_bwd(dxa, dw->ln2_gain, dw->ln2_bias, dx2, xa, w->ln2_gain, stats2, L, D);
    ref_axpy(dxa, dy, 1, n);
    if (!status) status = ref_chela_layer_bwd(dx1, &dw->layer, dxa, x1, &w->layer, &p->layer);
    ref_layernorm_bwd(dx, dw->ln1_gain, dw->ln1_bias, dx1, x, w->ln1_gain, stats1, L, D);
    if (p->residual) ref_axpy(dx, dxa, 1, n);
    free(memory);
    return status;
}
