// muon.c: Muon (Jordan et al. 2024): momentum (Nesterov's), its singular values brought near 1 by five
// rounds of Newton and Schulz's iteration, scaled as Liu et al. (2025, Eq. 4): 0.2 sqrt(max(rows, cols)).
#include <seqmix/ref.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

// x = 3.4445 x - 4.7750 (x x^T) x + 2.0315 (x x^T)^2 x, whatever is longer.
static void ns_round(double *x, double *y, double *z, double *last, size_t rows, size_t cols) {
    memcpy(last, x, rows * cols * sizeof *x);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < rows; j++) {
            y[i * rows + j] = 0;
            for (size_t c = 0; c < cols; c++) y[i * rows + j] += last[i * cols + c] * last[j * cols + c];
        }
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < rows; j++) {
            double square = 0;
            for (size_t k = 0; k < rows; k++) square += y[i * rows + k] * y[k * rows + j];
            z[i * rows + j] = -4.7750 * y[i * rows + j] + 2.0315 * square;
        }
    for (size_t i = 0; i < rows; i++)
        for (size_t c = 0; c < cols; c++) {
            x[i * cols + c] = 3.4445 * last[i * cols + c];
            for (size_t k = 0; k < rows; k++) x[i * cols + c] += z[i * rows + k] * last[k * cols + c];
        }
}

int ref_newton_schulz(double *x, size_t rows, size_t cols) {
    const size_t n = rows * cols;
    double *y = malloc((2 * rows * rows + n + 1) * sizeof *y);
    if (!y) return -1;
    const double norm = sqrt(ref_sumsq(x, n)) + 1e-7;
    for (size_t i = 0; i < n; i++) x[i] /= norm;
    for (int round = 0; round < 5; round++) ns_round(x, y, y + rows * rows, y + 2 * rows * rows, rows, cols);
    free(y);
    return 0;
}

int ref_muon(double *p, double *m, const double *g, size_t rows, size_t cols, double lr, double momentum,
             double wd) {
    const size_t n = rows * cols;
    double *x = malloc((n + 1) * sizeof *x);
    if (!x) return -1;
    for (size_t i = 0; i < n; i++) {
        m[i] = momentum * m[i] + (1 - momentum) * g[i];
        x[i] = momentum * m[i] + (1 - momentum) * g[i];
    }
    const int status = ref_newton_schulz(x, rows, cols);
    const double scale = 0.2 * sqrt((double)(rows > cols ? rows : cols));
    for (size_t i = 0; i < n && !status; i++) p[i] = p[i] - lr * wd * p[i] - lr * scale * x[i];
    free(x);
    return status;
}
