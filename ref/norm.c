// norm.c: LayerNorm, RMSNorm and the unit l2 norm over rows.
#include <seqmix/ref.h>

#include <math.h>

// Ba et al. 2016: y = (x - mean) / sqrt(var + eps) * gain + bias
void ref_layernorm_fwd(double *y, double *stats, const double *x, const double *gain, const double *bias,
                       size_t N, size_t D, double eps) {
    for (size_t r = 0; r < N; r++) {
        const double *row = x + r * D;
        double mean = ref_sum(row, D) / (double)D, var = 0;
        for (size_t c = 0; c < D; c++) var += (row[c] - mean) * (row[c] - mean);
        double rstd = 1 / sqrt(var / (double)D + eps);
        for (size_t c = 0; c < D; c++) y[r * D + c] = (row[c] - mean) * rstd * gain[c] + bias[c];
        stats[2 * r] = mean;
        stats[2 * r + 1] = rstd;
    }
}

// With xhat = (x - mean) rstd and g = dy gain: dx = rstd (g - mean(g) - xhat mean(g xhat)).
void ref_layernorm_bwd(double *dx, double *dgain, double *dbias, const double *dy, const double *x,
                       const double *gain, const double *stats, size_t N, size_t D) {
    for (size_t r = 0; r < N; r++) {
        double mean = stats[2 * r], rstd = stats[2 * r + 1], sum_g = 0, sum_gx = 0;
        for (size_t c = 0; c < D; c++) {
            double xhat = (x[r * D + c] - mean) * rstd, g = dy[r * D + c] * gain[c];
            sum_g += g;
            sum_gx += g * xhat;
            dgain[c] += dy[r * D + c] * xhat;
            dbias[c] += dy[r * D + c];
        }
        for (size_t c = 0; c < D; c++) {
            double xhat = (x[r * D + c] - mean) * rstd, g = dy[r * D + c] * gain[c];
            dx[r * D + c] = rstd * (g - sum_g / (double)D - xhat * sum_gx / (double)D);
        }
    }
}

// Ioffe & Szegedy 2015, Alg. 1, with biased variance
void ref_batchnorm_fwd(double *y, double *stats, const double *x, const double *gain, const double *bias,
                       size_t N, size_t rows, size_t D, double eps) {
    for (size_t c = 0; c < D; c++) {
        double mean = 0, var = 0;
        for (size_t r = 0; r < rows; r++) mean += x[r * D + c] / (double)rows;
        for (size_t r = 0; r < rows; r++) var += (x[r * D + c] - mean) * (x[r * D + c] - mean) / (double)rows;
        stats[2 * c] = mean;
        stats[2 * c + 1] = 1 / sqrt(var + eps);
        for (size_t r = 0; r < N; r++)
            y[r * D + c] = (x[r * D + c] - mean) * stats[2 * c + 1] * gain[c] + bias[c];
    }
}

// Sec. 3: dx = gain rstd (dy - mean(dy) - xhat mean(dy xhat))
void ref_batchnorm_bwd(double *dx, double *dgain, double *dbias, const double *dy, const double *x,
                       const double *gain, const double *stats, size_t N, size_t rows, size_t D) {
    for (size_t c = 0; c < D; c++) {
        const double mean = stats[2 * c], rstd = stats[2 * c + 1];
        double sum = 0, sum_x = 0;
        for (size_t r = 0; r < rows; r++) {
            sum += dy[r * D + c];
            sum_x += dy[r * D + c] * (x[r * D + c] - mean) * rstd;
        }
        dgain[c] += sum_x;
        dbias[c] += sum;
        for (size_t r = 0; r < N; r++) {
            const double xhat = (x[r * D + c] - mean) * rstd, g = dy[r * D + c];
            dx[r * D + c] = r < rows ? gain[c] * rstd * (g - (sum + xhat * sum_x) / (double)rows) : 0;
        }
    }
}

