// s4d.c: the convolution kernel of S4D (Gu, Gupta, Goel & Re 2022), a diagonal state space model per channel
// under zero-order hold:
//   K[l] = m Re sum_s C_s B_s e^{z_s l},  z = dt A,  B = dt (e^z - 1)/z,
//   dt = e^{log_dt},  A = -e^{log_a} + i a_im
// with m = 2 (half of each conjugate pair is kept); without a_im all is real and m = 1. The convolution
// itself is longconv.c. Powers come from double recurrences over blocks of 64 steps,
// e^{z(64a + b)} = e^{64za} e^{zb}; lanes are b.
#include "kernels/core/mathd.h"
#include "s4d_layout.h"
#include "kernels/core/kernel.h"

typedef struct {
    double re, im;
} cd;
static cd cd_mul(cd a, cd b) { return (cd){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
static cd cd_scale(cd a, double s) { return (cd){s * a.re, s * a.im}; }
static cd cd_add(cd a, cd b) { return (cd){a.re + b.re, a.im + b.im}; }
static cd cd_div(cd a, cd b) {
    const double size = b.re * b.re + b.im * b.im;
    return cd_scale(cd_mul(a, (cd){b.re, -b.im}), 1 / size);
}
static cd cd_exp(cd z) {
    double s, c, size = md_exp(z.re);
    md_sincos(&s, &c, z.im);
    return (cd){size * c, size * s};
}

// phi(z) = (e^z - 1)/z and its slope, by their series where the quotients would cancel (cut: 1e-14).
static void phi(cd *value, cd *slope, cd z, cd power) {
    if (z.re * z.re + z.im * z.im > 1e-6) {
        *value = cd_div((cd){power.re - 1, power.im}, z);
        *slope = cd_div((cd){power.re - value->re, power.im - value->im}, z);
        return;
    }
    static const double series[2][4] = {{1, 1.0 / 2, 1.0 / 6, 1.0 / 24},
                                        {1.0 / 2, 1.0 / 3, 1.0 / 8, 1.0 / 30}};
    cd *out[2] = {value, slope};
    for (int k = 0; k < 2; k++) {
        cd sum = {series[k][3], 0};
        for (int i = 3; i-- > 0;) {
            sum = cd_mul(sum, z);
            sum.re += series[k][i];
        }
        *out[k] = sum;
    }
}

typedef struct {
    double dt, m;
    cd A, C, z, B, slope, block; // block: e^{64 z}
} mode;

// One mode, and its powers e^{z b}, b < 64, to w [2][64].
static mode mode_of(float *w, const smx_s4d_weights *weights, size_t c, size_t s, size_t S) {
    const float *log_dt = weights->log_dt, *log_a = weights->log_a, *a_im = weights->a_im, *C = weights->C;
    const size_t at = c * S + s;
    mode k;
    k.m = a_im ? 2 : 1;
    k.dt = md_exp((double)log_dt[c]);
    k.A = (cd){-md_exp((double)log_a[at]), a_im ? (double)a_im[at] : 0};
    k.C = a_im ? (cd){(double)C[2 * at], (double)C[2 * at + 1]} : (cd){(double)C[at], 0};
    k.z = cd_scale(k.A, k.dt);
    const cd step = cd_exp(k.z);
    cd value, power = {1, 0};
    phi(&value, &k.slope, k.z, step);
    k.B = cd_scale(value, k.dt);
    k.block = cd_exp(cd_scale(k.z, S4D_BLOCK));
    for (size_t b = 0; b < S4D_BLOCK; b++) {
        w[b] = (float)power.re;
        w[S4D_BLOCK + b] = (float)power.im;
        power = cd_mul(power, step);
    }
    return k;
}

// |e^z| < 1: from here on a mode adds less than any sum can hold, and then only subnormal numbers.
static int faded(cd power) { return power.re * power.re + power.im * power.im < 0x1p-192; }

SMX_COPY(void, s4d_fwd)
(float *restrict kernel, const smx_s4d_weights *weights, void *scratch, const smx_s4d *p) {
    const size_t L = p->L, D = p->D, S = p->S;
    float *w = scratch;
    for (size_t c = 0; c < D; c++) {
        float *K = kernel + c * L;
        for (size_t l = 0; l < L; l++) K[l] = 0.0f;
        for (size_t s = 0; s < S; s++) {
            const mode k = mode_of(w, weights, c, s, S);
            cd power = cd_scale(cd_mul(k.C, k.B), k.m);
            for (size_t l = 0; l < L && !faded(power); l += S4D_BLOCK) {
                const v16 re = v16_set((float)power.re), im = v16_set((float)power.im);
                const size_t n = smx_min(S4D_BLOCK, L - l);
                V16_MAP(
                    K + l, n,
                    v16_add(LOAD(K + l), v16_sub(v16_mul(re, LOAD(w)), v16_mul(im, LOAD(w + S4D_BLOCK)))));
                power = cd_mul(power, k.block);
            }
        }
    }
}

// f = C B e^{z l} is analytic: d Re f / d(re u) = Re f_u, d Re f / d(im u) = -Im f_u. Needed are sum g_l
// e^{z l} and sum g_l l e^{z l}: canonical sums within blocks, in order (and double) over blocks.
SMX_COPY(void, s4d_bwd)
(const smx_s4d_gradients *dweights, const float *dkernel, const smx_s4d_weights *weights, void *scratch,
 const smx_s4d *p) {
    const size_t L = p->L, D = p->D, S = p->S;
    float *dC = dweights->C;
    float *w = scratch, count[S4D_BLOCK];
    for (size_t b = 0; b < S4D_BLOCK; b++) count[b] = (float)b;
    for (size_t c = 0; c < D; c++) {
        double d_dt = 0;
        for (size_t s = 0; s < S; s++) {
            const size_t at = c * S + s;
            const mode k = mode_of(w, weights, c, s, S);
            cd power = {1, 0}, sum = {0, 0}, weighted = {0, 0};
            for (size_t l = 0; l < L && !faded(power); l += S4D_BLOCK) {
                const float *g = dkernel + c * L + l;
                const size_t n = smx_min(S4D_BLOCK, L - l);
                float re, im = 0.0f, re_b, im_b = 0.0f;
                re = row_dot(g, w, n);
                V16_SUM(re_b, n, v16_mul(v16_mul(LOAD(g), LOAD(count)), LOAD(w)));
                if (weights->a_im) {
                    im = row_dot(g, w + S4D_BLOCK, n);
                    V16_SUM(im_b, n, v16_mul(v16_mul(LOAD(g), LOAD(count)), LOAD(w + S4D_BLOCK)));
                }
                const cd q = {(double)re, (double)im};
                const cd r = {(double)re_b + (double)l * q.re, (double)im_b + (double)l * q.im};
                sum = cd_add(sum, cd_mul(power, q));
                weighted = cd_add(weighted, cd_mul(power, r));
                power = cd_mul(power, k.block);
            }
            sum = cd_scale(sum, k.m);
            weighted = cd_scale(weighted, k.m);
            const cd f_C = cd_mul(sum, k.B), f = cd_mul(f_C, k.C);
            const cd f_z = cd_mul(k.C, cd_add(cd_scale(cd_mul(sum, k.slope), k.dt), cd_mul(weighted, k.B)));
            const cd f_A = cd_scale(f_z, k.dt); // z = dt A, and the factor dt of B
            d_dt += cd_mul(f_z, k.A).re * k.dt + f.re;
            dweights->log_a[at] += (float)(f_A.re * k.A.re);
            if (weights->a_im) {
                dweights->a_im[at] -= (float)f_A.im;
                dC[2 * at] += (float)f_C.re;
                dC[2 * at + 1] -= (float)f_C.im;
            } else {
                dC[at] += (float)f_C.re;
            }
        }
        dweights->log_dt[c] += (float)d_dt;
    }
}
