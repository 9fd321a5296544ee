// focus.c: the whole Focus layer ([Focus] Eqs. 1-14; the steps are those of docs/MECHANISMS.md#focus): a
// hypernetwork sets the filters of the next bin; the filtered sequence feeds chunked attention and the gates.
// With theta_raw it is Focus-H: learned constant filters.
#include <seqmix/ref.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A coefficient never reaches the unit circle: sigma and tanh are held below 1 - 2^-20, with zero
// gradient there.
static const double limit = 1 - 0x1p-20;

typedef struct {
    double *g, *near, *e, *hidden, *raw, *squashed, *theta;
    double *x_f, *q, *k, *v, *att;
    double *gamma_pre, *gamma, *gated, *phi, *z_pre, *z;
    size_t rows, in, out, seen; // the hypernetwork's shape; pooled values of a bin and channel
    ref_focus_filter filter;
    ref_heads heads; // of one chunk
    void *memory;
} state;

static size_t pool_start(size_t i, size_t L, size_t n) { return i * L / n; }
static size_t pool_end(size_t i, size_t L, size_t n) { return ((i + 1) * L + n - 1) / n; }

// Row of g [L][D] that the i-th of n windows takes for channel c: its maximum, the first on a tie.
static size_t pool_row(const double *g, size_t i, size_t n, size_t c, size_t L, size_t D) {
    size_t best = pool_start(i, L, n);
    for (size_t t = best + 1; t < pool_end(i, L, n); t++)
        if (g[t * D + c] > g[best * D + c]) best = t;
    return best;
}

static double clamp(double x) { return x > limit ? limit : x < -limit ? -limit : x; }

// raw pair -> filter coefficients
static void squash_fwd(double *theta, const double *raw, const ref_focus *p) {
    if (p->theta == REF_THETA_TRIANGLE) { // every stable pair: |a_2| < 1, |a_1| < 1 + a_2
        theta[1] = clamp(tanh(raw[1]));
        theta[0] = (1 + theta[1]) * clamp(tanh(raw[0]));
        return;
    }
    const double size = p->theta == REF_THETA_BOUNDED ? p->sum / 2 : 1;
    ref_sigmoid_fwd(theta, raw, 2);
    theta[0] = size * clamp(theta[0]);
    theta[1] = size * clamp(theta[1]);
}

static void squash_bwd(double *draw, const double *dtheta, const double *raw, const ref_focus *p) {
    if (p->theta == REF_THETA_TRIANGLE) {
        double t0 = tanh(raw[0]), t1 = tanh(raw[1]);
        draw[0] = fabs(t0) > limit ? 0 : dtheta[0] * (1 + clamp(t1)) * (1 - t0 * t0);
        draw[1] = fabs(t1) > limit ? 0 : (dtheta[1] + dtheta[0] * clamp(t0)) * (1 - t1 * t1);
        return;
    }
    const double size = p->theta == REF_THETA_BOUNDED ? p->sum / 2 : 1;
    double s[2];
    ref_sigmoid_fwd(s, raw, 2);
    for (size_t m = 0; m < 2; m++) draw[m] = s[m] > limit ? 0 : size * dtheta[m] * s[m] * (1 - s[m]);
}