void ref_batchnorm_running(double *mean_new, double *variance_new, const double *mean, const double *variance,
                           const double *x, size_t N, size_t D, double momentum, int unbiased) {
    for (size_t c = 0; c < D; c++) {
        double of = 0, squares = 0;
        for (size_t r = 0; r < N; r++) of += x[r * D + c] / (double)N;
        for (size_t r = 0; r < N; r++) squares += (x[r * D + c] - of) * (x[r * D + c] - of);
        mean_new[c] = mean[c] + momentum * (of - mean[c]);
        const double rows = unbiased && N > 1 ? (double)N - 1 : (double)N;
        variance_new[c] = variance[c] + momentum * (squares / rows - variance[c]);
    }
}

void ref_batchnorm_given_fwd(double *y, const double *x, const double *gain, const double *bias,
                             const double *mean, const double *variance, size_t N, size_t D, double eps) {
    for (size_t r = 0; r < N; r++)
        for (size_t c = 0; c < D; c++)
            y[r * D + c] = (x[r * D + c] - mean[c]) / sqrt(variance[c] + eps) * gain[c] + bias[c];
}

void ref_batchnorm_given_bwd(double *dx, double *dgain, double *dbias, const double *dy, const double *x,
                             const double *gain, const double *mean, const double *variance, size_t N,
                             size_t D, double eps) {
    for (size_t r = 0; r < N; r++)
        for (size_t c = 0; c < D; c++) {
            const double rstd = 1 / sqrt(variance[c] + eps), g = dy[r * D + c];
            dgain[c] += g * (x[r * D + c] - mean[c]) * rstd;
            dbias[c] += g;
            dx[r * D + c] = g * gain[c] * rstd;
        }
}

// Zhang & Sennrich 2019, eps inside the root
void ref_rmsnorm_fwd(double *y, double *rstd, const double *x, const double *gain, size_t N, size_t D,
                     double eps) {
    for (size_t r = 0; r < N; r++) {
        rstd[r] = 1 / sqrt(ref_dot(x + r * D, x + r * D, D) / (double)D + eps);
        for (size_t c = 0; c < D; c++) y[r * D + c] = x[r * D + c] * rstd[r] * (gain ? gain[c] : 1);
    }
}

// With g = dy gain: dx = rstd g - x rstd^3 mean(g x).
void ref_rmsnorm_bwd(double *dx, double *dgain, const double *dy, const double *x, const double *gain,
                     const double *rstd, size_t N, size_t D) {
    for (size_t r = 0; r < N; r++) {
        double s = rstd[r], sum = 0;
        for (size_t c = 0; c < D; c++) {
            sum += dy[r * D + c] * (gain ? gain[c] : 1) * x[r * D + c];
            if (gain) dgain[c] += dy[r * D + c] * x[r * D + c] * s;
        }
        for (size_t c = 0; c < D; c++)
            dx[r * D + c] =
                s * dy[r * D + c] * (gain ? gain[c] : 1) - x[r * D + c] * s * s * s * sum / (double)D;
    }
}

// [CAT] Theorem 1's normalisation
void ref_unitnorm_fwd(double *y, double *rnorm, const double *x, size_t N, size_t D) {
    for (size_t r = 0; r < N; r++) {
        double norm = sqrt(ref_dot(x + r * D, x + r * D, D));
        rnorm[r] = norm <= 1e-12 ? 0 : 1 / norm;
        ref_scale(y + r * D, x + r * D, rnorm[r], D);
    }
}

// dx = (dy - y (y . dy)) / |x|
void ref_unitnorm_bwd(double *dx, const double *dy, const double *x, const double *rnorm, size_t N,
                      size_t D) {
    for (size_t r = 0; r < N; r++) {
        double s = rnorm[r], along = ref_dot(x + r * D, dy + r * D, D) * s * s;
        for (size_t c = 0; c < D; c++) dx[r * D + c] = s * (dy[r * D + c] - x[r * D + c] * along);
    }
}
