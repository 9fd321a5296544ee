// softmax_attention.c: multi-head softmax attention with positions (Vaswani et al. 2017;
// docs/MECHANISMS.md#attention). The attention maps are held whole, so that what other mechanisms do to them
// can be read as it is printed.
#include <seqmix/ref.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Press et al. 2022, Sec. 3: m_h = 2^(-8(h+1)/H)
void ref_alibi_bias(double *bias, size_t L, size_t H, double factor) {
    for (size_t h = 0; h < H; h++)
        for (size_t at = 0; at < 2 * L - 1; at++) {
            double distance = fabs((double)at - (double)(L - 1));
            bias[h * (2 * L - 1) + at] = -exp2(-8.0 * (double)(h + 1) / (double)H) * distance * factor;
        }
}

typedef struct {
    double *q, *k;        // after the turn by position
    double *map;          // [H][L][L]
    double *mixed;        // [H][L][L], = map when nothing mixes
    double *bias, *turns; // tables
    ref_attention core;
    void *memory;
} state;

static int forward(state *s, const double *q, const double *k, const double *mix, const ref_heads *p) {
    size_t L = p->L, D = p->D, H = p->H, d = D / H;
    s->memory = ref_carve(&s->q, L * D, &s->k, L * D, &s->map, H * L * L, &s->mixed, H * L * L, &s->bias,
                          H * (2 * L - 1), &s->turns, L * d, REF_END);
    if (!s->memory) return REF_NO_MEMORY;
    memcpy(s->q, q, L * D * sizeof *q);
    memcpy(s->k, k, L * D * sizeof *k);
    if (p->pos == REF_POS_ROPE) {
        ref_rope_table(s->turns, L, d, p->rope_base);
        ref_rope_fwd(s->q, s->q, s->turns, 1, L, D, H, D, D);
        ref_rope_fwd(s->k, s->k, s->turns, 1, L, D, H, D, D);
    }
    s->core = (ref_attention){
        .B = 1, .L = L, .D = D, .H = H, .stride = D, .causal = p->causal, .scale = 1 / sqrt((double)d)};
    if (p->pos == REF_POS_ALIBI || p->pos == REF_POS_ALIBI_SCALED) {
        // [LaS] Eq. 2 divides the bias by sqrt(d) too: alibi_scaled
        ref_alibi_bias(s->bias, L, H, p->pos == REF_POS_ALIBI ? 1 : s->core.scale);
        s->core.bias = s->bias;
    }
    for (size_t h = 0; h < H; h++) ref_attention_map(s->map + h * L * L, s->q, s->k, &s->core, 0, h);
    if (mix)
        ref_gemm(s->mixed, mix, s->map, H, L * L, H, H, L * L, L * L, 0); // A'_h = sum_g M_hg A_g
    else
        s->mixed = s->map;
    return REF_OK;
}

int ref_heads_fwd(double *o, const double *q, const double *k, const double *v, const double *mix,
                  const ref_heads *p) {
    size_t L = p->L, D = p->D, d = D / p->H;
    state s;
    if (forward(&s, q, k, mix, p)) return REF_NO_MEMORY;
    for (size_t h = 0; h < p->H; h++) // O_h = A_h V_h
        ref_gemm(o + h * d, s.mixed + h * L * L, v + h * d, L, d, L, L, D, D, 0);
    free(s.memory);
    return REF_OK;
}

int ref_heads_bwd(double *dq, double *dk, double *dv, double *dmix, const double *dout, const double *q,
                  const double *k, const double *v, const double *mix, const ref_heads *p) {
    size_t L = p->L, D = p->D, H = p->H, d = D / H;
    double *dmixed, *dmap;
    state s;
    if (forward(&s, q, k, mix, p)) return REF_NO_MEMORY;
    void *memory = ref_carve(&dmixed, H * L * L, &dmap, H * L * L, REF_END);
    if (!memory) {
        free(s.memory);
        return REF_NO_MEMORY;
    }
    for (size_t h = 0; h < H; h++) {
        ref_gemm(dmixed + h * L * L, dout + h * d, v + h * d, L, L, d, D, D, L, REF_TRANS_B);   // dA = dO V^T
        ref_gemm(dv + h * d, s.mixed + h * L * L, dout + h * d, L, d, L, L, D, D, REF_TRANS_A); // dV = A^T dO
    }
    if (mix) {
        ref_gemm(dmap, mix, dmixed, H, L * L, H, H, L * L, L * L, REF_TRANS_A);
        ref_gemm(dmix, dmixed, s.map, H, H, L * L, L * L, L * L, H, REF_TRANS_B | REF_ACCUMULATE);
    } else {
        dmap = dmixed;
    }
    memset(dq, 0, L * D * sizeof *dq);
    memset(dk, 0, L * D * sizeof *dk);
    for (size_t h = 0; h < H; h++)
        ref_attention_map_bwd(dq, dk, dmap + h * L * L, s.map + h * L * L, s.q, s.k, &s.core, 0, h);
    if (p->pos == REF_POS_ROPE) {
        ref_rope_bwd(dq, dq, s.turns, 1, L, D, H, D, D);
        ref_rope_bwd(dk, dk, s.turns, 1, L, D, H, D, D);
    }
    free(memory);
    free(s.memory);
    return REF_OK;
}

int ref_softmax_attention_fwd(double *y, const double *x, const ref_qkvo *w, const ref_heads *p) {
    size_t L = p->L, D = p->D, n = L * D;
    double *q, *k, *v, *o;
    void *memory = ref_carve(&q, n, &k, n, &v, n, &o, n, REF_END);
    if (!memory) return REF_NO_MEMORY;
    ref_linear_fwd(q, x, w->wq, NULL, L, D, D);
    ref_linear_fwd(k, x, w->wk, NULL, L, D, D);
    ref_linear_fwd(v, x, w->wv, NULL, L, D, D);
    int status = ref_heads_fwd(o, q, k, v, NULL, p);
    ref_linear_fwd(y, o, w->wo, NULL, L, D, D);
    free(memory);
    return status;
}

int ref_softmax_attention_bwd(double *dx, const ref_qkvo *dw, const double *dy, const double *x,
                              const ref_qkvo *w, const ref_heads *p) {
    size_t L = p->L, D = p->D, n = L * D;
    double *q, *k, *v, *o, *dq, *dk, *dv, *dout, *part;
    void *memory = ref_carve(&q, n, &k, n, &v, n, &o, n, &dq, n, &dk, n, &dv, n, &dout, n, &part, n, REF_END);
    if (!memory) return REF_NO_MEMORY;
    ref_linear_fwd(q, x, w->wq, NULL, L, D, D);
    ref_linear_fwd(k, x, w->wk, NULL, L, D, D);
    ref_linear_fwd(v, x, w->wv, NULL, L, D, D);
    int status = ref_heads_fwd(o, q, k, v, NULL, p);
    ref_linear_bwd(dout, dw->wo, NULL, dy, o, w->wo, L, D, D);
    if (!status) status = ref_heads_bwd(dq, dk, dv, NULL, dout, q, k, v, NULL, p);
    ref_linear_bwd(dx, dw->wq, NULL, dq, x, w->wq, L, D, D);
    ref_linear_bwd(part, dw->wk, NULL, dk, x, w->wk, L, D, D);
    ref_axpy(dx, part, 1, n);
    ref_linear_bwd(part, dw->wv, NULL, dv, x, w->wv, L, D, D);
    ref_axpy(dx, part, 1, n);
    free(memory);
    return status;
}
