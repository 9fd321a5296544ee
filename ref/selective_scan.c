// selective_scan.c: Mamba's S6 core (Gu & Dao 2023, "Mamba", Eqs. 1-4 and Alg. 2), with its short convolution
// and the projections that make it selective:
//   h_t[c][s] = exp(dt_t[c] A[c][s]) h_{t-1}[c][s] + dt_t[c] b_t[s] x_t[c],
//   y_t[c] = c_t . h_t[c] + skip_c x_t[c],
// A = -exp(a_log). As in the authors' program, A is discretised by zero-order hold and B by Euler's rule.
#include <seqmix/ref.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

int ref_selective_scan_fwd(double *y, const double *x, const double *dt, const double *a_log, const double *b,
                           const double *c, const double *skip, size_t L, size_t D, size_t S) {
    for (size_t ch = 0; ch < D; ch++) {
        for (size_t t = 0; t < L; t++) y[t * D + ch] = skip ? skip[ch] * x[t * D + ch] : 0;
        for (size_t s = 0; s < S; s++) {
            double A = -exp(a_log[ch * S + s]), h = 0;
            for (size_t t = 0; t < L; t++) {
                double step = dt[t * D + ch];
                h = exp(step * A) * h + step * b[t * S + s] * x[t * D + ch];
                y[t * D + ch] += c[t * S + s] * h;
            }
        }
    }
    return REF_OK;
}

// Adjoint: g_t = c_t dy_t + exp(dt_{t+1} A) g_{t+1}
int ref_selective_scan_bwd(double *dx, double *ddt, double *da_log, double *db, double *dc, double *dskip,
                           const double *dy, const double *x, const double *dt, const double *a_log,
                           const double *b, const double *c, const double *skip, size_t L, size_t D,
                           size_t S) {
    double *h;
    void *memory = ref_carve(&h, L, REF_END);
    if (!memory) return REF_NO_MEMORY;
    memset(ddt, 0, L * D * sizeof *ddt);
    memset(db, 0, L * S * sizeof *db);
    memset(dc, 0, L * S * sizeof *dc);
    for (size_t ch = 0; ch < D; ch++) {
        for (size_t t = 0; t < L; t++) {
            dx[t * D + ch] = skip ? skip[ch] * dy[t * D + ch] : 0;
            if (skip) dskip[ch] += x[t * D + ch] * dy[t * D + ch];
        }
        for (size_t s = 0; s < S; s++) {
            double A = -exp(a_log[ch * S + s]), g = 0;
            for (size_t t = 0; t < L; t++) {
                double step = dt[t * D + ch];
                h[t] = exp(step * A) * (t ? h[t - 1] : 0) + step * b[t * S + s] * x[t * D + ch];
            }
            for (size_t t = L; t-- > 0;) {
                size_t at = t * D + ch, st = t * S + s;
                double decay = exp(dt[at] * A), before = t ? h[t - 1] : 0;
                g += c[st] * dy[at];
                dc[st] += dy[at] * h[t];
                dx[at] += g * dt[at] * b[st];
                db[st] += g * dt[at] * x[at];
                ddt[at] += g * (A * decay * before + b[st] * x[at]);
                da_log[ch * S + s] += g * dt[at] * A * decay * before;
                g *= decay;
            }
        }
    }
    free(memory);
    return REF_OK;
}

static double softplus(double x) { return fmax(x, 0) + log1p(exp(-fabs(x))); }

typedef struct {
    double *pre, *u, *low, *dt_pre, *dt, *b, *c;
    void *memory;
} state;

static int forward(state *s, const double *x, const ref_s6_weights *w, const ref_s6 *p) {
    size_t L = p->L, D = p->D, n = L * D;
    s->memory = ref_carve(&s->pre, n, &s->u, n, &s->low, L * p->rank, &s->dt_pre, n, &s->dt, n, &s->b,
                          L * p->S, &s->c, L * p->S, REF_END);
    if (!s->memory) return REF_NO_MEMORY;
    ref_conv_fwd(s->pre, x, w->conv_k, 1, L, D, D, p->W, 0, D, D); // u = SiLU(conv(x))
    ref_bias_fwd(s->pre, s->pre, w->conv_b, L, D);
    ref_silu_fwd(s->u, s->pre, n);
    ref_linear_fwd(s->low, s->u, w->w_dt1, NULL, L, D, p->rank); // s_dt(u) through a low rank, softplus
    ref_linear_fwd(s->dt_pre, s->low, w->w_dt2, w->b_dt, L, p->rank, D);
    for (size_t i = 0; i < n; i++) s->dt[i] = softplus(s->dt_pre[i]);
    ref_linear_fwd(s->b, s->u, w->w_b, NULL, L, D, p->S); // s_B(u), s_C(u)
    ref_linear_fwd(s->c, s->u, w->w_c, NULL, L, D, p->S);
    return REF_OK;
}

int ref_s6_layer_fwd(double *y, const double *x, const ref_s6_weights *w, const ref_s6 *p) {
    state s;
    if (forward(&s, x, w, p)) return REF_NO_MEMORY;
    int status = ref_selective_scan_fwd(y, s.u, s.dt, w->a_log, s.b, s.c, w->skip, p->L, p->D, p->S);
    free(s.memory);
    return status;
}

int ref_s6_layer_bwd(double *dx, const ref_s6_weights *dw, const double *dy, const double *x,
                     const ref_s6_weights *w, const ref_s6 *p) {
    size_t L = p->L, D = p->D, n = L * D;
    double *du, *ddt, *db, *dc, *dlow, *part;
    state s;
    if (forward(&s, x, w, p)) return REF_NO_MEMORY;
    void *memory =
        ref_carve(&du, n, &ddt, n, &db, L * p->S, &dc, L * p->S, &dlow, L * p->rank, &part, n, REF_END);
    if (!memory) {
        free(s.memory);
        return REF_NO_MEMORY;
    }
    int status = ref_selective_scan_bwd(du, ddt, dw->a_log, db, dc, dw->skip, dy, s.u, s.dt, w->a_log, s.b,
                                        s.c, w->skip, L, D, p->S);
    ref_linear_bwd(part, dw->w_b, NULL, db, s.u, w->w_b, L, D, p->S);
    ref_axpy(du, part, 1, n);
    ref_linear_bwd(part, dw->w_c, NULL, dc, s.u, w->w_c, L, D, p->S);
    ref_axpy(du, part, 1, n);
    double *dpre = s.dt; // d softplus = sigma
    ref_sigmoid_fwd(dpre, s.dt_pre, n);
    ref_mul(dpre, dpre, ddt, n);
    ref_linear_bwd(dlow, dw->w_dt2, dw->b_dt, dpre, s.low, w->w_dt2, L, p->rank, D);
    ref_linear_bwd(part, dw->w_dt1, NULL, dlow, s.u, w->w_dt1, L, D, p->rank);
    ref_axpy(du, part, 1, n);
    ref_silu_bwd(du, du, s.pre, n);
    ref_bias_bwd(dw->conv_b, du, L, D);
    ref_conv_bwd(dx, dw->conv_k, du, x, w->conv_k, 1, L, D, D, p->W, 0, D, D);
    free(memory);
    free(s.memory);
    return status;
}
