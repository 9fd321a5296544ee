// mlstm.c: xLSTM's matrix memory (2405.04517; NX-AI/mlstm_kernels torch/recurrent/native_step.py, without its
// eps), row by row:
//   m_t = max(F_t + m_{t-1}, i_t),  C = e^{F + m_{t-1} - m_t} C + e^{i - m_t} k v^T,  n likewise with k,
//   y = C^T q' / max(|n^T q'|, e^{-m_t}),  q' = scale q
// C e^m and n e^m, and with them y, do not depend on the choice of m: backward takes every m_t as a constant.
#include <seqmix/ref_cores.h>

#include "stabilise.h"

#include <stdlib.h>
#include <string.h>

// One head's state: C [dk][dv], n [dk], m.
typedef struct {
    double *C, *n, m;
} memory_of;

static void begin(memory_of *s, const ref_mlstm_arrays *x, const ref_state *p, size_t h) {
    memset(s->C, 0, p->dk * p->dv * sizeof *s->C);
    memset(s->n, 0, p->dk * sizeof *s->n);
    if (x->C) memcpy(s->C, x->C + h * p->dk * p->dv, p->dk * p->dv * sizeof *s->C);
    if (x->n) memcpy(s->n, x->n + h * p->dk, p->dk * sizeof *s->n);
    s->m = x->m ? x->m[h] : 0;
}

// From the state before row t to the one after it (may be the same arrays).
static shares write_row(memory_of *to, const memory_of *from, const ref_mlstm_arrays *x, const ref_state *p,
                        size_t t, size_t h, int exponential) {
    const size_t row = t * p->H + h;
    const shares s = stabilise(x->i[row], forget_log(x->f[row], exponential), from->m);
    for (size_t c = 0; c < p->dk; c++) {
        const double k = x->k[row * p->dk + c];
        ref_scale(to->C + c * p->dv, from->C + c * p->dv, s.keep, p->dv);
        ref_axpy(to->C + c * p->dv, x->v + row * p->dv, s.take * k, p->dv);
        to->n[c] = s.keep * from->n[c] + s.take * k;
    }
    to->m = s.m;
    return s;
}

// y, and what it was divided by.
static double read_row(double *y, const memory_of *s, const ref_mlstm_arrays *x, const ref_state *p, size_t t,
                       size_t h) {
    const double *q = x->q + (t * p->H + h) * p->dk;
    const double below = fmax(fabs(p->scale * ref_dot(s->n, q, p->dk)), exp(-s->m));
    ref_gemm(y, q, s->C, 1, p->dv, p->dk, p->dk, p->dv, p->dv, 0);
    ref_scale(y, y, p->scale / below, p->dv);
    return below;
}

int ref_mlstm_fwd(double *y, const ref_mlstm_state *last, const ref_mlstm_arrays *x, const ref_state *p,
                  int exponential) {
    for (size_t h = 0; h < p->H; h++) {
        memory_of s = {last->C + h * p->dk * p->dv, last->n + h * p->dk, 0};
        begin(&s, x, p, h);
        for (size_t t = 0; t < p->L; t++) {
            write_row(&s, &s, x, p, t, h, exponential);
            read_row(y + (t * p->H + h) * p->dv, &s, x, p, t, h);
        }
        last->m[h] = s.m;
    }
    return REF_OK;
}

// From the last row back, G and e the gradients of C and n. With b what y was divided by, u = dy / b:
//   dq' = C u, G += q' u^T; where b = |n.q'|: dq' -= n sign (dy.y) / b, e likewise with q';
//   di = take (<G, k v^T> + e.k), dk = take (G v + e), dv = take G^T k, dF = keep (<G, C'> + e.n')
int ref_mlstm_bwd(const ref_mlstm_arrays *d, const double *dy, const ref_mlstm_arrays *x, const ref_state *p,
                  int exponential) {
    const size_t size = p->dk * p->dv, dk = p->dk, dv = p->dv;
    double *C, *n, *m, *G, *e, *y, *u;
    void *memory = ref_carve(&C, (p->L + 1) * size, &n, (p->L + 1) * dk, &m, p->L + 1, &G, size, &e, dk, &y,
                             dv, &u, dv, REF_END);
    if (!memory) return REF_NO_MEMORY;
    for (size_t h = 0; h < p->H; h++) {
        memory_of s = {C, n, 0};
        begin(&s, x, p, h);
        m[0] = s.m;
        for (size_t t = 0; t < p->L; t++) {
            memory_of to = {C + (t + 1) * size, n + (t + 1) * dk, 0};
            write_row(&to, &s, x, p, t, h, exponential);
            m[t + 1] = to.m;
            s = to;
        }
        memset(G, 0, size * sizeof *G);
        memset(e, 0, dk * sizeof *e);
        for (size_t t = p->L; t-- > 0;) {
            const size_t row = t * p->H + h;
            const double *q = x->q + row * dk, *k = x->k + row * dk, *dout = dy + row * dv;
            const memory_of now = {C + (t + 1) * size, n + (t + 1) * dk, m[t + 1]};
            const shares s_t = stabilise(x->i[row], forget_log(x->f[row], exponential), m[t]);
            const double below = read_row(y, &now, x, p, t, h), dot = p->scale * ref_dot(now.n, q, dk);
            const double sign = fabs(dot) <= exp(-now.m) ? 0
                                : dot < 0                ? -1
                                                         : 1,
                         slope = -sign * ref_dot(dout, y, dv) / below;
            double take = 0, keep = 0;
            ref_scale(u, dout, 1 / below, dv);
            for (size_t c = 0; c < dk; c++) {
                const size_t i = row * dk + c;
                double *Gc = G + c * dv;
                d->q[i] += p->scale * (ref_dot(now.C + c * dv, u, dv) + slope * now.n[c]);
                ref_axpy(Gc, u, p->scale * q[c], dv);
                e[c] += slope * p->scale * q[c];
                const double along = ref_dot(Gc, x->v + row * dv, dv) + e[c];
                take += along * k[c];
                d->k[i] += s_t.take * along;
                ref_axpy(d->v + row * dv, Gc, s_t.take * k[c], dv);
                keep += ref_dot(Gc, C + t * size + c * dv, dv) + e[c] * n[t * dk + c];
            }
            d->i[row] += s_t.take * take;
            d->f[row] += s_t.keep * keep * forget_slope(x->f[row], exponential);
            ref_scale(G, G, s_t.keep, size);
            ref_scale(e, e, s_t.keep, dk);
        }
        // C e^m and n e^m are what counts: m's gradient is theirs along themselves
        if (d->m) d->m[h] += ref_dot(G, C, size) + ref_dot(e, n, dk);
        if (d->C) ref_axpy(d->C + h * size, G, 1, size);
        if (d->n) ref_axpy(d->n + h * dk, e, 1, dk);
    }
    free(memory);
    return REF_OK;
}
