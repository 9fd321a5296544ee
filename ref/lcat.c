// lcat.c: landmark CAT ([CAT], LCAT; MECHANISMS 3): each query picks one earlier block by its landmark and
// attends densely to that block and to its own. No gradient flows through the choice.
#include "ref.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    double *q, *k, *v;     // projected rows; v after filter_v
    double *plain_v;       // x wv before filter_v
    double *taps;          // [L] landmark filter
    double *landmark_keys; // k * taps: rows (b+1)B-1 are the landmarks
    const double *keys;    // what the dense part attends to: k or landmark_keys
    double *weight;        // [L] softmax of one query
    void *memory;
} state;

static int forward(state *s, const double *x, const ref_lcat_weights *w, const ref_lcat *p) {
    size_t L = p->L, D = p->D, n = L * D;
    s->memory = ref_carve(&s->q, n, &s->k, n, &s->v, n, &s->plain_v, n, &s->taps, L, &s->landmark_keys, n,
                          &s->weight, L, REF_END);
    if (!s->memory) return REF_NO_MEMORY;
    ref_linear_fwd(s->q, x, w->wq, NULL, L, D, D);
    ref_linear_fwd(s->k, x, w->wk, NULL, L, D, D);
    ref_linear_fwd(s->plain_v, x, w->wv, NULL, L, D, D);
    if (w->filter_v)
        ref_conv_fwd(s->v, s->plain_v, w->filter_v, 1, L, D, p->H, p->W, 0, D, D);
    else
        memcpy(s->v, s->plain_v, n * sizeof *s->v);
    for (size_t i = 0; i < L; i++) // box: ones(B); rho: rho^i with rho = e^(-1/B)
        s->taps[i] = p->filter == REF_LCAT_RHO ? exp(-(double)i / (double)p->block) : i < p->block ? 1 : 0;
    ref_conv_fwd(s->landmark_keys, s->k, s->taps, 1, L, D, 1, L, 0, D, D);
    s->keys = p->filtered ? s->landmark_keys : s->k;
    return REF_OK;
}

// b = argmax over complete earlier blocks of K^ss_b . q_i (unscaled; the lowest index wins a tie), -1 if none
static long choose(const state *s, const ref_lcat *p, size_t h, size_t i) {
    size_t D = p->D, d = D / p->H;
    long best = -1;
    double top = 0;
    for (size_t b = 0; b < i / p->block; b++) {
        double score =
            ref_dot(s->landmark_keys + ((b + 1) * p->block - 1) * D + h * d, s->q + i * D + h * d, d);
        if (best < 0 || score > top) {
            best = (long)b;
            top = score;
        }
    }
    return best;
}

static int attended(const ref_lcat *p, size_t i, size_t j, long chosen) {
    return j <= i && (j / p->block == i / p->block || (long)(j / p->block) == chosen);
}

// weight [L]: softmax over the chosen block and the own one up to i
static void weigh(state *s, const ref_lcat *p, size_t h, size_t i, long chosen) {
    size_t D = p->D, d = D / p->H;
    double top = -INFINITY, sum = 0;
    for (size_t j = 0; j <= i; j++) {
        if (!attended(p, i, j, chosen)) continue;
        s->weight[j] = ref_dot(s->q + i * D + h * d, s->keys + j * D + h * d, d) / sqrt((double)d);
        if (s->weight[j] > top) top = s->weight[j];
    }
    for (size_t j = 0; j <= i; j++) {
        s->weight[j] = attended(p, i, j, chosen) ? exp(s->weight[j] - top) : 0;
        sum += s->weight[j];
    }
    ref_scale(s->weight, s->weight, 1 / sum, i + 1);
}

static void attend(double *o, int32_t *chosen, state *s, const ref_lcat *p) {
    size_t D = p->D, d = D / p->H;
    memset(o, 0, p->L * D * sizeof *o);
    for (size_t h = 0; h < p->H; h++)
        for (size_t i = 0; i < p->L; i++) {
            long b = choose(s, p, h, i);
            if (chosen) chosen[h * p->L + i] = (int32_t)b;
            weigh(s, p, h, i, b);
            for (size_t j = 0; j <= i; j++)
                ref_axpy(o + i * D + h * d, s->v + j * D + h * d, s->weight[j], d);
        }
}

int ref_lcat_fwd(double *y, int32_t *chosen, const double *x, const ref_lcat_weights *w, const ref_lcat *p) {
    size_t L = p->L, D = p->D;
    double *o;
    state s;
    if (forward(&s, x, w, p)) return REF_NO_MEMORY;
    void *memory = ref_carve(&o, L * D, REF_END);
    if (memory) {
        attend(o, chosen, &s, p);
        ref_linear_fwd(y, o, w->wo, NULL, L, D, D);
    }
    free(memory);
    free(s.memory);
    return memory ? REF_OK : REF_NO_MEMORY;
}

int ref_lcat_bwd(double *dx, const ref_lcat_weights *dw, const double *dy, const double *x,
                 const ref_lcat_weights *w, const ref_lcat *p) {
    size_t L = p->L, D = p->D, H = p->H, d = D / H, n = L * D;
    double *o, *dout, *dq, *dk, *dkeys, *dv, *dplain_v, *part;
    state s;
    if (forward(&s, x, w, p)) return REF_NO_MEMORY;
    void *memory =
        ref_carve(&o, n, &dout, n, &dq, n, &dk, n, &dkeys, n, &dv, n, &dplain_v, n, &part, n, REF_END);
    if (!memory) {
        free(s.memory);
        return REF_NO_MEMORY;
    }
    attend(o, NULL, &s, p);
    ref_linear_bwd(dout, dw->wo, NULL, dy, o, w->wo, L, D, D);
    for (size_t h = 0; h < H; h++)
        for (size_t i = 0; i < L; i++) {
            size_t qi = i * D + h * d;
            weigh(&s, p, h, i, choose(&s, p, h, i));
            double mean = ref_dot(dout + qi, o + qi, d);
            for (size_t j = 0; j <= i; j++) {
                size_t kj = j * D + h * d;
                double a = s.weight[j], ds = a * (ref_dot(dout + qi, s.v + kj, d) - mean) / sqrt((double)d);
                ref_axpy(dv + kj, dout + qi, a, d);
                ref_axpy(dq + qi, s.keys + kj, ds, d);
                ref_axpy(dkeys + kj, s.q + qi, ds, d);
            }
        }
    if (p->filtered)
        ref_conv_bwd(dk, NULL, dkeys, s.k, s.taps, 1, L, D, 1, L, 0, D, D);
    else
        dk = dkeys;
    if (w->filter_v)
        ref_conv_bwd(dplain_v, dw->filter_v, dv, s.plain_v, w->filter_v, 1, L, D, H, p->W, 0, D, D);
    else
        dplain_v = dv;
    ref_linear_bwd(dx, dw->wq, NULL, dq, x, w->wq, L, D, D);
    ref_linear_bwd(part, dw->wk, NULL, dk, x, w->wk, L, D, D);
    ref_axpy(dx, part, 1, n);
    ref_linear_bwd(part, dw->wv, NULL, dplain_v, x, w->wv, L, D, D);
    ref_axpy(dx, part, 1, n);
    free(memory);
    free(s.memory);
    return REF_OK;
}
