// lcat.c: landmark CAT ([CAT], LCAT; docs/MECHANISMS.md#lcat): K = (X * F_k) W_k gives the landmarks; the
// dense part attends to plain or filtered keys.
#include <seqmix/ref.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    double *q, *k, *v;  // projected rows; v after filter_v
    double *plain_v;    // x wv before filter_v
    double *taps;       // [L] landmark filter
    double *marks;      // k * taps: rows (b+1)B-1 are the landmarks
    const double *keys; // what the dense part attends to: k or marks
    double *o, *stats;
    int32_t *chosen;
    ref_landmark core;
    void *memory;
} state;

static void release(state *s) {
    free(s->chosen);
    free(s->memory);
}

static int forward(state *s, const double *x, const ref_lcat_weights *w, const ref_lcat *p) {
    size_t L = p->L, D = p->D, n = L * D;
    s->memory = ref_carve(&s->q, n, &s->k, n, &s->v, n, &s->plain_v, n, &s->taps, L, &s->marks, n, &s->o, n,
                          &s->stats, p->H * L * 2, REF_END);
    s->chosen = calloc(p->H * L, sizeof *s->chosen);
    if (!s->memory || !s->chosen) {
        release(s);
        return REF_NO_MEMORY;
    }
    ref_linear_fwd(s->q, x, w->wq, NULL, L, D, D);
    ref_linear_fwd(s->k, x, w->wk, NULL, L, D, D);
    ref_linear_fwd(s->plain_v, x, w->wv, NULL, L, D, D);
    if (w->filter_v)
        ref_conv_fwd(s->v, s->plain_v, w->filter_v, 1, L, D, p->H, p->W, 0, D, D);
    else
        memcpy(s->v, s->plain_v, n * sizeof *s->v);
    for (size_t i = 0; i < L; i++) // box: ones(B); rho: rho^i with rho = e^(-1/B)
        s->taps[i] = p->filter == REF_LCAT_RHO ? exp(-(double)i / (double)p->block) : i < p->block;
    ref_conv_fwd(s->marks, s->k, s->taps, 1, L, D, 1, L, 0, D, D);
    s->keys = p->filtered ? s->marks : s->k;
    s->core = (ref_landmark){.B = 1,
                             .L = L,
                             .D = D,
                             .H = p->H,
                             .stride = D,
                             .block = p->block,
                             .scale = 1 / sqrt((double)(D / p->H))};
    ref_landmark_fwd(s->o, s->stats, s->chosen, s->q, s->keys, s->v, s->marks, &s->core);
    return REF_OK;
}

int ref_lcat_fwd(double *y, int32_t *chosen, const double *x, const ref_lcat_weights *w, const ref_lcat *p) {
    state s;
    if (forward(&s, x, w, p)) return REF_NO_MEMORY;
    ref_linear_fwd(y, s.o, w->wo, NULL, p->L, p->D, p->D);
    if (chosen) memcpy(chosen, s.chosen, p->H * p->L * sizeof *chosen);
    release(&s);
    return REF_OK;
}

int ref_lcat_lead(double *lead, const double *x, const ref_lcat_weights *w, const ref_lcat *p) {
    state s;
    if (forward(&s, x, w, p)) return REF_NO_MEMORY;
    *lead = ref_landmark_lead(s.q, s.marks, &s.core);
    release(&s);
    return REF_OK;
}

int ref_lcat_bwd(double *dx, const ref_lcat_weights *dw, const double *dy, const double *x,
                 const ref_lcat_weights *w, const ref_lcat *p) {
    size_t L = p->L, D = p->D, n = L * D;
    double *dout, *dq, *dk, *dkeys, *dv, *dplain_v, *part;
    state s;
    if (forward(&s, x, w, p)) return REF_NO_MEMORY;
    void *memory = ref_carve(&dout, n, &dq, n, &dk, n, &dkeys, n, &dv, n, &dplain_v, n, &part, n, REF_END);
    if (!memory) {
        release(&s);
        return REF_NO_MEMORY;
    }
    ref_linear_bwd(dout, dw->wo, NULL, dy, s.o, w->wo, L, D, D);
    ref_landmark_bwd(dq, dkeys, dv, dout, s.q, s.keys, s.v, s.o, s.stats, s.chosen, &s.core);
    if (p->filtered)
        ref_conv_bwd(dk, NULL, dkeys, s.k, s.taps, 1, L, D, 1, L, 0, D, D);
    else
        dk = dkeys;
    if (w->filter_v)
        ref_conv_bwd(dplain_v, dw->filter_v, dv, s.plain_v, w->filter_v, 1, L, D, p->H, p->W, 0, D, D);
    else
        dplain_v = dv;
    ref_linear_bwd(dx, dw->wq, NULL, dq, x, w->wq, L, D, D);
    ref_linear_bwd(part, dw->wk, NULL, dk, x, w->wk, L, D, D);
    ref_axpy(dx, part, 1, n);
    ref_linear_bwd(part, dw->wv, NULL, dplain_v, x, w->wv, L, D, D);
    ref_axpy(dx, part, 1, n);
    free(memory);
    release(&s);
    return REF_OK;
}
