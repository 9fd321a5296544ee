// s4d.c: S4D (Gu, Gupta, Goel, Re, "On the Parameterization and Initialization of Diagonal State Space
// Models", NeurIPS 2022): a diagonal state space model per channel, discretised by zero-order hold, run as
// its convolution kernel
//   K[l] = m Re sum_s C_s B_s exp(dt A_s l),  B_s = (exp(dt A_s) - 1) / A_s  (B = 1)
//   y = K * x + skip x
// with A_s = -exp(log_a) + i a_im and m = 2 (half of each conjugate pair is kept), or real A, C and m = 1.
#include <seqmix/ref.h>

#include <complex.h>
#include <math.h>
#include <stdlib.h>

typedef double complex cplx;

// phi(z) = (e^z - 1)/z and its derivative, by their series where the quotients would cancel.
static void phi(cplx *value, cplx *slope, cplx z) {
    if (cabs(z) >= 0.5) {
        *value = (cexp(z) - 1) / z;
        *slope = (cexp(z) - *value) / z;
        return;
    }
    cplx power = 1; // z^m / (m+1)!
    *value = 0;
    *slope = 0; // sum_m (m+1) z^m / (m+2)!
    for (int m = 0; m < 24; m++) {
        *value += power;
        *slope += power * (double)(m + 1) / (double)(m + 2);
        power *= z / (double)(m + 2);
    }
}

typedef struct {
    cplx A, C, z, B, slope; // z = dt A, B = dt phi(z), slope = phi'(z)
    double dt, twice;
} mode;

static mode mode_of(const ref_s4d_weights *w, size_t c, size_t s, size_t S) {
    size_t at = c * S + s;
    int complex_mode = w->a_im != NULL;
    mode m;
    cplx value;
    m.dt = exp(w->log_dt[c]);
    m.A = -exp(w->log_a[at]) + (complex_mode ? I * w->a_im[at] : 0);
    m.C = complex_mode ? w->c[2 * at] + I * w->c[2 * at + 1] : w->c[at];
    m.z = m.dt * m.A;
    phi(&value, &m.slope, m.z);
    m.B = m.dt * value;
    m.twice = complex_mode ? 2 : 1;
    return m;
}

int ref_s4d_kernel_fwd(double *kernel, const ref_s4d_weights *w, size_t L, size_t D, size_t S) {
    for (size_t c = 0; c < D; c++)
        for (size_t l = 0; l < L; l++) {
            kernel[c * L + l] = 0;
            for (size_t s = 0; s < S; s++) {
                mode m = mode_of(w, c, s, S);
                kernel[c * L + l] += m.twice * creal(m.C * m.B * cexp(m.z * (double)l));
            }
        }
    return REF_OK;
}

// f = C dt phi(z) e^(z l) is analytic: d Re f / d(re u) = Re f_u, d Re f / d(im u) = Re(i f_u) = -Im f_u.
static void kernel_bwd(const ref_s4d_weights *dw, const double *dkernel, const ref_s4d_weights *w, size_t L,
                       size_t D, size_t S) {
    for (size_t c = 0; c < D; c++)
        for (size_t s = 0; s < S; s++) {
            size_t at = c * S + s;
            mode m = mode_of(w, c, s, S);
            cplx f_C = 0, f_z = 0, f = 0;
            for (size_t l = 0; l < L; l++) {
                cplx g = m.twice * dkernel[c * L + l] * cexp(m.z * (double)l);
                f_C += g * m.B;
                f_z += g * m.C * (m.dt * m.slope + m.B * (double)l);
                f += g * m.C * m.B;
            }
            cplx f_A = f_z * m.dt;            // z = dt A
            cplx f_dt = f_z * m.A + f / m.dt; // and the factor dt of B
            dw->log_dt[c] += creal(f_dt) * m.dt;
            dw->log_a[at] += creal(f_A) * creal(m.A); // d re(A) / d log_a = re(A)
            if (w->a_im) {
                dw->a_im[at] -= cimag(f_A);
                dw->c[2 * at] += creal(f_C);
                dw->c[2 * at + 1] -= cimag(f_C);
            } else {
                dw->c[at] += creal(f_C);
            }
        }
}

int ref_s4d_fwd(double *y, const double *x, const ref_s4d_weights *w, size_t L, size_t D, size_t S) {
    double *kernel;
    void *memory = ref_carve(&kernel, D * L, REF_END);
    if (!memory) return REF_NO_MEMORY;
    ref_s4d_kernel_fwd(kernel, w, L, D, S);
    ref_long_conv_fwd(y, x, kernel, w->skip, L, D, 0);
    free(memory);
    return REF_OK;
}

int ref_s4d_bwd(double *dx, const ref_s4d_weights *dw, const double *dy, const double *x,
                const ref_s4d_weights *w, size_t L, size_t D, size_t S) {
    double *kernel, *dkernel;
    void *memory = ref_carve(&kernel, D * L, &dkernel, D * L, REF_END);
    if (!memory) return REF_NO_MEMORY;
    ref_s4d_kernel_fwd(kernel, w, L, D, S);
    ref_long_conv_bwd(dx, dkernel, dw->skip, dy, x, kernel, w->skip, L, D, 0);
    kernel_bwd(dw, dkernel, w, L, D, S);
    free(memory);
    return REF_OK;
}
