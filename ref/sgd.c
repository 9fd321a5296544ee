// sgd.c: gradient descent with momentum (Polyak 1964; without dampening, as Sutskever et al. 2013 have it
// but for the rate, which is outside of m), decay decoupled as AdamW's.
#include <seqmix/ref.h>

void ref_sgd(double *p, double *m, const double *g, size_t n, double lr, double momentum, double wd) {
    for (size_t i = 0; i < n; i++) {
        m[i] = momentum * m[i] + g[i];
        p[i] = p[i] - lr * wd * p[i] - lr * m[i];
    }
}