static int forward(state *s, const double *x, const ref_focus_weights *w, const ref_focus *p) {
    size_t L = p->L, D = p->D, nb = p->n_bins, n = L * D, nt = nb * D * p->F * 2, windows = p->O * nb;
    s->seen = p->local ? 2 * p->O : p->O;
    s->rows = p->joint ? nb : nb * D;
    s->in = p->joint ? D * p->O : s->seen;
    s->out = p->joint ? D * p->F * 2 : p->F * 2;
    s->memory =
        ref_carve(&s->g, n, &s->near, n, &s->e, nb * D * s->seen, &s->hidden, s->rows * p->hidden, &s->raw,
                  nt, &s->squashed, nt, &s->theta, nt, &s->x_f, n, &s->q, n, &s->k, n, &s->v, n, &s->att, n,
                  &s->gamma_pre, n, &s->gamma, n, &s->gated, n, &s->phi, n, &s->z_pre, n, &s->z, n, REF_END);
    if (!s->memory) return REF_NO_MEMORY;
    int status = REF_OK;
    if (w->theta_raw) { // Focus-H: the same filters in every bin, bin 0 included
        for (size_t i = 0; i < nt; i += 2) squash_fwd(s->theta + i, w->theta_raw + i % (D * p->F * 2), p);
    } else {
        ref_long_conv_fwd(s->g, x, w->conv_k, w->conv_skip, L, D, p->lambda); // step 1: g = GlobalConv(x)
        if (p->local) ref_conv_fwd(s->near, x, w->local_k, 1, L, D, D, p->local, 0, D, D); // H_local
        for (size_t i = 0; i < windows; i++) // step 2: adaptive max pool
            for (size_t c = 0; c < D; c++) {
                double *e = s->e + (i / p->O * D + c) * s->seen + i % p->O;
                e[0] = s->g[pool_row(s->g, i, windows, c, L, D) * D + c];
                if (p->local) e[p->O] = s->near[pool_row(s->near, i, windows, c, L, D) * D + c];
            }
        ref_linear_fwd(s->hidden, s->e, w->hyper_w1, w->hyper_b1, s->rows, s->in, p->hidden); // step 3
        ref_sigmoid_fwd(s->hidden, s->hidden, s->rows * p->hidden);
        ref_linear_fwd(s->raw, s->hidden, w->hyper_w2, w->hyper_b2, s->rows, p->hidden, s->out);
        for (size_t i = 0; i < nt; i += 2) squash_fwd(s->squashed + i, s->raw + i, p);
        // step 4, shifted by one bin: bin b takes what bin b-1 said; bin 0 has theta = 0, so x_f = F x there
        memcpy(s->theta + nt / nb, s->squashed, (nt - nt / nb) * sizeof *s->theta);
    }
    s->filter = (ref_focus_filter){.L = L, .D = D, .n_bins = nb, .F = p->F, .mode = p->mode};
    if (!status) status = ref_focus_filter_fwd(s->x_f, x, s->theta, &s->filter); // step 5, Eqs. 5-8
    ref_linear_fwd(s->q, x, w->wq, NULL, L, D, D);
    ref_linear_fwd(s->k, s->x_f, w->wk, NULL, L, D, D);
    ref_linear_fwd(s->v, s->x_f, w->wv, NULL, L, D, D);
    s->heads = (ref_heads){.L = L / p->C, .D = D, .H = p->H, .causal = 1, .pos = REF_POS_NONE};
    for (size_t i = 0; i < p->C && !status; i++) { // step 6, causal inside the chunk
        size_t at = i * (L / p->C) * D;
        status = ref_heads_fwd(s->att + at, s->q + at, s->k + at, s->v + at, NULL, &s->heads);
    }
    ref_linear_fwd(s->gamma_pre, s->x_f, w->w_gamma, w->b_gamma, L, D, D); // step 7: gamma = SiLU(x_f W + b)
    ref_silu_fwd(s->gamma, s->gamma_pre, n);
    ref_linear_fwd(s->phi, s->x_f, w->w_phi, w->b_phi, L, D, D); // phi = sigma(x_f W + b)
    ref_sigmoid_fwd(s->phi, s->phi, n);
    ref_mul(s->gated, s->gamma, s->att, n); // z = SiLU(x_f W_h + (gamma o y) U_h + b_h)
    ref_linear_fwd(s->z_pre, s->x_f, w->w_h, w->b_h, L, D, D);
    ref_gemm(s->z_pre, s->gated, w->u_h, L, D, D, D, D, D, REF_ACCUMULATE);
    ref_silu_fwd(s->z, s->z_pre, n);
    if (status) free(s->memory);
    return status;
}

static void give(double *to, const double *from, size_t n) {
    if (to) memcpy(to, from, n * sizeof *to);
}

int ref_focus_layer_fwd(double *o, const ref_focus_mid *mid, const double *x, const ref_focus_weights *w,
                        const ref_focus *p) {
    size_t n = p->L * p->D;
    state s;
    int status = forward(&s, x, w, p);
    if (status) return status;
    for (size_t i = 0; i < n; i++) o[i] = s.phi[i] * s.z[i] + (1 - s.phi[i]) * x[i]; // step 7, Eq. 14
    if (mid) {
        give(mid->g, s.g, n);
        give(mid->e, s.e, p->n_bins * p->D * s.seen);
        give(mid->theta, s.theta, p->n_bins * p->D * p->F * 2);
        give(mid->x_f, s.x_f, n);
        give(mid->y_attn, s.att, n);
    }
    free(s.memory);
    return REF_OK;
}

