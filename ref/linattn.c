// linattn.c: causal linear attention (Katharopoulos et al. 2020) on given q, k, v, in its quadratic form,
// with its normalisers. The mechanism with its feature map is in linear_attention.c.
#include <seqmix/ref.h>

#include <float.h>
#include <math.h>

// phi = elu + 1, as exp(x) for x <= 0
void ref_elu1_fwd(double *y, const double *x, size_t n) {
    for (size_t i = 0; i < n; i++) y[i] = x[i] > 0 ? x[i] + 1 : exp(x[i]);
}

void ref_elu1_bwd(double *dx, const double *dy, const double *y, size_t n) {
    for (size_t i = 0; i < n; i++)
        dx[i] = dy[i] * (y[i] > 1 ? 1 : y[i]); // y is its own slope where it is exp(x)
}

static size_t row_of(const ref_linattn *p, size_t b, size_t h, size_t t) {
    return (b * p->L + t) * p->stride + h * (p->D / p->H);
}

// r of a row with output o and denominator den
static double normaliser(const ref_linattn *p, const double *o, double den) {
    size_t d = p->D / p->H;
    if (p->norm == REF_LINATTN_NONE) return 1;
    if (p->norm == REF_LINATTN_RMS) return 1 / sqrt(ref_dot(o, o, d) / (double)d + p->eps);
    return den < FLT_MIN ? 0 : 1 / den;
}

static size_t rows_heard(const ref_linattn *p, size_t t) { return p->both ? p->L : t + 1; }

// o_t = sum_{s<=t} (q_t . k_s) v_s, den_t = sum_{s<=t} q_t . k_s, y_t = r_t o_t
void ref_linattn_fwd(double *y, double *norm, const double *q, const double *k, const double *v,
                     const ref_linattn *p) {
    size_t d = p->D / p->H;
    for (size_t b = 0; b < p->B; b++)
        for (size_t h = 0; h < p->H; h++)
            for (size_t t = 0; t < p->L; t++) {
                double *o = y + (b * p->L + t) * p->D + h * d, den = 0;
                for (size_t e = 0; e < d; e++) o[e] = 0;
                for (size_t s = 0; s < rows_heard(p, t); s++) {
                    double a = ref_dot(q + row_of(p, b, h, t), k + row_of(p, b, h, s), d);
                    ref_axpy(o, v + row_of(p, b, h, s), a, d);
                    den += a;
                }
                double r = norm[(b * p->H + h) * p->L + t] = normaliser(p, o, den);
                ref_scale(o, o, r, d);
            }
}

// With y = r o:  none do = dy;  rms do = r (dy - y mean(y dy));  sum do = r dy, dden = -r (dy . y).
// With a_ts = q_t . k_s:  da_ts = do_t . v_s + dden_t.
void ref_linattn_bwd(double *dq, double *dk, double *dv, const double *dy, const double *q, const double *k,
                     const double *v, const double *y, const double *norm, const ref_linattn *p) {
    size_t d = p->D / p->H;
    for (size_t r = 0; r < p->B * p->L; r++)
        for (size_t c = 0; c < p->D; c++)
            dq[r * p->stride + c] = dk[r * p->stride + c] = dv[r * p->stride + c] = 0;
    for (size_t b = 0; b < p->B; b++)
        for (size_t h = 0; h < p->H; h++)
            for (size_t t = 0; t < p->L; t++) {
                size_t at = (b * p->L + t) * p->D + h * d, qt = row_of(p, b, h, t);
                double r = norm[(b * p->H + h) * p->L + t], along = ref_dot(dy + at, y + at, d);
                double dden = p->norm == REF_LINATTN_SUM ? -r * along : 0;
                double mean = p->norm == REF_LINATTN_RMS ? along / (double)d : 0;
                for (size_t s = 0; s < rows_heard(p, t); s++) {
                    size_t ks = row_of(p, b, h, s);
                    double a = ref_dot(q + qt, k + ks, d), da = dden;
                    for (size_t e = 0; e < d; e++) {
                        double dout = r * (dy[at + e] - y[at + e] * mean);
                        da += dout * v[ks + e];
                        dv[ks + e] += a * dout;
                    }
                    ref_axpy(dq + qt, k + ks, da, d);
                    ref_axpy(dk + ks, q + qt, da, d);
                }
            }
}
