// slstm.c: xLSTM's scalar memory (2405.04517; NX-AI/xlstm blocks/slstm/src/vanilla/slstm.py), row by row; a
// head's gates hear its own h alone:
//   raw = x W + h_{t-1} U + b, order i f z o;  m = max(F + m', i), without a start in row 0: m = i;
//   c = e^{F + m' - m} c' + e^{i - m} tanh z,  n = e^{F + m' - m} n' + e^{i - m},  y = h = sigma(o) c / n
// h does not depend on the choice of m: backward takes every m as a constant.
#include <seqmix/ref_cores.h>

#include "stabilise.h"

#include <stdlib.h>
#include <string.h>

static double sigma(double x) { return x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x)); }

// All rows: raw [L][4][E]; h, c, n, m [L+1][E]: before each row, and after the last.
typedef struct {
    double *raw, *h, *c, *n, *m;
} track;

static void begin(const track *s, const ref_slstm_arrays *x, const ref_slstm *p) {
    const size_t E = p->H * p->d;
    for (size_t e = 0; e < E; e++) {
        s->h[e] = x->h ? x->h[e] : 0;
        s->c[e] = x->c ? x->c[e] : 0;
        s->n[e] = x->n ? x->n[e] : 0;
        s->m[e] = x->m ? x->m[e] : x->c ? 0 : -INFINITY; // nothing before: row 0 takes m = i
    }
}

// raw of row t, gate by gate: + sum_j h_{t-1}[head][j] u[gate][head][j][.]
static void gates_of(const track *s, const ref_slstm_arrays *x, const ref_slstm *p, size_t t) {
    const size_t E = p->H * p->d;
    double *raw = s->raw + t * 4 * E;
    for (size_t gate = 0; gate < 4; gate++)
        for (size_t e = 0; e < E; e++) {
            const size_t head = e / p->d, column = e % p->d, at = gate * E + e;
            raw[at] = x->b[at];
            for (size_t c = 0; c < p->D; c++) raw[at] += x->x[t * p->D + c] * x->w[c * 4 * E + at];
            for (size_t j = 0; j < p->d; j++)
                raw[at] +=
                    s->h[t * E + head * p->d + j] * x->u[((gate * p->H + head) * p->d + j) * p->d + column];
        }
}

static void run(const track *s, const ref_slstm_arrays *x, const ref_slstm *p) {
    const size_t E = p->H * p->d;
    begin(s, x, p);
    for (size_t t = 0; t < p->L; t++) {
        gates_of(s, x, p, t);
        for (size_t e = 0; e < E; e++) {
            const double *raw = s->raw + t * 4 * E + e;
            const size_t was = t * E + e, now = was + E;
            const shares a = stabilise(raw[0], forget_log(raw[E], p->exponential), s->m[was]);
            s->m[now] = a.m;
            s->c[now] = a.keep * s->c[was] + a.take * tanh(raw[2 * E]);
            s->n[now] = a.keep * s->n[was] + a.take;
            s->h[now] = sigma(raw[3 * E]) * s->c[now] / s->n[now];
        }
    }
}

static void *carve_track(track *s, const ref_slstm *p) {
    const size_t n = (p->L + 1) * p->H * p->d;
    return ref_carve(&s->raw, 4 * n, &s->h, n, &s->c, n, &s->n, n, &s->m, n, REF_END);
}

int ref_slstm_fwd(double *y, const ref_slstm_state *last, const ref_slstm_arrays *x, const ref_slstm *p) {
    const size_t E = p->H * p->d;
    track s;
    void *memory = carve_track(&s, p);
    if (!memory) return REF_NO_MEMORY;
    run(&s, x, p);
    memcpy(y, s.h + E, p->L * E * sizeof *y);
    memcpy(last->c, s.c + p->L * E, E * sizeof *y);
    memcpy(last->n, s.n + p->L * E, E * sizeof *y);
    memcpy(last->m, s.m + p->L * E, E * sizeof *y);
    free(memory);
    return REF_OK;
}

// From draw of row t: into x, w, b, u, and dh of the row before.
static void gates_back(double *dh, const ref_slstm_arrays *d, const double *draw, const track *s,
                       const ref_slstm_arrays *x, const ref_slstm *p, size_t t) {
    const size_t E = p->H * p->d;
    memset(dh, 0, E * sizeof *dh);
    for (size_t gate = 0; gate < 4; gate++)
        for (size_t e = 0; e < E; e++) {
            const size_t head = e / p->d, column = e % p->d, at = gate * E + e;
            d->b[at] += draw[at];
            for (size_t c = 0; c < p->D; c++) {
                d->x[t * p->D + c] += draw[at] * x->w[c * 4 * E + at];
                d->w[c * 4 * E + at] += draw[at] * x->x[t * p->D + c];
            }
            for (size_t j = 0; j < p->d; j++) {
                const size_t u = ((gate * p->H + head) * p->d + j) * p->d + column;
                dh[head * p->d + j] += draw[at] * x->u[u];
                d->u[u] += draw[at] * s->h[t * E + head * p->d + j];
            }
        }
}

int ref_slstm_bwd(const ref_slstm_arrays *d, const double *dy, const ref_slstm_arrays *x,
                  const ref_slstm *p) {
    const size_t E = p->H * p->d;
    track s;
    double *draw, *dh, *dc, *dn;
    void *kept = carve_track(&s, p), *memory = ref_carve(&draw, 4 * E, &dh, E, &dc, E, &dn, E, REF_END);
    const int status = kept && memory ? REF_OK : REF_NO_MEMORY;
    if (!status) run(&s, x, p);
    for (size_t t = status ? 0 : p->L; t-- > 0;) {
        for (size_t e = 0; e < E; e++) {
            const double *raw = s.raw + t * 4 * E + e;
            const size_t was = t * E + e, now = was + E;
            const shares a = stabilise(raw[0], forget_log(raw[E], p->exponential), s.m[was]);
            const double o = sigma(raw[3 * E]), z = tanh(raw[2 * E]), g = dh[e] + dy[t * E + e];
            draw[3 * E + e] = g * s.h[now] * (1 - o);
            dc[e] += g * o / s.n[now];
            dn[e] -= g * s.h[now] / s.n[now];
            draw[e] = a.take * (dc[e] * z + dn[e]);
            draw[2 * E + e] = a.take * dc[e] * (1 - z * z);
            draw[E + e] =
                a.keep * (dc[e] * s.c[was] + dn[e] * s.n[was]) * forget_slope(raw[E], p->exponential);
            dc[e] *= a.keep;
            dn[e] *= a.keep;
        }
        gates_back(dh, d, draw, &s, x, p, t);
    }
    for (size_t e = 0; !status && e < E; e++) {
        if (d->m) d->m[e] += dc[e] * s.c[e] + dn[e] * s.n[e]; // c e^m and n e^m are what counts
        if (d->h) d->h[e] += dh[e];
        if (d->c) d->c[e] += dc[e];
        if (d->n) d->n[e] += dn[e];
    }
    free(memory);
    free(kept);
    return status;
}