// From dtheta [n_bins][D][F][2] back to the hypernetwork's weights and its input; adds to dx.
static int hyper_bwd(double *dx, const ref_focus_weights *dw, const double *dtheta, const state *s,
                     const double *x, const ref_focus_weights *w, const ref_focus *p) {
    size_t L = p->L, D = p->D, nb = p->n_bins, nt = nb * D * p->F * 2, windows = p->O * nb;
    double *draw, *dhidden, *de, *dg, *dnear, *part;
    void *memory = ref_carve(&draw, nt, &dhidden, s->rows * p->hidden, &de, nb * D * s->seen, &dg, L * D,
                             &dnear, L * D, &part, L * D, REF_END);
    if (!memory) return REF_NO_MEMORY;
    for (size_t i = 0; i < nt - nt / nb; i += 2) // the last bin's filters are used by no one
        squash_bwd(draw + i, dtheta + nt / nb + i, s->raw + i, p);
    ref_linear_bwd(dhidden, dw->hyper_w2, dw->hyper_b2, draw, s->hidden, w->hyper_w2, s->rows, p->hidden,
                   s->out);
    ref_sigmoid_bwd(dhidden, dhidden, s->hidden, s->rows * p->hidden);
    ref_linear_bwd(de, dw->hyper_w1, dw->hyper_b1, dhidden, s->e, w->hyper_w1, s->rows, s->in, p->hidden);
    for (size_t i = 0; i < windows; i++)
        for (size_t c = 0; c < D; c++) {
            const double *d = de + (i / p->O * D + c) * s->seen + i % p->O;
            dg[pool_row(s->g, i, windows, c, L, D) * D + c] += d[0];
            if (p->local) dnear[pool_row(s->near, i, windows, c, L, D) * D + c] += d[p->O];
        }
    ref_long_conv_bwd(part, dw->conv_k, dw->conv_skip, dg, x, w->conv_k, w->conv_skip, L, D, p->lambda);
    ref_axpy(dx, part, 1, L * D);
    if (p->local) {
        ref_conv_bwd(part, dw->local_k, dnear, x, w->local_k, 1, L, D, D, p->local, 0, D, D);
        ref_axpy(dx, part, 1, L * D);
    }
    free(memory);
    return REF_OK;
}

int ref_focus_layer_bwd(double *dx, const ref_focus_weights *dw, const double *dout, const double *x,
                        const ref_focus_weights *w, const ref_focus *p) {
    size_t L = p->L, D = p->D, n = L * D, nt = p->n_bins * D * p->F * 2;
    double *dz, *dphi, *dgated, *dgamma, *datt, *dq, *dk, *dv, *dxf, *dtheta, *part;
    state s;
    int status = forward(&s, x, w, p);
    if (status) return status;
    void *memory = ref_carve(&dz, n, &dphi, n, &dgated, n, &dgamma, n, &datt, n, &dq, n, &dk, n, &dv, n, &dxf,
                             n, &dtheta, nt, &part, n, REF_END);
    if (!memory) {
        free(s.memory);
        return REF_NO_MEMORY;
    }
    for (size_t i = 0; i < n; i++) { // o = phi o z + (1 - phi) o x
        dz[i] = dout[i] * s.phi[i];
        dphi[i] = dout[i] * (s.z[i] - x[i]);
        dx[i] = dout[i] * (1 - s.phi[i]);
    }
    ref_silu_bwd(dz, dz, s.z_pre, n);
    ref_linear_bwd(dxf, dw->w_h, dw->b_h, dz, s.x_f, w->w_h, L, D, D);
    ref_linear_bwd(dgated, dw->u_h, NULL, dz, s.gated, w->u_h, L, D, D);
    ref_mul(dgamma, dgated, s.att, n);
    ref_mul(datt, dgated, s.gamma, n);
    ref_sigmoid_bwd(dphi, dphi, s.phi, n);
    ref_linear_bwd(part, dw->w_phi, dw->b_phi, dphi, s.x_f, w->w_phi, L, D, D);
    ref_axpy(dxf, part, 1, n);
    ref_silu_bwd(dgamma, dgamma, s.gamma_pre, n);
    ref_linear_bwd(part, dw->w_gamma, dw->b_gamma, dgamma, s.x_f, w->w_gamma, L, D, D);
    ref_axpy(dxf, part, 1, n);
    for (size_t i = 0; i < p->C && !status; i++) { // step 6
        size_t at = i * (L / p->C) * D;
        status = ref_heads_bwd(dq + at, dk + at, dv + at, NULL, datt + at, s.q + at, s.k + at, s.v + at, NULL,
                               &s.heads);
    }
    ref_linear_bwd(part, dw->wq, NULL, dq, x, w->wq, L, D, D);
    ref_axpy(dx, part, 1, n);
    ref_linear_bwd(part, dw->wk, NULL, dk, s.x_f, w->wk, L, D, D);
    ref_axpy(dxf, part, 1, n);
    ref_linear_bwd(part, dw->wv, NULL, dv, s.x_f, w->wv, L, D, D);
    ref_axpy(dxf, part, 1, n);
    if (!status) status = ref_focus_filter_bwd(part, dtheta, dxf, x, s.theta, &s.filter); // step 5, Eqs. 5-8
    ref_axpy(dx, part, 1, n);
    if (w->theta_raw) {
        for (size_t i = 0; i < nt; i += 2) {
            double draw[2];
            size_t at = i % (D * p->F * 2);
            squash_bwd(draw, dtheta + i, w->theta_raw + at, p);
            ref_axpy(dw->theta_raw + at, draw, 1, 2);
        }
    } else if (!status) {
        status = hyper_bwd(dx, dw, dtheta, &s, x, w, p); // steps 1-4
    }
    free(memory);
    free(s.memory);
    return status;
}
