// adamw.c: AdamW (Loshchilov & Hutter 2019, Alg. 2; decay scaled by lr) and the global-norm clip
// (Pascanu et al. 2013).
#include <seqmix/ref.h>

#include <math.h>

void ref_adamw(double *p, double *m, double *v, const double *g, size_t n, const ref_adamw_opts *o) {
    for (size_t i = 0; i < n; i++) {
        double s = o->clip * g[i];
        m[i] = o->b1 * m[i] + (1 - o->b1) * s;
        v[i] = o->b2 * v[i] + (1 - o->b2) * s * s;
        p[i] = p[i] - o->lr * o->wd * p[i] - o->lr * (m[i] / o->c1) / (sqrt(v[i] / o->c2) + o->eps);
    }
}

double ref_sumsq(const double *g, size_t n) { return ref_dot(g, g, n); }

double ref_clip_factor(double sumsq, double max_norm) {
    double norm = sqrt(sumsq);
    return max_norm > 0 && norm > max_norm ? max_norm / norm : 1;
}
