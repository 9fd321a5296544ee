// lion.c: Lion (Chen et al. 2023, Alg. 2): the direction is a sign between momentum and gradient; the
// momentum follows after it.
#include <seqmix/ref.h>

void ref_lion(double *p, double *m, const double *g, size_t n, double lr, double b1, double b2, double wd) {
    for (size_t i = 0; i < n; i++) {
        double c = b1 * m[i] + (1 - b1) * g[i];
        double sign = c > 0 ? 1 : c < 0 ? -1 : c;
        p[i] = p[i] - lr * (sign + wd * p[i]);
        m[i] = b2 * m[i] + (1 - b2) * g[i];
    }
}
