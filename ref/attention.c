// attention.c: softmax attention on given q, k, v (Vaswani et al. 2017, Eq. 1) with a factor and a bias that
// depend on the distance. The logits are computed anew wherever they are needed, so nothing here takes
// memory.
#include "ref.h"

#include <math.h>

static double logit(const double *q, const double *k, const ref_attention *p, size_t b, size_t h, size_t i,
                    size_t j) {
    size_t d = p->D / p->H, at = h * (2 * p->L - 1) + (p->L - 1) + j - i;
    double s =
        p->scale * ref_dot(q + (b * p->L + i) * p->stride + h * d, k + (b * p->L + j) * p->stride + h * d, d);
    if (p->mult) s *= p->mult[at];
    if (p->bias) s += p->bias[at];
    return s;
}

static size_t row_end(const ref_attention *p, size_t i) { return p->causal ? i + 1 : p->L; }

static void row_stats(double *max, double *rsum, const double *q, const double *k, const ref_attention *p,
                      size_t b, size_t h, size_t i) {
    double top = -INFINITY, sum = 0;
    for (size_t j = 0; j < row_end(p, i); j++) {
        double l = logit(q, k, p, b, h, i, j);
        if (l > top || isnan(l)) top = l;
    }
    if (top == -INFINITY) { // nothing may be attended to
        *max = *rsum = 0;
        return;
    }
    for (size_t j = 0; j < row_end(p, i); j++) sum += exp(logit(q, k, p, b, h, i, j) - top);
    *max = top;
    *rsum = 1 / sum;
}

void ref_attention_fwd(double *o, double *stats, const double *q, const double *k, const double *v,
                       const ref_attention *p) {
    size_t d = p->D / p->H;
    for (size_t b = 0; b < p->B; b++)
        for (size_t h = 0; h < p->H; h++)
            for (size_t i = 0; i < p->L; i++) {
                double *out = o + (b * p->L + i) * p->D + h * d;
                double *st = stats + ((b * p->H + h) * p->L + i) * 2;
                row_stats(&st[0], &st[1], q, k, p, b, h, i);
                for (size_t e = 0; e < d; e++) out[e] = 0;
                if (st[1] == 0) continue;
                for (size_t j = 0; j < row_end(p, i); j++) {
                    double a = exp(logit(q, k, p, b, h, i, j) - st[0]) * st[1];
                    ref_axpy(out, v + (b * p->L + j) * p->stride + h * d, a, d);
                }
            }
}

// dl_ij = A_ij (do_i . v_j - do_i . o_i), since sum_j A_ij do_i . v_j = do_i . o_i; ds_ij = scale mult dl_ij.
void ref_attention_bwd(double *dq, double *dk, double *dv, const double *dout, const double *q,
                       const double *k, const double *v, const double *o, const double *stats,
                       const ref_attention *p) {
    size_t d = p->D / p->H;
    for (size_t r = 0; r < p->B * p->L; r++)
        for (size_t c = 0; c < p->D; c++)
            dq[r * p->stride + c] = dk[r * p->stride + c] = dv[r * p->stride + c] = 0;
    for (size_t b = 0; b < p->B; b++)
        for (size_t h = 0; h < p->H; h++)
            for (size_t i = 0; i < p->L; i++) {
                const double *st = stats + ((b * p->H + h) * p->L + i) * 2;
                if (st[1] == 0) continue;
                size_t row = (b * p->L + i) * p->D + h * d, qi = (b * p->L + i) * p->stride + h * d;
                double mean = ref_dot(dout + row, o + row, d);
                for (size_t j = 0; j < row_end(p, i); j++) {
                    size_t kj = (b * p->L + j) * p->stride + h * d;
                    double a = exp(logit(q, k, p, b, h, i, j) - st[0]) * st[1];
                    double ds = a * (ref_dot(dout + row, v + kj, d) - mean) * p->scale;
                    if (p->mult) ds *= p->mult[h * (2 * p->L - 1) + (p->L - 1) + j - i];
                    ref_axpy(dv + kj, dout + row, a, d);
                    ref_axpy(dq + qi, k + kj, ds, d);
                    ref_axpy(dk + kj, q + qi, ds, d);
                }
            }
}

void ref_attention_map(double *map, const double *q, const double *k, const ref_attention *p, size_t b,
                       size_t head) {
    for (size_t i = 0; i < p->L; i++) {
        double max, rsum;
        row_stats(&max, &rsum, q, k, p, b, head, i);
        for (size_t j = 0; j < p->L; j++)
            map[i * p->L + j] =
                j < row_end(p, i) && rsum != 0 ? exp(logit(q, k, p, b, head, i, j) - max) * rsum : 0;
    }
}

// Softmax backward: dl_ij = A_ij (dA_ij - sum_m A_im dA_im).
void ref_attention_map_bwd(double *dq, double *dk, const double *dmap, const double *map, const double *q,
                           const double *k, const ref_attention *p, size_t b, size_t head) {
    size_t d = p->D / p->H, L = p->L;
    for (size_t i = 0; i < L; i++) {
        double mean = ref_dot(map + i * L, dmap + i * L, row_end(p, i));
        for (size_t j = 0; j < row_end(p, i); j++) {
            double ds = map[i * L + j] * (dmap[i * L + j] - mean) * p->scale;
            if (p->mult) ds *= p->mult[head * (2 * L - 1) + (L - 1) + j - i];
            size_t qi = (b * L + i) * p->stride + head * d, kj = (b * L + j) * p->stride + head * d;
            ref_axpy(dq + qi, k + kj, ds, d);
            ref_axpy(dk + kj, q + qi, ds, d);
        }
    }
}
