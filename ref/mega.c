// mega.c: MEGA's multi-dimensional damped EMA (Ma et al., "Mega: Moving Average Equipped Gated
// Attention", 2023): channel c has S states,
//   h_t[s] = a_s beta_s x_t + (1 - a_s d_s) h_{t-1}[s],  y_t = sum_s eta_s h_t[s] (+ skip x_t),
// a = sigma(alpha), d = sigma(delta). The skip is that of the authors' program. A comparator; no attention
// here.
#include <seqmix/ref.h>

#include <stdlib.h>
#include <string.h>

int ref_mega_ema_fwd(double *y, const double *x, const ref_mega_weights *w, size_t L, size_t D, size_t S) {
    for (size_t c = 0; c < D; c++) {
        for (size_t t = 0; t < L; t++) y[t * D + c] = w->skip ? w->skip[c] * x[t * D + c] : 0;
        for (size_t s = 0; s < S; s++) {
            double a, d, h = 0;
            ref_sigmoid_fwd(&a, w->alpha + c * S + s, 1);
            ref_sigmoid_fwd(&d, w->delta + c * S + s, 1);
            for (size_t t = 0; t < L; t++) {
                h = a * w->beta[c * S + s] * x[t * D + c] + (1 - a * d) * h;
                y[t * D + c] += w->eta[c * S + s] * h;
            }
        }
    }
    return REF_OK;
}

// Adjoint: g_t = eta dy_t + (1 - a d) g_{t+1}
int ref_mega_ema_bwd(double *dx, const ref_mega_weights *dw, const double *dy, const double *x,
                     const ref_mega_weights *w, size_t L, size_t D, size_t S) {
    double *h;
    void *memory = ref_carve(&h, L, REF_END);
    if (!memory) return REF_NO_MEMORY;
    for (size_t c = 0; c < D; c++) {
        for (size_t t = 0; t < L; t++) {
            dx[t * D + c] = w->skip ? w->skip[c] * dy[t * D + c] : 0;
            if (w->skip) dw->skip[c] += x[t * D + c] * dy[t * D + c];
        }
        for (size_t s = 0; s < S; s++) {
            size_t at = c * S + s;
            double a, d, beta = w->beta[at], eta = w->eta[at], g = 0, da = 0, dd = 0;
            ref_sigmoid_fwd(&a, w->alpha + at, 1);
            ref_sigmoid_fwd(&d, w->delta + at, 1);
            for (size_t t = 0; t < L; t++) h[t] = a * beta * x[t * D + c] + (1 - a * d) * (t ? h[t - 1] : 0);
            for (size_t t = L; t-- > 0;) {
                double before = t ? h[t - 1] : 0;
                g = eta * dy[t * D + c] + (1 - a * d) * g;
                dw->eta[at] += dy[t * D + c] * h[t];
                dw->beta[at] += g * a * x[t * D + c];
                da += g * (beta * x[t * D + c] - d * before);
                dd += g * (-a * before);
                dx[t * D + c] += g * a * beta;
            }
            dw->alpha[at] += da * a * (1 - a);
            dw->delta[at] += dd * d * (1 - d);
        }
    }
    free(memory);
    return REF_OK;
}
