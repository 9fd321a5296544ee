// gemm.c: matrix product, bias and the linear layer.
#include <seqmix/ref.h>

void ref_gemm(double *c, const double *a, const double *b, size_t m, size_t n, size_t k, size_t lda,
              size_t ldb, size_t ldc, unsigned flags) {
    for (size_t i = 0; i < m; i++) {
        for (size_t j = 0; j < n; j++) {
            double sum = 0;
            for (size_t l = 0; l < k; l++) {
                double x = flags & REF_TRANS_A ? a[l * lda + i] : a[i * lda + l];
                double y = flags & REF_TRANS_B ? b[j * ldb + l] : b[l * ldb + j];
                sum += x * y;
            }
            c[i * ldc + j] = flags & REF_ACCUMULATE ? c[i * ldc + j] + sum : sum;
        }
    }
}

void ref_bias_fwd(double *y, const double *x, const double *bias, size_t N, size_t D) {
    for (size_t r = 0; r < N; r++)
        for (size_t c = 0; c < D; c++) y[r * D + c] = x[r * D + c] + bias[c];
}

void ref_bias_bwd(double *dbias, const double *dy, size_t N, size_t D) {
    for (size_t r = 0; r < N; r++)
        for (size_t c = 0; c < D; c++) dbias[c] += dy[r * D + c];
}

void ref_linear_fwd(double *y, const double *x, const double *w, const double *b, size_t N, size_t in,
                    size_t out) {
    ref_gemm(y, x, w, N, out, in, in, out, out, 0);
    if (b) ref_bias_fwd(y, y, b, N, out);
}

void ref_linear_bwd(double *dx, double *dw, double *db, const double *dy, const double *x, const double *w,
                    size_t N, size_t in, size_t out) {
    if (dx) ref_gemm(dx, dy, w, N, in, out, out, out, in, REF_TRANS_B);                  // dX = dY W^T
    if (dw) ref_gemm(dw, x, dy, in, out, N, in, out, out, REF_TRANS_A | REF_ACCUMULATE); // dW += X^T dY
    if (db) ref_bias_bwd(db, dy, N, out);
}
