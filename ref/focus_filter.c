// focus_filter.c: Focus's adaptive second-order IIR filters ([Focus] Eqs. 5-8; docs/MECHANISMS.md#focus), for
// each bin, channel and filter H(w) = 1 / (1 + theta_0 e^-jw + theta_1 e^-2jw), summed over the filters.
//   literal  a bin's DFT of length R times conj(H): circular and reversed in time, so a token sees later ones
//   causal   y_t = x_t - theta_0 y_{t-1} - theta_1 y_{t-2}, the state zero at the start of each bin
//   carry    the same, the state carried from bin to bin
#include <seqmix/ref.h>

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef double complex cplx;

static const double tau = 6.28318530717958647693; // 2 pi

// e^(j 2 pi k / R), the product k reduced before it becomes an angle
static cplx root(size_t k, size_t R) {
    double angle = tau * (double)(k % R) / (double)R;
    return cos(angle) + I * sin(angle);
}

static void dft(cplx *X, const double *x, size_t R, size_t stride) {
    for (size_t k = 0; k < R; k++) {
        X[k] = 0;
        for (size_t t = 0; t < R; t++) X[k] += x[t * stride] * conj(root(k * t, R));
    }
}

// y_t += Re (1/R) sum_k Y_k e^(j 2 pi k t / R)
static void add_inverse(double *y, const cplx *Y, size_t R, size_t stride) {
    for (size_t t = 0; t < R; t++) {
        cplx sum = 0;
        for (size_t k = 0; k < R; k++) sum += Y[k] * root(k * t, R);
        y[t * stride] += creal(sum) / (double)R;
    }
}

// conj(H) at frequency k ([Focus] Eq. 6)
static cplx conj_h(const double *theta, size_t k, size_t R) {
    return 1 / (1 + theta[0] * root(k, R) + theta[1] * root(2 * k, R));
}

static int literal_fwd(double *y, const double *x, const double *theta, const ref_focus_filter *p) {
    size_t D = p->D, R = p->L / p->n_bins;
    cplx *X = malloc(2 * R * sizeof *X), *Y = X + R;
    if (!X) return REF_NO_MEMORY;
    for (size_t b = 0; b < p->n_bins; b++)
        for (size_t c = 0; c < D; c++) {
            dft(X, x + b * R * D + c, R, D);
            for (size_t k = 0; k < R; k++) {
                cplx sum = 0;
                for (size_t f = 0; f < p->F; f++) sum += conj_h(theta + ((b * D + c) * p->F + f) * 2, k, R);
                Y[k] = X[k] * sum;
            }
            add_inverse(y + b * R * D + c, Y, R, D);
        }
    free(X);
    return REF_OK;
}

// The transpose of "times G = conj(H)" is "times conj(G)"; dG / dtheta_m = -G^2 e^(j (m+1) w).
static int literal_bwd(double *dx, double *dtheta, const double *dy, const double *x, const double *theta,
                       const ref_focus_filter *p) {
    size_t D = p->D, R = p->L / p->n_bins;
    cplx *X = malloc(3 * R * sizeof *X), *DY = X + R, *DX = X + 2 * R;
    if (!X) return REF_NO_MEMORY;
    for (size_t b = 0; b < p->n_bins; b++)
        for (size_t c = 0; c < D; c++) {
            dft(X, x + b * R * D + c, R, D);
            dft(DY, dy + b * R * D + c, R, D);
            for (size_t k = 0; k < R; k++) {
                DX[k] = 0;
                for (size_t f = 0; f < p->F; f++) {
                    size_t at = ((b * D + c) * p->F + f) * 2;
                    cplx G = conj_h(theta + at, k, R);
                    DX[k] += conj(G) * DY[k];
                    for (size_t m = 0; m < 2; m++)
                        dtheta[at + m] -=
                            creal(conj(DY[k]) * X[k] * G * G * root((m + 1) * k, R)) / (double)R;
                }
            }
            add_inverse(dx + b * R * D + c, DX, R, D);
        }
    free(X);
    return REF_OK;
}

// Does row t continue the state of row t - lag?
static int reaches(const ref_focus_filter *p, size_t t, size_t lag) {
    size_t R = p->L / p->n_bins;
    return p->mode == REF_FOCUS_CARRY ? t >= lag : t % R >= lag;
}

// One filter of one channel over the whole sequence: s [L].
static void recur(double *s, const double *x, const double *theta, const ref_focus_filter *p, size_t c,
                  size_t f) {
    size_t D = p->D, R = p->L / p->n_bins;
    for (size_t t = 0; t < p->L; t++) {
        const double *th = theta + ((t / R * D + c) * p->F + f) * 2;
        s[t] = x[t * D + c];
        if (reaches(p, t, 1)) s[t] -= th[0] * s[t - 1];
        if (reaches(p, t, 2)) s[t] -= th[1] * s[t - 2];
    }
}

int ref_focus_filter_fwd(double *y, const double *x, const double *theta, const ref_focus_filter *p) {
    memset(y, 0, p->L * p->D * sizeof *y);
    if (p->mode == REF_FOCUS_LITERAL) return literal_fwd(y, x, theta, p);
    double *s;
    void *memory = ref_carve(&s, p->L, REF_END);
    if (!memory) return REF_NO_MEMORY;
    for (size_t c = 0; c < p->D; c++)
        for (size_t f = 0; f < p->F; f++) {
            recur(s, x, theta, p, c, f);
            for (size_t t = 0; t < p->L; t++) y[t * p->D + c] += s[t];
        }
    free(memory);
    return REF_OK;
}

// Adjoint recurrence: a_t = dy_t - theta_0(t+1) a_{t+1} - theta_1(t+2) a_{t+2}; dx = a,
// dtheta_m(t) -= a_t s_{t-m-1}.
int ref_focus_filter_bwd(double *dx, double *dtheta, const double *dy, const double *x, const double *theta,
                         const ref_focus_filter *p) {
    size_t L = p->L, D = p->D, R = L / p->n_bins;
    memset(dx, 0, L * D * sizeof *dx);
    memset(dtheta, 0, p->n_bins * D * p->F * 2 * sizeof *dtheta);
    if (p->mode == REF_FOCUS_LITERAL) return literal_bwd(dx, dtheta, dy, x, theta, p);
    double *s, *a;
    void *memory = ref_carve(&s, L, &a, L, REF_END);
    if (!memory) return REF_NO_MEMORY;
    for (size_t c = 0; c < D; c++)
        for (size_t f = 0; f < p->F; f++) {
            recur(s, x, theta, p, c, f);
            for (size_t t = L; t-- > 0;) {
                a[t] = dy[t * D + c];
                for (size_t lag = 1; lag <= 2; lag++)
                    if (t + lag < L && reaches(p, t + lag, lag))
                        a[t] -= theta[(((t + lag) / R * D + c) * p->F + f) * 2 + lag - 1] * a[t + lag];
                dx[t * D + c] += a[t];
                for (size_t lag = 1; lag <= 2; lag++)
                    if (reaches(p, t, lag))
                        dtheta[((t / R * D + c) * p->F + f) * 2 + lag - 1] -= a[t] * s[t - lag];
            }
        }
    free(memory);
    return REF_OK;
}
