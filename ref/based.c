// based.c: Taylor attention of Based (Arora et al. 2024, Sec. 4): causal linear attention whose features'
// products are the exponential's series to its second term, as the weights of pairs:
//   w_ts = 1 + s + s^2 / 2, s = q_t . k_s / sqrt(d),  y_t = sum_{s<=t} w_ts v_s / sum_{s<=t} w_ts
#include <seqmix/ref.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double weight(double s) { return 1 + s + s * s / 2; } // at least 1/2

void ref_taylor_fwd(double *y, const double *x, size_t N, size_t d) {
    const double one = 1 / sqrt(sqrt((double)d)), square = 1 / sqrt(2 * (double)d),
                 pair = 1 / sqrt((double)d);
    for (; N > 0; N--, x += d) {
        *y++ = 1;
        for (size_t i = 0; i < d; i++) *y++ = x[i] * one;
        for (size_t i = 0; i < d; i++)
            for (size_t j = i; j < d; j++) *y++ = x[i] * x[j] * (i == j ? square : pair);
    }
}
void ref_taylor_bwd(double *dx, const double *dy, const double *x, size_t N, size_t d) {
    const double one = 1 / sqrt(sqrt((double)d)), square = 1 / sqrt(2 * (double)d),
                 pair = 1 / sqrt((double)d);
    for (; N > 0; N--, x += d, dx += d) {
        dy++;
        for (size_t i = 0; i < d; i++) dx[i] = *dy++ * one;
        for (size_t i = 0; i < d; i++)
            for (size_t j = i; j < d; j++, dy++) {
                dx[i] += *dy * x[j] * (i == j ? square : pair);
                dx[j] += *dy * x[i] * (i == j ? square : pair);
            }
    }
}

// Head h's row t of an array [L][H width]
static size_t at(size_t t, size_t h, size_t H, size_t width) { return (t * H + h) * width; }

void ref_based_fwd(double *y, const double *q, const double *k, const double *v, size_t L, size_t H,
                   size_t dk, size_t dv) {
    for (size_t h = 0; h < H; h++)
        for (size_t t = 0; t < L; t++) {
            double *out = y + at(t, h, H, dv), sum = 0;
            memset(out, 0, dv * sizeof *out);
            for (size_t s = 0; s <= t; s++) {
                const double w =
                    weight(ref_dot(q + at(t, h, H, dk), k + at(s, h, H, dk), dk) / sqrt((double)dk));
                sum += w;
                ref_axpy(out, v + at(s, h, H, dv), w, dv);
            }
            ref_scale(out, out, 1 / sum, dv);
        }
}

// With D_t the sum of w_t: dv_s += w_ts dy_t / D_t, dw_ts = dy_t . (v_s - y_t) / D_t, ds = dw (1 + s)
int ref_based_bwd(double *dq, double *dk_, double *dv_, const double *dy, const double *q, const double *k,
                  const double *v, size_t L, size_t H, size_t dk, size_t dv) {
    double *y;
    void *memory = ref_carve(&y, L * H * dv, REF_END);
    if (!memory) return REF_NO_MEMORY;
    const double root = sqrt((double)dk);
    ref_based_fwd(y, q, k, v, L, H, dk, dv);
    memset(dq, 0, L * H * dk * sizeof *dq);
    memset(dk_, 0, L * H * dk * sizeof *dk_);
    memset(dv_, 0, L * H * dv * sizeof *dv_);
    for (size_t h = 0; h < H; h++)
        for (size_t t = 0; t < L; t++) {
            const double *row = q + at(t, h, H, dk), *grad = dy + at(t, h, H, dv);
            double sum = 0;
            for (size_t s = 0; s <= t; s++) sum += weight(ref_dot(row, k + at(s, h, H, dk), dk) / root);
            for (size_t s = 0; s <= t; s++) {
                const double a = ref_dot(row, k + at(s, h, H, dk), dk) / root;
                const double dw =
                    (ref_dot(grad, v + at(s, h, H, dv), dv) - ref_dot(grad, y + at(t, h, H, dv), dv)) / sum;
                ref_axpy(dv_ + at(s, h, H, dv), grad, weight(a) / sum, dv);
                ref_axpy(dq + at(t, h, H, dk), k + at(s, h, H, dk), dw * (1 + a) / root, dk);
                ref_axpy(dk_ + at(s, h, H, dk), row, dw * (1 + a) / root, dk);
            }
        }
    free(memory);
    return REF_OK;
}
